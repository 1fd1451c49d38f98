//! Many systems and one measure: who is best, how sure that is, and who cannot be told apart.

use super::equal::{equal, paired};
use super::{Better, CompareOptions, Comparison, Letters, PerQuery, bootstrap, holm, letters, mean, randomisation};
use crate::error::{Error, Result};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One system's line of a [`Leaderboard`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// From 1; systems of equal means have the same, and the next one is as if they had different ones.
    pub rank: usize,
    /// The system's name.
    pub name: String,
    /// The place of the system in the order given, from 0.
    pub system: usize,
    /// The mean over queries.
    pub mean: f64,
    /// The bootstrap interval of the mean; none for a single query.
    pub interval: Option<(f64, f64)>,
    /// Systems that share a letter do not differ significantly.
    pub letters: Letters,
}

/// Two systems of a [`Leaderboard`], by their places in the order given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairTest {
    /// The earlier system.
    pub first: usize,
    /// The later system.
    pub second: usize,
    /// The mean of the second's values less the first's.
    pub difference: f64,
    /// Queries on which both are equal.
    pub ties: usize,
    /// The p-value of the randomisation test, as [`randomisation`] gives it.
    pub p: Option<f64>,
    /// The p-value after Holm's correction over all pairs.
    pub adjusted: Option<f64>,
}

/// Systems on the same queries, best first, by one measure. All pairs are tested by [`randomisation`] and corrected by
/// [`holm`]; two systems share a letter exactly when their corrected p-value is above `alpha`.
///
/// A pair has the p-value that a [`Comparison`] of these options gives it; what differs by rounding only is equal.
///
/// ```
/// use burnrank::analysis::significance::{CompareOptions, Leaderboard, PerQuery};
/// let values = [[0.0; 12], [0.5; 12], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.1]];
/// let system = |(values, name)| PerQuery { name, values };
/// let systems: Vec<PerQuery> = values.iter().map(|v| &v[..]).zip(["low", "high", "low too"]).map(system).collect();
/// let board = Leaderboard::new("map", &systems, 0.05, &CompareOptions::default(), &|_, _| ())?;
/// let rows: Vec<String> = board.rows.iter().map(|row| format!("{} {} {}", row.rank, row.name, row.letters)).collect();
/// assert_eq!(rows, ["1 high a", "2 low too b", "3 low b"]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leaderboard {
    /// The measure's name.
    pub measure: String,
    /// How systems were compared; no movers are looked for.
    pub options: CompareOptions,
    /// The error that is allowed over all pairs together.
    pub alpha: f64,
    /// The number of queries.
    pub queries: usize,
    /// The number of tests that p-values were corrected for.
    pub family: usize,
    /// The systems, best first.
    pub rows: Vec<Standing>,
    /// Each system with each later one, in the order given: 0 and 1, 0 and 2, and so on.
    pub pairs: Vec<PairTest>,
}

impl Leaderboard {
    /// Ranks the systems and tests all pairs. `progress` is told how many of how many steps are done, from any thread.
    ///
    /// # Errors
    /// When there is no system or no query, the numbers of values differ, a value is not finite, `alpha` or the level is not
    /// between 0 and 1, the number of draws or resamples is 0, or the pairs do not fit into memory.
    pub fn new(
        measure: &str,
        systems: &[PerQuery<'_>],
        alpha: f64,
        options: &CompareOptions,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Leaderboard> {
        check(systems, alpha, options)?;
        let all = systems.len() * (systems.len() - 1) / 2;
        let bytes = crate::memory::bytes_of::<PairTest>(all as u64);
        crate::memory::ask(bytes, &format!("{all} pairs of systems"), "give fewer systems")?;
        let done = AtomicUsize::new(0);
        let step = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        let pair = |(first, second): (usize, usize)| {
            let differences = paired(systems[first].values, systems[second].values);
            let found = PairTest {
                first,
                second,
                difference: mean(&differences),
                ties: differences.iter().filter(|d| **d == 0.0).count(),
                p: randomisation(&differences, options.draws, options.seed).map(|test| test.p),
                adjusted: None,
            };
            step();
            found
        };
        let firsts = (0..systems.len()).into_par_iter();
        let each = firsts.flat_map_iter(|first| (first + 1..systems.len()).map(move |second| (first, second)));
        let pairs = each.map(pair).collect();
        Ok(Self::assemble(measure, systems, alpha, options, pairs))
    }

    /// As [`Leaderboard::new`], from comparisons that were made already: each system with each later one, in this order.
    ///
    /// # Errors
    /// As [`Leaderboard::new`], and when there is not one comparison per pair.
    pub fn of_comparisons(systems: &[PerQuery<'_>], alpha: f64, comparisons: &[Comparison]) -> Result<Leaderboard> {
        let pairs = (0..systems.len()).flat_map(|first| (first + 1..systems.len()).map(move |second| (first, second)));
        let named = |((first, second), found): ((usize, usize), &Comparison)| {
            found.baseline == systems[first].name && found.system == systems[second].name
        };
        let Some(one) = comparisons.first().filter(|_| pairs.clone().count() == comparisons.len()) else {
            return Err(Error::Mismatch(format!(
                "{} comparisons of {} systems: expected one of each pair",
                comparisons.len(),
                systems.len()
            )));
        };
        check(systems, alpha, &one.options)?;
        if !pairs.clone().zip(comparisons).all(named) {
            return Err(Error::Mismatch("comparisons of other systems, or in another order".into()));
        }
        let pair = |((first, second), found): ((usize, usize), &Comparison)| PairTest {
            first,
            second,
            difference: found.difference,
            ties: found.ties,
            p: found.randomisation.map(|test| test.p),
            adjusted: None,
        };
        let pairs = pairs.zip(comparisons).map(pair).collect();
        Ok(Self::assemble(&one.measure, systems, alpha, &one.options, pairs))
    }

    fn assemble(
        measure: &str,
        systems: &[PerQuery<'_>],
        alpha: f64,
        options: &CompareOptions,
        pairs: Vec<PairTest>,
    ) -> Leaderboard {
        let means: Vec<f64> = systems.iter().map(|system| mean(system.values)).collect();
        let row = |(rank, system): (usize, usize)| Standing {
            rank,
            name: systems[system].name.to_owned(),
            system,
            mean: means[system],
            interval: bootstrap(systems[system].values, options.resamples, options.level, options.seed)
                .map(|bootstrap| bootstrap.interval()),
            letters: Letters::default(),
        };
        let mut board = Leaderboard {
            measure: measure.to_owned(),
            options: options.clone(),
            alpha,
            queries: systems[0].values.len(),
            family: 0,
            rows: ranked(&means, options.better).into_iter().map(row).collect(),
            pairs,
        };
        correct_boards(std::slice::from_mut(&mut board));
        board
    }

    /// Whether two systems, by their places in the order given, differ significantly.
    pub fn differ(&self, one: usize, other: usize) -> bool {
        let (first, second) = (one.min(other), one.max(other));
        // The pairs of earlier systems come first.
        let place = first * (2 * self.rows.len() - first).saturating_sub(1) / 2 + second - first;
        let pair = place.checked_sub(1).and_then(|place| self.pairs.get(place));
        first != second && pair.and_then(|pair| pair.adjusted).is_some_and(|p| p <= self.alpha)
    }

    /// Whether all systems are equal on every query.
    pub fn all_equal(&self) -> bool {
        self.pairs.iter().all(|pair| pair.ties == self.queries)
    }

    fn set_letters(&mut self) {
        let order: Vec<usize> = self.rows.iter().map(|row| row.system).collect();
        let found = letters(order.len(), |i, j| self.differ(order[i], order[j]));
        self.rows.iter_mut().zip(found).for_each(|(row, letters)| row.letters = letters);
    }
}

/// Corrects the p-values of boards that are reported together, one per measure, by [`holm`] over the pairs of all of them,
/// and gives new letters.
pub fn correct_boards(boards: &mut [Leaderboard]) {
    let raw: Vec<f64> = boards.iter().flat_map(|board| &board.pairs).map(|pair| pair.p.unwrap_or(f64::NAN)).collect();
    let mut adjusted = holm(&raw).into_iter();
    for board in boards {
        board.family = raw.len();
        for pair in &mut board.pairs {
            pair.adjusted = adjusted.next().filter(|p| !p.is_nan());
        }
        board.set_letters();
    }
}

/// Ranks and systems, best first; systems whose means are equal but for rounding keep their order and share a rank.
fn ranked(means: &[f64], better: Better) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&a, &b| match better {
        Better::Higher => means[b].total_cmp(&means[a]),
        Better::Lower => means[a].total_cmp(&means[b]),
    });
    let largest = means.iter().fold(0.0_f64, |most, mean| most.max(mean.abs()));
    let scale = |a: f64, b: f64| a.abs().max(b.abs()).max(largest.min(1.0));
    let same = |a: &usize, b: &usize| equal(means[*a], means[*b], scale(means[*a], means[*b]));
    let mut rows = Vec::with_capacity(means.len());
    for group in order.chunk_by(same) {
        let (rank, mut group) = (rows.len() + 1, group.to_vec());
        group.sort_unstable();
        rows.extend(group.into_iter().map(|system| (rank, system)));
    }
    rows
}

fn check(systems: &[PerQuery<'_>], alpha: f64, options: &CompareOptions) -> Result<()> {
    options.check()?;
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(Error::Config(format!("bad alpha {alpha}: expected 0.05 or the like")));
    }
    let Some(first) = systems.first() else {
        return Err(Error::Mismatch("no systems to compare".into()));
    };
    for PerQuery { name, values } in systems {
        if values.is_empty() {
            return Err(Error::Mismatch(format!("{name}: no queries to compare on")));
        }
        if values.len() != first.values.len() {
            let (own, others) = (values.len(), first.values.len());
            return Err(Error::Mismatch(format!("{name}: values of {own} queries, but {} has {others}", first.name)));
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::Mismatch(format!("{name}: query {} has the value {}", place + 1, values[place])));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::correct;
    use super::*;

    fn per_query<'a>(names: &[&'a str], values: &'a [Vec<f64>]) -> Vec<PerQuery<'a>> {
        names.iter().zip(values).map(|(name, values)| PerQuery { name, values }).collect()
    }

    fn board(names: &[&str], values: &[Vec<f64>], options: &CompareOptions) -> Result<Leaderboard> {
        Leaderboard::new("map", &per_query(names, values), 0.05, options, &|_, _| ())
    }

    /// Values of 1 on so many of ten queries, and of 0 on the others.
    fn ones(number: usize) -> Vec<f64> {
        (0..10).map(|query| f64::from(u8::from(query < number))).collect()
    }

    fn rows(board: &Leaderboard) -> Vec<String> {
        board.rows.iter().map(|row| format!("{} {} {}", row.rank, row.name, row.letters)).collect()
    }

    #[test]
    fn pairs_are_corrected_by_holm_as_by_hand() {
        let found = board(&["none", "four", "ten"], &[0, 4, 10].map(ones), &CompareOptions::default()).unwrap();
        // Of 2^n signs of n equal differences, two reach the sum found.
        let exact = |n: i32| 2.0 / 2f64.powi(n);
        let p: Vec<f64> = found.pairs.iter().filter_map(|pair| pair.p).collect();
        assert_eq!(p, [exact(4), exact(10), exact(6)]);
        // Sorted upwards: 10, 6, 4; times 3, 2 and 1.
        let adjusted: Vec<f64> = found.pairs.iter().filter_map(|pair| pair.adjusted).collect();
        assert_eq!(adjusted, [exact(4), 3.0 * exact(10), 2.0 * exact(6)]);
        assert_eq!((found.family, found.queries), (3, 10));
        assert_eq!(rows(&found), ["1 ten a", "2 four ab", "3 none b"]);
        assert_eq!(found.rows.iter().map(|row| row.mean).collect::<Vec<_>>(), [1.0, 0.4, 0.0]);
        assert_eq!(found.rows[0].interval, Some((1.0, 1.0)));
        assert_eq!(found.rows[1].interval, bootstrap(&ones(4), 10_000, 0.95, 0).map(|bootstrap| bootstrap.interval()));
        // Reported together with a second board of the same pairs, the least p-values are multiplied by 6 instead.
        let mut both = [found.clone(), found];
        correct_boards(&mut both);
        assert_eq!((both[1].family, both[1].pairs[1].adjusted), (6, Some(6.0 * exact(10))));
        assert_eq!(both[0].pairs[2].adjusted, Some(4.0 * exact(6)));
    }

    #[test]
    fn a_pair_has_the_p_value_of_its_comparison() {
        let wave = |step: usize| (0..50).map(|query| ((query * step) % 17) as f64 / 17.0).collect::<Vec<f64>>();
        let values = [3, 5, 7, 11].map(wave);
        let (names, options) = (["a", "b", "c", "d"], CompareOptions { draws: 2000, ..Default::default() });
        let found = board(&names, &values, &options).unwrap();
        let ids: Vec<String> = (0..50).map(|query| query.to_string()).collect();
        let systems = per_query(&names, &values);
        let compared = |pair: &PairTest| {
            Comparison::new("map", systems[pair.first], systems[pair.second], &ids, &options).unwrap()
        };
        let mut comparisons: Vec<Comparison> = found.pairs.iter().map(compared).collect();
        assert_eq!(Leaderboard::of_comparisons(&systems, 0.05, &comparisons).unwrap(), found);
        correct(&mut comparisons);
        for (pair, comparison) in found.pairs.iter().zip(&comparisons) {
            assert_eq!(pair.adjusted, comparison.adjusted.and_then(|adjusted| adjusted.randomisation));
            assert_eq!((pair.difference, pair.ties), (comparison.difference, comparison.ties));
        }
        assert!(Leaderboard::of_comparisons(&systems, 0.05, &comparisons[1..]).is_err());
        comparisons.swap(0, 1);
        assert!(Leaderboard::of_comparisons(&systems, 0.05, &comparisons).is_err());
    }

    #[test]
    fn letters_are_shared_where_the_board_says_no_difference() {
        let values: Vec<Vec<f64>> = [7, 0, 10, 10, 3, 0, 9].map(ones).into();
        let found = board(&["a", "b", "c", "d", "e", "f", "g"], &values, &CompareOptions::default()).unwrap();
        for one in &found.rows {
            for other in &found.rows {
                assert_eq!(one.letters.share(&other.letters), !found.differ(one.system, other.system));
            }
        }
        let ranks: Vec<(usize, &str)> = found.rows.iter().map(|row| (row.rank, row.name.as_str())).collect();
        assert_eq!(ranks, [(1, "c"), (1, "d"), (3, "g"), (4, "a"), (5, "e"), (6, "b"), (6, "f")]);
        assert!(found.differ(2, 1) && found.differ(1, 2) && !found.differ(2, 3) && !found.differ(2, 2));
    }

    #[test]
    fn a_cost_is_best_when_it_is_low() {
        let options = CompareOptions { better: Better::Lower, ..Default::default() };
        let found = board(&["ten", "none", "four"], &[10, 0, 4].map(ones), &options).unwrap();
        assert_eq!(rows(&found), ["1 none a", "2 four ab", "3 ten b"]);
    }

    #[test]
    fn odd_boards_have_answers() {
        let options = CompareOptions::default();
        // Means that differ by rounding only.
        let sums = |order: [f64; 3]| vec![order.iter().sum::<f64>(); 20];
        let same = board(&["b", "a", "c"], &[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.1, 0.2, 0.3]].map(sums), &options);
        let same = same.unwrap();
        assert_eq!((rows(&same), same.all_equal()), (vec!["1 b a".into(), "1 a a".into(), "1 c a".into()], true));
        let one = board(&["a", "b", "c"], &[vec![0.1], vec![0.5], vec![0.3]], &options).unwrap();
        assert_eq!(rows(&one), ["1 b a", "2 c a", "3 a a"]);
        assert!(one.rows.iter().all(|row| row.interval.is_none()) && !one.all_equal());
        let alone = board(&["a"], &[vec![0.1, 0.2]], &options).unwrap();
        assert_eq!((rows(&alone), alone.pairs.len()), (vec!["1 a a".into()], 0));
        for (names, values) in [
            (&[][..], vec![]),
            (&["a"], vec![vec![]]),
            (&["a", "b"], vec![vec![1.0], vec![1.0, 2.0]]),
            (&["a", "b"], vec![vec![1.0], vec![f64::NAN]]),
        ] {
            assert!(board(names, &values, &options).is_err(), "{values:?}");
        }
        assert!(Leaderboard::new("map", &per_query(&["a"], &[vec![1.0]]), 0.0, &options, &|_, _| ()).is_err());
    }

    #[test]
    fn the_number_of_threads_does_not_matter_and_progress_is_told() {
        let values: Vec<Vec<f64>> =
            (1..9).map(|step| (0..40).map(|query| ((query * step) % 13) as f64).collect()).collect();
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let options = CompareOptions { draws: 500, resamples: 300, ..Default::default() };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let most = AtomicUsize::new(0);
            let progress = |done, all| {
                assert_eq!(all, 28);
                most.fetch_max(done, Ordering::Relaxed);
            };
            let systems = per_query(&names, &values);
            let found = pool.install(|| Leaderboard::new("map", &systems, 0.05, &options, &progress).unwrap());
            assert_eq!(most.into_inner(), 28);
            found
        };
        assert_eq!(run(1), run(3));
    }
}
