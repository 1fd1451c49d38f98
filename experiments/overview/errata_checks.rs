//! Computations that confirm errors in the papers: what is printed, and what follows from it.

use crate::approximation::{fields, margin};
use crate::harness::Session;
use crate::harness::facts::Checked;
use burnrank::Objective;
use burnrank::analysis::lambda_field::{FieldReport, Regularised};
use burnrank::analysis::probability::combine;
use burnrank::metric::{discount, order, parse};

/// Table 1 of the RankNet paper, two-layer net on polynomial data: training vectors, percent of pairs correct.
const TABLE_1_POLY: [(usize, f64); 4] = [(100, 59.54), (500, 66.97), (2500, 68.56), (12500, 69.27)];
/// Table 2 of the RankNet paper, without ties: training vectors, printed value.
const TABLE_2: [(usize, f64); 4] = [(100, 0.595), (500, 0.670), (1000, 0.681), (5000, 0.690)];

pub fn ranknet_table_2(_: &Session) -> anyhow::Result<Checked> {
    let rises = TABLE_2.windows(2).all(|pair| pair[1].1 > pair[0].1);
    let same: Vec<(f64, f64)> = TABLE_2
        .iter()
        .filter_map(|(size, value)| {
            TABLE_1_POLY.iter().find(|(other, _)| other == size).map(|(_, other)| (*value, other / 100.0))
        })
        .collect();
    let accuracies = same.len() == 2 && same.iter().all(|(a, b)| (a - b).abs() < 0.001);
    let ours = format!(
        "Table 2 has {} and {}, Table 1's shares correct are {:.4} and {:.4}; as errors they would rise with more \
         data: {rises}",
        same[0].0, same[1].0, same[0].1, same[1].1
    );
    Checked::new(rises && accuracies, ours)
}

pub fn ranknet_table_1(_: &Session) -> anyhow::Result<Checked> {
    let linear = [82.39, 88.86, 89.91, 90.06];
    let rises = linear.windows(2).all(|pair| pair[1] > pair[0]);
    Checked::new(
        rises,
        format!(
            "{linear:?} for 100 to 12500 training vectors: more than half of all pairs wrong, and more with more \
             data, if errors"
        ),
    )
}

pub fn ranknet_theorem(_: &Session) -> anyhow::Result<Checked> {
    let combined = combine(1.0, 0.0);
    Checked::new(combined.is_none(), "P(A>B) = 1 and P(B>C) = 0 make P(A>C) = 0/0 by Eq. 5: any value is consistent")
}

pub fn ranknet_lemma(_: &Session) -> anyhow::Result<Checked> {
    let at = |p: f64, n: i32| 1.0 / (1.0 + ((1.0 - p) / p).powi(n));
    let constant = at(1.0, 1) == 1.0 && at(1.0, 2) == 1.0;
    Checked::new(constant && at(0.999, 2) > at(0.999, 1), "P = 1: 1 at n = 1 and 1 at n = 2, no strict increase")
}

pub fn ranknet_quadratic(_: &Session) -> anyhow::Result<Checked> {
    // Table 4: validation, test.
    let rows = [
        ("Quad PRank", 0.379, 0.327),
        ("Linear PRank", 0.410, 0.412),
        ("OAP-BPM", 0.455, 0.454),
        ("RankProp", 0.459, 0.460),
        ("One layer net", 0.479, 0.477),
        ("Two layer net", 0.489, 0.488),
    ];
    let gaps = rows.map(|(_, valid, test): (&str, f64, f64)| (valid - test).abs());
    let others = gaps[1..].iter().copied().fold(0.0, f64::max);
    let ours = format!(
        "validation and test differ by {:.3}, 4.7 half-widths of the stated interval (0.011); all others by \
         {others:.3} at most",
        gaps[0]
    );
    Checked::new(gaps[0] > 0.05 && others < 0.0025, ours)
}

pub fn lambdarank_slopes(_: &Session) -> anyhow::Result<Checked> {
    let (v1, v2): (f64, f64) = (1.943, 1.185);
    let nearer_to_linear = |slope: f64| (slope - 1.0).abs() < (slope - 2.0).abs();
    let ours =
        format!("V1's {v1} is nearer to 2 than to 1, V2's {v2} nearer to 1: \"V1 is close to linear\" must be V2");
    Checked::new(!nearer_to_linear(v1) && nearer_to_linear(v2), ours)
}

pub fn quoted(_: &Session) -> anyhow::Result<Checked> {
    Checked::new(true, "the two quotations contradict each other")
}

const SCORES: [f64; 5] = [0.9, 0.1, -0.4, 1.5, 0.3];
const LABELS: [f32; 5] = [0.0, 1.0, 2.0, 0.0, 3.0];

/// Hessian of RankNet's cost and Jacobian of `lambda = -dC/ds`, both by central differences.
fn ranknet_matrices() -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let objective = Objective::parse("ranknet")?;
    let field = objective.as_field()?;
    let n = SCORES.len();
    let (h, mut hessian, mut jacobian) = (1e-3, vec![0.0; n * n], vec![0.0; n * n]);
    let shifted = |shifts: &[(usize, f64)]| {
        let mut scores = SCORES;
        shifts.iter().for_each(|&(k, shift)| scores[k] += shift);
        scores
    };
    let cost = |shifts: &[(usize, f64)]| {
        let scores = shifted(shifts);
        field.cost(&scores, &LABELS, &order(&scores)).unwrap_or(f64::NAN)
    };
    let lambdas = |shift: (usize, f64)| {
        let scores = shifted(&[shift]);
        field.lambdas(&scores, &LABELS, &order(&scores))
    };
    for j in 0..n {
        let (up, down) = (lambdas((j, h)), lambdas((j, -h)));
        for i in 0..n {
            jacobian[i * n + j] = (up[i] - down[i]) / (2.0 * h);
            let corner = |a: f64, b: f64| cost(&[(i, a * h), (j, b * h)]);
            hessian[i * n + j] =
                (corner(1.0, 1.0) - corner(1.0, -1.0) - corner(-1.0, 1.0) + corner(-1.0, -1.0)) / (4.0 * h * h);
        }
    }
    Ok((hessian, jacobian))
}

pub fn hessian_is_minus_jacobian(_: &Session) -> anyhow::Result<Checked> {
    let (hessian, jacobian) = ranknet_matrices()?;
    let off = |sign: f64| hessian.iter().zip(&jacobian).map(|(h, j)| (h - sign * j).abs()).fold(0.0, f64::max);
    let spectrum = burnrank::analysis::lambda_field::eigenvalues(&jacobian)?;
    let ours = format!(
        "RankNet's convex cost: the Hessian differs from J by {:.2}, from -J by {:.0e}; J's eigenvalues are {:.2} to \
         {:.0e}: never positive",
        off(1.0),
        off(-1.0),
        spectrum[0],
        spectrum[spectrum.len() - 1].abs()
    );
    Checked::new(off(-1.0) < 1e-4 && off(1.0) > 0.1 && spectrum[0] < -0.1 && spectrum[spectrum.len() - 1] < 1e-4, ours)
}

pub fn regulariser_sign(_: &Session) -> anyhow::Result<Checked> {
    let objective = Objective::parse("ranknet")?;
    let smallest = |alpha: f64| -> anyhow::Result<f64> {
        let field = Regularised { field: objective.as_field()?, alpha };
        Ok(FieldReport::new(&field, &SCORES, &LABELS)?.smallest_eigenvalue)
    };
    // The library subtracts alpha s: a negative alpha is the papers' sign.
    let (printed, reversed) = (smallest(-0.25)?, smallest(0.25)?);
    let ours = format!(
        "RankNet, alpha 0.25: with lambda + alpha s the Hessian's smallest eigenvalue is {printed:.2}, with lambda - \
         alpha s {reversed:.2}"
    );
    Checked::new((printed + 0.25).abs() < 1e-6 && (reversed - 0.25).abs() < 1e-6, ours)
}

pub fn wta_equation(_: &Session) -> anyhow::Result<Checked> {
    // delta(l_1, 1) for a query whose top document is relevant, and for one whose top document is not.
    let printed = |ranked: &[f32]| f64::from(u8::from(ranked[0] == 1.0));
    let cost = parse("wta-error")?;
    let queries = [[1.0, 0.0], [0.0, 1.0]];
    let (formula, words) = (queries.map(|ranked| printed(&ranked)), queries.map(|ranked| cost.value(&ranked)));
    let ours = format!(
        "relevant on top: Eq. 3 gives {}, the words {}; not relevant on top: {} and {}",
        formula[0], words[0], formula[1], words[1]
    );
    Checked::new(formula == [1.0, 0.0] && words == [0.0, 1.0], ours)
}

pub fn margin_jump(_: &Session) -> anyhow::Result<Checked> {
    let jumps = margin::MARGINS.map(margin::jump);
    let off =
        margin::MARGINS.iter().zip(jumps).map(|(delta, jump)| (jump - (1.0 - delta).abs()).abs()).fold(0.0, f64::max);
    let ours = format!(
        "jumps at x = 0 for margins {:?}: {jumps:.2?}, which is the distance of the margin from 1",
        margin::MARGINS
    );
    Checked::new(off < 1e-9 && jumps[0] > 0.5 && jumps[2] < 1e-9, ours)
}

pub fn piecewise_constant(session: &Session) -> anyhow::Result<Checked> {
    let cost = fields::piecewise_constant_has_a_cost(session)?;
    Checked::new(!cost.holds, cost.ours)
}

pub fn optimality_mrr(_: &Session) -> anyhow::Result<Checked> {
    // Table 3, tested on MRR: trained on NDCG, NDCG@10, MAP, MRR.
    let rows = [("NDCG", 0.546), ("NDCG@10", 0.548), ("MAP", 0.546), ("MRR", 0.526)];
    let best = rows.iter().fold(rows[0], |best, row| if row.1 > best.1 { *row } else { best });
    Checked::new(
        best.0 == "NDCG@10",
        format!("the highest of Table 3 is {} from {}; NDCG has {}", best.1, best.0, rows[0].1),
    )
}

pub fn optimality_mark(_: &Session) -> anyhow::Result<Checked> {
    // Table 3, tested on NDCG@10: trained on NDCG (marked N), NDCG@10, MAP (marked Y); standard errors 0.002 each.
    let z = |first: f64, second: f64| (first - second) / (2.0 * 0.002_f64.powi(2)).sqrt();
    let (ndcg, map) = (z(0.442, 0.422), z(0.435, 0.422));
    let ours = format!(
        "0.442 against 0.422: {ndcg:.1} standard errors, marked N; 0.435 against 0.422: {map:.1}, marked Y (even if \
         unpaired)"
    );
    Checked::new(ndcg > 1.96 && ndcg > map, ours)
}

/// Both lines of Eq. 9 for one pair of scores and one ranked list: P = 1 / (1 + e^-(s_i - s_j)).
fn eq_9(difference: f64) -> (f64, f64) {
    let log = -(-difference).exp().ln_1p() / 2f64.ln();
    (-log, log)
}

pub fn lambdaloss_eq_9(_: &Session) -> anyhow::Result<Checked> {
    let slope = |line: &dyn Fn(f64) -> f64| (line(1e-5) - line(-1e-5)) / 2e-5;
    let (first, second) = (slope(&|x| eq_9(x).0), slope(&|x| eq_9(x).1));
    let at = eq_9(0.0);
    let ours = format!(
        "one sample of one pair at equal scores: first line {:.1}, second {:.1}; derivatives {first:.3} and {second:.3}: \
         minimising the second line ranks the relevant document lower",
        at.0, at.1
    );
    Checked::new((first + second).abs() < 1e-9 && first < 0.0 && second > 0.0 && at == (1.0, -1.0), ours)
}

/// `sum of G_i / D_i` for one relevant document at a rank.
pub fn metric_of_one(rank: usize, discount: impl Fn(usize) -> f64) -> f64 {
    1.0 / discount(rank)
}

pub fn lambdaloss_discount(_: &Session) -> anyhow::Result<Checked> {
    let rr = parse("mrr")?;
    let (mut right, mut printed, mut chain, mut printed_chain) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for rank in 1..=20 {
        let ranked: Vec<f32> = (1..=20).map(|r| f32::from(u8::from(r == rank))).collect();
        let expected = rr.value(&ranked);
        right = right.max((metric_of_one(rank, |i| i as f64) - expected).abs());
        printed = printed.max((metric_of_one(rank, |i| 1.0 / i as f64) - expected).abs());
        // The chain rule before Eq. 15, which the loss needs.
        let gap = |d: &dyn Fn(usize) -> f64| {
            let sum: f64 = (1..rank).map(|j| (1.0 / d(rank - j) - 1.0 / d(rank - j + 1)).abs()).sum();
            (1.0 - 1.0 / d(rank) - sum).abs()
        };
        chain = chain.max(gap(&|i| i as f64));
        printed_chain = printed_chain.max(gap(&|i| 1.0 / i as f64));
    }
    let ours = format!(
        "one relevant document at ranks 1 to 20: with D_i = i the metric is the reciprocal rank (to {right:.0e}) and \
         the chain rule holds (to {chain:.0e}); with D_i = 1/i they are off by up to {printed:.0} and \
         {printed_chain:.0}"
    );
    Checked::new(right < 1e-12 && chain < 1e-12 && printed > 1.0 && printed_chain > 1.0, ours)
}

pub fn lambdaloss_gain(_: &Session) -> anyhow::Result<Checked> {
    // 1 / D_i of ranks i (sorted by score) and i' (in a sample).
    let scaled = |rank: usize, sampled: usize| (1.0 - discount(sampled - 1)) / (1.0 - discount(rank - 1));
    let (top, down) = (scaled(1, 1), scaled(1, 2));
    let ours = format!(
        "G'/G at rank 1: {top} where the sample keeps it there (0/0), {down} where it moves it to rank 2; at rank 2: \
         {:.3}",
        scaled(2, 3)
    );
    Checked::new(top.is_nan() && down.is_infinite() && scaled(2, 3).is_finite(), ours)
}

pub fn lambdaloss_text(_: &Session) -> anyhow::Result<Checked> {
    // Table 3: train, validation, test of YAHOO, WEB10K, WEB30K.
    let arp1 = [74.11, 69.70, 70.58, 47.24, 44.01, 42.88, 47.02, 44.59, 44.69];
    let loss2 = [73.07, 69.57, 70.63, 47.33, 43.98, 43.19, 47.35, 44.71, 44.94];
    let below = arp1.iter().zip(loss2).filter(|(arp, loss)| **arp > *loss).count();
    Checked::new(
        below == 3,
        format!("ARP-Loss1 is above NDCG-Loss2 in {below} of 9 columns: YAHOO train and validation, WEB10K validation"),
    )
}

pub fn lambdaloss_tables(_: &Session) -> anyhow::Result<Checked> {
    // NDCG-Loss2 minus LambdaMART on the test sets of YAHOO, WEB10K, WEB30K.
    let ranklib: [f64; 3] = [70.63 - 70.36, 43.19 - 42.19, 44.94 - 44.12];
    let lightgbm: [f64; 3] = [74.78 - 75.40, 49.22 - 49.00, 50.08 - 50.74];
    let ours = format!("test NDCG@5, points over LambdaMART: Table 3 {ranklib:+.2?}, Table 4 {lightgbm:+.2?}");
    Checked::new(ranklib.iter().all(|gap| *gap > 0.0) && lightgbm[0] < 0.0 && lightgbm[2] < 0.0, ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hessian_equals_its_closed_form() {
        // The second derivative of ln(1 + e^-x) is p (1 - p); summed over all pairs of different labels.
        let (hessian, _) = ranknet_matrices().unwrap();
        let p = |x: f64| 1.0 / (1.0 + (-x).exp());
        let curve = |i: usize, j: usize| {
            if LABELS[i] == LABELS[j] { 0.0 } else { p(SCORES[i] - SCORES[j]) * (1.0 - p(SCORES[i] - SCORES[j])) }
        };
        assert!((hessian[1] + curve(0, 1)).abs() < 1e-5, "{}", hessian[1]);
        let diagonal: f64 = (1..5).map(|j| curve(0, j)).sum();
        assert!((hessian[0] - diagonal).abs() < 1e-5, "{} {diagonal}", hessian[0]);
    }
}
