//! One line of the table: what was measured, how long it took, and how far from the roofline that is.

use super::machine::{Limits, Work};
use super::timing::Timing;
use burnrank::internal::text::{Table, large, three_digits};
use serde_json::{Value, json};

/// One measurement.
#[derive(Debug, Clone)]
pub struct Row {
    /// `read`, `first batch of a cache`, `epoch`, `score`, `evaluate` or `kernel`.
    pub task: &'static str,
    pub objective: Option<String>,
    /// `lambda`, `tensor` or `V1`.
    pub path: Option<&'static str>,
    /// Queries per batch.
    pub batch: Option<usize>,
    pub timing: Timing,
    pub documents: usize,
    /// Pairs with a lambda.
    pub pairs: Option<f64>,
    /// The peak of the process's memory meanwhile, in bytes.
    pub peak: Option<f64>,
    /// What the roofline is computed from, where there is one.
    pub work: Option<Work>,
    /// Whether no other batch size was faster.
    pub best: bool,
    /// Whether the table shows it.
    pub shown: bool,
}

impl Row {
    /// A measurement without an objective.
    pub fn plain(task: &'static str, timing: Timing, documents: usize) -> Row {
        Row {
            task,
            objective: None,
            path: None,
            batch: None,
            timing,
            documents,
            pairs: None,
            peak: None,
            work: None,
            best: true,
            shown: true,
        }
    }

    /// Its name in `results.json`.
    pub fn key(&self) -> String {
        let mut key = self.task.to_owned();
        self.objective.iter().for_each(|objective| key += &format!(" {objective}"));
        self.path.iter().for_each(|path| key += &format!(" {path}"));
        self.batch.iter().for_each(|batch| key += &format!(" batch {batch}"));
        key
    }

    /// How many times the roofline it takes.
    pub fn ratio(&self, limits: &Limits) -> Option<f64> {
        self.work.map(|work| self.timing.seconds / limits.least(work))
    }

    pub fn json(&self, limits: &Limits) -> Value {
        json!({
            "task": self.task,
            "objective": self.objective,
            "path": self.path,
            "batch_queries": self.batch,
            "best_batch": self.best,
            "seconds": self.timing.seconds,
            "median_seconds": self.timing.median,
            "repeats": self.timing.repeats,
            "documents": self.documents,
            "documents_per_second": self.documents as f64 / self.timing.seconds,
            "pairs_per_second": self.pairs.map(|pairs| pairs / self.timing.seconds),
            "peak_bytes": self.peak,
            "roofline_seconds": self.work.map(|work| limits.least(work)),
            "ratio_to_roofline": self.ratio(limits),
        })
    }

    fn cells(&self, limits: &Limits) -> Vec<String> {
        let seconds = self.timing.seconds;
        let objective = self.objective.as_deref().unwrap_or("");
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        vec![
            format!("{} {objective}", self.task).trim_end().to_owned(),
            self.path.unwrap_or("-").into(),
            or_dash(self.batch.map(|batch| batch.to_string())),
            three_digits(seconds),
            three_digits(self.timing.median),
            large(self.documents as f64 / seconds),
            or_dash(self.pairs.map(|pairs| large(pairs / seconds))),
            or_dash(self.peak.map(|peak| format!("{:.0}", peak / 1e6))),
            or_dash(self.ratio(limits).map(|ratio| format!("{ratio:.2}"))),
        ]
    }
}

/// The table of all rows that are to be shown.
pub fn table(title: impl Into<String>, rows: &[Row], limits: &Limits) -> Table {
    let columns = [
        "what",
        "path",
        "queries per batch",
        "seconds",
        "median",
        "documents/s",
        "pairs/s",
        "peak MB",
        "times the roofline",
    ];
    let mut table = Table::titled(title, &columns);
    rows.iter().filter(|row| row.shown).for_each(|row| table.row(row.cells(limits)));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_its_rates() {
        let timing = Timing { seconds: 0.5, median: 0.6, repeats: 3 };
        let work = Some(Work { bytes: 1.0, multiply_adds: 6.0 });
        let row = Row { work, batch: Some(4), pairs: Some(100.0), ..Row::plain("epoch", timing, 10) };
        assert_eq!(row.key(), "epoch batch 4");
        // 1/20 s to move the bytes, 6/30 s to compute, at the same time.
        let limits = Limits { threads: 1, bytes_per_second: 20.0, multiply_adds_per_second: 30.0 };
        let json = row.json(&limits);
        assert_eq!(json["documents_per_second"], 20.0);
        assert_eq!(json["pairs_per_second"], 200.0);
        assert_eq!(json["ratio_to_roofline"], 2.5);
    }
}
