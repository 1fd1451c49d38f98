//! The queries with the largest gain and loss against a baseline, and the pair of documents responsible.

use super::explainer::{Explainer, row_of};
use crate::data::Dataset;
use crate::error::Result;
use crate::metric::{Conventions, Metric, Ties, rank_order};
use serde::Serialize;

/// The queries with the largest changes, in descending order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    /// Queries on which the model is better than the baseline.
    pub won: Vec<QueryChange>,
    /// Queries on which it is worse.
    pub lost: Vec<QueryChange>,
}

/// A query whose value changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryChange {
    /// The query's id.
    pub query: String,
    /// The baseline's value.
    pub baseline: f64,
    /// The model's value.
    pub model: f64,
    /// The pair of documents responsible for most of the change; `None` if no two documents swapped.
    pub change: Option<Change>,
}

/// Two documents with different labels that the model and the baseline rank in different orders.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The document with the higher label.
    pub better: Place,
    /// The document with the lower label.
    pub worse: Place,
    /// Change of the metric if the two swapped ranks in the model's ranking.
    pub swap: f64,
    /// The model's score of the better document minus that of the worse one.
    pub score_difference: f64,
    /// Contributions of features to that difference, the largest first.
    pub contributions: Vec<Contribution>,
    /// Sum of the contributions of all other features.
    pub other_contributions: f64,
    /// Whether the sum of all contributions is within 0.1% of the difference of the scores.
    pub contributions_add_up: bool,
}

/// A document and its ranks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// Document id; without one, its number within the query from 1.
    pub document: String,
    /// Label.
    pub label: f32,
    /// Rank in the baseline, from 1.
    pub baseline_rank: usize,
    /// Rank in the model, from 1.
    pub model_rank: usize,
}

/// Contribution of one feature to the difference of two scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// Column of the feature, from 0.
    pub feature: usize,
    /// Raw value of the document with the higher label.
    pub better: f32,
    /// Raw value of the document with the lower label.
    pub worse: f32,
    /// How much the feature raises the score of the first document above that of the second.
    pub contribution: f64,
}

/// A pair is considered if one of its documents has at most this rank.
const MAX_RANK: usize = 100;

/// A pair without contributions.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub better: usize,
    pub worse: usize,
    pub swap: f64,
    ranks: [usize; 4],
}

/// A changed query without contributions.
#[derive(Debug, Clone)]
pub(super) struct Moved {
    pub query: usize,
    baseline: f64,
    model: f64,
    pub pair: Option<Pair>,
}

/// Scores and metric values of the model, then of the baseline.
pub(super) type Rankings<'a> = (&'a [f32], &'a [Option<f64>], &'a [f64], &'a [Option<f64>]);

/// Returns the queries with the largest gains and with the largest losses, each with the pair responsible.
pub(super) fn moved(
    data: &Dataset,
    metric: &dyn Metric,
    conventions: &Conventions,
    (scores, values, baseline_scores, baseline_values): Rankings<'_>,
    max_queries: usize,
) -> Result<[Vec<Moved>; 2]> {
    let sign = if metric.is_cost() { -1.0 } else { 1.0 };
    let mut gains: Vec<(usize, f64, f64)> = (0..data.n_queries())
        .filter_map(|query| Some((query, baseline_values[query]?, values[query]?)))
        .filter(|(_, before, after)| (after - before).abs() > 1e-12 * (1.0 + before.abs()))
        .collect();
    let gain = |(_, before, after): &(usize, f64, f64)| sign * (after - before);
    // The sort is stable: among equal changes the earlier query comes first.
    gains.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    let won = gains.iter().filter(|change| gain(change) > 0.0).take(max_queries).copied().collect::<Vec<_>>();
    gains.sort_by(|a, b| gain(a).total_cmp(&gain(b)));
    let lost = gains.iter().filter(|change| gain(change) < 0.0).take(max_queries).copied().collect::<Vec<_>>();
    let with_pair = |(query, baseline, model): (usize, f64, f64), won: bool| {
        let rows = data.offsets()[query]..data.offsets()[query + 1];
        let pair = decisive(
            &data.labels()[rows.clone()],
            &scores[rows.clone()],
            &baseline_scores[rows.clone()],
            won,
            metric,
            conventions,
        )?;
        let pair = pair.map(|pair| Pair { better: rows.start + pair.better, worse: rows.start + pair.worse, ..pair });
        Ok(Moved { query, baseline, model, pair })
    };
    Ok([
        won.into_iter().map(|change| with_pair(change, true)).collect::<Result<_>>()?,
        lost.into_iter().map(|change| with_pair(change, false)).collect::<Result<_>>()?,
    ])
}

/// Returns the pair that only one of the rankings has in the right order (the model if it `won`) whose swap in the model's ranking
/// changes the metric most.
fn decisive(
    labels: &[f32],
    scores: &[f32],
    baseline: &[f64],
    won: bool,
    metric: &dyn Metric,
    conventions: &Conventions,
) -> Result<Option<Pair>> {
    // An average over the orders of ties has no single order.
    let ties = if conventions.ties == Ties::Average { Ties::Document } else { conventions.ties };
    let order = rank_order(scores, labels, ties)?;
    let before = ranks(&rank_order(baseline, labels, ties)?);
    let ranked: Vec<f32> = order.iter().map(|&row| labels[row]).collect();
    let swaps = metric.swaps(&ranked);
    let mut best: Option<Pair> = None;
    for high in 0..order.len().min(MAX_RANK) {
        for low in high + 1..order.len() {
            let (above, below) = (order[high], order[low]);
            if labels[above] == labels[below] || (labels[above] > labels[below]) != won || before[above] < before[below]
            {
                continue;
            }
            let swap = swaps.delta(high, low);
            if best.as_ref().is_none_or(|pair| swap.abs() > pair.swap.abs()) {
                let (ranks, other) = ([before[above] + 1, high + 1], [before[below] + 1, low + 1]);
                let [better, worse] = if won { [above, below] } else { [below, above] };
                let [first, second] = if won { [ranks, other] } else { [other, ranks] };
                best = Some(Pair { better, worse, swap, ranks: [first[0], first[1], second[0], second[1]] });
            }
        }
    }
    Ok(best)
}

/// The rank of each document, from 0.
fn ranks(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    order.iter().enumerate().for_each(|(rank, &row)| ranks[row] = rank);
    ranks
}

impl Moved {
    /// Adds the `max_features` largest contributions. `documents` are the two raw documents; `scaled` is the data as the model
    /// expects it, and `columns` its columns of each feature.
    pub fn explained(
        self,
        scaled: &Dataset,
        columns: &[Vec<usize>],
        scores: &[f32],
        explainer: &Explainer,
        documents: Option<[Vec<f32>; 2]>,
        max_features: usize,
    ) -> QueryChange {
        let Moved { query, baseline, model, pair } = self;
        let start = scaled.offsets()[query];
        let change = pair.zip(documents).map(|(pair, documents)| {
            let place = |row: usize, ranks: &[usize]| Place {
                document: match scaled.document_id(row) {
                    Some(id) if !id.is_empty() => id.to_owned(),
                    _ => format!("document {}", row - start + 1),
                },
                label: scaled.labels()[row],
                baseline_rank: ranks[0],
                model_rank: ranks[1],
            };
            let parts = explainer.differences(row_of(scaled, pair.better), row_of(scaled, pair.worse));
            let mut contributions: Vec<Contribution> = columns
                .iter()
                .map(|columns| columns.iter().map(|&column| parts.values[column]).sum())
                .enumerate()
                .map(|(feature, contribution): (usize, f64)| Contribution {
                    feature,
                    better: documents[0].get(feature).copied().unwrap_or(0.0),
                    worse: documents[1].get(feature).copied().unwrap_or(0.0),
                    contribution,
                })
                .collect();
            contributions.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
            let other_contributions =
                contributions.iter().skip(max_features).map(|contribution| contribution.contribution).sum();
            contributions.truncate(max_features);
            contributions.retain(|contribution| contribution.contribution != 0.0);
            Change {
                better: place(pair.better, &pair.ranks[..2]),
                worse: place(pair.worse, &pair.ranks[2..]),
                swap: pair.swap,
                score_difference: f64::from(scores[pair.better]) - f64::from(scores[pair.worse]),
                contributions,
                other_contributions,
                contributions_add_up: parts.add_up,
            }
        });
        QueryChange { query: scaled.query_ids()[query].clone(), baseline, model, change }
    }
}
