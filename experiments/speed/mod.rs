//! Speed: reading, epochs by objective and path, scoring and evaluation beside the machine's limits and other tools, and how
//! time grows with the length of lists (LambdaRank, Figure 1).

mod bars;
mod bench;
mod bounds;
mod cache;
pub mod epoch;
mod graph;
mod kernel;
pub mod machine;
mod memory;
mod peers;
mod report;
mod row;
pub mod scaling;
#[cfg(feature = "serve")]
mod serve;
pub mod shape;
pub mod timing;
pub mod v1;
mod widths;

use crate::harness::{Execution, Experiment, Headline, Kind, NetShape, Own, Paper, Report, Scale, Session};
use anyhow::Context;
use bench::Bench;
use burnrank::{Device, GradientPath};
use machine::Limits;
use row::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shape::{FEATURES, HIDDEN};
use timing::{Patience, Timing};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "speed",
    kind: Kind::Benchmark,
    paper: Paper::Several,
    place: "the limits of this machine, and Figure 1 of the LambdaRank paper",
    claim: "An epoch costs little more than reading the features once, lambdas of long lists take nearly linear time, \
            training needs little more memory than its features, and other tools take longer.",
    short: "An epoch is close to this machine's limits; long lists take nearly linear time.",
    headlines: &[
        Headline::new("Time against other programs", &["rax *", "torch *", "lightgbm *"]),
        Headline::new(
            "Kernels, epochs, memory and scoring against this machine's limits",
            &["kernel", "error", "roofline", "roofline *", "threads", "threads *", "memory", "scoring"],
        ),
        Headline::new(
            "Long lists take nearly linear time",
            &["seconds *", "slope ranknet", "slope lambdarank*", "slope V2, near-linear", "slope V2, top*"],
        ),
    ],
    number: ("roofline", "epoch time over the limit of this machine"),
    time: "about 3 minutes on an otherwise idle machine, 6 with peers",
    timed: true,
    claims: bounds::claims,
    changed: &[
        "Peers were compared at the batch size at which each was fastest; tuned, Rax had to take 10 times and PyTorch 30 \
         times as long. Now every program trains the same nets with the same batch sizes, and each tuned peer has to take \
         5 times as long for nets of up to 64 units.",
        "An epoch's roofline was two passes over the features plus the multiply-adds; it is the larger of one pass and \
         the multiply-adds now.",
        "The slope of V2 was that of the near-linear kernel alone; the paper's V2 adds up every pair, which is a line \
         of its own now.",
    ],
    protocol,
    run,
    own: Some(&Own {
        options: &[
            (
                PEERS,
                "measures other tools on the same data too, by a Python environment in this folder, which is made if it is \
                 not there (6 GB)",
            ),
            #[cfg(feature = "serve")]
            (serve::MODEL, "model folder that the server is measured with, in place of a net of random weights"),
        ],
        child,
    }),
    ..Experiment::BASE
};

/// A part that runs in a process of its own.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Task {
    /// Trains, and reports its peak memory.
    Memory(memory::MemoryRequest),
    /// Serves the model of a folder.
    #[cfg(feature = "serve")]
    Serve(std::path::PathBuf),
}

fn child(task: &str, device: &Device) -> anyhow::Result<()> {
    match serde_json::from_str(task).context("--child takes JSON")? {
        Task::Memory(request) => memory::child(&request, device),
        #[cfg(feature = "serve")]
        Task::Serve(model) => serve::child(&model),
    }
}

/// The setting that asks for other tools.
const PEERS: &str = "peers";
/// What the scaling figure is about.
const SCALED: scaling::Subject =
    scaling::Subject { objective: MAIN, truncated: OBJECTIVES[2], net: NetShape::TwoLayer };
/// What is timed on very long lists.
const LONG: [&str; 3] = ["ranknet", "lambdarank:ndcg", "lambdarank:ndcg@10"];

const OBJECTIVES: [&str; 6] =
    ["lambdarank:ndcg", "ranknet", "lambdarank:ndcg@10", "lambdarank:map", "lambdarank:mrr", "ndcg-loss2++"];
/// The objective that bounds, peers and threads are about.
const MAIN: &str = OBJECTIVES[0];
/// The paths of an epoch, and the queries per batch that are tried on each.
const LAMBDA_BATCHES: [usize; 5] = [1, 16, 64, 256, 1024];
const TENSOR_BATCHES: [usize; 2] = [1, 4];

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
                direct: 12.0,
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
                direct: 0.3,
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
        "config": epoch::config(MAIN, NetShape::TwoLayer, GradientPath::Lambda, 1, session.seed)?,
        "widths": widths::WIDTHS,
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
    widths: Vec<widths::Cell>,
    graph: Vec<graph::Graph>,
    /// The largest error of the kernel.
    error: f64,
    /// Seconds of an epoch by the number of threads.
    threads: Vec<(usize, Timing)>,
    memory: memory::Found,
    long: Vec<kernel::Long>,
    scaling: Vec<scaling::Line>,
    peers: Result<Vec<peers::Peer>, String>,
    #[cfg(feature = "serve")]
    served: Vec<serve::Served>,
}

/// What the data is, as far as the report says it.
struct Facts {
    queries: usize,
    documents: usize,
    longest: usize,
    pairs: u64,
    text_bytes: u64,
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let (seed, device) = (execution.session.seed, &execution.session.device);
    let folder = tempfile::tempdir()?;
    let data = shape::dataset(&shape::lengths(sizes.queries, seed), FEATURES, seed)?;
    shape::write(&data, folder.path())?;
    #[cfg(feature = "serve")]
    let served = serve::run(execution, folder.path())?;
    eprintln!("the roofline");
    let before = bench::limits(&sizes, device)?;
    let bench = Bench { execution, sizes: &sizes, device, limits: before[0] };
    let mut rows = vec![];
    let text_bytes = bench.reading(&mut rows, &folder.path().join("data.svm"))?;
    for (task, timing) in cache::first_batches(&folder.path().join("data.svm"), device, sizes.patience)? {
        bench.keep(&mut rows, Row::plain(task, timing, data.n_documents()))?;
    }
    let (widths, nets) = bench.widths(folder.path(), &data)?;
    let graph = graph::measure(execution, &data, sizes.patience)?;
    bench.lambda_epochs(&mut rows, &data)?;
    bench.scoring(&mut rows, &data)?;
    let (row, error) = kernel::short(sizes.short_lists, seed, sizes.patience)?;
    bench.keep(&mut rows, row)?;
    // Something else may have run on this machine the first time.
    let after = bench::limits(&sizes, device)?;
    let limits = [0, 1].map(|pool| before[pool].or_better(after[pool]));
    execution.keep("roofline", &limits, 0.0)?;
    bench.tensor_epochs(&mut rows, &data)?;
    bench.every_pair(&mut rows, &data)?;
    rows.iter().try_for_each(|row| execution.keep(&row.key(), &row.json(&limits[0]), row.timing.seconds))?;
    let batch = report::best(&rows).and_then(|row| row.batch).unwrap_or(64);
    let threads = bench.threads(&data, batch)?;
    let memory =
        memory::run(memory::MemoryRequest { feature_bytes: sizes.memory, batch, seed }, execution.session.backend)?;
    execution.keep("memory", &memory, memory.seconds)?;
    let long = bench.long_lists()?;
    let scaling = scaling::measure(sizes.scaling, SCALED, seed, device)?;
    execution.keep("scaling", &scaling, 0.0)?;
    let peers = bench.peers(folder.path(), nets)?;
    let facts = Facts {
        queries: data.n_queries(),
        documents: data.n_documents(),
        longest: data.queries().map(|query| query.labels.len()).max().unwrap_or(0),
        pairs: shape::pairs(&data),
        text_bytes,
    };
    let measured = Measured {
        data: facts,
        limits,
        rows,
        widths,
        graph,
        error,
        threads,
        memory,
        long,
        scaling,
        peers,
        #[cfg(feature = "serve")]
        served,
    };
    report::report(execution, &sizes, &measured)
}
