//! Everything that can be searched, one row each.

use super::setting::{Kind, Section, Setting, Standard, preset};
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::Architecture;
use crate::objective::Objective;
use crate::setting::{Method, TrainConfig, TreeSettings};
use std::fmt::Display;
use std::str::FromStr;

/// What a linear net is called where others have hidden units.
pub(super) const LINEAR: &str = "linear";

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

fn scale(config: &mut TrainConfig, text: &str) -> Result<()> {
    word::<ScaleKind>(&mut config.scaling, text)
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
        help: "learning rate",
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
        standard: Standard::List(&ScaleKind::TRIED_BY_TUNE),
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
        key: "schedule",
        help: "when the learning rate shrinks",
        kind: Kind::Word,
        standard: Standard::List(&["constant", "shrink"]),
        apply: |config, text| word(&mut config.schedule, text),
        show: |config| of_nets(config, config.schedule),
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
