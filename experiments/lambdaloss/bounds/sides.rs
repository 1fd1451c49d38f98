//! Both sides of all equations and inequalities, for a ranked list and over many lists.

use crate::harness::Finding;
use crate::lambdaloss::losses::{LOSSES, PaperLoss};
use crate::lambdaloss::weights::{delta, discount, gains, rho};
use burnrank::Objective;
use burnrank::objective::{Batch, Outputs};
use serde::{Deserialize, Serialize};

/// An equation or inequality that holds for every ranked list.
pub struct Check {
    pub id: &'static str,
    pub statement: &'static str,
    /// Place in the paper.
    pub paper: &'static str,
    /// Whether both sides are equal; otherwise the left one is at most the right one.
    pub equation: bool,
}

const fn at_most(id: &'static str, statement: &'static str, paper: &'static str) -> Check {
    Check { id, statement, paper, equation: false }
}

const fn equal(id: &'static str, statement: &'static str, paper: &'static str) -> Check {
    Check { id, statement, paper, equation: true }
}

/// All checks; the first six are bounds by losses.
pub const CHECKS: [Check; 12] = [
    at_most("arp1", "ARP is at most ARP-Loss1 + C1", "section 5.1"),
    at_most("arp2", "ARP is at most ARP-Loss2 + C1 + C2 + C3", "section 5.1"),
    at_most("ndcg1", "NDCGcost is at most NDCG-Loss1", "section 5.2"),
    at_most("ndcg2", "NDCGcost is at most NDCG-Loss2 + C2 + C3", "section 5.2"),
    at_most("proposition", "LambdaRank's metric is at most its loss + C2 + C3", "Proposition 5.1"),
    at_most("hybrid", "LambdaRank's metric + mu NDCGcost is at most NDCG-Loss2++ + its C2 + C3", "Eq. 19"),
    at_most("coarse", "NDCGcost is at most LambdaRank's metric", "section 5.3"),
    equal("cost", "NDCGcost is the sum of gains minus NDCG", "Eq. 14"),
    equal("chain", "1 - 1/D_i is the sum of delta_ij over the ranks above i", "Eq. 15"),
    equal("arp-sum", "ARP is the sum of |y_i - y_j| over wrongly ordered pairs + C1 + C2 + C3", "section 5.1"),
    equal("ndcg-sum", "NDCGcost is the sum of delta_ij |G_i - G_j| over wrongly ordered pairs + C2 + C3", "Eq. 16"),
    equal("lambdarank-sum", "LambdaRank's metric is the sum of rho_ij |G_i - G_j| over them + C2 + C3", "Eq. 17"),
];
const MU: f64 = 5.0;
/// Tolerance for bounds: losses are computed in single precision.
pub const ROUNDING: f64 = 1e-5;
/// Tolerance for equations, which are computed in double precision.
pub const EQUAL: f64 = 1e-9;

/// The six losses, in bits.
pub struct Losses(pub Vec<Objective>);

impl Losses {
    pub fn new(sigma: f64) -> anyhow::Result<Losses> {
        let name = |loss: &PaperLoss| format!("{}:sigma={sigma}", loss.objective(None));
        Ok(Losses(LOSSES.iter().map(|loss| Ok(Objective::parse(&name(loss))?)).collect::<anyhow::Result<_>>()?))
    }

    pub fn values(&self, scores: &[f32], labels: &[f32]) -> anyhow::Result<[f64; 6]> {
        let (offsets, mut gradient) = ([0, labels.len()], vec![0.0; labels.len()]);
        let mut values = [0.0; 6];
        for (value, objective) in values.iter_mut().zip(&self.0) {
            let outputs = Outputs { loss: true, pairs: false };
            let batch = Batch { labels, offsets: &offsets };
            *value = objective.lambda_gradient(scores, batch, &mut gradient, outputs, &[])?.loss;
        }
        Ok(values)
    }
}

/// Both sides of every check of a list, and NDCGcost with its bounds.
pub struct Sides {
    pub sides: [(f64, f64); CHECKS.len()],
    pub bounds: [f64; 4],
}

/// Computes both sides from the labels in rank order and the losses.
pub fn sides(ranked: &[f32], [lambdarank, arp1, arp2, ndcg1, ndcg2, hybrid]: [f64; 6]) -> Sides {
    let n = ranked.len();
    let y: Vec<f64> = ranked.iter().map(|&label| f64::from(label)).collect();
    let g = gains(ranked, None);
    let arp: f64 = y.iter().enumerate().map(|(i, y)| y * (i + 1) as f64).sum();
    let cost: f64 = g.iter().enumerate().map(|(i, g)| g * (1.0 - discount(i))).sum();
    let ndcg: f64 = g.iter().enumerate().map(|(i, g)| g * discount(i)).sum();
    let coarse: f64 = (0..n).map(|i| g[i] * (0..i).map(|j| rho(i, j)).sum::<f64>()).sum();
    let chain =
        (0..n).map(|i| ((0..i).map(|j| delta(i, j)).sum::<f64>() - (1.0 - discount(i))).abs()).fold(0.0, f64::max);
    let c1: f64 = y.iter().sum();
    // C2 + C3 and the sum over wrongly ordered pairs, for values and a factor per pair. As printed, C2 of ARP also pairs a
    // document with itself; the equation holds only without these pairs.
    let split = |values: &[f64], factor: &dyn Fn(usize, usize) -> f64| {
        let (mut constant, mut wrong) = (0.0, 0.0);
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                match values[j].total_cmp(&values[i]) {
                    std::cmp::Ordering::Equal => constant += 0.5 * factor(i, j) * values[j],
                    std::cmp::Ordering::Less => {
                        constant += factor(i, j) * values[j];
                        wrong += if j < i { factor(i, j) * (values[i] - values[j]) } else { 0.0 };
                    }
                    std::cmp::Ordering::Greater => (),
                }
            }
        }
        (constant, wrong)
    };
    let (arp_constant, arp_wrong) = split(&y, &|_, _| 1.0);
    let (ndcg_constant, ndcg_wrong) = split(&g, &delta);
    let (rho_constant, rho_wrong) = split(&g, &rho);
    Sides {
        sides: [
            (arp, arp1 + c1),
            (arp, arp2 + c1 + arp_constant),
            (cost, ndcg1),
            (cost, ndcg2 + ndcg_constant),
            (coarse, lambdarank + rho_constant),
            (coarse + MU * cost, hybrid + rho_constant + MU * ndcg_constant),
            (cost, coarse),
            (cost, g.iter().sum::<f64>() - ndcg),
            (chain, 0.0),
            (arp, arp_wrong + c1 + arp_constant),
            (cost, ndcg_wrong + ndcg_constant),
            (coarse, rho_wrong + rho_constant),
        ],
        bounds: [cost, ndcg1, ndcg2 + ndcg_constant, lambdarank + rho_constant],
    }
}

/// Results of the checks over many lists.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BoundChecks {
    pub lists: usize,
    /// By check: largest excess of the left side over the right (for equations, largest difference), relative to the right
    /// side, or to 1 if that is smaller.
    pub excess: Vec<f64>,
    /// By epoch: means over queries and training losses of NDCGcost and the bounds of NDCG-Loss1, NDCG-Loss2 and LambdaRank.
    pub epochs: Vec<[f64; 4]>,
}

impl Finding for BoundChecks {
    fn impossible(&self) -> Option<String> {
        (self.excess.len() != CHECKS.len()).then(|| "not every bound was checked".into())
    }
}

impl BoundChecks {
    pub fn add(&mut self, sides: &Sides) {
        self.excess.resize(CHECKS.len(), f64::NEG_INFINITY);
        self.lists += 1;
        for ((excess, (left, right)), check) in self.excess.iter_mut().zip(sides.sides).zip(CHECKS) {
            let deviation = if check.equation { (left - right).abs() } else { left - right };
            // NaN violates a bound.
            *excess = excess.max(if deviation.is_nan() { 1e9 } else { deviation / right.abs().max(1.0) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_match_a_list_computed_by_hand() {
        // Labels 0, 1 in rank order: maxDCG 1, G = 0, 1; NDCG 1/log2(3); ARP 2.
        let half = 1.0 / 3f64.log2();
        let sides = sides(&[0.0, 1.0], [0.0; 6]).sides;
        let close = |(left, right): (f64, f64), expected: (f64, f64)| {
            assert!((left - expected.0).abs() < 1e-12 && (right - expected.1).abs() < 1e-12, "{left} {right}");
        };
        close(sides[0], (2.0, 1.0));
        close(sides[2], (1.0 - half, 0.0));
        // With two documents rho and delta are equal.
        close(sides[6], (1.0 - half, 1.0 - half));
        for (check, (left, right)) in CHECKS.iter().zip(sides).take(12).skip(7) {
            assert!((left - right).abs() < 1e-12, "{}", check.id);
        }
    }
}
