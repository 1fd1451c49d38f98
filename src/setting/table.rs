//! Every setting, one row each.

use super::config::TrainConfig;
use super::method::{Method, TreeSettings};
use super::model::Kinds;
use super::row::DefaultValue::{After, Fixed, OfData, OfKind};
use super::row::SearchSpace::{self, List, Log, ZeroOrLog};
use super::row::{Section, Setting};
use super::value::Bounds::{NotNegative, Positive, Share};
use super::value::Value::{Name, Number, Units, Whole, Words};
use super::value::units;
use super::words::{GradientPath, OptimizerKind, Schedule};
use crate::data::scale::ScaleKind;
use crate::metric::DEFAULT_METRIC;
use crate::model::{Activation, Architecture, Init};
use crate::objective::Objective;
use std::str::FromStr;

const AUTO: Kinds = Kinds::AUTO;
const MLP: Kinds = Kinds::MLP;
const NETS: Kinds = Kinds::NETS;
const TREES: Kinds = Kinds::TREES;
const ONE_MODEL: Kinds = NETS.or(TREES).or(Kinds::BASELINES);

/// What rows do not say: a setting of nets that is rarely set, and never searched.
const ROW: Setting = Setting {
    key: "",
    section: Section::Nets,
    help: "",
    value: Whole(0, u64::MAX),
    kinds: NETS,
    default: Fixed("0"),
    common: false,
    search: &[],
    same_field: None,
    get: |_| String::new(),
    set: |_, _| None,
};

fn put<T: FromStr>(place: &mut T, text: &str) -> Option<()> {
    *place = text.parse().ok()?;
    Some(())
}

fn put_units(architecture: &mut Architecture, text: &str) -> Option<()> {
    let Architecture::Mlp { hidden, .. } = architecture else { return None };
    *hidden = units(text)?;
    Some(())
}

fn put_activation(architecture: &mut Architecture, text: &str) -> Option<()> {
    let Architecture::Mlp { activation, .. } = architecture else { return None };
    put(activation, text)
}

/// Baselines of trees have their own number of leaves.
fn put_leaves(config: &mut TrainConfig, text: &str) -> Option<()> {
    match (&config.method, &mut config.architecture) {
        (Method::Boosting(_), Architecture::Trees { leaves, .. }) => put(leaves, text),
        _ => None,
    }
}

/// The number of trees is stored twice.
fn put_epochs(config: &mut TrainConfig, text: &str) -> Option<()> {
    put(&mut config.epochs, text)?;
    if let (Method::Boosting(_), Architecture::Trees { trees, .. }) = (&config.method, &mut config.architecture) {
        *trees = config.epochs;
    }
    Some(())
}

fn leaves(config: &TrainConfig) -> String {
    match config.architecture {
        Architecture::Trees { leaves, .. } => leaves.to_string(),
        _ => String::new(),
    }
}

fn units_of(config: &TrainConfig) -> String {
    config.architecture.hidden().iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

fn growth<T: ToString>(config: &TrainConfig, value: fn(&TreeSettings) -> T) -> String {
    match &config.method {
        Method::Boosting(growth) => value(growth).to_string(),
        _ => String::new(),
    }
}

fn put_growth<T: FromStr>(config: &mut TrainConfig, text: &str, place: fn(&mut TreeSettings) -> &mut T) -> Option<()> {
    let Method::Boosting(growth) = &mut config.method else { return None };
    put(place(growth), text)
}

/// Every setting. A row comes after those that its default depends on, and `tune` draws in this order.
pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "objective",
        section: Section::Training,
        help: "Training objective",
        value: Name(|text| Objective::parse(text).map(drop), Vec::new),
        kinds: NETS.or(TREES).or(AUTO),
        default: Fixed("lambdarank:ndcg"),
        common: true,
        get: |config| config.objective.name(),
        set: |config, text| Objective::parse(text).ok().map(|objective| config.objective = objective),
        ..ROW
    },
    Setting {
        key: "metric",
        section: Section::Training,
        help: "Metric that chooses the best epoch on the validation queries",
        value: Name(|text| crate::metric::parse(text).map(drop), Vec::new),
        kinds: ONE_MODEL.or(AUTO),
        default: Fixed(DEFAULT_METRIC),
        common: true,
        get: |config| config.metric.clone(),
        set: |config, text| put(&mut config.metric, text),
        ..ROW
    },
    Setting {
        key: "seed",
        section: Section::Training,
        help: "Seed of everything random",
        kinds: ONE_MODEL.or(AUTO),
        default: Fixed("1"),
        common: true,
        get: |config| config.seed.to_string(),
        set: |config, text| put(&mut config.seed, text),
        ..ROW
    },
    Setting {
        key: "hidden",
        help: "Hidden units, one number per layer, as in 32,16",
        value: Units,
        kinds: MLP,
        default: Fixed("10"),
        common: true,
        search: &[(NETS, List(&["", "10", "32", "64", "32,16"]))],
        get: units_of,
        set: |config, text| put_units(&mut config.architecture, text),
        ..ROW
    },
    Setting {
        key: "activation",
        help: "Function of the hidden units",
        value: Words(Activation::WORDS),
        kinds: MLP,
        default: Fixed("tanh"),
        search: &[(NETS, List(&["tanh", "relu"]))],
        get: |config| config.architecture.activation().map_or(String::new(), |activation| activation.to_string()),
        set: |config, text| put_activation(&mut config.architecture, text),
        ..ROW
    },
    Setting {
        key: "lr",
        help: "Initial learning rate",
        value: Number(Positive),
        default: OfKind(|kind| kind.learning_rate.to_string()),
        common: true,
        search: &[(NETS, Log(0.0003, 0.1))],
        get: |config| config.learning_rate.to_string(),
        set: |config, text| put(&mut config.learning_rate, text),
        ..ROW
    },
    Setting {
        key: "batch-queries",
        help: "Queries per batch; 1 is the papers' batch per query",
        value: Whole(1, u64::MAX),
        default: Fixed("10"),
        common: true,
        search: &[(NETS, List(&["5", "10", "20", "50"]))],
        get: |config| config.batch_queries.to_string(),
        set: |config, text| put(&mut config.batch_queries, text),
        ..ROW
    },
    Setting {
        key: "epochs",
        section: Section::Training,
        help: "Maximum number of epochs: passes over the data, trees, or rounds of a baseline",
        value: Whole(1, u64::MAX),
        kinds: ONE_MODEL,
        default: OfData("for nets at least 2,000 updates and 50 epochs", |kind, config, _, queries| {
            let suited = queries.filter(|_| NETS.has(kind.kinds)).map(|queries| config.epochs_for(queries, 2000, 50));
            suited.unwrap_or(kind.epochs).to_string()
        }),
        common: true,
        get: |config| config.epochs.to_string(),
        set: put_epochs,
        ..ROW
    },
    Setting {
        key: "patience",
        section: Section::Training,
        help: "Stop after this many epochs or trees without a better validation value; 0 never stops",
        kinds: ONE_MODEL,
        default: OfData(
            "half of the epochs for nets, 20 with `epochs`; 50 for trees",
            |kind, config, given, queries| {
                let suits = queries.is_some() && NETS.has(kind.kinds) && !given.has("epochs");
                if suits { (config.epochs / 2).max(20) } else { kind.patience }.to_string()
            },
        ),
        common: true,
        get: |config| config.patience.to_string(),
        set: |config, text| put(&mut config.patience, text),
        ..ROW
    },
    Setting {
        key: "trees",
        section: Section::Trees,
        help: "Maximum number of trees",
        value: Whole(1, u64::MAX),
        kinds: TREES,
        default: After("500", |_, config, _| config.epochs.to_string()),
        common: true,
        same_field: Some("epochs"),
        get: |config| config.epochs.to_string(),
        set: put_epochs,
        ..ROW
    },
    Setting {
        key: "leaves",
        section: Section::Trees,
        help: "Maximum number of leaves per tree",
        // As many as LightGBM takes.
        value: Whole(2, 131_072),
        kinds: TREES,
        default: Fixed("31"),
        common: true,
        search: &[(TREES, Log(4.0, 63.0))],
        get: leaves,
        set: put_leaves,
        ..ROW
    },
    Setting {
        key: "shrinkage",
        section: Section::Trees,
        help: "Learning rate: factor of each tree's values",
        value: Number(Positive),
        kinds: TREES,
        default: OfKind(|kind| kind.learning_rate.to_string()),
        common: true,
        search: &[(TREES, Log(0.02, 0.2))],
        same_field: Some("lr"),
        get: |config| config.learning_rate.to_string(),
        set: |config, text| put(&mut config.learning_rate, text),
    },
    Setting {
        key: "min-data",
        section: Section::Trees,
        help: "Minimum number of documents in a leaf",
        value: Whole(0, i32::MAX as u64),
        kinds: TREES,
        default: Fixed("20"),
        search: &[(TREES, Log(5.0, 200.0))],
        get: |config| growth(config, |growth| growth.min_data),
        set: |config, text| put_growth(config, text, |growth| &mut growth.min_data),
        ..ROW
    },
    Setting {
        key: "min-hessian",
        section: Section::Trees,
        help: "Minimum sum of second derivatives in a leaf",
        value: Number(NotNegative),
        kinds: TREES,
        default: Fixed("0.001"),
        search: &[(TREES, SearchSpace::Default)],
        get: |config| growth(config, |growth| growth.min_hessian),
        set: |config, text| put_growth(config, text, |growth| &mut growth.min_hessian),
        ..ROW
    },
    Setting {
        key: "bins",
        section: Section::Trees,
        help: "Maximum number of histogram bins per feature",
        // A bin is two bytes at most.
        value: Whole(2, 65_535),
        kinds: TREES,
        default: Fixed("255"),
        search: &[(TREES, SearchSpace::Default)],
        get: |config| growth(config, |growth| growth.bins),
        set: |config, text| put_growth(config, text, |growth| &mut growth.bins),
        ..ROW
    },
    Setting {
        key: "subsample",
        section: Section::Trees,
        help: "Fraction of documents that each tree is grown on",
        value: Number(Share),
        kinds: TREES,
        default: Fixed("1"),
        search: &[(TREES, List(&["0.5", "0.8", "1"]))],
        get: |config| growth(config, |growth| growth.subsample),
        set: |config, text| put_growth(config, text, |growth| &mut growth.subsample),
        ..ROW
    },
    Setting {
        key: "feature-fraction",
        section: Section::Trees,
        help: "Fraction of features that each tree may split by",
        value: Number(Share),
        kinds: TREES,
        default: Fixed("1"),
        search: &[(TREES, List(&["0.3", "0.6", "1"]))],
        get: |config| growth(config, |growth| growth.feature_fraction),
        set: |config, text| put_growth(config, text, |growth| &mut growth.feature_fraction),
        ..ROW
    },
    Setting {
        key: "l2",
        section: Section::Training,
        help: "L2 penalty on all weights of a net, or on all values of leaves",
        value: Number(NotNegative),
        kinds: NETS.or(TREES),
        search: &[(NETS, ZeroOrLog(1e-6, 0.01)), (TREES, ZeroOrLog(0.1, 100.0))],
        get: |config| config.l2.to_string(),
        set: |config, text| put(&mut config.l2, text),
        ..ROW
    },
    Setting {
        key: "scale",
        section: Section::Training,
        help: "Feature scaling",
        value: Name(|text| text.parse::<ScaleKind>().map(drop), || ScaleKind::ALL.map(ScaleKind::name).to_vec()),
        kinds: ONE_MODEL.or(AUTO),
        default: OfKind(|kind| kind.scaling.to_string()),
        common: true,
        search: &[(NETS, List(&ScaleKind::TRIED_BY_TUNE)), (TREES, List(&["none", "query-minmax"]))],
        get: |config| config.scaling.to_string(),
        set: |config, text| put(&mut config.scaling, text),
        ..ROW
    },
    Setting {
        key: "init",
        help: "Distribution of the first weights",
        value: Words(Init::WORDS),
        default: Fixed("burn"),
        search: &[(NETS, SearchSpace::Default)],
        get: |config| config.init.to_string(),
        set: |config, text| put(&mut config.init, text),
        ..ROW
    },
    Setting {
        key: "optimizer",
        help: "Optimizer",
        value: Words(OptimizerKind::WORDS),
        default: Fixed("adam"),
        search: &[(NETS, SearchSpace::Default)],
        get: |config| config.optimizer.to_string(),
        set: |config, text| put(&mut config.optimizer, text),
        ..ROW
    },
    Setting {
        key: "restart",
        help: "Start again from new random weights after this many epochs without a better validation value; 0 never does",
        get: |config| config.restart.to_string(),
        set: |config, text| put(&mut config.restart, text),
        ..ROW
    },
    Setting {
        key: "schedule",
        help: "When the learning rate shrinks",
        value: Words(Schedule::WORDS),
        // Measured on artificial data and on validation queries: never worse than a constant rate, and better on few queries. A
        // run that ends when the user says may be resumed with more epochs: its rate cannot depend on their number.
        default: After("cosine; constant with `epochs` or `restart`", |_, config, given| {
            if config.restart > 0 || given.has("epochs") { "constant" } else { "cosine" }.to_owned()
        }),
        search: &[(NETS, List(&["cosine", "constant", "shrink"]))],
        get: |config| config.schedule.to_string(),
        set: |config, text| put(&mut config.schedule, text),
        ..ROW
    },
    Setting {
        key: "clip",
        help: "Maximum norm of each parameter's gradient; 0 for no limit",
        value: Number(NotNegative),
        search: &[(NETS, SearchSpace::Default)],
        get: |config| config.clip.to_string(),
        set: |config, text| put(&mut config.clip, text),
        ..ROW
    },
    Setting {
        key: "gradient",
        help: "How gradients are computed",
        value: Words(GradientPath::WORDS),
        default: Fixed("auto"),
        get: |config| config.gradient.to_string(),
        set: |config, text| put(&mut config.gradient, text),
        ..ROW
    },
    Setting {
        key: "pair-budget",
        help: "Maximum number of pairs in memory on the tensor path",
        value: Whole(1, u64::MAX),
        default: Fixed("4194304"),
        get: |config| config.pair_budget.to_string(),
        set: |config, text| put(&mut config.pair_budget, text),
        ..ROW
    },
    Setting {
        key: "shares",
        help: "Number of shares of the queries, which up to as many processes train to the same model, byte for byte; 0 for none",
        value: Whole(0, 4095),
        get: |config| config.shares.to_string(),
        set: |config, text| put(&mut config.shares, text),
        ..ROW
    },
];
