//! Certificates, lambda reports and comparisons of trained models, through the public API and the command line.

use burnrank::analysis::optimality::certify_control;
use burnrank::analysis::optimality::{CertifyOptions, certify};
use burnrank::metric::parse;
use burnrank::{
    Architecture, Dataset, Device, LambdaField, Model, Objective, OptimizerKind, ScaleKind, Schedule, Synthetic,
    TrainConfig, Trainer, device,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Instant;

fn train(config: TrainConfig, data: &Dataset, device: &Device) -> Model {
    let trainer = Trainer::new(config, data, data, device).unwrap();
    trainer.train().unwrap()
}

/// A linear net trained by LambdaRank and evaluated on the same data, as in the paper: the best epoch is the one with the highest
/// training value.
fn lambdarank(objective: &str, metric: &str, epochs: usize, data: &Dataset, device: &Device) -> Model {
    let config = TrainConfig {
        objective: Objective::parse(objective).unwrap(),
        architecture: Architecture::Linear,
        scaling: ScaleKind::None,
        metric: metric.into(),
        epochs,
        patience: 0,
        learning_rate: 0.01,
        optimizer: OptimizerKind::Sgd,
        schedule: Schedule::ShrinkSometimes,
        ..TrainConfig::default()
    };
    train(config, data, device)
}

#[test]
fn a_converged_lambdarank_net_is_certified_and_random_weights_are_not() {
    let device = device::open("auto").unwrap();
    let data = Synthetic { queries: 1000, documents: 30, features: 50, ..Synthetic::polynomial() };
    let data = data.generator().unwrap().dataset().unwrap();
    // How far an absolute step leads depends on the norm of the weights, and so on sigma: a steep sigmoid gives small weights, so that a step
    // of 0.1 is visible through the noise of few queries.
    let trained = lambdarank("lambdarank:ndcg:sigma=4", "ndcg", 12, &data, &device);
    let ndcg = parse("ndcg").unwrap();
    let options = CertifyOptions {
        steps: vec![burnrank::analysis::optimality::COARSE_STEPS.to_vec()],
        relative: false,
        ..CertifyOptions::default()
    };
    let result = certify(trained.scorer.net().unwrap(), &data, &*ndcg, &device, &options, &mut |_| ()).unwrap();
    println!("length {:.3}, {:?}", result.length, result.reports[0].best);
    assert!((result.value - trained.best_value().unwrap()).abs() < 1e-6);
    assert_eq!(result.directions, 459);
    assert!(result.holds(), "{}", result.reports[0].statement);
    let control =
        certify_control(trained.scorer.net().unwrap(), &data, &*ndcg, &device, &options, &mut |_| ()).unwrap();
    assert!(!control.holds() && control.value < result.value, "{}", control.reports[0].statement);
}

/// `cargo test --release --test analysis -- --ignored --nocapture the_papers_scale`
#[test]
#[ignore = "minutes: the paper's scale"]
fn the_papers_scale() {
    let device = device::open("auto").unwrap();
    let start = Instant::now();
    let data = Synthetic { queries: 10_000, features: 300, ..Synthetic::lambdarank() };
    let data = data.generator().unwrap().dataset().unwrap();
    println!("{} documents in {:.1} s", data.n_documents(), start.elapsed().as_secs_f64());
    for metric in ["ndcg", "ndcg@10"] {
        let start = Instant::now();
        let epochs = std::env::var("EPOCHS").ok().and_then(|text| text.parse().ok()).unwrap_or(30);
        let trained = lambdarank(&format!("lambdarank:{metric}"), metric, epochs, &data, &device);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{metric}: {} in {seconds:.1} s, best epoch {}",
            trained.best_value().unwrap(),
            trained.info.best_epoch
        );
        let evaluated = parse(metric).unwrap();
        for (what, control) in [("learned", false), ("random", true)] {
            for steps in CertifyOptions::default().steps {
                let options = CertifyOptions { steps: vec![steps], relative: false, ..CertifyOptions::default() };
                let run = if control { certify_control } else { certify };
                let start = Instant::now();
                let result =
                    run(trained.scorer.net().unwrap(), &data, &*evaluated, &device, &options, &mut |_| ()).unwrap();
                let seconds = start.elapsed().as_secs_f64();
                let (length, report) = (result.length, &result.reports[0]);
                println!("{metric} {what}, length {length:.3}: {seconds:.1} s. {}", report.statement);
                println!("  best move {:?}", report.best);
            }
        }
    }
}

#[test]
fn every_construction_trains_for_every_metric_without_nan() {
    let device = device::open("auto").unwrap();
    let data = Synthetic { queries: 40, documents: 20, features: 8, ..Synthetic::net() };
    let data = data.generator().unwrap().dataset().unwrap();
    for metric in ["ndcg", "ndcg@5", "map:rel=3", "mrr:rel=4", "err:max=5", "arp", "pairs"] {
        for construction in ["springsmooth", "localgradient", "localcost", "discretebounded"] {
            let objective = Objective::parse(&format!("lambdarank:{metric}:{construction}")).unwrap();
            let config = TrainConfig {
                objective,
                epochs: 8,
                learning_rate: 0.01,
                metric: "ndcg".into(),
                schedule: Schedule::Constant,
                scaling: ScaleKind::QueryMinMax,
                ..TrainConfig::default()
            };
            let trained = train(config, &data, &device);
            let (first, last) = (&trained.history[0], &trained.history[7]);
            assert!(trained.history.iter().all(|epoch| epoch.train.is_finite() && epoch.valid.is_finite()));
            assert!(last.train > first.train, "{metric}:{construction} {} to {}", first.train, last.train);
            assert!(first.effective_pairs > 0, "{metric}:{construction} {first:?}");
        }
    }
}

#[test]
fn constructions_without_a_tensor_path_are_rejected() {
    let data = Synthetic { queries: 3, ..Synthetic::net() }.generator().unwrap().dataset().unwrap();
    let config = TrainConfig {
        objective: Objective::parse("lambdarank:map:localcost").unwrap(),
        gradient: burnrank::GradientPath::Tensor,
        schedule: Schedule::Constant,
        scaling: ScaleKind::QueryMinMax,
        learning_rate: 0.001,
        ..TrainConfig::default()
    };
    let error = Trainer::new(config, &data, &data, &device::open("auto").unwrap()).err().unwrap().to_string();
    assert!(error.contains("lambdarank:map:localcost has lambdas but no loss"), "{error}");
}

/// A field that returns invalid lambdas.
#[derive(Debug)]
struct Broken(Vec<f64>);

impl LambdaField for Broken {
    fn name(&self) -> String {
        "broken".into()
    }

    fn lambdas(&self, _scores: &[f64], _labels: &[f32], _order: &[usize]) -> Vec<f64> {
        self.0.clone()
    }
}

#[test]
fn a_broken_field_is_an_error_not_a_panic() {
    let device = device::open("auto").unwrap();
    let data = Dataset::new(1, vec![0.0, 1.0], vec![0.0, 1.0], vec![("q".into(), 2)]).unwrap();
    for (values, expected) in [(vec![1.0], "1 lambdas for 2 documents"), (vec![f64::NAN, 0.0], "not a finite number")] {
        let config = TrainConfig {
            objective: Objective::field(Arc::new(Broken(values))),
            schedule: Schedule::Constant,
            scaling: ScaleKind::QueryMinMax,
            learning_rate: 0.001,
            ..TrainConfig::default()
        };
        let message = Trainer::new(config, &data, &data, &device).unwrap().epoch().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// Runs the command line tool in a folder.
fn tool(folder: &Path, arguments: &str) -> Output {
    let arguments = arguments.split_whitespace();
    Command::new(env!("CARGO_BIN_EXE_burnrank")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(folder: &Path, arguments: &str) -> String {
    let output = tool(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&text(folder, &format!("{arguments} --json"))).unwrap()
}

fn assert_error(folder: &Path, arguments: &str, code: i32, expected: &str) {
    let output = tool(folder, arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments}: {message}");
    assert!(message.contains(expected), "{arguments}: {message}");
    assert!(output.stdout.is_empty());
}

fn assert_svg(path: &Path) {
    let svg = std::fs::read_to_string(path).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.len() > 1000);
    assert!(!svg.contains("NaN"));
}

/// A folder with data, a model trained on it, its scores and its TREC run.
fn workshop() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    text(at, "generate net --queries 60 --documents 12 --features 6 --out all.txt");
    text(
        at,
        "train --train all.txt --valid all.txt --model linear --objective lambdarank:ndcg --epochs 5 --out model --json",
    );
    text(at, "predict --model model --data all.txt --out scores.txt");
    text(at, "predict --model model --data all.txt --format trec --out run.txt");
    folder
}

#[test]
fn certify_writes_text_json_and_figures() {
    let folder = workshop();
    let at = folder.path();
    let ask = "certify --model model --data all.txt --metric ndcg --epsilon 0.1 --delta 0.1 --control --each-weight";
    let found = json(at, &format!("{ask} --figure curves.svg --seed 4"));
    assert_svg(&at.join("curves.svg"));
    // ceil(ln 0.1 / ln 0.9)
    assert_eq!(found["certificate"]["planned_directions"], 22);
    assert_eq!(found["certificate"]["reports"].as_array().unwrap().len(), 2);
    assert_eq!(found["certificate"]["reports"][0]["steps"].as_array().unwrap().len(), 10);
    assert_eq!(found["each_weight"]["weights"].as_array().unwrap().len(), 6);
    assert!(found["control"]["reports"][0]["rising"].as_u64().unwrap() > 0);
    let report = json(at, "evaluate --model model --data all.txt --metric ndcg");
    let difference = report["metrics"][0]["mean"].as_f64().unwrap() - found["certificate"]["value"].as_f64().unwrap();
    assert!(difference.abs() < 1e-6, "certify and evaluate must agree");
    // The same seed gives the same output with any number of threads.
    assert_eq!(json(at, &format!("{ask} --seed 4 --threads 1")), found);
    assert_ne!(json(at, &format!("{ask} --seed 5")), found);
    let output = text(at, &format!("{ask} --steps 0.5 --stop-at-first"));
    assert!(
        output.contains("50% of |w|") && output.contains(", |w| = ") && output.contains("does not prove"),
        "{output}"
    );
    // Relative steps are reported as distances.
    let norm = found["certificate"]["length"].as_f64().unwrap();
    assert_eq!(found["certificate"]["reports"][0]["steps"][9].as_f64().unwrap(), norm);
    let absolute = json(at, &format!("{ask} --absolute"));
    assert_eq!(absolute["certificate"]["reports"][0]["steps"][9], 1.0);
    let output = text(at, &format!("{ask} --steps 0.5 --absolute --stop-at-first"));
    assert!(!output.contains("of |w|"), "{output}");
    assert!(output.contains("random weights of the same norm") && output.contains("Each weight alone"), "{output}");
    assert_error(at, "certify --model model --data all.txt --steps 0.1,x", 2, "'x' is not a number");
    assert_error(at, "certify --model model --data all.txt --steps 0", 2, "step 0");
    assert_error(at, "certify --model model --data all.txt --epsilon 1", 2, "epsilon 1");
    assert_error(at, "certify --model model --data all.txt --metric nonsense", 2, "nonsense");
    assert_error(at, "certify --model all.txt --data all.txt", 1, "all.txt");
}

#[test]
fn lambda_distinguishes_fields() {
    let folder = workshop();
    let at = folder.path();
    for (objective, potential, convex) in [
        ("ranknet", "conservative", true),
        ("arp-loss2", "conservative", true),
        ("lambdarank:ndcg", "between-ties", false),
        ("lambdarank:ndcg:localcost", "none", false),
    ] {
        let found = json(at, &format!("lambda --objective {objective} --queries 6 --documents 7"));
        assert_eq!(
            (&found["potential"], &found["convex"]),
            (&Value::from(potential), &Value::from(convex)),
            "{objective}"
        );
        assert_eq!(found["balanced"], true, "{objective}");
    }
    let regularised = json(at, "lambda --objective ranknet --alpha 0.5 --queries 2");
    assert!((regularised["smallest_eigenvalue"].as_f64().unwrap() - 0.5).abs() < 1e-6);
    for scores in ["", "--model model", "--scores scores.txt"] {
        let output = text(
            at,
            &format!("lambda --objective lambdarank:map --data all.txt --query-id 7 --figure f.svg --force {scores}"),
        );
        assert!(output.contains("query 7") && output.contains("jump at tie"), "{output}");
        assert_svg(&at.join("f.svg"));
    }
    assert_error(at, "lambda --objective ranknet --data all.txt --query-id none", 1, "query 'none' is missing");
    assert_error(at, "lambda --objective ndcg-loss2:gaussian=4", 2, "random field");
    assert_error(at, "lambda --objective nonsense", 2, "nonsense");
}

#[test]
fn compare_accepts_models_scores_and_runs() {
    let folder = workshop();
    let at = folder.path();
    let found = json(at, "compare model scores.txt run.txt --data all.txt --metric ndcg@10,map:rel=3 --figure d.svg");
    assert_svg(&at.join("d.svg"));
    let comparisons = found["comparisons"].as_array().unwrap();
    assert_eq!((comparisons.len(), &found["family"]), (6, &serde_json::json!({ "ndcg@10": 0, "map:rel=3": 0 })));
    for comparison in comparisons {
        // Three inputs of one system.
        assert_eq!(comparison["ties"], 60, "{comparison}");
        assert_eq!(comparison["t_test"]["p"], 1.0);
        assert_eq!(comparison["adjusted"], Value::Null, "not compared");
    }
    // Negated scores are significantly worse.
    let scores = std::fs::read_to_string(at.join("scores.txt")).unwrap();
    let worse: String = scores.lines().map(|line| format!("{}\n", -line.parse::<f64>().unwrap())).collect();
    std::fs::write(at.join("worse.txt"), worse).unwrap();
    let found = json(at, "compare model worse.txt scores.txt --baseline --data all.txt --seed 3");
    assert_eq!(found["comparisons"].as_array().unwrap().len(), 2);
    assert!(found["comparisons"][0]["difference"].as_f64().unwrap() < -0.1);
    assert!(found["comparisons"][0]["adjusted"]["randomisation"].as_f64().unwrap() < 1e-3);
    assert_eq!(found, json(at, "compare model worse.txt scores.txt --baseline --data all.txt --seed 3 --threads 1"));
    let output = text(at, "compare scores.txt worse.txt --data all.txt --movers 3");
    assert!(output.contains("significantly worse") && output.contains("Largest differences in ndcg@10"), "{output}");
    assert_error(at, "compare scores.txt --data all.txt", 2, "SYSTEM");
    assert_error(at, "compare scores.txt all.txt --data all.txt", 1, "all.txt:1:1: bad score");
    assert_error(at, "compare scores.txt missing.txt --data all.txt", 1, "missing.txt");
    assert_error(at, "compare scores.txt worse.txt --data all.txt --folds 2", 2, "{}");
    assert_error(at, "compare scores.txt worse.txt --data all.txt --alpha 0", 2, "--alpha 0");
}

#[test]
fn data_counts_the_pairs_that_an_objective_learns_from() {
    let folder = workshop();
    let at = folder.path();
    let found = json(at, "data all.txt --objective lambdarank:ndcg --objective lambdarank:mrr:rel=4 --model model");
    let pairs = found["files"][0]["effective_pairs"].as_array().unwrap();
    let count = |index: usize, what: &str| pairs[index][what].as_u64().unwrap();
    assert!(count(0, "effective") <= count(0, "label_pairs") && count(1, "effective") < count(0, "effective"));
    assert!(count(0, "saturated") <= count(0, "effective"));
    assert!(text(at, "data all.txt --objective ranknet").contains("effective pairs (100.0% of"));
    assert_error(at, "data all.txt --model model", 2, "--objective");
}

#[test]
fn compare_finds_the_significant_differences_on_mq2008() {
    let root = std::env::var_os("BURNRANK_DATA").map(|root| PathBuf::from(root).join("mq2008"));
    let Some(root) = root.filter(|path| path.is_dir()) else {
        println!("skipped: BURNRANK_DATA is not a folder with mq2008");
        return;
    };
    let systems = ["AdaRank", "ListNet", "RankBoost", "RankNet", "svm_rank"];
    let names = systems.map(|system| format!("scores/{system}.Fold{{}}.test.txt")).join(" ");
    let found = json(&root, &format!("compare {names} --data Fold{{}}/test.txt --folds 5 --metric ndcg@10"));
    // SciPy 1.17.1 on the same per-query values: ttest_rel(second, first).pvalue, and
    // wilcoxon(round(second - first, 12), zero_method='wilcox', method='approx').pvalue (rounding errors are not differences).
    let stored = [
        (3.42422e-06, 3.37556e-07),
        (0.842328, 0.511298),
        (0.00235071, 0.000382618),
        (0.78896, 0.693523),
        (1.6699e-08, 1.23765e-10),
        (0.00121279, 0.000364385),
        (1.38822e-09, 1.8815e-12),
        (0.000668301, 3.63961e-05),
        (0.936193, 0.729744),
        (7.69132e-05, 2.03181e-07),
    ];
    let comparisons = found["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), stored.len());
    for (comparison, (t_test, wilcoxon)) in comparisons.iter().zip(stored) {
        for (test, expected) in [("t_test", t_test), ("wilcoxon", wilcoxon)] {
            let p = comparison[test]["p"].as_f64().unwrap();
            assert!((p - expected).abs() < 1e-5 * expected, "{test}: {p}, SciPy {expected}");
        }
    }
    // AdaRank, RankBoost and svm_rank do not differ significantly; each is better than ListNet and RankNet, and RankNet than ListNet.
    let alike: Vec<(&str, &str)> = comparisons
        .iter()
        .filter(|comparison| comparison["adjusted"]["randomisation"].as_f64().unwrap() > 0.05)
        .map(|comparison| (comparison["baseline"].as_str().unwrap(), comparison["system"].as_str().unwrap()))
        .map(|(first, second)| (first.split('.').next().unwrap(), second.split('.').next().unwrap()))
        .collect();
    assert_eq!(alike, [("AdaRank", "RankBoost"), ("AdaRank", "svm_rank"), ("RankBoost", "svm_rank")]);
}
