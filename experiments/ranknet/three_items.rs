//! Three items whose pairs contradict each other, say too little, or are certain: RankNet on given probabilities.

use crate::harness::Session;
use crate::harness::facts::Checked;
use burnrank::analysis::probability::{combine, probability};
use burnrank::data::{PairTarget, Targets};
use burnrank::internal::text::Table;
use burnrank::numeric::softplus;
use burnrank::objective::Batch;
use burnrank::{Architecture, Dataset, Objective, OptimizerKind, ScaleKind, Schedule, TrainConfig, Trainer};

/// Pairs of items 0, 1 and 2 and the probability that the first is the better one.
pub struct Set {
    pub name: &'static str,
    pub pairs: &'static [(usize, usize, f64)],
}

pub const CERTAIN: Set = Set { name: "certain order", pairs: &[(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)] };
pub const CIRCLE: Set = Set { name: "circle", pairs: &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)] };
pub const CONTRADICTION: Set = Set { name: "contradiction", pairs: &[(0, 1, 0.9), (1, 2, 0.9), (0, 2, 0.2)] };
pub const INCOMPLETE: Set = Set { name: "incomplete", pairs: &[(0, 1, 0.8)] };
/// 0.36 / 0.52 is what Eq. 5 says of the third pair.
pub const CONSISTENT: Set = Set { name: "consistent", pairs: &[(0, 1, 0.6), (1, 2, 0.6), (0, 2, 0.36 / 0.52)] };

/// Epochs of training, of one step each.
const EPOCHS: usize = 4000;
const STEP: f64 = 0.5;
/// How near training must come to the least cost.
pub const NEAR: f64 = 1e-4;

/// What training ends in.
pub struct Trained {
    /// Of the three items.
    pub scores: [f64; 3],
    pub cost: f64,
    /// The cost of the last epoch of a linear net over one-hot features, trained from a file of targets.
    pub net_cost: f64,
    /// The least cost, by Newton's method in double precision; 0 is not reached where targets are certain.
    pub least: f64,
}

impl Set {
    fn cost(&self, scores: &[f64; 3]) -> f64 {
        let pair = |&(i, j, p): &(usize, usize, f64)| {
            let output = scores[i] - scores[j];
            p * softplus(-output) + (1.0 - p) * softplus(output)
        };
        self.pairs.iter().map(pair).sum()
    }

    /// The least cost over the two differences of scores; item 2 stays at 0.
    fn least(&self) -> f64 {
        let mut scores = [0.0; 3];
        for _ in 0..200 {
            let (mut slope, mut curve) = ([0.0; 2], [[1e-9, 0.0], [0.0, 1e-9]]);
            for &(i, j, p) in self.pairs {
                let modelled = probability(scores[i] - scores[j]);
                let sign = |k: usize| f64::from(u8::from(k == i)) - f64::from(u8::from(k == j));
                for (k, (slope, row)) in slope.iter_mut().zip(&mut curve).enumerate() {
                    *slope += (modelled - p) * sign(k);
                    row.iter_mut()
                        .enumerate()
                        .for_each(|(l, curve)| *curve += modelled * (1.0 - modelled) * sign(k) * sign(l));
                }
            }
            let determinant = curve[0][0] * curve[1][1] - curve[0][1] * curve[1][0];
            let step = [
                (curve[1][1] * slope[0] - curve[0][1] * slope[1]) / determinant,
                (curve[0][0] * slope[1] - curve[1][0] * slope[0]) / determinant,
            ];
            // Where targets are certain the least cost is at infinity: steps of 1 at most go there slowly.
            (0..2).for_each(|k| scores[k] -= step[k].clamp(-1.0, 1.0));
        }
        self.cost(&scores)
    }

    /// Gradient descent on the scores themselves, by the library's gradient for given probabilities.
    fn descend(&self) -> anyhow::Result<[f64; 3]> {
        let pair = |&(i, j, probability): &(usize, usize, f64)| PairTarget { i, j, probability };
        let pairs: Vec<PairTarget> = self.pairs.iter().map(pair).collect();
        let objective = Objective::parse("ranknet")?;
        let (mut scores, mut gradient) = ([0.0f32; 3], [0.0f32; 3]);
        let batch = Batch { labels: &[0.0; 3], offsets: &[0, 3] };
        for _ in 0..EPOCHS {
            objective.target_gradient(&scores, batch, [pairs.as_slice()].into_iter(), &mut gradient)?;
            scores.iter_mut().zip(gradient).for_each(|(score, slope)| *score -= STEP as f32 * slope);
        }
        Ok(scores.map(f64::from))
    }

    /// A linear net over one-hot features, as `--targets` trains it; the cost of the last epoch.
    fn net_cost(&self, session: &Session) -> anyhow::Result<f64> {
        let features = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let data = Dataset::new(3, features, vec![2.0, 1.0, 0.0], vec![("1".into(), 3)])?;
        let line = |&(i, j, p): &(usize, usize, f64)| format!("1 {} {} {p}\n", i + 1, j + 1);
        let text: String = self.pairs.iter().map(line).collect();
        let targets = Targets::parse(self.name, &text, &data)?;
        let config = TrainConfig {
            objective: Objective::parse("ranknet")?,
            architecture: Architecture::Linear,
            scaling: ScaleKind::None,
            metric: "pairs".into(),
            epochs: EPOCHS,
            learning_rate: STEP,
            optimizer: OptimizerKind::Sgd,
            schedule: Schedule::Constant,
            patience: 0,
            seed: session.seed,
            ..TrainConfig::default()
        };
        let trainer = Trainer::new(config, &data, &data, &session.device)?.with_targets(&targets)?;
        Ok(trainer.train()?.history.last().map_or(f64::NAN, |epoch| epoch.loss))
    }

    pub fn train(&self, session: &Session) -> anyhow::Result<Trained> {
        let scores = self.descend()?;
        Ok(Trained { cost: self.cost(&scores), scores, net_cost: self.net_cost(session)?, least: self.least() })
    }
}

impl Trained {
    /// The modelled probability that the first of two items is the better one.
    pub fn probability(&self, (i, j): (usize, usize)) -> f64 {
        probability(self.scores[i] - self.scores[j])
    }

    fn converged(&self) -> bool {
        (self.cost - self.least).abs() < NEAR && (self.net_cost - self.least).abs() < NEAR
    }

    fn words(&self) -> String {
        let [first, second, third] = [(0, 1), (1, 2), (0, 2)].map(|pair| self.probability(pair));
        format!(
            "P(A>B) {first:.4}, P(B>C) {second:.4}, P(A>C) {third:.4}, cost {:.4} (least {:.4})",
            self.cost, self.least
        )
    }
}

pub fn circle(session: &Session) -> anyhow::Result<Checked> {
    let found = CIRCLE.train(session)?;
    let even = [(0, 1), (1, 2), (2, 0)].iter().all(|&pair| (found.probability(pair) - 0.5).abs() < 1e-4);
    let least = (found.least - 3.0 * 2f64.ln()).abs() < 1e-9;
    Checked::new(found.converged() && even && least, found.words())
}

pub fn contradiction(session: &Session) -> anyhow::Result<Checked> {
    let found = CONTRADICTION.train(session)?;
    let missed = CONTRADICTION.pairs.iter().any(|&(i, j, p)| (found.probability((i, j)) - p).abs() > 0.05);
    let implied = combine(found.probability((0, 1)), found.probability((1, 2)));
    let consistent = implied.is_some_and(|implied| (implied - found.probability((0, 2))).abs() < 1e-6);
    Checked::new(found.converged() && missed && consistent, format!("targets 0.9, 0.9, 0.2: {}", found.words()))
}

pub fn incomplete(session: &Session) -> anyhow::Result<Checked> {
    let found = INCOMPLETE.train(session)?;
    let met = (found.probability((0, 1)) - 0.8).abs() < 1e-3 && found.scores[2] == 0.0;
    Checked::new(
        found.converged() && met,
        format!("target 0.8 for A and B alone: {}; C's score stays at {}", found.words(), found.scores[2]),
    )
}

pub fn consistent(session: &Session) -> anyhow::Result<Checked> {
    let found = CONSISTENT.train(session)?;
    let met = CONSISTENT.pairs.iter().all(|&(i, j, p)| (found.probability((i, j)) - p).abs() < 1e-3);
    Checked::new(found.converged() && met, format!("targets 0.6, 0.6, 0.6923: {}", found.words()))
}

pub fn certain(session: &Session) -> anyhow::Result<Checked> {
    let found = CERTAIN.train(session)?;
    let order = found.scores[0] > found.scores[1] && found.scores[1] > found.scores[2];
    let sure = [(0, 1), (1, 2), (0, 2)].iter().all(|&pair| (0.99..1.0).contains(&found.probability(pair)));
    let ours = format!("{}; after {EPOCHS} steps", found.words());
    Checked::new(order && sure && found.net_cost < 0.01, ours)
}

/// All sets as a table.
pub fn table(session: &Session) -> anyhow::Result<Table> {
    let title = format!(
        "Three items A, B, C trained on given probabilities ({EPOCHS} steps of {STEP}); a linear net over one-hot \
         features reaches the cost in the last column:"
    );
    let mut table =
        Table::titled(title, &["pairs", "targets", "P(A>B)", "P(B>C)", "P(A>C)", "cost", "least cost", "net's cost"]);
    for set in [CONSISTENT, CIRCLE, CONTRADICTION, INCOMPLETE, CERTAIN] {
        let found = set.train(session)?;
        let letter = |item: usize| ["A", "B", "C"][item];
        let targets: Vec<String> =
            set.pairs.iter().map(|&(i, j, p)| format!("{}>{} {p:.4}", letter(i), letter(j))).collect();
        let cells = [(0, 1), (1, 2), (0, 2)].map(|pair| format!("{:.4}", found.probability(pair)));
        let costs = [found.cost, found.least, found.net_cost].map(|cost| format!("{cost:.4}"));
        table.row([set.name.to_owned(), targets.join(", ")].into_iter().chain(cells).chain(costs));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_cost_is_known_where_targets_agree() {
        let entropy = |p: f64| -p * p.ln() - (1.0 - p) * (1.0 - p).ln();
        let expected: f64 = CONSISTENT.pairs.iter().map(|pair| entropy(pair.2)).sum();
        assert!((CONSISTENT.least() - expected).abs() < 1e-9);
        assert!((INCOMPLETE.least() - entropy(0.8)).abs() < 1e-9);
        assert!((CIRCLE.least() - 3.0 * 2f64.ln()).abs() < 1e-9);
        assert!(CERTAIN.least() < 1e-6);
    }
}
