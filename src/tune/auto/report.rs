//! Report of a model selection: all candidates, the best first, and the uncertainty of the selection.

use super::candidate::Candidate;
use super::choice::{self, Chosen};
use crate::analysis::significance::Better;
use crate::metric::Summary;
use crate::tune::paired;
use serde::Serialize;

/// Candidates and result of a model selection.
#[derive(Debug, Clone, Serialize)]
pub struct AutoReport {
    /// All candidates, ordered by their difference from the selected one, the best first.
    pub candidates: Vec<CandidateReport>,
    /// Total number of runs.
    pub runs: usize,
    /// Number of queries that candidates were evaluated on.
    pub queries: usize,
    /// The best candidate that is not part of the model.
    pub runner_up: Option<RunnerUp>,
    /// Whether the selection ended early: at the time limit, or stopped by the caller.
    pub cut_short: bool,
}

/// A candidate configuration.
#[derive(Debug, Clone, Serialize)]
pub struct CandidateReport {
    /// Short description.
    pub name: String,
    /// Mean of the metric over queries that had no part in training or in the choice of the epoch. Candidates with different
    /// numbers of runs were evaluated on different queries: compare them by their difference.
    pub value: f64,
    /// Difference from the selected candidate, which is the best one of the model; `None` for itself.
    pub difference: Option<Difference>,
    /// Number of completed runs.
    pub runs: usize,
    /// Whether its models are part of the model.
    pub selected: bool,
    /// Time of its runs in seconds.
    pub seconds: f64,
    /// Why training failed.
    pub failure: Option<String>,
}

/// A candidate minus the selected one, on their common runs and queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// Mean difference of the metric over queries.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// 95% confidence interval.
    pub interval: (f64, f64),
    /// Number of common queries.
    pub queries: usize,
    /// Number of common runs.
    pub runs: usize,
    /// Mean of the candidate on these queries and runs.
    pub value: f64,
    /// Mean of the selected candidate on these queries and runs.
    pub selected_value: f64,
}

impl Difference {
    /// Returns `None` if fewer than two queries are common.
    fn of(selected: &Candidate, other: &Candidate) -> Option<Self> {
        let (runs, [selected, other]) = choice::common(selected, other);
        let Summary { mean, standard_error, interval, n: queries, .. } = paired(&other, &selected);
        let both = |values: &[Option<f64>], others: &[Option<f64>]| {
            let common: Vec<Option<f64>> = values.iter().zip(others).map(|(value, other)| other.and(*value)).collect();
            Summary::of(&common).mean
        };
        let (value, selected_value) = (both(&other, &selected), both(&selected, &other));
        (queries > 1).then_some(Difference { mean, standard_error, interval, queries, runs, value, selected_value })
    }
}

/// The best candidate that is not part of the model.
#[derive(Debug, Clone, Serialize)]
pub struct RunnerUp {
    /// Short description.
    pub name: String,
    /// How much better the selected one is: mean over queries.
    pub lead: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
}

impl AutoReport {
    pub(super) fn of(better: Better, candidates: &[Candidate], chosen: &Chosen, cut_short: bool) -> Self {
        let order = choice::ranked(better, candidates);
        let best = chosen.members.first().map(|&place| &candidates[place]);
        let failed = (0..candidates.len()).filter(|place| candidates[*place].failure.is_some());
        let report = |place: usize| {
            let candidate = &candidates[place];
            let is_selected = Some(&place) == chosen.members.first();
            CandidateReport {
                name: candidate.name(),
                value: candidate.summary().mean,
                difference: best.filter(|_| !is_selected).and_then(|best| Difference::of(best, candidate)),
                runs: candidate.models.len(),
                selected: chosen.members.contains(&place),
                seconds: candidate.seconds,
                failure: candidate.failure.clone(),
            }
        };
        let selected = chosen.members.first().copied();
        let others = order.iter().copied().filter(|&place| Some(place) != selected).chain(failed);
        let mut reports: Vec<CandidateReport> = selected.into_iter().chain(others).map(report).collect();
        let sign = if better == Better::Higher { 1.0 } else { -1.0 };
        let rank = |candidate: &CandidateReport| match (&candidate.difference, &candidate.failure) {
            (_, Some(_)) => f64::NEG_INFINITY,
            (Some(difference), None) if difference.mean.is_finite() => sign * difference.mean,
            // The selected candidate; all others have queries in common with it.
            _ => 0.0,
        };
        reports.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        AutoReport {
            candidates: reports,
            runs: candidates.iter().map(|candidate| candidate.models.len()).sum(),
            queries: best.map_or(0, |best| best.summary().n),
            runner_up: chosen.runner_up.map(|(place, lead)| RunnerUp {
                name: candidates[place].name(),
                lead: lead.mean,
                standard_error: lead.standard_error,
            }),
            cut_short,
        }
    }
}
