//! The complete explanation of one model on one data set.

use super::changes::{Changes, Moved, QueryChange, moved};
use super::dependence::{Axis, Dependence, axis, dependence_of, grids};
use super::explainer::{AttributionMethod, Counts, Explainer, row_of};
use super::importance::{ALPHA, Importance, Permute, importances_of};
use super::model_importance::{ModelImportance, model_importance};
use crate::analysis::significance::{Better, CompareOptions, Comparison, Leaderboard, PerQuery};
use crate::baseline::best_feature;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metric::{Conventions, Metric, Summary, evaluate};
use crate::model::Model;
use crate::stop::Stop;
use serde::Serialize;

/// Scores of a baseline to compare a model with.
#[derive(Debug, Clone, Copy)]
pub struct BaselineScores<'a> {
    /// Name in reports.
    pub name: &'a str,
    /// One score per document, in the order of the data; minus infinity for unranked documents.
    pub scores: &'a [f64],
}

/// Options of an explanation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainOptions {
    /// Conventions of the evaluation.
    #[serde(skip)]
    pub conventions: Conventions,
    /// The documents between which the values of a feature are shuffled.
    pub permute: Permute,
    /// Number of shuffles per feature.
    pub repeats: usize,
    /// Random seed.
    pub seed: u64,
    /// Number of features, from the most important, with a partial dependence.
    pub dependences: usize,
    /// Number of queries with the largest gain, and with the largest loss, to report.
    pub queries: usize,
    /// Number of contributions to report for each of these queries.
    pub contributions: usize,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        let conventions = Conventions::default();
        ExplainOptions {
            conventions,
            permute: Permute::Query,
            repeats: 5,
            seed: 1,
            dependences: 6,
            queries: 3,
            contributions: 4,
        }
    }
}

/// Explanation of a model on one data set, by one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// Name of the metric.
    pub metric: String,
    /// Conventions of the evaluation.
    pub conventions: String,
    /// Options of the explanation.
    pub options: ExplainOptions,
    /// Number of queries.
    pub queries: usize,
    /// Number of documents.
    pub documents: usize,
    /// Names of the features.
    pub feature_names: Vec<String>,
    /// The model's metric values over queries.
    pub value: Summary,
    /// Permutation importance of all features, the most important first.
    pub importances: Vec<Importance>,
    /// The model's own importance of each feature, in feature order.
    pub model_importance: ModelImportance,
    /// Partial dependences of the most important features.
    pub dependences: Vec<Dependence>,
    /// Comparison of the model with the baseline.
    pub comparison: Comparison,
    /// How contributions were computed.
    pub method: AttributionMethod,
    /// Source of the counts at leaves; `None` for models without trees.
    pub counts: Option<Counts>,
    /// The queries with the largest changes against the baseline.
    pub changes: Changes,
}

/// Explains a model on raw data. The data is scaled in place, without a second copy. Without a baseline, the model is compared with
/// the best single feature of the data.
///
/// `progress` is called with the completed fraction, from any thread.
///
/// ```
/// use burnrank::analysis::explain::{ExplainOptions, AttributionMethod, explain};
/// use burnrank::metric::parse;
/// use burnrank::{Dataset, Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer, device};
/// let features = vec![3.0, 1.0, 1.0, 1.0, 2.0, 5.0, 1.0, 9.0];
/// let data = Dataset::new(2, features, vec![1.0, 0.0, 1.0, 0.0], vec![("a".into(), 2), ("b".into(), 2)])?;
/// let shape = RankerConfig::linear(2);
/// let model = Model {
///     scorer: Scorer::Net(shape.from_weights(&[vec![2.0, 0.0]], &device::open("auto")?)?),
///     info: ModelInfo::new(shape, Scaler::fit(ScaleKind::ZScore, &data), "by hand"),
///     history: vec![],
/// };
/// let explanation = explain(&model, data, &*parse("pairs")?, None, &ExplainOptions::default(), &|_| {})?;
/// assert_eq!((explanation.value.mean, explanation.method, explanation.importances[0].feature), (1.0, AttributionMethod::Linear, 0));
/// assert_eq!(explanation.comparison.baseline, "f1 alone");
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// If the data does not fit the model, the metric or the baseline, no query has a value, or there is not enough memory.
pub fn explain(
    model: &Model,
    data: Dataset,
    metric: &dyn Metric,
    baseline: Option<BaselineScores<'_>>,
    options: &ExplainOptions,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Explanation> {
    let feature_names = model.info.names_of_features();
    let data = model.info.fit(data)?;
    let conventions = &options.conventions;
    let evaluated = |scores: &[f64]| evaluate(metric, scores, data.labels(), data.offsets(), conventions);
    let single = match baseline {
        Some(_) => None,
        None => Some(single_feature(&data, metric, conventions, &feature_names)?),
    };
    let baseline = match (&baseline, &single) {
        (Some(baseline), _) => *baseline,
        (None, Some((name, scores))) => BaselineScores { name, scores },
        (None, None) => return Err(Error::Data("no baseline to compare with".into())),
    };
    if baseline.scores.len() != data.n_documents() {
        let (count, documents) = (baseline.scores.len(), data.n_documents());
        return Err(Error::Mismatch(format!("{}: {count} scores for {documents} documents", baseline.name)));
    }
    let scores = model.score(&data)?;
    let values = evaluate(metric, &scores, data.labels(), data.offsets(), conventions)?;
    let baseline_values = evaluated(baseline.scores)?;
    let comparison = compared(&data, metric, options, (&values, &baseline_values), baseline.name)?;
    let rankings = (&scores[..], &values[..], baseline.scores, &baseline_values[..]);
    let [won, lost] = moved(&data, metric, conventions, rankings, options.queries)?;
    // Raw feature values for the report are copied before the data is scaled.
    let raw_documents = |moved: &[Moved]| -> Vec<Option<[Vec<f32>; 2]>> {
        let rows = |moved: &Moved| {
            moved.pair.as_ref().map(|pair| [pair.better, pair.worse].map(|row| row_of(&data, row).to_vec()))
        };
        moved.iter().map(rows).collect()
    };
    let (won_rows, lost_rows) = (raw_documents(&won), raw_documents(&lost));
    let missing: Vec<bool> = data.missing_counts().iter().map(|&count| count > 0).collect();
    let raw_grids = (axis(&model.info.scaler) == Axis::Raw).then(|| grids(&data));
    let (queries, documents) = (data.n_queries(), data.n_documents());
    progress(0.02);
    let data = model.scaled(data)?;
    let columns = columns_of_features(model);
    let grids = raw_grids.unwrap_or_else(|| {
        let mut by_column = grids(&data);
        columns
            .iter()
            .map(|columns| columns.first().map_or_else(Vec::new, |&at| std::mem::take(&mut by_column[at])))
            .collect()
    });
    let during = |share: f64| progress(0.02 + 0.96 * share);
    let (permute, repeats, seed) = (options.permute, options.repeats, options.seed);
    let (scorer, all) = (&model.scorer, &columns);
    let mut importances = importances_of(scorer, &data, all, metric, conventions, permute, repeats, seed, &during)?;
    let model_importance = feature_importance(model, &data)?;
    // Ties, such as those of unused features, are broken by the model's own importance.
    let in_model =
        |importance: &Importance| model_importance.values.get(importance.feature).map_or(0.0, |value| value.abs());
    importances.sort_by(|a, b| b.decrease.total_cmp(&a.decrease).then(in_model(b).total_cmp(&in_model(a))));
    let top = importances.iter().take(options.dependences).map(|importance| importance.feature);
    let dependences = top.map(|feature| dependence_of(model, &data, feature, &grids[feature], missing[feature]));
    let dependences: Vec<Dependence> = dependences.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    let explainer = Explainer::new(&model.scorer, &data)?;
    let explained = |moved: Vec<Moved>, rows: Vec<Option<[Vec<f32>; 2]>>| -> Vec<QueryChange> {
        let pairs = moved.into_iter().zip(rows);
        pairs
            .map(|(moved, rows)| moved.explained(&data, &columns, &scores, &explainer, rows, options.contributions))
            .collect()
    };
    let changes = Changes { won: explained(won, won_rows), lost: explained(lost, lost_rows) };
    progress(1.0);
    Ok(Explanation {
        metric: metric.name(),
        conventions: conventions.to_string(),
        options: options.clone(),
        queries,
        documents,
        feature_names,
        value: Summary::of(&values),
        importances,
        model_importance,
        dependences,
        comparison,
        method: explainer.method(),
        counts: explainer.counts(),
        changes,
    })
}

/// Returns the columns of the scaled data that depend on each feature.
fn columns_of_features(model: &Model) -> Vec<Vec<usize>> {
    let mut columns = vec![Vec::new(); model.info.n_features()];
    model.info.scaler.inputs().iter().enumerate().for_each(|(column, input)| columns[input.feature()].push(column));
    columns
}

/// Returns the model's own importance of each feature of its data: [`model_importance`], the largest over the inputs of a feature.
/// `data` is scaled.
///
/// # Errors
/// The errors of [`model_importance`].
pub fn feature_importance(model: &Model, data: &Dataset) -> Result<ModelImportance> {
    let mut importance = model_importance(&model.scorer, data)?;
    if model.info.scaler.widens() {
        let largest = |columns: &Vec<usize>| {
            let values = columns.iter().map(|&column| importance.values[column]);
            values.fold(0.0, |best: f64, value| if value.abs() > best.abs() { value } else { best })
        };
        importance.values = columns_of_features(model).iter().map(largest).collect();
    }
    Ok(importance)
}

/// Name and scores of the best single feature.
fn single_feature(
    data: &Dataset,
    metric: &dyn Metric,
    conventions: &Conventions,
    names: &[String],
) -> Result<(String, Vec<f64>)> {
    let (feature, weight) = best_feature(data, metric, conventions, &Stop::new())?;
    let name = format!("{} alone{}", names[feature], if weight > 0.0 { "" } else { ", ascending" });
    let rows = (0..data.n_documents()).map(|row| weight * f64::from(row_of(data, row)[feature]));
    Ok((name, rows.collect()))
}

/// Comparison of the model with the baseline on the queries with a metric value.
fn compared(
    data: &Dataset,
    metric: &dyn Metric,
    options: &ExplainOptions,
    (values, baseline_values): (&[Option<f64>], &[Option<f64>]),
    name: &str,
) -> Result<Comparison> {
    let pairs = values.iter().zip(baseline_values).zip(data.query_ids());
    let counted: Vec<(f64, f64, &String)> =
        pairs.filter_map(|((value, baseline), id)| Some(((*value)?, (*baseline)?, id))).collect();
    if counted.is_empty() {
        return Err(Error::Data("the metric has no value on any query, so there is nothing to explain".into()));
    }
    let (system, baseline): (Vec<f64>, Vec<f64>) = counted.iter().map(|(value, baseline, _)| (value, baseline)).unzip();
    let ids: Vec<String> = counted.iter().map(|(_, _, id)| (*id).clone()).collect();
    let better = if metric.is_cost() { Better::Lower } else { Better::Higher };
    let compare = CompareOptions { better, seed: options.seed, movers: 0, ..CompareOptions::default() };
    let (baseline, system) = (PerQuery { name, values: &baseline }, PerQuery { name: "the model", values: &system });
    let mut comparison = Comparison::new(&metric.name(), baseline, system, &ids, &compare)?;
    let board = Leaderboard::of_comparisons(&[baseline, system], ALPHA, std::slice::from_ref(&comparison))?;
    board.correct(0, 1, &mut comparison);
    Ok(comparison)
}
