//! The RankNet paper's artificial data and the training of its nets (section 5.1), which several of its tables share.

use crate::harness::figure::Point;
use crate::harness::{NetShape, Packed, Spread, per_query};
use burnrank::data::synthetic::{Generator, Target, TargetActivation};
use burnrank::{
    Activation, Architecture, Dataset, Init, Model, Objective, OptimizerKind, ScaleKind, Schedule, Synthetic,
    TrainConfig,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Of each list, "50 documents returned for a single query".
pub const DOCUMENTS: usize = 50;
/// The lists for validation and test: 5,000 vectors each, after the 800 lists for training.
pub const VALID: Range<usize> = 800..900;
pub const TEST: Range<usize> = 900..1000;

/// The two random ranking functions of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    Net,
    Polynomial,
}

/// The hidden units' function, of the net that makes the data and of the net that learns. The paper does not say which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    Tanh,
    Sigmoid,
}

/// Which validation and test pairs count. The paper does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Pairs of different labels, as in training.
    Labels,
    /// All pairs of a list, in the order of the continuous target that the labels are bins of.
    Targets,
}

impl Units {
    fn learned(self) -> Activation {
        match self {
            Units::Tanh => Activation::Tanh,
            Units::Sigmoid => Activation::Sigmoid,
        }
    }

    /// As tables and keys call it.
    pub fn name(self) -> &'static str {
        match self {
            Units::Tanh => "tanh",
            Units::Sigmoid => "sigmoid",
        }
    }
}

impl Data {
    /// As tables and keys call it.
    pub fn name(self) -> &'static str {
        match self {
            Data::Net => "net",
            Data::Polynomial => "polynomial",
        }
    }
}

/// What all random numbers of one random function and its lists follow from.
pub fn function_seed(session: u64, function: u64) -> u64 {
    session.wrapping_mul(1_000).wrapping_add(function)
}

/// Other random numbers than those of the function, for weights and shuffles of a start.
pub fn training_seed(session: u64, function: u64, start: u64) -> u64 {
    function_seed(session, function).wrapping_add((start + 1) << 20)
}

/// One random function, and lists by it.
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

/// Some lists; where every pair is to count, a document's label is its place among the targets of its list.
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

/// A linear net, or two layers with so many hidden units.
pub fn architecture(net: NetShape, hidden: usize, units: Units) -> Architecture {
    match net {
        NetShape::Linear => Architecture::Linear,
        NetShape::TwoLayer => Architecture::Mlp { hidden: vec![hidden], activation: units.learned() },
    }
}

/// The paper's training: first layer from zero, second uniform in [-0.1, 0.1], plain steps of 0.001 that are halved when an
/// epoch's cost is above the one before.
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

/// The percentage of test pairs in the right order, mean over lists, and the share of each list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tested {
    pub percent: f64,
    pub lists: Packed,
}

impl Tested {
    /// Scores the lists and counts their pairs.
    pub fn of(model: &Model, data: &Dataset) -> anyhow::Result<Tested> {
        let shares = per_query(model, data, "pairs")?;
        Ok(Tested { percent: 100.0 * shares.iter().sum::<f64>() / shares.len() as f64, lists: Packed::new(shares) })
    }
}

/// Pairs of documents with different labels within a list.
pub fn pairs(data: &Dataset) -> u64 {
    let of_list = |labels: &[f32]| -> u64 {
        let later = |i: usize| labels[i + 1..].iter().filter(|label| **label != labels[i]).count() as u64;
        (0..labels.len()).map(later).sum()
    };
    data.queries().map(|query| of_list(query.labels)).sum()
}

/// How many deviations the paper's number lies from these, when it is one more draw of the same: the mean of n has its
/// share of the spread too.
pub fn z(paper: f64, values: &[f64]) -> Option<f64> {
    let Spread { mean, sd, n, .. } = Spread::of(values)?;
    Some((paper - mean) / (sd * (1.0 + 1.0 / n as f64).sqrt())).filter(|z| z.is_finite())
}

/// Mean, deviation and z as a cell of a table.
pub fn cell(paper: f64, values: &[f64]) -> String {
    match Spread::of(values) {
        Some(Spread { mean, sd, .. }) => {
            let z = z(paper, values)
                .map_or("-".into(), |z| if z.abs() > 99.0 { "beyond 99".into() } else { format!("{z:+.1}") });
            format!("{mean:.2} ± {sd:.2} ({z})")
        }
        None => values.first().map_or("-".into(), |value| format!("{value:.2}")),
    }
}

/// A point of a figure: the mean of the functions with their deviation.
pub fn point(place: f64, values: &[f64]) -> Point {
    match Spread::of(values) {
        Some(Spread { mean, sd, .. }) => (place, mean, Some((mean - sd, mean + sd))),
        None => (place, values.first().copied().unwrap_or(f64::NAN), None),
    }
}

/// What reports say of the data.
pub fn data_text(data: &[Data], functions: u64) -> String {
    let of = |data: &Data| match data {
        Data::Net => "the random net has 10 hidden units and weights uniform in [-1, 1]",
        Data::Polynomial => {
            "the random polynomial is the mean of a linear, a quadratic and a cubic term of mean 0 and variance 1"
        }
    };
    let all: Vec<&str> = data.iter().map(of).collect();
    format!(
        "Data: {functions} random functions, each with its own lists; 50 features uniform in [-1, 1]; {}; lists of \
         {DOCUMENTS} documents; six labels by bins that hold equal shares of the documents. The first lists are for \
         training; {} lists (5,000 vectors) each are for validation and test.",
        all.join("; "),
        VALID.len()
    )
}

/// What reports say of the training.
pub const TRAINING_TEXT: &str = "Training: RankNet's cost on all pairs of different labels of a list, target \
     probability 1; the first layer starts from zero, the second uniform in [-0.1, 0.1] (a linear net in [-0.1, 0.1] \
     too); plain gradient descent, one step per list by the sum over its pairs, from step size 0.001, halved when the \
     mean cost of an epoch is above that of the epoch before. Step size and rule are the paper's and were not tuned.";

/// The differences from the paper that these experiments share, as far as they concern the data and nets of one.
pub fn deviations(data: &[Data], nets: &[NetShape]) -> Vec<String> {
    let mut all = vec![
        ONE_FUNCTION.to_owned(),
        "The paper updates the weights after each pair, here they move once per list, by the sum over its pairs at the \
         same step size; the experiment ranknet-per-pair asks whether that matters."
            .into(),
        "The paper does not say how the bins are cut. Bins of equal shares give about the number of pairs that the \
         paper counts, which ranknet-table2 tests."
            .into(),
    ];
    if nets.contains(&NetShape::Linear) {
        all.push("A linear net from zero would score all documents alike, so it starts uniform in [-0.1, 0.1].".into());
    }
    if data.contains(&Data::Polynomial) {
        all.push(
            "Each term of the polynomial is scaled by its exact mean and variance, not by those of the drawn data, which differ \
             little for so many documents."
                .into(),
        );
    }
    all
}

/// Why there are several functions.
pub const ONE_FUNCTION: &str = "The paper has one random function of each kind, which is not known; several are drawn here, \
     and the paper's number is compared with their spread.";

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
    fn z_is_of_one_more_draw() {
        // Mean 2, deviation 1, three draws: 4 is 2 / sqrt(4/3) away.
        assert!((z(4.0, &[1.0, 2.0, 3.0]).unwrap() - 3f64.sqrt()).abs() < 1e-12);
        assert!(z(4.0, &[1.0]).is_none() && z(4.0, &[1.0, 1.0]).is_none());
        assert_eq!(cell(4.0, &[1.0, 2.0, 3.0]), "2.00 ± 1.00 (+1.7)");
    }

    #[test]
    fn functions_and_starts_have_random_numbers_of_their_own() {
        let seeds = [function_seed(1, 0), function_seed(1, 1), training_seed(1, 0, 0), training_seed(1, 0, 1)];
        assert!((1..4).all(|n| !seeds[..n].contains(&seeds[n])));
    }
}
