//! `burnrank train` without data: a demonstration on the LambdaRank paper's artificial data, with three objectives or
//! `--objective`.

use super::epochs::run_epochs;
use super::output::RunOutput;
use super::warnings::{self, Warning};
use super::{Args, data};
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::prose::{fixed, paragraph, signed};
use crate::cli::ui::{self, Align, Table};
use burnrank::metric::{Summary, evaluate};
use burnrank::numeric::Mean;
use burnrank::setting::Method;
use burnrank::train::{Ensemble, Split, Splits};
use burnrank::{Conventions, Device, Model, Objective, Synthetic, TrainConfig};
use serde_json::{Value, json};

/// The default objectives, and the names of their model folders.
const OBJECTIVES: [(&str, &str); 3] =
    [("ranknet", "demo-ranknet"), ("lambdarank:ndcg", "demo-lambdarank"), ("ndcg-loss2++:mu=5", "demo-ndcg-loss2pp")];

/// Training, validation and test queries, 50 documents each; the paper has 10,000, 5,000 and 10,000.
const PARTS: [std::ops::Range<usize>; 3] = [0..2000, 2000..2500, 2500..7500];

const DATA: &str = "cubic polynomials, 50 features, labels 0 to 4 (LambdaRank paper, section 6.3.1)";

/// Explanation of the table.
const ABOUT: &str = "\
The table shows means over test queries ± half of the 95% interval; pairs is the fraction of document pairs in the right order. \
RankNet gives every pair of documents the same weight. LambdaRank and NDCG-Loss2++ weight a pair by how much NDCG changes \
when the two documents swap. No net this small fits these labels exactly, so the weights decide where it makes its errors: \
RankNet optimizes the order of all pairs, the other two the top of the list.";

/// The next step after the demonstration.
const NEXT: &str = "\
Train on your data (LETOR text, '<label> qid:<id> <index>:<value> ...'):
  burnrank train --train train.txt --out model
";

/// The objectives to train with, and the names of their model folders.
fn objectives(args: &Args) -> anyhow::Result<Vec<(Objective, String)>> {
    let named = |(name, folder): (&str, &str)| Ok((Objective::parse(name)?, folder.to_owned()));
    let model = args.settings.model();
    if !model.kind.takes_objective() {
        return Ok(vec![(Objective::default(), format!("demo-{}", model.kind.name))]);
    }
    match args.settings.stated("objective") {
        None => OBJECTIVES.into_iter().map(named).collect(),
        Some(name) => {
            let objective = Objective::parse(name)?;
            let default = OBJECTIVES.iter().find(|(name, _)| *name == objective.name());
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            let folder = || format!("demo-{}", objective.name().chars().map(plain).collect::<String>());
            let folder = default.map_or_else(folder, |(_, folder)| (*folder).to_owned());
            Ok(vec![(objective, folder)])
        }
    }
}

/// Test results of one objective.
struct Row {
    objective: String,
    /// The selection metric of each test query, `None` for queries without a value.
    values: Vec<Option<f64>>,
    pairs: f64,
}

impl Row {
    /// The difference from another row over the test queries with a value in both.
    fn minus(&self, other: &Row) -> Mean {
        let both = self.values.iter().zip(&other.values);
        Mean::of(&both.filter_map(|(one, other)| Some((*one)? - (*other)?)).collect::<Vec<_>>())
    }

    fn json(&self, metric: &str, first: &Row) -> Value {
        let (summary, difference) = (Summary::of(&self.values), self.minus(first));
        json!({
            "objective": self.objective,
            "test": {metric: summary.mean, "pairs": self.pairs},
            "interval": summary.interval,
            "difference": {"baseline": first.objective, "mean": difference.mean, "interval": difference.interval(0.05)},
        })
    }
}

pub fn run(args: &Args, config: TrainConfig, device: &Device) -> anyhow::Result<()> {
    let config = args.settings.of_demonstration(config)?;
    let generator = Synthetic { seed: config.seed, queries: PARTS[2].end, ..Synthetic::lambdarank() }.generator()?;
    let part = |place: usize| -> anyhow::Result<Split> {
        Ok(Split::new(DATA.into(), generator.part(PARTS[place].clone())?.0))
    };
    let objectives = objectives(args)?;
    let mut splits = Splits::new(part(0)?, part(1)?, Some(part(2)?));
    let claim = |name: &str| args.out.as_ref().map(|out| args.claim(&out.join(name))).transpose();
    // The first claim creates the parent folder and must be released last, hence the reversed order.
    let mut outs = objectives.iter().rev().map(|(_, name)| claim(name)).collect::<anyhow::Result<Vec<_>>>()?;
    outs.reverse();
    let mut output = RunOutput::new(args.json);
    if !args.json {
        output.print(&(paragraph(&introduction(&config)) + "\n"));
    }
    let _graceful = Graceful::new();
    data::fit_widths(&mut splits, args.features)?;
    let mut warnings = warnings::before_training(&splits, &config, args.read.first_index)?;
    let data = data::scale(&mut splits, &config, None)?;
    let metrics = [burnrank::metric::parse(&config.metric)?, burnrank::metric::parse("pairs")?];
    let mut rows = Vec::new();
    for ((objective, _), out) in objectives.into_iter().zip(&outs) {
        let config = TrainConfig { objective, ..config.clone() };
        let objective = config.aim();
        let members = Ensemble::of(&config, args.settings.ensemble, &data, &[], device)?;
        let model = run_epochs(args, &config, members, None, &objective, &mut output)?;
        let Some(mut model) = model.filter(|_| !Graceful::is_requested()) else { return Err(Interrupted.into()) };
        data::describe(&splits, &mut model, &config)?;
        warnings.extend(warnings::after_training(&model, &objective).inspect(Warning::print));
        let test = splits.test.as_ref().map_or(&splits.valid.data, |test| &test.data);
        let scores = model.score(test)?;
        let per_query =
            |place: usize| evaluate(&*metrics[place], &scores, test.labels(), test.offsets(), &Conventions::default());
        let row = Row { objective, values: per_query(0)?, pairs: Summary::of(&per_query(1)?).mean };
        if let Some(out) = out {
            // Without the log, which has times: the shipped models must be reproducible to the byte.
            out.save(&Model { history: vec![], ..model })?;
            out.discard_checkpoint();
        }
        rows.push(row);
    }
    if args.json {
        let warnings: Vec<_> = warnings.iter().map(Warning::json).collect();
        let conventions = Conventions::default().to_string();
        let results: Vec<_> = rows.iter().map(|row| row.json(&config.metric, &rows[0])).collect();
        let result = json!({"seed": config.seed, "demo": results, "conventions": conventions, "warnings": warnings});
        output.print(&(serde_json::to_string(&result)? + "\n"));
        return output.finish(&args.models_location());
    }
    let saved = args.out.as_ref().map_or(String::new(), |out| format!("models: {}\n", out.display()));
    let about = if rows.len() == OBJECTIVES.len() { paragraph(ABOUT) + "\n" } else { String::new() };
    output.print(&format!("{}\n{about}{saved}{NEXT}", table(&config.metric, &rows)));
    output.finish(&args.models_location())
}

fn introduction(config: &TrainConfig) -> String {
    format!(
        "Demonstration, because --train FILE was not given: {DATA}. {} training, {} validation and {} test queries \
         of 50 documents; {}{}, seed {}.",
        PARTS[0].len(),
        PARTS[1].len(),
        PARTS[2].len(),
        config.architecture,
        if config.method == Method::Gradient { format!(", {}", config.optimizer) } else { String::new() },
        config.seed
    )
}

/// The metric of each objective on the test queries, and its difference from the first, with 95% intervals.
fn table(metric: &str, rows: &[Row]) -> String {
    let Some((first, others)) = rows.split_first() else { return String::new() };
    let minus = format!("minus {}", first.objective);
    let columns = [("objective", Align::Left), (metric, Align::Left), ("pairs", Align::Right)];
    let paired = [(minus.as_str(), Align::Right), ("95% interval", Align::Left)];
    let paired = if others.is_empty() { &[] } else { &paired[..] };
    let mut table = Table::new(&[&columns[..], paired].concat());
    for (place, row) in rows.iter().enumerate() {
        let summary = Summary::of(&row.values);
        let half = (summary.interval.1 - summary.interval.0) / 2.0;
        let mut cells = vec![row.objective.clone(), format!("{} ± {}", fixed(summary.mean, 4), fixed(half, 4))];
        cells.push(fixed(row.pairs, 4));
        let difference = row.minus(first);
        let (low, high) = difference.interval(0.05);
        cells.extend(match place {
            _ if others.is_empty() => vec![],
            0 => vec![String::new(); 2],
            _ => vec![signed(difference.mean, 4), format!("{} to {}", signed(low, 4), signed(high, 4))],
        });
        table.row(cells);
    }
    ui::table(&table)
}
