//! Benchmarks of the kernels: `cargo test --release speed -- --ignored --nocapture` on an idle machine.

use super::*;
use std::time::Instant;

/// Minimum time of several calls, in seconds.
fn seconds<T>(times: usize, mut call: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let start = Instant::now();
        std::hint::black_box(call());
        start.elapsed().as_secs_f64()
    };
    (0..times).map(once).fold(f64::INFINITY, f64::min)
}

fn run_query(
    loss: &PairLoss,
    query: &Query,
    gradient: &mut [f32],
    scratch: &mut LossScratch,
    outputs: Outputs,
) -> Result<QueryResult> {
    let stop = &Stop::new();
    let query = super::super::Query { scores: &query.scores, labels: &query.labels, seed: 0, stop };
    loss.query(query, Gradients::gradient(gradient), outputs, scratch)
}

#[test]
#[ignore = "a benchmark"]
fn pairs_per_second_on_one_core() {
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let queries: Vec<Query> = (0..500).map(|_| query(120, 6.0, 1e6, 5, &mut random)).collect();
    let mut scratch = LossScratch::default();
    let mut gradient = [0.0; 120];
    for weighting in formulas() {
        let kernel = Kernel { method: PairAlgorithm::Direct, ..Kernel::new(weighting) };
        let loss = kernel.loss();
        let mut all = |outputs: Outputs| -> u64 {
            let mut one = |query: &Query| run_query(&loss, query, &mut gradient, &mut scratch, outputs);
            queries.iter().map(|query| one(query).unwrap().pairs).sum()
        };
        let pairs = all(Outputs { loss: false, pairs: true });
        let time = seconds(50, || all(Outputs::default()));
        let with_loss = seconds(50, || all(Outputs { loss: true, pairs: false }));
        let mut hessian = [0.0; 120];
        let mut both = || {
            for query in &queries {
                let stop = &Stop::new();
                let query = super::super::Query { scores: &query.scores, labels: &query.labels, seed: 0, stop };
                let to = Gradients { gradient: &mut gradient, hessian: Some(&mut hessian) };
                loss.query(query, to, Outputs::default(), &mut scratch).unwrap();
            }
        };
        let with_hessian = seconds(50, &mut both);
        let rate = pairs as f64 / time / 1e9;
        let (loss, hessian) = (with_loss / time, with_hessian / time);
        eprintln!(
            "{rate:.3} G pairs/s; time relative to this {loss:.2} with loss, {hessian:.2} with hessian: {:?}",
            kernel.weighting
        );
    }
}

#[test]
#[ignore = "a benchmark"]
fn seconds_by_list_length() {
    let mut random = ChaCha8Rng::seed_from_u64(21);
    let sizes = [4_000, 16_000, 64_000, 200_000, 512_000, 1_000_000];
    let lists: Vec<Query> = sizes.iter().map(|&n| query(n, 10.0, 1e6, 5, &mut random)).collect();
    let swaps = ["dcg", "arp", "err", "bpref", "pairs", "wta"].map(metrics::swaps);
    for weighting in formulas().into_iter().chain(swaps) {
        let kernel = Kernel::new(weighting);
        let loss = kernel.loss();
        let mut scratch = LossScratch::default();
        let mut times = Vec::new();
        for list in &lists {
            let mut gradient = vec![0.0; list.scores.len()];
            let mut one = || run_query(&loss, list, &mut gradient, &mut scratch, Outputs::default());
            times.push(seconds(5, || one().unwrap()));
        }
        // Least squares of log time on log length, up to 512,000.
        let points: Vec<(f64, f64)> =
            sizes.iter().zip(&times).take(5).map(|(&n, t)| ((n as f64).ln(), t.ln())).collect();
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>()
            / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>();
        eprintln!("slope {slope:.3}, seconds {times:.5?}: {:?}", kernel.weighting);
    }
}

#[test]
#[ignore = "a benchmark"]
fn list_length_from_which_sweeps_are_faster() {
    let mut random = ChaCha8Rng::seed_from_u64(22);
    let mut scratch = LossScratch::default();
    for name in ["dcg", "arp", "err", "bpref", "pairs"] {
        for n in [16, 32, 64, 128, 256] {
            let list = query(n, 6.0, 1e6, 5, &mut random);
            let mut gradient = vec![0.0; n];
            let times = [PairAlgorithm::Direct, PairAlgorithm::Fast].map(|method| {
                let loss = Kernel { method, ..Kernel::new(metrics::swaps(name)) }.loss();
                let outputs = Outputs { loss: true, pairs: true };
                seconds(300, || run_query(&loss, &list, &mut gradient, &mut scratch, outputs).unwrap())
            });
            eprintln!("{name} {n}: direct {:.1} us, sweep {:.1} us", times[0] * 1e6, times[1] * 1e6);
        }
    }
}
