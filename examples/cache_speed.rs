//! How long until the first batch of a cache is trained on? Prints the seconds from the start, for several scalings.
//!
//! `cargo run --release --example cache_speed FILE.cache [VALID.cache]`; without validation data, the training data serve as such.

use burnrank::{LambdaField, Objective, ReadOptions, Result, ScaleKind, Stop, TrainConfig, Trainer, device, read};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Notes when the first query gets its lambdas, and ends the epoch behind its batch.
#[derive(Debug)]
struct FirstBatch {
    stop: Stop,
    when: Arc<OnceLock<Instant>>,
}

impl LambdaField for FirstBatch {
    fn name(&self) -> String {
        "first batch".into()
    }

    fn lambdas(&self, _scores: &[f64], labels: &[f32], _order: &[usize]) -> Vec<f64> {
        self.when.get_or_init(Instant::now);
        self.stop.ask();
        vec![0.0; labels.len()]
    }
}

fn main() -> Result<()> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let Some(train) = files.first() else {
        return Err(burnrank::Error::Config("which cache? Make one with 'burnrank convert --to cache'".into()));
    };
    let device = device::open("auto")?;
    for scaling in [ScaleKind::None, ScaleKind::ZScore, ScaleKind::Quantile, ScaleKind::QueryZScore] {
        let start = Instant::now();
        let data = read(train, &ReadOptions::default())?.data;
        let valid = files.get(1).map(|path| read(path, &ReadOptions::default())).transpose()?;
        let valid = valid.map_or_else(|| data.clone(), |report| report.data);
        let opened = start.elapsed().as_secs_f64();
        let (stop, when) = (Stop::new(), Arc::new(OnceLock::new()));
        let objective = Objective::field(Arc::new(FirstBatch { stop: stop.clone(), when: when.clone() }));
        let config = TrainConfig { objective, scaling, ..TrainConfig::default() };
        let (documents, features) = (data.n_documents(), data.n_features());
        let stopped = Trainer::new(config, data, valid, &device)?.with_stop(stop).epoch();
        let first = when.get().map_or(f64::NAN, |when| when.duration_since(start).as_secs_f64());
        let whole = start.elapsed().as_secs_f64();
        println!(
            "{scaling:<12} {documents} documents of {features} features: open after {opened:.3} s, first batch scored after \
             {first:.3} s, over after {whole:.3} s ({})",
            stopped.map_or_else(|error| error.to_string(), |_| "whole".into())
        );
    }
    Ok(())
}
