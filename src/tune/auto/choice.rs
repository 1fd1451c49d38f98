//! Which of the settings make the model: by paired differences on the same queries, the simpler of those that hardly differ.

use super::entrant::Entrant;
use crate::analysis::significance::Better;
use crate::metric::Summary;
use crate::tune::paired;

/// What was chosen, and how sure that is.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    /// The settings whose models are averaged, the best first.
    pub members: Vec<usize>,
    /// The best setting that has no part in the model, and how much worse it is than the best that has, query by query.
    pub runner_up: Option<(usize, Summary)>,
}

/// Differences in units of their standard error: what is less is taken for chance.
const NEAR: f64 = 1.0;
/// What is more is given up.
const FAR: f64 = 2.0;
/// Queries that tell too little to give up a setting.
const FEW: usize = 10;

/// Two settings on the runs that both have: all settings take part in the first rounds, so these are the first runs of each.
pub(super) fn common(first: &Entrant, second: &Entrant) -> (usize, [Vec<Option<f64>>; 2]) {
    let runs = first.models.len().min(second.models.len());
    (runs, [first, second].map(|entrant| entrant.values_of(runs)))
}

/// How much better the first is than the second, query by query; positive is better, whatever the measure.
pub(super) fn lead(better: Better, first: &[Option<f64>], second: &[Option<f64>]) -> Summary {
    match better {
        Better::Higher => paired(first, second),
        Better::Lower => paired(second, first),
    }
}

/// Whether a lead is no more than so many standard errors; without a standard error there is nothing to tell by.
fn is_within(lead: &Summary, errors: f64) -> bool {
    lead.mean.is_nan() || lead.standard_error.is_nan() || lead.mean <= errors * lead.standard_error
}

/// The entrants that have been judged: those with more runs first, because means over other queries do not compare; then the
/// better, and of equals the simpler.
pub(super) fn ranked(better: Better, entrants: &[Entrant]) -> Vec<usize> {
    let sign = if better == Better::Higher { 1.0 } else { -1.0 };
    let value = |place: usize| sign * entrants[place].summary().mean;
    let runs = |place: usize| entrants[place].models.len();
    let mut order: Vec<usize> =
        (0..entrants.len()).filter(|&place| entrants[place].failure.is_none() && !value(place).is_nan()).collect();
    order.sort_by(|&a, &b| runs(b).cmp(&runs(a)).then(value(b).total_cmp(&value(a))).then(a.cmp(&b)));
    order
}

/// Of the entrants that were in the last round, those that are not clearly worse than the best, the best first.
pub(super) fn survivors(better: Better, entrants: &[Entrant]) -> Vec<usize> {
    let mut order = ranked(better, entrants);
    let Some(&best) = order.first() else { return order };
    let survives = |place: usize| {
        let lead = lead(better, &entrants[best].values(), &entrants[place].values());
        lead.n < FEW || is_within(&lead, FAR)
    };
    order.retain(|&place| entrants[place].models.len() == entrants[best].models.len() && survives(place));
    order
}

/// Settings whose models add up to one model.
struct Group {
    /// The best first.
    members: Vec<usize>,
    /// The mean over its settings of the measure of each query.
    values: Vec<Option<f64>>,
}

/// The groups of these settings, the simpler first; of like ones, in the order in which settings are tried.
fn groups(entrants: &[Entrant], survivors: &[usize]) -> Vec<Group> {
    let kind = |place: usize| entrants[place].kind();
    let mut firsts: Vec<usize> = Vec::new();
    for place in 0..entrants.len() {
        if survivors.contains(&place) && !firsts.iter().any(|&first| kind(first) == kind(place)) {
            firsts.push(place);
        }
    }
    firsts.sort_by_key(|&first| (kind(first).0, kind(first).1, kind(first).2, first));
    let group = |first: usize| {
        let members: Vec<usize> = survivors.iter().copied().filter(|&place| kind(place) == kind(first)).collect();
        let all: Vec<Vec<Option<f64>>> = members.iter().map(|&place| entrants[place].values()).collect();
        let mean = |query: usize| {
            let values: Option<Vec<f64>> = all.iter().map(|values| values[query]).collect();
            values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
        };
        Group { values: (0..all[0].len()).map(mean).collect(), members }
    };
    firsts.into_iter().map(group).collect()
}

/// The settings that make the model.
///
/// The first group is taken whose mean is within one standard error of the best group's: the simpler come first. All of its
/// settings that are not clearly worse than the best are averaged: on small data that was better than the best of them or the
/// simplest, by up to a point.
pub(super) fn choose(better: Better, entrants: &[Entrant]) -> Option<Chosen> {
    let groups = groups(entrants, &survivors(better, entrants));
    let sign = if better == Better::Higher { 1.0 } else { -1.0 };
    let value = |group: &Group| sign * Summary::of(&group.values).mean;
    let best = groups.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
    let near = |group: &&Group| is_within(&lead(better, &best.values, &group.values), NEAR);
    let members = groups.iter().find(near).unwrap_or(best).members.clone();
    let first = &entrants[*members.first()?];
    let others = ranked(better, entrants).into_iter().filter(|place| !members.contains(place));
    let leads = others.map(|place| {
        let (_, [own, other]) = common(first, &entrants[place]);
        (place, lead(better, &own, &other))
    });
    let runner_up = leads.min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    Some(Chosen { members, runner_up })
}
