//! What a race tells about itself: all settings, the best first, and how sure the choice is.

use super::choice::{self, Chosen};
use super::entrant::Entrant;
use crate::analysis::significance::Better;
use crate::metric::Summary;
use crate::tune::paired;
use serde::Serialize;

/// What was tried, and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct AutoReport {
    /// All settings, the best by their difference from the selected one first.
    pub candidates: Vec<CandidateReport>,
    /// The runs of all of them.
    pub runs: usize,
    /// The queries that settings were judged by.
    pub queries: usize,
    /// The best of the settings that have no part in the model.
    pub runner_up: Option<RunnerUp>,
    /// Whether it ended before the race was over: the time was up, or the caller stopped it.
    pub cut_short: bool,
}

/// A setting that was tried.
#[derive(Debug, Clone, Serialize)]
pub struct CandidateReport {
    /// In a few words.
    pub name: String,
    /// The mean of the metric over queries that had no part in training or in the choice of the epoch. Settings of different
    /// numbers of runs were evaluated on different queries: compare them by their difference.
    pub value: f64,
    /// The difference from the selected setting, which is the best one of the model; none for itself.
    pub difference: Option<Difference>,
    /// The runs that ended.
    pub runs: usize,
    /// Whether its models are part of the model.
    pub selected: bool,
    /// How long its runs took, in seconds.
    pub seconds: f64,
    /// Why training failed.
    pub failure: Option<String>,
}

/// A setting minus the selected one, on the runs and queries that both have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// The mean difference of the metric over queries.
    pub mean: f64,
    /// The standard error of that.
    pub standard_error: f64,
    /// The ends of its 95% interval.
    pub interval: (f64, f64),
    /// The number of common queries.
    pub queries: usize,
    /// The number of common runs.
    pub runs: usize,
    /// The mean of the setting on these queries and runs.
    pub value: f64,
    /// The mean of the selected setting on the same.
    pub selected_value: f64,
}

impl Difference {
    /// Returns `None` if too few queries are common.
    fn of(selected: &Entrant, other: &Entrant) -> Option<Self> {
        let (runs, [selected, own]) = choice::common(selected, other);
        let Summary { mean, standard_error, interval, n: queries, .. } = paired(&own, &selected);
        let both = |values: &[Option<f64>], others: &[Option<f64>]| {
            let common: Vec<Option<f64>> = values.iter().zip(others).map(|(value, other)| other.and(*value)).collect();
            Summary::of(&common).mean
        };
        let (value, selected_value) = (both(&own, &selected), both(&selected, &own));
        let found = Difference { mean, standard_error, interval, queries, runs, value, selected_value };
        (queries > 1).then_some(found)
    }
}

/// The best of the settings that have no part in the model.
#[derive(Debug, Clone, Serialize)]
pub struct RunnerUp {
    /// In a few words.
    pub name: String,
    /// How much better the selected one is: the mean over queries.
    pub lead: f64,
    /// The standard error of that.
    pub standard_error: f64,
}

impl AutoReport {
    pub(super) fn of(better: Better, entrants: &[Entrant], chosen: &Chosen, cut_short: bool) -> Self {
        let order = choice::ranked(better, entrants);
        let best = chosen.members.first().map(|&place| &entrants[place]);
        let failed = (0..entrants.len()).filter(|place| entrants[*place].failure.is_some());
        let report = |place: usize| {
            let entrant = &entrants[place];
            let is_selected = Some(&place) == chosen.members.first();
            CandidateReport {
                name: entrant.name(),
                value: entrant.summary().mean,
                difference: best.filter(|_| !is_selected).and_then(|best| Difference::of(best, entrant)),
                runs: entrant.models.len(),
                selected: chosen.members.contains(&place),
                seconds: entrant.seconds,
                failure: entrant.failure.clone(),
            }
        };
        let selected = chosen.members.first().copied();
        let others = order.iter().copied().filter(|&place| Some(place) != selected).chain(failed);
        let mut candidates: Vec<CandidateReport> = selected.into_iter().chain(others).map(report).collect();
        let sign = if better == Better::Higher { 1.0 } else { -1.0 };
        let rank = |candidate: &CandidateReport| match (&candidate.difference, &candidate.failure) {
            (_, Some(_)) => f64::NEG_INFINITY,
            (Some(difference), None) if difference.mean.is_finite() => sign * difference.mean,
            // The selected one; none of the others is without queries in common.
            _ => 0.0,
        };
        candidates.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        AutoReport {
            candidates,
            runs: entrants.iter().map(|entrant| entrant.models.len()).sum(),
            queries: best.map_or(0, |best| best.summary().n),
            runner_up: chosen.runner_up.map(|(place, lead)| RunnerUp {
                name: entrants[place].name(),
                lead: lead.mean,
                standard_error: lead.standard_error,
            }),
            cut_short,
        }
    }
}
