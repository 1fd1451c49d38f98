//! `burnrank lambda`: tests whether the lambdas of an objective derive from a cost.

use super::Usage;
use super::figure;
use super::input::{self, ReadArgs};
use super::output::Output;
use super::prose::{fixed, number, paragraph};
use super::ui::{self, Align, Bar, Table, Unit, heading};
use super::widths;
use anyhow::{Context, bail};
use burnrank::analysis::lambda_field::{FieldReport, MAX_DOCUMENTS, Potential, Regularised};
use burnrank::data::read_scores;
use burnrank::{LambdaField, Model, Objective, device};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank lambda --objective lambdarank:ndcg
  burnrank lambda --objective ranknet --queries 100 --documents 20
  burnrank lambda --objective lambdarank:ndcg --data test.txt --model model
  burnrank lambda --objective lambdarank:map:localcost \\
      --data test.txt --query-id 7 --figure lambdas.svg

A cost exists if the Jacobian of the lambdas is symmetric; it is convex if the Jacobian of -lambda is positive semidefinite. \
Lambdas may jump where two documents tie. A cost can explain the part of a jump in the direction that separates the tied \
documents, but not the part orthogonal to it.";

/// Number of documents of a query to list; JSON contains all.
const LISTED: usize = 20;

/// Test whether the lambdas of an objective derive from a cost, whether it is convex, and where lambdas jump
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Training objective
    #[arg(long, value_name = "NAME", value_parser = Objective::parse)]
    objective: Objective,
    /// Data [default: random labels]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Use only this query of the data
    #[arg(long, value_name = "QID", requires = "data")]
    query_id: Option<String>,
    /// Model folder that scores the data [default: random scores]
    #[arg(long, value_name = "DIR", requires = "data", conflicts_with = "scores")]
    model: Option<PathBuf>,
    /// Scores of the documents, one per line
    #[arg(long, value_name = "FILE", requires = "data")]
    scores: Option<PathBuf>,
    /// Maximum number of queries
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queries: u32,
    /// Number of documents per random query
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=400), conflicts_with = "data")]
    documents: u32,
    /// Strength of the diagonal regulariser; subtracts ALPHA times the score of each document from its lambda
    #[arg(long, value_name = "ALPHA", default_value_t = 0.0)]
    alpha: f64,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Write a figure of the lambdas of the first query, as SVG
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Replace the figure if it exists
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// A query with its scores.
struct Query {
    id: String,
    scores: Vec<f64>,
    labels: Vec<f32>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let figure = Output::of_option(args.figure.as_deref(), "--figure", args.force)?;
    if !(args.alpha >= 0.0 && args.alpha.is_finite()) {
        bail!(Usage(format!("--alpha {}: expected a number of 0 or more", args.alpha)));
    }
    let field = args.objective.as_field()?;
    let regularised = Regularised { field, alpha: args.alpha };
    let field: &dyn LambdaField = if args.alpha > 0.0 { &regularised } else { &field };
    let (queries, skipped) = queries(args)?;
    let report = |query: &Query| {
        let report = FieldReport::new(field, &query.scores, &query.labels);
        report.with_context(|| format!("query {}", ui::printable(&query.id)))
    };
    let bar = Bar::new("examining lambdas", Unit::Queries);
    let mut reports: Vec<FieldReport> = Vec::with_capacity(queries.len());
    for query in &queries {
        reports.push(report(query)?);
        bar.update(reports.len() as u64, Some(queries.len() as u64));
    }
    drop(bar);
    if let Some(figure) = &figure {
        figure::lambda_field(figure, &reports[0])?;
    }
    let all = Summary::of(&reports);
    if args.json {
        let queries: Vec<_> =
            queries.iter().zip(&reports).map(|(q, report)| json!({ "query": q.id, "report": report })).collect();
        return ui::print_json(&without_minus_zero(json!({
            "objective": args.objective.name(),
            "alpha": args.alpha,
            "conservative": all.potential == Potential::Conservative,
            "potential": all.potential,
            "convex": all.convex,
            "convex_between_ties": all.psd,
            "balanced": all.balanced,
            "worst_asymmetry": all.asymmetry,
            "smallest_eigenvalue": all.smallest,
            "largest_jump": all.jump,
            "largest_sideways": all.sideways,
            "skipped_queries": skipped,
            "queries": queries,
        })));
    }
    let mut text = all.text(&reports[0].field, &source(args), skipped);
    if let ([query], [report]) = (&queries[..], &reports[..]) {
        text += &documents(query, report);
    }
    ui::print(&text)
}

/// Replaces negative zero with zero.
fn without_minus_zero(value: Value) -> Value {
    match value {
        Value::Number(number) if number.as_f64() == Some(0.0) && number.is_f64() => json!(0.0),
        Value::Array(values) => values.into_iter().map(without_minus_zero).collect(),
        Value::Object(values) => values.into_iter().map(|(key, value)| (key, without_minus_zero(value))).collect(),
        other => other,
    }
}

fn source(args: &Args) -> String {
    let scores = match (&args.model, &args.scores) {
        (Some(model), _) => format!("scores by {}", input::name(model)),
        (_, Some(scores)) => format!("scores from {}", input::name(scores)),
        _ => format!("random scores, seed {}", args.seed),
    };
    match &args.data {
        Some(data) => format!("{}, {scores}", input::name(data)),
        None => format!("random labels 0 to 4, {} documents each, {scores}", args.documents),
    }
}

/// Returns the queries, and the number of queries of the data that are too long.
fn queries(args: &Args) -> anyhow::Result<(Vec<Query>, usize)> {
    let mut random = ChaCha8Rng::seed_from_u64(args.seed);
    let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| random.random_range(-2.0..2.0)).collect() };
    let Some(path) = &args.data else {
        let mut labels = ChaCha8Rng::seed_from_u64(args.seed);
        labels.set_stream(1);
        let query = |index: u32| Query {
            id: (index + 1).to_string(),
            scores: draw(args.documents as usize),
            labels: (0..args.documents).map(|_| f32::from(labels.random_range(0..5u8))).collect(),
        };
        return Ok(((0..args.queries).map(query).collect(), 0));
    };
    if args.scores.is_some() {
        args.reading.check_keeps_lines()?;
    }
    let data = input::read_data(path, &args.reading)?;
    let scores = match (&args.model, &args.scores) {
        (Some(folder), _) => {
            let model = Model::load(folder, &device::open("auto")?)?;
            let scores = widths::score(&model, &data, &input::name(path))?;
            scores.into_iter().map(f64::from).collect()
        }
        (_, Some(file)) => read_scores(file, data.n_documents())?,
        _ => draw(data.n_documents()),
    };
    let chosen = data.queries().filter(|query| args.query_id.as_ref().is_none_or(|id| id == query.id));
    let (mut queries, mut skipped) = (Vec::new(), 0);
    for query in chosen {
        if query.labels.len() > MAX_DOCUMENTS && args.query_id.is_none() {
            skipped += 1;
        } else if queries.len() < args.queries as usize {
            let scores = scores[query.rows].to_vec();
            queries.push(Query { id: query.id.to_owned(), scores, labels: query.labels.to_vec() });
        }
    }
    if queries.is_empty() {
        match &args.query_id {
            Some(id) => bail!("{}: query '{}' is missing", input::name(path), ui::printable(id)),
            None => bail!("{}: no query has {MAX_DOCUMENTS} documents or fewer", input::name(path)),
        }
    }
    Ok((queries, skipped))
}

/// The extreme values of all queries.
struct Summary {
    queries: usize,
    potential: Potential,
    asymmetry: f64,
    largest: f64,
    closed: Option<f64>,
    smallest: f64,
    psd: bool,
    convex: bool,
    balanced: bool,
    sum: f64,
    jump: f64,
    sideways: f64,
    ties: usize,
    jumps: usize,
    unexplained: usize,
}

impl Summary {
    fn of(reports: &[FieldReport]) -> Self {
        let max = |value: &dyn Fn(&FieldReport) -> f64| reports.iter().map(value).fold(0.0, f64::max);
        let crossings = || reports.iter().flat_map(|report| report.crossings.iter().map(move |at| (report, at)));
        let jumps = || crossings().filter(|(report, at)| at.jump > report.lambda_tolerance).map(|(_, at)| at);
        let rank = |potential: Potential| match potential {
            Potential::Conservative => 0,
            Potential::BetweenTies => 1,
            Potential::None => 2,
        };
        let worst = reports.iter().map(|report| report.potential).max_by_key(|&potential| rank(potential));
        Summary {
            queries: reports.len(),
            potential: worst.unwrap_or(Potential::Conservative),
            asymmetry: max(&|report| report.asymmetry),
            largest: max(&|report| report.largest),
            closed: reports.iter().filter_map(|report| report.from_closed_form).reduce(f64::max),
            smallest: reports.iter().map(|report| report.smallest_eigenvalue).fold(f64::INFINITY, f64::min),
            psd: reports.iter().all(FieldReport::psd),
            convex: reports.iter().all(FieldReport::convex),
            balanced: reports.iter().all(FieldReport::balanced),
            sum: max(&|report| report.sum.abs()),
            jump: jumps().map(|at| at.jump).fold(0.0, f64::max),
            sideways: crossings()
                .filter(|(report, at)| at.sideways > report.lambda_tolerance)
                .map(|(_, at)| at.sideways)
                .fold(0.0, f64::max),
            ties: crossings().count(),
            jumps: jumps().count(),
            unexplained: crossings().filter(|(report, at)| at.sideways > report.lambda_tolerance).count(),
        }
    }

    fn text(&self, field: &str, source: &str, skipped: usize) -> String {
        let skipped = if skipped > 0 { format!("; {skipped} too long, skipped") } else { String::new() };
        let queries = match self.queries {
            1 => "One query".to_owned(),
            number => format!("Extreme values over {} queries", ui::count(number)),
        };
        let points =
            format!("{queries}: {source}{skipped}. J_ij = d lambda_i / d s_j; rounding errors are shown as 0.");
        format!("{}\n{}\n{}", paragraph(&self.verdict(field)), self.table(), paragraph(&points))
    }

    /// Returns the answer in one sentence.
    fn verdict(&self, field: &str) -> String {
        match (self.potential, self.convex) {
            (Potential::Conservative, true) => {
                format!("{field} derives from a convex cost at all examined points.")
            }
            (Potential::Conservative, false) => {
                format!("{field} derives from a cost at all examined points; the cost is not convex.")
            }
            (Potential::BetweenTies, _) => format!(
                "{field} derives from a cost only between ties: where documents tie, its lambdas jump in a way that no cost \
                 explains, so no single cost covers all orders."
            ),
            (Potential::None, _) => format!("{field} does not derive from a cost: its Jacobian is not symmetric."),
        }
    }

    fn table(&self) -> String {
        let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        let unless = |zero: bool, value: f64| number(if zero { 0.0 } else { value });
        let symmetric = self.potential != Potential::None;
        let convex = match (self.convex, self.psd) {
            (false, true) => "between ties".to_owned(),
            (convex, _) => yes(convex),
        };
        let of_ties = |count: usize| format!("{} of {}", ui::count(count), ui::count(self.ties));
        let mut rows = vec![
            ("symmetric Jacobian", yes(symmetric), unless(symmetric, self.asymmetry), "largest |J_ij - J_ji|"),
            ("", String::new(), number(self.largest), "largest |J_ij|"),
            ("convex cost", convex, unless(self.psd, self.smallest), "smallest eigenvalue of -J"),
            ("balanced lambdas", yes(self.balanced), unless(self.balanced, self.sum), "largest |sum of lambdas|"),
            ("jumps at ties", of_ties(self.jumps), number(self.jump), "largest change of one lambda"),
            ("unexplained jumps", of_ties(self.unexplained), number(self.sideways), "largest orthogonal part"),
        ];
        if let Some(error) = self.closed {
            rows.insert(2, ("", String::new(), number(error), "closed form minus finite differences"));
        }
        let mut table = Table::new(&[
            ("question", Align::Left),
            ("answer", Align::Left),
            ("value", Align::Right),
            ("quantity", Align::Left),
        ]);
        for (question, answer, value, what) in rows {
            table.row([question.to_owned(), answer, value, what.to_owned()]);
        }
        ui::table(&table)
    }
}

/// Returns the table of a query's documents, the highest score first.
fn documents(query: &Query, report: &FieldReport) -> String {
    let order = burnrank::metric::order(&report.scores);
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        right("rank"),
        right("document"),
        right("label"),
        right("score"),
        right("lambda"),
        right("jump at tie with next"),
    ]);
    let decimals = ui::decimals_for(report.lambdas.iter().copied());
    let jump = |jump: f64| if jump > report.lambda_tolerance { fixed(jump, decimals) } else { "0".into() };
    for (rank, &document) in order.iter().enumerate().take(LISTED) {
        table.row([
            (rank + 1).to_string(),
            (document + 1).to_string(),
            // Prints -0 as 0.
            (report.labels[document] + 0.0).to_string(),
            fixed(report.scores[document], 4),
            fixed(report.lambdas[document], decimals),
            report.crossings.get(rank).map_or("-".into(), |at| jump(at.jump)),
        ]);
    }
    let shown = match order.len() {
        n if n > LISTED => format!(": top {LISTED} of {n} documents; --json prints all"),
        _ => String::new(),
    };
    format!("\n{}\n{}", heading(&format!("query {}{shown}", ui::printable(&query.id))), ui::table(&table))
}
