//! Training.

use crate::callable::{Function, PythonLoss, PythonMetric};
use crate::data::{Data, json};
use crate::error::{OrRaise, key_of, raise};
use crate::model::Model;
use crate::run::{Link, interruptible};
use burnrank::analysis::explain::feature_importance;
use burnrank::data::ScaleKind;
use burnrank::setting::{Given, Kinds, Method, ModelChoice, ModelKind, Setting, models, resolve};
use burnrank::train::{Ensemble, HoldOut, RunFiles, Split, Splits, report_metrics};
use burnrank::tune::{Auto, AutoProgress};
use burnrank::{Dataset, Device, EpochRecord, Error, Metric, Objective, Result, TrainConfig, device};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Model selection; other names are those of models.
const AUTO: &str = "auto";

/// What to train, from the arguments of the estimator.
struct Plan {
    /// The model; `None` for model selection.
    model: Option<ModelChoice>,
    given: Given,
    /// Whether to choose the scaling of a net on the data.
    chooses_scaling: bool,
    members: usize,
    trials: Option<usize>,
    seconds: Option<f64>,
    device: String,
    objective: Option<Arc<Function>>,
    metric: Option<Arc<Function>>,
}

/// Settings that have no row in the table: they concern how a model is chosen.
#[derive(FromPyObject)]
pub struct Limits {
    ensemble: usize,
    trials: Option<usize>,
    seconds: Option<f64>,
    device: String,
}

/// A function and its name.
type Named = (String, Py<PyAny>);

impl Plan {
    /// Checks the arguments before any work.
    fn new(
        model: &str,
        settings: Vec<(String, String)>,
        limits: Limits,
        objective: Option<Named>,
        metric: Option<Named>,
    ) -> Result<(Self, TrainConfig)> {
        let mut given = Given::new();
        let mut chooses_scaling = false;
        for (name, text) in settings {
            let key = key_of(&name);
            // `auto` is not a scaling but chooses one.
            if key == "scale" && text.trim().eq_ignore_ascii_case(AUTO) {
                chooses_scaling = true;
            } else {
                given.state(&key, text)?;
            }
        }
        let Limits { ensemble: members, trials, seconds, device } = limits;
        let model = choice(model)?;
        let function = |named: Option<Named>| named.map(|(name, call)| Function::new(name, call));
        let (objective, metric) = (function(objective), function(metric));
        let plan = Plan { model, given, chooses_scaling, members, trials, seconds, device, objective, metric };
        plan.check()?;
        let config = resolve(&plan.model.clone().unwrap_or_else(ModelChoice::mlp), &plan.given, None)?;
        config.check_build()?;
        Ok((plan, config))
    }

    /// Checks that the arguments work together.
    fn check(&self) -> Result<()> {
        let config = |text: String| Err(Error::Config(text));
        if !(1..=1000).contains(&self.members) {
            return config(format!("ensemble {}: expected a number of 1 to 1000", self.members));
        }
        if self.trials == Some(0) {
            return config("trials 0: expected a number of 1 or more".into());
        }
        if let Some(seconds) = self.seconds.filter(|seconds| !(0.0..=1e9).contains(seconds)) {
            return config(format!("seconds {seconds}: expected a number of seconds"));
        }
        let custom = [("objective", self.objective.is_some()), ("metric", self.metric.is_some())];
        let custom = custom.into_iter().find(|(_, is_custom)| *is_custom).map(|(key, _)| key);
        let Some(model) = &self.model else {
            self.given.check_for(AUTO, Kinds::AUTO)?;
            if self.members != 1 {
                return config(
                    "`ensemble` is for nets and trees, not for auto: leave it out, or choose another `model`".into(),
                );
            }
            if let Some(key) = custom {
                return config(format!(
                    "a function as `{key}` is not for `model` auto: choose another model, such as mlp"
                ));
            }
            return Ok(());
        };
        let name = model.kind.name;
        let limits = [("trials", self.trials.is_some()), ("seconds", self.seconds.is_some())];
        if let Some((key, _)) = limits.into_iter().find(|(_, is_given)| *is_given) {
            return config(format!("`{key}` needs `model` auto: leave it out"));
        }
        if self.chooses_scaling && !Kinds::NETS.has(model.kind.kinds) {
            return config(format!("`scale` auto is for nets, not for {name}: choose a scaling, or leave it out"));
        }
        if self.members > 1 && model.kind.kinds == Kinds::BASELINES {
            return config(format!("`ensemble` is for nets and trees, not for {name}: leave it out"));
        }
        if self.members > 1 && self.metric.is_some() {
            return config("a function as `metric` does not work with `ensemble`: leave one of them out".into());
        }
        if self.metric.is_some() && model.kind.kinds == Kinds::BASELINES {
            return config(format!(
                "a function as `metric` is for nets and trees, not for {name}: pass the name of a metric"
            ));
        }
        if self.objective.is_some() && !model.kind.takes_objective() {
            return config(format!("`objective` is for nets and trees, not for {name}: leave it out"));
        }
        Ok(())
    }

    fn is_auto(&self) -> bool {
        self.model.is_none()
    }

    /// The exception that a Python function raised.
    fn failure(&self) -> Option<PyErr> {
        [&self.objective, &self.metric].into_iter().flatten().find_map(|function| function.take_failure())
    }
}

/// The model of a name; `None` for model selection.
fn choice(name: &str) -> Result<Option<ModelChoice>> {
    let name = name.trim();
    if name.eq_ignore_ascii_case(AUTO) {
        return Ok(None);
    }
    let kind = name.to_ascii_lowercase();
    let kind = kind.split(':').next().unwrap_or_default();
    if models().all(|model| model.name != kind) {
        return Err(ModelKind::unknown(kind, &[AUTO]));
    }
    name.parse().map(Some)
}

/// Checks the arguments of an estimator.
#[pyfunction]
pub fn check(
    model: &str,
    settings: Vec<(String, String)>,
    limits: Limits,
    objective: Option<Named>,
    metric: Option<Named>,
) -> PyResult<()> {
    Plan::new(model, settings, limits, objective, metric).map(drop).or_raise()
}

/// Checks one value of a setting, given by its argument.
#[pyfunction]
pub fn check_setting(name: &str, text: &str) -> PyResult<()> {
    Setting::of(&key_of(name)).and_then(|row| row.check(text)).or_raise()
}

/// Trains a model. Without validation data, one in five training queries is held out. Returns the model, its history as JSON,
/// the report of model selection as JSON, and kind and values of the model's own feature importance.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place in Python, by name")]
#[expect(clippy::type_complexity, reason = "unpacked at once in Python")]
pub fn fit(
    py: Python<'_>,
    model: &str,
    settings: Vec<(String, String)>,
    limits: Limits,
    objective: Option<Named>,
    metric: Option<Named>,
    train: &Data,
    valid: Option<&Data>,
    names: Option<Vec<String>>,
    observer: Option<Py<PyAny>>,
) -> PyResult<(Model, String, Option<String>, (String, Vec<f64>))> {
    let (plan, config) = Plan::new(model, settings, limits, objective, metric).or_raise()?;
    let train = train.take()?;
    let valid = valid.map(Data::take).transpose()?;
    if plan.members > 1 && Ensemble::is_deterministic(&config) && valid.is_some() {
        return Err(raise(Error::Config(
            "`ensemble`: all members would be equal, because training these trees is deterministic: set `subsample` 0.8 or \
             `feature-fraction` 0.8"
                .into(),
        )));
    }
    let result = interruptible(py, observer, |link| {
        let device = device::open(&plan.device)?;
        let (splits, config) = prepare(&plan, config, train, valid, &device, link)?;
        let sample = sample(&splits.train.data);
        let (mut model, report) = if plan.is_auto() {
            select(&plan, config, splits, &device, link)?
        } else {
            train_epochs(&plan, config, splits, &device, link)?
        };
        model.info.feature_names = names.unwrap_or_default();
        let importance = feature_importance(&model, &model.scaled(sample)?)?;
        Ok((model, report, (importance.kind.to_string(), importance.values)))
    });
    if let Some(failure) = plan.failure() {
        return Err(failure);
    }
    let (model, report, importance) = result?;
    let history = json(&model.history)?;
    Ok((Model::new(model), history, report, importance))
}

/// Splits the data, and resolves the settings that depend on it.
fn prepare(
    plan: &Plan,
    mut config: TrainConfig,
    train: Dataset,
    valid: Option<Dataset>,
    device: &Device,
    link: &Link,
) -> Result<(Splits, TrainConfig)> {
    let source = |name: &str| format!("{name} (Python)");
    // Model selection holds out queries itself.
    let hold_out = match plan.is_auto() {
        true => HoldOut::Nothing,
        false => HoldOut::Fifth { seed: config.seed, members: plan.members },
    };
    let files = RunFiles {
        train: Path::new("X"),
        valid: valid.as_ref().map(|_| Path::new("eval_set")),
        test: None,
        targets: None,
    };
    let (mut train, mut valid) = (Some(train), valid);
    let (mut splits, _) = Splits::read(&files, hold_out, |name, path| {
        let data = if name == "train" { train.take() } else { valid.take() };
        Ok::<_, Error>(Split::new(source(&path.display().to_string()), data.unwrap_or_default()))
    })?;
    splits.fit_widths(None)?;
    if let Some(function) = &plan.objective {
        config.objective = Objective::of(Arc::new(PythonLoss(function.clone())));
    }
    splits.check_pairs(&config, false)?;
    if !plan.is_auto() {
        config = plan.given.suited(config, splits.train.data.n_queries())?;
    }
    if plan.chooses_scaling && config.method == Method::Gradient && !plan.is_auto() {
        let valid = Some(&splits.valid.data).filter(|valid| valid.n_queries() > 0);
        let scaling = Auto::new(config.clone()).choose_scaling(&splits.train.data, valid, device, &link.stop)?;
        config.scaling = scaling;
    }
    Ok((splits, config))
}

/// Selects settings on the data and averages the models of the best ones.
fn select(
    plan: &Plan,
    config: TrainConfig,
    splits: Splits,
    device: &Device,
    link: &Link,
) -> Result<(burnrank::Model, Option<String>)> {
    let scaling = plan.given.get("scale").map(str::parse::<ScaleKind>).transpose()?;
    let metrics = report_metrics(&config.metric)?;
    let limit = plan.seconds.map(Duration::from_secs_f64);
    let auto = Auto { scaling, trials: plan.trials, limit, metrics: metrics.clone(), ..Auto::new(config) };
    let valid = Some(&splits.valid.data).filter(|valid| valid.n_queries() > 0);
    let show = |progress: AutoProgress| {
        let report = serde_json::json!({ "runs": progress.runs, "of": progress.of });
        if !matches!(link.report("selection", report.to_string()), Ok(ControlFlow::Continue(()))) {
            link.stop.ask();
        }
    };
    let (mut model, report) = auto.train(&splits.train.data, valid, device, &link.stop, &show)?;
    splits.describe(&mut model, &metrics, &link.stop);
    let report = serde_json::to_string(&report).map_err(|error| Error::Record(error.to_string()))?;
    Ok((model, Some(report)))
}

/// Trains one model, or an ensemble, epoch by epoch.
fn train_epochs(
    plan: &Plan,
    config: TrainConfig,
    mut splits: Splits,
    device: &Device,
    link: &Link,
) -> Result<(burnrank::Model, Option<String>)> {
    config.check_labels(&splits.train.data)?;
    let metrics = report_metrics(&config.metric)?;
    let data = splits.training_data(&config)?;
    let mut run = Ensemble::of(&config, plan.members, &data, &[], device)?.with_stop(&link.stop);
    if let Some(function) = &plan.metric {
        let metric: Arc<dyn Metric> = Arc::new(PythonMetric(function.clone()));
        run = run.with_metric(&metric)?;
    }
    let mut run = run.with_metrics(&metrics);
    run.run(|_, epochs| report_epochs(link, epochs, config.epochs))?;
    // A run that was interrupted by an exception has no use for its model.
    let mut model = run.finish()?;
    splits.describe(&mut model, &metrics, &link.stop);
    Ok((model, None))
}

fn report_epochs(link: &Link, epochs: &[EpochRecord], of: usize) -> Result<ControlFlow<()>> {
    let report = serde_json::json!({ "epochs": epochs, "of": of });
    link.report("epochs", report.to_string())
}

/// Maximum number of documents that gradients are averaged over for feature importance.
const MAX_DOCUMENTS: usize = 2_000;

/// Copies evenly spaced queries, for the model's own feature importance.
fn sample(data: &Dataset) -> Dataset {
    let (queries, documents) = (data.n_queries(), data.n_documents());
    let step = documents.div_ceil(MAX_DOCUMENTS).max(1);
    data.select(&(0..queries).step_by(step).collect::<Vec<_>>())
}
