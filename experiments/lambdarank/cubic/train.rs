//! Training of one cell: a short search, the best learning rates at full length, or shuffled labels.

use super::cells::{Cell, CellResult, Labels};
use super::{DEPTHS, Sizes};
use crate::harness::shuffled::with_shuffled_labels;
use crate::harness::units::mean;
use crate::harness::{Execution, Job, Packed, Ticker, export, per_query};
use crate::lambdarank::schedule::{self, Trained, config, learning_rates};
use burnrank::data::synthetic::LabelMix;
use burnrank::train::TrainingData;
use burnrank::{Dataset, Synthetic, TrainConfig};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use std::sync::Arc;

/// Training, validation and test queries of one function.
pub type Parts = [Dataset; 3];

pub fn generate(execution: &Execution<'_>, sizes: &Sizes, function: u64, labels: Labels) -> anyhow::Result<Parts> {
    let [train, valid, test] = sizes.queries;
    let settings = Synthetic {
        seed: execution.session.seed.wrapping_mul(1_000).wrapping_add(function),
        queries: train + valid + test,
        mix: labels.mix().parse::<LabelMix>()?,
        ..Synthetic::lambdarank()
    };
    let generator = settings.generator()?;
    let part = |queries: Range<usize>| -> anyhow::Result<Dataset> { Ok(generator.part(queries)?.0) };
    Ok([part(0..train)?, part(train..train + valid)?, part(train + valid..train + valid + test)?])
}

/// Seed of the weights and of the order of queries.
fn seed_of(execution: &Execution<'_>, cell: &Cell) -> u64 {
    execution.session.seed.wrapping_mul(100_000).wrapping_add(cell.function * 100)
}

/// Runs a short search, trains with the best learning rates at full length, and evaluates the best of these on the test queries.
pub fn train_tuned(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Cell>,
    [training, valid, test]: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<CellResult> {
    let config = config(job.what.method, job.what.net, sizes.epochs(job.what.net), seed_of(execution, &job.what))?;
    let data = Arc::new(TrainingData::new(config.scaling, training, valid)?);
    let search = TrainConfig { epochs: sizes.search_epochs, ..config.clone() };
    let trials = schedule::search(
        execution,
        &job.key,
        &search,
        &data,
        (&learning_rates(job.what.method), sizes.extensions),
        ticker,
    )?;
    let mut sorted = trials.clone();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rates: Vec<f64> = sorted.iter().take(sizes.candidates).map(|trial| trial.0).collect();
    let share = (trials.len() * sizes.search_epochs) as f64;
    let share = share / (share + (rates.len() * sizes.epochs(job.what.net)) as f64);
    ticker.tick(share);
    let mut full = vec![];
    let mut best: Option<(f64, Trained)> = None;
    for (number, &learning_rate) in rates.iter().enumerate() {
        let place = |n: usize| share + (1.0 - share) * n as f64 / rates.len() as f64;
        let config = TrainConfig { learning_rate, ..config.clone() };
        let key = format!("{} full {learning_rate}", job.key);
        let run = schedule::run(execution, &key, &config, &data, (ticker, (place(number), place(number + 1))))?;
        full.push((learning_rate, run.valid));
        if best.as_ref().is_none_or(|(_, best)| run.valid > best.valid) {
            best = Some((learning_rate, run));
        }
    }
    let Some((learning_rate, Trained { model, epochs, restarts, best_epoch, valid: best_valid })) = best else {
        anyhow::bail!("no learning rate to train with")
    };
    let (test_means, per_query) = test_values(&model, test)?;
    if job.key == "lambdarank twolayer function 0" {
        let source = format!(
            "random cubic polynomial 0 of seed {}, label shares {}",
            execution.session.seed,
            Labels::Paper.mix()
        );
        let sets = [("train", source.as_str(), training), ("valid", &source, valid), ("test", &source, test)];
        let values = [("ndcg@1".to_owned(), test_means[0]), ("ndcg@10".to_owned(), test_means[9])];
        export(execution, "lambdarank-cubic", &model, &sets, values)?;
    }
    Ok(CellResult {
        learning_rate,
        trials,
        full,
        best_epoch,
        epochs,
        restarts,
        valid: best_valid,
        test: test_means,
        per_query: Some(per_query),
    })
}

/// Mean NDCG of the test queries at all depths, and NDCG@10 of each query.
fn test_values(model: &burnrank::Model, test: &Dataset) -> anyhow::Result<(Vec<f64>, Packed)> {
    let mut all = vec![];
    let mut last = vec![];
    for depth in DEPTHS {
        last = per_query(model, test, &format!("ndcg@{depth}"))?;
        all.push(mean(&last));
    }
    Ok((all, Packed::new(last)))
}

/// Control: training on shuffled labels.
pub fn train_shuffled(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Cell>,
    [training, valid, test]: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<CellResult> {
    let seed = seed_of(execution, &job.what);
    let config = config(job.what.method, job.what.net, sizes.epochs(job.what.net), seed)?;
    let config = TrainConfig { epochs: sizes.control_epochs, ..config };
    let shuffle = |data: &Dataset| with_shuffled_labels(data, &mut ChaCha8Rng::seed_from_u64(seed));
    let data = TrainingData::new(config.scaling, shuffle(training)?, shuffle(valid)?)?;
    let place = (ticker, (0.0, 1.0));
    let model = crate::harness::train(execution, &job.key, &config, &Arc::new(data), place, |_| false)?;
    Ok(CellResult {
        learning_rate: config.learning_rate,
        trials: vec![],
        full: vec![],
        best_epoch: model.info.best_epoch,
        epochs: config.epochs,
        restarts: 0,
        valid: model.best_value().unwrap_or(0.0),
        test: test_values(&model, test)?.0,
        per_query: None,
    })
}
