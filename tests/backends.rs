//! The same training on every backend of this build: the numbers agree within the tolerance stated here.

use burnrank::{GradientPath, Objective, Synthetic, TrainConfig, Trainer, device, score};

/// Scores after three epochs differ by at most this share of the largest score: f32 sums in another order, three epochs on.
const TOLERANCE: f32 = 1e-4;

#[test]
fn scores_after_training_agree_across_backends_and_paths() {
    let generator = Synthetic { queries: 40, documents: 15, features: 10, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..30).unwrap().0, generator.part(30..40).unwrap().0);
    for objective in ["ranknet", "lambdarank:ndcg", "ndcg-loss2++:mu=5"] {
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
                let scores = score(&trainer.finish().unwrap().ranker, &valid, &device).unwrap();
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
