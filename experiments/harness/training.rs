//! Training runs that can be interrupted and resumed, and the evaluation of their models.

use super::{Execution, Ticker};
use burnrank::metric::parse;
use burnrank::model::DataInfo;
use burnrank::train::TrainingData;
use burnrank::{Conventions, Dataset, EpochRecord, Model, TrainConfig, Trainer, evaluate};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between checkpoints.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(20);

/// Trains until the settings or `enough` end the run; progress is kept in a checkpoint named `key`.
///
/// `share` is the range of the job's progress that this training covers.
pub fn train(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    data: &Arc<TrainingData<'_>>,
    place: (&Ticker<'_>, (f64, f64)),
    enough: impl Fn(&EpochRecord) -> bool,
) -> anyhow::Result<Model> {
    train_until(execution, key, config, data, place, |history| history.last().is_some_and(&enough))
}

/// As [`train`], with all epochs so far passed to `enough`.
pub fn train_until(
    execution: &Execution<'_>,
    key: &str,
    config: &TrainConfig,
    data: &Arc<TrainingData<'_>>,
    (ticker, share): (&Ticker<'_>, (f64, f64)),
    enough: impl Fn(&[EpochRecord]) -> bool,
) -> anyhow::Result<Model> {
    let path = execution.checkpoint(key, "checkpoint");
    let new = || Trainer::on(config.clone(), data.clone(), &execution.session.device);
    // A damaged checkpoint, or one with other settings, is ignored.
    let mut trainer = match path.is_file().then(|| new()?.resume(&path)) {
        Some(Ok(trainer)) => trainer,
        _ => new()?,
    };
    let mut saved = Instant::now();
    if !enough(trainer.history()) {
        trainer.run(|trainer, record| {
            ticker.tick(share.0 + (share.1 - share.0) * record.epoch as f64 / config.epochs as f64);
            if saved.elapsed() > BETWEEN_CHECKPOINTS {
                trainer.save_checkpoint(&path)?;
                saved = Instant::now();
            }
            Ok(if enough(trainer.history()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    let _ = std::fs::remove_file(&path);
    ticker.tick(share.1);
    Ok(trainer.finish()?)
}

/// An intermediate value of a run, computed only once even if the run is interrupted later.
pub fn once(
    execution: &Execution<'_>,
    key: &str,
    compute: impl FnOnce() -> anyhow::Result<f64>,
) -> anyhow::Result<f64> {
    let path = execution.checkpoint(key, "value");
    if let Some(value) = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
        return Ok(value);
    }
    let value = compute()?;
    super::write(&path, &serde_json::to_string(&value)?)?;
    Ok(value)
}

impl Execution<'_> {
    /// Path of the state of an unfinished run.
    fn checkpoint(&self, key: &str, kind: &str) -> PathBuf {
        self.folder.join(super::CHECKPOINTS).join(format!("{}.{kind}", key.replace(['/', ' '], "_")))
    }
}

/// Metric of each query, with the default conventions.
pub fn per_query(model: &Model, data: &Dataset, measure: &str) -> anyhow::Result<Vec<f64>> {
    let scores = model.score(data)?;
    let values = evaluate(&*parse(measure)?, &scores, data.labels(), data.offsets(), &Conventions::default())?;
    Ok(values.into_iter().flatten().collect())
}

/// Writes a model to models/ with its model card: data per split and test metrics.
pub fn export(
    execution: &Execution<'_>,
    name: &str,
    model: &Model,
    sets: &[(&str, &str, &Dataset)],
    test: impl IntoIterator<Item = (String, f64)>,
) -> anyhow::Result<()> {
    // Without the log, which contains times: the same seed gives the same bytes.
    let mut model = Model { history: vec![], ..model.clone() };
    for (split, source, data) in sets {
        model.info.data.insert(split.to_string(), DataInfo::of(*source, data));
    }
    model.info.metrics.insert("test".into(), test.into_iter().collect());
    Ok(model.save(&execution.session.out.join("models").join(name))?)
}
