//! Scoring of data sets with nets.

#[cfg(feature = "cubecl")]
use super::NarrowNet;
use super::Ranker;
use super::host::HostRanker;
use crate::data::Dataset;
#[cfg(feature = "cubecl")]
use crate::device::cube::Cube;
use crate::device::on_host;
use crate::error::{Error, Result};
#[cfg(feature = "cubecl")]
use burn::module::Module;
use burn::tensor::Device;
use rayon::prelude::*;

/// Scores all documents of a data set with a net.
///
/// A document's score depends only on the ranker and the document, not on other documents, its position or the number
/// of threads. On the host it does not depend on the instruction set either.
///
/// # Errors
/// If the device fails.
pub fn score(ranker: &Ranker, data: &Dataset, device: &Device) -> Result<Vec<f32>> {
    score_rows(ranker, data.features(), data.n_features(), device)
}

/// Scores row-major documents.
pub(crate) fn score_rows(ranker: &Ranker, features: &[f32], width: usize, device: &Device) -> Result<Vec<f32>> {
    let width = width.max(1);
    let mut scores = vec![0.0; features.len() / width];
    if on_host(device) {
        let ranker = HostRanker::of(ranker)?;
        if ranker.features() != width {
            return Err(mismatch(ranker.features(), width));
        }
        let block = ranker.block();
        let blocks = scores.par_chunks_mut(block).zip(features.par_chunks(block * width));
        blocks.for_each(|(scores, rows)| ranker.score(rows, scores));
        return Ok(scores);
    }
    let expected = ranker.config().features;
    if expected != width {
        return Err(mismatch(expected, width));
    }
    if ranker.device().is_none_or(|actual| actual != *device) {
        return Err(Error::Mismatch("the model is on another device: load it on the device that scores".into()));
    }
    score_on_device(ranker, features, width, device, &mut scores)?;
    Ok(scores)
}

#[cfg(feature = "cubecl")]
fn score_on_device(ranker: &Ranker, rows: &[f32], width: usize, device: &Device, scores: &mut [f32]) -> Result<()> {
    let Some(cube) = Cube::of(device) else { return Err(no_kernels()) };
    let (block, net, plain) = (cube.block(width), NarrowNet::of(ranker, &cube), ranker.valid());
    for (scores, rows) in scores.chunks_mut(block).zip(rows.chunks(block * width)) {
        let mut values = rows.to_vec();
        if net.is_none() {
            values.resize(block * width, 0.0);
        }
        let rows = cube.tensor(values, |length| [length / width, width]);
        let output = match &net {
            Some(net) => net.score(rows),
            None => plain.forward(rows),
        };
        scores.copy_from_slice(&cube.fetch_tensor(output)?[..scores.len()]);
    }
    Ok(())
}

#[cfg(not(feature = "cubecl"))]
fn score_on_device(_: &Ranker, _: &[f32], _: usize, _: &Device, _: &mut [f32]) -> Result<()> {
    Err(no_kernels())
}

fn no_kernels() -> Error {
    Error::Device("this build does not support the device: open it with device::open".into())
}

fn mismatch(ranker: usize, data: usize) -> Error {
    Error::Mismatch(format!("the model expects {ranker} features, the data has {data}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::model::{Activation, Init, RankerConfig, to_host};
    use burn::tensor::{Tensor, TensorData};

    const WIDTHS: [usize; 6] = [1, 3, 16, 17, 46, 136];

    fn nets(features: usize) -> Vec<RankerConfig> {
        let mut nets = vec![RankerConfig::linear(features)];
        for (hidden, activation) in [
            (1, Activation::Sigmoid),
            (5, Activation::Relu),
            (8, Activation::Tanh),
            (10, Activation::Sigmoid),
            (10, Activation::Relu),
            (16, Activation::Tanh),
            (17, Activation::Tanh),
            (40, Activation::Sigmoid),
        ] {
            nets.push(RankerConfig::mlp(features, &[hidden], activation));
        }
        for (hidden, activation) in [
            (&[1, 1][..], Activation::Tanh),
            (&[16, 5], Activation::Sigmoid),
            (&[40, 17, 3], Activation::Relu),
            (&[300, 2], Activation::Tanh),
        ] {
            nets.push(RankerConfig::mlp(features, hidden, activation));
        }
        nets
    }

    fn documents(count: usize, features: usize) -> Vec<f32> {
        let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32;
        (0..count * features).map(|i| 2.0 * random(i) - 1.0).collect()
    }

    fn bits(scores: &[f32]) -> Vec<u32> {
        scores.iter().map(|score| score.to_bits()).collect()
    }

    #[test]
    fn a_score_does_not_depend_on_other_documents() {
        let device = device::open("auto").unwrap();
        for features in WIDTHS {
            let all = documents(1025, features);
            for shape in nets(features) {
                let ranker = shape.init(Init::Burn, 3, &device).unwrap();
                let score = |rows: &[f32]| bits(&score_rows(&ranker, rows, features, &device).unwrap());
                let expected: Vec<u32> = all.chunks(features).flat_map(score).collect();
                for count in [1, 2, 4, 5, 6, 249, 250, 251, 511, 512, 513, 1025] {
                    assert_eq!(score(&all[..count * features]), expected[..count], "{shape:?}, {count} documents");
                }
                for chunk in [3, 7, 100, 333] {
                    let parts: Vec<u32> = all.chunks(chunk * features).flat_map(score).collect();
                    assert_eq!(parts, expected, "{shape:?}, {chunk} at a time");
                }
            }
        }
    }

    #[test]
    fn a_score_does_not_depend_on_threads_or_instructions() {
        let device = device::open("auto").unwrap();
        let all = documents(1025, 46);
        for shape in nets(46) {
            let ranker = shape.init(Init::Burn, 9, &device).unwrap();
            let expected = bits(&score_rows(&ranker, &all, 46, &device).unwrap());
            for threads in [1, 2, 3, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let actual = pool.install(|| score_rows(&ranker, &all, 46, &device).unwrap());
                assert_eq!(bits(&actual), expected, "{shape:?}, {threads} threads");
            }
            let mut portable = vec![0.0; 1025];
            crate::simd::PORTABLE.set(true);
            HostRanker::of(&ranker).unwrap().score(&all, &mut portable);
            crate::simd::PORTABLE.set(false);
            assert_eq!(bits(&portable), expected, "{shape:?}, other instructions");
        }
    }

    #[test]
    fn equal_documents_have_equal_scores() {
        let device = device::open("auto").unwrap();
        let one = documents(1, 46);
        for shape in nets(46) {
            let ranker = shape.init(Init::Burn, 4, &device).unwrap();
            for count in [2, 511, 512, 513, 1025] {
                let mut scores = bits(&score_rows(&ranker, &one.repeat(count), 46, &device).unwrap());
                scores.dedup();
                assert_eq!(scores.len(), 1, "{shape:?}, {count} documents");
            }
        }
    }

    #[test]
    fn scores_match_the_forward_pass_of_training() {
        let device = device::open("auto").unwrap();
        for features in WIDTHS {
            let all = documents(63, features);
            for shape in nets(features) {
                let ranker = shape.init(Init::Burn, 2, &device).unwrap();
                let actual = score_rows(&ranker, &all, features, &device).unwrap();
                let rows = TensorData::new(all.clone(), [63, features]);
                let expected = to_host(ranker.forward(Tensor::from_data(rows, &device))).unwrap();
                let far = |(a, b): (&f32, &f32)| (a - b).abs() > 2e-6 * (1.0 + b.abs());
                assert!(!actual.iter().zip(&expected).any(far), "{shape:?}: {actual:?}, not {expected:?}");
            }
        }
        let ranker = RankerConfig::linear(2).init(Init::Burn, 2, &device).unwrap();
        assert!(score_rows(&ranker, &[0.0; 3], 3, &device).is_err(), "another number of features");
        assert!(score_rows(&ranker, &[], 2, &device).unwrap().is_empty());
    }
}
