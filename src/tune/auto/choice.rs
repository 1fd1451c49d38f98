//! Selects the candidates that make the model, by paired differences on the same queries; among similar ones, the simpler.

use super::candidate::Candidate;
use crate::analysis::significance::Better;
use crate::metric::Summary;
use crate::tune::paired;

/// The selection and its uncertainty.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    /// Indices of the candidates whose models are averaged, the best first.
    pub members: Vec<usize>,
    /// The best candidate that is not selected, and how much worse it is than the best selected one, per query.
    pub runner_up: Option<(usize, Summary)>,
}

/// Differences within this number of standard errors count as chance.
const NEAR: f64 = 1.0;
/// Candidates that are worse by more than this number of standard errors are dropped.
const FAR: f64 = 2.0;
/// Minimum number of queries that is required to drop a candidate.
const MIN_QUERIES: usize = 10;

/// Values of two candidates on their common runs. All candidates take part in the first rounds, so these are the first runs.
pub(super) fn common(first: &Candidate, second: &Candidate) -> (usize, [Vec<Option<f64>>; 2]) {
    let runs = first.models.len().min(second.models.len());
    (runs, [first, second].map(|candidate| candidate.values_of(runs)))
}

/// How much better the first is than the second, per query; positive is better for every metric.
pub(super) fn lead(better: Better, first: &[Option<f64>], second: &[Option<f64>]) -> Summary {
    match better {
        Better::Higher => paired(first, second),
        Better::Lower => paired(second, first),
    }
}

/// Returns whether a lead is at most `errors` standard errors; true if there is no standard error.
fn is_within(lead: &Summary, errors: f64) -> bool {
    lead.mean.is_nan() || lead.standard_error.is_nan() || lead.mean <= errors * lead.standard_error
}

/// The evaluated candidates: those with more runs first, because means over different queries are not comparable; then by value;
/// ties go to the simpler.
pub(super) fn ranked(better: Better, candidates: &[Candidate]) -> Vec<usize> {
    let sign = if better == Better::Higher { 1.0 } else { -1.0 };
    let value = |place: usize| sign * candidates[place].summary().mean;
    let runs = |place: usize| candidates[place].models.len();
    let mut order: Vec<usize> =
        (0..candidates.len()).filter(|&place| candidates[place].failure.is_none() && !value(place).is_nan()).collect();
    order.sort_by(|&a, &b| runs(b).cmp(&runs(a)).then(value(b).total_cmp(&value(a))).then(a.cmp(&b)));
    order
}

/// The candidates of the last round that are not clearly worse than the best, the best first.
pub(super) fn survivors(better: Better, candidates: &[Candidate]) -> Vec<usize> {
    let mut order = ranked(better, candidates);
    let Some(&best) = order.first() else { return order };
    let survives = |place: usize| {
        let lead = lead(better, &candidates[best].values(), &candidates[place].values());
        lead.n < MIN_QUERIES || is_within(&lead, FAR)
    };
    order.retain(|&place| candidates[place].models.len() == candidates[best].models.len() && survives(place));
    order
}

/// Candidates whose models can be averaged into one.
struct Group {
    /// Indices, the best first.
    members: Vec<usize>,
    /// Mean over the candidates of the metric of each query.
    values: Vec<Option<f64>>,
}

/// The groups of the surviving candidates in order of simplicity; ties in the order of the candidates.
fn groups(candidates: &[Candidate], survivors: &[usize]) -> Vec<Group> {
    let kind = |place: usize| candidates[place].kind();
    let mut firsts: Vec<usize> = Vec::new();
    for place in 0..candidates.len() {
        if survivors.contains(&place) && !firsts.iter().any(|&first| kind(first) == kind(place)) {
            firsts.push(place);
        }
    }
    firsts.sort_by_key(|&first| (kind(first).0, kind(first).1, kind(first).2, first));
    let group = |first: usize| {
        let members: Vec<usize> = survivors.iter().copied().filter(|&place| kind(place) == kind(first)).collect();
        let all: Vec<Vec<Option<f64>>> = members.iter().map(|&place| candidates[place].values()).collect();
        let mean = |query: usize| {
            let values: Option<Vec<f64>> = all.iter().map(|values| values[query]).collect();
            values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
        };
        Group { values: (0..all[0].len()).map(mean).collect(), members }
    };
    firsts.into_iter().map(group).collect()
}

/// Selects the candidates that make the model.
///
/// Takes the simplest group whose mean is within one standard error of the best group's. All of its candidates that are not
/// clearly worse than the best are averaged: on small data this was better than the best or the simplest one, by up to a point.
pub(super) fn choose(better: Better, candidates: &[Candidate]) -> Option<Chosen> {
    let groups = groups(candidates, &survivors(better, candidates));
    let sign = if better == Better::Higher { 1.0 } else { -1.0 };
    let value = |group: &Group| sign * Summary::of(&group.values).mean;
    let best = groups.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
    let near = |group: &&Group| is_within(&lead(better, &best.values, &group.values), NEAR);
    let members = groups.iter().find(near).unwrap_or(best).members.clone();
    let first = &candidates[*members.first()?];
    let others = ranked(better, candidates).into_iter().filter(|place| !members.contains(place));
    let leads = others.map(|place| {
        let (_, [selected, other]) = common(first, &candidates[place]);
        (place, lead(better, &selected, &other))
    });
    let runner_up = leads.min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    Some(Chosen { members, runner_up })
}
