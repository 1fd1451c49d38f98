//! The rows of the table, one task after the other.

use super::machine::{Limits, Work};
use super::peers::{self, Peer};
use super::row::Row;
use super::shape::{self, FEATURES, HIDDEN};
use super::timing::{Timing, with_peak};
use super::{LAMBDA_BATCHES, LONG, MAIN, OBJECTIVES, PEERS, Sizes, TENSOR_BATCHES, epoch, kernel, v1, widths};
use crate::harness::{Execution, NetShape, Scale};
use burnrank::internal::text::three_digits;
use burnrank::metric::parse;
use burnrank::{Activation, Conventions, Dataset, Device, GradientPath, Init, RankerConfig, evaluate, read, score};
use std::path::Path;
use std::time::Instant;

fn pool(threads: usize) -> anyhow::Result<rayon::ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// What the machine can do with all threads, and with one.
pub fn limits(sizes: &Sizes, device: &Device) -> anyhow::Result<[Limits; 2]> {
    let measure = || Limits::measure(sizes.machine, device, sizes.patience);
    Ok([measure()?, pool(1)?.install(measure)?])
}

/// Where rows are measured and kept.
pub struct Bench<'a> {
    pub execution: &'a Execution<'a>,
    pub sizes: &'a Sizes,
    pub device: &'a Device,
    /// For what is stored at once; all rows are stored again with the best limits of the run.
    pub limits: Limits,
}

impl Bench<'_> {
    /// Stores a row at once, and says what came out.
    pub fn keep(&self, rows: &mut Vec<Row>, row: Row) -> anyhow::Result<()> {
        eprintln!("{}: {} s", row.key(), three_digits(row.timing.seconds));
        self.execution.keep(&row.key(), &row.json(&self.limits), row.timing.seconds)?;
        rows.push(row);
        Ok(())
    }

    pub fn reading(&self, rows: &mut Vec<Row>, path: &Path) -> anyhow::Result<u64> {
        let (mut bytes, mut documents, mut made) = (0, 0, 0);
        let (timing, peak) = with_peak(|| {
            self.sizes.patience.time(|| {
                let report = read(path, &Default::default())?;
                (bytes, documents, made) = (report.bytes, report.data.n_documents(), report.data.features().len() * 4);
                Ok(report)
            })
        })?;
        // The text once, and the features once.
        let work = Some(Work { bytes: bytes as f64 + made as f64, multiply_adds: 0.0 });
        self.keep(rows, Row { peak, work, ..Row::plain("read", timing, documents) })?;
        Ok(bytes)
    }

    pub fn lambda_epochs(&self, rows: &mut Vec<Row>, data: &Dataset) -> anyhow::Result<()> {
        let batches = up_to(&LAMBDA_BATCHES, data.n_queries());
        for objective in OBJECTIVES {
            self.epochs(rows, data, (objective, GradientPath::Lambda, "lambda"), &batches)?;
        }
        Ok(())
    }

    pub fn tensor_epochs(&self, rows: &mut Vec<Row>, data: &Dataset) -> anyhow::Result<()> {
        let batches = up_to(&TENSOR_BATCHES, data.n_queries());
        for objective in OBJECTIVES {
            self.epochs(rows, data, (objective, GradientPath::Tensor, "tensor"), &batches)?;
        }
        Ok(())
    }

    /// One objective with every batch size; the fastest is shown, and on the lambda path also that of one query.
    fn epochs(
        &self,
        rows: &mut Vec<Row>,
        data: &Dataset,
        (objective, gradient, path): (&str, GradientPath, &'static str),
        batches: &[usize],
    ) -> anyhow::Result<()> {
        let mut tried = vec![];
        for &batch in batches {
            let config = epoch::config(objective, NetShape::TwoLayer, gradient, batch, self.execution.session.seed)?;
            let found = epoch::measure(config, data, self.device, self.sizes.patience)?;
            tried.push(Row {
                objective: Some(objective.into()),
                path: Some(path),
                batch: Some(batch),
                pairs: Some(found.pairs),
                peak: found.peak,
                work: Some(Work::epoch(data.n_documents(), FEATURES, HIDDEN)),
                best: false,
                shown: batch == 1 && gradient == GradientPath::Lambda,
                ..Row::plain("epoch", found.timing, data.n_documents())
            });
        }
        if let Some(fastest) = tried.iter_mut().min_by(|a, b| a.timing.seconds.total_cmp(&b.timing.seconds)) {
            (fastest.best, fastest.shown) = (true, true);
        }
        tried.into_iter().try_for_each(|row| self.keep(rows, row))
    }

    pub fn scoring(&self, rows: &mut Vec<Row>, data: &Dataset) -> anyhow::Result<()> {
        let shape = RankerConfig::mlp(FEATURES, &[HIDDEN], Activation::Sigmoid);
        let ranker = shape.init(Init::Burn, self.execution.session.seed, self.device)?;
        let patience = self.sizes.patience;
        let mut scores = vec![];
        let (timing, peak) = with_peak(|| {
            patience.time(|| {
                scores = score(&ranker, data, self.device)?;
                Ok(())
            })
        })?;
        let work = Some(Work::scoring(data.n_documents(), FEATURES, HIDDEN));
        self.keep(rows, Row { peak, work, ..Row::plain("score", timing, data.n_documents()) })?;
        // The second is what a trainer judges in each epoch here.
        for measure in ["ndcg@10", epoch::METRIC] {
            let (metric, conventions) = (parse(measure)?, Conventions::default());
            let judge = || Ok(evaluate(&*metric, &scores, data.labels(), data.offsets(), &conventions)?);
            let (timing, peak) = with_peak(|| patience.time(judge))?;
            let row = Row { peak, ..Row::plain("evaluate", timing, data.n_documents()) };
            self.keep(rows, Row { objective: Some(measure.into()), ..row })?;
        }
        Ok(())
    }

    /// V1 on some of the queries, of all lengths alike; its time grows with the pairs, so by them it is scaled up.
    pub fn every_pair(&self, rows: &mut Vec<Row>, data: &Dataset) -> anyhow::Result<()> {
        let mut by_length: Vec<usize> = (0..data.n_queries()).collect();
        by_length.sort_by_key(|&query| data.query(query).labels.len());
        let chosen: Vec<usize> =
            by_length.into_iter().skip(self.sizes.v1_share / 2).step_by(self.sizes.v1_share).collect();
        let mut net = v1::EveryPair::new(MAIN, NetShape::TwoLayer, FEATURES, self.execution.session.seed, self.device)?;
        let mut pairs = 0;
        let (timing, peak) = with_peak(|| {
            self.sizes.patience.time(|| {
                pairs = 0;
                for &query in &chosen {
                    pairs += net.step(data.query(query))?;
                }
                Ok(())
            })
        })?;
        let all = shape::pairs(data) as f64;
        let factor = all / pairs.max(1) as f64;
        let timing = Timing { seconds: timing.seconds * factor, median: timing.median * factor, ..timing };
        let row = Row {
            objective: Some(MAIN.into()),
            path: Some("V1"),
            batch: Some(1),
            pairs: Some(all),
            peak,
            work: Some(Work::epoch(data.n_documents(), FEATURES, HIDDEN)),
            ..Row::plain("epoch", timing, data.n_documents())
        };
        self.keep(rows, row)
    }

    /// The epoch by one thread, by two, and by all.
    pub fn threads(&self, data: &Dataset, batch: usize) -> anyhow::Result<Vec<(usize, Timing)>> {
        let all = rayon::current_num_threads();
        let mut numbers = vec![1, 2, all];
        numbers.retain(|&number| number <= all);
        numbers.dedup();
        let mut found = vec![];
        for number in numbers {
            let own = pool(number)?;
            let config =
                epoch::config(MAIN, NetShape::TwoLayer, GradientPath::Lambda, batch, self.execution.session.seed)?;
            let epoch = own.install(|| epoch::measure(config, data, self.device, self.sizes.patience))?;
            eprintln!("epoch {MAIN} batch {batch}, {number} threads: {} s", three_digits(epoch.timing.seconds));
            found.push((number, epoch.timing));
        }
        self.execution.keep("threads", &found, 0.0)?;
        Ok(found)
    }

    pub fn long_lists(&self) -> anyhow::Result<Vec<kernel::Long>> {
        let Sizes { lengths, longest, patience, .. } = self.sizes;
        let mut all = vec![];
        for (objective, longest) in LONG.into_iter().zip(*longest) {
            let start = Instant::now();
            let long = kernel::long(objective, lengths, longest, self.execution.session.seed, *patience)?;
            eprintln!("{objective}, {longest} documents in one list: {} s", three_digits(long.timing.seconds));
            self.execution.keep(&format!("long {objective}"), &long, start.elapsed().as_secs_f64())?;
            all.push(long);
        }
        Ok(all)
    }

    /// Nets of several widths, and the same nets by other programs, if they are requested; a reason if those could not run.
    #[allow(clippy::type_complexity)] // what was measured
    pub fn widths(
        &self,
        folder: &Path,
        data: &Dataset,
    ) -> anyhow::Result<(Vec<widths::Cell>, Result<Vec<Peer>, String>)> {
        let (execution, patience) = (self.execution, self.sizes.patience);
        let with_peers = || {
            let mut peers = widths::peers(execution, folder)?;
            let (cells, mut all) = widths::measure(execution, data, patience, &mut peers)?;
            for peer in peers {
                all.extend(peer.finish()?);
            }
            anyhow::Ok((cells, all))
        };
        match with_peers() {
            Ok((cells, all)) => Ok((cells, Ok(all))),
            Err(error) => Ok((widths::measure(execution, data, patience, &mut [])?.0, Err(format!("{error:#}")))),
        }
    }

    /// Other tools, if they are requested, after the epochs of nets; a reason if they could not run.
    pub fn peers(&self, folder: &Path, nets: Result<Vec<Peer>, String>) -> anyhow::Result<Result<Vec<Peer>, String>> {
        let Some(venv) = self.execution.session.options.get(PEERS) else { return Ok(Ok(vec![])) };
        let start = Instant::now();
        let quick = self.execution.scale() == Scale::Quick;
        let all = nets.and_then(|mut all| {
            all.extend(peers::run(Path::new(venv), folder, quick).map_err(|error| format!("{error:#}"))?);
            peers::mark_best(&mut all);
            Ok(all)
        });
        match &all {
            Ok(all) => self.execution.keep("peers", all, start.elapsed().as_secs_f64())?,
            Err(reason) => eprintln!("peers: {reason}"),
        }
        Ok(all)
    }
}

/// Batch sizes of at most so many queries, with that many as the last.
fn up_to(batches: &[usize], queries: usize) -> Vec<usize> {
    let mut fitting: Vec<usize> = batches.iter().map(|&batch| batch.min(queries)).collect();
    fitting.dedup();
    fitting
}
