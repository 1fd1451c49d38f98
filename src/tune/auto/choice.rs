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
    pub rival: Option<(usize, Summary)>,
}

/// Differences in units of their standard error: what is less is taken for chance.
const NEAR: f64 = 1.0;
/// What is more is given up.
const FAR: f64 = 2.0;
/// Queries that tell too little to give up a setting.
const FEW: usize = 10;

/// How much better the first is than the second, query by query; positive is better, whatever the measure.
pub(super) fn lead(better: Better, first: &Entrant, second: &Entrant) -> Summary {
    match better {
        Better::Higher => paired(&first.values(), &second.values()),
        Better::Lower => paired(&second.values(), &first.values()),
    }
}

/// Whether a lead may be chance.
fn is_near(lead: &Summary) -> bool {
    // Without a standard error there is nothing to tell by.
    lead.mean.is_nan() || lead.mean <= 0.0 || lead.standard_error.is_nan() || lead.mean <= NEAR * lead.standard_error
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

/// The entrants with as many runs as any has.
fn whole(better: Better, entrants: &[Entrant]) -> Vec<usize> {
    let mut order = ranked(better, entrants);
    let most = order.first().map_or(0, |&first| entrants[first].models.len());
    order.retain(|&place| entrants[place].models.len() == most);
    order
}

/// The entrants that are not clearly worse than the best, of those that were in the last round.
pub(super) fn survivors(better: Better, entrants: &[Entrant]) -> Vec<usize> {
    let order = whole(better, entrants);
    let Some(&best) = order.first() else { return order };
    let survives = |&place: &usize| {
        let lead = lead(better, &entrants[best], &entrants[place]);
        lead.n < FEW || lead.mean <= FAR * lead.standard_error || lead.standard_error.is_nan()
    };
    order.into_iter().filter(survives).collect()
}

/// The settings that make the model.
///
/// The best decides on its kind: trees, or nets of one scaling. Where the lead over nets, or over a scaling that needs no
/// neighbours, is within one standard error, these are taken. All settings of that kind within one standard error of its best
/// are averaged: that was better than any one of them, the simplest included.
pub(super) fn choose(better: Better, entrants: &[Entrant]) -> Option<Chosen> {
    // What was given up early has models from some of the queries only.
    let order = whole(better, entrants);
    let near = |best: usize, other: usize| is_near(&lead(better, &entrants[best], &entrants[other]));
    let mut best = *order.first()?;
    let simpler: [fn(&Entrant) -> bool; 2] = [
        |entrant| !entrant.is_trees(),
        |entrant| !entrant.is_trees() && !entrant.config.scaling.is_per_query(),
    ];
    for is_simple in simpler {
        let first = order.iter().copied().find(|&place| is_simple(&entrants[place]));
        best = first.filter(|&first| near(best, first)).unwrap_or(best);
    }
    let kind = |place: usize| (entrants[place].is_trees(), entrants[place].config.scaling);
    let members: Vec<usize> = order
        .iter()
        .copied()
        .filter(|&place| kind(place) == kind(best) && (place == best || near(best, place)))
        .collect();
    let others = ranked(better, entrants).into_iter().filter(|place| !members.contains(place));
    let leads = others.map(|place| (place, lead(better, &entrants[best], &entrants[place])));
    let rival = leads.min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    Some(Chosen { members, rival })
}
