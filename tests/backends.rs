//! The same training on every backend of this build: the numbers agree within the tolerance stated here.

use burnrank::{GradientPath, Objective, Synthetic, TrainConfig, Trainer, device};
use std::sync::Mutex;

/// Scores after three epochs differ by at most this share of the largest score: f32 sums in another order, three epochs on.
const TOLERANCE: f32 = 1e-4;

#[test]
fn scores_after_training_agree_across_backends_and_paths() {
    let generator = Synthetic { queries: 40, documents: 15, features: 10, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..30).unwrap().0, generator.part(30..40).unwrap().0);
    for objective in ["ranknet", "lambdarank:ndcg", "ndcg-loss2++:mu=5", "lambdarank:map"] {
        let mut first: Option<(String, Vec<f32>)> = None;
        for backend in device::backends() {
            for gradient in [GradientPath::Lambda, GradientPath::Tensor] {
                let device = backend.open().expect("a backend of this build opens");
                let objective = Objective::parse(objective).unwrap();
                let config =
                    TrainConfig { objective, gradient, epochs: 3, learning_rate: 0.01, ..TrainConfig::default() };
                let mut trainer = Trainer::new(config, &train, &valid, &device).unwrap();
                while trainer.finished().is_none() {
                    trainer.epoch().unwrap();
                }
                let scores = trainer.finish().unwrap().score(&valid).unwrap();
                let who = format!("{backend} by {gradient}");
                match &first {
                    None => first = Some((who, scores)),
                    Some((other, expected)) => {
                        let scale = expected.iter().fold(0f32, |scale, score| scale.max(score.abs()));
                        let worst = scores.iter().zip(expected).fold(0f32, |w, (a, b)| w.max((a - b).abs()));
                        println!("{who} against {other}: {worst:e} of {scale}");
                        assert!(worst <= TOLERANCE * scale, "{who} against {other}: {worst} of {scale}");
                    }
                }
            }
        }
    }
}

/// Whatever path a device takes, its epochs report what the host's do: losses, pairs, and the measure of training queries.
#[test]
fn epochs_report_the_same_numbers_on_every_backend() {
    let generator = Synthetic { queries: 24, documents: 20, features: 6, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..17).unwrap().0, generator.part(17..24).unwrap().0);
    for objective in ["lambdarank:ndcg@5", "ndcg-loss2++:mu=5", "lambdarank:mrr", "lambdarank:pairs"] {
        let mut first: Option<Vec<burnrank::EpochRecord>> = None;
        for backend in device::backends() {
            let objective = Objective::parse(objective).unwrap();
            let config = TrainConfig { objective, epochs: 2, batch_queries: 5, ..TrainConfig::default() };
            let mut trainer = Trainer::new(config, &train, &valid, &backend.open().unwrap()).unwrap();
            let records: Vec<_> = (0..2).map(|_| trainer.epoch().unwrap()).collect();
            for (own, other) in records.iter().zip(first.get_or_insert_with(|| records.clone()).iter()) {
                assert!((own.loss / other.loss - 1.0).abs() < 1e-4, "{backend}: {own:?}, not {other:?}");
                assert!((own.train - other.train).abs() < 1e-3 && (own.valid - other.valid).abs() < 1e-3, "{backend}");
                assert_eq!(own.effective_pairs, other.effective_pairs, "{backend}");
            }
        }
    }
}

/// Held while the limit of a GPU's memory, which is one for all, must stay as it is.
static LIMIT: Mutex<()> = Mutex::new(());

/// Features go to a GPU once per run, and scores come back once per epoch.
#[test]
fn a_gpu_is_sent_features_once() {
    let _held = LIMIT.lock().unwrap();
    let generator = Synthetic { queries: 30, documents: 40, features: 25, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..24).unwrap().0, generator.part(24..30).unwrap().0);
    for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
        let config = TrainConfig { epochs: 4, batch_queries: 3, ..TrainConfig::default() };
        let mut trainer = Trainer::new(config, &train, &valid, &backend.open().unwrap()).unwrap();
        let mut after = vec![];
        for _ in 0..4 {
            trainer.epoch().unwrap();
            after.push(trainer.transfers().expect("a GPU counts"));
        }
        println!("{backend}: {after:?}");
        let first = after[0].to_device.bytes;
        assert!(first >= 4 * (train.features().len() + valid.features().len()) as u64, "{backend}: {first}");
        for pair in after.windows(2) {
            let (sent, back) = (pair[1].to_device, pair[1].from_device);
            let sent = [sent.count - pair[0].to_device.count, sent.bytes - pair[0].to_device.bytes];
            let back = [back.count - pair[0].from_device.count, back.bytes - pair[0].from_device.bytes];
            // The order of the queries and where each starts; sums, scores of both sets, weights.
            assert_eq!(sent, [2, 4 * (24 + 25)], "{backend}");
            assert_eq!(back, [4, 4 * (6 * 24 + 24 * 40 + 6 * 40 + 25 * 10 + 10 + 10)], "{backend}");
        }
    }
}

/// Features that do not fit on a GPU go there in slices, with the same result.
#[test]
fn slices_of_features_train_the_same_model() {
    let _held = LIMIT.lock().unwrap();
    let generator = Synthetic { queries: 30, documents: 40, features: 25, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..24).unwrap().0, generator.part(24..30).unwrap().0);
    for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
        let scores = |limit: u64| {
            device::set_memory_limit(limit);
            let config = TrainConfig { epochs: 2, batch_queries: 4, ..TrainConfig::default() };
            let mut trainer = Trainer::new(config, &train, &valid, &backend.open().unwrap()).unwrap();
            (0..2).for_each(|_| assert!(trainer.epoch().is_ok()));
            let sent = trainer.transfers().unwrap().to_device.bytes;
            (trainer.finish().unwrap().score(&valid).unwrap(), sent)
        };
        let (together, once) = scores(1 << 40);
        // A slice holds a quarter of the limit: two batches of 160 documents of 100 bytes.
        let (sliced, twice) = scores(4 * 2 * 160 * 100);
        assert_eq!(together, sliced, "{backend}");
        assert!(twice > once + 4 * train.features().len() as u64, "{backend}: {once} and {twice} bytes");
        device::set_memory_limit(1 << 40);
    }
}
