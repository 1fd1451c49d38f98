//! LambdaRank, section 4 (Eq. 2 to 5): properties of lambdas, tested for every objective.

mod report;

use crate::harness::finding::Finding;
use crate::harness::{Claim, Execution, Experiment, Headline, Job, Paper, Report, Scale, Session, Test};
use burnrank::analysis::lambda_field::{FieldReport, Potential, Regularised};
use burnrank::metric::{order, parse};
use burnrank::numeric::standard_normal;
use burnrank::{LambdaField, Objective};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdarank-forces",
    paper: Paper::LambdaRank,
    place: "section 4: the WTA example, and Eq. 2 to 5",
    claim: "Fewer pairwise errors can mean a worse top document. Lambdas should be largest near the top. They have a \
            cost if and only if their Jacobian is symmetric, and a convex one if it is also semidefinite, which diagonal \
            terms can enforce. Lambdas that are linear in the scores are springs. The lambdas of a query sum to zero.",
    short: "Fewer pair errors can worsen the top; symmetric Jacobians mean that lambdas have a cost.",
    headlines: &[
        Headline::new("Fewer pairwise errors can mean a worse top document (winner takes all)", &["wta *"]),
        Headline::new(
            "Unlike RankNet, the proposed lambdas are larger near the top (Eq. 2)",
            &["eq 2 ranknet", "eq 2 lambda", "eq 2 local"],
        ),
        Headline::new(
            "Lambdas have a cost if their Jacobian is symmetric, which diagonal terms make convex; they sum to 0 (Eq. 3 to 5)",
            &["eq 5 ranknet", "eq 3", "constant", "diagonal", "springs", "any springs", "sum"],
        ),
    ],
    time: "some seconds",
    claims,
    protocol,
    run,
    ..Experiment::BASE
};

/// The paper's lambda function, Eq. 9.
const EQ9: &str = "lambdarank:ndcg";
/// Lambdas between neighbours of the ranking only, one of the variants that the paper tried.
const LOCAL: &str = "lambdarank:ndcg:localgradient";
/// Objectives that do not depend on score differences only: the paper's conditions do not apply to them.
const ANCHORED: [&str; 2] = ["rankcosine", "squared-error"];
/// Lengths of lists and ranges of scores, for Eq. 2.
const LENGTHS: [usize; 5] = [10, 30, 100, 300, 1000];
const RANGES: [f64; 3] = [1.0, 4.0, 16.0];
/// Index of the range in the table.
const SHOWN: usize = 1;
/// Number of documents of a random query.
const DOCUMENTS: usize = 8;
/// Maximum relative difference between lambdas and the numerical gradient of the cost.
const ROUNDING: f64 = 1e-5;
/// Lengths of the WTA example; the last is the paper's.
const WINNERS: [usize; 6] = [5, 10, 30, 100, 300, 1000];

/// The objectives of the stored result: LambdaRank for every metric, and in every construction for NDCG. The list is fixed,
/// because another list is another experiment.
const OBJECTIVES: [&str; 34] = [
    "ranknet",
    "arp-loss1",
    "arp-loss2",
    "ndcg-loss1",
    "ndcg-loss2",
    "ndcg-loss2++",
    "rr-gap",
    "lambdarank:ndcg",
    "lambdarank:dcg",
    "lambdarank:map",
    "lambdarank:mrr",
    "lambdarank:wta",
    "lambdarank:wta-error",
    "lambdarank:pairs",
    "lambdarank:pair-error",
    "lambdarank:bpref",
    "lambdarank:arp",
    "lambdarank:err",
    "lambdarank:p@10",
    "lambdarank:recall@10",
    "lambdarank:capped-map@10",
    "lambdarank:letor-ndcg",
    "lambdarank:ndcg@10",
    "lambdarank:ndcg:springsmooth",
    "lambdarank:ndcg:localgradient",
    "lambdarank:ndcg:localcost",
    "lambdarank:ndcg:discretebounded",
    "listnet",
    "approx-ndcg",
    "softrank",
    "rankcosine",
    "hinge",
    "exponential",
    "squared-error",
];

fn points(scale: Scale) -> usize {
    scale.pick(200, 20)
}

fn claims(_: &Session) -> Vec<Claim> {
    let fact = |id: &str, statement: &str, paper: &str| Claim::new(id, statement, Test::Fact).paper(paper);
    let near = "two relevant documents at ranks 2 and n; evenly spaced scores with a range of 1, 4 or 16; n from 10 to \
                1000";
    let random = "random queries of 8 documents, labels 0 to 4, normal scores";
    let mut all = vec![
        fact("wta first", "relevant at ranks 1 and n: the WTA cost is 0, the number of pairwise errors is", "n - 2"),
        fact("wta then", "relevant at ranks 2 and 3: the WTA cost is 1, the number of errors falls by", "n - 4"),
        fact("wta 1000", "the same with 1,000 documents: pairs that improve while the top gets worse", "996"),
        fact(
            "eq 2 ranknet",
            "RankNet: the lambda at rank 2 is smaller than that at rank n",
            "\"instead of pairwise error\"",
        )
        .convention(near),
        fact("eq 2 lambda", "Eq. 9: the ratio of the lambdas at ranks 2 and n is larger than RankNet's", "preferred")
            .convention(near),
        fact(
            "eq 2 local",
            "lambdas between neighbours: more than 10 times larger at rank 2 than at rank n, for n of 100 and more",
            ">>",
        )
        .convention(near),
        fact("eq 5 ranknet", "RankNet: J is symmetric and -J semidefinite, so a convex cost exists", "yes")
            .convention(random),
        fact(
            "eq 3",
            "where J is symmetric and lambdas have a cost across ties, lambda = -dC/ds of the known cost",
            "yes",
        )
        .convention(random),
        fact("constant", "constant lambdas: J is symmetric and semidefinite", "\"trivially satisfied\"")
            .convention(random),
        fact(
            "diagonal",
            "where J is symmetric, diagonal terms make the cost convex between ties, for every objective",
            "yes",
        )
        .convention(random),
        fact(
            "springs",
            "lambdas linear in the scores, with symmetric, nonnegative stiffness: conservative and convex",
            "yes",
        )
        .convention(random),
        fact("any springs", "springs of any sign: conservative, but not all of them convex", "\"not true in general\"")
            .convention(random),
        fact("sum", "lambdas sum to zero: every objective that depends on score differences only", "\"should\"")
            .convention(format!("{random}; all but {}", ANCHORED.join(" and "))),
    ];
    let ties =
        Claim::new("eq 5 lambda", "Eq. 9: J is symmetric between ties, but the jumps at ties have no cost", Test::Fact);
    all.push(ties.paper("not said").convention(random));
    let dominates =
        Claim::new("eq 2 itself", "Eq. 9 itself: the lambda at rank 2 is larger than that at rank n", Test::Fact);
    all.push(dominates.paper("preferred").convention(near));
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    Ok(json!({
        "points": points(session.scale),
        "documents": DOCUMENTS,
        "lengths": LENGTHS,
        "ranges": RANGES,
        "objectives": OBJECTIVES.as_slice(),
    }))
}

/// Result for one field of lambdas.
#[derive(Debug, Serialize, Deserialize)]
struct FieldResult {
    points: usize,
    /// Number of points at which J is symmetric, and at which lambdas also have a cost across ties.
    symmetric: usize,
    conservative: usize,
    /// Number of points at which -J is semidefinite, and at which the cost is convex, including ties.
    semidefinite: usize,
    convex: usize,
    balanced: usize,
    /// Number of points with symmetric J at which diagonal terms make -J semidefinite.
    regularised: usize,
    /// Smallest eigenvalue of -J, relative to the largest absolute eigenvalue.
    smallest: f64,
    /// Largest difference of -dC/ds from lambda relative to the largest lambda, if the field is conservative and the cost known.
    gradient_error: Option<f64>,
    /// By range and length: lambda at rank 2 over lambda at rank n; `None` if both are 0.
    ratios: Vec<Vec<Option<f64>>>,
}

impl Finding for FieldResult {
    fn impossible(&self) -> Option<String> {
        let counts =
            [self.symmetric, self.conservative, self.semidefinite, self.convex, self.balanced, self.regularised];
        counts.iter().any(|&count| count > self.points).then(|| "more points than were tested".into())
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let jobs: Vec<Job<()>> = OBJECTIVES.iter().map(|&name| Job { key: name.into(), work: 1.0, what: () }).collect();
    let points = random_points(points(execution.scale()), execution.session.seed);
    let results = execution.run_all(&jobs, |job, _| examine(Objective::parse(&job.key)?.as_field()?, &points, true))?;
    let all: Vec<(&str, &FieldResult)> = OBJECTIVES.into_iter().zip(&results).collect();
    report::report(execution.session.seed, &all, &points)
}

/// Scores and labels.
type Point = (Vec<f64>, Vec<f32>);

fn random_points(n: usize, seed: u64) -> Vec<Point> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut point = || {
        let scores = (0..DOCUMENTS).map(|_| standard_normal(&mut random)).collect();
        let mut labels: Vec<f32> = (0..DOCUMENTS).map(|_| random.random_range(0..5) as f32).collect();
        // No query is without a preference, whatever counts as relevant.
        (labels[0], labels[1]) = (0.0, 4.0);
        (scores, labels)
    };
    (0..n).map(|_| point()).collect()
}

fn examine(field: &dyn LambdaField, points: &[Point], near_top: bool) -> anyhow::Result<FieldResult> {
    let mut result = FieldResult {
        points: points.len(),
        symmetric: 0,
        conservative: 0,
        semidefinite: 0,
        convex: 0,
        balanced: 0,
        regularised: 0,
        smallest: f64::INFINITY,
        gradient_error: None,
        ratios: vec![],
    };
    let mut largest = 0.0_f64;
    for (scores, labels) in points {
        let report = FieldReport::new(&field, scores, labels)?;
        result.symmetric += usize::from(report.symmetric());
        result.conservative += usize::from(report.conservative());
        result.semidefinite += usize::from(report.psd());
        result.convex += usize::from(report.convex());
        result.balanced += usize::from(report.balanced());
        result.smallest = result.smallest.min(report.smallest_eigenvalue);
        largest = largest.max(report.largest_eigenvalue.abs()).max(report.smallest_eigenvalue.abs());
        if report.symmetric() {
            let alpha = (-report.smallest_eigenvalue).max(0.0) + 1e-3 * report.largest.max(1e-9);
            result.regularised += usize::from(FieldReport::new(&Regularised { field, alpha }, scores, labels)?.psd());
        }
        if report.potential == Potential::Conservative
            && let Some(error) = gradient_error(field, scores, labels)
        {
            result.gradient_error = Some(result.gradient_error.unwrap_or(0.0).max(error));
        }
    }
    result.smallest = if largest > 0.0 { result.smallest / largest } else { 0.0 };
    if near_top {
        result.ratios = RANGES.iter().map(|&range| LENGTHS.iter().map(|&n| ratio(field, n, range)).collect()).collect();
    }
    Ok(result)
}

/// Largest difference of the cost's numerical gradient from the lambdas, relative to the largest lambda.
fn gradient_error(field: &dyn LambdaField, scores: &[f64], labels: &[f32]) -> Option<f64> {
    let at = |scores: &[f64]| field.cost(scores, labels, &order(scores));
    let lambdas = field.lambdas(scores, labels, &order(scores));
    let size = lambdas.iter().fold(0.0_f64, |largest, lambda| largest.max(lambda.abs()));
    let (step, mut worst) = (1e-6, 0.0_f64);
    for (document, lambda) in lambdas.iter().enumerate() {
        let shifted = |by: f64| {
            let mut shifted = scores.to_vec();
            shifted[document] += by;
            shifted
        };
        let gradient = (at(&shifted(step))? - at(&shifted(-step))?) / (2.0 * step);
        worst = worst.max((gradient + lambda).abs());
    }
    Some(if size > 0.0 { worst / size } else { worst })
}

/// Two relevant documents at ranks 2 and n with evenly spaced scores: lambda of the first over lambda of the second.
fn ratio(field: &dyn LambdaField, n: usize, range: f64) -> Option<f64> {
    let scores: Vec<f64> = (0..n).map(|rank| -range * rank as f64 / (n - 1) as f64).collect();
    let mut labels = vec![0.0; n];
    (labels[1], labels[n - 1]) = (1.0, 1.0);
    let lambdas = field.lambdas(&scores, &labels, &order(&scores));
    let (near, far) = (lambdas[1].abs(), lambdas[n - 1].abs());
    (near > 0.0 || far > 0.0).then(|| (near / far).min(1e12))
}

/// Lambdas that are linear in the scores: springs between documents, and a constant.
#[derive(Debug)]
struct Linear {
    name: &'static str,
    /// Row-major and symmetric.
    stiffness: Vec<f64>,
    constant: Vec<f64>,
}

impl Linear {
    fn random(name: &'static str, seed: u64, spring: impl Fn(f64) -> f64) -> Linear {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut stiffness = vec![0.0; DOCUMENTS * DOCUMENTS];
        for i in 0..DOCUMENTS {
            for j in 0..i {
                let k = spring(standard_normal(&mut random));
                (stiffness[i * DOCUMENTS + j], stiffness[j * DOCUMENTS + i]) = (k, k);
            }
        }
        Linear { name, stiffness, constant: (0..DOCUMENTS).map(|_| standard_normal(&mut random)).collect() }
    }
}

impl LambdaField for Linear {
    fn name(&self) -> String {
        self.name.into()
    }

    fn lambdas(&self, scores: &[f64], _: &[f32], _: &[usize]) -> Vec<f64> {
        let n = scores.len();
        let pull = |i: usize| (0..n).map(|j| self.stiffness[i * n + j] * (scores[j] - scores[i])).sum::<f64>();
        (0..n).map(|i| self.constant[i] + pull(i)).collect()
    }
}

/// Number of pairwise errors and WTA cost, with two relevant documents at the given ranks (from 1).
fn errors(n: usize, ranks: [usize; 2]) -> anyhow::Result<(f64, f64)> {
    let mut ranked = vec![0.0; n];
    ranks.iter().for_each(|&rank| ranked[rank - 1] = 1.0);
    Ok((parse("pair-error")?.value(&ranked) * 2.0 * (n - 2) as f64, parse("wta-error")?.value(&ranked)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_objective_is_examined() {
        let has_lambdas = |name: &&str| Objective::parse(name).is_ok_and(|objective| objective.as_field().is_ok());
        assert!(OBJECTIVES.iter().all(has_lambdas));
    }

    #[test]
    fn wta_gets_worse_while_pairs_improve() {
        assert_eq!(errors(6, [1, 6]).unwrap(), (4.0, 0.0));
        assert_eq!(errors(6, [2, 3]).unwrap(), (2.0, 1.0));
    }

    #[test]
    fn springs_pull_with_their_stiffness() {
        let mut stiffness = vec![0.0; 4];
        (stiffness[1], stiffness[2]) = (2.0, 2.0);
        let pair = Linear { name: "pair", stiffness, constant: vec![0.5, 0.0] };
        assert_eq!(pair.lambdas(&[1.0, 0.0], &[0.0; 2], &[0, 1]), [-1.5, 2.0]);
        let report = FieldReport::new(&pair, &[1.0, 0.0], &[0.0; 2]).unwrap();
        assert!(report.conservative() && report.convex() && !report.balanced());
    }
}
