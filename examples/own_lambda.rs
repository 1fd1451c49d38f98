//! Train with a lambda function of one's own: forces on documents that need not come from any cost.

use burnrank::analysis::lambda_field::FieldReport;
use burnrank::{LambdaField, Objective, Synthetic, TrainConfig, Trainer, device};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Neighbours of the ranking that stand in the wrong order push each other apart, harder near the top.
#[derive(Debug)]
struct Bubble;

impl LambdaField for Bubble {
    fn name(&self) -> String {
        "bubble".into()
    }

    fn lambdas(&self, _scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64> {
        let mut lambdas = vec![0.0; labels.len()];
        for (place, pair) in order.windows(2).enumerate() {
            let force = f64::from(labels[pair[1]] - labels[pair[0]]).max(0.0) / (place + 1) as f64;
            lambdas[pair[0]] -= force;
            lambdas[pair[1]] += force;
        }
        lambdas
    }
}

fn main() -> Result<(), burnrank::Error> {
    let report = FieldReport::new(&Bubble, &[0.3, 0.2, 0.1], &[0.0, 1.0, 2.0])?;
    println!("forces {:?}, balanced: {}, {:?}", report.lambdas, report.balanced(), report.potential);
    let data = Synthetic { queries: 90, ..Synthetic::net() }.generator()?.dataset()?;
    let config = TrainConfig { objective: Objective::field(Arc::new(Bubble)), epochs: 15, ..TrainConfig::default() };
    let mut trainer = Trainer::new(config, &data, &data, &device::open("auto")?)?;
    trainer.run(|_, epoch| {
        println!("epoch {:2}: nDCG@10 {:.4}, {} documents pushed", epoch.epoch, epoch.valid, epoch.effective_pairs);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(())
}
