//! What the papers share: their rivals, their slips, and the speed of this program.

mod errata;
mod slips;
mod systems;

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 3] = [errata::EXPERIMENT, systems::EXPERIMENT, crate::speed::EXPERIMENT];
