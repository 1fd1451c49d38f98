//! One training run that survives interruption, and the judging of its ranker.

use super::{Lab, Ticker};
use burnrank::{Conventions, Dataset, EpochRecord, Ranker, TrainConfig, Trained, Trainer, judge, parse, score};
use std::time::{Duration, Instant};

/// How much work may be lost.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(20);

/// Trains until the settings or `enough` say so; a checkpoint named `key` holds what was done meanwhile.
///
/// `share` is the part of the run's work that this training is, from and to.
pub fn train(
    lab: &Lab<'_>,
    key: &str,
    config: &TrainConfig,
    (train, valid): (&Dataset, &Dataset),
    (ticker, share): (&Ticker<'_>, (f64, f64)),
    enough: impl Fn(&EpochRecord) -> bool,
) -> anyhow::Result<Trained> {
    let path = lab.folder.join("checkpoints").join(key.replace(['/', ' '], "_") + ".checkpoint");
    let new = || Trainer::new(config.clone(), train, valid, &lab.session.device);
    // A checkpoint of other settings or a damaged one is as good as none.
    let mut trainer = match path.is_file().then(|| new()?.resume(&path)) {
        Some(Ok(trainer)) => trainer,
        _ => new()?,
    };
    let mut saved = Instant::now();
    while trainer.finished().is_none() && !trainer.history().last().is_some_and(&enough) {
        let record = trainer.epoch()?;
        ticker.tick(share.0 + (share.1 - share.0) * record.epoch as f64 / config.epochs as f64);
        if saved.elapsed() > BETWEEN_CHECKPOINTS {
            trainer.save_checkpoint(&path)?;
            saved = Instant::now();
        }
    }
    let _ = std::fs::remove_file(&path);
    ticker.tick(share.1);
    Ok(trainer.finish()?)
}

/// The value of a measure for each query, under the default conventions.
pub fn per_query(lab: &Lab<'_>, ranker: &Ranker, data: &Dataset, measure: &str) -> anyhow::Result<Vec<f64>> {
    let scores = score(ranker, data, &lab.session.device)?;
    let values = judge(&*parse(measure)?, &scores, data.labels(), data.offsets(), &Conventions::default())?;
    Ok(values.into_iter().flatten().collect())
}
