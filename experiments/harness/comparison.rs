//! Comparisons: every arm (a loss with its settings) on every unit, claims on the difference of two arms, tables and points.

use super::figure::{Point, Series, Whose};
use super::runs::Tested;
use super::units::{less, mean};
use super::{Claim, Evidence, Execution, Finding, Job, OneEntryCache, Spread, Ticker};
use burnrank::internal::text::{Table, fixed, signed};

/// Queries whose mean metric is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Train,
    Valid,
    Test,
    /// Training minus test queries.
    Overfit,
}

/// The result of an arm on a unit.
pub trait Measured {
    /// Mean of the arm's metric over training, validation and test queries, from 0 to 1.
    fn means(&self) -> [f64; 3];
}

/// Results by arm and unit. An arm may have fewer units than others, the first ones.
#[derive(Debug)]
pub struct Comparison<R> {
    pub runs: Vec<Vec<R>>,
}

impl<R: Measured> Comparison<R> {
    /// The metric of an arm in percent, one number per unit.
    pub fn percent(&self, arm: usize, column: Column) -> Vec<f64> {
        let value = |[train, valid, test]: [f64; 3]| match column {
            Column::Train => train,
            Column::Valid => valid,
            Column::Test => test,
            Column::Overfit => train - test,
        };
        self.runs[arm].iter().map(|run| 100.0 * value(run.means())).collect()
    }

    /// The metric on test queries in percent, one number per unit.
    pub fn test(&self, arm: usize) -> Vec<f64> {
        self.percent(arm, Column::Test)
    }

    /// First arm minus second in points, one number for each unit that both have.
    pub fn gap(&self, first: usize, second: usize, column: Column) -> Vec<f64> {
        let (first, second) = (self.percent(first, column), self.percent(second, column));
        let units = first.len().min(second.len());
        less(&first[..units], &second[..units])
    }

    /// First arm minus second on test queries.
    pub fn difference(&self, first: usize, second: usize) -> Vec<f64> {
        self.gap(first, second, Column::Test)
    }

    /// One row per arm: its labels, the metric on training, validation and test queries, the difference to a base, and a last cell.
    pub fn table<const N: usize>(
        &self,
        title: impl Into<String>,
        labels: [&str; N],
        [base, last]: [&str; 2],
        rows: impl IntoIterator<Item = Row<N>>,
    ) -> Table {
        let minus = format!("test minus {base}");
        let head: Vec<&str> =
            labels.into_iter().chain(["training", "validation", "test", &minus]).chain([last]).collect();
        let mut table = Table::titled(title, &head);
        for Row { labels, arm, base, last } in rows {
            let of = |column| fixed(mean(&self.percent(arm, column)), 2);
            let gap = base.map_or("-".into(), |base| gap_text(&self.difference(arm, base)));
            let values = [of(Column::Train), of(Column::Valid), mean_text(&self.test(arm)), gap, last];
            table.row(labels.into_iter().chain(values));
        }
        table
    }
}

/// A row of [`Comparison::table`].
pub struct Row<const N: usize> {
    pub labels: [String; N],
    pub arm: usize,
    /// The arm that is subtracted; `None` for the base itself.
    pub base: Option<usize>,
    pub last: String,
}

impl Claim {
    /// Takes the evidence from test queries: the first arm minus the second, in points.
    pub fn between<R: Measured>(self, first: usize, second: usize) -> Tested<Comparison<R>> {
        self.between_on(Column::Test, first, second)
    }

    /// As [`Claim::between`], on other queries.
    pub fn between_on<R: Measured>(self, column: Column, first: usize, second: usize) -> Tested<Comparison<R>> {
        self.by(move |runs: &Comparison<R>| Evidence::rounded(runs.gap(first, second, column), 2))
    }
}

/// Runs every arm on every unit (a random function, a teacher, a fold).
///
/// `name` returns the key and the work of a run, or `None` if the arm does not have the unit; `load` prepares the data of a
/// unit, which all arms share.
pub fn run_grid<U: Copy + PartialEq + Send + Sync, P: Send + Sync, R: Finding>(
    execution: &Execution<'_>,
    units: impl IntoIterator<Item = U>,
    arms: usize,
    name: impl Fn(U, usize) -> Option<(String, f64)>,
    load: impl Fn(U) -> anyhow::Result<P> + Sync,
    run: impl Fn(&P, &Job<(U, usize)>, &Ticker<'_>) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Comparison<R>> {
    let mut jobs = vec![];
    for unit in units {
        for arm in 0..arms {
            jobs.extend(name(unit, arm).map(|(key, work)| Job { key, work, what: (unit, arm) }));
        }
    }
    let cache = OneEntryCache::default();
    let results = execution.run_all(&jobs, |job, ticker| {
        let unit = job.what.0;
        run(&*cache.get(unit, || load(unit))?, job, ticker)
    })?;
    let mut runs: Vec<Vec<R>> = (0..arms).map(|_| vec![]).collect();
    jobs.iter().zip(results).for_each(|(job, result)| runs[job.what.1].push(result));
    Ok(Comparison { runs })
}

/// Mean and half-width of its 95% interval over units, as in 61.20 ± 0.34.
pub fn mean_text(values: &[f64]) -> String {
    with_interval(fixed(mean(values), 2), values)
}

/// As [`mean_text`], with a sign, for differences.
pub fn gap_text(values: &[f64]) -> String {
    with_interval(signed(mean(values), 2), values)
}

fn with_interval(mean: String, values: &[f64]) -> String {
    Spread::of(values).map_or(mean.clone(), |spread| format!("{mean} ± {}", fixed(spread.half, 2)))
}

/// Point of a figure with the mean and its 95% interval over units.
pub fn point(x: f64, values: &[f64]) -> Point {
    let ends = Spread::of(values).map(|spread| (spread.mean - spread.half, spread.mean + spread.half));
    (x, mean(values), ends)
}

/// A series of our points.
pub fn series(name: impl Into<String>, colour: usize, joined: bool, points: Vec<Point>) -> Series {
    Series { name: name.into(), whose: Whose::Ours, colour, joined, points }
}

/// Slope of the least-squares line through points.
pub fn slope(x: &[f64], y: &[f64]) -> f64 {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let products = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y));
    products.sum::<f64>() / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::{Test, runs};
    use super::*;

    struct Run(f64);

    impl Measured for Run {
        fn means(&self) -> [f64; 3] {
            [self.0 + 0.1, self.0, self.0]
        }
    }

    fn comparison() -> Comparison<Run> {
        Comparison { runs: vec![vec![Run(0.50), Run(0.52), Run(0.9)], vec![Run(0.51), Run(0.55)]] }
    }

    #[test]
    fn differences_are_paired_by_unit() {
        let rounded = |values: Vec<f64>| values.into_iter().map(|value| value.round() as i32).collect::<Vec<_>>();
        assert_eq!(rounded(comparison().difference(1, 0)), [1, 3]);
        assert_eq!(rounded(comparison().percent(1, Column::Train)), [61, 65]);
        assert_eq!(rounded(comparison().percent(1, Column::Overfit)), [10, 10]);
        let claim = Claim::new("a", "a", Test::Above).unit("function");
        let all = runs::evidence(&[claim.between_on(Column::Train, 0, 1)], &comparison());
        let (id, Evidence::Units { values, .. }) = &all[0] else { panic!("units") };
        assert_eq!((id.as_str(), rounded(values.clone())), ("a", vec![-1, -3]));
    }

    #[test]
    fn a_table_has_a_row_per_arm() {
        let row = |arm, base| Row { labels: [format!("arm {arm}")], arm, base, last: "x".into() };
        let table = comparison().table("title", ["arm"], ["arm 0", "last"], [row(0, None), row(1, Some(0))]).markdown();
        assert!(table.contains("| arm | training | validation | test | test minus arm 0 | last |"), "{table}");
        // One minus and three: mean 2, half-width 12.706 * 1.
        assert!(table.contains("| arm 1 | 63.00 | 53.00 | 53.00 ± 25.41 | +2.00 ± 12.71 | x |"), "{table}");
    }

    #[test]
    fn slopes_are_those_of_lines() {
        let x = [0.1_f64, 0.3, 1.0, 3.0, 5.0, 10.0].map(f64::log10);
        assert!((slope(&x, &x.map(|x| 60.0 + 0.5 * x)) - 0.5).abs() < 1e-12);
    }
}
