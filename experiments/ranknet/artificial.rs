//! The RankNet paper's artificial data and training (section 5.1), shared by several tables.

use crate::harness::figure::Point;
use crate::harness::{NetShape, Packed, Spread, per_query};
use burnrank::data::synthetic::{Generator, Target, TargetActivation};
use burnrank::{
    Activation, Architecture, Dataset, Init, Model, Objective, OptimizerKind, ScaleKind, Schedule, Synthetic,
    TrainConfig,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Documents per list: "50 documents returned for a single query".
pub const DOCUMENTS: usize = 50;
/// Lists for validation (5,000 vectors), after the 800 lists for training.
pub const VALID: Range<usize> = 800..900;
/// Lists for test (5,000 vectors).
pub const TEST: Range<usize> = 900..1000;

/// The two random ranking functions of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    Net,
    Polynomial,
}

/// Activation of hidden units, in the random net and in the trained one. The paper does not say which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    Tanh,
    Sigmoid,
}

/// Validation and test pairs that are counted. The paper does not say which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Pairs of different labels, as in training.
    Labels,
    /// All pairs of a list, ordered by the continuous target before binning.
    Targets,
}

impl Units {
    fn activation(self) -> Activation {
        match self {
            Units::Tanh => Activation::Tanh,
            Units::Sigmoid => Activation::Sigmoid,
        }
    }

    /// Name in tables and keys.
    pub fn name(self) -> &'static str {
        match self {
            Units::Tanh => "tanh",
            Units::Sigmoid => "sigmoid",
        }
    }
}

impl Data {
    /// Name in tables and keys.
    pub fn name(self) -> &'static str {
        match self {
            Data::Net => "net",
            Data::Polynomial => "polynomial",
        }
    }
}

/// Seed of a random function and its lists.
pub fn function_seed(session: u64, function: u64) -> u64 {
    session.wrapping_mul(1_000).wrapping_add(function)
}

/// Seed of the weights and shuffles of a training run; differs from the seeds of functions.
pub fn training_seed(session: u64, function: u64, start: u64) -> u64 {
    function_seed(session, function).wrapping_add((start + 1) << 20)
}

/// Generator of lists for a random function.
pub fn generator(data: Data, units: Units, seed: u64) -> anyhow::Result<Generator> {
    let settings = match data {
        Data::Net => {
            let activation = match units {
                Units::Tanh => TargetActivation::Tanh,
                Units::Sigmoid => TargetActivation::Sigmoid,
            };
            Synthetic { target: Target::Net { hidden: 10, activation }, ..Synthetic::net() }
        }
        Data::Polynomial => Synthetic::polynomial(),
    };
    Ok(Synthetic { seed, ..settings }.generator()?)
}

/// Generates lists. To count all pairs, labels are ranks of the targets within a list.
pub fn lists(generator: &Generator, queries: Range<usize>, counted: Counted) -> anyhow::Result<Dataset> {
    let (data, targets) = generator.part(queries)?;
    if counted == Counted::Labels {
        return Ok(data);
    }
    let mut labels = Vec::with_capacity(targets.len());
    for list in targets.chunks(DOCUMENTS) {
        labels.extend(list.iter().map(|target| list.iter().filter(|other| *other < target).count() as f32));
    }
    let ids = data.query_ids().iter().map(|id| (id.clone(), DOCUMENTS)).collect();
    Ok(Dataset::new(data.n_features(), data.features().to_vec(), labels, ids)?)
}

/// A linear net, or a two-layer net with the given number of hidden units.
pub fn architecture(net: NetShape, hidden: usize, units: Units) -> Architecture {
    match net {
        NetShape::Linear => Architecture::Linear,
        NetShape::TwoLayer => Architecture::Mlp { hidden: vec![hidden], activation: units.activation() },
    }
}

/// The paper's training: first layer from zero, second uniform in [-0.1, 0.1], gradient descent with learning rate 0.001, which
/// is halved when an epoch's cost exceeds that of the previous one.
pub fn config(architecture: Architecture, epochs: usize, seed: u64) -> anyhow::Result<TrainConfig> {
    Ok(TrainConfig {
        objective: Objective::parse("ranknet")?,
        architecture,
        init: Init::Paper,
        scaling: ScaleKind::None,
        metric: "pairs".into(),
        epochs,
        learning_rate: 0.001,
        optimizer: OptimizerKind::Sgd,
        batch_queries: 1,
        schedule: Schedule::Halve,
        patience: 0,
        seed,
        ..TrainConfig::default()
    })
}

/// Test accuracy: percentage of pairs in the right order, mean over lists, and the share for each list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tested {
    pub percent: f64,
    pub lists: Packed,
}

impl Tested {
    /// Evaluates a model.
    pub fn of(model: &Model, data: &Dataset) -> anyhow::Result<Tested> {
        let shares = per_query(model, data, "pairs")?;
        Ok(Tested { percent: 100.0 * shares.iter().sum::<f64>() / shares.len() as f64, lists: Packed::new(shares) })
    }
}

/// Number of pairs of documents with different labels within a list.
pub fn pairs(data: &Dataset) -> u64 {
    let of_list = |labels: &[f32]| -> u64 {
        let later = |i: usize| labels[i + 1..].iter().filter(|label| **label != labels[i]).count() as u64;
        (0..labels.len()).map(later).sum()
    };
    data.queries().map(|query| of_list(query.labels)).sum()
}

/// z-score of the paper's number as one more sample of the same distribution, including the variance of our mean.
pub fn z(paper: f64, values: &[f64]) -> Option<f64> {
    let Spread { mean, sd, n, .. } = Spread::of(values)?;
    Some((paper - mean) / (sd * (1.0 + 1.0 / n as f64).sqrt())).filter(|z| z.is_finite())
}

/// Mean, standard deviation and z-score as a cell of a table.
pub fn cell(paper: f64, values: &[f64]) -> String {
    match Spread::of(values) {
        Some(Spread { mean, sd, .. }) => {
            let z = z(paper, values)
                .map_or("-".into(), |z| if z.abs() > 99.0 { "above 99".into() } else { format!("{z:+.1}") });
            format!("{mean:.2} ± {sd:.2} ({z})")
        }
        None => values.first().map_or("-".into(), |value| format!("{value:.2}")),
    }
}

/// Point of a figure: mean and standard deviation over functions.
pub fn point(place: f64, values: &[f64]) -> Point {
    match Spread::of(values) {
        Some(Spread { mean, sd, .. }) => (place, mean, Some((mean - sd, mean + sd))),
        None => (place, values.first().copied().unwrap_or(f64::NAN), None),
    }
}

/// Description of the data for reports.
pub fn data_text(data: &[Data], functions: u64) -> String {
    let of = |data: &Data| match data {
        Data::Net => "the random net has 10 hidden units and weights uniform in [-1, 1]",
        Data::Polynomial => {
            "the random polynomial is the mean of a linear, a quadratic and a cubic term of mean 0 and variance 1"
        }
    };
    let all: Vec<&str> = data.iter().map(of).collect();
    format!(
        "Data: {functions} random functions with separate lists; 50 features uniform in [-1, 1]; {}; lists of {DOCUMENTS} \
         documents; six labels from bins with equal shares of documents. The first lists are for training; {} lists (5,000 \
         vectors) each are for validation and test.",
        all.join("; "),
        VALID.len()
    )
}

/// Description of the training for reports.
pub const TRAINING_TEXT: &str = "Training: RankNet's cost on all pairs of different labels of a list, target \
     probability 1; the first layer starts from zero, the second uniform in [-0.1, 0.1] (a linear net in [-0.1, 0.1] \
     too); gradient descent with one update per list, the sum over its pairs; learning rate 0.001, halved when the mean \
     cost of an epoch exceeds that of the previous one. Learning rate and rule are the paper's and were not tuned.";

/// Deviations from the paper that apply to the given data and nets.
pub fn deviations(data: &[Data], nets: &[NetShape]) -> Vec<String> {
    let mut all = vec![
        ONE_FUNCTION.to_owned(),
        "The paper updates the weights after each pair; here they are updated once per list by the sum over its pairs, with the \
         same learning rate. The experiment ranknet-per-pair compares the two."
            .into(),
        "The paper does not define the bins. Bins with equal shares give about the paper's number of pairs, which ranknet-table2 \
         tests."
            .into(),
    ];
    if nets.contains(&NetShape::Linear) {
        all.push("A linear net starts uniform in [-0.1, 0.1], because from zero all scores would be equal.".into());
    }
    if data.contains(&Data::Polynomial) {
        all.push(
            "Each term of the polynomial is scaled by its exact mean and variance, not by those of the sample, which differ \
             little."
                .into(),
        );
    }
    all
}

/// Reason for several functions.
pub const ONE_FUNCTION: &str = "The paper has one unknown random function of each kind; here there are several, and the paper's \
     number is compared with their distribution.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_counts_by_target_and_five_in_six_by_label() {
        let generator = generator(Data::Net, Units::Tanh, 7).unwrap();
        let all = lists(&generator, 0..20, Counted::Targets).unwrap();
        assert_eq!(pairs(&all), 20 * 1225);
        let binned = lists(&generator, 0..20, Counted::Labels).unwrap();
        let share = pairs(&binned) as f64 / (20.0 * 1225.0);
        assert!((share - 5.0 / 6.0).abs() < 0.02, "{share}");
        assert_eq!(all.features(), binned.features());
    }

    #[test]
    fn z_is_for_one_more_sample() {
        // Mean 2, deviation 1, three samples: 4 is 2 / sqrt(4/3) away.
        assert!((z(4.0, &[1.0, 2.0, 3.0]).unwrap() - 3f64.sqrt()).abs() < 1e-12);
        assert!(z(4.0, &[1.0]).is_none() && z(4.0, &[1.0, 1.0]).is_none());
        assert_eq!(cell(4.0, &[1.0, 2.0, 3.0]), "2.00 ± 1.00 (+1.7)");
    }

    #[test]
    fn functions_and_runs_have_different_seeds() {
        let seeds = [function_seed(1, 0), function_seed(1, 1), training_seed(1, 0, 0), training_seed(1, 0, 1)];
        assert!((1..4).all(|n| !seeds[..n].contains(&seeds[n])));
    }
}
