//! The kinds of models that can be trained.

use super::SETTINGS;
use super::config::TrainConfig;
use super::given::{Given, resolve};
use super::method::{BaselineSettings, Method, TreeSettings};
use super::words::{GradientPath, OptimizerKind, Schedule, Skip};
use crate::baseline::BASELINES;
use crate::data::scale::{DEFAULT_BINS, ScaleKind};
use crate::error::{Error, Result};
use crate::internal::text::listed;
use crate::model::{Activation, Architecture, ExportTarget, Init};
use crate::name::{self, Cutoff, Name, Named, Parameter};
use crate::objective::Objective;
use std::collections::BTreeMap;
use std::fmt;

/// A kind of model that can be trained, and its default settings.
#[derive(Debug)]
pub struct ModelKind {
    /// Name, as in `mlp`.
    pub name: &'static str,
    /// Short description.
    pub help: &'static str,
    /// What it optimises; `None` if the objective is a setting.
    pub optimises: Option<&'static str>,
    /// Parameters that may follow the name, as in `ranksvm:c=0.1`.
    pub parameters: &'static [Parameter],
    /// Maximum number of epochs, if it does not depend on the data.
    pub epochs: usize,
    /// Number of epochs without a better validation value before training stops; 0 disables early stopping.
    pub patience: usize,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Feature scaling.
    pub scaling: ScaleKind,
    /// Architecture; its size depends on the settings of nets and trees.
    pub architecture: Architecture,
    /// The kind of the model, which determines its settings.
    pub kinds: Kinds,
    /// Whether it learns from single documents rather than pairs or lists, as PRank does.
    pub is_pointwise: bool,
}

/// A set of kinds of models, such as those that have a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// Nets without hidden layers.
    pub const LINEAR: Kinds = Kinds(1);
    /// Nets with hidden layers.
    pub const MLP: Kinds = Kinds(2);
    /// All nets.
    pub const NETS: Kinds = Self::LINEAR.or(Self::MLP);
    /// Boosted trees.
    pub const TREES: Kinds = Kinds(4);
    /// Baselines.
    pub const BASELINES: Kinds = Kinds(8);
    /// Automatic model selection, which is not a model itself.
    pub const AUTO: Kinds = Kinds(16);

    /// Returns the union of both sets.
    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether `other` is a subset.
    pub const fn has(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (Kinds::NETS, "nets"),
            (Kinds::LINEAR, "linear"),
            (Kinds::MLP, "mlp"),
            (Kinds::TREES, "trees"),
            (Kinds::BASELINES, "baselines"),
            (Kinds::AUTO, "auto"),
        ];
        let (mut rest, mut names) = (self.0, Vec::new());
        for (kinds, name) in all {
            if rest & kinds.0 == kinds.0 {
                rest &= !kinds.0;
                names.push(name);
            }
        }
        f.write_str(&listed(&names, "and"))
    }
}

/// Nets and trees, which can be trained with any objective.
pub(super) const OWN: &[ModelKind] = &[
    ModelKind {
        name: "linear",
        help: "one weight per feature",
        optimises: None,
        parameters: &[],
        epochs: 100,
        patience: 20,
        learning_rate: 0.03,
        scaling: ScaleKind::Quantile,
        architecture: Architecture::Linear,
        kinds: Kinds::LINEAR,
        is_pointwise: false,
    },
    ModelKind {
        name: "mlp",
        help: "a net with hidden layers",
        optimises: None,
        parameters: &[],
        epochs: 100,
        patience: 20,
        learning_rate: 0.01,
        scaling: ScaleKind::Quantile,
        architecture: Architecture::Mlp { hidden: Vec::new(), activation: Activation::Tanh },
        kinds: Kinds::MLP,
        is_pointwise: false,
    },
    ModelKind {
        name: "trees",
        help: "boosted trees: LambdaMART with lambdarank:ndcg, MART with squared-error",
        optimises: None,
        parameters: &[],
        epochs: 500,
        patience: 50,
        learning_rate: 0.1,
        scaling: ScaleKind::None,
        architecture: Architecture::Trees { trees: 0, leaves: 0 },
        kinds: Kinds::TREES,
        is_pointwise: false,
    },
];

/// Names of models in other tools and papers, without hyphens, and the equivalent settings.
#[rustfmt::skip]
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["lambdamart"], "LambdaMART is `model` trees `objective` lambdarank:ndcg"),
    (&["mart", "gbrt"], "MART is `model` trees `objective` squared-error"),
    (&["lightgbm", "lgbm", "xgboost", "xgb", "catboost", "gbdt", "gbm", "tree", "boosting"], "boosted trees are `model` trees"),
    (&["ranknet"], "RankNet is `model` mlp `objective` ranknet"),
    (&["lambdarank"], "LambdaRank is `model` mlp `objective` lambdarank:ndcg"),
    (&["lambdaloss"], "LambdaLoss is `model` mlp `objective` ndcg-loss2++"),
    (&["listnet"], "ListNet is `model` mlp `objective` listnet"),
    (&["softrank"], "SoftRank is `model` mlp `objective` softrank"),
    (&["approxndcg"], "ApproxNDCG is `model` mlp `objective` approx-ndcg"),
    (&["rankcosine"], "RankCosine is `model` mlp `objective` rankcosine"),
    (&["net", "nn", "dnn", "neural", "neuralnet", "neuralnetwork"], "a net with hidden layers is `model` mlp"),
    (&["svm", "svmrank"], "RankSVM is `model` ranksvm"),
];

/// Iterates over all kinds of models: nets and trees first, then the baselines.
pub fn models() -> impl Iterator<Item = &'static ModelKind> {
    OWN.iter().chain(BASELINES.iter().map(|(kind, _)| kind))
}

impl ModelKind {
    /// Returns the kind with this name.
    ///
    /// # Errors
    /// Fails if the name is unknown. The message suggests the nearest name, or lists all.
    pub fn of(name: &str) -> Result<&'static ModelKind> {
        models().find(|kind| kind.name == name).ok_or_else(|| Self::unknown(name, &[]))
    }

    /// Returns the error for an unknown name: it suggests a name, or lists all. `others` are further names that the caller accepts.
    pub fn unknown(name: &str, others: &[&'static str]) -> Error {
        let plain = name.replace(['-', '_', ' '], "");
        match ELSEWHERE.iter().find(|(names, _)| names.contains(&plain.as_str())) {
            Some((_, settings)) => Error::Config(format!("unknown model '{name}': {settings}")),
            None => name::unknown("model", name, others.iter().copied().chain(models().map(|kind| kind.name))),
        }
    }

    /// Returns the default feature scaling for a target: the usual one if the target supports it, otherwise the first that it
    /// supports among those of automatic selection.
    pub(super) fn scaling_for(&self, target: ExportTarget) -> ScaleKind {
        let scalings = target.capability().scalings(&self.architecture);
        let is_supported = |kind: ScaleKind| scalings.is_some_and(|scalings| scalings.has(kind));
        let others = || ScaleKind::tried_by_auto(is_supported).first().copied();
        if is_supported(self.scaling) { self.scaling } else { others().unwrap_or(self.scaling) }
    }

    /// Whether the training objective is a setting of this kind.
    pub fn takes_objective(&self) -> bool {
        self.optimises.is_none()
    }

    /// Returns the name and its optional parameters, as in `ranksvm[:c=0]`.
    pub fn pattern(&self) -> String {
        Named::pattern(self)
    }
}

impl Named for ModelKind {
    const WHAT: &'static str = "model";

    fn rows() -> impl Iterator<Item = &'static Self> {
        models()
    }

    fn heads(&self) -> Vec<&'static str> {
        vec![self.name]
    }

    fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }

    fn cutoff(&self) -> Cutoff {
        Cutoff::No
    }
}

/// A kind of model and its parameters.
///
/// ```
/// use burnrank::setting::ModelChoice;
/// assert_eq!("linear".parse::<ModelChoice>()?.kind.help, "one weight per feature");
/// let error = "liner".parse::<ModelChoice>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown model 'liner': did you mean 'linear'?");
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModelChoice {
    /// The kind.
    pub kind: &'static ModelKind,
    /// Value of each parameter, given or default.
    pub numbers: BTreeMap<String, f64>,
}

impl std::str::FromStr for ModelChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::read(text).map_err(|error| {
            let suggestion = name::corrected::<ModelKind>(text, |_| None);
            match text.contains(':') && Self::read(&suggestion).is_ok() {
                true => Error::Config(format!("unknown model '{text}': did you mean '{suggestion}'?")),
                false => error,
            }
        })
    }
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BaselineSettings { name: self.kind.name.into(), numbers: self.numbers.clone() }.fmt(f)
    }
}

impl ModelChoice {
    fn read(text: &str) -> Result<Self> {
        let name = Name::split::<ModelKind>(text)?;
        let kind = ModelKind::of(&name.head)?;
        let given = name.parameters(kind)?;
        let numbers = kind.parameters.iter().map(|p| (p.key.to_owned(), given.number(p.key))).collect();
        Ok(ModelChoice { kind, numbers })
    }

    /// Returns a net with hidden layers.
    pub fn mlp() -> Self {
        ModelChoice { kind: &OWN[1], numbers: BTreeMap::new() }
    }

    /// Returns boosted trees.
    pub fn trees() -> Self {
        ModelChoice { kind: &OWN[2], numbers: BTreeMap::new() }
    }

    /// Returns the model of a configuration.
    ///
    /// # Errors
    /// Fails for an unknown baseline, or an architecture that the method cannot train.
    pub fn of(config: &TrainConfig) -> Result<Self> {
        let name = match (&config.method, &config.architecture) {
            (Method::Baseline(settings), _) => {
                let kind = ModelKind::of(&settings.name)?;
                return Ok(ModelChoice { kind, numbers: settings.numbers.clone() });
            }
            (Method::Boosting(_), Architecture::Trees { .. }) => "trees",
            (Method::Gradient, Architecture::Linear) => "linear",
            (Method::Gradient, Architecture::Mlp { .. }) => "mlp",
            (Method::Boosting(_), other) => return Err(Error::Config(format!("{other}: boosting needs trees"))),
            (Method::Gradient, other) => return Err(Error::Config(format!("{other}: gradient descent needs a net"))),
        };
        name.parse()
    }

    /// Returns the default configuration.
    pub fn config(&self) -> TrainConfig {
        // A test resolves every kind: the defaults of the table are valid.
        resolve(self, &Given::new(), None).unwrap_or_else(|error| panic!("defaults of {}: {error}", self.kind.name))
    }

    /// Returns a configuration before any setting of the model is applied. Settings that the model does not have are at the
    /// fixed defaults of the table, because models and run identities store them too.
    pub(super) fn blank(&self) -> TrainConfig {
        let kind = self.kind;
        let mut config = TrainConfig {
            objective: Objective::default(),
            architecture: kind.architecture.clone(),
            method: match kind.kinds {
                Kinds::TREES => Method::Boosting(TreeSettings::BLANK),
                Kinds::BASELINES => {
                    Method::Baseline(BaselineSettings { name: kind.name.into(), numbers: self.numbers.clone() })
                }
                _ => Method::Gradient,
            },
            init: Init::Burn,
            scaling: kind.scaling,
            scale_bins: DEFAULT_BINS,
            skip: Skip::None,
            average_weights: 0.0,
            metric: String::new(),
            epochs: kind.epochs,
            learning_rate: kind.learning_rate,
            optimizer: OptimizerKind::Adam,
            batch_queries: 0,
            schedule: Schedule::Constant,
            patience: kind.patience,
            restart: 0,
            l2: 0.0,
            clip: 0.0,
            seed: 0,
            categorical: Vec::new(),
            gradient: GradientPath::Auto,
            pair_budget: 0,
            shares: 0,
            target: ExportTarget::Any,
        };
        for row in SETTINGS.iter().filter(|row| !row.is_of(kind)) {
            row.set_fixed(&mut config);
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::ParameterValue;

    #[test]
    fn names_are_unique_and_read_back() {
        let names: Vec<&str> = models().map(|kind| kind.name).collect();
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name), "{name} twice");
            let choice: ModelChoice = name.parse().unwrap();
            assert_eq!((choice.kind.name, choice.to_string().as_str()), (*name, *name));
            for setting in choice.kind.parameters {
                let ParameterValue::Number { valid, default } = &setting.value else { panic!("{setting:?}") };
                assert!(valid.contains(&default.unwrap()), "{name}:{}", setting.key);
                let text = format!("{name}:{}={}", setting.key, valid.start());
                let choice: ModelChoice = text.parse().unwrap();
                assert_eq!(choice.numbers[setting.key], *valid.start());
                assert_eq!(choice.to_string().parse::<ModelChoice>().unwrap().numbers, choice.numbers);
                let error = format!("{name}:{}=x", setting.key).parse::<ModelChoice>().unwrap_err().to_string();
                assert!(error.contains(&format!("{}=x: expected a number from", setting.key)), "{error}");
                let error = format!("{text}:{}=1", setting.key).parse::<ModelChoice>().unwrap_err().to_string();
                assert!(error.contains(&format!("{} is given twice", setting.key)), "{error}");
            }
            let error = format!("{name}:nonsense=1").parse::<ModelChoice>().unwrap_err().to_string();
            assert!(error.contains("unknown parameter 'nonsense=1'"), "{error}");
            let config = choice.config();
            config.check().unwrap();
            if choice.kind.kinds == Kinds::BASELINES {
                assert_eq!(config.architecture, choice.kind.architecture, "{name}");
            }
        }
        for (theirs, ours) in ELSEWHERE {
            for name in *theirs {
                let message = name.parse::<ModelChoice>().unwrap_err().to_string();
                assert_eq!(message, format!("unknown model '{name}': {ours}"));
            }
            let (model, objective) = ours
                .split_once("`model` ")
                .unwrap()
                .1
                .split_once(" `objective` ")
                .unwrap_or_else(|| (ours.rsplit(' ').next().unwrap(), "ranknet"));
            model.parse::<ModelChoice>().unwrap();
            crate::objective::Objective::parse(objective).unwrap();
        }
        let message = "Lambda-MART".parse::<ModelChoice>().unwrap_err().to_string();
        assert!(message.ends_with("LambdaMART is `model` trees `objective` lambdarank:ndcg"), "{message}");
        let message = ModelKind::unknown("atuo", &["auto"]).to_string();
        assert_eq!(message, "unknown model 'atuo': did you mean 'auto'?");
        let message = "oap-bmp:tua=0.5".parse::<ModelChoice>().unwrap_err().to_string();
        assert_eq!(message, "unknown model 'oap-bmp:tua=0.5': did you mean 'oap-bpm:tau=0.5'?");
        let message = "forest".parse::<ModelChoice>().unwrap_err().to_string();
        assert!(message.starts_with("unknown model 'forest': expected linear, mlp"), "{message}");
    }
}
