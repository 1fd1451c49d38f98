//! Facts about metrics: intransitive items, winner takes all, flat metrics, area under the ROC curve.

use crate::harness::Session;
use crate::harness::facts::Checked;
use burnrank::metric::{Ties, evaluate_query, parse};
use burnrank::objective::{Batch, Outputs};
use burnrank::{Conventions, Objective};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Table 1: minutes per proof of three theorems, by mathematician.
const MINUTES: [[u32; 3]; 3] = [[8, 1, 6], [3, 5, 7], [4, 9, 2]];

/// Returns whether the first mathematician is faster with at least two of the theorems.
fn stronger(first: usize, second: usize) -> bool {
    MINUTES[first].iter().zip(&MINUTES[second]).filter(|(a, b)| a < b).count() >= 2
}

pub fn table_1(_: &Session) -> anyhow::Result<Checked> {
    let circle = stronger(0, 1) && stronger(1, 2) && stronger(2, 0);
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let kept =
        |order: &[usize; 3]| [(0, 1), (0, 2), (1, 2)].iter().filter(|(a, b)| stronger(order[*a], order[*b])).count();
    let most = orders.iter().map(kept).max().unwrap_or(0);
    let sums = MINUTES.map(|row| row.iter().sum::<u32>());
    let ours = format!(
        "A over B, B over C, C over A: {circle}; the best of all 6 orders keeps {most} of 3; sums of minutes {sums:?}"
    );
    Checked::new(circle && most == 2, ours)
}

/// Labels of a ranking of `n` documents with two relevant ones at the given ranks.
fn two_relevant(n: usize, ranks: [usize; 2]) -> Vec<f32> {
    (1..=n).map(|rank| if ranks.contains(&rank) { 1.0 } else { 0.0 }).collect()
}

/// Number of wrong pairs, counted one by one.
fn wrong_pairs(ranked: &[f32]) -> usize {
    (0..ranked.len()).map(|i| ranked[i + 1..].iter().filter(|&&below| below > ranked[i]).count()).sum()
}

pub fn winner_takes_all(_: &Session) -> anyhow::Result<Checked> {
    let (before, after) = (two_relevant(1000, [1, 1000]), two_relevant(1000, [2, 3]));
    let (most, fewer) = (wrong_pairs(&before), wrong_pairs(&after));
    let wta = parse("wta-error")?;
    let pairs = parse("pair-error")?;
    let (zero, one) = (wta.value(&before), wta.value(&after));
    let shares = [pairs.value(&before), pairs.value(&after)];
    let same = shares == [most as f64 / 1996.0, fewer as f64 / 1996.0];
    let ours = format!("wrong pairs {most} to {fewer}: {} fewer; WTA cost {zero} to {one}", most - fewer);
    Checked::new(most - fewer == 996 && zero == 0.0 && one == 1.0 && same, ours)
}

/// The four metrics of section 2, for labels 0 and 1.
const METRICS: [&str; 4] = ["pair-error", "ndcg@10", "mrr", "wta"];

pub fn metrics_are_flat(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed);
    let (mut flat, mut jumps, mut others) = (true, [false; 4], [false; 4]);
    for _ in 0..200 {
        let scores: Vec<f64> = (0..12).map(|_| random.random_range(-1.0..1.0)).collect();
        let mut labels: Vec<f32> = (0..12).map(|_| f32::from(random.random_range(0..2u8))).collect();
        (labels[0], labels[1]) = (1.0, 0.0);
        let mut sorted = scores.clone();
        sorted.sort_by(f64::total_cmp);
        let gap = sorted.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        for (place, name) in METRICS.iter().enumerate() {
            let metric = parse(name)?;
            let value =
                |scores: &[f64]| anyhow::Ok(evaluate_query(&*metric, scores, &labels, &Conventions::default())?);
            let original = value(&scores)?;
            for document in 0..12 {
                let mut shifted = scores.clone();
                // Less than the smallest distance, so that the order stays the same.
                shifted[document] += 0.4 * gap;
                flat &= value(&shifted)? == original;
                shifted[document] += 3.0;
                jumps[place] |= value(&shifted)? != original;
                others[place] |= document > 0 && value(&shifted)? != original;
            }
        }
    }
    let ours = format!(
        "steps below the smallest distance of scores never change a value: {flat}; larger ones make all four jump: \
         {}; so does another document's score: {}",
        jumps.iter().all(|jump| *jump),
        others.iter().all(|other| *other)
    );
    Checked::new(flat && jumps.iter().chain(&others).all(|jump| *jump), ours)
}

pub fn no_wrong_pair_is_perfect(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 1);
    let (mut worst, mut queries) = (0.0f64, 0);
    for _ in 0..1000 {
        let n = random.random_range(2..40);
        let mut labels: Vec<f32> = (0..n).map(|_| f32::from(random.random_range(0..2u8))).collect();
        labels[0] = 1.0;
        let scores: Vec<f64> = labels.iter().map(|&label| f64::from(label) + random.random_range(0.0..0.5)).collect();
        for name in ["ndcg", "ndcg@10", "mrr", "wta"] {
            let value = evaluate_query(&*parse(name)?, &scores, &labels, &Conventions::default())?.unwrap_or(0.0);
            worst = worst.max(1.0 - value);
        }
        queries += 1;
    }
    Checked::new(
        worst < 1e-12,
        format!("{queries} random queries without a wrong pair: largest cost of NDCG, MRR, WTA {worst:.1e}"),
    )
}

/// Area under the ROC curve by the trapezoidal rule, with one point per group of equal scores.
fn area_under_roc(scores: &[f64], labels: &[f32]) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let relevant = labels.iter().filter(|&&label| label > 0.0).count() as f64;
    let others = labels.len() as f64 - relevant;
    let (mut area, mut hits, mut misses, mut at) = (0.0, 0.0, 0.0, 0);
    while at < order.len() {
        let (hits_before, misses_before, score) = (hits, misses, scores[order[at]]);
        while at < order.len() && scores[order[at]] == score {
            if labels[order[at]] > 0.0 {
                hits += 1.0
            } else {
                misses += 1.0
            }
            at += 1;
        }
        area += (misses - misses_before) / others * (hits + hits_before) / (2.0 * relevant);
    }
    area
}

pub fn area_is_pair_accuracy(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 2);
    let pairs = parse("pairs")?;
    let conventions = Conventions { ties: Ties::Average, ..Conventions::default() };
    let mut worst = 0.0f64;
    for query in 0..1000 {
        let n = random.random_range(2..60);
        // Every other query has many equal scores.
        let scores: Vec<f64> =
            (0..n)
                .map(|_| {
                    if query % 2 == 0 { random.random_range(-1.0..1.0) } else { f64::from(random.random_range(0..5u8)) }
                })
                .collect();
        let mut labels: Vec<f32> = (0..n).map(|_| f32::from(random.random_range(0..2u8))).collect();
        (labels[0], labels[1]) = (1.0, 0.0);
        let share = evaluate_query(&*pairs, &scores, &labels, &conventions)?.unwrap_or(0.0);
        worst = worst.max((area_under_roc(&scores, &labels) - share).abs());
    }
    Checked::new(worst < 1e-12, format!("1000 random queries, half with equal scores: largest difference {worst:.0e}"))
}

/// The query of Eq. 23: 1,000 documents, relevant ones at ranks 2 and 1000, evenly spaced scores from `top` to 0.
fn eq_23(top: f64) -> (Vec<f32>, Vec<f32>) {
    let scores = (0..1000).map(|rank| (top * (1.0 - f64::from(rank) / 999.0)) as f32).collect();
    (scores, two_relevant(1000, [2, 1000]))
}

/// Absolute derivatives at the upper and the lower relevant document.
pub fn gradients(objective: &str, top: f64) -> anyhow::Result<[f64; 2]> {
    let (scores, labels) = eq_23(top);
    let mut gradient = vec![0.0; scores.len()];
    let batch = Batch { labels: &labels, offsets: &[0, 1000] };
    Objective::parse(objective)?.lambda_gradient(&scores, batch, &mut gradient, Outputs::default(), &[])?;
    Ok([1, 999].map(|document| f64::from(gradient[document]).abs()))
}

/// The same for `1 - softmax share of relevant documents`, a smooth cost that approaches WTA's as scores grow.
pub fn soft_wta(top: f64) -> [f64; 2] {
    let (scores, labels) = eq_23(top);
    let scores: Vec<f64> = scores.iter().map(|&score| f64::from(score)).collect();
    let sum: f64 = scores.iter().map(|score| (score - top).exp()).sum();
    let share = |document: usize| (scores[document] - top).exp() / sum;
    let relevant: f64 = (0..1000).filter(|&document| labels[document] > 0.0).map(share).sum();
    [1, 999].map(|document| share(document) * (1.0 - relevant))
}

/// Minimum ratio that counts as "much larger".
pub const MUCH: f64 = 10.0;
/// Highest score of the query of Eq. 23; the lowest is 0.
pub const TOP: f64 = 10.0;

pub fn discounting_cost_meets_eq_23(_: &Session) -> anyhow::Result<Checked> {
    let [soft, ranknet] = [soft_wta(TOP), gradients("ranknet", TOP)?].map(|[first, second]| first / second);
    let ours = format!("first gradient over second: smooth WTA {soft:.3e}, RankNet {ranknet:.3e}");
    Checked::new(soft >= MUCH && ranknet < 1.0, ours)
}

pub fn lambdarank_meets_eq_23(_: &Session) -> anyhow::Result<Checked> {
    let mut ratios = vec![];
    for name in ["lambdarank:ndcg", "lambdarank:mrr", "lambdarank:wta"] {
        let [first, second] = gradients(name, TOP)?;
        ratios.push((name, first / second));
    }
    let ours: Vec<String> = ratios.iter().map(|(name, ratio)| format!("{name} {ratio:.3}")).collect();
    Checked::new(
        ratios.iter().all(|(_, ratio)| *ratio >= MUCH),
        format!("first gradient over second: {}", ours.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_and_pairs_by_hand() {
        // Ranked 1 0 1 0: of 4 pairs 3 are right.
        assert_eq!(area_under_roc(&[4.0, 3.0, 2.0, 1.0], &[1.0, 0.0, 1.0, 0.0]), 0.75);
        assert_eq!(area_under_roc(&[1.0, 1.0], &[1.0, 0.0]), 0.5);
        assert_eq!(wrong_pairs(&[1.0, 0.0, 1.0, 0.0]), 1);
        assert!(stronger(0, 1) && !stronger(1, 0));
    }

    #[test]
    fn the_gradient_of_the_smooth_cost_is_that_of_differences() {
        // A small step of the document at rank 2.
        let (scores, labels) = eq_23(3.0);
        let cost = |step: f64| {
            let weight = |document: usize| (f64::from(scores[document]) + if document == 1 { step } else { 0.0 }).exp();
            let sum: f64 = (0..1000).map(weight).sum();
            1.0 - (0..1000).filter(|&document| labels[document] > 0.0).map(weight).sum::<f64>() / sum
        };
        let derivative = (cost(1e-5) - cost(-1e-5)) / 2e-5;
        assert!((derivative.abs() - soft_wta(3.0)[0]).abs() < 1e-8, "{derivative}");
    }
}
