//! The configuration of a training run, checked before any work starts.

use super::GROWS_TREES;
use super::SETTINGS;
use super::method::Method;
use super::model::{ModelChoice, ModelKind, models};
use super::value::Value;
use super::words::{GradientPath, OptimizerKind, Schedule, Skip};
use crate::data::scale::{DEFAULT_BINS, ScaleKind};
use crate::data::{Dataset, Preprocessing, Scaler, Scaling};
use crate::error::{Error, Result};
use crate::internal::text::listed;
use crate::model::{Architecture, ExportTarget, Init, RankerConfig, Unsupported};
use crate::objective::{Batch, Objective, Outputs};
use serde::{Deserialize, Serialize};

/// The configuration of a training run.
///
/// [`TrainConfig::default`] has the defaults of a net with hidden layers in the [settings table](super::SETTINGS).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrainConfig {
    /// Training objective.
    pub objective: Objective,
    /// Architecture of the model.
    pub architecture: Architecture,
    /// Training method. Gradient descent if missing in JSON.
    #[serde(default, skip_serializing_if = "Method::is_gradient")]
    pub method: Method,
    /// Distribution of the initial weights.
    pub init: Init,
    /// Feature scaling, fitted on the training queries. None if missing in JSON.
    #[serde(default, skip_serializing_if = "is_none")]
    pub scaling: ScaleKind,
    /// Maximum number of bins per feature of the scaling `piecewise`.
    #[serde(default = "default_bins", skip_serializing_if = "is_default_bins")]
    pub scale_bins: usize,
    /// Connection from the inputs of a net with hidden layers to its score. None if missing in JSON.
    #[serde(default, skip_serializing_if = "has_no_skip")]
    pub skip: Skip,
    /// Decay of the exponential moving average of a net's weights that is evaluated and saved; 0 uses the weights themselves.
    #[serde(default, skip_serializing_if = "is_nought")]
    pub average_weights: f64,
    /// Metric that selects the best epoch on the validation queries, as in `ndcg@10`.
    pub metric: String,
    /// Maximum number of epochs.
    pub epochs: usize,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Optimizer.
    pub optimizer: OptimizerKind,
    /// Number of queries per batch; 1 updates the weights after every query, as in the papers.
    pub batch_queries: usize,
    /// Learning rate schedule.
    pub schedule: Schedule,
    /// Number of epochs without a better validation value before training stops; 0 disables early stopping.
    pub patience: usize,
    /// Number of epochs without a better validation value before training restarts from new weights; 0 disables restarts.
    pub restart: usize,
    /// L2 penalty on all weights.
    pub l2: f64,
    /// Maximum L2 norm of the gradient of each parameter tensor; 0 disables clipping.
    pub clip: f64,
    /// Seed of all random numbers: weights, shuffles, samples.
    pub seed: u64,
    /// Numbers, from 1, or names of categorical features. Nets encode them as one input per level; trees split them into sets of
    /// levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categorical: Vec<String>,
    /// How gradients are computed.
    pub gradient: GradientPath,
    /// Maximum number of document pairs in memory at once on the tensor path.
    pub pair_budget: usize,
    /// Number of shares that the training queries are divided into. Up to this number of processes can train together, and
    /// the model does not depend on how many do. 0 trains without shares, in one process.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shares: usize,
    /// Where the model will be used, which restricts architecture, scaling and activation. Any use if missing in JSON.
    #[serde(rename = "for", default, skip_serializing_if = "is_any")]
    pub target: ExportTarget,
}

fn default_bins() -> usize {
    DEFAULT_BINS
}

fn is_default_bins(bins: &usize) -> bool {
    *bins == DEFAULT_BINS
}

fn has_no_skip(skip: &Skip) -> bool {
    *skip == Skip::None
}

fn is_nought(number: &f64) -> bool {
    *number == 0.0
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn is_none(scaling: &ScaleKind) -> bool {
    *scaling == ScaleKind::None
}

fn is_any(target: &ExportTarget) -> bool {
    *target == ExportTarget::Any
}

/// The defaults of a net with hidden layers.
impl Default for TrainConfig {
    fn default() -> Self {
        ModelChoice::mlp().config()
    }
}

impl TrainConfig {
    /// Trains for at least this number of updates and epochs, with a cosine schedule.
    pub(crate) fn lasting(self, queries: usize, updates: usize, epochs: usize) -> Self {
        let epochs = self.epochs_for(queries, updates, epochs);
        let config = TrainConfig { epochs, restart: 0, schedule: Schedule::Cosine, ..self };
        TrainConfig { patience: config.default_patience(), ..config }
    }

    /// Returns the default patience of nets: half of the epochs, but at least 20.
    pub(super) fn default_patience(&self) -> usize {
        (self.epochs / 2).max(20)
    }

    /// Returns the number of epochs that contain at least `updates` batches of `queries` training queries, but at least `epochs`.
    pub(super) fn epochs_for(&self, queries: usize, updates: usize, epochs: usize) -> usize {
        updates.div_ceil(self.batches(queries).max(1)).max(epochs)
    }

    /// Returns the number of batches in an epoch of `queries` training queries.
    pub(crate) fn batches(&self, queries: usize) -> usize {
        queries.div_ceil(self.batch_queries.max(1))
    }

    /// Returns the shape of the model for data with this scaling; trees and kernels grow to theirs.
    pub(crate) fn shape(&self, scaler: &Scaler) -> RankerConfig {
        let shape = RankerConfig::new(scaler.n_inputs(), self.architecture.clone()).encoded(scaler);
        RankerConfig { skip: self.skip == Skip::Linear, ..shape }
    }

    /// Returns how the features of `train` become inputs: trees use missing values and categorical features as they are, other
    /// models replace and encode them.
    ///
    /// # Errors
    /// If the data has no such categorical feature, or missing values that the model cannot take.
    pub fn preprocessing(&self, train: &Dataset) -> Result<Preprocessing> {
        let scaling = Scaling { kind: self.scaling, bins: self.scale_bins };
        let categorical = self.categorical_columns(train)?;
        match (&self.method, &self.architecture) {
            (Method::Boosting(_), _) => Ok(Preprocessing { scaling, imputes: false, categorical: Vec::new() }),
            (Method::Baseline(settings), Architecture::Trees { .. }) if train.has_missing() => {
                Err(Error::Data(format!(
                    "{}: the training data has missing values, which this baseline cannot use: give them a number with `null`, or \
                 train with `model` trees",
                    settings.name
                )))
            }
            (Method::Baseline(settings), Architecture::Trees { .. }) if !categorical.is_empty() => {
                let expected = format!("no features for {}, or `model` trees", settings.name);
                Err(Error::setting("categorical", self.categorical.join(","), expected))
            }
            _ => Ok(Preprocessing { scaling, imputes: true, categorical }),
        }
    }

    /// Returns the name of what is optimised: the objective, or the baseline.
    pub fn aim(&self) -> String {
        match &self.method {
            Method::Baseline(settings) => settings.to_string(),
            _ => self.objective.name(),
        }
    }

    /// Checks that each setting is valid and that all of them are compatible.
    ///
    /// # Errors
    /// Fails for the first setting that is not, and names it.
    pub fn check(&self) -> Result<()> {
        let kind = ModelChoice::of(self)?.kind;
        for row in SETTINGS.iter().filter(|row| row.is_of(kind)) {
            // Custom objectives have names that do not parse.
            if !matches!(row.value, Value::Name(..)) {
                row.check(&row.get(self))?;
            }
        }
        let (patience, restart) = (self.patience, self.restart);
        if patience > 0 && restart >= patience {
            let expected =
                format!("a value below `patience` {patience}, which stops training first; or set `patience` 0");
            return Err(Error::setting("restart", restart, expected));
        }
        if restart > 0 && !self.method.is_gradient() {
            return Err(Error::setting("restart", restart, "0: only nets restart from new weights"));
        }
        if restart > 0 && self.schedule == Schedule::Cosine {
            let expected = "another `schedule`: cosine runs over all epochs and cannot restart";
            return Err(Error::setting("restart", restart, expected));
        }
        if self.shares > 0 && !self.method.is_gradient() {
            return Err(Error::setting("shares", self.shares, "0: only nets can be trained in shares"));
        }
        if self.gradient == GradientPath::Tensor {
            if self.shares > 0 {
                let expected = "0: `gradient` tensor computes whole batches";
                return Err(Error::setting("shares", self.shares, expected));
            }
            self.objective.tensors()?;
        }
        self.check_target()?;
        crate::metric::parse(&self.metric).map(|_| ())
    }

    /// Checks that the target supports the model.
    ///
    /// # Errors
    /// Fails if it does not, and lists what it supports.
    pub(crate) fn check_target(&self) -> Result<()> {
        let (target, capability) = (self.target, self.target.capability());
        let only = |key, value: &str, supported: Vec<&str>| {
            Err(Error::setting(key, value, format!("{} with `for` {target}", listed(&supported, "or"))))
        };
        let supported = capability.check(&self.architecture, self.scaling);
        let has_skip = self.skip == Skip::Linear && !capability.skip;
        let supported = if has_skip { supported.and(Err(Unsupported::Skip)) } else { supported };
        match (supported, capability.levels, &self.architecture) {
            (Err(Unsupported::Architecture), ..) => {
                let model = ModelChoice::of(self)?.kind.name;
                let is_supported = |kind: &&ModelKind| capability.scalings(&kind.architecture).is_some();
                let models = models().filter(is_supported).map(|kind| kind.name).collect::<Vec<_>>();
                Err(Error::Config(format!(
                    "`for` {target} does not support {model} ({}): choose `model` {}",
                    self.architecture,
                    listed(&models, "or")
                )))
            }
            (Err(Unsupported::Skip), ..) => only("skip", self.skip.name(), vec![Skip::None.name()]),
            (Err(Unsupported::WithinQuery | Unsupported::Encoding), ..) => {
                let scalings = capability.scalings(&self.architecture);
                let is_supported = |kind: &ScaleKind| scalings.is_some_and(|scalings| scalings.has(*kind));
                let supported = ScaleKind::ALL.into_iter().filter(is_supported).map(ScaleKind::name);
                only("scale", self.scaling.name(), supported.collect())
            }
            (Err(Unsupported::Activation(activation)), ..) => {
                only("activation", activation.name(), capability.activations.iter().map(|kind| kind.name()).collect())
            }
            // A tree of n leaves has up to n - 1 branches from its root to a leaf.
            (Ok(()), Some(levels), Architecture::Trees { leaves, .. }) if *leaves > levels + 1 => {
                let expected = format!("at most {} with `for` {target}, for at most {levels} levels", levels + 1);
                Err(Error::setting("leaves", leaves, expected))
            }
            (Ok(()), ..) => Ok(()),
        }
    }

    /// Checks that this build can train the model.
    ///
    /// # Errors
    /// Fails for trees in a build without the feature `trees`.
    pub fn check_build(&self) -> Result<()> {
        match self.method {
            Method::Boosting(_) if !GROWS_TREES => Err(Error::Config(
                                "this build can score with trees, but not train them: build burnrank with the feature trees, as in 'cargo \
                                 install --path . --features trees' (needs CMake 3.28 and libclang)"
                                    .into(),
            )),
            _ => Ok(()),
        }
    }

    /// Checks that the objective has a finite gradient for the highest label of the training data.
    ///
    /// # Errors
    /// Fails if it does not, and suggests other objectives.
    pub fn check_labels(&self, train: &Dataset) -> Result<()> {
        if matches!(self.method, Method::Baseline(_)) {
            // Baselines check labels themselves.
            return Ok(());
        }
        let highest = train.labels().iter().copied().fold(0.0, f32::max);
        // An objective without a gradient for a label of 1 fails for other reasons, and reports them itself.
        if self.has_gradient(highest) || !self.has_gradient(1.0) {
            return Ok(());
        }
        Err(Error::Mismatch(format!(
            "label {highest} is too high for {}, whose gain is 2^y - 1: use lower labels or an objective without \
                         exponential gains, such as lambdarank:ndcg:linear or ranknet",
            self.objective
        )))
    }

    /// Checks that at least one training query has documents with different labels.
    ///
    /// ```
    /// use burnrank::{Dataset, Objective, TrainConfig};
    /// let queries = vec![("a".into(), 1), ("b".into(), 1)];
    /// let data = Dataset::new(1, vec![1.0, 2.0], vec![0.0, 1.0], queries)?;
    /// assert!(TrainConfig::default().check_pairs(&data).is_err());
    /// let objective = Objective::parse("squared-error")?;
    /// TrainConfig { objective, ..TrainConfig::default() }.check_pairs(&data)?;
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if no query has, unless the objective is pointwise.
    pub fn check_pairs(&self, train: &Dataset) -> Result<()> {
        self.check_has_pairs(train.has_pairs())
    }

    /// Like [`TrainConfig::check_pairs`], for data that is known to have such a query or not.
    pub(crate) fn check_has_pairs(&self, has_pairs: bool) -> Result<()> {
        let is_pointwise = match &self.method {
            Method::Baseline(settings) => ModelKind::of(&settings.name)?.is_pointwise,
            _ => self.objective.is_pointwise(),
        };
        if has_pairs || is_pointwise {
            return Ok(());
        }
        let (system, model) = match &self.method {
            Method::Baseline(settings) => (format!("{}: ", settings.name), "`model` mlp "),
            _ => (String::new(), ""),
        };
        Err(Error::Data(format!(
            "{system}no training query has documents with different labels, so there is nothing to learn: check the labels and \
                         the query ids, or train with {model}`objective` squared-error, which needs no pairs"
        )))
    }

    /// Whether the objective has finite gradients for a pair of documents with this label and label 0.
    fn has_gradient(&self, label: f32) -> bool {
        let batch = Batch { labels: &[label, 0.0], offsets: &[0, 2] };
        let (mut gradient, outputs) = ([0.0; 2], Outputs { loss: true, pairs: false });
        let result = self.objective.lambda_gradient(&[0.0; 2], batch, &mut gradient, outputs, &[0]);
        result.is_ok_and(|result| result.loss.is_finite()) && gradient.iter().all(|slope| slope.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_valid_and_round_trips() {
        let config = TrainConfig::default();
        config.check().unwrap();
        let text = serde_json::to_string(&config).unwrap();
        let back: TrainConfig = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
        // The scaling `none` is not serialised.
        let unscaled = TrainConfig { scaling: ScaleKind::None, ..config };
        let text = serde_json::to_string(&unscaled).unwrap();
        assert!(!text.contains("scaling"), "{text}");
        assert_eq!(serde_json::from_str::<TrainConfig>(&text).unwrap().scaling, ScaleKind::None);
    }

    #[test]
    fn labels_without_a_gradient_are_named_with_a_remedy() {
        let of = |label: f32| Dataset::new(1, vec![0.0; 2], vec![label, 0.0], vec![("a".into(), 2)]).unwrap();
        let config = |name: &str| TrainConfig { objective: Objective::parse(name).unwrap(), ..TrainConfig::default() };
        for objective in ["lambdarank:ndcg", "ndcg-loss1", "ndcg-loss2", "ndcg-loss2++:mu=5"] {
            config(objective).check_labels(&of(31.0)).unwrap();
            let message = config(objective).check_labels(&of(2000.0)).unwrap_err().to_string();
            assert!(message.starts_with("label 2000 is too high for ") && message.contains("ranknet"), "{message}");
        }
        for objective in ["ranknet", "lambdarank:ndcg:linear", "lambdarank:map", "arp-loss2"] {
            config(objective).check_labels(&of(2000.0)).unwrap();
        }
    }

    #[test]
    fn nonsense_is_named() {
        let bad = |change: fn(&mut TrainConfig)| {
            let mut config = TrainConfig::default();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        assert!(bad(|c| c.learning_rate = f64::NAN).contains("lr NaN: expected a number above 0"));
        assert!(bad(|c| c.epochs = 0).contains("epochs 0: expected"));
        assert!(bad(|c| c.batch_queries = 0).contains("batch-queries 0: expected"));
        assert!(bad(|c| c.l2 = -1.0).contains("l2 -1: expected"));
        assert!(bad(|c| c.metric = "nonsense".into()).contains("nonsense"));
        assert!(bad(|c| (c.restart, c.patience) = (30, 20)).contains("restart"));
    }
}
