//! Names of options and commands in other tools.

/// Options of other tools (LightGBM, XGBoost, RankLib, allRank, TF-Ranking and others), and their equivalents here; the first
/// that the command has is suggested.
#[rustfmt::skip]
pub(super) const OPTIONS: &[(&[&str], &[&str])] = &[
    (&["learning-rate", "step-size", "step", "alpha"], &["lr"]),
    (&["eta", "shrinkage-rate", "shrinkage"], &["shrinkage", "lr"]),
    (&["n-epochs", "num-epochs", "max-epochs", "iterations", "max-iter", "epoch", "round", "rounds", "num-train-steps", "train-steps", "max-steps"], &["epochs"]),
    (&["n-estimators", "num-iterations", "num-iteration", "num-tree", "num-trees", "num-round", "num-rounds", "nrounds", "num-boost-round", "tree", "ntree"], &["trees", "epochs"]),
    (&["num-leaves", "num-leaf", "max-leaves", "max-leaf", "max-leaf-nodes", "leaf"], &["leaves"]),
    (&["min-data-in-leaf", "min-data-per-leaf", "min-child-samples", "min-samples-leaf", "mls"], &["min-data"]),
    (&["min-sum-hessian-in-leaf", "min-sum-hessian", "min-child-weight"], &["min-hessian"]),
    (&["max-bin", "max-bins", "tc"], &["bins"]),
    (&["bagging-fraction", "sub-row", "bagging", "srate"], &["subsample"]),
    (&["sub-feature", "colsample-bytree", "colsample", "max-features", "frate"], &["feature-fraction"]),
    (&["hidden-units", "hidden-size", "hidden-layers", "hidden-layer-dims", "units", "layers", "layer", "node", "nodes"], &["hidden"]),
    (&["batch-size", "batch", "minibatch", "mini-batch", "train-batch-size"], &["batch-queries"]),
    (&["early-stopping", "early-stopping-round", "early-stopping-rounds", "early-stopping-patience", "early-stop", "stop-after", "estop", "n-iter-no-change"], &["patience"]),
    (&["weight-decay", "reg-lambda", "lambda-l2", "lambda", "regularization", "regularisation", "l2-reg", "reg"], &["l2"]),
    (&["loss", "loss-function", "application"], &["objective"]),
    (&["ranker", "booster", "boosting", "boosting-type", "algorithm", "model-type", "estimator", "input-model", "model-in", "load-model", "load"], &["model"]),
    (&["eval-metric", "metrics", "measure", "measures", "metric2t", "eval-at", "ndcg-eval-at"], &["metric"]),
    (&["random-seed", "random-state", "rng"], &["seed"]),
    (&["train-data", "training", "training-data", "train-file", "train-path", "train-input-pattern"], &["train", "data"]),
    (&["validation", "validate", "validation-data", "vali", "val", "dev", "eval", "valid-data", "eval-set", "vali-path", "eval-path", "eval-input-pattern", "validation-path"], &["valid"]),
    (&["test-data", "test-file", "test-path", "test-input-pattern", "test", "input", "file", "dataset", "train"], &["test", "data"]),
    (&["num-features", "n-features"], &["features"]),
    (&["label-column"], &["label"]),
    (&["query-column", "group-column", "group", "qid"], &["query"]),
    (&["ignore-column", "ignore-columns"], &["drop"]),
    (&["qrel"], &["qrels"]),
    (&["clip-norm", "grad-clip", "gradient-clipping", "gradient-clipping-norm", "max-grad-norm"], &["clip"]),
    (&["normalize", "normalise", "norm", "standardize", "standardise", "scaler", "scaling"], &["scale"]),
    (&["output", "output-dir", "model-dir", "save", "save-model", "save-to", "output-file", "output-model", "model-out", "job-dir"], &["out"]),
    (&["overwrite", "yes", "replace"], &["force"]),
    (&["num-threads", "num-thread", "n-threads", "n-jobs", "nthread", "jobs", "workers", "cores", "cpus", "thread"], &["threads"]),
    (&["optim", "solver"], &["optimizer"]),
    (&["silent", "no-progress", "verbosity", "verbose"], &["quiet"]),
    (&["memory", "mem", "memory-limit", "max-mem"], &["max-memory"]),
    (&["backend", "gpu", "cuda", "cpu", "device-type", "tree-method"], &["device"]),
    (&["cross-validation", "cv", "kfold", "k-fold", "nfold", "kcv"], &["folds"]),
    (&["n-trials", "num-trials", "n-iter", "samples", "budget"], &["trials"]),
    (&["timeout", "time", "time-limit", "max-time", "max-seconds", "time-budget"], &["seconds"]),
    (&["continue", "restore", "from-checkpoint"], &["resume"]),
    (&["predictions", "preds", "score", "rank"], &["scores", "model", "out"]),
];

/// Training options of other tools without an equivalent, and what to do instead.
#[rustfmt::skip]
pub(super) const INSTEAD: &[(&[&str], &str)] = &[
    (&["max-depth", "depth"], "the size of trees is set by their number of leaves, --leaves"),
    (&["lambda-l1", "reg-alpha", "l1"], "there is no L1 penalty, only --l2"),
    (&["dropout", "dropout-rate"], "nets have no dropout: --l2 and --patience limit overfitting"),
    (&["lambdarank-truncation-level", "lambdarank-num-pair-per-sample"], "the truncation is part of the objective, as in --objective lambdarank:ndcg@10"),
    (&["gmax"], "the highest grade is part of the metric, as in --metric err:max=3"),
    (&["list-size", "slate-length"], "queries of any length are used completely: leave it out"),
    (&["tts", "tvs", "test-size", "validation-split"], "'burnrank split' writes train.txt, vali.txt and test.txt"),
];

/// Commands, and their names in other tools.
#[rustfmt::skip]
pub(super) const COMMANDS: [(&str, &[&str]); 14] = [
    ("train", &["fit", "learn", "training"]),
    ("tune", &["search", "optimize", "optimise", "hpo", "sweep", "grid", "automl"]),
    ("predict", &["score", "rank", "apply", "infer", "inference"]),
    ("info", &["show", "describe", "inspect"]),
    ("data", &["stats", "statistics", "validate", "check"]),
    ("evaluate", &["eval", "test", "metrics", "measure"]),
    ("compare", &["significance", "diff", "ttest"]),
    ("explain", &["importance", "importances", "interpret", "shap", "why", "analyze", "analyse"]),
    ("report", &["html", "page", "dashboard", "summary"]),
    ("generate", &["synthetic", "make", "gen", "simulate"]),
    ("convert", &["pack", "transform", "cache"]),
    ("serve", &["server", "http", "listen", "api"]),
    ("export", &["dump", "deploy", "onnx", "serialize", "publish"]),
    ("split", &["folds", "kfold", "partition"]),
];
