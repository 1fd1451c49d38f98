//! Trains for a custom metric. A metric only has to implement `name` and `value`.
//!
//! Run with `cargo run --release --example custom_metric`.

use burnrank::metric::Summary;
use burnrank::{Conventions, Metric, Objective, Synthetic, TrainConfig, Trainer, device, evaluate};
use std::sync::Arc;

/// Highest label among the top three documents, divided by the highest label of the query.
#[derive(Debug)]
struct BestOfThree;

impl Metric for BestOfThree {
    fn name(&self) -> String {
        "best-of-three".into()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        let best = |labels: &[f32]| labels.iter().fold(0.0, |best: f64, &label| best.max(label.into()));
        let ideal = best(ranked);
        if ideal == 0.0 { 0.0 } else { best(&ranked[..ranked.len().min(3)]) / ideal }
    }
}

fn main() -> burnrank::Result<()> {
    let generator = Synthetic { queries: 200, documents: 20, ..Synthetic::net() }.generator()?;
    let (train, test) = (generator.part(0..150)?.0, generator.part(150..200)?.0);
    let device = device::open("auto")?;
    let objective = Objective::lambdarank(Arc::new(BestOfThree));
    println!("training with {}", objective.name());

    let config = TrainConfig { objective, epochs: 20, learning_rate: 0.01, ..TrainConfig::default() };
    let trainer = Trainer::new(config, &train, &train, &device)?;
    let scores = trainer.train()?.score(&test)?;
    let values = evaluate(&BestOfThree, &scores, test.labels(), test.offsets(), &Conventions::default())?;
    println!("best of three on {} test queries: {:.4}", test.n_queries(), Summary::of(&values).mean);
    Ok(())
}
