//! Tests that a cache equals its text, whether read, scaled or split, and that damaged caches are rejected.

use super::build::build_by;
use super::header::{self, Section};
use super::*;
use crate::data::{Chunks, Dataset, FeatureNames, ReadOptions, ScaleKind, Scaler, Skipped};
use crate::{Error, read};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

struct Files {
    _folder: tempfile::TempDir,
    text: PathBuf,
    cache: PathBuf,
}

fn files(text: &str) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let (path, cache) = (folder.path().join("a.txt"), folder.path().join("a.cache"));
    std::fs::write(&path, text).unwrap();
    Files { _folder: folder, text: path, cache }
}

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn make(files: &Files, half: bool, chunk: usize) -> CacheReport {
    let made = CacheOptions { half, allow_underflow: true, ..CacheOptions::default() };
    build_by(chunk, &files.text, &files.cache, made, &options(), |_| ()).unwrap()
}

fn open_both(files: &Files) -> (Dataset, Dataset) {
    (read(&files.text, &options()).unwrap().data, read(&files.cache, &options()).unwrap().data)
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Compares everything that two data sets expose.
fn assert_same(a: &Dataset, b: &Dataset) {
    assert_eq!(a, b);
    assert_eq!((a.n_features(), a.is_sparse(), a.fingerprint()), (b.n_features(), b.is_sparse(), b.fingerprint()));
    assert_eq!(a.has_document_ids(), b.has_document_ids());
    for query in 0..a.n_queries() {
        assert_eq!(a.query_key(query), b.query_key(query));
        assert_eq!(bits(&a.query(query).features), bits(&b.query(query).features));
    }
    assert_eq!(bits(a.features()), bits(b.features()));
}

/// Generates queries of 1 to 5 documents with up to 6 of 7 features, optional document ids, and values of all magnitudes.
fn texts() -> impl Strategy<Value = String> {
    let value = prop_oneof![Just(0.0f32), -2.0f32..2.0, Just(-0.0), Just(1e-40), Just(60_000.0), -1e4f32..1e4];
    let document =
        (0..5u8, proptest::collection::btree_map(1..8usize, value, 0..7), proptest::option::of("[a-z]{0,4}"));
    let query = proptest::collection::vec(document, 1..6);
    proptest::collection::vec(query, 1..12).prop_map(|queries| {
        let mut text = String::new();
        for (query, documents) in queries.iter().enumerate() {
            for (label, features, id) in documents {
                text += &format!("{label} qid:q{query}ü");
                features.iter().for_each(|(index, value)| text += &format!(" {index}:{value}"));
                text += &id.as_ref().map_or(String::new(), |id| format!(" # docid = {id}"));
                text.push('\n');
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_cache_equals_its_text(text in texts(), chunk in 1..400usize, max_values in 1..60usize) {
        let files = files(&text);
        let report = make(&files, false, chunk);
        let (plain, mapped) = open_both(&files);
        assert_eq!((report.documents, report.features), (plain.n_documents(), plain.n_features()));
        assert!(mapped.is_mapped() && !plain.is_mapped());
        assert_same(&plain, &mapped);
        check(&files.cache).unwrap();
        let highest = |path: &Path| read(path, &options()).unwrap().highest_label;
        assert_eq!(highest(&files.text), highest(&files.cache));
        // Read chunk by chunk.
        let chunks = Chunks::open(&files.cache, &options()).unwrap().with_chunk_bytes(chunk);
        let parts: Vec<Dataset> = chunks.map(Result::unwrap).collect();
        assert_same(&plain, &Dataset::joined(parts).unwrap().declared_sparse(plain.is_sparse()));
        let mut rows = Vec::new();
        mapped.clone().declared_sparse(true).with_width(9).for_rows(max_values, |range, values| {
            assert_eq!(range.len() * 9, values.len());
            rows.extend_from_slice(values);
            Ok(())
        }).unwrap();
        assert_eq!(bits(&rows), bits(plain.with_width(9).features()));
    }

    #[test]
    fn mapped_queries_are_selected_and_scaled_as_in_memory(text in texts(), seed in 0..1000u64, half in any::<bool>()) {
        let files = files(&text);
        make(&files, half, 1 << 20);
        let mapped = read(&files.cache, &options()).unwrap().data;
        let mut plain = mapped.clone();
        plain.features_mut();
        assert!(!plain.is_mapped());
        assert_same(&plain, &mapped);
        let n = plain.n_queries();
        let selected: Vec<usize> = (0..n).filter(|&query| (seed >> (query % 10)) & 1 == 0).collect();
        let reversed: Vec<usize> = selected.iter().rev().copied().collect();
        assert_same(&plain.select(&reversed), &mapped.select(&reversed));
        let (mut a, mut b) = (plain.clone(), mapped.clone());
        assert_same(&a.take_out(&selected), &b.take_out(&selected));
        assert_same(&a, &b);
        for kind in ScaleKind::ALL {
            for (a, b) in [(&plain, &mapped), (&a, &b)] {
                let scaler = Scaler::fit(kind, a);
                assert_eq!(scaler, Scaler::fit(kind, b), "{kind}");
                let (mut a, mut b) = (a.clone(), b.clone());
                scaler.apply(&mut a).unwrap();
                scaler.apply(&mut b).unwrap();
                assert_same(&a, &b);
                assert_same(&a.select(&(0..a.n_queries()).rev().collect::<Vec<_>>()), &b.select(&(0..b.n_queries()).rev().collect::<Vec<_>>()));
            }
        }
    }
}

/// Enough documents for several blocks of columns.
fn many() -> String {
    let value = |row: usize, feature: usize| (row * 7919 + feature * 104_729) % 1009;
    let line = |row: usize| {
        let features: String = (1..=4).map(|f| format!(" {f}:{}", value(row, f) as f32 / 7.0)).collect();
        format!("{} qid:{}{features} # docid = d{row}\n", row % 3, row / 700)
    };
    (0..5000).map(line).collect()
}

#[test]
fn many_blocks_scale_to_the_same_bits() {
    let files = files(&many());
    make(&files, false, 10_000);
    let (plain, mapped) = open_both(&files);
    assert!(mapped.column_summary().is_some());
    assert!(mapped.select(&[0, 1, 2]).column_summary().is_none());
    for (a, b) in [(plain.clone(), mapped.clone()), (plain.select(&[6, 0, 3]), mapped.select(&[6, 0, 3]))] {
        for kind in ScaleKind::ALL {
            let scaler = Scaler::fit(kind, &a);
            assert_eq!(scaler, Scaler::fit(kind, &b), "{kind}");
            let (mut a, mut b) = (a.clone(), b.clone());
            scaler.apply(&mut a).unwrap();
            scaler.apply(&mut b).unwrap();
            assert_same(&a, &b);
        }
    }
}

#[test]
fn features_that_first_appear_late_are_zero_before() {
    let mut text: String = (0..300).map(|row| format!("1 qid:{row} 1:{}\n", row + 1)).collect();
    text += "0 qid:last 5:2.5\n";
    for half in [false, true] {
        let files = files(&text);
        let report = make(&files, half, 100);
        assert_eq!((report.features, report.rounding.is_some()), (5, half));
        let (plain, mapped) = open_both(&files);
        assert_same(&plain, &mapped);
        check(&files.cache).unwrap();
    }
}

#[test]
fn damage_is_detected_on_opening_or_by_the_full_check() {
    let files = files(&many());
    make(&files, false, 1 << 20);
    let whole = std::fs::read(&files.cache).unwrap();
    let header = header::Header::parse("a", &whole[..header::BYTES], whole.len() as u64).unwrap();
    let damaged = files.cache.with_file_name("b.cache");
    let opened = |bytes: &[u8]| {
        std::fs::write(&damaged, bytes).unwrap();
        read(&damaged, &options()).map(|report| report.data)
    };
    let mut positions: Vec<usize> = (0..340).collect();
    for section in Section::ALL {
        let range = header.section(section);
        positions.extend(
            [range.start, range.start + range.len() / 2, range.end - 1].into_iter().filter(|_| !range.is_empty()),
        );
    }
    for position in positions {
        let mut bytes = whole.clone();
        bytes[position] ^= 0x41;
        let section = Section::ALL.into_iter().find(|section| header.section(*section).contains(&position));
        match (opened(&bytes), section) {
            (Err(error), _) => {
                let error = error.to_string();
                assert!(error.starts_with(&damaged.display().to_string()), "{error}");
                assert!(error.contains("burnrank convert"), "byte {position}: {error}");
            }
            (Ok(data), Some(section)) if !section.is_verified_on_open() => {
                // Values are arbitrary, but reading them must not panic.
                let _ = data.fingerprint();
                (0..data.n_documents()).for_each(|row| _ = data.document_id(row));
                let error = check(&damaged).unwrap_err().to_string();
                assert!(error.contains("do not match their checksum"), "byte {position}: {error}");
            }
            (Ok(_), section) => panic!("changing byte {position} of {section:?} was not detected"),
        }
    }
    for length in (0..whole.len()).step_by(whole.len() / 97).chain([1, 7, 8, 4095, 4096, whole.len() - 1]) {
        let error = opened(&whole[..length]).unwrap_err().to_string();
        assert!(error.contains("cache"), "{length} bytes: {error}");
    }
    let longer = [&whole[..], b"x"].concat();
    assert!(opened(&longer).unwrap_err().to_string().contains("the cache has the wrong size"));
}

/// All checksums match, but two queries have the same id.
#[test]
fn a_duplicate_query_id_is_rejected() {
    let files = files("1 qid:a 1:1\n0 qid:b 1:2\n");
    make(&files, false, 100);
    let mut bytes = std::fs::read(&files.cache).unwrap();
    let header = header::Header::parse("a", &bytes[..header::BYTES], bytes.len() as u64).unwrap();
    let ids = header.section(Section::QueryText);
    assert_eq!(bytes[ids.clone()], *b"ab");
    bytes[ids].copy_from_slice(b"aa");
    let checksum = header::checksum(&bytes[..header::BYTES], &bytes, &header.sections);
    bytes[24..32].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(&files.cache, bytes).unwrap();
    for error in [read(&files.cache, &options()).unwrap_err(), check(&files.cache).unwrap_err()] {
        assert!(error.to_string().contains("the cache is damaged: two of its queries have the id 'a'"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_cache_that_changes_while_it_is_open_is_an_error() {
    let opened = || {
        let files = files(&many());
        make(&files, false, 1 << 20);
        let data = read(&files.cache, &options()).unwrap().data;
        data.check_unchanged().unwrap();
        (files, data)
    };
    let in_use = |data: &Dataset| {
        let error = data.check_unchanged().unwrap_err().to_string();
        assert!(error.contains("was modified, truncated or became unreadable while it was in use"), "{error}");
        assert!(check_in_use().is_err());
        assert!(data.for_rows(100, |_, _| Ok(())).is_err());
        assert!(data.load().is_err());
    };
    // A truncated file: lost pages read as zeros.
    let (short, data) = opened();
    let file = std::fs::File::options().write(true).open(&short.cache).unwrap();
    file.set_len(header::BYTES as u64).unwrap();
    assert!(data.features().iter().all(|&value| value == 0.0));
    in_use(&data);
    // A file rewritten with the same length at another time.
    let (other, data) = opened();
    let bytes = std::fs::read(&other.cache).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(&other.cache, bytes).unwrap();
    in_use(&data);
    // Replacing the file under its name does not affect the open one.
    let (replaced, data) = opened();
    let before = data.features().to_vec();
    make(&replaced, true, 1 << 20);
    assert_eq!(data.features(), before);
    data.check_unchanged().unwrap();
}

#[test]
fn a_cache_is_stale_if_its_text_changes() {
    let files = files("1 qid:a 1:1\n0 qid:a 1:2\n");
    make(&files, false, 100);
    std::fs::write(&files.text, "1 qid:a 1:1\n0 qid:a 1:22\n").unwrap();
    let error = read(&files.cache, &options()).unwrap_err().to_string();
    assert!(error.contains("has changed since") && error.contains("`stale_cache`"), "{error}");
    let stale = ReadOptions { stale_cache: true, ..options() };
    assert_eq!(read(&files.cache, &stale).unwrap().data.features(), [1.0, 2.0]);
    std::fs::remove_file(&files.text).unwrap();
    assert_eq!(read(&files.cache, &options()).unwrap().data.features(), [1.0, 2.0], "no source file to compare with");
}

#[test]
fn options_that_contradict_a_cache_are_rejected() {
    let files = files("1 qid:a 1:1 3:1\n");
    make(&files, false, 100);
    let with = |options: ReadOptions| read(&files.cache, &options);
    let error = |options: ReadOptions| with(options).unwrap_err().to_string();
    assert!(error(ReadOptions { first_index: 0, ..options() }).contains("remove `first_index` 0"));
    assert!(error(ReadOptions { query_file: Some("q".into()), ..options() }).starts_with("`query_file` applies to "));
    assert!(error(ReadOptions { width: Some(2), ..options() }).contains("3 features, more than the specified 2"));
    assert_eq!(with(ReadOptions { width: Some(4), ..options() }).unwrap().data.features(), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(with(ReadOptions { lenient: true, regroup: true, ..options() }).unwrap().data.n_documents(), 1);
    assert!(Chunks::from_reader("x", std::fs::File::open(&files.cache).unwrap(), &options()).is_err());
}

#[test]
fn a_failed_write_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.cache");
    let data = |label: f32, id: &str| Dataset::new(1, vec![70_000.0], vec![label], vec![(id.into(), 1)]).unwrap();
    let writer = |half: bool| CacheWriter::create(&path, CacheOptions { half, ..CacheOptions::default() }).unwrap();
    assert!(writer(false).finish(false).is_err(), "no documents");
    assert!(matches!(writer(true).push(&data(1.0, "a")), Err(Error::Data(_))), "too large for f16");
    assert!(writer(false).push(&data(-1.0, "a")).is_err(), "a negative label");
    let mut twice = writer(false);
    twice.push(&data(1.0, "a")).unwrap();
    twice.push(&data(1.0, "a")).unwrap();
    assert!(twice.finish(false).unwrap_err().to_string().contains("twice"));
    let names = FeatureNames::parse("names", b"1 a\n2 b\n", 1).unwrap();
    let names = CacheOptions { feature_names: Some(names), ..CacheOptions::default() };
    let mut two = CacheWriter::create(&path, names).unwrap();
    two.push(&data(1.0, "a")).unwrap();
    let error = two.finish(false).unwrap_err().to_string();
    assert!(error.contains("'b' names feature 2, but the last feature of the data is 1"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_bad_line_is_reported_as_for_text_and_leaves_no_file() {
    let files = files("1 qid:a 1:1\n0 qid:b 1:x\n");
    let build_with = |options: &ReadOptions| build(&files.text, &files.cache, CacheOptions::default(), options, |_| ());
    let of_build = build_with(&options()).unwrap_err().to_string();
    assert_eq!(of_build, read(&files.text, &options()).unwrap_err().to_string());
    assert!(!files.cache.exists());
    let lenient = ReadOptions { lenient: true, ..options() };
    let Skipped { lines, first } = build_with(&lenient).unwrap().skipped;
    assert_eq!((lines, first.len()), (1, 1));
    assert_eq!(read(&files.cache, &options()).unwrap().data, read(&files.text, &lenient).unwrap().data);
}

#[test]
fn split_queries_are_regrouped_as_in_text() {
    let files = files("1 qid:a 1:1\n0 qid:b 1:2\n2 qid:a 1:3\n");
    let regroup = ReadOptions { regroup: true, ..options() };
    build(&files.text, &files.cache, CacheOptions::default(), &regroup, |_| ()).unwrap();
    assert_same(&read(&files.text, &regroup).unwrap().data, &read(&files.cache, &options()).unwrap().data);
    let info = info(&files.cache).unwrap().unwrap();
    assert_eq!((info.bits, info.feature_bytes), (32, 12));
    assert!(info.source.unwrap().ends_with("a.txt"));
}
