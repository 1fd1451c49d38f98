//! How long until the first batch of a cache is trained on.

use super::timing::{Patience, Timing};
use burnrank::data::cache::{CacheOptions, build};
use burnrank::{Device, Error, LambdaField, Objective, ReadOptions, ScaleKind, Stop, TrainConfig, Trainer, read};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A scaling of each kind: none, from stored statistics, from stored quantiles, and by query; with its name in the table.
const SCALINGS: [(ScaleKind, &str); 4] = [
    (ScaleKind::None, "first batch of a cache"),
    (ScaleKind::ZScore, "first batch of a cache, zscore"),
    (ScaleKind::Quantile, "first batch of a cache, quantile"),
    (ScaleKind::QueryZScore, "first batch of a cache, query-zscore"),
];

/// Notes when the first query gets its lambdas, and ends the epoch after its batch.
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

/// Writes the cache of a text, and measures the time from opening it to the lambdas of its first query.
pub fn first_batches(text: &Path, device: &Device, patience: Patience) -> anyhow::Result<Vec<(&'static str, Timing)>> {
    let cache = text.with_extension("cache");
    build(text, &cache, CacheOptions::default(), &ReadOptions::default(), |_| ())?;
    let mut found = vec![];
    for (scaling, name) in SCALINGS {
        found.push((name, patience.repeat(|| first_batch(&cache, scaling, device))?));
    }
    Ok(found)
}

fn first_batch(cache: &Path, scaling: ScaleKind, device: &Device) -> anyhow::Result<f64> {
    let start = Instant::now();
    let data = read(cache, &ReadOptions::default())?.data;
    let (stop, when) = (Stop::new(), Arc::new(OnceLock::new()));
    let objective = Objective::field(Arc::new(FirstBatch { stop: stop.clone(), when: when.clone() }));
    let config = TrainConfig { objective, scaling, ..TrainConfig::default() };
    match Trainer::new(config, data.clone(), data, device)?.with_stop(stop).epoch() {
        Ok(_) | Err(Error::Stopped) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(when.get().map_or(f64::NAN, |when| when.duration_since(start).as_secs_f64()))
}
