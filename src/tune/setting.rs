//! What can be searched, one row each: its name, which is also the option of `burnrank train`, and how a configuration has it.

use super::choices::{Choices, Range};
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::Architecture;
use crate::objective::Objective;
use crate::suggest::nearest;
use crate::train::{Method, ModelChoice, TrainConfig, TreeSettings};
use std::fmt::Display;
use std::str::FromStr;

/// What a setting belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Objectives, which nets and trees share.
    Objective,
    /// Nets, from linear to any depth.
    Nets,
    /// Boosted trees.
    Trees,
}

impl Section {
    /// All of them.
    pub const ALL: [Section; 3] = [Section::Objective, Section::Nets, Section::Trees];

    /// The name of its part of a file; objectives stand above all parts.
    pub fn name(self) -> &'static str {
        match self {
            Section::Objective => "",
            Section::Nets => "nets",
            Section::Trees => "trees",
        }
    }

    /// The settings that belong to it.
    pub fn settings(self) -> impl Iterator<Item = &'static Setting> {
        SETTINGS.iter().filter(move |setting| setting.section == self)
    }
}

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One of some words, listed.
    Word,
    /// A number, listed or out of a range.
    Number,
    /// A whole number, listed or out of a range.
    Whole,
}

/// A setting that can be searched.
pub struct Setting {
    /// What it belongs to.
    pub section: Section,
    /// Its name in a file; that of the option of `burnrank train`, or of what stands in braces in objectives.
    pub key: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    pub(super) kind: Kind,
    /// What is searched unless told otherwise; nothing where the default stays.
    standard: Standard,
    apply: fn(&mut TrainConfig, &str) -> Result<()>,
    show: fn(&TrainConfig) -> Option<String>,
}

enum Standard {
    Default,
    List(&'static [&'static str]),
    Log(f64, f64),
    ZeroOrLog(f64, f64),
}

impl Setting {
    /// The setting of this name.
    ///
    /// # Errors
    /// When there is none, with the one that was likely meant, and all of them.
    pub fn of(section: Section, key: &str) -> Result<&'static Setting> {
        let known = || section.settings().map(|setting| setting.key);
        section.settings().find(|setting| setting.key == key).ok_or_else(|| {
            let meant = nearest(key, known()).map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
            let all = known().collect::<Vec<_>>().join(", ");
            Error::Config(format!("unknown key '{key}': {meant}known are {all}"))
        })
    }

    /// What is searched unless told otherwise; nothing where the default of `burnrank train` stays.
    pub fn standard(&self) -> Option<Choices> {
        let range = |low, high, zero| Some(Choices::Range(Range { low, high, log: true, zero }));
        match self.standard {
            Standard::Default => None,
            Standard::List(words) => Some(Choices::List(words.iter().map(|&word| word.to_owned()).collect())),
            Standard::Log(low, high) => range(low, high, 0.0),
            Standard::ZeroOrLog(low, high) => range(low, high, 0.5),
        }
    }

    /// Whether its values are numbers, which may be drawn from a range.
    pub fn is_number(&self) -> bool {
        self.kind != Kind::Word
    }

    /// Whether it is not an option of `burnrank train`, but fills the braces of objectives.
    pub fn fills_braces(&self) -> bool {
        self.section == Section::Objective && self.key != "objective"
    }

    /// Gives a configuration this value, as the option of `burnrank train` takes it.
    ///
    /// # Errors
    /// A value that is none of this setting.
    pub fn apply(&self, config: &mut TrainConfig, value: &str) -> Result<()> {
        (self.apply)(config, value)
    }

    /// The value of a configuration, as the option of `burnrank train` takes it; nothing where it has none.
    pub fn show(&self, config: &TrainConfig) -> Option<String> {
        (self.show)(config)
    }
}

/// What a linear net is called where others have hidden units.
pub(super) const LINEAR: &str = "linear";

/// The configuration that `burnrank train --model ...` starts from for a model of this kind.
///
/// # Errors
/// For what is neither a net nor trees.
pub fn preset(config: &TrainConfig) -> Result<TrainConfig> {
    let name = match config.architecture {
        Architecture::Linear => LINEAR,
        Architecture::Mlp { .. } => "mlp",
        Architecture::Trees { .. } => "trees",
        Architecture::Kernel { .. } => return Err(Error::Config("kernels are not tuned".into())),
    };
    Ok(name.parse::<ModelChoice>()?.config())
}

/// The settings that a configuration has, with their values as the options of `burnrank train` take them.
pub fn settings_of(config: &TrainConfig) -> impl Iterator<Item = (&'static Setting, String)> {
    SETTINGS.iter().filter_map(|setting| Some((setting, setting.show(config)?)))
}

fn word<T: FromStr<Err = Error>>(place: &mut T, text: &str) -> Result<()> {
    *place = text.parse()?;
    Ok(())
}

fn number<T: FromStr>(place: &mut T, text: &str) -> Result<()> {
    *place = text.parse().map_err(|_| Error::Config(format!("'{text}' is not such a number")))?;
    Ok(())
}

fn of_nets(config: &TrainConfig, value: impl Display) -> Option<String> {
    config.architecture.is_net().then(|| value.to_string())
}

fn if_trees(config: &TrainConfig, value: impl Display) -> Option<String> {
    matches!(config.method, Method::Boosting(_)).then(|| value.to_string())
}

fn of_trees<T: Display>(config: &TrainConfig, value: fn(&TreeSettings) -> T) -> Option<String> {
    match &config.method {
        Method::Boosting(settings) => Some(value(settings).to_string()),
        _ => None,
    }
}

fn trees<T: FromStr>(config: &mut TrainConfig, text: &str, place: fn(&mut TreeSettings) -> &mut T) -> Result<()> {
    match &mut config.method {
        Method::Boosting(settings) => number(place(settings), text),
        _ => Ok(()),
    }
}

fn hidden(config: &mut TrainConfig, text: &str) -> Result<()> {
    let activation = config.architecture.activation().or(TrainConfig::default().architecture.activation());
    config.architecture = match (text, activation) {
        ("" | LINEAR, _) | (_, None) => Architecture::Linear,
        (units, Some(activation)) => {
            let mut hidden = vec![0; units.split(',').count()];
            hidden.iter_mut().zip(units.split(',')).try_for_each(|(place, units)| number(place, units.trim()))?;
            Architecture::Mlp { hidden, activation }
        }
    };
    // Linear nets have another step size unless one is given.
    config.learning_rate = preset(config)?.learning_rate;
    Ok(())
}

fn hidden_of(config: &TrainConfig) -> Option<String> {
    match &config.architecture {
        Architecture::Linear => Some(LINEAR.into()),
        Architecture::Mlp { hidden, .. } => Some(hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(",")),
        _ => None,
    }
}

/// What is filled into objectives is not a setting of its own.
const fn in_braces(key: &'static str, help: &'static str, kind: Kind, standard: Standard) -> Setting {
    Setting { section: Section::Objective, key, help, kind, standard, apply: |_, _| Ok(()), show: |_| None }
}

/// Everything that can be searched, in the order that it is drawn in.
pub static SETTINGS: &[Setting] = &[
    Setting {
        section: Section::Objective,
        key: "objective",
        help: "objectives; {mu}, {sigma}, {k} and {alpha} are filled in by the lines below",
        kind: Kind::Word,
        standard: Standard::List(&[
            "lambdarank:ndcg:sigma={sigma}",
            "lambdarank:ndcg@{k}",
            "ndcg-loss2++:mu={mu}",
            "ndcg-loss2",
            "ranknet",
            "arp-loss2",
            "listnet",
            "approx-ndcg:alpha={alpha}",
        ]),
        apply: |config, text| {
            config.objective = Objective::parse(text)?;
            Ok(())
        },
        show: |config| Some(config.objective.name()),
    },
    in_braces("mu", "for {mu} in objectives", Kind::Number, Standard::Log(1.0, 20.0)),
    in_braces("sigma", "for {sigma} in objectives", Kind::Number, Standard::Log(0.5, 4.0)),
    in_braces("k", "for {k} in objectives", Kind::Whole, Standard::List(&["3", "5", "10", "20"])),
    in_braces("alpha", "for {alpha} in objectives", Kind::Number, Standard::Log(1.0, 20.0)),
    Setting {
        section: Section::Nets,
        key: "hidden",
        help: "hidden units, a list per net; [] is a linear net",
        kind: Kind::Word,
        standard: Standard::List(&["", "10", "32", "64", "32,16"]),
        apply: hidden,
        show: hidden_of,
    },
    Setting {
        section: Section::Nets,
        key: "activation",
        help: "function of the hidden units",
        kind: Kind::Word,
        standard: Standard::List(&["tanh", "relu"]),
        apply: |config, text| match &mut config.architecture {
            Architecture::Mlp { activation, .. } => word(activation, text),
            _ => Ok(()),
        },
        show: |config| config.architecture.activation().map(|activation| activation.to_string()),
    },
    Setting {
        section: Section::Nets,
        key: "lr",
        help: "step size",
        kind: Kind::Number,
        standard: Standard::Log(0.0003, 0.03),
        apply: |config, text| number(&mut config.learning_rate, text),
        show: |config| of_nets(config, config.learning_rate),
    },
    Setting {
        section: Section::Nets,
        key: "batch-queries",
        help: "queries per batch",
        kind: Kind::Whole,
        standard: Standard::List(&["5", "10", "20", "50"]),
        apply: |config, text| number(&mut config.batch_queries, text),
        show: |config| of_nets(config, config.batch_queries),
    },
    Setting {
        section: Section::Nets,
        key: "l2",
        help: "L2 penalty on all weights; zero is the share of nets without",
        kind: Kind::Number,
        standard: Standard::ZeroOrLog(1e-6, 0.01),
        apply: |config, text| number(&mut config.l2, text),
        show: |config| of_nets(config, config.l2),
    },
    Setting {
        section: Section::Nets,
        key: "scale",
        help: "what is done to features; each kind takes memory for a copy of the data",
        kind: Kind::Word,
        standard: Standard::List(&["query-minmax", "query-zscore", "zscore", "log1p-zscore", "quantile"]),
        apply: scale,
        show: |config| of_nets(config, config.scaling),
    },
    Setting {
        section: Section::Nets,
        key: "init",
        help: "first weights: burn or paper",
        kind: Kind::Word,
        standard: Standard::Default,
        apply: |config, text| word(&mut config.init, text),
        show: |config| of_nets(config, config.init),
    },
    Setting {
        section: Section::Nets,
        key: "optimizer",
        help: "sgd, momentum or adam",
        kind: Kind::Word,
        standard: Standard::Default,
        apply: |config, text| word(&mut config.optimizer, text),
        show: |config| of_nets(config, config.optimizer),
    },
    Setting {
        section: Section::Nets,
        key: "step-rule",
        help: "when the step size shrinks",
        kind: Kind::Word,
        standard: Standard::List(&["constant", "shrink"]),
        apply: |config, text| word(&mut config.step_rule, text),
        show: |config| of_nets(config, config.step_rule),
    },
    Setting {
        section: Section::Trees,
        key: "leaves",
        help: "the most leaves of a tree",
        kind: Kind::Whole,
        standard: Standard::Log(4.0, 63.0),
        apply: |config, text| match &mut config.architecture {
            Architecture::Trees { leaves, .. } => number(leaves, text),
            _ => Ok(()),
        },
        show: |config| match config.architecture {
            Architecture::Trees { leaves, .. } => Some(leaves.to_string()),
            _ => None,
        },
    },
    Setting {
        section: Section::Trees,
        key: "shrinkage",
        help: "what each tree's values are multiplied with",
        kind: Kind::Number,
        standard: Standard::Log(0.02, 0.2),
        apply: |config, text| number(&mut config.learning_rate, text),
        show: |config| if_trees(config, config.learning_rate),
    },
    Setting {
        section: Section::Trees,
        key: "min-data",
        help: "the fewest documents in a leaf",
        kind: Kind::Whole,
        standard: Standard::Log(5.0, 200.0),
        apply: |config, text| trees(config, text, |settings| &mut settings.min_data),
        show: |config| of_trees(config, |settings| settings.min_data),
    },
    Setting {
        section: Section::Trees,
        key: "subsample",
        help: "the share of documents that each tree is grown on",
        kind: Kind::Number,
        standard: Standard::List(&["0.5", "0.8", "1"]),
        apply: |config, text| trees(config, text, |settings| &mut settings.subsample),
        show: |config| of_trees(config, |settings| settings.subsample),
    },
    Setting {
        section: Section::Trees,
        key: "feature-fraction",
        help: "the share of features that each tree may split by",
        kind: Kind::Number,
        standard: Standard::List(&["0.3", "0.6", "1"]),
        apply: |config, text| trees(config, text, |settings| &mut settings.feature_fraction),
        show: |config| of_trees(config, |settings| settings.feature_fraction),
    },
    Setting {
        section: Section::Trees,
        key: "l2",
        help: "L2 penalty on all values of leaves; zero is the share without",
        kind: Kind::Number,
        standard: Standard::ZeroOrLog(0.1, 100.0),
        apply: |config, text| number(&mut config.l2, text),
        show: |config| if_trees(config, config.l2),
    },
    Setting {
        section: Section::Trees,
        key: "scale",
        help: "what is done to features",
        kind: Kind::Word,
        standard: Standard::List(&["none", "query-minmax"]),
        apply: scale,
        show: |config| if_trees(config, config.scaling),
    },
];

fn scale(config: &mut TrainConfig, text: &str) -> Result<()> {
    word::<ScaleKind>(&mut config.scaling, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_applied_is_shown() {
        for model in ["mlp", "trees"] {
            let section = if model == "mlp" { Section::Nets } else { Section::Trees };
            for setting in section.settings().chain(Section::Objective.settings().take(1)) {
                let mut config = model.parse::<ModelChoice>().unwrap().config();
                let before = setting.show(&config).unwrap();
                setting.apply(&mut config, &before).unwrap();
                assert_eq!(setting.show(&config).as_deref(), Some(before.as_str()), "{}", setting.key);
                for other in Section::ALL.into_iter().filter(|other| *other != section && *other != Section::Objective)
                {
                    assert!(other.settings().all(|setting| setting.show(&config).is_none()));
                }
                assert!(setting.kind == Kind::Word || setting.apply(&mut config, "many").is_err(), "{}", setting.key);
            }
        }
    }

    #[test]
    fn a_linear_net_is_one_without_hidden_units() {
        let (mut config, hidden) = (TrainConfig::default(), Setting::of(Section::Nets, "hidden").unwrap());
        hidden.apply(&mut config, "").unwrap();
        assert_eq!((&config.architecture, hidden.show(&config)), (&Architecture::Linear, Some("linear".into())));
        assert_eq!(config.learning_rate, 0.03);
        hidden.apply(&mut config, "32,16").unwrap();
        assert_eq!((config.architecture.hidden(), hidden.show(&config)), (&[32, 16][..], Some("32,16".into())));
        assert!(hidden.apply(&mut config, "32,x").is_err());
    }

    #[test]
    fn a_mistyped_key_is_answered() {
        let message = Setting::of(Section::Nets, "hiden").err().unwrap().to_string();
        assert!(message.starts_with("unknown key 'hiden': did you mean 'hidden'? known are hidden, acti"), "{message}");
        let message = Setting::of(Section::Trees, "depth").err().unwrap().to_string();
        assert!(message.starts_with("unknown key 'depth': known are leaves, shrinkage"), "{message}");
    }
}
