//! Significance tests of paired per-query values.
//!
//! Every test takes the differences of two systems on the same queries, system minus baseline, and is two-sided.

mod bootstrap;
mod compare;
mod equal;
mod family;
mod holm;
mod interval;
mod leaderboard;
mod letters;
mod randomisation;
#[cfg(test)]
mod samples;
mod ttest;
mod wilcoxon;

pub use bootstrap::{Bootstrap, bootstrap};
pub use compare::{Better, CompareOptions, Comparison, Mover, PerQuery};
pub use family::{Adjusted, PairTest};
pub use holm::{holm, holm_levels};
pub use interval::randomisation_interval;
pub use leaderboard::{Leaderboard, Standing};
pub use letters::{Letters, letters};
pub use randomisation::{Randomisation, draws_needed, randomisation};
pub use ttest::{TTest, effect_size, t_test};
pub use wilcoxon::{Wilcoxon, wilcoxon};

use crate::numeric::{Mean, mean};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// How a p-value was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PMethod {
    /// All outcomes under the null hypothesis were enumerated.
    Exact,
    /// The normal approximation of the statistic was used.
    Normal,
    /// Outcomes were sampled at random.
    MonteCarlo,
}

/// Number of random draws per generator. Fixed, so that results do not depend on the number of threads.
const BLOCK: usize = 128;

/// Returns the generator of one block of draws.
fn block_rng(seed: u64, block: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(block as u64);
    rng
}

/// Standard deviation (n - 1) of at least two values.
fn deviation(values: &[f64]) -> f64 {
    Mean::of(values).deviation()
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}
