//! Screening: drops candidates that are clearly worse on samples of the queries, so that they never see all of the data.
//!
//! Each sample has four times as many training queries as the one before. Candidates are trained on four fifths of it and
//! evaluated on the rest and on a sample of the validation queries; the rule for dropping them is that of the rounds.

use super::candidate::{self, Candidate};
use super::{Selection, choice};
use crate::data::Dataset;
use crate::error::Result;
use crate::setting::TrainConfig;

/// Number of training queries in the first sample.
const FIRST: usize = 500;
/// Factor between the sizes of samples.
const GROWTH: usize = 4;

/// The sizes of samples of `queries` training queries: each leaves at least half of them to the rounds.
fn sizes(queries: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(FIRST), |size| size.checked_mul(GROWTH)).take_while(move |&size| 2 * size <= queries)
}

/// At most `size` evenly spaced queries.
fn sample(data: &Dataset, size: usize) -> Dataset {
    let (count, queries) = (size.min(data.n_queries()), data.n_queries());
    data.select(&(0..count).map(|place| place * queries / count).collect::<Vec<_>>())
}

impl Selection<'_> {
    /// The configurations that no sample excludes, and the names of the others. A limited number of runs is not spent on samples.
    pub(super) fn screened(&self) -> Result<(Vec<TrainConfig>, Vec<String>)> {
        let (mut configs, mut dropped) = (self.configs(), Vec::new());
        if self.auto.trials.is_some() {
            return Ok((configs, dropped));
        }
        for size in sizes(self.train.n_queries()) {
            let (train, valid) = (sample(self.train, size), self.valid.map(|valid| sample(valid, size / 2)));
            let small = Selection::new(self.auto, &train, valid.as_ref(), self.device, self.stop, &|_| {});
            // A sample may have no pairs.
            let Ok(small) = small.map(|small| small.since(self.began)) else { break };
            let queries = train.n_queries() + valid.as_ref().map_or(0, Dataset::n_queries);
            let (rotation, seed) = (&small.rotations[0], self.auto.base.seed);
            // The same settings for fewer queries.
            let suited = candidate::configs(&self.auto.base, self.auto.scaling, rotation.train.len());
            let name = |config: &TrainConfig| Candidate::new(config.clone(), 0).name();
            let names: Vec<String> = configs.iter().map(name).collect();
            let suited = suited.into_iter().filter(|config| names.contains(&name(config)));
            let mut candidates: Vec<Candidate> = suited.map(|config| Candidate::new(config, queries)).collect();
            let places: Vec<usize> = (0..candidates.len()).collect();
            if !small.round(&mut candidates, &places, rotation, seed, 0)? {
                break;
            }
            let kept: Vec<String> =
                choice::survivors(self.better, &candidates).into_iter().map(|place| candidates[place].name()).collect();
            if kept.is_empty() {
                break;
            }
            configs.retain(|config| kept.contains(&name(config)));
            dropped.extend(names.into_iter().filter(|name| !kept.contains(name)));
        }
        Ok((configs, dropped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_leave_half_of_the_queries() {
        let all = |queries| sizes(queries).collect::<Vec<_>>();
        assert_eq!(all(999), [0; 0]);
        assert_eq!(all(1000), [500]);
        assert_eq!(all(16_000), [500, 2000, 8000]);
    }
}
