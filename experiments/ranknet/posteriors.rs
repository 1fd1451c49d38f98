//! Checks of the pair cost and of probabilities of pairs.

use crate::harness::Session;
use crate::harness::facts::Checked;
use burnrank::analysis::probability::{Posteriors, combine, log_odds, probability};
use burnrank::data::PairTarget;
use burnrank::objective::ranknet_pairs;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Eq. 3.
pub fn cost(target: f64, output: f64) -> f64 {
    -target * output + output.exp().ln_1p()
}

/// Evenly spaced numbers, including both ends.
pub fn steps(from: f64, to: f64, n: usize) -> impl Iterator<Item = f64> + Clone {
    (0..=n).map(move |step| from + (to - from) * step as f64 / n as f64)
}

pub fn eq_3(_: &Session) -> anyhow::Result<Checked> {
    let mut worst = [0.0f64; 2];
    for target in steps(0.0, 1.0, 20) {
        for output in steps(-10.0, 10.0, 80) {
            let p = output.exp() / (1.0 + output.exp());
            let entropy = -target * p.ln() - (1.0 - target) * (1.0 - p).ln();
            let pair = PairTarget { i: 0, j: 1, probability: target };
            let ours = ranknet_pairs(&[output as f32, 0.0], &[pair], 1.0, &mut [0.0; 2])?.loss;
            let value = cost(target, output);
            worst = [worst[0].max((value - entropy).abs()), worst[1].max((value - ours).abs())];
        }
    }
    let ours = format!("largest difference {:.0e}; from the library's {:.0e}", worst[0], worst[1]);
    Checked::new(worst.iter().all(|worst| *worst < 1e-6), ours)
}

pub fn asymptote(_: &Session) -> anyhow::Result<Checked> {
    let right = steps(0.0, 1.0, 20).map(|p| (cost(p, 30.0) - (1.0 - p) * 30.0).abs()).fold(0.0, f64::max);
    let left = steps(0.0, 1.0, 20).map(|p| (cost(p, -30.0) - p * 30.0).abs()).fold(0.0, f64::max);
    Checked::new(right.max(left) < 1e-9, format!("distance from the lines at 30 and -30: {right:.0e}, {left:.0e}"))
}

pub fn half(_: &Session) -> anyhow::Result<Checked> {
    let outputs = steps(0.01, 10.0, 999);
    let uneven = outputs.clone().map(|o| (cost(0.5, o) - cost(0.5, -o)).abs()).fold(0.0, f64::max);
    let lowest = outputs.clone().all(|o| cost(0.5, o) > cost(0.5, 0.0));
    let rises =
        steps(0.0, 10.0, 1000).collect::<Vec<_>>().windows(2).all(|pair| cost(0.5, pair[1]) > cost(0.5, pair[0]));
    let ours =
        format!("largest asymmetry {uneven:.0e}; lowest at 0, with {:.4} (ln 2): {}", cost(0.5, 0.0), lowest && rises);
    Checked::new(uneven < 1e-12 && lowest && rises, ours)
}

pub fn eq_5(_: &Session) -> anyhow::Result<Checked> {
    let mut worst = 0.0f64;
    for p in steps(0.01, 0.99, 98) {
        for q in steps(0.01, 0.99, 98) {
            let paper = p * q / (1.0 + 2.0 * p * q - p - q);
            let odds = probability(log_odds(p) + log_odds(q));
            worst = worst.max((paper - odds).abs()).max((combine(p, q).unwrap_or(f64::NAN) - odds).abs());
        }
    }
    Checked::new(worst < 1e-12, format!("9,801 pairs: largest difference {worst:.0e}"))
}

/// Combined probability of two equal probabilities, minus that probability.
fn gain(p: f64) -> f64 {
    combine(p, p).map_or(f64::NAN, |combined| combined - p)
}

pub fn fixed_points(_: &Session) -> anyhow::Result<Checked> {
    let fixed = [0.0, 0.5, 1.0].iter().all(|&p| gain(p) == 0.0);
    let grid = || (1..100_000).filter(|step| *step != 50_000).map(|step| f64::from(step) / 100_000.0);
    let only = grid().all(|p| gain(p) != 0.0);
    let factors = |p: f64| -p * (2.0 * p - 1.0) * (p - 1.0) / (1.0 + 2.0 * p * p - 2.0 * p);
    let worst = grid().map(|p| (gain(p) - factors(p)).abs()).fold(0.0, f64::max);
    let ours =
        format!("0, 1/2, 1 are fixed: {fixed}; none of 99,998 others: {only}; the factors are right to {worst:.0e}");
    Checked::new(fixed && only && worst < 1e-12, ours)
}

pub fn confidence(_: &Session) -> anyhow::Result<Checked> {
    let grid = || (1..100_000).filter(|step| *step != 50_000).map(|step| f64::from(step) / 100_000.0);
    let builds = grid().all(|p| (gain(p) > 0.0) == (p > 0.5));
    let example = combine(0.6, 0.6).unwrap_or(f64::NAN);
    Checked::new(builds && example > 0.6, format!("everywhere on the grid: {builds}; 0.6 and 0.6 give {example:.4}"))
}

/// Number of samples in the checks of the theorem.
const SAMPLES: usize = 8;

pub fn theorem(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 11);
    let (mut worst, mut inside) = (0.0f64, true);
    for _ in 0..200 {
        let mut order: Vec<usize> = (0..SAMPLES).collect();
        order.shuffle(&mut random);
        let adjacent: Vec<f64> = (1..SAMPLES).map(|_| random.random_range(0.02..0.98)).collect();
        let Some(chain) = Posteriors::from_adjacent(&adjacent) else { anyhow::bail!("no posteriors") };
        let place = |sample: usize| order.iter().position(|known| *known == sample).unwrap_or(0);
        let of = |i: usize, j: usize| chain.get(place(i), place(j)).unwrap_or(f64::NAN);
        for i in 0..SAMPLES {
            for j in (0..SAMPLES).filter(|j| *j != i) {
                inside &= (0.0..=1.0).contains(&of(i, j));
                for _ in 0..20 {
                    // A path over some of the other samples, combined link by link with Eq. 5.
                    let mut path: Vec<usize> = (0..SAMPLES).filter(|k| *k != i && *k != j).collect();
                    path.shuffle(&mut random);
                    path.truncate(random.random_range(0..=SAMPLES - 2));
                    path.push(j);
                    let (mut at, mut sum) = (i, None);
                    for next in path {
                        let link = of(at, next);
                        sum = match sum {
                            None => Some(link),
                            Some(sum) => combine(sum, link),
                        };
                        at = next;
                    }
                    worst = worst.max((sum.unwrap_or(f64::NAN) - of(i, j)).abs());
                }
            }
        }
    }
    let ours = format!("224,000 ways: largest difference {worst:.0e}; all from 0 to 1: {inside}");
    Checked::new(worst < 1e-9 && inside, ours)
}

pub fn necessary(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 12);
    let (mut same, mut differ) = (true, true);
    for gap in 0..SAMPLES - 1 {
        let first: Vec<f64> = (1..SAMPLES).map(|_| random.random_range(0.3..0.7)).collect();
        let mut second = first.clone();
        second[gap] = if first[gap] < 0.5 { first[gap] + 0.25 } else { first[gap] - 0.25 };
        let (Some(one), Some(other)) = (Posteriors::from_adjacent(&first), Posteriors::from_adjacent(&second)) else {
            anyhow::bail!("no posteriors")
        };
        let away = |i: usize, j: usize| (one.get(i, j).unwrap_or(f64::NAN) - other.get(i, j).unwrap_or(f64::NAN)).abs();
        // Pairs on one side of the gap are unchanged; the pair at the gap differs.
        same &= (0..gap).all(|i| away(i, i + 1) < 1e-12) && (gap + 1..SAMPLES - 1).all(|i| away(i, i + 1) < 1e-12);
        differ &= away(gap, gap + 1) > 0.1;
    }
    Checked::new(
        same && differ,
        format!("each of 7 gaps: the others agree: {same}; across the gap they differ: {differ}"),
    )
}

pub fn equal_links(_: &Session) -> anyhow::Result<Checked> {
    let mut worst = 0.0f64;
    for p in steps(0.05, 0.95, 18) {
        let Some(chain) = Posteriors::from_adjacent(&[p; 12]) else { anyhow::bail!("no posteriors") };
        for n in 1..=12 {
            let power = (p / (1.0 - p)).powi(n as i32);
            worst = worst.max((chain.get(0, n).unwrap_or(f64::NAN) - power / (1.0 + power)).abs());
        }
    }
    Checked::new(worst < 1e-12, format!("largest difference {worst:.0e}"))
}

/// Posterior at distance n for equal adjacent posteriors.
fn link(p: f64, n: i32) -> f64 {
    1.0 / (1.0 + ((1.0 - p) / p).powi(n))
}

pub fn lemma(_: &Session) -> anyhow::Result<Checked> {
    let (mut first, mut strict) = (0.0f64, true);
    for p in steps(0.05, 0.95, 18).filter(|p| (p - 0.5).abs() > 1e-9) {
        first = first.max((link(p, 1) - p).abs());
        strict &= (1..12).all(|n| if p > 0.5 { link(p, n + 1) > link(p, n) } else { link(p, n + 1) < link(p, n) });
    }
    let even = (1..=12).all(|n| link(0.5, n) == 0.5);
    Checked::new(
        first < 1e-12 && strict && even,
        format!("n = 1 gives P to {first:.0e}; strict: {strict}; 1/2 stays: {even}"),
    )
}

pub fn bradley_terry(_: &Session) -> anyhow::Result<Checked> {
    let share = |a: f64, b: f64| if a + b > 0.0 { Some(a / (a + b)) } else { None };
    let (mut any, mut best) = (false, 0.0f64);
    for a in steps(0.0, 1.0, 50) {
        for b in steps(0.0, 1.0, 50) {
            for c in steps(0.0, 1.0, 50) {
                let (Some(ab), Some(bc), Some(ac)) = (share(a, b), share(b, c), share(a, c)) else { continue };
                any |= ab == 1.0 && bc == 1.0 && ac == 1.0;
                best = best.max(ab.min(bc).min(ac));
            }
        }
    }
    let near = [0.1, 0.01, 0.001]
        .map(|e: f64| format!("{:.4}", share(1.0, e).unwrap_or(0.0).min(share(e, e * e).unwrap_or(0.0))));
    let ours = format!(
        "none of 132,651 triples: P(A>B) = 1 needs B's to be 0, P(B>C) = 1 needs it above 0; the lowest of the three \
         is at most {best:.3} there, and only nears 1 for 1, e, e^2: {} for e = 0.1, 0.01, 0.001",
        near.join(", ")
    );
    Checked::new(!any, ours)
}

pub fn bounded_slope(_: &Session) -> anyhow::Result<Checked> {
    let slope = |p: f64, o: f64| (probability(o) - p).abs();
    let most =
        [0.0, 0.5, 1.0].iter().flat_map(|&p| steps(-50.0, 50.0, 1000).map(move |o| slope(p, o))).fold(0.0, f64::max);
    Checked::new(most <= 1.0, format!("largest gradient {most:.4}; a squared error's at -50 is {}", 2.0 * 51.0))
}

pub fn theorem_at_certainty(_: &Session) -> anyhow::Result<Checked> {
    let chain = Posteriors::from_adjacent(&[1.0, 0.0]).and_then(|chain| chain.get(0, 2));
    let (p, q) = (1.0, 0.0);
    let (above, below): (f64, f64) = (p * q, 1.0 + 2.0 * p * q - p - q);
    Checked::new(chain.is_some(), format!("Eq. 5 gives {above} / {below} for P(A>C): not determined"))
}

pub fn lemma_at_certainty(_: &Session) -> anyhow::Result<Checked> {
    let values: Vec<f64> = (1..=5).map(|n| link(1.0, n)).collect();
    Checked::new(values.windows(2).all(|pair| pair[1] > pair[0]), format!("P = 1 gives {values:?}: no growth is left"))
}
