//! All papers together: baselines, errors in the texts, and the speed of this program.

mod errata;
mod errata_checks;
mod systems;

use crate::harness::Experiment;

/// All experiments of this part.
pub const EXPERIMENTS: [Experiment; 3] = [errata::EXPERIMENT, systems::EXPERIMENT, crate::speed::EXPERIMENT];
