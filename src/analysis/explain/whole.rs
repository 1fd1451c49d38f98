//! Everything that is told about one model on one data set.

use super::changes::{Changes, Moved, QueryChange, moved};
use super::dependence::{Axis, Dependence, axis, dependence, grids};
use super::explainer::{AttributionMethod, Counts, Explainer, row_of};
use super::importance::{ALPHA, Importance, Permute, importances};
use super::model_importance::{ModelImportance, model_importance};
use crate::analysis::significance::{Better, CompareOptions, Comparison, Leaderboard, PerQuery};
use crate::baseline::best_feature;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metric::{Conventions, Metric, Summary, evaluate};
use crate::model::Model;
use crate::stop::Stop;
use serde::Serialize;

/// What a model is compared with.
#[derive(Debug, Clone, Copy)]
pub struct BaselineScores<'a> {
    /// What reports call it.
    pub name: &'a str,
    /// One score per document, in the order of the data; minus infinity for what it did not rank.
    pub scores: &'a [f64],
}

/// How a model is explained.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainOptions {
    /// How rankings are judged.
    #[serde(skip)]
    pub conventions: Conventions,
    /// Between which documents the values of a feature are exchanged.
    pub permute: Permute,
    /// How often.
    pub repeats: usize,
    /// What all random numbers follow from.
    pub seed: u64,
    /// Of how many of the most important features the partial dependence is told.
    pub dependences: usize,
    /// How many of the queries that won most, and of those that lost most, are told.
    pub queries: usize,
    /// How many features are told of each of these queries.
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

/// What a model learnt, judged on one data set by one measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The measure.
    pub metric: String,
    /// How rankings were judged.
    pub conventions: String,
    /// How it was explained.
    pub options: ExplainOptions,
    /// The number of queries.
    pub queries: usize,
    /// The number of documents.
    pub documents: usize,
    /// What the features are called.
    pub feature_names: Vec<String>,
    /// The model's mean over queries.
    pub value: Summary,
    /// All features, the most important first.
    pub importances: Vec<Importance>,
    /// What the model itself says of each feature, in the order of features.
    pub model_importance: ModelImportance,
    /// Of the most important features.
    pub dependences: Vec<Dependence>,
    /// The model against the baseline.
    pub comparison: Comparison,
    /// How the parts of features in scores were found.
    pub method: AttributionMethod,
    /// Of trees, who counted the documents at their leaves.
    pub counts: Option<Counts>,
    /// The queries that changed most against the baseline.
    pub changes: Changes,
}

/// Explains a model on raw data, which is scaled in place: no second copy is made. Without a baseline, the model is compared with
/// the best single feature of the data.
///
/// `progress` hears the share that is done, from any thread.
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
/// let found = explain(&model, data, &*parse("pairs")?, None, &ExplainOptions::default(), &|_| {})?;
/// assert_eq!((found.value.mean, found.method, found.importances[0].feature), (1.0, AttributionMethod::Linear, 0));
/// assert_eq!(found.comparison.baseline, "f1 alone");
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// When the data do not fit the model, the measure or the baseline, when no query counts, or memory is short.
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
    let judged = |scores: &[f64]| evaluate(metric, scores, data.labels(), data.offsets(), conventions);
    let single = match baseline {
        Some(_) => None,
        None => Some(single_feature(&data, metric, conventions, &feature_names)?),
    };
    let baseline = match (&baseline, &single) {
        (Some(given), _) => *given,
        (None, Some((name, scores))) => BaselineScores { name, scores },
        (None, None) => return Err(Error::Data("nothing to compare with".into())),
    };
    if baseline.scores.len() != data.n_documents() {
        let (found, documents) = (baseline.scores.len(), data.n_documents());
        return Err(Error::Mismatch(format!("{}: {found} scores for {documents} documents", baseline.name)));
    }
    let scores = model.score(&data)?;
    let values = evaluate(metric, &scores, data.labels(), data.offsets(), conventions)?;
    let baseline_values = judged(baseline.scores)?;
    let comparison = compared(&data, metric, options, (&values, &baseline_values), baseline.name)?;
    let rankings = (&scores[..], &values[..], baseline.scores, &baseline_values[..]);
    let [won, lost] = moved(&data, metric, conventions, rankings, options.queries)?;
    // What is told of raw features is kept before they are scaled.
    let kept = |moved: &[Moved]| -> Vec<Option<[Vec<f32>; 2]>> {
        let rows = |moved: &Moved| {
            moved.pair.as_ref().map(|pair| [pair.better, pair.worse].map(|row| row_of(&data, row).to_vec()))
        };
        moved.iter().map(rows).collect()
    };
    let (won_rows, lost_rows) = (kept(&won), kept(&lost));
    let raw_grids = (axis(&model.info.scaler) == Axis::Raw).then(|| grids(&data));
    let (queries, documents) = (data.n_queries(), data.n_documents());
    progress(0.02);
    let data = model.scaled(data)?;
    let grids = raw_grids.unwrap_or_else(|| grids(&data));
    let during = |share: f64| progress(0.02 + 0.96 * share);
    let (permute, repeats, seed) = (options.permute, options.repeats, options.seed);
    let mut importances = importances(&model.scorer, &data, metric, conventions, permute, repeats, seed, &during)?;
    let model_importance = model_importance(&model.scorer, &data)?;
    // Of equal falls, as of features without any use, the one with the larger number of the model itself comes first.
    let own =
        |importance: &Importance| model_importance.values.get(importance.feature).map_or(0.0, |value| value.abs());
    importances.sort_by(|a, b| b.decrease.total_cmp(&a.decrease).then(own(b).total_cmp(&own(a))));
    let top = importances.iter().take(options.dependences).map(|importance| importance.feature);
    let dependences = top.map(|feature| dependence(model, &data, feature, &grids[feature]));
    let dependences: Vec<Dependence> = dependences.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    let explainer = Explainer::new(&model.scorer, &data)?;
    let told = |moved: Vec<Moved>, rows: Vec<Option<[Vec<f32>; 2]>>| -> Vec<QueryChange> {
        let pairs = moved.into_iter().zip(rows);
        pairs.map(|(moved, rows)| moved.told(&data, &scores, &explainer, rows, options.contributions)).collect()
    };
    let changes = Changes { won: told(won, won_rows), lost: told(lost, lost_rows) };
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

/// The name and the scores of the best single feature.
fn single_feature(
    data: &Dataset,
    metric: &dyn Metric,
    conventions: &Conventions,
    names: &[String],
) -> Result<(String, Vec<f64>)> {
    let (feature, weight) = best_feature(data, metric, conventions, &Stop::new())?;
    let name = format!("{} alone{}", names[feature], if weight > 0.0 { "" } else { ", downwards" });
    let rows = (0..data.n_documents()).map(|row| weight * f64::from(row_of(data, row)[feature]));
    Ok((name, rows.collect()))
}

/// The model against the baseline on the queries that count.
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
        return Err(Error::Data("no query counts: there is nothing to explain".into()));
    }
    let (system, baseline): (Vec<f64>, Vec<f64>) = counted.iter().map(|(value, baseline, _)| (value, baseline)).unzip();
    let ids: Vec<String> = counted.iter().map(|(_, _, id)| (*id).clone()).collect();
    let better = if metric.is_cost() { Better::Lower } else { Better::Higher };
    let compare = CompareOptions { better, seed: options.seed, movers: 0, ..CompareOptions::default() };
    let (baseline, system) = (PerQuery { name, values: &baseline }, PerQuery { name: "the model", values: &system });
    let mut found = Comparison::new(&metric.name(), baseline, system, &ids, &compare)?;
    let board = Leaderboard::of_comparisons(&[baseline, system], ALPHA, std::slice::from_ref(&found))?;
    board.correct(0, 1, &mut found);
    Ok(found)
}
