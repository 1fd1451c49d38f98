//! The model of cost: T(P) = c ceil(B / P) + s + x(P), for batches of B queries on P processes.
//!
//! c is the computation of a query, s what every process does for itself after each batch (the optimiser's step), both of one process
//! and of a net. x is the exchange of W weights: with latency a and bandwidth b, it is a log2 P + 4 W (P - 1) / b where sums are
//! gathered whole (P = 2, or W below 16,384), and a (P - 1 + log2 P) + 8 W (P - 1) / (P b) where every process adds up a slice.

use super::{Exchange, Run};
use anyhow::Context;

/// What an exchange costs.
#[derive(Debug, Clone, Copy)]
pub struct Network {
    /// Seconds.
    pub latency: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

/// What a net costs one process.
#[derive(Debug, Clone, Copy)]
pub struct Compute {
    /// Seconds per query.
    pub query: f64,
    /// Seconds per batch.
    pub step: f64,
}

/// Weights from which every process adds up a slice.
const SLICED: usize = 1 << 14;

impl Network {
    /// As it was measured between two processes: the latency of one word, the bandwidth of the longest.
    pub fn of(exchanges: &[Exchange], transport: &str) -> Option<Self> {
        let mut own = exchanges.iter().filter(|exchange| exchange.transport == transport);
        let (first, last) = (own.next()?, own.next_back()?);
        let bytes = 4.0 * (last.words - first.words) as f64;
        Some(Network { latency: first.seconds, bandwidth: bytes / (last.seconds - first.seconds).max(1e-9) })
    }

    /// Seconds of the exchange of so many weights between so many processes.
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
    /// From two batch sizes of one process; where there is but one, the step is taken to cost nothing.
    pub fn of(runs: &[Run], hidden: &str) -> anyhow::Result<Self> {
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

    /// How many times as fast as one process.
    pub fn speedup(&self, network: &Network, weights: usize, batch: usize, processes: usize) -> f64 {
        self.batch(network, weights, batch, 1) / self.batch(network, weights, batch, processes)
    }

    /// The most processes, of powers of two, of which each still does half of what it could.
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
    fn two_points_make_the_line_through_them() {
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
        let compute = Compute::of(&[run(10, 0.5), run(100, 4.1)], "10").unwrap();
        assert!((compute.query - 0.04).abs() < 1e-12 && (compute.step - 0.1).abs() < 1e-12);
    }

    #[test]
    fn free_exchanges_pay_up_to_the_batch_and_dear_ones_never() {
        let compute = Compute { query: 1e-3, step: 0.0 };
        let free = Network { latency: 0.0, bandwidth: f64::INFINITY };
        assert_eq!(compute.pays_to(&free, 1000, 64), 128);
        assert_eq!(compute.pays_to(&Network { latency: 1.0, ..free }, 1000, 64), 1);
        assert!((compute.speedup(&free, 1000, 64, 8) - 8.0).abs() < 1e-12);
    }
}
