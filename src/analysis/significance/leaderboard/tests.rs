use super::super::holm;
use super::super::samples::{TEN, near};
use super::*;

fn per_query<'a>(names: &[&'a str], values: &'a [Vec<f64>]) -> Vec<PerQuery<'a>> {
    names.iter().zip(values).map(|(name, values)| PerQuery { name, values }).collect()
}

fn leaderboard(names: &[&str], values: &[Vec<f64>], options: &CompareOptions) -> Result<Leaderboard> {
    Leaderboard::new("map", &per_query(names, values), 0.05, options, &|_, _| ())
}

/// Values of ten queries: 1 on the first `number`, 0 on the others.
fn ones(number: usize) -> Vec<f64> {
    (0..10).map(|query| f64::from(u8::from(query < number))).collect()
}

fn rows(board: &Leaderboard) -> Vec<String> {
    board.rows.iter().map(|row| format!("{} {} {}", row.rank, row.name, row.letters)).collect()
}

#[test]
fn holms_correction_matches_a_hand_calculation() {
    let board = leaderboard(&["none", "four", "ten"], &[0, 4, 10].map(ones), &CompareOptions::default()).unwrap();
    // Two of the 2^n assignments of signs to n equal differences reach the observed sum.
    let exact = |n: i32| 2.0 / 2f64.powi(n);
    let p: Vec<f64> = board.pairs.iter().filter_map(|pair| pair.p).collect();
    assert_eq!(p, [exact(4), exact(10), exact(6)]);
    // In ascending order: 10, 6, 4; times 3, 2 and 1.
    let adjusted: Vec<f64> = board.pairs.iter().filter_map(|pair| pair.adjusted?.randomisation).collect();
    assert_eq!(adjusted, [exact(4), 3.0 * exact(10), 2.0 * exact(6)]);
    assert_eq!((board.family, board.queries), (3, 10));
    assert_eq!(rows(&board), ["1 ten a", "2 four ab", "3 none b"]);
    assert_eq!(board.rows.iter().map(|row| row.mean).collect::<Vec<_>>(), [1.0, 0.4, 0.0]);
    assert_eq!(board.rows[0].interval, Some((1.0, 1.0)));
    assert_eq!(board.rows[1].interval, bootstrap(&ones(4), 10_000, 0.95, 0).map(|bootstrap| bootstrap.interval()));
}

#[test]
fn systems_that_are_equal_on_every_query_count_as_one() {
    let systems = [0, 10, 0, 4, 10].map(ones);
    let board = leaderboard(&["none", "ten", "nothing", "four", "all"], &systems, &CompareOptions::default()).unwrap();
    let alone = leaderboard(&["none", "ten", "four"], &[0, 10, 4].map(ones), &CompareOptions::default()).unwrap();
    assert_eq!((board.family, alone.family), (3, 3));
    for (one, other) in [(0, 2), (1, 4), (2, 0)] {
        assert_eq!(board.pair(one, other).unwrap().adjusted, None, "{one} and {other} are one system");
    }
    for (one, other, distinct) in [(0, 1, (0, 1)), (2, 1, (0, 1)), (2, 4, (0, 1)), (2, 3, (0, 2)), (3, 4, (1, 2))] {
        let adjusted = board.pair(one, other).unwrap().adjusted;
        assert_eq!(adjusted, alone.pair(distinct.0, distinct.1).unwrap().adjusted, "{one} and {other}");
        assert!(adjusted.is_some());
    }
    assert_eq!((board.pair(1, 1), board.pair(0, 5)), (None, None));
}

#[test]
fn each_kind_of_test_is_corrected_separately() {
    let lower: Vec<f64> = TEN.1.iter().map(|value| value - 0.05).collect();
    // The gain of d over a, and of b over c, is the same on every query: no t-test.
    let gain: Vec<f64> = TEN.0.iter().map(|value| value + 0.25).collect();
    let systems = [TEN.0.to_vec(), TEN.1.to_vec(), lower, gain];
    let board = leaderboard(&["a", "b", "c", "d"], &systems, &CompareOptions::default()).unwrap();
    let raw = |p: fn(&PairTest) -> Option<f64>| -> Vec<f64> {
        board.pairs.iter().map(|pair| p(pair).unwrap_or(f64::NAN)).collect()
    };
    let [t, w] = [raw(|pair| pair.t_test), raw(|pair| pair.wilcoxon)].map(|p| holm(&p));
    for (place, pair) in board.pairs.iter().enumerate() {
        let adjusted = pair.adjusted.unwrap();
        assert_eq!((adjusted.family, adjusted.t_test.is_none()), (6, place == 2 || place == 3));
        adjusted.t_test.iter().for_each(|&p| near(p, t[place], 1e-12));
        near(adjusted.wilcoxon.unwrap(), w[place], 1e-12);
    }
}

#[test]
fn intervals_agree_with_significance_on_random_data() {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(11);
    let options = CompareOptions { draws: 1_000, resamples: 10, ..Default::default() };
    let names = ["a", "b", "c", "d"];
    let (mut differing, mut alike) = (0, 0);
    for _ in 0..25 {
        let queries = random.random_range(6..70);
        let effect = random.random_range(0.0..0.4);
        let values: Vec<Vec<f64>> = (0..4)
            .map(|system| (0..queries).map(|_| random.random::<f64>() + effect * f64::from(system)).collect())
            .collect();
        let systems = per_query(&names, &values);
        let board = Leaderboard::new("map", &systems, 0.05, &options, &|_, _| ()).unwrap();
        let ids: Vec<String> = (0..queries).map(|query| query.to_string()).collect();
        for pair in &board.pairs {
            let (first, second) = (systems[pair.second], systems[pair.first]);
            let mut comparison = Comparison::new("map", first, second, &ids, &options).unwrap();
            board.correct(pair.second, pair.first, &mut comparison);
            let adjusted = comparison.adjusted.unwrap();
            let Some((low, high)) = adjusted.interval else { continue };
            let excludes = low > 0.0 || high < 0.0;
            assert_eq!(excludes, adjusted.is_significant(), "{adjusted:?}");
            assert_eq!(excludes, board.differ(pair.first, pair.second));
            assert!(low <= comparison.difference && comparison.difference <= high);
            *(if excludes { &mut differing } else { &mut alike }) += 1;
        }
    }
    assert!(differing > 20 && alike > 20, "{differing} and {alike}");
}

#[test]
fn a_pair_has_the_p_value_of_its_comparison() {
    let wave = |step: usize| (0..50).map(|query| ((query * step) % 17) as f64 / 17.0).collect::<Vec<f64>>();
    let values = [3, 5, 7, 11].map(wave);
    let (names, options) = (["a", "b", "c", "d"], CompareOptions { draws: 2000, ..Default::default() });
    let board = leaderboard(&names, &values, &options).unwrap();
    let ids: Vec<String> = (0..50).map(|query| query.to_string()).collect();
    let systems = per_query(&names, &values);
    let compared =
        |pair: &PairTest| Comparison::new("map", systems[pair.first], systems[pair.second], &ids, &options).unwrap();
    let mut comparisons: Vec<Comparison> = board.pairs.iter().map(compared).collect();
    assert_eq!(Leaderboard::of_comparisons(&systems, 0.05, &comparisons).unwrap(), board);
    for (pair, comparison) in board.pairs.iter().zip(&mut comparisons) {
        board.correct(pair.first, pair.second, comparison);
        assert_eq!(pair.adjusted, comparison.adjusted.map(|adjusted| Adjusted { interval: None, ..adjusted }));
        assert_eq!((pair.difference, pair.ties), (comparison.difference, comparison.ties));
    }
    assert!(Leaderboard::of_comparisons(&systems, 0.05, &comparisons[1..]).is_err());
    comparisons.swap(0, 1);
    assert!(Leaderboard::of_comparisons(&systems, 0.05, &comparisons).is_err());
}

#[test]
fn letters_are_shared_exactly_without_a_significant_difference() {
    let values: Vec<Vec<f64>> = [7, 0, 10, 10, 3, 0, 9].map(ones).into();
    let board = leaderboard(&["a", "b", "c", "d", "e", "f", "g"], &values, &CompareOptions::default()).unwrap();
    for one in &board.rows {
        for other in &board.rows {
            assert_eq!(one.letters.share(&other.letters), !board.differ(one.system, other.system));
        }
    }
    let ranks: Vec<(usize, &str)> = board.rows.iter().map(|row| (row.rank, row.name.as_str())).collect();
    assert_eq!(ranks, [(1, "c"), (1, "d"), (3, "g"), (4, "a"), (5, "e"), (6, "b"), (6, "f")]);
    assert!(board.differ(2, 1) && board.differ(1, 2) && !board.differ(2, 3) && !board.differ(2, 2));
}

#[test]
fn lower_is_better_for_costs() {
    let options = CompareOptions { better: Better::Lower, ..Default::default() };
    let board = leaderboard(&["ten", "none", "four"], &[10, 0, 4].map(ones), &options).unwrap();
    assert_eq!(rows(&board), ["1 none a", "2 four ab", "3 ten b"]);
}

#[test]
fn edge_cases() {
    let options = CompareOptions::default();
    // Means that differ by rounding only.
    let sums = |order: [f64; 3]| vec![order.iter().sum::<f64>(); 20];
    let same = leaderboard(&["b", "a", "c"], &[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.1, 0.2, 0.3]].map(sums), &options);
    let same = same.unwrap();
    assert_eq!((rows(&same), same.all_equal()), (vec!["1 b a".into(), "1 a a".into(), "1 c a".into()], true));
    let one = leaderboard(&["a", "b", "c"], &[vec![0.1], vec![0.5], vec![0.3]], &options).unwrap();
    assert_eq!(rows(&one), ["1 b a", "2 c a", "3 a a"]);
    assert!(one.rows.iter().all(|row| row.interval.is_none()) && !one.all_equal());
    let alone = leaderboard(&["a"], &[vec![0.1, 0.2]], &options).unwrap();
    assert_eq!((rows(&alone), alone.pairs.len()), (vec!["1 a a".into()], 0));
    for (names, values) in [
        (&[][..], vec![]),
        (&["a"], vec![vec![]]),
        (&["a", "b"], vec![vec![1.0], vec![1.0, 2.0]]),
        (&["a", "b"], vec![vec![1.0], vec![f64::NAN]]),
    ] {
        assert!(leaderboard(names, &values, &options).is_err(), "{values:?}");
    }
    assert!(Leaderboard::new("map", &per_query(&["a"], &[vec![1.0]]), 0.0, &options, &|_, _| ()).is_err());
}

#[test]
fn results_do_not_depend_on_threads_and_progress_is_reported() {
    let values: Vec<Vec<f64>> =
        (1..9).map(|step| (0..40).map(|query| ((query * step) % 13) as f64).collect()).collect();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let options = CompareOptions { draws: 500, resamples: 300, ..Default::default() };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let highest = AtomicUsize::new(0);
        let progress = |done, all| {
            assert_eq!(all, 28);
            highest.fetch_max(done, Ordering::Relaxed);
        };
        let systems = per_query(&names, &values);
        let board = pool.install(|| Leaderboard::new("map", &systems, 0.05, &options, &progress).unwrap());
        assert_eq!(highest.into_inner(), 28);
        board
    };
    assert_eq!(run(1), run(3));
}
