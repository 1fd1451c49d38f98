//! LambdaLoss: Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, 2018.

use crate::harness::Experiment;

/// All of them, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 0] = [];
