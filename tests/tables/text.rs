//! CSV and TSV.

use super::{assert_same, expected, file, read_all_ways, refusal, with};
use burnrank::data::{Columns, Compression};
use burnrank::{ReadOptions, read};
use std::io::Write;

const CSV: &str = "label,qid,docid,bm25,clicks\n2,a,d7,0.5,-1\n0,a,d8,3,4e-3\n1,7,d9,1e3,0\n";

#[test]
fn all_spellings_of_a_table_give_the_same_documents() {
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let quoted = "\"label\",\"qid\",\"docid\",\"bm25\",\"clicks\"\n\"2\",\"a\",d7,\"0.5\",\"-1\"\n0,a,\"d8\",3,0.004\n1,7,d9,1000.0,0.0";
    for (name, bytes) in [
        ("a.csv", CSV.as_bytes().to_vec()),
        ("a.CSV", CSV.trim_end().as_bytes().to_vec()),
        ("a.csv", format!("\u{feff}{CSV}").into_bytes()),
        ("a.csv", CSV.replace('\n', "\r\n").into_bytes()),
        ("a.csv", format!("\u{feff}{}", CSV.replace('\n', "\r")).into_bytes()),
        ("a.csv", CSV.replace('\n', "\n\n").into_bytes()),
        ("a.csv", CSV.replace(',', " , ").into_bytes()),
        ("a.csv", CSV.replace(',', ";").into_bytes()),
        ("a.csv", CSV.replace(',', "\t").into_bytes()),
        ("a.tsv", CSV.replace(',', "\t").into_bytes()),
        ("a.csv", quoted.as_bytes().to_vec()),
        ("a.csv.gz", gzip(CSV)),
        ("a.tsv.gz", gzip(&CSV.replace(',', "\t"))),
        ("a.csv.zst", zstd::encode_all(CSV.as_bytes(), 1).unwrap()),
        ("a.csv", zstd::encode_all(CSV.as_bytes(), 1).unwrap()),
    ] {
        let (_folder, path) = file(name, &bytes);
        let report = read_all_ways(&path, &ReadOptions::default());
        assert_same(&report.data, &expected());
        assert_eq!(report.data.feature_names(), Some(&["bm25".to_owned(), "clicks".to_owned()][..]));
        assert!(!report.data.is_sparse() && report.rows.total == 3 && report.highest_label.0 == 2.0);
        let compression = match bytes[0] {
            0x1f => Some(Compression::Gzip),
            0x28 => Some(Compression::Zstd),
            _ => None,
        };
        assert_eq!(report.compression, compression, "{name}");
    }
}

#[test]
fn columns_are_chosen_by_the_user() {
    let text = "url,rel,query text,a,b\nx,2,red shoes,1,true\ny,0,red shoes,,FALSE\nz,1,\"blue, big\",nan,1\n";
    let (_folder, path) = file("a.csv", text);
    let columns = Columns {
        label: Some("rel".into()),
        query: Some("query text".into()),
        document: Some("url".into()),
        ..Columns::default()
    };
    let data = read_all_ways(&path, &ReadOptions { null: Some(-1.0), ..with(columns.clone()) }).data;
    assert_eq!(data.features(), [1.0, 1.0, -1.0, 0.0, -1.0, 1.0]);
    assert_eq!(data.query_ids(), ["red shoes", "blue, big"]);
    assert_eq!((data.document_id(2), data.labels()), (Some("z"), &[2.0, 0.0, 1.0][..]));
    let dropped = Columns { document: None, drop: vec!["url".into(), "a".into()], ..columns };
    let data = read_all_ways(&path, &with(dropped)).data;
    assert_eq!((data.features(), data.feature_names().unwrap().len()), (&[1.0, 0.0, 1.0][..], 1));
    // Spaces in feature names become underscores.
    let (_folder, path) = file("a.csv", "label,qid,body bm25\n1,1,2\n");
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().data.feature_names(), Some(&["body_bm25".to_owned()][..]));
}

#[test]
fn cells_without_a_number_are_missing() {
    let cells = ["", " ", "nan", "NaN", "-nan", "NA", "n/a", "NULL", "None", "?"];
    let rows: String = cells.iter().map(|cell| format!("1,1,{cell},0.5\n")).collect();
    let (_folder, path) = file("a.csv", format!("label,qid,x,y\n{rows}"));
    let data = read_all_ways(&path, &ReadOptions::default()).data;
    assert_eq!(data.missing_counts(), [cells.len(), 0]);
    let null = ReadOptions { null: Some(-2.0), ..ReadOptions::default() };
    assert_eq!(read_all_ways(&path, &null).data.features(), [-2.0, 0.5].repeat(cells.len()));
}

#[test]
fn labels_are_optional_for_unlabelled_data() {
    let (_folder, path) = file("a.csv", "qid,x\n1,2\n1,3\n");
    let error = refusal(&path, &ReadOptions::default());
    assert_eq!(
        error,
        "a.csv: there is no column 'label': choose the column of labels with `label` COLUMN; the columns are qid, x"
    );
    let data = read_all_ways(&path, &ReadOptions { unlabelled: true, ..ReadOptions::default() }).data;
    assert_eq!((data.labels(), data.features()), (&[0.0, 0.0][..], &[2.0, 3.0][..]));
}

#[test]
fn bad_tables_are_reported_with_position_and_remedy() {
    let long = format!("label,qid{}\n", (0..20).map(|i| format!(",c{i}")).collect::<String>());
    for (text, expected) in [
        ("", "a.csv: the file is empty: expected one row per document, with columns for label, query id and features"),
        ("\n\n", "a.csv: the file is empty"),
        ("label,qid,x\n", "a.csv: the file is empty: expected one row per document"),
        (
            "label,qid,x\n1,1,abc\n",
            "a.csv:2: bad value in column 'x' 'abc': expected a number; exclude the column with `drop` x",
        ),
        ("label,qid,x\n1,1,1\r\n\r\n,1,\r\n", "a.csv:4: no label in column 'label'"),
        ("label,qid,x\n\"1\n\",1,1\nNA,1,NA\n", "a.csv:4: no label in column 'label'"),
        ("label,qid,x\n1,1,nano", "a.csv:2: bad value in column 'x' 'nano'"),
        ("label,qid,x\n1,1,inf\n", "a.csv:2: infinite value in column 'x': replace it with a finite number"),
        ("label,qid,x\n1,1,1e39\n", "a.csv:2: infinite value in column 'x'"),
        ("label,qid,x\n-1,1,1\n", "a.csv:2: negative label in column 'label': a label is a number of 0 or more"),
        ("label,qid,x\n,1,1\n", "a.csv:2: no label in column 'label': a label is a number of 0 or more"),
        ("label,qid,x\nbad,1,1\n", "a.csv:2: bad label in column 'label' 'bad': a label is a number of 0 or more"),
        ("label,qid,x\n1,,1\n", "a.csv:2: no id in column 'qid': every document needs a query id"),
        (
            "label,qid,x\n1,1\n",
            "a.csv:2: the row has 2 columns, but the header has 3: give every row one cell per column",
        ),
        ("label,qid,x\n1,1,1\n1,1,1,1\n", "a.csv:3: the row has 4 columns, but the header has 3"),
        ("label,qid,x\n1,1,\"1\n1,1,1\n1,1,1\n", "a.csv:2: bad value in column 'x' '1\\n1,1,1\\n1,1,1'"),
        ("label,qid,x\n1,\"1,1\n1,1,1\n1,1,1\n", "a.csv:2: the row has 2 columns, but the header has 3"),
        (
            "label,qid,x\n1,1,1\n1,2,1\n0,1,3\n",
            "a.csv:4:1: query id reappears '1': its first documents start on line 2; put them together, or use `regroup`",
        ),
        ("label,qid,x\n1,1,1\n1,2,1\n0,1,3\n1,1,bad\n", "a.csv:4:1: query id reappears '1'"),
        ("label,qid,x,x\n1,1,1,1\n", "a.csv: columns 3 and 4 are both named 'x': give each column a unique name"),
        ("label,qid,a b,a_b\n1,1,1,1\n", "a.csv: columns 3 and 4 are both named 'a_b'"),
        (
            ",label,qid,x\n0,1,1,1\n",
            "a.csv: column 1 has no name: name it; if it is the index of a pandas DataFrame, write",
        ),
        ("label,qid\n1,1\n", "a.csv: no columns are left for features"),
        (
            "Label,qid,x\n1,1,1\n",
            "a.csv: there is no column 'label': choose the column of labels with `label` COLUMN; the columns are Label, qid, x",
        ),
        ("label,q,x\n1,1,1\n", "a.csv: there is no column 'qid': choose the column of query ids with `query` COLUMN"),
        (&long.replace("qid", "q"), "the columns are label, q, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 10 more"),
        ("1 qid:1 1:2\n", "a.csv: there is no column 'label'"),
    ] {
        let (_folder, path) = file("a.csv", text);
        let error = refusal(&path, &ReadOptions::default());
        assert!(error.contains(expected), "{text:?}\n{error}\nnot {expected}");
    }
    let (_folder, path) = file("a.csv", b"label,qid,x\n1,\xff,1\n");
    assert!(refusal(&path, &ReadOptions::default()).starts_with("a.csv:2: bad id in column 'qid'"));
    let (_folder, path) = file("a.csv", b"label,\xff,x\n1,1,1\n");
    assert!(
        refusal(&path, &ReadOptions::default())
            .starts_with("a.csv: invalid UTF-8 in the header: save the file as UTF-8")
    );
    let (_folder, path) = file("a.csv.gz", [0x1f, 0x8b, 8, 0, 0]);
    assert!(refusal(&path, &ReadOptions::default()).contains("truncated gzip data"));
}

#[test]
fn options_that_contradict_the_table_are_rejected() {
    let (_folder, path) = file("a.csv", "label,qid,bm25,x\n1,1,1,2\n");
    let some = |name: &str| Some(name.to_owned());
    let usual = Columns::default;
    for (columns, expected) in [
        (
            Columns { label: some("rel"), ..usual() },
            "`label`: there is no column 'rel': the columns are label, qid, bm25, x",
        ),
        (Columns { query: some("quid"), ..usual() }, "`query`: there is no column 'quid': did you mean 'qid'?"),
        (Columns { drop: vec!["bm52".into()], ..usual() }, "`drop`: there is no column 'bm52': did you mean 'bm25'?"),
        (Columns { drop: vec!["qid".into()], ..usual() }, "`drop` qid: this column is needed"),
        (Columns { document: some("qid"), ..usual() }, "column 'qid' is used twice"),
        (Columns { drop: vec!["x".into(), "bm25".into()], ..usual() }, "no columns are left for features"),
    ] {
        let error = refusal(&path, &with(columns));
        assert!(error.contains(expected), "{error}, not {expected}");
    }
    let error = refusal(&path, &ReadOptions { null: Some(f32::NAN), ..ReadOptions::default() });
    assert_eq!(error, "null NaN: expected a finite number to use for missing values");
    let (_folder, path) = file("a.txt", "1 qid:1 1:1\n");
    let error = refusal(&path, &with(Columns { label: Some("y".into()), ..Columns::default() }));
    let expected =
        "`label` applies to Parquet, CSV and TSV files, but a.txt is read as LETOR: remove it, or rename the file";
    assert_eq!(error, expected);
    let (_folder, path) = file("a.csv", "label,qid,x\n1,1,1\n");
    let error = read(&path, &ReadOptions { width: Some(2), ..ReadOptions::default() }).unwrap_err().to_string();
    assert!(error.ends_with("a.csv: expected 2 feature columns, but there are 1"), "{error}");
}

#[test]
fn bad_rows_can_be_skipped_and_queries_regrouped_or_counted() {
    let text = "label,qid,x\n1,1,1\nbad,1,2\n0,1\n0,2,x\n2,2,5\n1,1,7\n";
    let (folder, path) = file("a.csv", text);
    let lenient = ReadOptions { lenient: true, ..ReadOptions::default() };
    let report = read_all_ways(&path, &lenient);
    assert_eq!((report.data.features(), report.skipped.lines), (&[1.0, 5.0][..], 4));
    assert_eq!(report.rows.expand(&[1, 2], 0), [1, 0, 0, 0, 2, 0]);
    let lines: Vec<usize> = report.skipped.first.iter().map(|error| error.line).collect();
    assert_eq!(lines, [3, 4, 5, 7]);
    let data = read(&path, &ReadOptions { regroup: true, ..lenient.clone() }).unwrap().data;
    assert_eq!((data.features(), data.offsets()), (&[1.0, 7.0, 5.0][..], &[0, 2, 3][..]));
    let (_other, all_bad) = file("a.csv", "label,qid,x\n1,1,a\n1,1,b\n");
    let error = refusal(&all_bad, &lenient);
    assert!(error.starts_with("a.csv: the file has no valid lines: all 2 were skipped; the first: "), "{error}");
    // A LightGBM query file instead of a column.
    std::fs::write(folder.path().join("sizes"), "2\n1\n").unwrap();
    std::fs::write(folder.path().join("b.csv"), "label,x\n1,1\n0,2\n2,3\n").unwrap();
    let counted = ReadOptions { query_file: Some(folder.path().join("sizes")), ..ReadOptions::default() };
    assert_eq!(read(folder.path().join("b.csv"), &counted).unwrap().data.offsets(), [0, 2, 3]);
    let error = refusal(&path, &counted);
    assert!(error.starts_with("a.csv: query ids in a column in addition to a query file"), "{error}");
}
