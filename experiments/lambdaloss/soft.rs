//! LambdaLoss, Eq. 9, sections 5.2 and 5.4: soft assignment, the scaled gain, and NDCG-Loss2 for MRR-like metrics.

use super::custom_losses::{MrrLike, ScaledGain, expected_rr_of_random_order};
use super::deviations;
use super::losses::{LOSSES, NDCG2};
use super::nets::{self, Arm, Evaluation, Plan, Study};
use super::soft_facts;
use crate::harness::comparison::{Comparison, gap_text};
use crate::harness::dots::{self, Dot};
use crate::harness::units::{less, mean};
use crate::harness::{
    self, Claim, Evidence, Execution, Experiment, Headline, Paper, Report, Scale, Session, Spread, Test, Tested,
};
use burnrank::Objective;
use burnrank::internal::text::Table;
use serde_json::{Value, json};
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-soft",
    paper: Paper::LambdaLoss,
    place: "Eq. 9, sections 4.1.2, 5.2 and 5.4",
    claim: "A soft assignment samples rankings and averages their pair weights; its limit is the hard assignment. With gains \
         scaled by G' the bounds also hold for it. NDCG-Loss2 with other gains and discounts can optimise MRR-like metrics.",
    short: "Hard assignment is the limit of soft ones; NDCG-Loss2 can optimise MRR-like metrics.",
    headlines: &[
        Headline::new(
            "The hard assignment is the limit of soft ones, which sample rankings (Eq. 9, section 4.2)",
            &["limit", "sampled"],
        ),
        Headline::new(
            "Sampled rankings have the cost of scaled gains, which NDCG-Loss2 bounds (section 5.4)",
            &["scaled", "scaled bound"],
        ),
        Headline::new("NDCG-Loss2 can optimise MRR-like metrics (section 5.2)", &["mrr bound", "mrr learns"]),
    ],
    number: ("mrr learns", "MRR-like loss minus random order, points of MRR"),
    time: "about 5 minutes",
    claims,
    protocol,
    run,
    ..Experiment::BASE
};

const NDCG: &str = "ndcg@5";
const MRR: &str = "mrr";
/// The largest gain of NDCG-Loss2 over LambdaRank in Table 3, in points.
const MARGIN: f64 = 1.0;

/// Assignments compared on graded labels, the hard one first.
const SOFT: [(&str, &str); 5] = [
    ("hard", ""),
    ("Gaussian, noise 1", ":gaussian=8:noise=1"),
    ("Gaussian, noise 0.1", ":gaussian=8:noise=0.1"),
    ("Plackett-Luce", ":plackett-luce=8"),
    ("scaled gain G', noise 1", "custom"),
];
/// Losses compared on binary labels, the custom one first.
const BINARY: [(&str, &str); 5] = [
    ("NDCG-Loss2, D = rank", "custom"),
    ("rr-gap", "rr-gap"),
    ("LambdaRank for MRR", "lambdarank:mrr"),
    ("NDCG-Loss2", "ndcg-loss2"),
    ("RankNet", "ranknet"),
];

fn plan(scale: Scale, binary: bool) -> Plan {
    let paper = Plan { queries: [250, 250, 1_000], tuning_functions: 1, seeds: 1, binary, ..Plan::FULL };
    scale.pick(paper, Plan { queries: [20, 20, 30], epochs: 3, binary, ..Plan::QUICK })
}

fn soft_arms() -> anyhow::Result<Vec<Arm>> {
    let arm = |&(_, tail): &(&str, &str)| match tail {
        "custom" => {
            let objective = Objective::of(Arc::new(ScaledGain { samples: 8, noise: 1.0 }));
            Ok(Arm { key: objective.name(), objective, metric: NDCG.into(), hidden: nets::HIDDEN })
        }
        tail => Arm::new(&format!("{}{tail}", LOSSES[NDCG2].objective(None)), NDCG),
    };
    SOFT.iter().map(arm).collect()
}

fn binary_arms() -> anyhow::Result<Vec<Arm>> {
    let arm = |&(_, name): &(&str, &str)| {
        let objective = match name {
            "custom" => Objective::custom("mrr-like", Arc::new(MrrLike)),
            name => Objective::parse(name)?,
        };
        // Keys must differ from those of runs with graded labels.
        Ok(Arm { key: format!("binary {}", objective.name()), objective, metric: MRR.into(), hidden: nets::HIDDEN })
    };
    BINARY.iter().map(arm).collect()
}

fn claims(_: &Session) -> Vec<Claim> {
    let fact = |id: &str, statement: &str, paper: &str| Claim::new(id, statement, Test::Fact).paper(paper);
    let mut all = vec![
        fact("limit", "the hard assignment is the limit of vanishing Gaussian noise", "section 4.2"),
        fact(
            "sampled",
            "the mean over samples converges to the expectation over all rankings (Plackett-Luce, 4 documents)",
            "Eq. 9",
        ),
        fact(
            "scaled",
            "the cost of a sampled ranking equals that of scaled gains in the hard ranking, for documents below the \
             top",
            "section 5.4",
        ),
        fact("scaled bound", "NDCG-Loss2 of scaled gains bounds this cost", "section 5.4"),
        fact(
            "mrr bound",
            "NDCG-Loss2 with G = y and D = rank bounds the sum of 1 - 1/rank over relevant documents",
            "section 5.2",
        ),
        Claim::new(
            "mrr learns",
            "NDCG-Loss2 with D = rank: test MRR above that of a random order, points",
            Test::Above,
        )
        .paper("\"can be used to optimize the MRR-like metrics\"")
        .unit("random function")
        .convention("binary labels, 3% relevant"),
    ];
    all.extend(harness::claims(soft_claims()));
    all.extend(harness::claims(vec![binary_claim()]));
    all
}

fn soft_claims() -> Vec<Tested<Comparison<Evaluation>>> {
    let how = "all pairs; 8 sampled rankings per query and update; the margin is the largest gain in Table 3";
    let claim = |(arm, (name, _)): (usize, &(&str, &str))| {
        let statement = format!("NDCG-Loss2: {name} minus the hard assignment, points of NDCG@5");
        let claim = Claim::new(*name, statement, Test::Equivalent { margin: MARGIN });
        claim.paper("left for future work").unit("random function").convention(how).between(arm, 0)
    };
    SOFT.iter().enumerate().skip(1).map(claim).collect()
}

fn binary_claim() -> Tested<Comparison<Evaluation>> {
    let claim = Claim::new("mrr RankNet", "NDCG-Loss2 with D = rank above RankNet, points of MRR", Test::Above)
        .paper("not in the paper")
        .unit("random function")
        .convention("binary labels, 3% relevant");
    claim.between(0, BINARY.len() - 1)
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let of = |binary, arms: &[Arm]| nets::protocol(session, &plan(session.scale, binary), arms);
    Ok(json!({"graded": of(false, &soft_arms()?), "binary": of(true, &binary_arms()?)}))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let scale = execution.scale();
    let lists = scale.pick(1_000, 100);
    let facts = soft_facts::all(execution.session.seed, lists)?;
    let soft = nets::run(execution, &plan(scale, false), &soft_arms()?)?;
    let plan = plan(scale, true);
    let binary = nets::run(execution, &plan, &binary_arms()?)?;
    let random = (0..plan.functions)
        .map(|function| {
            let [train, valid, test] = plan.queries;
            let queries = train + valid..train + valid + test;
            let data = nets::binary_function(execution.session, function)?.part(queries)?.0;
            Ok(100.0 * mean(&data.queries().map(|query| expected_rr_of_random_order(query.labels)).collect::<Vec<_>>()))
        })
        .collect::<anyhow::Result<Vec<f64>>>()?;
    let learned = less(&binary.runs.test(0), &random);
    let mut evidence = facts;
    evidence.push(("mrr learns".into(), Evidence::rounded(learned.clone(), 2)));
    evidence.extend(harness::evidence(&soft_claims(), &soft.runs));
    evidence.extend(harness::evidence(&[binary_claim()], &binary.runs));
    let deviations = deviations(
        scale,
        &[
            "The paper proposes soft assignment, scaled gains and MRR-like losses without experiments; the \
             comparisons are ours.",
            "G' is 0/0 for the document at rank 1; 0 is used, which drops this document's gain.",
            "The paper writes D_i = 1/i for MRR; since D divides the gain, D_i = i is meant.",
            "Noise has the unit of scores, whose scale is learned: 1 and 0.1 are two of many choices.",
        ],
        "Quick: two functions, few queries, epochs and learning rates.",
    );
    let mut protocol = plan.words();
    protocol.push(
        "Soft assignment has the same protocol with labels 0 to 4 (52%, 32%, 13%, 2% and 1% of the documents); NDCG@5 is the \
         metric for selection and evaluation, with binary labels MRR. The scaled gain and the MRR-like loss are custom losses \
         defined outside the library."
            .into(),
    );
    Ok(Report {
        evidence,
        main: format!(
            "soft minus hard, points of NDCG@5: {}; the MRR-like loss is {} points of MRR above a random order",
            SOFT.iter()
                .enumerate()
                .skip(1)
                .map(|(arm, (name, _))| format!("{name} {}", gap_text(&soft.runs.difference(arm, 0))))
                .collect::<Vec<_>>()
                .join(", "),
            gap_text(&learned)
        ),
        tables: vec![
            table(
                "NDCG-Loss2 of all pairs, graded labels: NDCG@5 in percent, mean and 95% interval over functions:",
                &soft,
                &SOFT,
            ),
            table("Binary labels: MRR in percent, mean and 95% interval over functions:", &binary, &BINARY),
            soft.trainings(),
            binary.trainings(),
        ],
        notes: vec![
            "With little noise the scaled gain differs from the hard assignment: the top document's gain is 0, so nothing keeps \
             a relevant document at the top."
                .into(),
        ],
        protocol,
        deviations,
        figure: dots::draw(
            &[
                ("soft assignment: test NDCG@5, percent".into(), dots_of(&soft, &SOFT)),
                ("binary labels: test MRR, percent".into(), dots_of(&binary, &BINARY)),
            ],
            "95% intervals of the mean over functions",
            "stored scores",
        )?,
        ..Report::default()
    })
}

fn table(title: &str, study: &Study, names: &[(&str, &str)]) -> Table {
    let rows = names.iter().enumerate().map(|(arm, (name, _))| study.row([name.to_string()], arm, 0));
    study.runs.table(title, ["loss"], ["first row", "learning rate"], rows)
}

fn dots_of(study: &Study, names: &[(&str, &str)]) -> Vec<Dot> {
    let dot = |(arm, (name, _)): (usize, &(&str, &str))| {
        let values = study.runs.test(arm);
        let interval = Spread::of(&values).map(|spread| (spread.mean - spread.half, spread.mean + spread.half));
        Dot { name: name.to_string(), value: mean(&values), interval, theirs: false }
    };
    names.iter().enumerate().map(dot).collect()
}
