//! The data that everything is measured on: lists of documents with a long tail of lengths, made from a seed.

use anyhow::Context;
use burnrank::numeric::standard_normal;
use burnrank::{Dataset, WriteOptions};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Features of a document, and hidden units of the net.
pub const FEATURES: usize = 136;
pub const HIDDEN: usize = 10;
/// Lengths are lognormal: `exp(MEDIAN + SPREAD z)` has a mean of 120.
const MEDIAN: f64 = 4.542_5;
const SPREAD: f64 = 0.7;
const SHORTEST: f64 = 5.0;
const LONGEST: f64 = 600.0;
/// How many features have a say in the label.
const TELLING: usize = 8;
/// Where a standard normal number is cut into the labels 0 to 4, whose shares are then 52, 32, 13, 2 and 1 percent.
const CUTS: [f32; 4] = [0.0502, 0.9945, 1.8808, 2.3263];

/// A label of 0 to 4 for a standard normal number.
pub fn label(value: f32) -> f32 {
    CUTS.iter().filter(|&&cut| value > cut).count() as f32
}

/// The numbers of documents of some queries.
pub fn lengths(queries: usize, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut length = || (MEDIAN + SPREAD * standard_normal(&mut random)).exp().clamp(SHORTEST, LONGEST) as usize;
    (0..queries).map(|_| length()).collect()
}

/// Documents for queries of given lengths: decimals of four digits from 0 to 1, every fourth feature mostly 0, and a label
/// that a net can learn in part. Nothing but the result is ever in memory.
pub fn dataset(lengths: &[usize], width: usize, seed: u64) -> anyhow::Result<Dataset> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
    let documents: usize = lengths.iter().sum();
    let mut features = Vec::with_capacity(documents * width);
    let mut labels = Vec::with_capacity(documents);
    let telling = TELLING.min(width) as f32;
    for _ in 0..documents {
        let mut sum = 0.0;
        for feature in 0..width {
            let bits: u32 = random.random();
            let value = (bits % 10_001) as f32 / 10_000.0;
            // The bits above the decimals decide what is 0.
            let zero = feature % 4 == 3 && (bits >> 20) % 10 < 7;
            features.push(if zero { 0.0 } else { value });
            if feature < TELLING {
                sum += value - 0.5;
            }
        }
        let signal = sum * (12.0 / telling).sqrt();
        labels.push(label(0.6 * signal + 0.8 * standard_normal(&mut random) as f32));
    }
    let queries = lengths.iter().enumerate().map(|(query, &length)| ((query + 1).to_string(), length)).collect();
    Ok(Dataset::new(width, features, labels, queries)?)
}

/// Writes the data for readers of text (`data.svm`), and its bytes for programs that do not want to read text.
pub fn write(data: &Dataset, folder: &Path) -> anyhow::Result<()> {
    burnrank::write(folder.join("data.svm"), data, &WriteOptions::default())?;
    raw(folder, "features.f32", data.features().iter().map(|value| value.to_le_bytes()))?;
    raw(folder, "labels.f32", data.labels().iter().map(|value| value.to_le_bytes()))?;
    raw(folder, "offsets.u64", data.offsets().iter().map(|&value| (value as u64).to_le_bytes()))?;
    let shape = json!({
        "documents": data.n_documents(),
        "queries": data.n_queries(),
        "features": data.n_features(),
        "hidden": HIDDEN,
    });
    raw(folder, "shape.json", [shape.to_string().into_bytes()].into_iter())
}

fn raw<B: AsRef<[u8]>>(folder: &Path, name: &str, mut parts: impl Iterator<Item = B>) -> anyhow::Result<()> {
    let path = folder.join(name);
    let mut write = || -> std::io::Result<()> {
        let mut file = std::io::BufWriter::with_capacity(1 << 20, std::fs::File::create(&path)?);
        parts.try_for_each(|part| file.write_all(part.as_ref()))?;
        file.flush()
    };
    write().with_context(|| format!("cannot write {}: is the temporary folder full?", path.display()))
}

/// Pairs of documents of different label, over all queries.
pub fn pairs(data: &Dataset) -> u64 {
    data.queries().map(|query| pairs_of(query.labels)).sum()
}

/// The same of one query's labels 0 to 4.
pub fn pairs_of(labels: &[f32]) -> u64 {
    let mut counts = [0_u64; 5];
    labels.iter().for_each(|&label| counts[label as usize % 5] += 1);
    let n = labels.len() as u64;
    (n * n - counts.iter().map(|count| count * count).sum::<u64>()) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_mean_and_the_tail() {
        let lengths = lengths(1000, 1);
        let mean = lengths.iter().sum::<usize>() as f64 / 1000.0;
        assert!((110.0..130.0).contains(&mean), "{mean}");
        assert_eq!(lengths.iter().max(), Some(&600));
        assert!(lengths.iter().all(|&length| length >= 5));
    }

    #[test]
    fn labels_are_skewed_and_texts_are_short() {
        let data = dataset(&[20_000], 9, 1).unwrap();
        let share = |label: f32| data.labels().iter().filter(|&&own| own == label).count() as f64 / 20_000.0;
        for (label, expected) in [(0.0, 0.52), (1.0, 0.32), (2.0, 0.13), (3.0, 0.02), (4.0, 0.01)] {
            assert!((share(label) - expected).abs() < 0.02, "{label}: {}", share(label));
        }
        assert!(data.features().iter().all(|value| value.to_string().len() <= 6));
    }

    #[test]
    fn pairs_are_counted() {
        assert_eq!(pairs_of(&[0.0, 1.0, 1.0, 4.0]), 5);
    }

    #[test]
    fn the_text_holds_the_same_numbers_as_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let data = dataset(&[3, 5], 7, 2).unwrap();
        write(&data, folder.path()).unwrap();
        let read = burnrank::read(folder.path().join("data.svm"), &Default::default()).unwrap().data;
        assert_eq!(read, data);
        assert_eq!(std::fs::read(folder.path().join("features.f32")).unwrap().len(), 8 * 7 * 4);
        assert_eq!(std::fs::read(folder.path().join("offsets.u64")).unwrap().len(), 3 * 8);
    }
}
