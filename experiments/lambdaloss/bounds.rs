//! LambdaLoss, Figs. 1 and 2, Eq. 12 to 17, Proposition 5.1: each loss bounds its metric, on random scores and in every
//! epoch of training.

use super::curves;
use super::losses::LOSSES;
use super::nets::{function, point};
use super::weights::{delta, discount, gains, rho};
use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::finding::Finding;
use crate::harness::units::{less, mean};
use crate::harness::{Claim, Control, Evidence, Execution, Experiment, Job, Kind, Paper, Report, Scale, Session, Test};
use burnrank::numeric::{standard_normal, training_order};
use burnrank::objective::{Batch, Want};
use burnrank::text::{Table, fixed};
use burnrank::{Dataset, Objective};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-bounds",
    kind: Kind::Paper,
    paper: Paper::LambdaLoss,
    place: "Figures 1 and 2, Eq. 12 to 17, Proposition 5.1",
    claim: "The logistic loss bounds the zero-one loss, and with it each loss bounds its metric: ARP-Loss1 and \
         ARP-Loss2 the average relevance position, NDCG-Loss1 and NDCG-Loss2 the cost of NDCG, LambdaRank a coarser \
         metric that is never below it.",
    time: "under a minute",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

/// What holds of one ranked list: an id, what the paper says, where, and whether it is an equation.
const CHECKS: [(&str, &str, &str, bool); 12] = [
    ("arp1", "ARP is at most ARP-Loss1 + C1", "section 5.1", false),
    ("arp2", "ARP is at most ARP-Loss2 + C1 + C2 + C3", "section 5.1", false),
    ("ndcg1", "NDCGcost is at most NDCG-Loss1", "section 5.2", false),
    ("ndcg2", "NDCGcost is at most NDCG-Loss2 + C2 + C3", "section 5.2", false),
    ("proposition", "LambdaRank's metric is at most its loss + C2 + C3", "Proposition 5.1", false),
    ("hybrid", "LambdaRank's metric + mu NDCGcost is at most NDCG-Loss2++ + its C2 + C3", "Eq. 19", false),
    ("coarse", "NDCGcost is at most LambdaRank's metric", "section 5.3", false),
    ("cost", "NDCGcost is the sum of gains less NDCG", "Eq. 14", true),
    ("chain", "1 - 1/D_i is the sum of delta_ij over the ranks above i", "Eq. 15", true),
    ("arp-sum", "ARP is the sum of |y_i - y_j| over wrongly ordered pairs + C1 + C2 + C3", "section 5.1", true),
    ("ndcg-sum", "NDCGcost is the sum of delta_ij |G_i - G_j| over wrongly ordered pairs + C2 + C3", "Eq. 16", true),
    ("lambdarank-sum", "LambdaRank's metric is the sum of rho_ij |G_i - G_j| over them + C2 + C3", "Eq. 17", true),
];
const MU: f64 = 5.0;
/// What rounding may do: losses are computed in single precision.
const ROUNDING: f64 = 1e-5;

struct Sizes {
    lists: usize,
    functions: u64,
    queries: usize,
    epochs: usize,
}

fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes { lists: 6_000, functions: 10, queries: 100, epochs: 30 },
        Sizes { lists: 300, functions: 2, queries: 15, epochs: 4 },
    )
}

fn claims(_: &Session) -> Vec<Claim> {
    let curve = |id: &str, statement: &str, paper: &str| Claim::primary(id, statement, Test::Fact).paper(paper);
    let mut all = vec![
        curve("zero-one", "the zero-one loss is at most log2(1 + exp(-sigma x))", "Eq. 12, Figure 2"),
        curve(
            "sharper",
            "the larger the exponent, the steeper the generalised logistic curve and its loss",
            "Figure 1",
        ),
    ];
    for (id, statement, paper, _) in CHECKS {
        all.push(Claim::primary(id, statement, Test::Fact).paper(paper));
    }
    for (id, other, paper) in [
        ("tighter than NDCG-Loss1", "NDCG-Loss1's", "\"potentially tighter\""),
        ("tighter than LambdaRank", "LambdaRank's", "LambdaRank is \"a coarse upper bound\""),
    ] {
        let statement = format!("NDCG-Loss2's bound is nearer to NDCGcost than {other}, mean over queries and epochs");
        all.push(Claim::secondary(id, statement, Test::Above).paper(paper).unit("random function").convention(
            "sigma 1; constants are part of the bounds; linear scorers trained with each of the six losses",
        ));
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let Sizes { lists, functions, queries, epochs } = sizes(session.scale);
    Ok(json!({
        "lists": lists, "functions": functions, "queries": queries, "epochs": epochs, "step": STEP,
        "sigmas": SIGMAS, "scales": SCALES,
        "losses": LOSSES.map(|loss| loss.objective(None)),
    }))
}

const STEP: f64 = 0.05;
const SIGMAS: [f64; 3] = [0.5, 1.0, 2.0];
/// Random scores have these standard deviations; 0 makes all of them equal.
const SCALES: [f64; 4] = [0.0, 0.1, 1.0, 10.0];

/// What many ranked lists gave.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Found {
    lists: usize,
    /// By check: the largest excess of the left side over the right, as a share of the right side or of 1; for
    /// equations the largest difference.
    excess: Vec<f64>,
    /// By epoch, means over queries and losses that train: NDCGcost, and the bounds of NDCG-Loss1, NDCG-Loss2,
    /// LambdaRank.
    epochs: Vec<[f64; 4]>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        (self.excess.len() != CHECKS.len()).then(|| "not every bound was checked".into())
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![Job { key: "random scores".to_owned(), work: 10.0, what: None }];
    for function in 0..sizes.functions {
        jobs.push(Job { key: format!("function {}", function + 1), work: 10.0, what: Some(function) });
    }
    let found = execution.run_all(&jobs, |job, _| match job.what {
        None => random_scores(execution.session.seed, sizes.lists),
        Some(number) => {
            let data = function(execution.session, number)?.part(0..sizes.queries)?.0;
            in_training(&data, sizes.epochs)
        }
    })?;
    report(execution, &sizes, &found)
}

/// The six losses of one ranked list, in bits.
struct Losses(Vec<Objective>);

impl Losses {
    fn new(sigma: f64) -> anyhow::Result<Losses> {
        let name = |loss: &super::losses::PaperLoss| format!("{}:sigma={sigma}", loss.objective(None));
        Ok(Losses(LOSSES.iter().map(|loss| Ok(Objective::parse(&name(loss))?)).collect::<anyhow::Result<_>>()?))
    }

    fn values(&self, scores: &[f32], labels: &[f32]) -> anyhow::Result<[f64; 6]> {
        let (offsets, mut gradient) = ([0, labels.len()], vec![0.0; labels.len()]);
        let mut values = [0.0; 6];
        for (value, objective) in values.iter_mut().zip(&self.0) {
            let want = Want { loss: true, pairs: false };
            let batch = Batch { labels, offsets: &offsets };
            *value = objective.lambda_gradient(scores, batch, &mut gradient, want, &[])?.loss;
        }
        Ok(values)
    }
}

/// Both sides of every check of one list, and the bounds of NDCGcost.
struct Sides {
    sides: [(f64, f64); CHECKS.len()],
    bounds: [f64; 4],
}

/// `ranked` are labels in the order of the scores.
fn sides(ranked: &[f32], [lambdarank, arp1, arp2, ndcg1, ndcg2, hybrid]: [f64; 6]) -> Sides {
    let n = ranked.len();
    let y: Vec<f64> = ranked.iter().map(|&label| f64::from(label)).collect();
    let g = gains(ranked, None);
    let arp: f64 = y.iter().enumerate().map(|(i, y)| y * (i + 1) as f64).sum();
    let cost: f64 = g.iter().enumerate().map(|(i, g)| g * (1.0 - discount(i))).sum();
    let ndcg: f64 = g.iter().enumerate().map(|(i, g)| g * discount(i)).sum();
    let coarse: f64 = (0..n).map(|i| g[i] * (0..i).map(|j| rho(i, j)).sum::<f64>()).sum();
    let chain =
        (0..n).map(|i| ((0..i).map(|j| delta(i, j)).sum::<f64>() - (1.0 - discount(i))).abs()).fold(0.0, f64::max);
    let c1: f64 = y.iter().sum();
    // C2 + C3, and the sum over wrongly ordered pairs, of values and a factor of pairs. As printed, C2 of ARP also
    // counts a document with itself; the equation holds without.
    let split = |values: &[f64], factor: &dyn Fn(usize, usize) -> f64| {
        let (mut constant, mut wrong) = (0.0, 0.0);
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                match values[j].total_cmp(&values[i]) {
                    std::cmp::Ordering::Equal => constant += 0.5 * factor(i, j) * values[j],
                    std::cmp::Ordering::Less => {
                        constant += factor(i, j) * values[j];
                        wrong += if j < i { factor(i, j) * (values[i] - values[j]) } else { 0.0 };
                    }
                    std::cmp::Ordering::Greater => (),
                }
            }
        }
        (constant, wrong)
    };
    let (arp_constant, arp_wrong) = split(&y, &|_, _| 1.0);
    let (ndcg_constant, ndcg_wrong) = split(&g, &delta);
    let (rho_constant, rho_wrong) = split(&g, &rho);
    Sides {
        sides: [
            (arp, arp1 + c1),
            (arp, arp2 + c1 + arp_constant),
            (cost, ndcg1),
            (cost, ndcg2 + ndcg_constant),
            (coarse, lambdarank + rho_constant),
            (coarse + MU * cost, hybrid + rho_constant + MU * ndcg_constant),
            (cost, coarse),
            (cost, g.iter().sum::<f64>() - ndcg),
            (chain, 0.0),
            (arp, arp_wrong + c1 + arp_constant),
            (cost, ndcg_wrong + ndcg_constant),
            (coarse, rho_wrong + rho_constant),
        ],
        bounds: [cost, ndcg1, ndcg2 + ndcg_constant, lambdarank + rho_constant],
    }
}

impl Found {
    fn add(&mut self, sides: &Sides) {
        self.excess.resize(CHECKS.len(), f64::NEG_INFINITY);
        self.lists += 1;
        for ((excess, (left, right)), check) in self.excess.iter_mut().zip(sides.sides).zip(CHECKS) {
            let over = if check.3 { (left - right).abs() } else { left - right };
            // What is not a number is no bound.
            *excess = excess.max(if over.is_nan() { 1e9 } else { over / right.abs().max(1.0) });
        }
    }
}

/// Lists of 1 to 50 documents with random labels, scores of all scales, ties among them.
fn random_scores(seed: u64, lists: usize) -> anyhow::Result<Found> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let losses = SIGMAS.iter().map(|&sigma| Losses::new(sigma)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut found = Found::default();
    for list in 0..lists {
        let n = random.random_range(1..=50);
        let labels = super::weights::random_ranked(n, &mut random);
        let scale = SCALES[list % SCALES.len()];
        // One list in five has rounded scores: some are equal.
        let score = |random: &mut ChaCha8Rng| scale * standard_normal(random);
        let mut scores: Vec<f32> = (0..n).map(|_| score(&mut random) as f32).collect();
        if list % 5 == 0 {
            scores.iter_mut().for_each(|score| *score = score.round());
        }
        let places = training_order(&scores);
        let ranked: Vec<f32> = places.iter().map(|&place| labels[place]).collect();
        let values = losses[list / SCALES.len() % SIGMAS.len()].values(&scores, &labels)?;
        found.add(&sides(&ranked, values));
    }
    Ok(found)
}

/// The checks must be able to fail: losses divided by a hundred bound nothing.
fn weakened(seed: u64) -> anyhow::Result<Control> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let losses = Losses::new(1.0)?;
    let mut found = Found::default();
    for _ in 0..100 {
        let ranked = super::weights::random_ranked(20, &mut random);
        // Falling scores that are near to each other.
        let scores: Vec<f32> = (0..20).map(|place| -0.01 * place as f32).collect();
        found.add(&sides(&ranked, losses.values(&scores, &ranked)?.map(|loss| loss / 100.0)));
    }
    // The first six checks are those of losses.
    let broken = found.excess[..6].iter().filter(|&&excess| excess > ROUNDING).count();
    Ok(Control {
        what: "the same checks of the six losses divided by a hundred, 100 random lists".into(),
        expected: "all six bounds fail".into(),
        ours: format!("{broken} of 6 fail"),
        holds: broken == 6,
    })
}

/// A linear scorer, one update per query, with each of the six losses; all queries are checked after every epoch.
fn in_training(data: &Dataset, epochs: usize) -> anyhow::Result<Found> {
    let losses = Losses::new(1.0)?;
    let mut found = Found { epochs: vec![[0.0; 4]; epochs], ..Found::default() };
    let share = 1.0 / (losses.0.len() * data.n_queries()) as f64;
    for objective in &losses.0 {
        let mut weights = vec![0.0; data.n_features()];
        let scored = |weights: &[f64], features: &[f32]| -> Vec<f32> {
            let score = |row: &[f32]| row.iter().zip(weights).map(|(x, w)| f64::from(*x) * w).sum::<f64>() as f32;
            features.chunks(weights.len()).map(score).collect()
        };
        for epoch in 0..epochs {
            for query in data.queries() {
                let mut slopes = vec![0.0; query.labels.len()];
                let batch = Batch { labels: query.labels, offsets: &[0, query.labels.len()] };
                let scores = scored(&weights, &query.features);
                objective.lambda_gradient(&scores, batch, &mut slopes, Want::default(), &[])?;
                let mut step = vec![0.0; weights.len()];
                for (row, slope) in query.features.chunks(weights.len()).zip(&slopes) {
                    step.iter_mut().zip(row).for_each(|(step, x)| *step += f64::from(slope * x));
                }
                // Of the same length for every loss, so that all of them learn at the same pace.
                let length = step.iter().map(|step| step * step).sum::<f64>().sqrt();
                if length > 0.0 {
                    weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= STEP * step / length);
                }
            }
            for query in data.queries() {
                let scores = scored(&weights, &query.features);
                let ranked: Vec<f32> = training_order(&scores).iter().map(|&place| query.labels[place]).collect();
                let sides = sides(&ranked, losses.values(&scores, query.labels)?);
                found.add(&sides);
                found.epochs[epoch].iter_mut().zip(sides.bounds).for_each(|(mean, bound)| *mean += share * bound);
            }
        }
    }
    Ok(found)
}

fn report(execution: &Execution<'_>, sizes: &Sizes, found: &[Found]) -> anyhow::Result<Report> {
    let lists: usize = found.iter().map(|found| found.lists).sum();
    let excess = |check: usize| found.iter().map(|found| found.excess[check]).fold(f64::NEG_INFINITY, f64::max);
    let mut evidence = vec![curves::zero_one(&SIGMAS), curves::sharper()];
    let mut table = Table::titled(
        format!("Every check on {lists} ranked lists ({} of random scores, the others in training):", found[0].lists),
        &["what", "paper", "largest excess"],
    );
    for (check, (id, statement, paper, equation)) in CHECKS.iter().enumerate() {
        let most = excess(check);
        let words = if *equation { "largest difference" } else { "left less right at most" };
        let allowed = if *equation { 1e-9 } else { ROUNDING };
        evidence.push((id.to_string(), Evidence::fact(most <= allowed, format!("{words} {most:.1e}, {lists} lists"))));
        table.row([statement.to_string(), paper.to_string(), format!("{most:.1e}")]);
    }
    // Of each function, the distance of a bound from NDCGcost, the mean over all epochs.
    let functions = &found[1..];
    let slack = |bound: usize| -> Vec<f64> {
        let of = |found: &Found| mean(&found.epochs.iter().map(|epoch| epoch[bound] - epoch[0]).collect::<Vec<_>>());
        functions.iter().map(of).collect()
    };
    evidence.push(("tighter than NDCG-Loss1".into(), Evidence::rounded(less(&slack(1), &slack(2)), 3)));
    evidence.push(("tighter than LambdaRank".into(), Evidence::rounded(less(&slack(3), &slack(2)), 3)));
    let mut means = Table::titled(
        "NDCGcost and its bounds in training, means over functions, losses and queries:",
        &["epoch", "NDCGcost", NAMES[0], NAMES[1], NAMES[2]],
    );
    let at = |epoch: usize, bound: usize| functions.iter().map(|found| found.epochs[epoch][bound]).collect::<Vec<_>>();
    for epoch in [0, sizes.epochs / 2, sizes.epochs - 1] {
        let cells = (0..4).map(|bound| fixed(mean(&at(epoch, bound)), 3));
        means.row([(epoch + 1).to_string()].into_iter().chain(cells));
    }
    let main = format!(
        "{} equations and inequalities on {lists} lists; bounds are {}, {} and {} above NDCGcost on average \
         (NDCG-Loss1, NDCG-Loss2, LambdaRank)",
        CHECKS.len(),
        fixed(mean(&slack(1)), 2),
        fixed(mean(&slack(2)), 2),
        fixed(mean(&slack(3)), 2)
    );
    let mut deviations = vec![
        "Training here is that of linear scorers with steps of one length, so that bounds can be looked at after every \
         epoch.".into(),
    ];
    if execution.scale() == Scale::Quick {
        deviations.push("Quick: few lists, functions and epochs.".into());
    }
    Ok(Report {
        evidence,
        controls: vec![weakened(execution.session.seed)?],
        main,
        tables: vec![table, means],
        notes: vec![
            "Slips of the paper that the checks found: C2 of the average relevance position (section 5.1) must not \
             count a document with itself, else its equation is off by half of C1; in Eq. 16 it does not matter, as \
             delta_ii is 0. An excess is a share of the right side, or of 1 where that is smaller; lists with nothing \
             relevant have 0 on both sides."
                .into(),
            "Being nearer to NDCGcost depends on the scale of the scores: all bounds are of sigma 1 and of the scores \
             as they are in training."
                .into(),
        ],
        protocol: vec![
            format!(
                "Random lists: {} of 1 to 50 documents, labels 0 to 4 alike, normal scores of standard deviation \
                 {SCALES:?}, one list in five with rounded scores so that some are equal, sigma {SIGMAS:?}. Losses are \
                 those that are trained with (single precision); metrics, constants and sums over wrongly ordered \
                 pairs are computed as the paper writes them.",
                sizes.lists
            ),
            format!(
                "Training: {} random cubic polynomials, {} queries of 50 documents, linear scorers trained with each \
                 of the six losses for {} epochs, one step of length {STEP} per query; after every epoch all bounds \
                 are checked on all queries.",
                sizes.functions, sizes.queries, sizes.epochs
            ),
        ],
        deviations,
        figure: figure::draw(&[curves::exponents(), curves::zero_one_panel(), training_panel(sizes, &at)])?,
    })
}

const NAMES: [&str; 3] = ["NDCG-Loss1", "NDCG-Loss2", "LambdaRank"];

fn training_panel(sizes: &Sizes, at: &dyn Fn(usize, usize) -> Vec<f64>) -> Panel {
    let line = |(bound, name): (usize, &str)| Series {
        name: name.into(),
        whose: Whose::Ours,
        colour: bound,
        joined: true,
        points: (0..sizes.epochs).map(|epoch| point((epoch + 1) as f64, &at(epoch, bound))).collect(),
    };
    let marks = [1, sizes.epochs / 2, sizes.epochs];
    Panel {
        title: "NDCGcost and its bounds in training".into(),
        x_label: "epoch".into(),
        y_label: "mean over queries".into(),
        ticks: marks.map(|epoch| (epoch as f64, epoch.to_string())).into(),
        series: ["NDCGcost", NAMES[0], NAMES[1], NAMES[2]].into_iter().enumerate().map(line).collect(),
        zero: Some(0.0),
        ..Panel::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_those_of_a_list_by_hand() {
        // Labels 0, 1 in rank order: maxDCG 1, G = 0, 1; NDCG 1/log2(3); ARP 2.
        let half = 1.0 / 3f64.log2();
        let found = sides(&[0.0, 1.0], [0.0; 6]);
        let close = |(left, right): (f64, f64), expected: (f64, f64)| {
            assert!((left - expected.0).abs() < 1e-12 && (right - expected.1).abs() < 1e-12, "{left} {right}");
        };
        close(found.sides[0], (2.0, 1.0));
        close(found.sides[2], (1.0 - half, 0.0));
        // Two documents: rho and delta are the same.
        close(found.sides[6], (1.0 - half, 1.0 - half));
        for (check, (left, right)) in CHECKS.iter().zip(found.sides).take(12).skip(7) {
            assert!((left - right).abs() < 1e-12, "{}", check.0);
        }
    }

    #[test]
    fn the_bounds_hold_on_random_lists_and_would_not_of_smaller_losses() {
        let found = random_scores(3, 200).unwrap();
        assert!(found.excess.iter().all(|&excess| excess < ROUNDING), "{:?}", found.excess);
        assert!(weakened(3).unwrap().holds, "{:?}", weakened(3).unwrap());
    }
}
