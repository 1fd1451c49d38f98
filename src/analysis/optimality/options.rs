//! Options of a certificate.

use super::bound::directions_needed;
use crate::error::{Error, Result};
use crate::metric::Conventions;

/// The paper's steps: `{0.1, 0.2, ..., 1}`.
pub const COARSE_STEPS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The steps of the paper's footnote 4: `{0.001, 0.002, ...}`, ten of them.
pub const FINE_STEPS: [f64; 10] = [0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.01];

/// Options for the search for a better point near a model's weights.
#[derive(Debug, Clone, PartialEq)]
pub struct CertifyOptions {
    /// Fraction of improving directions to refute.
    pub epsilon: f64,
    /// Maximum probability of missing all improving directions.
    pub delta: f64,
    /// Number of directions, instead of the `K` that follows from `epsilon` and `delta`.
    pub directions: Option<usize>,
    /// Sets of steps; each set gets its own verdict.
    pub steps: Vec<Vec<f64>>,
    /// Whether steps are fractions of the norm of the weights, instead of distances. A distance means little by itself: a
    /// linear net ranks alike if all its weights are multiplied by a number, and the norm depends on the scaling of features.
    pub relative: bool,
    /// Whether to stop at the first direction that improves the metric, at any step of any set.
    pub stop_at_first: bool,
    /// Number of directions whose curves are kept for plotting.
    pub curves: usize,
    /// Random seed.
    pub seed: u64,
    /// Conventions of the evaluation.
    pub conventions: Conventions,
}

impl Default for CertifyOptions {
    /// The paper's settings: `epsilon` and `delta` 0.01, hence 459 directions; steps 0.1 to 1 and, separately, 0.001 to 0.01.
    /// The paper does not state their unit; here they are fractions of the norm of the weights.
    fn default() -> Self {
        CertifyOptions {
            epsilon: 0.01,
            delta: 0.01,
            directions: None,
            steps: vec![COARSE_STEPS.to_vec(), FINE_STEPS.to_vec()],
            relative: true,
            stop_at_first: false,
            curves: 4,
            seed: 0,
            conventions: Conventions::default(),
        }
    }
}

impl CertifyOptions {
    /// Validates the options and returns the number of directions to try.
    ///
    /// # Errors
    /// If a probability is not between 0 and 1, there is no direction or step, or a step is not a positive number.
    pub fn check(&self) -> Result<usize> {
        let needed = directions_needed(self.epsilon, self.delta)?;
        if self.directions == Some(0) {
            return Err(Error::Config("0 directions: use at least 1".into()));
        }
        check_steps(&self.steps.concat())?;
        if self.steps.iter().any(Vec::is_empty) {
            return Err(Error::Config("a set of steps is empty: give at least one step".into()));
        }
        Ok(self.directions.unwrap_or(needed))
    }

    /// Returns the steps of all sets as distances, for weights of this norm.
    pub(super) fn distances(&self, norm: f64) -> Result<Vec<f64>> {
        if self.relative && norm == 0.0 {
            let problem = "all weights are 0, and so are steps relative to their norm: use absolute steps";
            return Err(Error::Config(problem.into()));
        }
        let scale = if self.relative { norm } else { 1.0 };
        Ok(self.steps.concat().iter().map(|step| step * scale).collect())
    }
}

pub(super) fn check_steps(steps: &[f64]) -> Result<()> {
    if steps.is_empty() {
        return Err(Error::Config("no steps: give at least one".into()));
    }
    match steps.iter().find(|step| !(**step > 0.0 && **step <= 1e6)) {
        Some(step) => Err(Error::Config(format!("step {step}: expected a number above 0 and at most 1000000"))),
        None => Ok(()),
    }
}
