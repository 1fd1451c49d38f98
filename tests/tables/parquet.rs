//! Parquet files written by the `parquet` crate and by pandas.

use super::write::{Values, column, parquet, properties, required, small};
use super::{assert_same, expected, read_all_ways, refusal, support, with};
use burnrank::data::Columns;
use burnrank::{ReadOptions, read};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterVersion;

#[test]
fn all_compressions_and_layouts_give_the_same_documents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for compression in compressions {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (group, dictionary) in [(1, true), (2, false), (3, true)] {
                let properties = properties().set_compression(compression).set_writer_version(version);
                parquet(&path, &small(), group, properties.set_dictionary_enabled(dictionary));
                let report = read_all_ways(&path, &ReadOptions::default());
                assert_same(&report.data, &expected());
                assert_eq!(report.data.feature_names(), Some(&["bm25".to_owned(), "clicks".to_owned()][..]));
                assert_eq!((report.rows.total, report.highest_label), (3, (2.0, 1)));
                assert_eq!(report.bytes, std::fs::metadata(&path).unwrap().len());
            }
        }
    }
}

#[test]
fn unsupported_compressions_are_reported() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/parquet");
    for (file, name) in [("brotli.parquet", "Brotli"), ("lz4.parquet", "LZ4")] {
        let error = refusal(&folder.join(file), &ReadOptions::default());
        let expected = format!(
            "{file}: column 'x' is compressed with {name}, which is not supported: write the file with Snappy, gzip, \
             Zstandard or no compression"
        );
        assert!(error.starts_with(&expected), "{error}");
    }
}

/// Long ids that compress well: their memory is limited, whatever the size of the file.
#[test]
fn long_ids_are_read_a_few_at_a_time_and_limited() {
    let place = support::Place::new(&[]);
    let (rows, long) = (2000, "x".repeat(60_000));
    let write = |name: &str, each: usize| {
        let id = |row: usize| Some(format!("{}{long}", row / each).into_bytes());
        let columns = [
            required("int64 label", Values::i64((0..rows as i64).map(|row| row % 3))),
            required("binary qid (UTF8)", Values::Bytes((0..rows).map(id).collect())),
            required("double x", Values::f64((0..rows).map(|row| (row % 7) as f64))),
        ];
        let properties = properties().set_compression(Compression::ZSTD(ZstdLevel::default()));
        parquet(&place.path().join(name), &columns, rows, properties.set_dictionary_enabled(false));
    };
    // 120 MB of ids: with 10 queries 600 kB are kept, with 2,000 queries all.
    write("few.parquet", 200);
    write("many.parquet", 1);
    let limit = "--max-memory 80MB --quiet --json";
    let report = place.run(&format!("data few.parquet {limit}")).json();
    assert_eq!(report["files"][0]["queries"], 10);
    let message = place.run(&format!("data many.parquet {limit}")).bad(1);
    assert!(message.contains("the query and document ids of many.parquet would take"), "{message}");
    assert!(message.contains("shorten the ids"), "{message}");
}

#[test]
fn numbers_of_all_widths_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let some = |values: [i32; 2]| Values::I32(values.map(Some).to_vec());
    let big = |values: [i64; 2]| Values::I64(values.map(Some).to_vec());
    let bytes = |values: [&[u8]; 2]| values.map(|bytes| Some(bytes.to_vec())).to_vec();
    let columns = [
        required("int32 qid (INTEGER(32,false))", some([7, -1])),
        required("double label", Values::f64([0.5, 2.0])),
        column("boolean truth", Values::Bool(vec![Some(true), Some(false)])),
        column("int32 i8 (INTEGER(8,true))", some([-128, 127])),
        column("int32 u8 (INTEGER(8,false))", some([255, 0])),
        column("int32 u32 (INTEGER(32,false))", some([-1, 1])),
        required("int32 i32", some([i32::MIN, 5])),
        column("int64 i64", big([i64::MIN, 16_777_217])),
        column("int64 u64 (INTEGER(64,false))", big([-1, 3])),
        column("float f32", Values::f32([f32::MAX, 1e-45])),
        column("double f64", Values::f64([0.1, -1e-300])),
        column("fixed_len_byte_array(2) f16 (FLOAT16)", Values::Fixed(bytes([&[0x00, 0xc0], &[0x01, 0x00]]))),
        column("int32 d32 (DECIMAL(9,2))", some([-125, 3])),
        column("int64 d64 (DECIMAL(18,3))", big([1234, -7])),
        column(
            "fixed_len_byte_array(9) d72 (DECIMAL(20,1))",
            Values::Fixed(bytes([
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
                &[0, 0, 0, 0, 0, 0, 0, 1, 0],
            ])),
        ),
        column("binary d (DECIMAL(38,2))", Values::Bytes(bytes([&[0xff], &[1, 0, 0]]))),
    ];
    parquet(&path, &columns, 10, properties());
    let data = read_all_ways(&path, &ReadOptions::default()).data;
    assert_eq!(data.query_ids(), ["7", "4294967295"]);
    assert_eq!(data.labels(), [0.5, 2.0]);
    let expected: [[f32; 14]; 2] = [
        [
            1.0,
            -128.0,
            255.0,
            u32::MAX as f32,
            i32::MIN as f32,
            i64::MIN as f32,
            u64::MAX as f32,
            f32::MAX,
            0.1,
            -2.0,
            -1.25,
            1.234,
            -0.2,
            -0.01,
        ],
        [0.0, 127.0, 0.0, 1.0, 5.0, 16_777_216.0, 3.0, 1e-45, 0.0, 2_f32.powi(-24), 0.03, -0.007, 25.6, 655.36],
    ];
    assert_eq!(data.features(), expected.as_flattened());
}

#[test]
fn columns_without_numbers_are_rejected_or_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let write = |more: super::write::Column| {
        let mut columns = small();
        columns.push(more);
        parquet(&path, &columns, 2, properties());
    };
    let usual = ReadOptions::default();
    for (more, message) in [
        (
            column("binary title (STRING)", Values::text(["x", "y", "z"])),
            "a.parquet: column 'title' contains text: expected numbers; exclude the column with `drop` title",
        ),
        (
            column("int64 title (TIMESTAMP(MILLIS,true))", Values::i64([1, 2, 3])),
            "column 'title' contains times: expected numbers",
        ),
        (
            column("int32 title (DATE)", Values::I32(vec![Some(1); 3])),
            "column 'title' contains times: expected numbers",
        ),
        (
            column("double title", Values::f64([1.0, 1e39, 2.0])),
            "a.parquet:2: infinite value in column 'title' of row 2",
        ),
    ] {
        write(more);
        let error = refusal(&path, &usual);
        assert!(error.contains(message), "{error}, not {message}");
        let drop = with(Columns { drop: vec!["title".into()], ..Columns::default() });
        assert_same(&read_all_ways(&path, &drop).data, &expected());
    }
    write(column("double x", Values::F64(vec![Some(1.0), None, Some(f64::NAN)])));
    let data = read_all_ways(&path, &ReadOptions { null: Some(9.0), ..ReadOptions::default() }).data;
    assert_eq!(data.features().chunks(3).map(|row| row[2]).collect::<Vec<_>>(), [1.0, 9.0, 9.0]);
    let data = read_all_ways(&path, &usual).data;
    assert_eq!(data.missing_counts()[2], 2);
    assert!(data.features()[5].is_nan() && data.features()[8].is_nan());
    write(column("int64 __index_level_0__", Values::i64([5, 6, 7])));
    assert_same(&read_all_ways(&path, &usual).data, &expected());
}

#[test]
fn bad_labels_and_ids_are_reported_with_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let usual = ReadOptions::default();
    let x = || column("double x", Values::f64([1.0, 2.0, 3.0]));
    let label = || column("int32 label", Values::I32(vec![Some(1), Some(0), Some(2)]));
    for (label, query, expected) in [
        (
            label(),
            column("int64 qid", Values::i64([1, 2, 1])),
            "a.parquet:3:1: query id reappears '1': its first documents start on row 1; put them together, or use `regroup`",
        ),
        (
            label(),
            column("int64 qid", Values::I64(vec![Some(1), None, None])),
            "a.parquet:2: no id in column 'qid' of row 2",
        ),
        (
            column("int32 label", Values::I32(vec![Some(1), Some(-1), None])),
            column("int64 qid", Values::i64([1, 1, 1])),
            "a.parquet:2: negative label in column 'label' of row 2",
        ),
        (
            column("int32 label", Values::I32(vec![Some(1), None, None])),
            column("int64 qid", Values::i64([1, 1, 1])),
            "a.parquet:2: no label in column 'label' of row 2",
        ),
        (
            column("binary label (STRING)", Values::text(["1", "2", "3"])),
            column("int64 qid", Values::i64([1, 1, 1])),
            "a.parquet: column 'label' contains text: expected numbers; choose another column with `label`",
        ),
        (
            label(),
            column("boolean qid", Values::Bool(vec![Some(true); 3])),
            "a.parquet: column 'qid' contains booleans: expected text or integers",
        ),
    ] {
        parquet(&path, &[label, query, x()], 2, properties());
        let error = refusal(&path, &usual);
        assert!(error.starts_with(expected), "{error}, not {expected}");
    }
    // Integer ids that pandas stored as floats.
    parquet(&path, &[label(), column("double qid", Values::f64([1.0, 1.0, 2.0])), x()], 2, properties());
    assert_eq!(read_all_ways(&path, &usual).data.query_ids(), ["1", "2"]);
    parquet(&path, &[column("int32 label", Values::I32(Vec::new()))], 2, properties());
    let error = refusal(&path, &ReadOptions { unlabelled: true, ..ReadOptions::default() });
    assert!(error.contains("there is no column 'qid'"), "{error}");
    let none = || Values::F64(Vec::new());
    parquet(
        &path,
        &[column("double label", none()), column("double qid", none()), column("double x", none())],
        2,
        properties(),
    );
    assert!(refusal(&path, &usual).starts_with("a.parquet: the file is empty: expected one row per document"));
}

/// Reads files of pandas and pyarrow, if BURNRANK_PYTHON is a Python that has both.
#[test]
fn files_written_by_pandas_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
import numpy as np, pandas as pd
rng = np.random.default_rng(1)
n = 5000
frame = pd.DataFrame({
    'qid': np.sort(rng.integers(0, 300, n)), 'label': rng.integers(0, 5, n).astype('int8'), 'docid': [f'd{i}' for i in range(n)],
    'a': rng.normal(size=n), 'b': rng.normal(size=n).astype('float32'), 'c': rng.integers(0, 9, n), 'd': rng.random(n) < 0.5,
    'e': rng.integers(0, 200, n).astype('uint8'), 'f': rng.normal(size=n).astype('float16'),
    'g': pd.array(rng.integers(0, 3, n), dtype='Int64'), 'h': np.round(rng.normal(size=n), 3)})
for packing in ['snappy', 'gzip', 'zstd', None]:
    frame.to_parquet(f'{packing}.parquet', compression=packing, row_group_size=999)
frame.sample(frac=1, random_state=1).sort_values('qid', kind='stable').sort_index().to_parquet('index.parquet')
frame.to_csv('plain.csv', index=False)
frame.to_csv('packed.csv.gz', index=False)
frame.to_csv('tabs.tsv', index=False, sep='\\t')
holes = frame.copy()
holes.loc[17, 'a'] = np.nan
holes.loc[18, 'g'] = pd.NA
holes.to_parquet('holes.parquet'); holes.to_csv('holes.csv', index=False)
frame.assign(title='x').to_parquet('text.parquet')
frame.assign(v=[[1.0, 2.0]] * n).to_parquet('lists.parquet')
with open('all.txt', 'w') as out:
    for row in frame.itertuples():
        values = ' '.join(f'{i + 1}:{float(getattr(row, c))!r}' for i, c in enumerate('abcdefgh'))
        out.write(f'{row.label} qid:{row.qid} {values} # docid = {row.docid}\\n')
";
    if support::python(script, &["numpy", "pandas", "pyarrow"], folder.path()).is_none() {
        return;
    }
    let (place, usual) = (|name: &str| folder.path().join(name), ReadOptions::default());
    let text = read(place("all.txt"), &usual).unwrap().data;
    // The text has fewer digits for half-precision numbers.
    let far = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-3 * (1.0 + b.abs());
    for name in ["snappy", "gzip", "zstd", "None", "index"] {
        assert_same(&read_all_ways(&place(&format!("{name}.parquet")), &usual).data, &text);
    }
    for name in ["plain.csv", "packed.csv.gz", "tabs.tsv"] {
        let data = read_all_ways(&place(name), &usual).data;
        assert_eq!(
            (data.labels(), data.query_ids(), data.offsets()),
            (text.labels(), text.query_ids(), text.offsets())
        );
        assert!(!data.features().iter().zip(text.features()).any(far), "{name}");
    }
    for name in ["holes.parquet", "holes.csv"] {
        let data = read_all_ways(&place(name), &usual).data;
        assert!(data.features()[17 * 8].is_nan() && data.missing_counts().iter().sum::<usize>() > 0, "{name}");
    }
    let null = ReadOptions { null: Some(0.0), ..ReadOptions::default() };
    let filled = read_all_ways(&place("holes.parquet"), &null).data;
    assert_eq!((filled.features()[17 * 8], filled.features()[18 * 8 + 6]), (0.0, 0.0));
    let from_text = read_all_ways(&place("holes.csv"), &null).data;
    assert!(!from_text.features().iter().zip(filled.features()).any(far), "holes");
    assert!(refusal(&place("text.parquet"), &usual).contains("column 'title' contains text: expected numbers"));
    let error = refusal(&place("lists.parquet"), &usual);
    assert!(
        error.contains("contains lists: store each number in a separate column; exclude the column with `drop` v"),
        "{error}"
    );
    let drop = with(Columns { drop: vec!["v".into()], ..Columns::default() });
    assert_same(&read_all_ways(&place("lists.parquet"), &drop).data, &text);
    println!("compared with pandas");
}
