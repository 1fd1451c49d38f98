//! Trains with a custom pair weight, on both gradient paths.
//!
//! Run with `cargo run --release --example custom_weight`.

use burnrank::{GradientPath, Objective, PairWeight, Synthetic, TrainConfig, Trainer, device};
use std::sync::Arc;

/// Weights a pair by the difference of its labels, divided by the rank of its higher-ranked document.
#[derive(Debug)]
struct TopHeavy;

impl PairWeight for TopHeavy {
    /// `ranked` holds the labels in descending order of the scores; `i` and `j` are positions in it, starting at 0.
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        f64::from(ranked[i] - ranked[j]) / (1 + i.min(j)) as f64
    }
}

fn main() -> burnrank::Result<()> {
    let generator = Synthetic { queries: 200, documents: 20, ..Synthetic::net() }.generator()?;
    let (train, valid) = (generator.part(0..150)?.0, generator.part(150..200)?.0);
    let device = device::open("auto")?;
    for gradient in [GradientPath::Lambda, GradientPath::Tensor] {
        let objective = Objective::custom("top-heavy", Arc::new(TopHeavy));
        let config = TrainConfig { objective, gradient, epochs: 10, learning_rate: 0.01, ..TrainConfig::default() };
        let trainer = Trainer::new(config, &train, &valid, &device)?;
        println!(
            "{gradient} path: nDCG@10 {:.4} on the validation queries",
            trainer.train()?.best_value().unwrap_or_default()
        );
    }
    Ok(())
}
