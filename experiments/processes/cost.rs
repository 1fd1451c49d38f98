//! Cost model: T(P) = c ceil(B / P) + s + x(P), for batches of B queries on P processes.
//!
//! c is the time to compute a query and s the time that every process spends after each batch (the update of the weights). x is the
//! time to exchange W weights: with latency a and bandwidth b, it is a log2 P + 4 W (P - 1) / b if sums are gathered whole (P = 2,
//! or W below 16,384), and a (P - 1 + log2 P) + 8 W (P - 1) / (P b) if every process sums a slice.

use super::{Exchange, Run};
use anyhow::Context;

/// Cost of an exchange.
#[derive(Debug, Clone, Copy)]
pub struct Network {
    /// Seconds.
    pub latency: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

/// Cost of a net on one process.
#[derive(Debug, Clone, Copy)]
pub struct Compute {
    /// Seconds per query.
    pub query: f64,
    /// Seconds per batch.
    pub step: f64,
}

/// Number of weights from which every process sums a slice.
const SLICED: usize = 1 << 14;

impl Network {
    /// Fits the measurements between two processes: latency from the shortest message, bandwidth from the longest.
    pub fn fit(exchanges: &[Exchange], transport: &str) -> Option<Self> {
        let mut own = exchanges.iter().filter(|exchange| exchange.transport == transport);
        let (first, last) = (own.next()?, own.next_back()?);
        let bytes = 4.0 * (last.words - first.words) as f64;
        Some(Network { latency: first.seconds, bandwidth: bytes / (last.seconds - first.seconds).max(1e-9) })
    }

    /// Seconds to exchange the weights between the processes.
    pub fn exchange(&self, weights: usize, processes: usize) -> f64 {
        let (p, w) = (processes as f64, weights as f64);
        let rounds = p.log2().ceil();
        if processes == 1 {
            0.0
        } else if processes == 2 || weights < SLICED {
            self.latency * rounds + 4.0 * w * (p - 1.0) / self.bandwidth
        } else {
            self.latency * (p - 1.0 + rounds) + 8.0 * w * (p - 1.0) / (p * self.bandwidth)
        }
    }
}

impl Compute {
    /// Fits two batch sizes of one process; with only one batch size the time after a batch is 0.
    pub fn fit(runs: &[Run], hidden: &str) -> anyhow::Result<Self> {
        let own = runs.iter().filter(|run| run.hidden == hidden && run.processes == 1);
        let points: Vec<(f64, f64)> = own.map(|run| (run.batch as f64, per_batch(run))).collect();
        let (first, last) = (points.first().context("no run")?, points.last().context("no run")?);
        if points.len() < 2 {
            return Ok(Compute { query: first.1 / first.0, step: 0.0 });
        }
        let query = (last.1 - first.1) / (last.0 - first.0);
        Ok(Compute { query, step: (first.1 - query * first.0).max(0.0) })
    }

    /// Seconds of a batch.
    pub fn batch(&self, network: &Network, weights: usize, batch: usize, processes: usize) -> f64 {
        self.query * batch.div_ceil(processes) as f64 + self.step + network.exchange(weights, processes)
    }

    /// Speed relative to one process.
    pub fn speedup(&self, network: &Network, weights: usize, batch: usize, processes: usize) -> f64 {
        self.batch(network, weights, batch, 1) / self.batch(network, weights, batch, processes)
    }

    /// Largest power of two at which each process works at half of its speed or more.
    pub fn pays_to(&self, network: &Network, weights: usize, batch: usize) -> usize {
        let pays = |processes: &usize| 2.0 * self.speedup(network, weights, batch, *processes) >= *processes as f64;
        (0..=12).map(|power| 1 << power).take_while(pays).last().unwrap_or(1)
    }
}

/// Seconds of a batch of a run.
pub fn per_batch(run: &Run) -> f64 {
    run.seconds / run.queries.div_ceil(run.batch) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_batch_sizes_determine_the_costs() {
        let run = |batch: usize, seconds: f64| Run {
            hidden: "10".into(),
            weights: 1,
            queries: batch,
            batch,
            processes: 1,
            transport: String::new(),
            seconds,
            model: String::new(),
        };
        let compute = Compute::fit(&[run(10, 0.5), run(100, 4.1)], "10").unwrap();
        assert!((compute.query - 0.04).abs() < 1e-12 && (compute.step - 0.1).abs() < 1e-12);
    }

    #[test]
    fn free_exchanges_pay_up_to_the_batch_size_and_slow_ones_never() {
        let compute = Compute { query: 1e-3, step: 0.0 };
        let free = Network { latency: 0.0, bandwidth: f64::INFINITY };
        assert_eq!(compute.pays_to(&free, 1000, 64), 128);
        assert_eq!(compute.pays_to(&Network { latency: 1.0, ..free }, 1000, 64), 1);
        assert!((compute.speedup(&free, 1000, 64, 8) - 8.0).abs() < 1e-12);
    }
}
