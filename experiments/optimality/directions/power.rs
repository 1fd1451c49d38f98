//! Power control: how far from an optimum must weights be until the test detects it?

use crate::optimality::descent::{Net, Sets, Trained, gradient_norm};
use crate::optimality::random_directions::{DECIDING, Directions, Steps};
use crate::optimality::setting::PaperMetric;
use burnrank::Objective;
use burnrank::numeric::standard_normal;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Epochs whose weights are tested.
pub const EPOCHS: [usize; 5] = [1, 2, 3, 7, 12];
/// Distances from the learned weights, as shares of their norm.
pub const MOVES: [f64; 5] = [0.1, 0.3, 0.5, 1.0, 2.0];
/// Steps of the test: the deciding one, and a short one.
pub const STEPS: Steps = Steps { lengths: &[0.02, DECIDING], relative: true };
/// The distance 0.1, for the demonstration with features in another unit.
pub const ABSOLUTE: Steps = Steps { lengths: &[0.1], relative: false };

/// Weights at some distance from the learned ones.
#[derive(Debug, Serialize, Deserialize)]
pub struct Point {
    pub name: String,
    /// Distance to the last weights, as a share of their norm.
    pub distance: f64,
    /// Norm of the lambda gradient.
    pub gradient: f64,
    pub directions: Directions,
}

/// Tests random weights, those of early epochs, and the last ones before and after a move in a random direction.
pub fn control(
    trained: &Trained,
    random: &Net,
    train: &Sets<'_>,
    (objective, metric): (&Objective, PaperMetric),
    seed: u64,
    test: impl Fn(&Net) -> anyhow::Result<Directions>,
) -> anyhow::Result<Vec<Point>> {
    let last = &trained.last;
    let mut nets = vec![("random weights".to_owned(), random.clone())];
    nets.extend(trained.kept.iter().map(|(epoch, net)| (format!("epoch {epoch}"), net.clone())));
    nets.push(("last epoch".into(), last.clone()));
    for share in MOVES {
        nets.push((format!("last epoch, moved by {}% of |w|", 100.0 * share), moved(last, share, seed)));
    }
    let point = |(name, net): (String, Net)| -> anyhow::Result<Point> {
        Ok(Point {
            name,
            distance: net.minus(last).length() / last.length(),
            gradient: gradient_norm(&net, objective, metric, train)?,
            directions: test(&net)?,
        })
    };
    nets.into_iter().map(point).collect()
}

/// The net after a move of this share of its norm, in the same random direction for every share.
fn moved(net: &Net, share: f64, seed: u64) -> Net {
    let mut random = ChaCha8Rng::seed_from_u64(seed.wrapping_add(1 << 51));
    let direction: Vec<f64> = net.weights.iter().map(|_| standard_normal(&mut random)).collect();
    let scale = share * net.length() / direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    let weights = net.weights.iter().zip(&direction).map(|(weight, x)| weight + (scale * x) as f32).collect();
    Net { weights, ..net.clone() }
}
