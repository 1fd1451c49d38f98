//! LambdaLoss, Figs. 1 and 2, Eq. 12 to 17, Proposition 5.1: each loss bounds its metric, on random scores and in every
//! epoch of training.

mod lists;
mod report;
mod sides;
mod training;

use super::losses::LOSSES;
use super::nets::function;
use crate::harness::{Claim, Execution, Experiment, Headline, Job, Paper, Report, Scale, Session, Test};
use lists::{SCALES, SIGMAS};
use serde_json::{Value, json};
use sides::{CHECKS, Check, EQUAL, ROUNDING};
use training::STEP_LENGTH;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-bounds",
    paper: Paper::LambdaLoss,
    place: "Figures 1 and 2, Eq. 12 to 17, Proposition 5.1",
    claim: "The logistic loss bounds the zero-one loss, so each loss bounds its metric: ARP-Loss1 and ARP-Loss2 the average \
         relevance position, NDCG-Loss1 and NDCG-Loss2 the cost of NDCG, LambdaRank a coarser metric above that cost.",
    short: "Each loss is an upper bound of its metric.",
    headlines: &[
        Headline::new(
            "Each loss bounds its metric (sections 5.1 to 5.3, Proposition 5.1, Eq. 19)",
            &["zero-one", "arp1", "arp2", "ndcg1", "ndcg2", "proposition", "hybrid"],
        ),
        Headline::new(
            "The metrics are the stated sums over pairs (Eq. 14 to 17), and exponents sharpen the loss (Figure 1)",
            &["sharper", "cost", "chain", "arp-sum", "ndcg-sum", "lambdarank-sum"],
        ),
        Headline::new(
            "NDCG-Loss2 is a tighter bound of NDCG than NDCG-Loss1 and LambdaRank",
            &["coarse", "tighter than *"],
        ),
    ],
    time: "under a minute",
    claims,
    protocol,
    run,
    ..Experiment::BASE
};

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
    let fact = |id: &str, statement: &str, paper: &str| Claim::new(id, statement, Test::Fact).paper(paper);
    let mut all = vec![
        fact("zero-one", "the zero-one loss is at most log2(1 + exp(-sigma x))", "Eq. 12, Figure 2")
            .convention(format!("x from -10 to 10 in steps of 0.0025, sigma {SIGMAS:?}; no tolerance")),
        fact("sharper", "the larger the exponent, the steeper the generalised logistic curve and its loss", "Figure 1")
            .convention("exponents 0.5, 1, 2, 4; x from -10 to 10 in steps of 0.005"),
    ];
    for Check { id, statement, paper, equation } in CHECKS {
        let (deviation, tolerance) = if equation { ("a difference", EQUAL) } else { ("an excess", ROUNDING) };
        let convention = format!(
            "on every list; tolerance for {deviation}: {tolerance:.0e} of the right side, or of 1 if that is less"
        );
        all.push(fact(id, statement, paper).convention(convention));
    }
    for (id, other, paper) in [
        ("tighter than NDCG-Loss1", "NDCG-Loss1's", "\"potentially tighter\""),
        ("tighter than LambdaRank", "LambdaRank's", "LambdaRank is \"a coarse upper bound\""),
    ] {
        let statement = format!("NDCG-Loss2's bound is closer to NDCGcost than {other}, mean over queries and epochs");
        all.push(
            Claim::new(id, statement, Test::Above).paper(paper).unit("random function").convention(
                "sigma 1; bounds include their constants; linear scorers trained with each of the six losses",
            ),
        );
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let Sizes { lists, functions, queries, epochs } = sizes(session.scale);
    Ok(json!({
        "lists": lists, "functions": functions, "queries": queries, "epochs": epochs, "learning_rate": STEP_LENGTH,
        "sigmas": SIGMAS, "scales": SCALES,
        "losses": LOSSES.map(|loss| loss.objective(None)),
    }))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![Job { key: "random scores".to_owned(), work: 10.0, what: None }];
    for function in 0..sizes.functions {
        jobs.push(Job { key: format!("function {}", function + 1), work: 10.0, what: Some(function) });
    }
    let checks = execution.run_all(&jobs, |job, _| match job.what {
        None => lists::random_scores(execution.session.seed, sizes.lists),
        Some(number) => {
            let data = function(execution.session, number)?.part(0..sizes.queries)?.0;
            training::in_training(&data, sizes.epochs)
        }
    })?;
    report::report(execution, &sizes, &checks)
}
