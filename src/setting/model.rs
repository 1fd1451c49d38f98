//! What can be trained, by name: one row each.

use super::config::TrainConfig;
use super::method::{BaselineSettings, Method, TreeSettings};
use crate::baseline::BASELINES;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Activation, Architecture};
use crate::suggest::nearest;
use crate::train::Schedule;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// A kind of model that can be trained, and how it is trained unless told otherwise.
#[derive(Debug)]
pub struct ModelKind {
    /// Its name, as in `--model mlp`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// What it optimises; nothing where that is the objective's to say.
    pub optimises: Option<&'static str>,
    /// Numbers that may follow the name, as in `ranksvm:c=0.1`.
    pub parameters: &'static [Parameter],
    /// Maximum number of epochs, where [`TrainConfig::suited_to`] does not say how many the data needs.
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

    /// Those of both.
    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether all of `other` are among them.
    pub const fn has(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A number that may follow a model's name.
#[derive(Debug)]
pub struct Parameter {
    /// Its name, as in `c` of `ranksvm:c=0.1`.
    pub key: &'static str,
    /// Its value where it is not given.
    pub default: f64,
    /// What it may be.
    pub valid: RangeInclusive<f64>,
    /// What it is.
    pub help: &'static str,
}

/// Nets and trees, trained with any objective.
const OWN: &[ModelKind] = &[
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
    },
];

/// What other tools and papers call models, without hyphens, and what these are here.
#[rustfmt::skip]
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["lambdamart"], "LambdaMART is --model trees --objective lambdarank:ndcg"),
    (&["mart", "gbrt"], "MART is --model trees --objective squared-error"),
    (&["lightgbm", "lgbm", "xgboost", "xgb", "catboost", "gbdt", "gbm", "tree", "boosting"], "boosted trees are --model trees"),
    (&["ranknet"], "RankNet is --model mlp --objective ranknet"),
    (&["lambdarank"], "LambdaRank is --model mlp --objective lambdarank:ndcg"),
    (&["lambdaloss"], "LambdaLoss is --model mlp --objective ndcg-loss2++"),
    (&["listnet"], "ListNet is --model mlp --objective listnet"),
    (&["softrank"], "SoftRank is --model mlp --objective softrank"),
    (&["approxndcg"], "ApproxNDCG is --model mlp --objective approx-ndcg"),
    (&["rankcosine"], "RankCosine is --model mlp --objective rankcosine"),
    (&["net", "nn", "dnn", "neural", "neuralnet", "neuralnetwork"], "a net with hidden layers is --model mlp"),
    (&["svm", "svmrank"], "RankSVM is --model ranksvm"),
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
        let plain = name.replace(['-', '_', ' '], "");
        let names = || others.iter().copied().chain(models().map(|kind| kind.name));
        let known = || names().collect::<Vec<_>>().join(", ");
        let elsewhere = ELSEWHERE.iter().find(|(theirs, _)| theirs.contains(&plain.as_str()));
        Error::Config(match (elsewhere, nearest(name, names())) {
            (Some((_, ours)), _) => format!("unknown model '{name}': {ours}"),
            (None, Some(meant)) => format!("unknown model '{name}': did you mean '{meant}'?"),
            (None, None) => format!("unknown model '{name}': known are {}", known()),
        })
    }

    /// Whether it is trained with the objective that is chosen; others have an aim of their own.
    pub fn takes_objective(&self) -> bool {
        self.optimises.is_none()
    }

    /// Whether it learns from single documents, without their order within a query: PRank learns thresholds between labels.
    pub(crate) fn is_pointwise(&self) -> bool {
        matches!(self.name, "prank" | "prank-quadratic" | "oap-bpm")
    }

    /// Its name with all that may follow it, as in `ranksvm:c=1`.
    pub fn pattern(&self) -> String {
        let settings = self.parameters.iter().map(|number| format!(":{}={}", number.key, number.default));
        std::iter::once(self.name.to_owned()).chain(settings).collect()
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
    /// Every setting of the kind, given or default.
    pub settings: BTreeMap<String, f64>,
}

impl std::str::FromStr for ModelChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lower = text.trim().to_ascii_lowercase();
        let mut parts = lower.split(':');
        let kind = ModelKind::of(parts.next().unwrap_or_default())?;
        let mut settings: BTreeMap<String, f64> =
            kind.parameters.iter().map(|setting| (setting.key.to_owned(), setting.default)).collect();
        for part in parts {
            let wrong = |what: String| Error::Config(format!("model '{text}': {what}"));
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let Some(setting) = kind.parameters.iter().find(|setting| setting.key == key) else {
                let known: Vec<&str> = kind.parameters.iter().map(|setting| setting.key).collect();
                return Err(wrong(match known.as_slice() {
                    [] => format!("unknown setting '{part}': {} has none", kind.name),
                    known => format!("unknown setting '{part}': known are {}", known.join(", ")),
                }));
            };
            let number = value.parse().ok().filter(|number| setting.valid.contains(number));
            let number = number.ok_or_else(|| {
                let (least, most) = (setting.valid.start(), setting.valid.end());
                wrong(format!("{key} must be a number from {least} to {most}"))
            })?;
            settings.insert(key.to_owned(), number);
        }
        Ok(ModelChoice { kind, settings })
    }
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BaselineSettings { name: self.kind.name.into(), numbers: self.settings.clone() }.fmt(f)
    }
}

impl ModelChoice {
    /// A net with hidden layers, the choice of those who set one by hand.
    pub fn mlp() -> Self {
        ModelChoice { kind: &OWN[1], settings: BTreeMap::new() }
    }

    /// How a model of this kind is trained unless told otherwise.
    pub fn config(&self) -> TrainConfig {
        let kind = self.kind;
        let (architecture, method) = match kind.kinds {
            Kinds::TREES => {
                let architecture = Architecture::Trees { trees: kind.epochs, leaves: 31 };
                (architecture, Method::Boosting(TreeSettings::default()))
            }
            Kinds::BASELINES => {
                let settings = BaselineSettings { name: kind.name.into(), numbers: self.settings.clone() };
                (kind.architecture.clone(), Method::Baseline(settings))
            }
            Kinds::MLP => (TrainConfig::default().architecture, Method::Gradient),
            _ => (kind.architecture.clone(), Method::Gradient),
        };
        TrainConfig {
            architecture,
            method,
            epochs: kind.epochs,
            patience: kind.patience,
            learning_rate: kind.learning_rate,
            scaling: kind.scaling,
            // Measured on artificial data and on validation queries: never worse than constant steps, and better on few queries.
            schedule: if Kinds::NETS.has(kind.kinds) { Schedule::Cosine } else { Schedule::Constant },
            ..TrainConfig::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        let names: Vec<&str> = models().map(|kind| kind.name).collect();
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name), "{name} twice");
            let choice: ModelChoice = name.parse().unwrap();
            assert_eq!((choice.kind.name, choice.to_string().as_str()), (*name, *name));
            for setting in choice.kind.parameters {
                assert!(setting.valid.contains(&setting.default), "{name}:{}", setting.key);
                let text = format!("{name}:{}={}", setting.key, setting.valid.start());
                assert_eq!(text.parse::<ModelChoice>().unwrap().settings[setting.key], *setting.valid.start());
                let error = format!("{name}:{}=x", setting.key).parse::<ModelChoice>().unwrap_err().to_string();
                assert!(error.contains("must be a number"), "{error}");
            }
            let error = format!("{name}:nonsense=1").parse::<ModelChoice>().unwrap_err().to_string();
            assert!(error.contains("unknown setting 'nonsense=1'"), "{error}");
            choice.config().check().unwrap();
        }
        for (theirs, ours) in ELSEWHERE {
            for name in *theirs {
                let message = name.parse::<ModelChoice>().unwrap_err().to_string();
                assert_eq!(message, format!("unknown model '{name}': {ours}"));
            }
            let (model, objective) = ours
                .split_once("--model ")
                .unwrap()
                .1
                .split_once(" --objective ")
                .unwrap_or_else(|| (ours.rsplit(' ').next().unwrap(), "ranknet"));
            model.parse::<ModelChoice>().unwrap();
            crate::objective::Objective::parse(objective).unwrap();
        }
        let message = "Lambda-MART".parse::<ModelChoice>().unwrap_err().to_string();
        assert!(message.ends_with("LambdaMART is --model trees --objective lambdarank:ndcg"), "{message}");
        let message = ModelKind::unknown("atuo", &["auto"]).to_string();
        assert_eq!(message, "unknown model 'atuo': did you mean 'auto'?");
        let message = "forest".parse::<ModelChoice>().unwrap_err().to_string();
        assert!(message.starts_with("unknown model 'forest': known are linear, mlp"), "{message}");
    }
}
