//! The lambda kernels alone: on short lists by one core, and on very long ones.

use super::row::Row;
use super::shape::{label, pairs_of};
use super::timing::{Patience, Timing, slope};
use anyhow::Context;
use burnrank::metric::order;
use burnrank::numeric::standard_normal;
use burnrank::objective::{Gradients, LambdaField, Loss, LossScratch, Outputs, PairLoss, Query, QueryResult};
use burnrank::{Objective, Stop};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// Documents of a short list.
pub const SHORT: usize = 120;
/// Scores of a trained net are spread about so much.
const SPREAD: f64 = 2.0;

/// Scores and labels of one query.
type List = (Vec<f32>, Vec<f32>);

fn list(documents: usize, random: &mut ChaCha8Rng) -> List {
    let scores = (0..documents).map(|_| (SPREAD * standard_normal(random)) as f32).collect();
    let labels = (0..documents).map(|_| label(standard_normal(random) as f32)).collect();
    (scores, labels)
}

/// The kernel of LambdaRank for NDCG on many short lists, one after the other on this thread, sorting included, and the
/// largest difference of any lambda from a computation in f64, as a share of the list's largest lambda.
pub fn short(lists: usize, seed: u64, patience: Patience) -> anyhow::Result<(Row, f64)> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let lists: Vec<List> = (0..lists).map(|_| list(SHORT, &mut random)).collect();
    let objective = "lambdarank:ndcg";
    let loss = Objective::parse(objective)?;
    let loss = loss.loss().as_pairs().context("no sum over pairs")?;
    let (mut gradient, mut scratch) = (vec![0.0; SHORT], LossScratch::default());
    let timing = patience.time(|| {
        for (scores, labels) in &lists {
            query(loss, scores, labels, &mut gradient, &mut scratch)?;
        }
        Ok(())
    })?;
    let mut worst = 0.0_f64;
    for (scores, labels) in &lists {
        query(loss, scores, labels, &mut gradient, &mut scratch)?;
        worst = worst.max(difference(loss, scores, labels, &gradient));
    }
    let pairs = lists.iter().map(|(_, labels)| pairs_of(labels)).sum::<u64>() as f64;
    let row = Row::plain("kernel, one core", timing, lists.len() * SHORT);
    Ok((Row { objective: Some(objective.into()), pairs: Some(pairs), ..row }, worst))
}

/// The gradient of one query.
fn query(
    loss: &dyn Loss,
    scores: &[f32],
    labels: &[f32],
    gradient: &mut [f32],
    scratch: &mut LossScratch,
) -> burnrank::Result<QueryResult> {
    let query = Query { scores, labels, seed: 0, stop: &Stop::new() };
    loss.query(query, Gradients::gradient(gradient), Outputs::default(), scratch)
}

fn difference(loss: &PairLoss, scores: &[f32], labels: &[f32], gradient: &[f32]) -> f64 {
    let scores: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
    // Lambdas are minus the gradient.
    let exact: Vec<f64> = loss.lambdas(&scores, labels, &order(&scores)).iter().map(|lambda| -lambda).collect();
    let scale = exact.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let worst = gradient.iter().zip(&exact).map(|(own, exact)| (f64::from(*own) - exact).abs()).fold(0.0, f64::max);
    if scale > 0.0 { worst / scale } else { worst }
}

/// One objective on lists of growing length.
#[derive(Debug, Clone, Serialize)]
pub struct Long {
    pub objective: &'static str,
    /// Documents and seconds.
    pub points: Vec<(usize, f64)>,
    pub slope: Option<f64>,
    /// The longest list, which need not be one of the points.
    pub longest: usize,
    pub timing: Timing,
}

/// Times one query by all threads, for each length and for the longest.
pub fn long(
    objective: &'static str,
    lengths: &[usize],
    longest: usize,
    seed: u64,
    patience: Patience,
) -> anyhow::Result<Long> {
    let loss = Objective::parse(objective)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut scratch = LossScratch::default();
    let mut time = |documents: usize| {
        let (scores, labels) = list(documents, &mut random);
        let mut gradient = vec![0.0; documents];
        patience.time(|| Ok(query(loss.loss(), &scores, &labels, &mut gradient, &mut scratch)?))
    };
    let mut points = vec![];
    for &length in lengths {
        points.push((length, time(length)?.seconds));
    }
    let places: Vec<(f64, f64)> = points.iter().map(|&(length, seconds)| (length as f64, seconds)).collect();
    Ok(Long { objective, slope: slope(&places), points, longest, timing: time(longest)? })
}
