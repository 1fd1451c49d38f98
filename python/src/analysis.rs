//! Evaluation, significance tests, explanations and certificates. Results are JSON.

use crate::data::{Data, json, labels_of, offsets};
use crate::error::{OrRaise, raise};
use crate::matrix::vector;
use crate::model::Model;
use crate::run::interruptible;
use burnrank::analysis::explain::{BaselineScores, ExplainOptions, Permute, explain as explain_model};
use burnrank::analysis::optimality::{CertifyOptions, certify as certify_model};
use burnrank::analysis::significance::{Better, CompareOptions, Comparison, Leaderboard, PerQuery, draws_needed};
use burnrank::metric::{Empty, Peer, REPORTED_METRICS, Summary, Ties, parse_with};
use burnrank::{Conventions, Error, Metric, Result, device};
use pyo3::prelude::*;
use serde_json::{Value, json as object};
use std::sync::Arc;

/// How metrics are computed.
#[derive(FromPyObject)]
pub struct Rules {
    like: Option<String>,
    ties: Option<String>,
    empty: Option<String>,
    threshold: f32,
}

impl Rules {
    fn peer(&self) -> Result<Option<Peer>> {
        self.like.as_deref().map(str::parse).transpose()
    }

    fn conventions(&self) -> Result<Conventions> {
        if let Some(peer) = self.peer()? {
            if self.ties.is_some() || self.empty.is_some() {
                return Err(Error::Config("`like` states ties and empty queries: leave out `ties` and `empty`".into()));
            }
            return Ok(peer.conventions());
        }
        let ties: Option<Ties> = self.ties.as_deref().map(str::parse).transpose()?;
        let empty: Option<Empty> = self.empty.as_deref().map(str::parse).transpose()?;
        let usual = Conventions::default();
        Ok(Conventions { ties: ties.unwrap_or(usual.ties), empty: empty.unwrap_or(usual.empty), ..usual })
    }

    fn metric(&self, name: &str) -> Result<Arc<dyn Metric>> {
        match self.peer()? {
            Some(peer) => peer.metric(name, self.threshold),
            None => parse_with(name, self.threshold),
        }
    }

    fn metrics(&self, names: Option<Vec<String>>) -> Result<Vec<Arc<dyn Metric>>> {
        let usual = self.peer()?.map_or(&REPORTED_METRICS[..], Peer::usual_metrics);
        let names = names.unwrap_or_else(|| usual.iter().map(|&name| name.to_owned()).collect());
        let mut metrics: Vec<Arc<dyn Metric>> = Vec::new();
        for name in names {
            let metric = self.metric(&name)?;
            if metrics.iter().all(|earlier| earlier.name() != metric.name()) {
                metrics.push(metric);
            }
        }
        Ok(metrics)
    }
}

/// Evaluates scores. Returns the conventions, and name, summary, values and direction of each metric.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    labels: &Bound<'_, PyAny>,
    scores: &Bound<'_, PyAny>,
    sizes: Vec<usize>,
    metrics: Option<Vec<String>>,
    rules: Rules,
) -> PyResult<String> {
    let (labels, scores) = (labels_of(labels)?, vector(scores)?);
    let report = interruptible(py, None, |_| {
        let (conventions, offsets) = (rules.conventions()?, offsets(&sizes));
        let compares_f32 = rules.peer()?.is_some_and(Peer::compares_f32);
        let singles: Vec<f32> = if compares_f32 { scores.iter().map(|&s| s as f32).collect() } else { Vec::new() };
        let evaluate = |metric: &Arc<dyn Metric>| {
            let values = match compares_f32 {
                true => burnrank::evaluate(&**metric, &singles, &labels, &offsets, &conventions)?,
                false => burnrank::evaluate(&**metric, &scores, &labels, &offsets, &conventions)?,
            };
            Ok(summary(&metric.name(), &values, metric.is_cost()))
        };
        let metrics = rules.metrics(metrics)?.iter().map(evaluate).collect::<Result<Vec<_>>>()?;
        Ok(object!({ "conventions": conventions.to_string(), "metrics": metrics }))
    })?;
    json(&report)
}

/// Summarises values of a metric, one per query; NaN stands for skipped queries.
#[pyfunction]
pub fn summarise(name: &str, values: &Bound<'_, PyAny>) -> PyResult<String> {
    let values: Vec<Option<f64>> =
        vector(values)?.into_iter().map(|value| value.is_finite().then_some(value)).collect();
    json(&summary(name, &values, false))
}

fn summary(name: &str, values: &[Option<f64>], is_cost: bool) -> Value {
    let Summary { mean, standard_error, interval, n, skipped } = Summary::of(values);
    object!({
        "name": name, "mean": mean, "standard_error": standard_error, "interval": [interval.0, interval.1], "queries": n,
        "skipped": skipped, "values": values, "cost": is_cost,
    })
}

/// Compares systems by their values of one metric, with corrected p-values. Returns a leaderboard and all comparisons.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place in Python, by name")]
pub fn compare(
    py: Python<'_>,
    metric: &str,
    names: Vec<String>,
    values: Vec<Vec<f64>>,
    queries: Vec<String>,
    is_cost: bool,
    alpha: f64,
    resamples: usize,
    seed: u64,
) -> PyResult<String> {
    let report = interruptible(py, None, |link| {
        let kept: Vec<usize> = (0..queries.len())
            .filter(|&query| values.iter().all(|v| v.get(query).is_some_and(|v| v.is_finite())))
            .collect();
        let values: Vec<Vec<f64>> = values.iter().map(|v| kept.iter().map(|&query| v[query]).collect()).collect();
        let queries: Vec<String> = kept.iter().map(|&query| queries[query].clone()).collect();
        let systems: Vec<PerQuery<'_>> =
            names.iter().zip(&values).map(|(name, values)| PerQuery { name, values }).collect();
        let pairs: Vec<(usize, usize)> = (0..systems.len())
            .flat_map(|first| (first + 1..systems.len()).map(move |second| (first, second)))
            .collect();
        let draws = match queries.len() <= 32 {
            true => 100_000,
            false => draws_needed(pairs.len(), alpha).clamp(100_000, 10_000_000),
        };
        let better = if is_cost { Better::Lower } else { Better::Higher };
        let options = CompareOptions { better, draws, resamples, seed, ..CompareOptions::default() };
        let mut comparisons = Vec::new();
        for &(first, second) in &pairs {
            link.stop.check()?;
            comparisons.push(Comparison::new(metric, systems[first], systems[second], &queries, &options)?);
        }
        let board = Leaderboard::of_comparisons(&systems, alpha, &comparisons)?;
        for (&(first, second), comparison) in pairs.iter().zip(&mut comparisons) {
            board.correct(first, second, comparison);
        }
        Ok(object!({
            "metric": metric, "alpha": alpha, "queries": queries.len(), "rows": board.rows, "comparisons": comparisons,
        }))
    })?;
    json(&report)
}

/// Explains a model on labelled data.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place in Python, by name")]
pub fn explain(
    py: Python<'_>,
    model: &Model,
    data: &Data,
    metric: &str,
    rules: Rules,
    baseline: Option<(String, Vec<f64>)>,
    permute: &str,
    repeats: usize,
    seed: u64,
    dependences: usize,
    queries: usize,
) -> PyResult<String> {
    let data = data.take()?;
    let permute: Permute = permute.parse().map_err(raise)?;
    let (metric, conventions) = (rules.metric(metric).or_raise()?, rules.conventions().or_raise()?);
    let options =
        ExplainOptions { conventions, permute, repeats, seed, dependences, queries, ..ExplainOptions::default() };
    let explanation = interruptible(py, None, |_| {
        let baseline = baseline.as_ref().map(|(name, scores)| BaselineScores { name, scores });
        explain_model(model.inner(), data, &*metric, baseline, &options, &|_| {})
    })?;
    json(&explanation)
}

/// Tests whether a net is at a local optimum of a metric on this data.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place in Python, by name")]
pub fn certify(
    py: Python<'_>,
    model: &Model,
    data: &Data,
    metric: &str,
    rules: Rules,
    epsilon: f64,
    delta: f64,
    directions: Option<usize>,
    steps: Option<Vec<Vec<f64>>>,
    relative: bool,
    seed: u64,
) -> PyResult<String> {
    let data = data.take()?;
    let (metric, conventions) = (rules.metric(metric).or_raise()?, rules.conventions().or_raise()?);
    let usual = CertifyOptions::default();
    let steps = steps.unwrap_or_else(|| usual.steps.clone());
    let options = CertifyOptions { epsilon, delta, directions, steps, relative, seed, conventions, ..usual };
    options.check().or_raise()?;
    let certificate = interruptible(py, None, |_| {
        let model = model.inner();
        let Some(ranker) = model.scorer.net() else {
            let architecture = &model.info.ranker.architecture;
            return Err(Error::Config(format!(
                "the model is {architecture}, but certify needs a linear net or an mlp"
            )));
        };
        let data = model.scaled(data)?;
        certify_model(ranker, &data, &*metric, &device::open("auto")?, &options, &mut |_| {})
    })?;
    let mut report = serde_json::to_value(&certificate).map_err(|error| raise(Error::Record(error.to_string())))?;
    report["holds"] = certificate.holds().into();
    json(&report)
}
