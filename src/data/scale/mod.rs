//! Feature scaling: fitted on the training split, saved with the model, applied to every split.

mod distributed;
mod fit;
mod kind;
mod known;
pub(crate) mod quantile;

pub use kind::ScaleKind;
pub(crate) use known::KnownColumns;

use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use fit::{BLOCK, Slice, centers_and_spreads, fit, signed_log};
pub(crate) use fit::{Column, FitRoom, Rows};
use quantile::{KNOTS, Table};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A fitted scaling: x becomes (x - center) / spread, or is mapped through a table of quantiles, feature by feature, in f64.
///
/// A feature of spread 0, constant in the training split, becomes 0 wherever it is met. Results beyond f32 are held at
/// its largest value. Values that are not finite are left out of the fit.
///
/// ```
/// use burnrank::{Dataset, ScaleKind, Scaler};
/// let mut data = Dataset::new(2, vec![1.0, 5.0, 3.0, 5.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
/// Scaler::fit(ScaleKind::ZScore, &data).apply(&mut data)?;
/// assert_eq!(data.features(), [-1.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Scaler {
    kind: ScaleKind,
    width: usize,
    center: Vec<f64>,
    spread: Vec<f64>,
    /// Ascending quantiles of each feature, one feature after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    knots: Vec<f32>,
    /// What follows from the knots.
    #[serde(skip)]
    tables: Vec<Table>,
}

impl Scaler {
    /// Learns the scaling of `kind` from all documents of `data`, which should be the training split alone.
    pub fn fit(kind: ScaleKind, data: &Dataset) -> Scaler {
        let width = data.n_features();
        let (center, spread) = match kind.measure() {
            Some(measure) if !kind.is_per_query() => match data.known_columns() {
                Some(known) => centers_and_spreads(measure, known.of(kind.takes_log())),
                None => fit(measure, kind.takes_log(), data, width),
            },
            _ => (Vec::new(), Vec::new()),
        };
        let knots = match kind {
            ScaleKind::Quantile => match data.known_columns() {
                Some(known) => known.knots.clone(),
                None => quantile::fit(data, width),
            },
            _ => Vec::new(),
        };
        Self::of(kind, width, (center, spread), knots)
    }

    /// The scaler of these numbers, which must fit its kind.
    fn of(kind: ScaleKind, width: usize, (center, spread): (Vec<f64>, Vec<f64>), knots: Vec<f32>) -> Scaler {
        let tables = knots.chunks(KNOTS).map(Table::of).collect();
        Scaler { kind, width, center, spread, knots, tables }
    }

    /// What this scaler does.
    pub fn kind(&self) -> ScaleKind {
        self.kind
    }

    /// The number of features it was fitted on.
    pub fn n_features(&self) -> usize {
        self.width
    }

    /// What is subtracted and what is divided by, feature by feature; empty where the data of each query decides.
    pub(crate) fn numbers(&self) -> (&[f64], &[f64]) {
        (&self.center, &self.spread)
    }

    /// The ascending quantiles of each feature, where those decide; [`quantile::points`] draws the map from them.
    pub(crate) fn knots(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.knots.chunks(KNOTS)
    }

    /// Scales every document of `data`: in place where it is in memory, and whenever it is read where it is in a mapped file.
    ///
    /// # Errors
    /// When `data` has another number of features than the scaler was fitted on.
    pub fn apply(&self, data: &mut Dataset) -> Result<()> {
        if data.n_features() != self.width {
            return Err(Error::Mismatch(format!(
                "the scaler was fitted on {} features, the data has {}",
                self.width,
                data.n_features()
            )));
        }
        if self.width == 0 || self.kind == ScaleKind::None {
            return Ok(());
        }
        if data.scale_when_read(self) {
            return Ok(());
        }
        if self.kind.is_per_query() {
            let ends: Vec<usize> = data.offsets().iter().map(|&offset| offset * self.width).collect();
            let mut rest = data.features_mut();
            let mut queries = Vec::with_capacity(ends.len());
            for pair in ends.windows(2) {
                let (query, after) = rest.split_at_mut(pair[1] - pair[0]);
                queries.push(query);
                rest = after;
            }
            queries.into_par_iter().for_each(|query| self.scale(query));
        } else {
            data.features_mut().par_chunks_mut(BLOCK * self.width).for_each(|block| self.scale(block));
        }
        Ok(())
    }

    /// Scales the documents of one query, row-major, in place: the same bytes as [`Scaler::apply`] gives them.
    ///
    /// # Errors
    /// When `rows` is not a whole number of rows of the scaler's width.
    pub fn apply_rows(&self, rows: &mut [f32]) -> Result<()> {
        let whole = if self.width == 0 { rows.is_empty() } else { rows.len().is_multiple_of(self.width) };
        if !whole {
            return Err(Error::Mismatch(format!(
                "{} feature values are no whole number of rows of {} features",
                rows.len(),
                self.width
            )));
        }
        if self.width > 0 {
            self.scale(rows);
        }
        Ok(())
    }

    /// As [`Scaler::apply_rows`], by one thread and in the memory that is given; rows must be whole.
    pub(crate) fn apply_rows_in(&self, rows: &mut [f32], room: &mut FitRoom) {
        match self.kind.measure() {
            _ if self.width == 0 => {}
            Some(measure) if self.kind.is_per_query() => {
                room.fit(measure, self.kind.takes_log(), rows, self.width);
                standardise(rows, self.kind.takes_log(), &room.center, &room.spread);
            }
            _ => self.scale(rows),
        }
    }

    fn scale(&self, rows: &mut [f32]) {
        match (self.kind, self.kind.measure()) {
            (ScaleKind::None, _) => {}
            (ScaleKind::Quantile, _) => quantile::apply(rows, &self.tables),
            (kind, Some(measure)) if kind.is_per_query() => {
                let all = Slice { values: &*rows, width: self.width };
                let (center, spread) = fit(measure, kind.takes_log(), &all, self.width);
                standardise(rows, kind.takes_log(), &center, &spread);
            }
            (kind, Some(_)) => standardise(rows, kind.takes_log(), &self.center, &self.spread),
            (_, None) => rows.iter_mut().for_each(|x| *x = signed_log(f64::from(*x)) as f32),
        }
    }
}

/// What a file holds, checked before it becomes a [`Scaler`].
#[derive(Deserialize)]
struct Stored {
    kind: ScaleKind,
    width: usize,
    center: Vec<f64>,
    spread: Vec<f64>,
    #[serde(default)]
    knots: Vec<f32>,
}

impl TryFrom<Stored> for Scaler {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Scaler> {
        let Stored { kind, width, center, spread, knots } = stored;
        let wanted = if kind.measure().is_some() && !kind.is_per_query() { width } else { 0 };
        if center.len() != wanted || spread.len() != wanted {
            return Err(Error::Mismatch(format!(
                "a {kind} scaler of {width} features needs {wanted} centers and spreads, got {} and {}",
                center.len(),
                spread.len()
            )));
        }
        if !center.iter().chain(&spread).all(|value| value.is_finite()) || spread.iter().any(|&value| value < 0.0) {
            return Err(Error::Mismatch(
                "a scaler's centers and spreads must be finite, and no spread negative".into(),
            ));
        }
        let wanted = if kind == ScaleKind::Quantile { width.saturating_mul(KNOTS) } else { 0 };
        let ascend = |knots: &[f32]| knots.is_sorted() && knots.iter().all(|knot| knot.is_finite());
        if knots.len() != wanted || !knots.chunks(KNOTS).all(ascend) {
            return Err(Error::Mismatch(format!(
                "a {kind} scaler of {width} features needs {wanted} knots, finite and ascending within each feature, got {}",
                knots.len()
            )));
        }
        Ok(Scaler::of(kind, width, (center, spread), knots))
    }
}

fn standardise(rows: &mut [f32], takes_log: bool, center: &[f64], spread: &[f64]) {
    const LIMIT: f64 = f32::MAX as f64;
    for row in rows.chunks_exact_mut(center.len()) {
        for ((x, &center), &spread) in row.iter_mut().zip(center).zip(spread) {
            let value = f64::from(*x);
            let value = if takes_log { signed_log(value) } else { value };
            *x = if spread > 0.0 { ((value - center) / spread).clamp(-LIMIT, LIMIT) as f32 } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn data(width: usize, features: Vec<f32>, queries: &[usize]) -> Dataset {
        let labels = vec![0.0; queries.iter().sum()];
        let queries = queries.iter().enumerate().map(|(i, &n)| (i.to_string(), n)).collect();
        Dataset::new(width, features, labels, queries).unwrap()
    }

    fn random(queries: usize, documents: usize, width: usize) -> Dataset {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let values = (0..queries * documents * width).map(|i| {
            let x: f32 = rng.random::<f32>() * 2.0 - 1.0;
            if i % width == 0 { x * 1e6 } else { x }
        });
        data(width, values.collect(), &vec![documents; queries])
    }

    fn scaled(kind: ScaleKind, from: &Dataset) -> Dataset {
        let mut to = from.clone();
        Scaler::fit(kind, from).apply(&mut to).unwrap();
        to
    }

    #[test]
    fn every_kind_by_its_formula() {
        let from = data(1, vec![-3.0, 1.0, 5.0, 7.0], &[2, 2]);
        let (mean, sd) = (2.5_f64, (59.0_f64 / 4.0).sqrt());
        let logs = [-(4f64.ln()), 2f64.ln(), 6f64.ln(), 8f64.ln()];
        let log_mean = logs.iter().sum::<f64>() / 4.0;
        let log_sd = (logs.iter().map(|x| (x - log_mean).powi(2)).sum::<f64>() / 4.0).sqrt();
        // The knot k is the value of rank 3 F_k, F_k = 1 / (1 + exp(-0.6 (k - 15))): those of 0..=12, 13..=15, 16..=17 and the
        // rest are the same.
        let share = |k: usize| 1.0 / (1.0 + (-0.6 * (k as f64 - 15.0)).exp());
        let quantiles = [(0, 12), (13, 14), (15, 17), (18, 30)].map(|(first, last)| {
            let middle = (share(first) + share(last)) / 2.0;
            3f64.sqrt() * (2.0 * middle - 1.0)
        });
        let expected: [(ScaleKind, [f64; 4]); 8] = [
            (ScaleKind::None, [-3.0, 1.0, 5.0, 7.0]),
            (ScaleKind::Log1p, logs),
            (ScaleKind::ZScore, [-3.0, 1.0, 5.0, 7.0].map(|x| (x - mean) / sd)),
            (ScaleKind::MinMax, [0.0, 0.4, 0.8, 1.0]),
            (ScaleKind::Log1pZScore, logs.map(|x| (x - log_mean) / log_sd)),
            (ScaleKind::Quantile, quantiles),
            (ScaleKind::QueryMinMax, [0.0, 1.0, 0.0, 1.0]),
            (ScaleKind::QueryZScore, [-1.0, 1.0, -1.0, 1.0]),
        ];
        for (kind, values) in expected {
            let got = scaled(kind, &from);
            got.features().iter().zip(values).for_each(|(&a, b)| assert!((f64::from(a) - b).abs() < 1e-6, "{kind}"));
        }
    }

    #[test]
    fn a_constant_feature_becomes_zero_even_where_it_varies_later() {
        // The mean of many 0.1f32 is not exactly 0.1f32: a variance test would take it for a varying feature.
        let from = data(1, vec![0.1; 12_345], &[12_345]);
        for kind in [ScaleKind::ZScore, ScaleKind::MinMax, ScaleKind::Log1pZScore, ScaleKind::Quantile] {
            let mut other = data(1, vec![0.1, 7.0, -1e38], &[3]);
            Scaler::fit(kind, &from).apply(&mut other).unwrap();
            assert_eq!(other.features(), [0.0; 3], "{kind}");
        }
        for kind in [ScaleKind::QueryMinMax, ScaleKind::QueryZScore] {
            assert!(scaled(kind, &from).features().iter().all(|&x| x == 0.0), "{kind}");
        }
    }

    #[test]
    fn huge_values_stay_finite() {
        let from = data(1, vec![3e38, -3e38, 3e38, 1.0], &[4]);
        for kind in ScaleKind::ALL {
            assert!(scaled(kind, &from).features().iter().all(|x| x.is_finite()), "{kind}");
        }
        assert_eq!(scaled(ScaleKind::MinMax, &from).features(), [1.0, 0.0, 1.0, 0.5]);
        // Fitted on a feature of tiny range, met by a huge value.
        let mut other = data(1, vec![3e38], &[1]);
        Scaler::fit(ScaleKind::MinMax, &data(1, vec![0.0, 1e-30], &[2])).apply(&mut other).unwrap();
        assert_eq!(other.features(), [f32::MAX]);
    }

    #[test]
    fn values_that_are_not_finite_stay_out_of_the_fit() {
        let scaler = Scaler::fit(ScaleKind::MinMax, &data(1, vec![1.0, f32::NAN, 3.0, f32::INFINITY], &[4]));
        let mut row = [2.0];
        scaler.apply_rows(&mut row).unwrap();
        assert_eq!(row, [0.5]);
    }

    #[test]
    fn a_saved_scaler_gives_the_same_bytes() {
        let from = random(300, 20, 5);
        for kind in ScaleKind::ALL {
            let scaler = Scaler::fit(kind, &from);
            let back: Scaler = serde_json::from_str(&serde_json::to_string(&scaler).unwrap()).unwrap();
            assert_eq!(scaler, back);
            let (mut a, mut b) = (from.clone(), from.clone());
            scaler.apply(&mut a).unwrap();
            back.apply(&mut b).unwrap();
            assert_eq!(bits(&a), bits(&b), "{kind}");
        }
    }

    #[test]
    fn a_spoilt_file_is_refused() {
        let refused = |text: &str| assert!(serde_json::from_str::<Scaler>(text).is_err(), "{text}");
        refused(r#"{"kind":"zscore","width":2,"center":[0.0],"spread":[1.0,1.0]}"#);
        refused(r#"{"kind":"query-zscore","width":1,"center":[0.0],"spread":[1.0]}"#);
        refused(r#"{"kind":"zscore","width":1,"center":[0.0],"spread":[-1.0]}"#);
        refused(r#"{"kind":"zscore","width":1,"center":[null],"spread":[1.0]}"#);
        let table = |width: usize, knots: &[f32]| {
            serde_json::json!({"kind": "quantile", "width": width, "center": [], "spread": [], "knots": knots})
                .to_string()
        };
        let mut good: Vec<f32> = (0..KNOTS).map(|k| k as f32).collect();
        serde_json::from_str::<Scaler>(&table(1, &good)).unwrap();
        refused(&table(2, &good));
        refused(&table(1, &good[1..]));
        refused(&table(1, &good).replace("[0.0,", "[null,"));
        refused(&table(1, &good).replace("[0.0,", "[-1e39,"));
        refused(&table(1, &good).replace("quantile", "none"));
        refused(r#"{"kind":"quantile","width":1,"center":[],"spread":[]}"#);
        good[3] = 2e9;
        refused(&table(1, &good));
    }

    #[test]
    fn rows_of_one_query_agree_with_the_data_set() {
        let from = random(30, 7, 3);
        for kind in ScaleKind::ALL {
            let scaler = Scaler::fit(kind, &from);
            let all = scaled(kind, &from);
            for (before, after) in from.queries().zip(all.queries()) {
                let mut rows = before.features.to_vec();
                scaler.apply_rows(&mut rows).unwrap();
                assert_eq!(rows, after.features, "{kind}");
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let from = random(900, 20, 4);
        for kind in ScaleKind::ALL {
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| (Scaler::fit(kind, &from), bits(&scaled(kind, &from))))
            };
            assert!(run(1) == run(3), "{kind}");
        }
    }

    #[test]
    fn widths_must_agree_and_may_be_zero() {
        let scaler = Scaler::fit(ScaleKind::ZScore, &random(2, 2, 3));
        assert!(scaler.apply(&mut random(2, 2, 4)).unwrap_err().to_string().contains("3 features, the data has 4"));
        assert!(scaler.apply_rows(&mut [0.0; 4]).is_err());
        for kind in ScaleKind::ALL {
            let mut nothing = data(0, vec![], &[2, 1]);
            let scaler = Scaler::fit(kind, &nothing);
            scaler.apply(&mut nothing).unwrap();
            scaler.apply_rows(&mut []).unwrap();
            assert!(scaler.apply_rows(&mut [1.0]).is_err());
            Scaler::fit(kind, &Dataset::default()).apply(&mut Dataset::default()).unwrap();
        }
    }

    fn bits(data: &Dataset) -> Vec<u32> {
        data.features().iter().map(|x| x.to_bits()).collect()
    }
}
