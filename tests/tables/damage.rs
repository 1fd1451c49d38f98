//! Damaged files: always an error, never a panic, and never wrong documents if the format can detect the damage.

use super::write::{Values, column, parquet, properties, small};
use super::{expected, file};
use burnrank::data::Chunks;
use burnrank::{ReadOptions, read};
use proptest::prelude::*;

fn bytes(rows: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    if rows == 3 {
        parquet(&path, &small(), 2, properties());
    } else {
        let columns = [
            column("int64 label", Values::i64((0..rows as i64).map(|row| row % 5))),
            column("int64 qid", Values::i64((0..rows as i64).map(|row| row / 7))),
            column("double x", Values::f64((0..rows).map(|row| (row as f64).sin()))),
            column("double y", Values::f64((0..rows).map(|row| (row % 3) as f64))),
        ];
        parquet(&path, &columns, rows / 3, properties());
    }
    std::fs::read(&path).unwrap()
}

#[test]
fn a_truncated_parquet_file_is_rejected() {
    let all = bytes(3);
    for end in 0..all.len() {
        let (_folder, path) = file("a.parquet", &all[..end]);
        let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
        let expected = if end == 0 {
            "the file is empty"
        } else {
            "damaged, truncated or not a Parquet file: write or copy it again"
        };
        assert!(error.contains(expected), "cut at {end}: {error}");
        assert!(Chunks::open(&path, &ReadOptions::default()).is_err(), "cut at {end}");
    }
}

#[test]
fn a_parquet_file_is_detected_by_its_first_bytes() {
    let (_folder, path) = file("a.parquet", bytes(3));
    let right = read(&path, &ReadOptions::default()).unwrap().data;
    for name in ["a.txt", "a.csv", "a"] {
        let (_folder, path) = file(name, bytes(3));
        assert_eq!(read(&path, &ReadOptions::default()).unwrap().data, right, "{name}");
    }
}

#[test]
fn other_files_are_not_read_as_parquet() {
    for text in
        ["1 qid:1 1:2\n".repeat(10), "label,qid,x\n1,1,1\n".into(), "PAR1PAR1".into(), "PAR1\0\0\0\0PAR1".into()]
    {
        let (_folder, path) = file("a.parquet", text);
        let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("damaged, truncated or not a Parquet file"), "{error}");
    }
    let error = Chunks::from_reader("a pipe", std::io::Cursor::new(bytes(3)), &ReadOptions::default()).err().unwrap();
    assert!(error.to_string().starts_with("a pipe: this is a Parquet file: pass the file itself"), "{error}");
    let error = read("no/such.parquet", &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("no/such.parquet: cannot read: "), "{error}");
}

#[test]
fn a_flipped_byte_is_never_a_panic() {
    let (all, right) = (bytes(3), expected());
    let mut same = 0;
    for position in 0..all.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bad = all.clone();
            bad[position] ^= flip;
            let (_folder, path) = file("a.parquet", &bad);
            same += usize::from(read(&path, &ReadOptions::default()).is_ok_and(|report| report.data == right));
        }
    }
    println!("{same} of {} flips changed nothing", 3 * all.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn damage_is_never_a_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        static ALL: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let mut bad = ALL.get_or_init(|| bytes(2000)).clone();
        for (position, byte) in changes {
            let position = position.index(bad.len());
            bad[position] = byte;
        }
        let (_folder, path) = file("a.parquet", &bad);
        let _ = read(&path, &ReadOptions::default());
    }

    #[test]
    fn any_text_is_read_or_rejected(text in "[-0-9a,;\"\r\n\u{feff} .]{0,80}") {
        let (_folder, path) = file("a.csv", format!("label,qid,x\n{text}"));
        let whole = read(&path, &ReadOptions::default()).map(|report| report.data.n_documents());
        let chunks = Chunks::open(&path, &ReadOptions::default()).unwrap().with_chunk_bytes(9);
        let parts = chunks.map(|chunk| chunk.map(|chunk| chunk.n_documents())).sum::<burnrank::Result<usize>>();
        prop_assert_eq!(whole.map_err(|error| error.to_string()), parts.map_err(|error| error.to_string()));
    }
}
