//! Trains with a custom lambda function, which need not be the gradient of any cost.
//!
//! Run with `cargo run --release --example custom_lambda`.

use burnrank::analysis::lambda_field::FieldReport;
use burnrank::{LambdaField, Objective, Synthetic, TrainConfig, Trainer, device};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Pushes adjacent documents apart if they are in the wrong order, more strongly near the top of the ranking.
#[derive(Debug)]
struct Bubble;

impl LambdaField for Bubble {
    fn name(&self) -> String {
        "bubble".into()
    }

    fn lambdas(&self, _scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64> {
        let mut lambdas = vec![0.0; labels.len()];
        for (position, pair) in order.windows(2).enumerate() {
            let lambda = f64::from(labels[pair[1]] - labels[pair[0]]).max(0.0) / (position + 1) as f64;
            lambdas[pair[0]] -= lambda;
            lambdas[pair[1]] += lambda;
        }
        lambdas
    }
}

fn main() -> Result<(), burnrank::Error> {
    let report = FieldReport::new(&Bubble, &[0.3, 0.2, 0.1], &[0.0, 1.0, 2.0])?;
    println!("lambdas {:?}, balanced: {}, {:?}", report.lambdas, report.balanced(), report.potential);
    let data = Synthetic { queries: 90, ..Synthetic::net() }.generator()?.dataset()?;
    let config = TrainConfig { objective: Objective::field(Arc::new(Bubble)), epochs: 15, ..TrainConfig::default() };
    let mut trainer = Trainer::new(config, &data, &data, &device::open("auto")?)?;
    trainer.run(|_, epoch| {
        println!(
            "epoch {:2}: nDCG@10 {:.4}, {} documents with a nonzero lambda",
            epoch.epoch, epoch.valid, epoch.effective_pairs
        );
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(())
}
