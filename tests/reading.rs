//! Reading data files: accepted input, error messages, and round trips through writing.

use burnrank::data::cache::{CacheOptions, build};
use burnrank::data::{Chunks, Zeros, write_to};
use burnrank::data::{ReadReport, read_bytes};
use burnrank::{Dataset, Error, ParseError, ReadOptions, WriteOptions, read};
use proptest::prelude::*;
use std::io::Write;
use std::path::PathBuf;

#[path = "reading/fuzz.rs"]
mod fuzz;
#[path = "reading/missing.rs"]
mod missing;

fn strict() -> ReadOptions {
    ReadOptions::default()
}

fn lenient() -> ReadOptions {
    ReadOptions { lenient: true, ..strict() }
}

fn text(bytes: &[u8], options: &ReadOptions) -> burnrank::Result<ReadReport> {
    read_bytes("f", bytes, options)
}

fn refusal(bytes: &[u8], options: &ReadOptions) -> String {
    text(bytes, options).unwrap_err().to_string()
}

fn temporary(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.txt");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Compares all numbers bit for bit; `==` does not distinguish 0 and -0.
fn assert_same(a: &Dataset, b: &Dataset) {
    assert_eq!(a, b);
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(a.features()), bits(b.features()));
    assert_eq!(bits(a.labels()), bits(b.labels()));
}

#[test]
fn every_bad_line_is_reported_with_position_text_and_remedy() {
    let good = "1 qid:1 1:0.5 2:1\n";
    for (bad, expected) in [
        ("x qid:1 1:1", "f:2:1: bad label 'x': expected a number such as 0.25 or 1e-3"),
        ("-1 qid:1 1:1", "f:2:1: negative label '-1': a label is a number of 0 or more"),
        ("nan qid:1 1:1", "f:2:1: label is not a number 'nan': replace it with a finite number"),
        ("inf qid:1 1:1", "f:2:1: label is infinite 'inf': replace it with a finite number"),
        ("1 qid:1 1:zero", "f:2:11: bad feature value 'zero': expected a number such as 0.25 or 1e-3"),
        ("1 qid:1 1:1,5", "f:2:11: bad feature value '1,5': expected a number such as 0.25 or 1e-3"),
        ("1 qid:1 1:nano", "f:2:11: bad feature value 'nano': expected a number such as 0.25 or 1e-3"),
        ("1 qid:1 1: 5", "f:2:12: bad feature '5': expected <index>:<value>, such as 3:0.25"),
        ("1 qid:1 1:-Inf", "f:2:11: feature value is infinite '-Inf': replace it with a finite number"),
        ("1 qid:1 1:1e39", "f:2:11: feature value is infinite '1e39': replace it with a finite number"),
        ("1 qid:1 3", "f:2:9: bad feature '3': expected <index>:<value>, such as 3:0.25"),
        ("1 qid:1 a:3", "f:2:9: bad feature index in 'a:3': expected an integer before the colon, such as 3:0.25"),
        ("1 qid:1 -1:3", "f:2:9: bad feature index in '-1:3': expected an integer before the colon, such as 3:0.25"),
        (
            "1 qid:1 0:3",
            "f:2:9: feature index too small '0': indices start at 1; for a file with indices from 0 use `first_index` 0",
        ),
        ("1 qid:1 1:1 2:1 1:1", "f:2:17: duplicate feature '1:1': list each feature of a document once"),
        ("1 qid:1 2:1 02:5", "f:2:13: duplicate feature '02:5': list each feature of a document once"),
        (
            "1 qid:1 4000000000:1",
            "f:2:9: feature index too large '4000000000': the largest index allowed is 1000000: number the features without \
             gaps",
        ),
        (
            "1 qid:1 99999999999999999999999999:1",
            "f:2:9: feature index too large '99999999999999999999999999': the largest index allowed is 1000000: number the \
             features without gaps",
        ),
        (
            "1 1:1",
            "f:2:3: missing query id '1:1': expected qid:<id> after the label; for a file without ids use `query_file`",
        ),
        ("1", "f:2:2: missing query id: expected qid:<id> after the label; for a file without ids use `query_file`"),
        ("1 qid: 1:1", "f:2:3: empty query id 'qid:': expected a name after the colon, such as qid:7"),
        ("1 1:1 qid:1", "f:2:7: misplaced query id 'qid:1': expected it once, between the label and the features"),
        (
            "1 qid:1 1:1 qid:2",
            "f:2:13: misplaced query id 'qid:2': expected it once, between the label and the features",
        ),
        ("1 qid:a\u{7} 1:1", "f:2:3: control character in query id 'qid:a\\u{7}': remove it"),
    ] {
        let bytes = format!("{good}{bad}\n{good}").into_bytes();
        assert_eq!(refusal(&bytes, &strict()), expected, "{bad}");
        // The error does not depend on block size or line end.
        assert_eq!(refusal(&bytes, &ReadOptions { block_bytes: 1, ..strict() }), expected, "{bad}");
        assert_eq!(refusal(&format!("{good}{bad}\r").into_bytes(), &strict()), expected, "{bad}");
        // In lenient mode the line is skipped with the same error.
        let report = text(&bytes, &lenient()).unwrap();
        assert_eq!((report.data.n_documents(), report.skipped.lines), (2, 1), "{bad}");
        assert_eq!(report.skipped.first[0].to_string(), expected, "{bad}");
        assert_eq!(report.data.n_features(), 2, "{bad}");
    }
}

#[test]
fn invalid_utf8_is_reported_with_its_column() {
    for (bad, column) in [
        (&b"\xff qid:1 1:1"[..], 1),
        (b"1 qid:\xff 1:1", 7),
        (b"1 qid:1 1:\xff", 11),
        (b"1 qid:1 1:1 # caf\xe9", 18),
        (b"# caf\xe9", 6),
    ] {
        let bytes = [b"1 qid:1 1:1\n", bad, b"\n"].concat();
        let error = refusal(&bytes, &strict());
        assert!(error.starts_with(&format!("f:2:{column}: invalid UTF-8 in '")), "{error}");
        assert!(error.ends_with("save the file as UTF-8"), "{error}");
        assert_eq!(text(&bytes, &lenient()).unwrap().skipped.lines, 1);
    }
}

#[test]
fn a_query_that_reappears_is_rejected_regrouped_or_skipped() {
    let bytes = b"1 qid:a 1:1 # docid = p\n0 qid:b 1:2\n\n2 qid:a 1:3 # docid = q\n3 qid:a 1:4\n0 qid:c 1:5\n";
    let expected =
        "f:4:7: query id reappears 'a': its first documents start on line 1; put them together, or use `regroup`";
    for block_bytes in [1, 30, 1000] {
        assert_eq!(refusal(bytes, &ReadOptions { block_bytes, ..strict() }), expected);
        let regrouped = text(bytes, &ReadOptions { block_bytes, regroup: true, ..strict() }).unwrap().data;
        assert_eq!(regrouped.query_ids(), ["a", "b", "c"]);
        assert_eq!(regrouped.offsets(), [0, 3, 4, 5]);
        assert_eq!(regrouped.features(), [1.0, 3.0, 4.0, 2.0, 5.0]);
        assert_eq!(regrouped.labels(), [1.0, 2.0, 3.0, 0.0, 0.0]);
        let ids: Vec<_> = (0..5).filter_map(|row| regrouped.document_id(row)).collect();
        assert_eq!(ids, ["p", "q", "", "", ""]);
        let report = text(bytes, &ReadOptions { block_bytes, ..lenient() }).unwrap();
        assert_eq!((report.skipped.lines, report.skipped.first[0].to_string().as_str()), (2, expected));
        assert_eq!(report.data.features(), [1.0, 2.0, 5.0]);
    }
}

#[test]
fn the_first_bad_line_does_not_depend_on_the_threads() {
    let mut bytes = String::new();
    for line in 1..=3000 {
        let label = if line == 2000 || line == 2500 { "x" } else { "1" };
        let query = if line == 1500 { 3 } else { line / 10 };
        bytes.push_str(&format!("{label} qid:{query} 1:1\n"));
    }
    for threads in [1, 2, 7] {
        for block_bytes in [1, 100, 5000, 1 << 20] {
            let options = ReadOptions { threads, block_bytes, ..strict() };
            assert!(refusal(bytes.as_bytes(), &options).starts_with("f:1500:7: query id reappears '3'"));
            let options = ReadOptions { regroup: true, ..options };
            assert!(refusal(bytes.as_bytes(), &options).starts_with("f:2000:1: bad label 'x'"));
            let report = text(bytes.as_bytes(), &ReadOptions { lenient: true, ..options }).unwrap();
            assert_eq!(report.skipped.first.iter().map(|error| error.line).collect::<Vec<_>>(), [2000, 2500]);
        }
    }
}

#[test]
fn files_without_documents_are_rejected() {
    for bytes in [&b""[..], b"\n\r\n \t\n", b"# only\n# comments", b"\xef\xbb\xbf"] {
        let expected = "f: the file is empty: expected lines of <label> qid:<id> <index>:<value> ...";
        assert_eq!(refusal(bytes, &strict()), expected);
        assert_eq!(refusal(bytes, &lenient()), expected);
    }
    let error = refusal(b"x\ny\n", &lenient());
    assert!(
        error.starts_with("f: the file has no valid lines: all 2 were skipped; the first: f:1:1: bad label 'x'"),
        "{error}"
    );
}

#[test]
fn a_large_index_does_not_allocate_a_huge_matrix() {
    // 4 MB per document are acceptable for one document, but not for a thousand.
    assert_eq!(text(b"1 qid:1 1000000:1\n", &strict()).unwrap().data.n_features(), 1_000_000);
    let mut bytes = "1 qid:1 1:1\n".repeat(500);
    bytes.push_str("1 qid:1 1000000:1\n");
    bytes.push_str(&"1 qid:1 1:1\n".repeat(500));
    for options in [strict(), lenient()] {
        assert_eq!(
            refusal(bytes.as_bytes(), &options),
            "f:501: feature index too large '1000000': 1001 documents of 1000000 features make a matrix of 3.7 GiB for 12018 bytes \
             of text; number the features without gaps, or set their number"
        );
    }
}

#[test]
fn a_given_width_is_enforced() {
    let bytes = b"1 qid:1 1:1 3:2\n";
    assert_eq!(
        text(bytes, &ReadOptions { width: Some(5), ..strict() }).unwrap().data.features(),
        [1.0, 0.0, 2.0, 0.0, 0.0]
    );
    assert_eq!(
        refusal(bytes, &ReadOptions { width: Some(2), ..strict() }),
        "f:1:13: feature index too large '3': with 2 features the largest index is 2"
    );
    assert!(matches!(text(bytes, &ReadOptions { width: Some(1_000_001), ..strict() }), Err(Error::Config(_))));
    assert!(matches!(text(bytes, &ReadOptions { first_index: 2, ..strict() }), Err(Error::Config(_))));
}

#[test]
fn all_accepted_spellings_give_the_same_data() {
    let plain = text(b"2 qid:q1 1:0.5 2:0 3:-1\n0.5 qid:q2 1:0 2:4 3:0\n", &strict()).unwrap().data;
    for same in [
        &b"2\tqid:q1\t1:0.5\t3:-1\r\n\r\n# c\r\n0.5 qid:q2 2:4\r\n"[..],
        b"\xef\xbb\xbf2.0 qid:q1 3:-1.0 1:5e-1 # foo\n+.5  qid:q2   2:4.#bar",
        b"\n\n  2 qid:q1 3:-1 1:0.5  \n\t5E-1 qid:q2 0002:+4\n",
    ] {
        for block_bytes in [1, 10, 1 << 20] {
            let report = text(same, &ReadOptions { block_bytes, ..strict() }).unwrap();
            assert_eq!(report.data, plain);
        }
    }
    let zero_based =
        text(b"2 qid:q1 0:0.5 2:-1\n0.5 qid:q2 1:4\n", &ReadOptions { first_index: 0, ..strict() }).unwrap().data;
    assert_eq!(zero_based, plain);
    assert_eq!(text(b"1 qid:a 1:1 3:1 2:1\n0 qid:a 9:1 1:1\n", &strict()).unwrap().data.n_features(), 9);
}

#[test]
fn compressed_files_are_read_and_truncated_ones_rejected() {
    let bytes = b"1 qid:1 1:0.25 # docid = d\n0 qid:2 2:1\n".to_vec();
    let plain = text(&bytes, &strict()).unwrap().data;
    for compressed in [gzip(&bytes), zstd::encode_all(&bytes[..], 3).unwrap()] {
        let (_folder, path) = temporary(&compressed);
        let report = read(&path, &strict()).unwrap();
        assert_eq!((&report.data, report.bytes, report.compression.is_some()), (&plain, bytes.len() as u64, true));
        let chunks: Vec<Dataset> = Chunks::open(&path, &strict()).unwrap().map(Result::unwrap).collect();
        assert_eq!(chunks, std::slice::from_ref(&plain));
        std::fs::write(&path, &compressed[..compressed.len() - 3]).unwrap();
        let error = read(&path, &strict()).unwrap_err();
        assert!(
            matches!(&error, Error::Parse(parse) if parse.line == 0 && parse.problem.starts_with("truncated ")),
            "{error}"
        );
        assert!(error.to_string().ends_with("the file is incomplete: copy or download it again"), "{error}");
        let error = Chunks::open(&path, &strict()).unwrap().find_map(Result::err).unwrap();
        assert!(error.to_string().contains("truncated "), "{error}");
    }
}

#[test]
fn a_query_file_replaces_the_ids() {
    let (folder, path) = temporary(b"1 1:1\n# c\n0 1:2\n2 1:3\n");
    let sizes = folder.path().join("data.txt.query");
    let options = ReadOptions { query_file: Some(sizes.clone()), ..strict() };
    std::fs::write(&sizes, "1\n2\n").unwrap();
    let data = read(&path, &options).unwrap().data;
    assert_eq!((data.query_ids(), data.offsets()), (&["1".to_owned(), "2".to_owned()][..], &[0, 1, 3][..]));
    std::fs::write(&sizes, "1\n3\n").unwrap();
    let error = read(&path, &options).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "3 documents, but the query file lists 4: check that the files belong together and are complete"
        ),
        "{error}"
    );
    std::fs::write(&sizes, "1\n-2\n").unwrap();
    let error = read(&path, &options).unwrap_err().to_string();
    let expected = ":2:1: bad query size '-2': expected the number of documents of a query, 1 or more";
    assert!(error.ends_with(expected), "{error}");
    std::fs::write(&sizes, "1\n2\n").unwrap();
    std::fs::write(&path, "1 1:1\n0 qid:1 1:2\n2 1:3\n").unwrap();
    let error = read(&path, &options).unwrap_err().to_string();
    assert!(
        error.ends_with(":2:3: query id in addition to a query file 'qid:1': remove either `query_file` or the ids"),
        "{error}"
    );
    // Bad lines count as documents of their query; a query of bad lines only is dropped.
    std::fs::write(&sizes, "2\n1\n3\n").unwrap();
    std::fs::write(&path, "1 1:1\n0 1:x\nx\n2 1:3\ny\n4 1:5\n").unwrap();
    let report = read(&path, &ReadOptions { lenient: true, block_bytes: 4, ..options }).unwrap();
    assert_eq!(
        (report.data.query_ids(), report.data.offsets()),
        (&["1".to_owned(), "3".to_owned()][..], &[0, 1, 3][..])
    );
    assert_eq!((report.data.features(), report.skipped.lines), (&[1.0, 3.0, 5.0][..], 3));
}

#[test]
fn chunks_are_the_whole_file() {
    let mut bytes = String::from("\u{feff}# head\n");
    for line in 0..400 {
        let query = [3, 10, 11, 50, 51, 52, 300].iter().filter(|&&start| start <= line).count();
        if line % 7 == 0 {
            bytes.push_str("bad line\n\n");
        }
        bytes.push_str(&format!("{} qid:q{query} 1:{line} 2:1 # docid = d{line}\n", line % 5));
    }
    let (_folder, path) = temporary(bytes.as_bytes());
    let whole = read(&path, &lenient()).unwrap();
    for size in [1, 64, 1000, 5000, 1 << 20] {
        let mut chunks = Chunks::open(&path, &lenient()).unwrap().with_chunk_bytes(size);
        let parts: Vec<Dataset> = chunks.by_ref().map(Result::unwrap).collect();
        assert!(size > 5000 || parts.len() > 1);
        assert_eq!(parts.iter().flat_map(|part| part.features()).copied().collect::<Vec<_>>(), whole.data.features());
        assert_eq!(
            parts.iter().flat_map(|part| part.query_ids()).collect::<Vec<_>>(),
            whole.data.query_ids().iter().collect::<Vec<_>>()
        );
        assert_eq!((chunks.skipped(), chunks.bytes()), (&whole.skipped, bytes.len() as u64));
        let error = Chunks::open(&path, &strict()).unwrap().with_chunk_bytes(size).find_map(Result::err).unwrap();
        assert!(
            error.to_string().ends_with(":2:1: bad label 'bad': expected a number such as 0.25 or 1e-3"),
            "{error}"
        );
    }
}

#[test]
fn chunks_report_the_errors_of_the_whole_file() {
    let (_folder, path) = temporary(b"1 qid:a 1:1\n1 qid:b 1:1\n1 qid:c 1:1\n1 qid:a 1:1\n");
    for size in [1, 20, 1000] {
        let results: Vec<_> = Chunks::open(&path, &strict()).unwrap().with_chunk_bytes(size).collect();
        let error = results[results.len() - 1].as_ref().unwrap_err().to_string();
        assert!(error.contains(":4:7: query id reappears 'a': its first documents start on line 1;"), "{error}");
        assert_eq!(results.iter().filter(|result| result.is_err()).count(), 1);
    }
    std::fs::write(&path, "# nothing\n").unwrap();
    let results: Vec<_> = Chunks::open(&path, &strict()).unwrap().collect();
    assert!(results.len() == 1 && results[0].as_ref().unwrap_err().to_string().contains("the file is empty"));
    assert!(matches!(Chunks::open(&path, &ReadOptions { regroup: true, ..strict() }), Err(Error::Config(_))));
}

#[test]
fn progress_ends_at_the_size_of_the_file() {
    let bytes = "1 qid:1 1:1\n".repeat(1000);
    let (_folder, path) = temporary(bytes.as_bytes());
    let furthest = std::sync::atomic::AtomicU64::new(0);
    let options = ReadOptions { block_bytes: 100, ..strict() };
    burnrank::data::read_with(&path, &options, &|progress| {
        assert_eq!(progress.total, Some(12_000));
        furthest.fetch_max(progress.done, std::sync::atomic::Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(furthest.into_inner(), 12_000);
}

#[test]
fn missing_files_and_folders_are_named() {
    let error = read("no/such/file.txt", &strict()).unwrap_err().to_string();
    assert!(error.starts_with("no/such/file.txt: cannot read: "), "{error}");
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(read(folder.path(), &strict()), Err(Error::Io { .. })));
}

#[test]
fn parse_errors_expose_their_parts() {
    let Err(Error::Parse(error)) = text(b"1 qid:1 1:1\n1 qid:1 2:q\n", &strict()) else {
        panic!("expected a parse error")
    };
    let ParseError { file, line, column, text, .. } = *error;
    assert_eq!((file.as_str(), line, column, text.as_str()), ("f", 2, 11, "q"));
}

/// Generates finite numbers, with many edge cases.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |value| value.is_finite()),
        Just(0.0),
        Just(-0.0),
        (0_u32..0x80_0000).prop_map(f32::from_bits),
        (-1000_i32..1000).prop_map(|value| value as f32),
    ]
}

fn datasets() -> impl Strategy<Value = Dataset> {
    let sizes = (0_usize..6, prop::collection::vec(1_usize..5, 1..6));
    sizes.prop_flat_map(|(width, counts)| {
        let documents: usize = counts.iter().sum();
        let features = prop::collection::vec(number(), documents * width);
        let labels = prop::collection::vec(number().prop_map(f32::abs), documents);
        let names = prop::collection::hash_set("[^\\s#\\x00-\\x1f\\x7f]{1,30}", counts.len());
        let ids = prop::option::of(prop::collection::vec("[^\\s]{0,12}", documents));
        (features, labels, names, ids).prop_map(move |(features, labels, names, ids)| {
            let data = Dataset::new(width, features, labels, names.into_iter().zip(counts.clone()).collect()).unwrap();
            match ids {
                Some(ids) => data.with_document_ids(ids.iter().collect()).unwrap(),
                None => data,
            }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn reading_undoes_writing(data in datasets(), first_index in 0_u32..2, dense in any::<bool>(), block_bytes in 1_usize..200) {
        let zeros = if dense { Zeros::Keep } else { Zeros::Omit };
        let mut bytes = Vec::new();
        write_to(&mut bytes, &data, &WriteOptions { first_index, zeros }).unwrap();
        let back = read_bytes("f", &bytes, &ReadOptions { first_index, block_bytes, ..ReadOptions::default() }).unwrap();
        assert_same(&back.data, &data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn reading_arbitrary_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz::check(&bytes);
    }
}

#[test]
fn missing_values_are_read_written_and_cached() {
    let text =
        "2 qid:a 1:0.5 2:nan 3:7\n0 qid:a 1:NA 3:1 # docid = x\n1 qid:b 1:? 2:-NaN 3:\n0 qid:b 2:N/A 1:null 3:0\n";
    let read = |text: &str, options: &ReadOptions| read_bytes("f", text.as_bytes(), options).map(|report| report.data);
    let plain = read(text, &ReadOptions::default()).unwrap();
    assert_eq!(plain.missing_counts(), [3, 3, 1]);
    assert_eq!(plain.features()[4], 0.0, "a feature that is left out is 0");
    assert!(plain.is_sparse() && !plain.is_sparse_missing());
    let sparse_missing = ReadOptions { sparse_missing: true, ..ReadOptions::default() };
    let sparse = read(text, &sparse_missing).unwrap();
    assert_eq!((sparse.missing_counts(), sparse.is_sparse_missing()), (vec![3, 4, 1], true));
    // A wider model has further missing features.
    assert_eq!(sparse.clone().fit_width(4).unwrap().missing_counts(), [3, 4, 1, 4]);
    let null = ReadOptions { null: Some(-1.0), ..ReadOptions::default() };
    assert_eq!(read(text, &null).unwrap().features()[..6], [0.5, -1.0, 7.0, -1.0, 0.0, 1.0]);
    let both = ReadOptions { null: Some(-1.0), ..sparse_missing.clone() };
    let filled = read(text, &both).unwrap();
    assert_eq!((filled.features()[4], filled.is_sparse_missing(), filled.has_missing()), (-1.0, true, false));
    assert_eq!(filled.fit_width(4).unwrap().features()[3], -1.0);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.txt"), text).unwrap();
    for (data, options) in [(&plain, &ReadOptions::default()), (&sparse, &sparse_missing)] {
        let mut written = Vec::new();
        burnrank::data::write_to(&mut written, data, &WriteOptions::default()).unwrap();
        let again = read(std::str::from_utf8(&written).unwrap(), &ReadOptions::default()).unwrap();
        assert_eq!(&again, data, "a written file lists every feature");
        for half in [false, true] {
            let out = CacheOptions { half, first_index: 1, ..CacheOptions::default() };
            build(&path("a.txt"), &path("a.cache"), out, options, |_| ()).unwrap();
            let cached = burnrank::read(path("a.cache"), options).unwrap().data;
            assert_eq!((&cached, cached.missing_counts()), (data, data.missing_counts()), "half {half}");
            assert_eq!(cached.is_sparse_missing(), data.is_sparse_missing());
            assert_eq!(cached.with_width(5).missing_counts(), data.clone().with_width(5).missing_counts());
        }
    }
    build(&path("a.txt"), &path("a.cache"), CacheOptions::default(), &ReadOptions::default(), |_| ()).unwrap();
    let error = burnrank::read(path("a.cache"), &sparse_missing).unwrap_err().to_string();
    assert!(error.contains("build it with `sparse_missing`"), "{error}");
}

#[test]
fn chunks_of_different_width_are_padded_with_missing_values() {
    let lines = (0..40).map(|i| format!("1 qid:{} 1:1 {}:2\n", i / 3, 2 + i / 10));
    let text: String = lines.collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), &text).unwrap();
    let options = ReadOptions { sparse_missing: true, ..ReadOptions::default() };
    let whole = read_bytes("f", text.as_bytes(), &options).unwrap().data;
    assert_eq!(whole.missing_counts(), [0, 30, 30, 30, 30]);
    let chunks = Chunks::open(folder.path().join("a.txt"), &options).unwrap().with_chunk_bytes(100);
    let mut rows = 0;
    for chunk in chunks {
        let chunk = chunk.unwrap().with_width(5);
        let same = whole.select(&(rows..rows + chunk.n_queries()).collect::<Vec<_>>());
        assert_eq!(chunk, same);
        rows += chunk.n_queries();
    }
    assert_eq!(rows, whole.n_queries());
    build(&folder.path().join("a.txt"), &folder.path().join("a.cache"), CacheOptions::default(), &options, |_| ())
        .unwrap();
    assert_eq!(read(folder.path().join("a.cache"), &options).unwrap().data, whole);
}
