//! Speed: reading, epochs by objective and path, scoring and evaluation beside the machine's limits and other tools, and how
//! time grows with the length of lists (LambdaRank, Figure 1).

mod bars;
mod epoch;
mod kernel;
mod machine;
pub mod memory;
mod peers;
mod report;
mod row;
mod scaling;
mod shape;
mod timing;
mod v1;

use crate::plumbing::{Experiment, Kind, Lab, Report, Scale, Session};
use burnrank::{Activation, Conventions, Dataset, Device, GradientPath, Init, RankerConfig, judge, parse, read, score};
use machine::Limits;
use row::Row;
use serde_json::{Value, json};
use shape::{FEATURES, HIDDEN};
use std::path::Path;
use std::time::Instant;
use timing::{Patience, Timing, with_peak};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "speed",
    kind: Kind::Speed,
    paper: "Burges et al., Learning to Rank with Nonsmooth Cost Functions, 2006: Figure 1; and the limits of this machine",
    claim: "Propagating documents once instead of every pair (V2 against V1) makes the time of a query nearly linear in its \
            documents: slope 1.185 instead of 1.943. Here: an epoch costs little more than reading the features twice.",
    time: "about 5 minutes on a machine that does nothing else, more with --peers",
    protocol,
    run,
};

const OBJECTIVES: [&str; 6] =
    ["lambdarank:ndcg", "ranknet", "lambdarank:ndcg@10", "lambdarank:map", "lambdarank:mrr", "ndcg-loss2++"];
/// The objective that bounds, peers and threads are about.
const MAIN: &str = OBJECTIVES[0];
/// The paths of an epoch, and the queries a batch that are tried on each.
const LAMBDA_BATCHES: [usize; 5] = [1, 16, 64, 256, 1024];
const TENSOR_BATCHES: [usize; 3] = [1, 4, 16];

/// How much of everything.
#[derive(Clone)]
struct Sizes {
    queries: usize,
    patience: Patience,
    machine: machine::Sizes,
    /// V1 takes one query in so many.
    v1_share: usize,
    short_lists: usize,
    /// Lengths of lists, and the longest of RankNet, lambdarank:ndcg and lambdarank:ndcg@10.
    lengths: Vec<usize>,
    longest: [usize; 3],
    memory: usize,
    scaling: scaling::Sizes,
}

fn sizes(scale: Scale) -> Sizes {
    let doubled = |first: usize, points: u32| (0..points).map(|point| first << point).collect();
    match scale {
        Scale::Paper => Sizes {
            queries: 1_000,
            patience: Patience { repeats: 15, seconds: 3.0 },
            machine: machine::Sizes { copy: 256 << 20, matrix: 1536 },
            v1_share: 20,
            short_lists: 500,
            lengths: doubled(4_000, 8),
            longest: [1_000_000, 200_000, 1_000_000],
            memory: 400_000_000,
            scaling: scaling::Sizes {
                documents: 512_000,
                first: 1_000,
                bearable: 20.0,
                sample: 4.0,
                patience: Patience { repeats: 5, seconds: 2.0 },
            },
        },
        Scale::Quick => Sizes {
            queries: 40,
            patience: Patience { repeats: 2, seconds: 0.05 },
            machine: machine::Sizes { copy: 16 << 20, matrix: 256 },
            v1_share: 20,
            short_lists: 50,
            lengths: doubled(1_000, 3),
            longest: [16_000, 8_000, 16_000],
            memory: 40_000_000,
            scaling: scaling::Sizes {
                documents: 4_000,
                first: 500,
                bearable: 0.5,
                sample: 0.1,
                patience: Patience { repeats: 2, seconds: 0.05 },
            },
        },
    }
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "machine": machine::describe(),
        "queries": sizes.queries,
        "features": FEATURES,
        "hidden": HIDDEN,
        "objectives": OBJECTIVES,
        "config": epoch::config(MAIN, GradientPath::Lambda, 1, session.seed)?,
        "lambda_batches": LAMBDA_BATCHES,
        "tensor_batches": TENSOR_BATCHES,
        "lengths": sizes.lengths,
        "longest": sizes.longest,
        "memory_bytes": sizes.memory,
        "scaling_documents": sizes.scaling.documents,
    }))
}

/// Everything that was measured.
struct Measured {
    data: Facts,
    /// By all threads, and by one.
    limits: [Limits; 2],
    rows: Vec<Row>,
    /// The largest error of the kernel.
    error: f64,
    /// Seconds of an epoch by the number of threads.
    threads: Vec<(usize, Timing)>,
    memory: memory::Found,
    long: Vec<kernel::Long>,
    scaling: Vec<scaling::Line>,
    peers: Result<Vec<peers::Peer>, String>,
}

/// What the data is, as far as the report says it.
struct Facts {
    queries: usize,
    documents: usize,
    longest: usize,
    pairs: u64,
    text_bytes: u64,
}

fn run(lab: &Lab<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(lab.scale());
    let (seed, device) = (lab.session.seed, &lab.session.device);
    let bench = Bench { lab, sizes: &sizes, device };
    let folder = tempfile::tempdir()?;
    let data = shape::dataset(&shape::lengths(sizes.queries, seed), FEATURES, seed)?;
    shape::write(&data, folder.path())?;
    eprintln!("the roofline");
    let limits = [bench.limits()?, one_thread()?.install(|| bench.limits())?];
    lab.keep("roofline", &limits, 0.0)?;
    let mut rows = vec![];
    let text_bytes = bench.reading(&mut rows, &folder.path().join("data.svm"), &limits[0])?;
    bench.lambda_epochs(&mut rows, &data, &limits[0])?;
    bench.scoring(&mut rows, &data, &limits[0])?;
    let (row, error) = kernel::short(sizes.short_lists, seed, sizes.patience)?;
    bench.keep(&mut rows, row)?;
    bench.tensor_epochs(&mut rows, &data, &limits[0])?;
    bench.every_pair(&mut rows, &data, &limits[0])?;
    let batch = report::best(&rows).and_then(|row| row.batch).unwrap_or(64);
    let threads = bench.threads(&data, batch)?;
    let memory = memory::run(&memory::Task { feature_bytes: sizes.memory, batch, seed }, lab.session.backend)?;
    lab.keep("memory", &memory, memory.seconds)?;
    let long = bench.long_lists()?;
    let scaling = scaling::measure(sizes.scaling, seed, device)?;
    lab.keep("scaling", &scaling, 0.0)?;
    let peers = bench.peers(folder.path())?;
    let facts = Facts {
        queries: data.n_queries(),
        documents: data.n_documents(),
        longest: data.queries().map(|query| query.labels.len()).max().unwrap_or(0),
        pairs: shape::pairs(&data),
        text_bytes,
    };
    report::report(lab, &sizes, &Measured { data: facts, limits, rows, error, threads, memory, long, scaling, peers })
}

fn one_thread() -> anyhow::Result<rayon::ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(1).build()?)
}

/// Where rows are measured and kept.
struct Bench<'a> {
    lab: &'a Lab<'a>,
    sizes: &'a Sizes,
    device: &'a Device,
}

impl Bench<'_> {
    fn limits(&self) -> anyhow::Result<Limits> {
        Limits::measure(self.sizes.machine, self.device, self.sizes.patience)
    }

    /// Stores a row at once, and says what came out.
    fn keep(&self, rows: &mut Vec<Row>, row: Row) -> anyhow::Result<()> {
        eprintln!("{}: {} s", row.key(), row::number(row.timing.seconds));
        self.lab.keep(&row.key(), &row.json(), row.timing.seconds)?;
        rows.push(row);
        Ok(())
    }

    fn reading(&self, rows: &mut Vec<Row>, path: &Path, limits: &Limits) -> anyhow::Result<u64> {
        let (mut bytes, mut documents, mut made) = (0, 0, 0);
        let (timing, peak) = with_peak(|| {
            self.sizes.patience.time(|| {
                let report = read(path, &Default::default())?;
                (bytes, documents, made) = (report.bytes, report.data.n_documents(), report.data.features().len() * 4);
                Ok(report)
            })
        })?;
        // The text once, and the features once.
        let roofline = Some(limits.moving(bytes as f64 + made as f64));
        self.keep(rows, Row { peak, roofline, ..Row::plain("read", timing, documents) })?;
        Ok(bytes)
    }

    fn lambda_epochs(&self, rows: &mut Vec<Row>, data: &Dataset, limits: &Limits) -> anyhow::Result<()> {
        let batches = up_to(&LAMBDA_BATCHES, data.n_queries());
        for objective in OBJECTIVES {
            self.epochs(rows, data, limits, (objective, GradientPath::Lambda, "lambda"), &batches)?;
        }
        Ok(())
    }

    fn tensor_epochs(&self, rows: &mut Vec<Row>, data: &Dataset, limits: &Limits) -> anyhow::Result<()> {
        let batches = up_to(&TENSOR_BATCHES, data.n_queries());
        for objective in OBJECTIVES {
            self.epochs(rows, data, limits, (objective, GradientPath::Tensor, "tensor"), &batches)?;
        }
        Ok(())
    }

    /// One objective with every batch size; the fastest is shown, and on the lambda path also that of one query.
    fn epochs(
        &self,
        rows: &mut Vec<Row>,
        data: &Dataset,
        limits: &Limits,
        (objective, gradient, path): (&str, GradientPath, &'static str),
        batches: &[usize],
    ) -> anyhow::Result<()> {
        let mut tried = vec![];
        for &batch in batches {
            let config = epoch::config(objective, gradient, batch, self.lab.session.seed)?;
            let found = epoch::measure(config, data, self.device, self.sizes.patience)?;
            tried.push(Row {
                objective: Some(objective.into()),
                path: Some(path),
                batch: Some(batch),
                pairs: Some(found.pairs),
                peak: found.peak,
                roofline: Some(limits.passes(data.n_documents(), FEATURES, 2.0)),
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

    fn scoring(&self, rows: &mut Vec<Row>, data: &Dataset, limits: &Limits) -> anyhow::Result<()> {
        let shape = RankerConfig::mlp(FEATURES, HIDDEN, Activation::Sigmoid);
        let ranker = shape.init(Init::Burn, self.lab.session.seed, self.device)?;
        let patience = self.sizes.patience;
        let mut scores = vec![];
        let (timing, peak) = with_peak(|| {
            patience.time(|| {
                scores = score(&ranker, data, self.device)?;
                Ok(())
            })
        })?;
        let roofline = Some(limits.passes(data.n_documents(), FEATURES, 1.0));
        self.keep(rows, Row { peak, roofline, ..Row::plain("score", timing, data.n_documents()) })?;
        // The second is what a trainer judges in each epoch here.
        for measure in ["ndcg@10", epoch::METRIC] {
            let (metric, conventions) = (parse(measure)?, Conventions::default());
            let judge = || Ok(judge(&*metric, &scores, data.labels(), data.offsets(), &conventions)?);
            let (timing, peak) = with_peak(|| patience.time(judge))?;
            let row = Row { peak, ..Row::plain("evaluate", timing, data.n_documents()) };
            self.keep(rows, Row { objective: Some(measure.into()), ..row })?;
        }
        Ok(())
    }

    /// V1 on some of the queries, of all lengths alike; its time grows with the pairs, so by them it is scaled up.
    fn every_pair(&self, rows: &mut Vec<Row>, data: &Dataset, limits: &Limits) -> anyhow::Result<()> {
        let mut by_length: Vec<usize> = (0..data.n_queries()).collect();
        by_length.sort_by_key(|&query| data.query(query).labels.len());
        let chosen: Vec<usize> =
            by_length.into_iter().skip(self.sizes.v1_share / 2).step_by(self.sizes.v1_share).collect();
        let mut net = v1::EveryPair::new(FEATURES, self.lab.session.seed, self.device)?;
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
            roofline: Some(limits.passes(data.n_documents(), FEATURES, 2.0)),
            ..Row::plain("epoch", timing, data.n_documents())
        };
        self.keep(rows, row)
    }

    /// The epoch by one thread, by two, and by all.
    fn threads(&self, data: &Dataset, batch: usize) -> anyhow::Result<Vec<(usize, Timing)>> {
        let all = rayon::current_num_threads();
        let mut numbers = vec![1, 2, all];
        numbers.retain(|&number| number <= all);
        numbers.dedup();
        let mut found = vec![];
        for number in numbers {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(number).build()?;
            let config = epoch::config(MAIN, GradientPath::Lambda, batch, self.lab.session.seed)?;
            let epoch = pool.install(|| epoch::measure(config, data, self.device, self.sizes.patience))?;
            eprintln!("epoch {MAIN} batch {batch}, {number} threads: {} s", row::number(epoch.timing.seconds));
            found.push((number, epoch.timing));
        }
        self.lab.keep("threads", &found, 0.0)?;
        Ok(found)
    }

    fn long_lists(&self) -> anyhow::Result<Vec<kernel::Long>> {
        let Sizes { lengths, longest, patience, .. } = self.sizes;
        let mut all = vec![];
        for (objective, longest) in ["ranknet", "lambdarank:ndcg", "lambdarank:ndcg@10"].into_iter().zip(*longest) {
            let start = Instant::now();
            let long = kernel::long(objective, lengths, longest, self.lab.session.seed, *patience)?;
            eprintln!("{objective}, {longest} documents in one list: {} s", row::number(long.timing.seconds));
            self.lab.keep(&format!("long {objective}"), &long, start.elapsed().as_secs_f64())?;
            all.push(long);
        }
        Ok(all)
    }

    /// Other tools, when asked for; a reason when they could not run at all.
    fn peers(&self, folder: &Path) -> anyhow::Result<Result<Vec<peers::Peer>, String>> {
        let Some(venv) = &self.lab.session.peers else { return Ok(Ok(vec![])) };
        let start = Instant::now();
        let quick = self.lab.scale() == Scale::Quick;
        let all = peers::run(venv, folder, quick).map_err(|error| format!("{error:#}"));
        match &all {
            Ok(all) => self.lab.keep("peers", all, start.elapsed().as_secs_f64())?,
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
