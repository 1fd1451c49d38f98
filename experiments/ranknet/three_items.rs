//! RankNet on given probabilities of three items: inconsistent, incomplete, consistent and certain pairs.

use crate::harness::Session;
use crate::harness::facts::Checked;
use burnrank::analysis::probability::{combine, probability};
use burnrank::data::{PairTarget, Targets};
use burnrank::internal::text::Table;
use burnrank::numeric::softplus;
use burnrank::objective::Batch;
use burnrank::{Architecture, Dataset, Objective, OptimizerKind, ScaleKind, Schedule, TrainConfig, Trainer};

/// Pairs of items 0, 1 and 2 with the probability that the first is better.
pub struct Set {
    pub name: &'static str,
    pub pairs: &'static [(usize, usize, f64)],
}

pub const CERTAIN: Set = Set { name: "certain order", pairs: &[(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)] };
pub const CIRCLE: Set = Set { name: "circle", pairs: &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)] };
pub const CONTRADICTION: Set = Set { name: "contradiction", pairs: &[(0, 1, 0.9), (1, 2, 0.9), (0, 2, 0.2)] };
pub const INCOMPLETE: Set = Set { name: "incomplete", pairs: &[(0, 1, 0.8)] };
/// By Eq. 5 the third pair has probability 0.36 / 0.52.
pub const CONSISTENT: Set = Set { name: "consistent", pairs: &[(0, 1, 0.6), (1, 2, 0.6), (0, 2, 0.36 / 0.52)] };

/// Number of epochs, with one update each.
const EPOCHS: usize = 4000;
const LEARNING_RATE: f64 = 0.5;
/// Tolerance for the distance to the minimum cost.
const TOLERANCE: f64 = 1e-4;

/// Result of training.
pub struct Trained {
    /// Scores of the three items.
    pub scores: [f64; 3],
    pub cost: f64,
    /// Cost of the last epoch of a linear net over one-hot features, trained from a file of targets.
    pub net_cost: f64,
    /// Minimum cost, by Newton's method in double precision; not quite 0 for certain targets.
    pub minimum: f64,
}

impl Set {
    fn cost(&self, scores: &[f64; 3]) -> f64 {
        let pair = |&(i, j, p): &(usize, usize, f64)| {
            let output = scores[i] - scores[j];
            p * softplus(-output) + (1.0 - p) * softplus(output)
        };
        self.pairs.iter().map(pair).sum()
    }

    /// Minimum cost over the two differences of scores; item 2 stays at 0.
    fn minimum(&self) -> f64 {
        let mut scores = [0.0; 3];
        for _ in 0..200 {
            let (mut gradient, mut hessian) = ([0.0; 2], [[1e-9, 0.0], [0.0, 1e-9]]);
            for &(i, j, p) in self.pairs {
                let modelled = probability(scores[i] - scores[j]);
                let sign = |k: usize| f64::from(u8::from(k == i)) - f64::from(u8::from(k == j));
                for (k, (gradient, row)) in gradient.iter_mut().zip(&mut hessian).enumerate() {
                    *gradient += (modelled - p) * sign(k);
                    row.iter_mut()
                        .enumerate()
                        .for_each(|(l, cell)| *cell += modelled * (1.0 - modelled) * sign(k) * sign(l));
                }
            }
            let determinant = hessian[0][0] * hessian[1][1] - hessian[0][1] * hessian[1][0];
            let step = [
                (hessian[1][1] * gradient[0] - hessian[0][1] * gradient[1]) / determinant,
                (hessian[0][0] * gradient[1] - hessian[1][0] * gradient[0]) / determinant,
            ];
            // For certain targets the minimum is at infinity, so steps are limited to 1.
            (0..2).for_each(|k| scores[k] -= step[k].clamp(-1.0, 1.0));
        }
        self.cost(&scores)
    }

    /// Gradient descent on the scores with the library's gradient for given probabilities.
    fn descend(&self) -> anyhow::Result<[f64; 3]> {
        let pair = |&(i, j, probability): &(usize, usize, f64)| PairTarget { i, j, probability };
        let pairs: Vec<PairTarget> = self.pairs.iter().map(pair).collect();
        let objective = Objective::parse("ranknet")?;
        let (mut scores, mut gradient) = ([0.0f32; 3], [0.0f32; 3]);
        let batch = Batch { labels: &[0.0; 3], offsets: &[0, 3] };
        for _ in 0..EPOCHS {
            objective.target_gradient(&scores, batch, [pairs.as_slice()].into_iter(), &mut gradient)?;
            scores.iter_mut().zip(gradient).for_each(|(score, gradient)| *score -= LEARNING_RATE as f32 * gradient);
        }
        Ok(scores.map(f64::from))
    }

    /// Trains a linear net over one-hot features as with `--targets`; returns the cost of the last epoch.
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
            learning_rate: LEARNING_RATE,
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
        Ok(Trained { cost: self.cost(&scores), scores, net_cost: self.net_cost(session)?, minimum: self.minimum() })
    }
}

impl Trained {
    /// Modelled probability that the first of two items is better.
    pub fn probability(&self, (i, j): (usize, usize)) -> f64 {
        probability(self.scores[i] - self.scores[j])
    }

    fn converged(&self) -> bool {
        (self.cost - self.minimum).abs() < TOLERANCE && (self.net_cost - self.minimum).abs() < TOLERANCE
    }

    fn words(&self) -> String {
        let [first, second, third] = [(0, 1), (1, 2), (0, 2)].map(|pair| self.probability(pair));
        format!(
            "P(A>B) {first:.4}, P(B>C) {second:.4}, P(A>C) {third:.4}, cost {:.4} (least {:.4})",
            self.cost, self.minimum
        )
    }
}

pub fn circle(session: &Session) -> anyhow::Result<Checked> {
    let trained = CIRCLE.train(session)?;
    let even = [(0, 1), (1, 2), (2, 0)].iter().all(|&pair| (trained.probability(pair) - 0.5).abs() < 1e-4);
    let at_minimum = (trained.minimum - 3.0 * 2f64.ln()).abs() < 1e-9;
    Checked::new(trained.converged() && even && at_minimum, trained.words())
}

pub fn contradiction(session: &Session) -> anyhow::Result<Checked> {
    let trained = CONTRADICTION.train(session)?;
    let missed = CONTRADICTION.pairs.iter().any(|&(i, j, p)| (trained.probability((i, j)) - p).abs() > 0.05);
    let implied = combine(trained.probability((0, 1)), trained.probability((1, 2)));
    let consistent = implied.is_some_and(|implied| (implied - trained.probability((0, 2))).abs() < 1e-6);
    Checked::new(trained.converged() && missed && consistent, format!("targets 0.9, 0.9, 0.2: {}", trained.words()))
}

pub fn incomplete(session: &Session) -> anyhow::Result<Checked> {
    let trained = INCOMPLETE.train(session)?;
    let met = (trained.probability((0, 1)) - 0.8).abs() < 1e-3 && trained.scores[2] == 0.0;
    Checked::new(
        trained.converged() && met,
        format!("target 0.8 for A and B alone: {}; C's score stays at {}", trained.words(), trained.scores[2]),
    )
}

pub fn consistent(session: &Session) -> anyhow::Result<Checked> {
    let trained = CONSISTENT.train(session)?;
    let met = CONSISTENT.pairs.iter().all(|&(i, j, p)| (trained.probability((i, j)) - p).abs() < 1e-3);
    Checked::new(trained.converged() && met, format!("targets 0.6, 0.6, 0.6923: {}", trained.words()))
}

pub fn certain(session: &Session) -> anyhow::Result<Checked> {
    let trained = CERTAIN.train(session)?;
    let order = trained.scores[0] > trained.scores[1] && trained.scores[1] > trained.scores[2];
    let sure = [(0, 1), (1, 2), (0, 2)].iter().all(|&pair| (0.99..1.0).contains(&trained.probability(pair)));
    let ours = format!("{}; after {EPOCHS} steps", trained.words());
    Checked::new(order && sure && trained.net_cost < 0.01, ours)
}

/// Table of all sets.
pub fn table(session: &Session) -> anyhow::Result<Table> {
    let title = format!(
        "Three items A, B, C trained on given probabilities ({EPOCHS} epochs, learning rate {LEARNING_RATE}); last column: cost of \
         a linear net over one-hot features:"
    );
    let mut table =
        Table::titled(title, &["pairs", "targets", "P(A>B)", "P(B>C)", "P(A>C)", "cost", "minimum cost", "net's cost"]);
    for set in [CONSISTENT, CIRCLE, CONTRADICTION, INCOMPLETE, CERTAIN] {
        let trained = set.train(session)?;
        let letter = |item: usize| ["A", "B", "C"][item];
        let targets: Vec<String> =
            set.pairs.iter().map(|&(i, j, p)| format!("{}>{} {p:.4}", letter(i), letter(j))).collect();
        let cells = [(0, 1), (1, 2), (0, 2)].map(|pair| format!("{:.4}", trained.probability(pair)));
        let costs = [trained.cost, trained.minimum, trained.net_cost].map(|cost| format!("{cost:.4}"));
        table.row([set.name.to_owned(), targets.join(", ")].into_iter().chain(cells).chain(costs));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_costs_are_known() {
        let entropy = |p: f64| -p * p.ln() - (1.0 - p) * (1.0 - p).ln();
        let expected: f64 = CONSISTENT.pairs.iter().map(|pair| entropy(pair.2)).sum();
        assert!((CONSISTENT.minimum() - expected).abs() < 1e-9);
        assert!((INCOMPLETE.minimum() - entropy(0.8)).abs() < 1e-9);
        assert!((CIRCLE.minimum() - 3.0 * 2f64.ln()).abs() < 1e-9);
        assert!(CERTAIN.minimum() < 1e-6);
    }
}
