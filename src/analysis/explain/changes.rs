//! The queries that won and lost most against a baseline, and the pair of documents that decided it.

use super::explainer::{Explainer, row_of};
use crate::data::Dataset;
use crate::error::Result;
use crate::metric::{Conventions, Metric, Ties, rank_order};
use serde::Serialize;

/// The queries whose value changed most, the largest change first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    /// Where the model is better than the baseline.
    pub won: Vec<QueryChange>,
    /// Where it is worse.
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
    /// The two documents that decided most of it; nothing where no two of them changed places.
    pub change: Option<Change>,
}

/// Two documents of different labels that the model and the baseline put in different orders.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The document of the higher label.
    pub better: Place,
    /// The document of the lower label.
    pub worse: Place,
    /// What the measure would change if the two exchanged their ranks in the model's ranking.
    pub swap: f64,
    /// The model's score of the better one less that of the worse one.
    pub score_difference: f64,
    /// The parts of features in that difference, the largest first.
    pub contributions: Vec<Contribution>,
    /// The parts of all other features together.
    pub other_contributions: f64,
    /// Whether all parts together are within 0.1% of the difference of scores.
    pub contributions_add_up: bool,
}

/// Where a document is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// Its id; without one, its number within the query, counted from 1.
    pub document: String,
    /// Its label.
    pub label: f32,
    /// Its rank in the baseline, from 1.
    pub baseline_rank: usize,
    /// Its rank in the model, from 1.
    pub model_rank: usize,
}

/// The part of one feature in the difference of two scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// The feature's column, counted from 0.
    pub feature: usize,
    /// The value of the document of the higher label, as the data has it.
    pub better: f32,
    /// The value of the other.
    pub worse: f32,
    /// How much it raises the first document above the second.
    pub contribution: f64,
}

/// One of the two has a rank of at most this, or the pair is not looked at.
const LOOKED_AT: usize = 100;

/// A pair that is still to be explained.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub better: usize,
    pub worse: usize,
    pub swap: f64,
    ranks: [usize; 4],
}

/// A query that changed, before its features are looked at.
#[derive(Debug, Clone)]
pub(super) struct Moved {
    pub query: usize,
    baseline: f64,
    model: f64,
    pub pair: Option<Pair>,
}

/// Scores and values of the model, then of the baseline.
pub(super) type Rankings<'a> = (&'a [f32], &'a [Option<f64>], &'a [f64], &'a [Option<f64>]);

/// The queries that won and those that lost, with the pair that decided each.
pub(super) fn moved(
    data: &Dataset,
    metric: &dyn Metric,
    conventions: &Conventions,
    (scores, values, baseline_scores, baseline_values): Rankings<'_>,
    most: usize,
) -> Result<[Vec<Moved>; 2]> {
    let sign = if metric.is_cost() { -1.0 } else { 1.0 };
    let mut gains: Vec<(usize, f64, f64)> = (0..data.n_queries())
        .filter_map(|query| Some((query, baseline_values[query]?, values[query]?)))
        .filter(|(_, before, after)| (after - before).abs() > 1e-12 * (1.0 + before.abs()))
        .collect();
    let gain = |(_, before, after): &(usize, f64, f64)| sign * (after - before);
    // Sorting is stable: of equal changes the earlier query comes first.
    gains.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    let won = gains.iter().filter(|change| gain(change) > 0.0).take(most).copied().collect::<Vec<_>>();
    gains.sort_by(|a, b| gain(a).total_cmp(&gain(b)));
    let lost = gains.iter().filter(|change| gain(change) < 0.0).take(most).copied().collect::<Vec<_>>();
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

/// Of the pairs of a query that only one of the two rankings has right, the model where it `won`, the one whose exchange in the
/// model's ranking changes the measure most.
fn decisive(
    labels: &[f32],
    scores: &[f32],
    baseline: &[f64],
    won: bool,
    metric: &dyn Metric,
    conventions: &Conventions,
) -> Result<Option<Pair>> {
    // An average over orders of ties has no order of its own.
    let ties = if conventions.ties == Ties::Average { Ties::Document } else { conventions.ties };
    let order = rank_order(scores, labels, ties)?;
    let before = ranks(&rank_order(baseline, labels, ties)?);
    let ranked: Vec<f32> = order.iter().map(|&row| labels[row]).collect();
    let swaps = metric.swaps(&ranked);
    let mut best: Option<Pair> = None;
    for high in 0..order.len().min(LOOKED_AT) {
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
    /// With the `most` largest parts of features; `documents` are the two as the data has them, `scaled` holds them as the model
    /// sees them.
    pub fn told(
        self,
        scaled: &Dataset,
        scores: &[f32],
        explainer: &Explainer,
        documents: Option<[Vec<f32>; 2]>,
        most: usize,
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
            let found = explainer.differences(row_of(scaled, pair.better), row_of(scaled, pair.worse));
            let mut contributions: Vec<Contribution> = found
                .values
                .iter()
                .enumerate()
                .map(|(feature, &contribution)| Contribution {
                    feature,
                    better: documents[0].get(feature).copied().unwrap_or(0.0),
                    worse: documents[1].get(feature).copied().unwrap_or(0.0),
                    contribution,
                })
                .collect();
            contributions.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
            let other_contributions =
                contributions.iter().skip(most).map(|contribution| contribution.contribution).sum();
            contributions.truncate(most);
            contributions.retain(|contribution| contribution.contribution != 0.0);
            Change {
                better: place(pair.better, &pair.ranks[..2]),
                worse: place(pair.worse, &pair.ranks[2..]),
                swap: pair.swap,
                score_difference: f64::from(scores[pair.better]) - f64::from(scores[pair.worse]),
                contributions,
                other_contributions,
                contributions_add_up: found.add_up,
            }
        });
        QueryChange { query: scaled.query_ids()[query].clone(), baseline, model, change }
    }
}
