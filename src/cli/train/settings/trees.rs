//! The options that only trees have.

use burnrank::setting::TreeSettings;

/// What trees have, and nothing else has.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Trees")]
pub struct TreeArgs {
    /// The most trees [default: 500]
    #[arg(long, value_name = "N", conflicts_with = "epochs")]
    pub trees: Option<usize>,
    /// The most leaves of a tree [default: 31]
    #[arg(long, value_name = "N")]
    pub leaves: Option<usize>,
    /// What each tree's values are multiplied with [default: 0.1]
    #[arg(long, value_name = "RATE")]
    pub shrinkage: Option<f64>,
    /// The fewest documents in a leaf [default: 20]
    #[arg(long, value_name = "N")]
    pub min_data: Option<usize>,
    /// The smallest sum of second derivatives in a leaf [default: 0.001]
    #[arg(long, value_name = "SUM")]
    pub min_hessian: Option<f64>,
    /// The most values that a feature is told apart by [default: 255]
    #[arg(long, value_name = "N")]
    pub bins: Option<usize>,
    /// The share of documents that each tree is grown on [default: 1]
    #[arg(long, value_name = "SHARE")]
    pub subsample: Option<f64>,
    /// The share of features that each tree may split by [default: 1]
    #[arg(long, value_name = "SHARE")]
    pub feature_fraction: Option<f64>,
}

impl TreeArgs {
    /// The first of them that is given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--trees", self.trees.is_some()),
            ("--leaves", self.leaves.is_some()),
            ("--shrinkage", self.shrinkage.is_some()),
            ("--min-data", self.min_data.is_some()),
            ("--min-hessian", self.min_hessian.is_some()),
            ("--bins", self.bins.is_some()),
            ("--subsample", self.subsample.is_some()),
            ("--feature-fraction", self.feature_fraction.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// What trees are grown with: the options, and those of `preset` where they are not given.
    pub fn settings(&self, preset: &TreeSettings) -> TreeSettings {
        TreeSettings {
            min_data: self.min_data.unwrap_or(preset.min_data),
            min_hessian: self.min_hessian.unwrap_or(preset.min_hessian),
            bins: self.bins.unwrap_or(preset.bins),
            subsample: self.subsample.unwrap_or(preset.subsample),
            feature_fraction: self.feature_fraction.unwrap_or(preset.feature_fraction),
        }
    }
}
