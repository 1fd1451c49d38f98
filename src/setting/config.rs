//! Every setting of a training run, checked once, before any work starts.

use super::GROWS_TREES;
use super::SETTINGS;
use super::method::Method;
use super::model::{ModelChoice, ModelKind};
use super::value::Value;
use super::words::{GradientPath, OptimizerKind, Schedule};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Architecture, Init};
use crate::objective::{Batch, Objective, Outputs};
use serde::{Deserialize, Serialize};

/// The settings of a training run.
///
/// [`TrainConfig::default`] is what the [table of settings](super::SETTINGS) says for a net with hidden layers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrainConfig {
    /// What is optimised.
    pub objective: Objective,
    /// Which net, or what else is to come out.
    pub architecture: Architecture,
    /// How it is trained; gradient descent where settings in JSON do not say.
    #[serde(default, skip_serializing_if = "Method::is_gradient")]
    pub method: Method,
    /// Where its weights start.
    pub init: Init,
    /// What is done to features, fitted on the training queries; none where settings in JSON do not say.
    #[serde(default, skip_serializing_if = "is_none")]
    pub scaling: ScaleKind,
    /// The measure that chooses the best epoch on the validation queries, as in `ndcg@10`.
    pub metric: String,
    /// The most epochs.
    pub epochs: usize,
    /// The first learning rate.
    pub learning_rate: f64,
    /// The rule that turns gradients into steps.
    pub optimizer: OptimizerKind,
    /// Queries per batch; 1 is the papers' batch per query.
    pub batch_queries: usize,
    /// When the learning rate shrinks.
    pub schedule: Schedule,
    /// Stop after this many epochs without a better validation value; 0 never stops.
    pub patience: usize,
    /// Start again from new random weights after this many epochs without a better validation value; 0 never does.
    pub restart: usize,
    /// The L2 penalty on all weights.
    pub l2: f64,
    /// The largest norm of each parameter's gradient; 0 leaves gradients alone.
    pub clip: f64,
    /// The seed of weights, shuffles and everything else that is random.
    pub seed: u64,
    /// Which way gradients are computed.
    pub gradient: GradientPath,
    /// The most pairs in memory at once on the tensor path.
    pub pair_budget: usize,
    /// The shares that the queries are cut into, to be held by up to so many processes, which end at the same bytes whatever
    /// their number; 0 for batches that are computed whole, which nothing but one process can.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shares: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn is_none(scaling: &ScaleKind) -> bool {
    *scaling == ScaleKind::None
}

/// That of a net with hidden layers where nothing is stated.
impl Default for TrainConfig {
    fn default() -> Self {
        ModelChoice::mlp().config()
    }
}

impl TrainConfig {
    /// At least so many updates and epochs on so many training queries, with steps that fall to 0.
    pub(crate) fn lasting(self, queries: usize, updates: usize, epochs: usize) -> Self {
        let epochs = self.epochs_for(queries, updates, epochs);
        TrainConfig { epochs, patience: (epochs / 2).max(20), restart: 0, schedule: Schedule::Cosine, ..self }
    }

    /// The number of epochs that has at least so many updates and epochs on so many training queries.
    pub(super) fn epochs_for(&self, queries: usize, updates: usize, epochs: usize) -> usize {
        let per_epoch = queries.div_ceil(self.batch_queries.max(1)).max(1);
        updates.div_ceil(per_epoch).max(epochs)
    }

    /// What is optimised, as models and reports state it: the objective, or the system that has its own.
    pub fn aim(&self) -> String {
        match &self.method {
            Method::Baseline(settings) => settings.to_string(),
            _ => self.objective.name(),
        }
    }

    /// Refuses settings that make no sense, with the name of the setting.
    ///
    /// # Errors
    /// The first such setting.
    pub fn check(&self) -> Result<()> {
        let kind = ModelChoice::of(self)?.kind;
        for row in SETTINGS.iter().filter(|row| row.is_of(kind)) {
            // Objectives of the caller's own have no name that could be read.
            if !matches!(row.value, Value::Name(..)) {
                row.check(&row.get(self))?;
            }
        }
        let (patience, restart) = (self.patience, self.restart);
        if patience > 0 && restart >= patience {
            let expected = format!("less than `patience` {patience}, which stops before; or set `patience` 0");
            return Err(Error::setting("restart", restart, expected));
        }
        if restart > 0 && !self.method.is_gradient() {
            return Err(Error::setting("restart", restart, "0: only nets start again from other weights"));
        }
        if restart > 0 && self.schedule == Schedule::Cosine {
            let expected = "another `schedule`: the cosine falls over the whole run";
            return Err(Error::setting("restart", restart, expected));
        }
        if self.shares > 0 && !self.method.is_gradient() {
            return Err(Error::setting("shares", self.shares, "0: only nets are trained in shares"));
        }
        if self.gradient == GradientPath::Tensor {
            if self.shares > 0 {
                let expected = "0: `gradient` tensor works on whole batches";
                return Err(Error::setting("shares", self.shares, expected));
            }
            self.objective.tensors()?;
        }
        crate::metric::parse(&self.metric).map(|_| ())
    }

    /// Refuses what this build cannot train, before any work.
    ///
    /// # Errors
    /// For trees, in a build that does not grow them.
    pub fn check_build(&self) -> Result<()> {
        match self.method {
            Method::Boosting(_) if !GROWS_TREES => Err(Error::Config(
                "this build scores with trees, but does not grow them: build burnrank with --features trees, as in 'cargo \
                 install --path . --features trees' (needs CMake 3.28 and libclang)"
                    .into(),
            )),
            _ => Ok(()),
        }
    }

    /// Refuses training data with a label that is too high for the objective to have a finite gradient.
    ///
    /// # Errors
    /// When there is one, with other objectives as the remedy.
    pub fn check_labels(&self, train: &Dataset) -> Result<()> {
        if matches!(self.method, Method::Baseline(_)) {
            // They have an aim of their own, and refuse labels themselves.
            return Ok(());
        }
        let highest = train.labels().iter().copied().fold(0.0, f32::max);
        // An objective without a gradient for a label of 1 has other troubles, which it tells itself.
        if self.has_gradient(highest) || !self.has_gradient(1.0) {
            return Ok(());
        }
        Err(Error::Mismatch(format!(
            "label {highest} is too high for {}, whose gain is 2^y - 1: give lower labels, or an objective without such \
             gains, as lambdarank:ndcg:linear or ranknet",
            self.objective
        )))
    }

    /// Refuses training queries without an order to learn: in each of them, all documents have the same label.
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
    /// When no query has documents of different labels, unless what is trained learns from single documents.
    pub fn check_pairs(&self, train: &Dataset) -> Result<()> {
        self.check_found_pairs(train.has_pairs())
    }

    /// As [`TrainConfig::check_pairs`], of data that was looked at before.
    pub(crate) fn check_found_pairs(&self, has_pairs: bool) -> Result<()> {
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
            "{system}no training query has documents of different labels, so there is no order to learn: check the labels and \
             the query ids, or train with {model}`objective` squared-error, which needs no pairs"
        )))
    }

    /// Whether the objective has a finite gradient for a document of this label against one of label 0.
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
        // A scaling that is none is not written.
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
