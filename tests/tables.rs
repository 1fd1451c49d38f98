//! Tables: CSV and Parquet give the same documents as LETOR files, and bad files an error with the position.

#[path = "tables/cache.rs"]
mod cache;
#[path = "tables/damage.rs"]
mod damage;
#[path = "tables/models.rs"]
mod models;
#[path = "tables/parquet.rs"]
mod parquet_files;
mod support;
#[path = "tables/text.rs"]
mod text;
#[path = "tables/write.rs"]
mod write;

use burnrank::data::ReadReport;
use burnrank::data::{Chunks, Columns};
use burnrank::{Dataset, ReadOptions, read};
use std::path::{Path, PathBuf};

/// Documents used by most tests.
const LETOR: &str =
    "2 qid:a 1:0.5 2:-1 # docid = d7\n0 qid:a 1:3 2:4e-3 # docid = d8\n1 qid:7 1:1e3 2:0 # docid = d9\n";

fn expected() -> Dataset {
    burnrank::data::read_bytes("letor", LETOR.as_bytes(), &ReadOptions::default()).unwrap().data
}

/// Writes a file in a new temporary folder.
fn file(name: &str, bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn with(columns: Columns) -> ReadOptions {
    ReadOptions { columns, ..ReadOptions::default() }
}

/// Returns the error of reading a file, without its folder. Reading in chunks must fail with the same error.
fn refusal(path: &Path, options: &ReadOptions) -> String {
    let whole = read(path, options).unwrap_err().to_string();
    if !options.regroup && options.query_file.is_none() {
        let chunks = Chunks::open(path, options).and_then(|chunks| chunks.collect::<burnrank::Result<Vec<_>>>());
        assert_eq!(chunks.unwrap_err().to_string(), whole, "in chunks");
    }
    whole.replace(&format!("{}/", path.parent().unwrap().display()), "")
}

/// Compares all numbers bit for bit; `==` does not distinguish 0 and -0.
fn assert_same(a: &Dataset, b: &Dataset) {
    assert_eq!(a, b);
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(a.features()), bits(b.features()));
}

/// Reads a file, which must give the same documents in chunks of any size and with any number of threads.
fn read_all_ways(path: &Path, options: &ReadOptions) -> ReadReport {
    let whole = read(path, options).unwrap();
    for bytes in [1, 8, 20, 1000, 1 << 20] {
        let mut chunks = Chunks::open(path, options).unwrap().with_chunk_bytes(bytes);
        let (mut features, mut labels, mut queries) = (Vec::new(), Vec::new(), Vec::new());
        for chunk in &mut chunks {
            let chunk = chunk.unwrap();
            assert_eq!(chunk.feature_names(), whole.data.feature_names());
            features.extend_from_slice(chunk.features());
            labels.extend_from_slice(chunk.labels());
            queries.extend(chunk.queries().map(|query| (query.id.to_owned(), query.labels.len())));
        }
        assert_eq!((chunks.skipped(), chunks.total_rows()), (&whole.skipped, whole.rows.total), "{bytes}");
        let joined = Dataset::new(whole.data.n_features(), features, labels, queries).unwrap();
        let all: Vec<usize> = (0..whole.data.n_queries()).collect();
        let bits = |data: &Dataset| data.features().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&joined), bits(&whole.data.select(&all)), "{bytes}");
        assert_eq!((joined.labels(), joined.query_ids()), (whole.data.labels(), whole.data.query_ids()), "{bytes}");
        assert_eq!(joined.offsets(), whole.data.offsets(), "{bytes}");
    }
    for threads in [1, 3] {
        assert_same(&read(path, &ReadOptions { threads, ..options.clone() }).unwrap().data, &whole.data);
    }
    whole
}
