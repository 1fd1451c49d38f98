//! Training of linear scorers, with the bounds checked after every epoch.

use super::sides::{BoundChecks, Losses, sides};
use burnrank::Dataset;
use burnrank::numeric::training_order;
use burnrank::objective::{Batch, Outputs};

/// Length of every update.
pub const STEP_LENGTH: f64 = 0.05;

/// Trains a linear scorer with each of the six losses, one update per query, and checks all queries after every epoch.
pub fn in_training(data: &Dataset, epochs: usize) -> anyhow::Result<BoundChecks> {
    let losses = Losses::new(1.0)?;
    let mut checks = BoundChecks { epochs: vec![[0.0; 4]; epochs], ..BoundChecks::default() };
    let share = 1.0 / (losses.0.len() * data.n_queries()) as f64;
    for objective in &losses.0 {
        let mut weights = vec![0.0; data.n_features()];
        let scored = |weights: &[f64], features: &[f32]| -> Vec<f32> {
            let score = |row: &[f32]| row.iter().zip(weights).map(|(x, w)| f64::from(*x) * w).sum::<f64>() as f32;
            features.chunks(weights.len()).map(score).collect()
        };
        for epoch in 0..epochs {
            for query in data.queries() {
                let mut lambdas = vec![0.0; query.labels.len()];
                let batch = Batch { labels: query.labels, offsets: &[0, query.labels.len()] };
                let scores = scored(&weights, &query.features);
                objective.lambda_gradient(&scores, batch, &mut lambdas, Outputs::default(), &[])?;
                let mut step = vec![0.0; weights.len()];
                for (row, lambda) in query.features.chunks(weights.len()).zip(&lambdas) {
                    step.iter_mut().zip(row).for_each(|(step, x)| *step += f64::from(lambda * x));
                }
                // The same length for every loss, so that all train equally fast.
                let length = step.iter().map(|step| step * step).sum::<f64>().sqrt();
                if length > 0.0 {
                    weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= STEP_LENGTH * step / length);
                }
            }
            for query in data.queries() {
                let scores = scored(&weights, &query.features);
                let ranked: Vec<f32> = training_order(&scores).iter().map(|&place| query.labels[place]).collect();
                let sides = sides(&ranked, losses.values(&scores, query.labels)?);
                checks.add(&sides);
                checks.epochs[epoch].iter_mut().zip(sides.bounds).for_each(|(mean, bound)| *mean += share * bound);
            }
        }
    }
    Ok(checks)
}
