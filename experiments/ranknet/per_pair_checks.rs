//! Controls that the plain loops agree with the trainer, and times of both.

use super::artificial::{Counted, DOCUMENTS, Data, Units, VALID, function_seed, generator, lists, training_seed};
use super::pair_net::Update;
use super::per_pair::{NETS, Sizes, initial_net, settings};
use crate::harness::{Control, Execution, NetShape};
use burnrank::internal::text::Table;
use burnrank::{Dataset, Schedule, TrainConfig, Trainer};
use std::time::Instant;

/// Tolerance for the relative difference between the costs of the plain loops and the trainer, which round differently.
const ROUNDING: f64 = 1e-3;

/// Control: the plain loops agree with the trainer on a single list, where the order of updates is fixed.
pub fn same_as_trainer(execution: &Execution<'_>, shape: NetShape, documents: usize) -> anyhow::Result<Control> {
    let (session, epochs) = (execution.session, 30);
    let generator = generator(Data::Net, Units::Tanh, function_seed(session.seed, 0))?;
    let list = generator.query(0);
    // A pair consists of the first document and the first one with another label.
    let other = (0..list.labels.len()).find(|&i| list.labels[i] != list.labels[0]).unwrap_or(0);
    let chosen: Vec<usize> = if documents == 2 { vec![0, other] } else { (0..documents).collect() };
    let features: Vec<f32> = chosen.iter().flat_map(|&i| list.features[50 * i..50 * (i + 1)].to_vec()).collect();
    let labels: Vec<f32> = chosen.iter().map(|&i| list.labels[i]).collect();
    let data = Dataset::new(50, features, labels, vec![("1".into(), documents)])?;
    // A higher learning rate for the single pair, so that costs change visibly.
    let learning_rate = if documents == 2 { 0.1 } else { 0.001 };
    let paper = settings(shape, &Sizes { vectors: &[], functions: 1, epochs }, training_seed(session.seed, 0, 0))?;
    let config = TrainConfig { learning_rate, schedule: Schedule::Constant, metric: "pair-error".into(), ..paper };
    let mut net = initial_net(&config, 50);
    let mut trainer = Trainer::new(config.clone(), &data, &data, &session.device)?;
    let mut largest: f64 = 0.0;
    let update = if documents == 2 { Update::Pair } else { Update::List };
    for epoch in 1..=epochs {
        let theirs = trainer.epoch()?.loss;
        let ours = net.epoch(&data, update, learning_rate, 0, epoch as u64).cost;
        largest = largest.max((theirs - ours).abs() / theirs.abs().max(1e-9));
    }
    Ok(Control {
        description: format!(
            "{} net, one list of {documents} documents, {epochs} updates: the plain loops and the trainer have \
             equal costs",
            shape.name()
        ),
        expected: format!("relative difference below {ROUNDING}"),
        ours: format!("{largest:.1e}"),
        holds: largest < ROUNDING,
    })
}

/// Time per epoch of both kinds of updates, the fastest of three.
pub fn time_table(execution: &Execution<'_>, sizes: &Sizes) -> anyhow::Result<Table> {
    let session = execution.session;
    let title =
        "Time per epoch on one core in milliseconds, without validation, measured when this report was written:";
    let columns = [
        "net",
        "vectors",
        "per list, trainer",
        "per list, plain loops",
        "per pair, plain loops",
        "pair / list, plain loops",
    ];
    let mut table = Table::titled(title, &columns);
    let generator = generator(Data::Net, Units::Tanh, function_seed(session.seed, 0))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (&vectors, net) in sizes.vectors.iter().flat_map(|vectors| NETS.map(|net| (vectors, net))) {
        let training = lists(&generator, 0..vectors / DOCUMENTS, Counted::Labels)?;
        let one = lists(&generator, VALID.start..VALID.start + 1, Counted::Labels)?;
        let config = settings(net, sizes, training_seed(session.seed, 0, 0))?;
        let plain = |update: Update| {
            let mut net = initial_net(&config, training.n_features());
            let once = |number: u64| {
                let start = Instant::now();
                net.epoch(&training, update, config.learning_rate, config.seed, number);
                1e3 * start.elapsed().as_secs_f64()
            };
            (1..=3).map(once).fold(f64::INFINITY, f64::min)
        };
        let trainer = pool.install(|| -> anyhow::Result<f64> {
            let mut trainer = Trainer::new(config.clone(), &training, &one, &session.device)?;
            let mut once = || Ok(1e3 * trainer.epoch()?.seconds);
            let times: anyhow::Result<Vec<f64>> = (0..3.min(config.epochs)).map(|_| once()).collect();
            Ok(times?.into_iter().fold(f64::INFINITY, f64::min))
        })?;
        let (list, pair) = (plain(Update::List), plain(Update::Pair));
        let digits = burnrank::internal::text::three_digits;
        let cells = [digits(trainer), digits(list), digits(pair), format!("{:.1}", pair / list)];
        table.row([net.name().to_owned(), vectors.to_string()].into_iter().chain(cells));
    }
    Ok(table)
}
