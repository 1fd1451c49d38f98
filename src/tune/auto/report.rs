//! What a race tells about itself: all settings, the best first, and how sure the choice is.

use super::choice::{self, Chosen};
use super::entrant::Entrant;
use crate::analysis::significance::Better;
use crate::metric::Summary;
use serde::Serialize;

/// What was tried, and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct AutoReport {
    /// All settings, the best first.
    pub tried: Vec<Tried>,
    /// The runs of all of them.
    pub runs: usize,
    /// The queries that settings were judged by.
    pub queries: usize,
    /// The best of the settings that have no part in the model.
    pub rival: Option<Rival>,
    /// Whether it ended before the race was over: the time was up, or the caller stopped it.
    pub cut_short: bool,
}

/// A setting that was tried.
#[derive(Debug, Clone, Serialize)]
pub struct Tried {
    /// In a few words.
    pub name: String,
    /// The mean of the measure over queries that had no part in training or in the choice of the epoch.
    pub value: f64,
    /// How much better the best one of the model is, query by query, and the standard error of that.
    pub behind: Option<(f64, f64)>,
    /// The runs that ended.
    pub runs: usize,
    /// Whether its models are part of the model.
    pub chosen: bool,
    /// How long its runs took, in seconds.
    pub seconds: f64,
    /// Why training failed.
    pub failure: Option<String>,
}

/// The best of the settings that have no part in the model.
#[derive(Debug, Clone, Serialize)]
pub struct Rival {
    /// In a few words.
    pub name: String,
    /// How much better the chosen setting is: the mean over queries.
    pub lead: f64,
    /// The standard error of that.
    pub standard_error: f64,
}

impl AutoReport {
    pub(super) fn of(better: Better, entrants: &[Entrant], chosen: &Chosen, cut_short: bool) -> Self {
        let order = choice::ranked(better, entrants);
        let best = chosen.members.first().map(|&place| &entrants[place]);
        let failed = (0..entrants.len()).filter(|place| entrants[*place].failure.is_some());
        let tried = |place: usize| {
            let entrant = &entrants[place];
            let lead: Option<Summary> = best.map(|best| choice::lead(better, &best.values(), &entrant.values()));
            let behind = lead.filter(|lead| lead.n > 1).map(|lead| (lead.mean, lead.standard_error));
            Tried {
                name: entrant.name(),
                value: entrant.summary().mean,
                behind: behind.filter(|_| Some(&place) != chosen.members.first()),
                runs: entrant.models.len(),
                chosen: chosen.members.contains(&place),
                seconds: entrant.seconds,
                failure: entrant.failure.clone(),
            }
        };
        AutoReport {
            tried: order.iter().copied().chain(failed).map(tried).collect(),
            runs: entrants.iter().map(|entrant| entrant.models.len()).sum(),
            queries: best.map_or(0, |best| best.summary().n),
            rival: chosen.rival.map(|(place, lead)| Rival {
                name: entrants[place].name(),
                lead: lead.mean,
                standard_error: lead.standard_error,
            }),
            cut_short,
        }
    }
}
