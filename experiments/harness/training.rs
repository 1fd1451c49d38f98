//! One training run that survives interruption, and the judging of its model.

use super::{Execution, Ticker};
use burnrank::metric::parse;
use burnrank::model::DataInfo;
use burnrank::train::TrainingData;
use burnrank::{Conventions, Dataset, EpochRecord, Model, TrainConfig, Trainer, evaluate};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much work may be lost.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(20);

/// Trains until the settings or `enough` say so; a checkpoint named `key` holds what was done meanwhile.
///
/// `share` is the part of the run's work that this training is, from and to.
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

/// As [`train`], where `enough` sees all epochs so far.
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
    // A checkpoint of other settings or a damaged one is as good as none.
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

/// A number that a run needs on its way, computed once even if the run is interrupted later.
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
    /// Where an unfinished run keeps what it has.
    fn checkpoint(&self, key: &str, kind: &str) -> PathBuf {
        self.folder.join(super::CHECKPOINTS).join(format!("{}.{kind}", key.replace(['/', ' '], "_")))
    }
}

/// The value of a measure for each query, under the default conventions.
pub fn per_query(model: &Model, data: &Dataset, measure: &str) -> anyhow::Result<Vec<f64>> {
    let scores = model.score(data)?;
    let values = evaluate(&*parse(measure)?, &scores, data.labels(), data.offsets(), &Conventions::default())?;
    Ok(values.into_iter().flatten().collect())
}

/// Writes a model of interest to models/, with its card: the data it is from by split, and what it reaches on the test set.
pub fn export(
    execution: &Execution<'_>,
    name: &str,
    model: &Model,
    sets: &[(&str, &str, &Dataset)],
    test: impl IntoIterator<Item = (String, f64)>,
) -> anyhow::Result<()> {
    // Without the log, which holds times: the same seed gives the same bytes.
    let mut model = Model { history: vec![], ..model.clone() };
    for (split, source, data) in sets {
        model.info.data.insert(split.to_string(), DataInfo::of(*source, data));
    }
    model.info.metrics.insert("test".into(), test.into_iter().collect());
    Ok(model.save(&execution.session.out.join("models").join(name))?)
}
