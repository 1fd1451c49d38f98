//! What can be proved about a trained model, seen from outside.

use burnrank::{
    Architecture, CertifyOptions, Dataset, Device, LambdaField, Objective, OptimizerKind, StepRule, Synthetic,
    TrainConfig, Trained, Trainer, certify, certify_control, device, parse,
};
use std::sync::Arc;
use std::time::Instant;

fn train(config: TrainConfig, data: &Dataset, device: &Device) -> Trained {
    let mut trainer = Trainer::new(config, data, data, device).unwrap();
    while trainer.finished().is_none() {
        trainer.epoch().unwrap();
    }
    trainer.finish().unwrap()
}

/// A linear net trained by LambdaRank on the data that it is then judged by, as in the paper: the best epoch is the one with
/// the highest training value.
fn lambdarank(objective: &str, metric: &str, epochs: usize, data: &Dataset, device: &Device) -> Trained {
    let config = TrainConfig {
        objective: Objective::parse(objective).unwrap(),
        architecture: Architecture::Linear,
        metric: metric.into(),
        epochs,
        patience: 0,
        learning_rate: 0.01,
        optimizer: OptimizerKind::Sgd,
        step_rule: StepRule::ShrinkSometimes,
        ..TrainConfig::default()
    };
    train(config, data, device)
}

#[test]
fn a_converged_lambdarank_net_is_certified_and_random_weights_are_not() {
    let device = device::open("auto").unwrap();
    let data = Synthetic { queries: 1000, documents: 30, features: 50, ..Synthetic::polynomial() };
    let data = data.generator().unwrap().dataset().unwrap();
    // Steps compare to the length of the weights, which the slope of the sigmoid sets: a steep one makes short weights, so
    // that a step of 0.1 is seen through the noise of few queries.
    let trained = lambdarank("lambdarank:ndcg:sigma=4", "ndcg", 12, &data, &device);
    let ndcg = parse("ndcg").unwrap();
    let options = CertifyOptions { steps: vec![burnrank::COARSE_STEPS.to_vec()], ..CertifyOptions::default() };
    let found = certify(&trained.ranker, &data, &*ndcg, &device, &options, &mut |_| ()).unwrap();
    println!("length {:.3}, {:?}", found.length, found.reports[0].best);
    assert!((found.value - trained.best_value).abs() < 1e-6);
    assert_eq!(found.tried, 459);
    assert!(found.holds(), "{}", found.reports[0].statement);
    let control = certify_control(&trained.ranker, &data, &*ndcg, &device, &options, &mut |_| ()).unwrap();
    assert!(!control.holds() && control.value < found.value, "{}", control.reports[0].statement);
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
        println!("{metric}: {} in {seconds:.1} s, best epoch {}", trained.best_value, trained.best_epoch);
        let measure = parse(metric).unwrap();
        for (what, control) in [("learned", false), ("random", true)] {
            for steps in CertifyOptions::default().steps {
                let options = CertifyOptions { steps: vec![steps], ..CertifyOptions::default() };
                let run = if control { certify_control } else { certify };
                let start = Instant::now();
                let found = run(&trained.ranker, &data, &*measure, &device, &options, &mut |_| ()).unwrap();
                let seconds = start.elapsed().as_secs_f64();
                println!("{metric} {what}, length {:.3}: {seconds:.1} s. {}", found.length, found.reports[0].statement);
                println!("  best move {:?}", found.reports[0].best);
            }
        }
    }
}

#[test]
fn every_construction_trains_for_every_measure_without_nan() {
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
fn constructions_have_no_tensor_path_and_say_so() {
    let data = Synthetic { queries: 3, ..Synthetic::net() }.generator().unwrap().dataset().unwrap();
    let config = TrainConfig {
        objective: Objective::parse("lambdarank:map:localcost").unwrap(),
        gradient: burnrank::GradientPath::Tensor,
        ..TrainConfig::default()
    };
    let error = Trainer::new(config, &data, &data, &device::open("auto").unwrap()).err().unwrap().to_string();
    assert!(error.contains("lambdarank:map:localcost has lambdas but no loss"), "{error}");
}

/// A field that breaks its promise.
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
    for (forces, expected) in [(vec![1.0], "1 lambdas for 2 documents"), (vec![f64::NAN, 0.0], "not a finite number")] {
        let config = TrainConfig { objective: Objective::field(Arc::new(Broken(forces))), ..TrainConfig::default() };
        let message = Trainer::new(config, &data, &data, &device).unwrap().epoch().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
