//! Number of document pairs that an objective learns from.

use super::ui::{count, percent};
use super::{input, widths};
use burnrank::{Batch, Dataset, Model, Objective, Outputs, device};
use serde::Serialize;
use std::path::Path;

/// Pair counts of an objective on a file.
#[derive(Debug, Serialize)]
pub struct EffectivePairs {
    pub objective: String,
    /// Source of the scores: "equal scores" or a model folder.
    pub scores: String,
    /// Number of pairs of documents of a query with different labels: the maximum for pairwise objectives.
    pub label_pairs: u64,
    /// Number of pairs with a nonzero lambda; number of documents for objectives without pairs.
    pub effective: u64,
    /// Number of effective pairs with a sigmoid below 0.001.
    pub saturated: u64,
}

impl EffectivePairs {
    /// Counts pairs for the scores of a model, or for equal scores as at the start of training.
    pub fn count(objective: &Objective, data: &Dataset, model: Option<&Path>) -> anyhow::Result<Self> {
        let scores = match model {
            None => vec![0.0; data.n_documents()],
            Some(folder) => widths::score(&Model::load(folder, &device::open("auto")?)?, data, &input::name(folder))?,
        };
        let batch = Batch { labels: data.labels(), offsets: data.offsets() };
        let mut gradient = vec![0.0; scores.len()];
        // Sampling objectives need a seed per query. The counts hardly depend on it.
        let seeds: Vec<u64> = (0..data.n_queries() as u64).collect();
        let outputs = Outputs { loss: false, pairs: true };
        let counts = objective.lambda_gradient(&scores, batch, &mut gradient, outputs, &seeds)?;
        Ok(EffectivePairs {
            objective: objective.name(),
            scores: model.map_or_else(|| "equal scores".into(), |folder| folder.display().to_string()),
            label_pairs: data.queries().map(|query| different(query.labels)).sum(),
            effective: counts.pairs,
            saturated: counts.saturated,
        })
    }

    /// Formats the counts in one line.
    pub fn text(&self) -> String {
        let share = |part: u64, whole: u64| percent(part as f64 / whole.max(1) as f64);
        format!(
            "{}, {}: {} effective pairs ({} of {} pairs with different labels), {} of them saturated",
            self.objective,
            self.scores,
            count(self.effective as usize),
            share(self.effective, self.label_pairs),
            count(self.label_pairs as usize),
            share(self.saturated, self.effective)
        )
    }
}

/// Counts the pairs with different labels: all pairs minus those with equal labels.
fn different(labels: &[f32]) -> u64 {
    let mut sorted = labels.to_vec();
    sorted.sort_by(f32::total_cmp);
    let pairs = |n: usize| (n as u64) * (n as u64).saturating_sub(1) / 2;
    pairs(sorted.len()) - sorted.chunk_by(|a, b| a == b).map(|group| pairs(group.len())).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_with_different_labels_are_counted() {
        assert_eq!(different(&[0.0, 1.0, 2.0, 0.0, 3.0]), 9);
        assert_eq!(different(&[1.0, 1.0]), 0);
        assert_eq!(different(&[]), 0);
    }

    #[test]
    fn mrr_learns_from_fewer_pairs_than_map_and_map_than_ndcg() {
        let labels = vec![0.0, 3.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0];
        let data = Dataset::new(1, vec![0.0; 8], labels, vec![("q".into(), 8)]).unwrap();
        let pairs =
            |name: &str| EffectivePairs::count(&Objective::parse(name).unwrap(), &data, None).unwrap().effective;
        assert!(pairs("lambdarank:mrr") < pairs("lambdarank:map"));
        assert!(pairs("lambdarank:map") < pairs("lambdarank:ndcg"));
        assert_eq!(pairs("lambdarank:ndcg"), different(data.labels()));
    }
}
