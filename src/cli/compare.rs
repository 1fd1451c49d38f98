//! `burnrank compare`: is the difference between systems real?

use super::Usage;
use super::figure;
use super::input::ReadArgs;
use super::judging::{JudgeArgs, known_metric};
use super::systems::{System, read_folds};
use super::ui::{self, Align, Bar, Table, count, counted, heading};
use anyhow::bail;
use burnrank::{Better, CompareOptions, Comparison, Conventions, Dataset, Metric, PerQuery, correct};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  burnrank compare old-model new-model --data test.txt
  burnrank compare bm25.run scores.txt model --data test.txt --metric ndcg@10,map --figure differences.svg
  burnrank compare 'scores/A.Fold{}.txt' 'scores/B.Fold{}.txt' --data 'Fold{}/test.txt' --folds 5

A system is a model folder, a file of scores (one a line, in the order of the data), or a TREC run whose document ids are
those of the data. Differences are the second system's less the first's. Tests are two-sided; p-values are corrected by
Holm's method over all comparisons that are shown together.";

/// Is the difference between systems real? Paired tests over queries
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Two systems or more
    #[arg(required = true, num_args = 2.., value_name = "SYSTEM")]
    systems: Vec<String>,
    /// LETOR file with the labels
    #[arg(long, value_name = "FILE")]
    data: String,
    /// Judge so many folds as one: {} in names is the number of the fold, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    folds: Option<u16>,
    /// What to judge by; may be repeated
    #[arg(long = "metric", short, value_name = "NAME", value_delimiter = ',', default_value = "ndcg@10", value_parser = known_metric)]
    metrics: Vec<String>,
    /// Compare only with the first system, instead of each with each
    #[arg(long)]
    baseline: bool,
    /// The error that is allowed, over all comparisons together
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Draws of the randomisation test, where there are too many to count
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    draws: usize,
    /// Resamples of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    resamples: usize,
    /// How many of the queries that moved most are listed
    #[arg(long, value_name = "N", default_value_t = 5)]
    movers: usize,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Draw the sorted differences by query as SVG
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    judging: JudgeArgs,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// More panels than this make no picture.
const MOST_PANELS: usize = 24;

pub fn run(args: &Args) -> anyhow::Result<()> {
    check(args)?;
    let folds = args.folds.map(usize::from);
    let data = read_folds(&args.data, folds, &args.reading)?;
    let bar = Bar::working("comparing");
    let systems: Vec<System> =
        args.systems.iter().map(|system| System::read(system, folds, &data)).collect::<anyhow::Result<_>>()?;
    let conventions = args.judging.conventions();
    let mut comparisons = Vec::new();
    let mut metrics: Vec<Arc<dyn Metric>> = Vec::new();
    for name in &args.metrics {
        let metric = args.judging.metric(name)?;
        if metrics.iter().all(|known| known.name() != metric.name()) {
            comparisons.extend(compare(args, &data, &systems, &*metric, &conventions)?);
            metrics.push(metric);
        }
    }
    correct(&mut comparisons);
    drop(bar);
    if let Some(path) = &args.figure {
        if comparisons.len() > MOST_PANELS {
            bail!(Usage(format!("{} comparisons are too many for a figure: give fewer systems", comparisons.len())));
        }
        figure::differences(path, &comparisons)?;
    }
    if args.json {
        return ui::print_json(&json!({
            "data": args.data,
            "conventions": conventions.to_string(),
            "alpha": args.alpha,
            "family": comparisons.len(),
            "comparisons": comparisons,
        }));
    }
    ui::print(&text(args, &data, &conventions, &comparisons))
}

fn check(args: &Args) -> anyhow::Result<()> {
    if !(args.alpha > 0.0 && args.alpha < 1.0) {
        bail!(Usage(format!("--alpha {}: expected a number between 0 and 1", args.alpha)));
    }
    if args.draws == 0 || args.resamples == 0 {
        bail!(Usage("--draws and --resamples: expected a number of 1 or more".into()));
    }
    args.judging.check()?;
    args.metrics.iter().try_for_each(|name| args.judging.metric(name).map(drop))?;
    if args.reading.lenient || args.reading.regroup {
        bail!(Usage(
            "--lenient and --regroup move documents away from their scores: 'burnrank convert' the data first".into()
        ));
    }
    Ok(())
}

/// Each system with each later one, or only with the first, by one measure.
fn compare(
    args: &Args,
    data: &[Dataset],
    systems: &[System],
    metric: &dyn Metric,
    conventions: &Conventions,
) -> anyhow::Result<Vec<Comparison>> {
    let judged: Vec<Vec<Option<f64>>> =
        systems.iter().map(|system| system.judge(data, metric, conventions)).collect::<burnrank::Result<_>>()?;
    // Whether a query counts depends on its labels: all systems agree on it.
    let ids = data.iter().flat_map(|data| data.query_ids());
    let counts = |query: usize| judged[0][query].is_some();
    let ids: Vec<String> = ids.enumerate().filter(|(query, _)| counts(*query)).map(|(_, id)| id.clone()).collect();
    let values: Vec<Vec<f64>> = judged.iter().map(|values| values.iter().flatten().copied().collect()).collect();
    let options = CompareOptions {
        better: if metric.is_cost() { Better::Lower } else { Better::Higher },
        draws: args.draws,
        resamples: args.resamples,
        movers: args.movers,
        seed: args.seed,
        ..CompareOptions::default()
    };
    let per_query = |index: usize| PerQuery { name: &systems[index].name, values: &values[index] };
    let mut found = Vec::new();
    for first in 0..if args.baseline { 1 } else { systems.len() } {
        for second in first + 1..systems.len() {
            found.push(Comparison::new(&metric.name(), per_query(first), per_query(second), &ids, &options)?);
        }
    }
    Ok(found)
}

fn text(args: &Args, data: &[Dataset], conventions: &Conventions, comparisons: &[Comparison]) -> String {
    let queries: usize = data.iter().map(Dataset::n_queries).sum();
    let mut text = format!("data      {}: {}\n", ui::printable(&args.data), counted(queries, "query", "queries"));
    text += &format!("judged    {conventions}\n");
    text += &format!(
        "tests     two-sided, over {}; p-values corrected by Holm's method\n\n",
        counted(comparisons.len(), "comparison", "comparisons")
    );
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        ("measure", Align::Left),
        ("first", Align::Left),
        ("second", Align::Left),
        right("mean 1"),
        right("mean 2"),
        right("difference"),
        ("95% interval", Align::Left),
        right("effect"),
        ("better/equal/worse", Align::Left),
        right("p t-test"),
        right("p Wilcoxon"),
        right("p random"),
        ("", Align::Left),
    ]);
    for found in comparisons {
        let adjusted = found.adjusted.as_ref();
        let interval = found.bootstrap.as_ref().map(|bootstrap| bootstrap.interval());
        let random = adjusted.and_then(|p| p.randomisation);
        table.row([
            found.measure.clone(),
            found.baseline.clone(),
            found.system.clone(),
            format!("{:.4}", found.baseline_mean),
            format!("{:.4}", found.system_mean),
            format!("{:+.4}", found.difference),
            interval.map_or("-".into(), |(low, high)| format!("{low:+.4} to {high:+.4}")),
            found.effect_size.map_or("-".into(), |effect| format!("{effect:+.3}")),
            format!("{}/{}/{}", count(found.wins), count(found.ties), count(found.losses)),
            p(adjusted.and_then(|p| p.t_test)),
            p(adjusted.and_then(|p| p.wilcoxon)),
            p(random),
            if random.is_some_and(|p| p <= args.alpha) { "significant" } else { "" }.to_owned(),
        ]);
    }
    text += &table.render();
    text += &format!("\nsignificant: corrected p of the randomisation test of {} or less\n", args.alpha);
    for found in comparisons.iter().filter(|found| !found.movers.is_empty()) {
        text += &format!(
            "\n{}\n",
            heading(&format!("{}: {} to {}, moved most", found.measure, found.baseline, found.system))
        );
        let mut table = Table::new(&[("query", Align::Left), right("first"), right("second"), right("difference")]);
        for mover in &found.movers {
            let (first, second, difference) = (mover.baseline, mover.system, mover.difference);
            table.row([
                mover.query.clone(),
                format!("{first:.4}"),
                format!("{second:.4}"),
                format!("{difference:+.4}"),
            ]);
        }
        text += &table.render();
    }
    text
}

fn p(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(p) if p < 1e-4 => format!("{p:.1e}"),
        Some(p) => format!("{p:.4}"),
    }
}
