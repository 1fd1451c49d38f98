//! What can be trained, by name: one row each.

use super::SETTINGS;
use super::config::TrainConfig;
use super::given::{Given, resolve};
use super::method::{BaselineSettings, Method, TreeSettings};
use super::words::{GradientPath, OptimizerKind, Schedule};
use crate::baseline::BASELINES;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::internal::text::listed;
use crate::model::{Activation, Architecture, Init};
use crate::name::{self, Cutoff, Name, Named, Parameter};
use crate::objective::Objective;
use std::collections::BTreeMap;
use std::fmt;

/// A kind of model that can be trained, and how it is trained unless told otherwise.
#[derive(Debug)]
pub struct ModelKind {
    /// Its name, as in `mlp`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// What it optimises; nothing where that is the objective's to say.
    pub optimises: Option<&'static str>,
    /// Numbers that may follow the name, as in `ranksvm:c=0.1`.
    pub parameters: &'static [Parameter],
    /// Maximum number of epochs, where the data does not decide on it.
    pub epochs: usize,
    /// Epochs without a better validation value before training stops; 0 never stops.
    pub patience: usize,
    /// Initial learning rate.
    pub learning_rate: f64,
    /// Feature scaling.
    pub scaling: ScaleKind,
    /// What scores; the settings of nets and trees decide on its size.
    pub architecture: Architecture,
    /// Which settings it has.
    pub kinds: Kinds,
    /// Whether it learns from single documents, without their order within a query: PRank learns thresholds between labels.
    pub is_pointwise: bool,
}

/// A set of kinds of models: those that have a setting.
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
    /// Systems that the papers compare with.
    pub const BASELINES: Kinds = Kinds(8);
    /// The choice of a model on the data, which is not a model itself.
    pub const AUTO: Kinds = Kinds(16);

    /// Those of both.
    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether all of `other` are among them.
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

/// Nets and trees, trained with any objective.
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
        help: "boosted trees; with lambdarank:ndcg that is LambdaMART, with squared-error MART",
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

/// What other tools and papers call models, without hyphens, and what these are here.
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

/// All kinds of models: nets and trees first, then the systems that the papers compare with.
pub fn models() -> impl Iterator<Item = &'static ModelKind> {
    OWN.iter().chain(BASELINES.iter().map(|(kind, _)| kind))
}

impl ModelKind {
    /// The kind of this name.
    ///
    /// # Errors
    /// When there is none, with the one that was likely meant, or all of them.
    pub fn of(name: &str) -> Result<&'static ModelKind> {
        models().find(|kind| kind.name == name).ok_or_else(|| Self::unknown(name, &[]))
    }

    /// What an unknown name likely means, or all that are known; `others` are known to the caller alone.
    pub fn unknown(name: &str, others: &[&'static str]) -> Error {
        let theirs = name.replace(['-', '_', ' '], "");
        match ELSEWHERE.iter().find(|(names, _)| names.contains(&theirs.as_str())) {
            Some((_, ours)) => Error::Config(format!("unknown model '{name}': {ours}")),
            None => name::unknown("model", name, others.iter().copied().chain(models().map(|kind| kind.name))),
        }
    }

    /// Whether it is trained with the objective that is chosen; others have an aim of their own.
    pub fn takes_objective(&self) -> bool {
        self.optimises.is_none()
    }

    /// Its name with all that may follow it, as in `ranksvm[:c=0]`.
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

/// A kind of model with what followed its name.
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
    /// Every parameter of the kind, given or default.
    pub numbers: BTreeMap<String, f64>,
}

impl std::str::FromStr for ModelChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::read(text).map_err(|error| {
            let meant = name::corrected::<ModelKind>(text, |_| None);
            match text.contains(':') && Self::read(&meant).is_ok() {
                true => Error::Config(format!("unknown model '{text}': did you mean '{meant}'?")),
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
        let numbers = kind.parameters.iter().map(|known| (known.key.to_owned(), given.number(known.key))).collect();
        Ok(ModelChoice { kind, numbers })
    }

    /// A net with hidden layers, the choice of those who set one by hand.
    pub fn mlp() -> Self {
        ModelChoice { kind: &OWN[1], numbers: BTreeMap::new() }
    }

    /// Boosted trees.
    pub fn trees() -> Self {
        ModelChoice { kind: &OWN[2], numbers: BTreeMap::new() }
    }

    /// The choice that a configuration is of.
    ///
    /// # Errors
    /// An unknown baseline, or an architecture that the method does not train.
    pub fn of(config: &TrainConfig) -> Result<Self> {
        let name = match (&config.method, &config.architecture) {
            (Method::Baseline(settings), _) => {
                let kind = ModelKind::of(&settings.name)?;
                return Ok(ModelChoice { kind, numbers: settings.numbers.clone() });
            }
            (Method::Boosting(_), Architecture::Trees { .. }) => "trees",
            (Method::Gradient, Architecture::Linear) => "linear",
            (Method::Gradient, Architecture::Mlp { .. }) => "mlp",
            (Method::Boosting(_), other) => return Err(Error::Config(format!("{other}: boosting grows trees"))),
            (Method::Gradient, other) => return Err(Error::Config(format!("{other}: gradient descent trains nets"))),
        };
        name.parse()
    }

    /// How a model of this kind is trained where nothing is stated.
    pub fn config(&self) -> TrainConfig {
        // A test resolves every kind, so that a failure is an error of the table.
        resolve(self, &Given::new(), None).unwrap_or_else(|error| panic!("defaults of {}: {error}", self.kind.name))
    }

    /// A configuration before the settings that the model has. Those that it does not have are at the fixed defaults of the
    /// table, because models and run identities store them too.
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
            gradient: GradientPath::Auto,
            pair_budget: 0,
            shares: 0,
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
