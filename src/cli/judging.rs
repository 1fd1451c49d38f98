//! What all commands that judge rankings ask for.

use super::Usage;
use anyhow::bail;
use burnrank::{Conventions, Empty, Metric, Ties, parse, parse_with};
use std::sync::Arc;

/// The conventions that decide what a measure is.
#[derive(Debug, clap::Args)]
pub struct JudgeArgs {
    /// Which of equally scored documents ranks first: document (the earlier one; in a run the greater id, as in
    /// trec_eval), pessimistic, optimistic, or average over all orders
    #[arg(long, value_name = "RULE", default_value_t)]
    ties: Ties,
    /// What a query with nothing relevant counts: zero, one, or skip
    #[arg(long, value_name = "RULE", default_value = "zero")]
    empty: Empty,
    /// Lowest relevant label, for binary measures
    #[arg(long, value_name = "LABEL", default_value_t = 1.0)]
    pub threshold: f32,
}

impl JudgeArgs {
    /// Refuses what makes no sense before any file is read.
    pub fn check(&self) -> anyhow::Result<()> {
        if !(self.threshold > 0.0 && self.threshold.is_finite()) {
            bail!(Usage(format!("--threshold {}: expected a positive number", self.threshold)));
        }
        Ok(())
    }

    pub fn conventions(&self) -> Conventions {
        Conventions { ties: self.ties, empty: self.empty, ..Conventions::default() }
    }

    pub fn metric(&self, name: &str) -> anyhow::Result<Arc<dyn Metric>> {
        let metric = parse_with(name, self.threshold)?;
        if self.ties == Ties::Average && metric.value_over_ties(&[1.0, 0.0], &[2], 2).is_none() {
            bail!(Usage(format!(
                "--ties average: {} has no closed form for it: choose document, pessimistic or optimistic",
                metric.name()
            )));
        }
        Ok(metric)
    }
}

/// Refuses unknown names before any file is read.
pub fn known_metric(name: &str) -> Result<String, burnrank::Error> {
    parse(name).map(|_| name.to_owned())
}
