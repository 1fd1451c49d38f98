//! The table of settings.

use super::categorical::features;
use super::field::{growth, leaves, set, set_activation, set_epochs, set_growth, set_leaves, set_units, units_of};
use super::model::Kinds;
use super::row::DefaultValue::{After, Fixed, OfData, OfKind};
use super::row::SearchSpace::{self, List, Log, ZeroOrLog};
use super::row::{Section, Setting};
use super::value::Bounds::{Decay, NotNegative, Positive, Share};
use super::value::Value::{Features, Name, Number, Units, Whole, Words};
use super::words::{GradientPath, MissingValues, OptimizerKind, Schedule, Skip};
use crate::data::scale::{MAX_BINS, ScaleKind};
use crate::metric::DEFAULT_METRIC;
use crate::model::{Activation, ExportTarget, Init};
use crate::objective::Objective;

const AUTO: Kinds = Kinds::AUTO;
const MLP: Kinds = Kinds::MLP;
const NETS: Kinds = Kinds::NETS;
const TREES: Kinds = Kinds::TREES;
const ONE_MODEL: Kinds = NETS.or(TREES).or(Kinds::BASELINES);

/// Defaults for the fields that a row omits: a rarely used setting of nets that `tune` does not search.
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

/// All settings. A row comes after the rows that its default depends on. `tune` samples settings in this order.
pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "objective",
        section: Section::Training,
        help: "Training objective; for example ranknet, lambdarank:ndcg@10 or ndcg-loss2++:mu=5",
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
        help: "Validation metric; selects the best epoch and stops training early",
        value: Name(|text| crate::metric::parse(text).map(drop), Vec::new),
        kinds: ONE_MODEL.or(AUTO),
        default: Fixed(DEFAULT_METRIC),
        common: true,
        get: |config| config.metric.clone(),
        set: |config, text| set(&mut config.metric, text),
        ..ROW
    },
    Setting {
        key: "seed",
        section: Section::Training,
        help: "Random seed of weights, shuffles and samples",
        kinds: ONE_MODEL.or(AUTO),
        default: Fixed("1"),
        get: |config| config.seed.to_string(),
        set: |config, text| set(&mut config.seed, text),
        ..ROW
    },
    Setting {
        key: "hidden",
        help: "Units per hidden layer, as in 32,16",
        value: Units,
        kinds: MLP,
        default: Fixed("10"),
        common: true,
        search: &[(NETS, List(&["", "10", "32", "64", "32,16"]))],
        get: units_of,
        set: |config, text| set_units(&mut config.architecture, text),
        ..ROW
    },
    Setting {
        key: "activation",
        help: "Activation function of the hidden layers",
        value: Words(Activation::WORDS),
        kinds: MLP,
        default: Fixed("tanh"),
        search: &[(NETS, List(&["tanh", "relu"]))],
        get: |config| config.architecture.activation().map_or(String::new(), |activation| activation.to_string()),
        set: |config, text| set_activation(&mut config.architecture, text),
        ..ROW
    },
    Setting {
        key: "lr",
        help: "Initial learning rate",
        value: Number(Positive),
        default: OfKind(|kind, _| kind.learning_rate.to_string()),
        common: true,
        search: &[(NETS, Log(0.0003, 0.1))],
        get: |config| config.learning_rate.to_string(),
        set: |config, text| set(&mut config.learning_rate, text),
        ..ROW
    },
    Setting {
        key: "batch-queries",
        help: "Number of queries per batch; 1 updates the weights after every query, as in the papers",
        value: Whole(1, u64::MAX),
        default: Fixed("10"),
        search: &[(NETS, List(&["5", "10", "20", "50"]))],
        get: |config| config.batch_queries.to_string(),
        set: |config, text| set(&mut config.batch_queries, text),
        ..ROW
    },
    Setting {
        key: "epochs",
        section: Section::Training,
        help: "Maximum number of epochs; passes over the training data for nets, trees for boosting, rounds for baselines",
        value: Whole(1, u64::MAX),
        kinds: ONE_MODEL,
        default: OfData(
            "for nets enough for 2,000 updates, but at least 50; for trees 500",
            |kind, config, _, queries| {
                let suited =
                    queries.filter(|_| NETS.has(kind.kinds)).map(|queries| config.epochs_for(queries, 2000, 50));
                suited.unwrap_or(kind.epochs).to_string()
            },
        ),
        common: true,
        get: |config| config.epochs.to_string(),
        set: set_epochs,
        ..ROW
    },
    Setting {
        key: "patience",
        section: Section::Training,
        help: "Early stopping rounds; number of epochs or trees without a better validation value before training stops, 0 disables early stopping",
        kinds: ONE_MODEL,
        default: OfData(
            "for nets half of the epochs, but at least 20, and 20 if `epochs` is given; for trees 50",
            |kind, config, given, queries| {
                let suits = queries.is_some() && NETS.has(kind.kinds) && !given.has("epochs");
                if suits { config.default_patience() } else { kind.patience }.to_string()
            },
        ),
        common: true,
        get: |config| config.patience.to_string(),
        set: |config, text| set(&mut config.patience, text),
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
        set: set_epochs,
        ..ROW
    },
    Setting {
        key: "leaves",
        section: Section::Trees,
        help: "Maximum number of leaves per tree",
        // LightGBM's limit.
        value: Whole(2, 131_072),
        kinds: TREES,
        default: Fixed("31"),
        common: true,
        search: &[(TREES, Log(4.0, 63.0))],
        get: leaves,
        set: set_leaves,
        ..ROW
    },
    Setting {
        key: "shrinkage",
        section: Section::Trees,
        help: "Learning rate of boosting; factor that scales the output of each tree",
        value: Number(Positive),
        kinds: TREES,
        default: OfKind(|kind, _| kind.learning_rate.to_string()),
        common: true,
        search: &[(TREES, Log(0.02, 0.2))],
        same_field: Some("lr"),
        get: |config| config.learning_rate.to_string(),
        set: |config, text| set(&mut config.learning_rate, text),
    },
    Setting {
        key: "min-data",
        section: Section::Trees,
        help: "Minimum number of documents per leaf",
        value: Whole(0, i32::MAX as u64),
        kinds: TREES,
        default: Fixed("20"),
        search: &[(TREES, Log(5.0, 200.0))],
        get: |config| growth(config, |growth| growth.min_data),
        set: |config, text| set_growth(config, text, |growth| &mut growth.min_data),
        ..ROW
    },
    Setting {
        key: "min-hessian",
        section: Section::Trees,
        help: "Minimum sum of hessians (second derivatives of the loss) per leaf",
        value: Number(NotNegative),
        kinds: TREES,
        default: Fixed("0.001"),
        search: &[(TREES, SearchSpace::Default)],
        get: |config| growth(config, |growth| growth.min_hessian),
        set: |config, text| set_growth(config, text, |growth| &mut growth.min_hessian),
        ..ROW
    },
    Setting {
        key: "bins",
        section: Section::Trees,
        help: "Maximum number of histogram bins per feature",
        // LightGBM stores a bin in at most two bytes.
        value: Whole(2, 65_535),
        kinds: TREES,
        default: Fixed("255"),
        search: &[(TREES, SearchSpace::Default)],
        get: |config| growth(config, |growth| growth.bins),
        set: |config, text| set_growth(config, text, |growth| &mut growth.bins),
        ..ROW
    },
    Setting {
        key: "subsample",
        section: Section::Trees,
        help: "Fraction of the documents that are sampled for each tree",
        value: Number(Share),
        kinds: TREES,
        default: Fixed("1"),
        search: &[(TREES, List(&["0.5", "0.8", "1"]))],
        get: |config| growth(config, |growth| growth.subsample),
        set: |config, text| set_growth(config, text, |growth| &mut growth.subsample),
        ..ROW
    },
    Setting {
        key: "feature-fraction",
        section: Section::Trees,
        help: "Fraction of the features that are sampled for each tree",
        value: Number(Share),
        kinds: TREES,
        default: Fixed("1"),
        search: &[(TREES, List(&["0.3", "0.6", "1"]))],
        get: |config| growth(config, |growth| growth.feature_fraction),
        set: |config, text| set_growth(config, text, |growth| &mut growth.feature_fraction),
        ..ROW
    },
    Setting {
        key: "missing",
        section: Section::Trees,
        help: "Values that are missing when trees grow; splits send them to the side with the larger gain",
        value: Words(MissingValues::WORDS),
        kinds: TREES,
        default: Fixed("nan"),
        get: |config| growth(config, |growth| growth.missing),
        set: |config, text| set_growth(config, text, |growth| &mut growth.missing),
        ..ROW
    },
    Setting {
        key: "l2",
        section: Section::Training,
        help: "L2 penalty on the weights of a net or on the leaf values of trees",
        value: Number(NotNegative),
        kinds: NETS.or(TREES),
        search: &[(NETS, ZeroOrLog(1e-6, 0.01)), (TREES, ZeroOrLog(0.1, 100.0))],
        get: |config| config.l2.to_string(),
        set: |config, text| set(&mut config.l2, text),
        ..ROW
    },
    Setting {
        key: "for",
        section: Section::Training,
        help: "Export format that the model is for; restricts models, scalings, activation functions and leaves to what it supports",
        value: Name(
            |text| text.parse::<ExportTarget>().map(drop),
            || ExportTarget::ALL.map(ExportTarget::name).to_vec(),
        ),
        kinds: ONE_MODEL.or(AUTO),
        default: Fixed("any"),
        get: |config| config.target.to_string(),
        set: |config, text| set(&mut config.target, text),
        ..ROW
    },
    Setting {
        key: "scale",
        section: Section::Training,
        help: "Feature scaling; fitted on the training queries",
        value: Name(|text| text.parse::<ScaleKind>().map(drop), || ScaleKind::ALL.map(ScaleKind::name).to_vec()),
        kinds: ONE_MODEL.or(AUTO),
        default: OfKind(|kind, target| kind.scaling_for(target).to_string()),
        common: true,
        search: &[(NETS, List(&ScaleKind::TRIED_BY_TUNE)), (TREES, List(&["none", "query-minmax"]))],
        get: |config| config.scaling.to_string(),
        set: |config, text| set(&mut config.scaling, text),
        ..ROW
    },
    Setting {
        key: "scale-bins",
        section: Section::Training,
        help: "Maximum number of bins per feature with `scale` piecewise",
        value: Whole(2, MAX_BINS as u64),
        kinds: ONE_MODEL.or(AUTO),
        default: Fixed("16"),
        get: |config| config.scale_bins.to_string(),
        set: |config, text| set(&mut config.scale_bins, text),
        ..ROW
    },
    Setting {
        key: "skip",
        help: "Connection from the inputs of the net to its score, beside the hidden layers",
        value: Words(Skip::WORDS),
        kinds: MLP,
        default: Fixed("none"),
        search: &[(NETS, SearchSpace::Default)],
        get: |config| config.skip.to_string(),
        set: |config, text| set(&mut config.skip, text),
        ..ROW
    },
    Setting {
        key: "average-weights",
        help: "Decay of an exponential moving average of the weights, which is evaluated and saved instead of the weights; 0 disables averaging",
        value: Number(Decay),
        search: &[(NETS, SearchSpace::Default)],
        get: |config| config.average_weights.to_string(),
        set: |config, text| set(&mut config.average_weights, text),
        ..ROW
    },
    Setting {
        key: "categorical",
        section: Section::Training,
        help: "Categorical features, by number from 1 or by name, as in 5,9; their values are whole numbers of 0 or more",
        value: Features,
        kinds: ONE_MODEL.or(AUTO),
        default: After("none", |_, _, _| String::new()),
        get: |config| config.categorical.join(","),
        set: |config, text| features(text).map(|features| config.categorical = features),
        ..ROW
    },
    Setting {
        key: "init",
        help: "Distribution of the initial weights",
        value: Words(Init::WORDS),
        default: Fixed("burn"),
        search: &[(NETS, SearchSpace::Default)],
        get: |config| config.init.to_string(),
        set: |config, text| set(&mut config.init, text),
        ..ROW
    },
    Setting {
        key: "optimizer",
        help: "Optimizer",
        value: Words(OptimizerKind::WORDS),
        default: Fixed("adam"),
        search: &[(NETS, SearchSpace::Default)],
        get: |config| config.optimizer.to_string(),
        set: |config, text| set(&mut config.optimizer, text),
        ..ROW
    },
    Setting {
        key: "restart",
        help: "Number of epochs without a better validation value before training restarts from new random weights; 0 disables restarts",
        get: |config| config.restart.to_string(),
        set: |config, text| set(&mut config.restart, text),
        ..ROW
    },
    Setting {
        key: "schedule",
        help: "Learning rate schedule",
        value: Words(Schedule::WORDS),
        // On synthetic data and on validation queries, cosine was never worse than a constant rate, and better with few queries.
        // A run with a given number of epochs may be resumed with more: its learning rate must not depend on that number.
        default: After("cosine; constant if `epochs` or `restart` is given", |_, config, given| {
            if config.restart > 0 || given.has("epochs") { "constant" } else { "cosine" }.to_owned()
        }),
        search: &[(NETS, List(&["cosine", "constant", "shrink"]))],
        get: |config| config.schedule.to_string(),
        set: |config, text| set(&mut config.schedule, text),
        ..ROW
    },
    Setting {
        key: "clip",
        help: "Maximum L2 norm of the gradient of each weight tensor; 0 disables clipping",
        value: Number(NotNegative),
        search: &[(NETS, SearchSpace::Default)],
        get: |config| config.clip.to_string(),
        set: |config, text| set(&mut config.clip, text),
        ..ROW
    },
    Setting {
        key: "gradient",
        help: "How gradients are computed",
        value: Words(GradientPath::WORDS),
        default: Fixed("auto"),
        get: |config| config.gradient.to_string(),
        set: |config, text| set(&mut config.gradient, text),
        ..ROW
    },
    Setting {
        key: "pair-budget",
        help: "Maximum number of document pairs in memory at once with `gradient` tensor",
        value: Whole(1, u64::MAX),
        default: Fixed("4194304"),
        get: |config| config.pair_budget.to_string(),
        set: |config, text| set(&mut config.pair_budget, text),
        ..ROW
    },
    Setting {
        key: "shares",
        help: "Number of shares of the training queries for distributed training: runs with any number of processes up to this number train the same model, byte for byte; 0 disables shares",
        value: Whole(0, 4095),
        get: |config| config.shares.to_string(),
        set: |config, text| set(&mut config.shares, text),
        ..ROW
    },
];
