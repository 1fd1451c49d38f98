//! Measures the latency of reranking 1,000 candidates: median and 99th percentile per call.
//!
//! Run with `cargo run --release --example rerank`, or pass your own model folder after `--`.

use burnrank::model::Scratch;
use burnrank::{Model, Synthetic, TrainConfig, Trainer, device};
use std::path::PathBuf;
use std::time::Instant;

const CANDIDATES: usize = 1000;
const CALLS: usize = 2000;

fn main() -> burnrank::Result<()> {
    let device = device::open("auto")?;
    let model = match std::env::args_os().nth(1) {
        Some(folder) => Model::load(&PathBuf::from(folder), &device)?,
        None => {
            let data = Synthetic { queries: 50, documents: 20, features: 136, ..Synthetic::net() };
            let data = data.generator()?.dataset()?;
            let config = TrainConfig { epochs: 3, ..TrainConfig::default() };
            let trainer = Trainer::new(config, &data, &data, &device)?;
            trainer.train()?
        }
    };
    // A copy of the model for scoring only, without Burn. Threads can share it; each needs its own scratch memory.
    let (serving, mut scratch) = (model.serving()?, Scratch::default());
    let features = serving.n_features();
    println!("{}, {features} features, {CANDIDATES} candidates", model.info.ranker.architecture);

    let mut seconds = Vec::with_capacity(CALLS);
    let mut best = 0;
    for call in 0..CALLS {
        let value = |i: usize| (i.wrapping_mul(2_654_435_761) >> 8) % 1000;
        let candidates: Vec<f32> = (0..CANDIDATES * features).map(|i| value(i + call) as f32 / 1000.0).collect();
        let start = Instant::now();
        let ranked = serving.rank(&candidates, &mut scratch)?;
        seconds.push(start.elapsed().as_secs_f64());
        best = ranked.order[0];
    }
    seconds.sort_by(f64::total_cmp);
    let at = |share: f64| 1e6 * seconds[((CALLS as f64 * share) as usize).min(CALLS - 1)];
    println!("p50 {:.0} us, p99 {:.0} us over {CALLS} calls on one thread", at(0.5), at(0.99));
    println!("best candidate of the last call: number {best}");
    Ok(())
}
