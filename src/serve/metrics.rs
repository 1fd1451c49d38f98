//! Metrics of the server in Prometheus text format.

use super::served::ServedModel;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Upper bounds of the buckets of the histogram, in microseconds.
const BOUNDS: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];

/// Counted status codes; the last entry counts all others.
const CODES: [u16; 11] = [200, 400, 404, 405, 408, 413, 415, 431, 500, 503, 0];

#[derive(Debug, Default)]
pub(super) struct Metrics {
    answers: [AtomicU64; CODES.len()],
    documents: AtomicU64,
    /// Number of scored requests per bucket; the last is above all bounds.
    times: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
    reloads: [AtomicU64; 2],
    in_flight: AtomicI64,
    connections: AtomicI64,
    refused: AtomicU64,
}

/// Increments a gauge until it is dropped.
pub(super) struct GaugeGuard<'a>(&'a AtomicI64);

impl Drop for GaugeGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

fn increment(gauge: &AtomicI64) -> GaugeGuard<'_> {
    gauge.fetch_add(1, Relaxed);
    GaugeGuard(gauge)
}

impl Metrics {
    /// Counts a response.
    pub fn answered(&self, code: u16) {
        let place = CODES.iter().position(|known| *known == code).unwrap_or(CODES.len() - 1);
        self.answers[place].fetch_add(1, Relaxed);
    }

    /// Counts scored documents and the time of their request.
    pub fn scored(&self, documents: usize, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.documents.fetch_add(documents as u64, Relaxed);
        self.times[BOUNDS.partition_point(|bound| *bound < time)].fetch_add(1, Relaxed);
        self.microseconds.fetch_add(time, Relaxed);
    }

    /// Counts a reload.
    pub fn reloaded(&self, is_ok: bool) {
        self.reloads[usize::from(!is_ok)].fetch_add(1, Relaxed);
    }

    /// Counts a refused connection.
    pub fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// Counts a request until the guard is dropped.
    pub fn request(&self) -> GaugeGuard<'_> {
        increment(&self.in_flight)
    }

    /// Counts an open connection until the guard is dropped.
    pub fn connection(&self) -> GaugeGuard<'_> {
        increment(&self.connections)
    }

    /// All metrics as text.
    pub fn text(&self, served: &ServedModel) -> String {
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = write!(text, "# HELP burnrank_{name} {help}\n# TYPE burnrank_{name} {kind}\n");
        };
        head(&mut text, "requests_total", "counter", "Requests answered, by status code.");
        for (code, answers) in CODES.iter().zip(&self.answers).filter(|(code, _)| **code > 0) {
            let _ = writeln!(text, "burnrank_requests_total{{code=\"{code}\"}} {}", answers.load(Relaxed));
        }
        let others = self.answers[CODES.len() - 1].load(Relaxed);
        let _ = writeln!(text, "burnrank_requests_total{{code=\"other\"}} {others}");
        head(&mut text, "documents_total", "counter", "Documents scored.");
        let _ = writeln!(text, "burnrank_documents_total {}", self.documents.load(Relaxed));
        head(&mut text, "score_seconds", "histogram", "Time of scored requests, from header to response.");
        let mut sum = 0;
        for (place, times) in self.times.iter().enumerate() {
            sum += times.load(Relaxed);
            let bound = BOUNDS.get(place).map_or("+Inf".into(), |bound| (*bound as f64 / 1e6).to_string());
            let _ = writeln!(text, "burnrank_score_seconds_bucket{{le=\"{bound}\"}} {sum}");
        }
        let _ = writeln!(text, "burnrank_score_seconds_sum {}", self.microseconds.load(Relaxed) as f64 / 1e6);
        let _ = writeln!(text, "burnrank_score_seconds_count {sum}");
        let gauges = [
            ("requests_in_flight", &self.in_flight, "Requests in progress."),
            ("connections", &self.connections, "Open connections."),
        ];
        for (name, gauge, help) in gauges {
            head(&mut text, name, "gauge", help);
            let _ = writeln!(text, "burnrank_{name} {}", gauge.load(Relaxed));
        }
        head(&mut text, "connections_refused_total", "counter", "Connections refused because there were too many.");
        let _ = writeln!(text, "burnrank_connections_refused_total {}", self.refused.load(Relaxed));
        head(&mut text, "reloads_total", "counter", "Reloads of the model, by result.");
        for (result, count) in ["ok", "failed"].iter().zip(&self.reloads) {
            let _ = writeln!(text, "burnrank_reloads_total{{result=\"{result}\"}} {}", count.load(Relaxed));
        }
        head(&mut text, "model_info", "gauge", "The served model.");
        let (model, architecture) = (&served.checksum, &served.architecture);
        let _ = writeln!(text, "burnrank_model_info{{model=\"{model}\",architecture=\"{architecture}\"}} 1");
        head(&mut text, "model_loaded_seconds", "gauge", "Time when the model was loaded, in seconds since 1970.");
        let _ = writeln!(text, "burnrank_model_loaded_seconds {}", served.loaded);
        text
    }
}
