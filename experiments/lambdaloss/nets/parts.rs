//! Data of a comparison: random functions, or folds of real data.

use crate::harness::{Session, real};
use burnrank::data::FoldFiles;
use burnrank::data::synthetic::{Generator, LabelMix};
use burnrank::train::TrainingData;
use burnrank::{Dataset, ScaleKind, Synthetic};
use std::sync::Arc;

/// A random cubic polynomial of 50 features; labels 0 to 4 have the shares of rated web pages.
pub fn function(session: &Session, number: u64) -> anyhow::Result<Generator> {
    Ok(Synthetic { seed: function_seed(session, number), ..Synthetic::lambdarank() }.generator()?)
}

/// As [`function`], with binary labels: the documents of the two highest labels are relevant.
pub fn binary_function(session: &Session, number: u64) -> anyhow::Result<Generator> {
    let mix = LabelMix::new(vec![0.97, 0.03])?;
    Ok(Synthetic { seed: function_seed(session, number), mix, ..Synthetic::lambdarank() }.generator()?)
}

fn function_seed(session: &Session, number: u64) -> u64 {
    session.seed.wrapping_mul(1_000).wrapping_add(number)
}

/// Training, validation and test queries with raw features, and the scaled training data.
pub struct Parts {
    pub sets: [Dataset; 3],
    pub scaling: ScaleKind,
    pub data: Arc<TrainingData<'static>>,
}

impl Parts {
    /// Queries of a function.
    pub fn of_function(session: &Session, number: u64, queries: [usize; 3]) -> anyhow::Result<Parts> {
        Parts::of_generator(&function(session, number)?, queries)
    }

    /// Queries of a function with graded or binary labels.
    pub fn planned(session: &Session, number: u64, binary: bool, queries: [usize; 3]) -> anyhow::Result<Parts> {
        let generator = if binary { binary_function(session, number)? } else { function(session, number)? };
        Parts::of_generator(&generator, queries)
    }

    fn of_generator(generator: &Generator, [n_train, n_valid, n_test]: [usize; 3]) -> anyhow::Result<Parts> {
        let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
        Parts::new([part(0, n_train)?, part(n_train, n_valid)?, part(n_train + n_valid, n_test)?], ScaleKind::None)
    }

    /// Queries of a fold of real data; features are scaled by their logarithm, then to mean 0 and variance 1 on training
    /// queries.
    pub fn of_fold(files: &FoldFiles) -> anyhow::Result<Parts> {
        Parts::new(real::load(files)?, ScaleKind::Log1pZScore)
    }

    pub fn new(sets: [Dataset; 3], scaling: ScaleKind) -> anyhow::Result<Parts> {
        let data = Arc::new(TrainingData::new(scaling, sets[0].clone(), sets[1].clone())?);
        Ok(Parts { sets, scaling, data })
    }
}
