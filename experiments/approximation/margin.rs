//! Facts about the two documents of Eq. 24 to 31, and about the gradient of a net for a pair.

use crate::harness::Session;
use crate::harness::facts::Checked;
use burnrank::LambdaField;
use burnrank::analysis::lambda_field::{FieldReport, MarginLambda};
use burnrank::numeric::sigmoid;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const LABELS: [f32; 2] = [1.0, 0.0];
/// Margins that are tested.
pub const MARGINS: [f64; 4] = [0.25, 0.5, 1.0, 1.5];

/// Lambda of the relevant document at `x = s_1 - s_2`.
pub fn lambda(delta: f64, x: f64) -> f64 {
    MarginLambda { delta }.lambdas(&[x, 0.0], &LABELS, &[0, 1])[0]
}

/// Cost at `x = s_1 - s_2`.
pub fn cost(delta: f64, x: f64) -> f64 {
    MarginLambda { delta }.cost(&[x, 0.0], &LABELS, &[0, 1]).unwrap_or(f64::NAN)
}

/// Positions from -2 to 3 that are neither 0 nor a margin.
fn positions() -> impl Iterator<Item = f64> {
    (0..=500).map(|step| -2.0 + 0.01 * f64::from(step) + 0.0037)
}

/// Multiples of 1/4 between two limits, given in quarters, and a position just below the tie.
pub fn quarters(from: i32, to: i32) -> impl Iterator<Item = f64> {
    let by = |range: std::ops::Range<i32>| range.map(|step| 0.25 * f64::from(step));
    by(from..0).chain([-1e-9]).chain(by(0..to + 1))
}

pub fn lambdas_are_gradients(_: &Session) -> anyhow::Result<Checked> {
    let step = 1e-6;
    let (mut worst, mut gap) = (0.0f64, 0.0f64);
    for delta in MARGINS {
        for x in positions() {
            let derivative = (cost(delta, x + step) - cost(delta, x - step)) / (2.0 * step);
            worst = worst.max((lambda(delta, x) + derivative).abs());
            let both = MarginLambda { delta }.lambdas(&[x, 0.0], &LABELS, &[0, 1]);
            worst = worst.max((both[0] + both[1]).abs());
        }
        for seam in [0.0, delta] {
            gap = gap.max((cost(delta, seam + 1e-12) - cost(delta, seam - 1e-12)).abs());
        }
    }
    let ours =
        format!("501 places, margins {MARGINS:?}: largest difference {worst:.0e}; the cost's largest gap {gap:.0e}");
    Checked::new(worst < 1e-8 && gap < 1e-9, ours)
}

/// Change of the lambda at the tie.
pub fn jump(delta: f64) -> f64 {
    (lambda(delta, 1e-12) - lambda(delta, -1e-12)).abs()
}

pub fn figure_2(_: &Session) -> anyhow::Result<Checked> {
    let wrong = positions().filter(|x| *x < 0.0).all(|x| lambda(1.0, x) == 1.0);
    let falls = positions().filter(|x| (0.0..=1.0).contains(x)).all(|x| (lambda(1.0, x) - (1.0 - x)).abs() < 1e-12);
    let beyond = positions().filter(|x| *x > 1.0).all(|x| lambda(1.0, x) == 0.0);
    let (tie, margin) = (jump(1.0), (lambda(1.0, 1.0 + 1e-12) - lambda(1.0, 1.0 - 1e-12)).abs());
    let ours = format!(
        "constant in the wrong order: {wrong}; falls to 0 at the margin: {falls}; 0 beyond: {beyond}; jumps {tie:.0e} \
         and {margin:.0e}"
    );
    Checked::new(wrong && falls && beyond && tie < 1e-9 && margin < 1e-9, ours)
}

pub fn smooth_for_every_margin(_: &Session) -> anyhow::Result<Checked> {
    let jumps = MARGINS.map(jump);
    let ours: Vec<String> =
        MARGINS.iter().zip(jumps).map(|(delta, jump)| format!("{jump:.2} at margin {delta}")).collect();
    Checked::new(
        jumps.iter().all(|jump| *jump < 1e-9),
        format!("the lambda jumps where the pair ties: {}", ours.join(", ")),
    )
}

pub fn hessian(_: &Session) -> anyhow::Result<Checked> {
    let (mut smallest, mut bounded, mut flat) = (f64::INFINITY, true, true);
    for delta in MARGINS {
        for x in positions().step_by(10) {
            let report = FieldReport::new(&MarginLambda { delta }, &[x, 0.0], &LABELS)?;
            smallest = smallest.min(report.smallest_eigenvalue);
            bounded &= cost(delta, x) >= -0.5 * delta * delta - 1e-12;
        }
        let bottom = [delta, delta + 0.1, delta + 7.0].map(|x| cost(delta, x));
        flat &= bottom.iter().all(|cost| (cost + 0.5 * delta * delta).abs() < 1e-12);
    }
    let ours = format!(
        "smallest eigenvalue of the Hessian, away from the seams {smallest:.0e}; no cost below -delta^2/2: {bounded}; \
         reached at many x: {flat}"
    );
    Checked::new(smallest > -1e-6 && bounded && flat, ours)
}

pub fn convex_for_every_margin(_: &Session) -> anyhow::Result<Checked> {
    let mut checks = vec![];
    for delta in MARGINS {
        // Cost at the middle of a chord across the tie, minus the chord.
        let bulge = cost(delta, 0.0) - 0.5 * (cost(delta, -0.1) + cost(delta, 0.1));
        let convex = FieldReport::new(&MarginLambda { delta }, &[0.1, 0.0], &LABELS)?.convex();
        checks.push((delta, bulge, convex));
    }
    let ours: Vec<String> = checks
        .iter()
        .map(|(delta, bulge, convex)| {
            format!("{delta}: {} (cost minus chord {bulge:+.3})", if *convex { "convex" } else { "not convex" })
        })
        .collect();
    Checked::new(checks.iter().all(|(_, bulge, convex)| *convex && *bulge <= 1e-12), ours.join("; "))
}

/// A net with one hidden layer of tanh units and one output. Weights: a row of input weights and bias per unit, then the
/// output's weights and bias.
struct Net {
    inputs: usize,
    hidden: usize,
    weights: Vec<f64>,
}

impl Net {
    fn hidden(&self, x: &[f64]) -> Vec<f64> {
        let rows = self.weights.chunks(self.inputs + 1).take(self.hidden);
        rows.map(|row| (row[..self.inputs].iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + row[self.inputs]).tanh())
            .collect()
    }

    fn output(&self, x: &[f64]) -> f64 {
        let out = &self.weights[self.hidden * (self.inputs + 1)..];
        self.hidden(x).iter().zip(out).map(|(h, w)| h * w).sum::<f64>() + out[self.hidden]
    }

    /// Contribution of one pattern to the gradient if its `Delta^3` is `derivative` (Eq. 19 to 22, linear output unit).
    fn part(&self, x: &[f64], derivative: f64) -> Vec<f64> {
        let out = &self.weights[self.hidden * (self.inputs + 1)..];
        let hidden = self.hidden(x);
        let mut part = vec![];
        for (h, w) in hidden.iter().zip(out) {
            let delta = derivative * w * (1.0 - h * h);
            part.extend(x.iter().map(|x| delta * x).chain([delta]));
        }
        part.extend(hidden.iter().map(|h| derivative * h).chain([derivative]));
        part
    }
}

pub fn back_propagation(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 3);
    let mut worst = 0.0f64;
    for _ in 0..20 {
        let (inputs, hidden) = (4, 3);
        let mut random_values = |n: usize| (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let mut net = Net { inputs, hidden, weights: random_values(hidden * (inputs + 1) + hidden + 1) };
        let (first, second) = (random_values(inputs), random_values(inputs));
        // f(o) = ln(1 + e^o) with o = o_2 - o_1: the first pattern ranks higher.
        let difference = |net: &Net| net.output(&second) - net.output(&first);
        let derivative = sigmoid(difference(&net));
        let parts = (net.part(&second, derivative), net.part(&first, derivative));
        for place in 0..net.weights.len() {
            let weight = net.weights[place];
            let mut at = |step: f64| {
                net.weights[place] = weight + step;
                difference(&net).exp().ln_1p()
            };
            let derivative = (at(1e-5) - at(-1e-5)) / 2e-5;
            net.weights[place] = weight;
            worst = worst.max((parts.0[place] - parts.1[place] - derivative).abs());
        }
    }
    Checked::new(
        worst < 1e-8,
        format!("20 random nets and pairs: largest difference from central differences {worst:.0e}"),
    )
}
