//! LambdaLoss, Eq. 9, sections 5.2 and 5.4: soft assignment, the scaled gain, and NDCG-Loss2 for MRR-like metrics.

use super::losses::{LOSSES, NDCG2};
use super::nets::{self, Arm, Plan, Study, gap_text, mean_text};
use super::own_losses::{MrrLike, ScaledGain, expected_rr_of_random_order};
use super::soft_facts;
use crate::harness::dots::{self, Dot};
use crate::harness::units::{less, mean};
use crate::harness::{Claim, Evidence, Execution, Experiment, Kind, Paper, Report, Scale, Session, Spread, Test};
use burnrank::Objective;
use burnrank::internal::text::{Table, fixed};
use serde_json::{Value, json};
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-soft",
    kind: Kind::Paper,
    paper: Paper::LambdaLoss,
    place: "Eq. 9, sections 4.1.2, 5.2 and 5.4",
    claim: "A soft assignment draws rankings around the scores and averages the weights; its limit is the hard one. \
         With gains scaled by G' the bounds hold for it too. NDCG-Loss2 with other gains and discounts can optimise \
         MRR-like metrics.",
    time: "about 5 minutes",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const NDCG: &str = "ndcg@5";
const MRR: &str = "mrr";
/// The largest gain of NDCG-Loss2 over LambdaRank in Table 3, in points.
const MARGIN: f64 = 1.0;

/// Graded labels: the hard assignment first.
const SOFT: [(&str, &str); 5] = [
    ("hard", ""),
    ("Gaussian, noise 1", ":gaussian=8:noise=1"),
    ("Gaussian, noise 0.1", ":gaussian=8:noise=0.1"),
    ("Plackett-Luce", ":plackett-luce=8"),
    ("scaled gain G', noise 1", "own"),
];
/// Binary labels: the loss of one's own first.
const BINARY: [(&str, &str); 5] = [
    ("NDCG-Loss2, D = rank", "own"),
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
        "own" => {
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
            "own" => Objective::custom("mrr-like", Arc::new(MrrLike)),
            name => Objective::parse(name)?,
        };
        // Names of runs must differ from those with graded labels.
        Ok(Arm { key: format!("binary {}", objective.name()), objective, metric: MRR.into(), hidden: nets::HIDDEN })
    };
    BINARY.iter().map(arm).collect()
}

fn claims(_: &Session) -> Vec<Claim> {
    let fact = |id: &str, statement: &str, paper: &str| Claim::primary(id, statement, Test::Fact).paper(paper);
    let mut all = vec![
        fact("limit", "the hard assignment is the limit of Gaussian noise that vanishes", "section 4.2"),
        fact(
            "sampled",
            "the mean over samples tends to the expectation over all rankings (Plackett-Luce, 4 documents)",
            "Eq. 9",
        ),
        fact(
            "scaled",
            "the cost of a sampled ranking is that of scaled gains in the hard ranking, for documents below the top",
            "section 5.4",
        ),
        fact("scaled bound", "NDCG-Loss2 of scaled gains bounds that cost", "section 5.4"),
        fact(
            "mrr bound",
            "NDCG-Loss2 with G = y and D = rank bounds the sum of 1 - 1/rank over relevant documents",
            "section 5.2",
        ),
        Claim::primary(
            "mrr learns",
            "trained with it: MRR of test queries less that of a random order, points",
            Test::Above,
        )
        .paper("\"can be used to optimize the MRR-like metrics\"")
        .unit("random function")
        .convention("binary labels, 3% relevant"),
    ];
    for (name, _) in &SOFT[1..] {
        all.push(
            Claim::secondary(
                *name,
                format!("NDCG-Loss2, {name}, less the hard assignment, points of NDCG@5"),
                Test::Equivalent { margin: MARGIN },
            )
            .paper("left for future work")
            .unit("random function")
            .convention(
                "all pairs; 8 rankings are drawn per query and update; the margin is the largest gain in Table 3",
            ),
        );
    }
    all.push(
        Claim::secondary("mrr RankNet", "NDCG-Loss2 with D = rank above RankNet, points of MRR", Test::Above)
            .paper("not in the paper")
            .unit("random function")
            .convention("binary labels, 3% relevant"),
    );
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let of = |binary, arms: &[Arm]| nets::protocol(session, &plan(session.scale, binary), arms);
    Ok(json!({"graded": of(false, &soft_arms()?), "binary": of(true, &binary_arms()?)}))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let scale = execution.scale();
    let lists = scale.pick(1_000, 100);
    let facts = soft_facts::all(execution.session.seed, lists)?;
    let nothing = |_: usize, _: u64, _: &[burnrank::Model], _: &nets::Parts| Ok(());
    let soft = nets::run(execution, &plan(scale, false), &soft_arms()?, &[NDCG], nothing)?;
    let plan = plan(scale, true);
    let binary = nets::run(execution, &plan, &binary_arms()?, &[MRR, NDCG], nothing)?;
    let random = (0..plan.functions)
        .map(|function| {
            let [train, valid, test] = plan.queries;
            let queries = train + valid..train + valid + test;
            let data = nets::binary_function(execution.session, function)?.part(queries)?.0;
            Ok(100.0 * mean(&data.queries().map(|query| expected_rr_of_random_order(query.labels)).collect::<Vec<_>>()))
        })
        .collect::<anyhow::Result<Vec<f64>>>()?;
    let learned = less(&binary.test(0, MRR), &random);
    let mut evidence: Vec<(String, Evidence)> = facts;
    evidence.push(("mrr learns".into(), Evidence::rounded(learned.clone(), 2)));
    for (arm, (name, _)) in SOFT.iter().enumerate().skip(1) {
        evidence.push((name.to_string(), Evidence::rounded(soft.less(arm, 0, NDCG), 2)));
    }
    evidence.push(("mrr RankNet".into(), Evidence::rounded(binary.less(0, BINARY.len() - 1, MRR), 2)));
    let mut deviations = vec![
        "The paper proposes soft assignment, scaled gains and MRR-like losses and tries none of them; the comparisons \
         are ours."
            .into(),
        "G' is 0/0 for the document at rank 1; it is taken as 0, so that this document's own gain drops out.".into(),
        "The paper writes D_i = 1/i for MRR; D divides the gain, so that D_i = i is meant.".into(),
        "Noise has the unit of scores, and nets choose the scale of these: 1 and 0.1 are two of many choices.".into(),
    ];
    if scale == Scale::Quick {
        deviations.push("Quick: two functions, few queries, epochs and step sizes.".into());
    }
    let mut protocol = plan.words();
    protocol.push(
        "The same with labels 0 to 4 (52%, 32%, 13%, 2% and 1% of the documents) for soft assignment, where NDCG@5 \
         chooses and judges; with binary labels MRR does. The scaled gain and the MRR-like loss are weights of one's \
         own, made outside of the library."
            .into(),
    );
    Ok(Report {
        evidence,
        main: format!(
            "soft less hard, points of NDCG@5: {}; the MRR-like loss is {} points of MRR above a random order",
            SOFT.iter()
                .enumerate()
                .skip(1)
                .map(|(arm, (name, _))| format!("{name} {}", gap_text(&soft.less(arm, 0, NDCG))))
                .collect::<Vec<_>>()
                .join(", "),
            gap_text(&learned)
        ),
        tables: vec![
            table(
                "NDCG-Loss2 of all pairs, graded labels: NDCG@5 in percent, mean and 95% interval over functions:",
                &soft,
                &SOFT,
                NDCG,
            ),
            table("Binary labels: MRR in percent, mean and 95% interval over functions:", &binary, &BINARY, MRR),
            soft.trainings(),
            binary.trainings(),
        ],
        notes: vec![
            "With little noise the scaled gain is not the hard assignment: the top document's gain is 0 then, so that \
             nothing keeps a relevant document at the top."
                .into(),
        ],
        protocol,
        deviations,
        figure: dots::draw(
            &[
                ("soft assignment: test NDCG@5, percent".into(), dots_of(&soft, &SOFT, NDCG)),
                ("binary labels: test MRR, percent".into(), dots_of(&binary, &BINARY, MRR)),
            ],
            "95% intervals of the mean over functions",
        )?,
        ..Report::default()
    })
}

fn table(title: &str, study: &Study, names: &[(&str, &str)], measure: &str) -> Table {
    let head = ["what", "train", "validation", "test", "test less the first row", "step size"];
    let mut table = Table::titled(title, &head);
    for (arm, (name, _)) in names.iter().enumerate() {
        table.row([
            name.to_string(),
            fixed(mean(&study.train(arm)), 2),
            fixed(mean(&study.valid(arm)), 2),
            mean_text(&study.test(arm, measure)),
            if arm == 0 { "-".into() } else { gap_text(&study.less(arm, 0, measure)) },
            study.step(arm),
        ]);
    }
    table
}

fn dots_of(study: &Study, names: &[(&str, &str)], measure: &str) -> Vec<Dot> {
    let dot = |(arm, (name, _)): (usize, &(&str, &str))| {
        let values = study.test(arm, measure);
        let interval = Spread::of(&values).map(|spread| (spread.mean - spread.half, spread.mean + spread.half));
        Dot { name: name.to_string(), value: mean(&values), interval, theirs: false }
    };
    names.iter().enumerate().map(dot).collect()
}
