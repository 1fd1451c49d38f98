//! `burnrank lambda`: do the forces of an objective come from a cost at all?

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
      --data test.txt --query-id 7 --figure forces.svg

A cost exists where the Jacobian of the lambdas is symmetric, and is convex where that of -lambda is positive \
semidefinite. Where documents tie, lambdas may jump: a cost explains a jump along the tie, and no cost one sideways.";

/// The documents of a query that are listed; JSON has all.
const LISTED: usize = 20;

/// Do the forces of an objective come from a cost? Is it convex, do they balance, where do they jump?
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The objective, as for training
    #[arg(long, value_name = "NAME", value_parser = Objective::parse)]
    objective: Objective,
    /// Look at queries of this file instead of random labels
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Only this query of the data
    #[arg(long, value_name = "QID", requires = "data")]
    query_id: Option<String>,
    /// Model that scores the data; without it or --scores, scores are random
    #[arg(long, value_name = "DIR", requires = "data", conflicts_with = "scores")]
    model: Option<PathBuf>,
    /// Scores of the data's documents, one per line
    #[arg(long, value_name = "FILE", requires = "data")]
    scores: Option<PathBuf>,
    /// How many queries to look at, at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queries: u32,
    /// Documents of a random query
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=400), conflicts_with = "data")]
    documents: u32,
    /// Subtract so much of each document's score from its lambda: the diagonal regulariser
    #[arg(long, value_name = "ALPHA", default_value_t = 0.0)]
    alpha: f64,
    /// The seed of everything random
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Draw the forces on the documents of the first query as SVG
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Replace the figure if it exists
    #[arg(long)]
    force: bool,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// A query to look at.
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
    let held = Regularised { field, alpha: args.alpha };
    let field: &dyn LambdaField = if args.alpha > 0.0 { &held } else { &field };
    let (queries, left_out) = queries(args)?;
    let report = |query: &Query| {
        let found = FieldReport::new(field, &query.scores, &query.labels);
        found.with_context(|| format!("query {}", ui::printable(&query.id)))
    };
    let bar = Bar::new("looking at the forces", Unit::Queries);
    let mut reports: Vec<FieldReport> = Vec::with_capacity(queries.len());
    for query in &queries {
        reports.push(report(query)?);
        bar.update(reports.len() as u64, Some(queries.len() as u64));
    }
    drop(bar);
    if let Some(figure) = &figure {
        figure::forces(figure, &reports[0])?;
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
            "skipped_queries": left_out,
            "queries": queries,
        })));
    }
    let mut text = all.text(&reports[0].field, &source(args), left_out);
    if let ([query], [report]) = (&queries[..], &reports[..]) {
        text += &one(query, report);
    }
    ui::print(&text)
}

/// A zero below zero means nothing to anybody.
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
        (_, Some(scores)) => format!("scores of {}", input::name(scores)),
        _ => format!("random scores, seed {}", args.seed),
    };
    match &args.data {
        Some(data) => format!("{}, {scores}", input::name(data)),
        None => format!("random labels 0 to 4, {} documents each, {scores}", args.documents),
    }
}

/// The queries, and how many of the data were too long.
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
    let (mut found, mut left_out) = (Vec::new(), 0);
    for query in chosen {
        if query.labels.len() > MAX_DOCUMENTS && args.query_id.is_none() {
            left_out += 1;
        } else if found.len() < args.queries as usize {
            let own = scores[query.rows].to_vec();
            found.push(Query { id: query.id.to_owned(), scores: own, labels: query.labels.to_vec() });
        }
    }
    if found.is_empty() {
        match &args.query_id {
            Some(id) => bail!("{}: there is no query '{}' in it", input::name(path), ui::printable(id)),
            None => bail!("{}: no query of {MAX_DOCUMENTS} documents or fewer", input::name(path)),
        }
    }
    Ok((found, left_out))
}

/// The worst over all queries.
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
        let most = |value: &dyn Fn(&FieldReport) -> f64| reports.iter().map(value).fold(0.0, f64::max);
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
            asymmetry: most(&|report| report.asymmetry),
            largest: most(&|report| report.largest),
            closed: reports.iter().filter_map(|report| report.from_closed_form).reduce(f64::max),
            smallest: reports.iter().map(|report| report.smallest_eigenvalue).fold(f64::INFINITY, f64::min),
            psd: reports.iter().all(FieldReport::psd),
            convex: reports.iter().all(FieldReport::convex),
            balanced: reports.iter().all(FieldReport::balanced),
            sum: most(&|report| report.sum.abs()),
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

    fn text(&self, field: &str, source: &str, left_out: usize) -> String {
        let left_out = if left_out > 0 { format!("; {left_out} too long, left out") } else { String::new() };
        let queries = match self.queries {
            1 => "One query".to_owned(),
            many => format!("Worst of {} queries", ui::count(many)),
        };
        let points =
            format!("{queries}: {source}{left_out}. J_ij = d lambda_i / d s_j; what is within rounding is shown as 0.");
        format!("{}\n{}\n{}", paragraph(&self.verdict(field)), self.table(), paragraph(&points))
    }

    /// The answer in a sentence.
    fn verdict(&self, field: &str) -> String {
        match (self.potential, self.convex) {
            (Potential::Conservative, true) => {
                format!("{field} comes from a cost, and the cost is convex, at all points that were looked at.")
            }
            (Potential::Conservative, false) => {
                format!("{field} comes from a cost, which is not convex, at all points that were looked at.")
            }
            (Potential::BetweenTies, _) => format!(
                "{field} comes from a cost only as long as no documents tie: where they do, its forces jump in a way that \
                 no cost explains, so that there is no one cost for all orders."
            ),
            (Potential::None, _) => format!("{field} comes from no cost: its Jacobian is not symmetric."),
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
            ("balanced forces", yes(self.balanced), unless(self.balanced, self.sum), "largest |sum of lambdas|"),
            ("jumps at ties", of_ties(self.jumps), number(self.jump), "largest change of one lambda"),
            ("jumps no cost explains", of_ties(self.unexplained), number(self.sideways), "longest part sideways"),
        ];
        if let Some(error) = self.closed {
            rows.insert(2, ("", String::new(), number(error), "closed form less differences"));
        }
        let mut table = Table::new(&[
            ("question", Align::Left),
            ("answer", Align::Left),
            ("value", Align::Right),
            ("what was measured", Align::Left),
        ]);
        for (question, answer, value, what) in rows {
            table.row([question.to_owned(), answer, value, what.to_owned()]);
        }
        ui::table(&table)
    }
}

/// The documents of a single query, best first.
fn one(query: &Query, report: &FieldReport) -> String {
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
            // A label of -0 is 0.
            (report.labels[document] + 0.0).to_string(),
            fixed(report.scores[document], 4),
            fixed(report.lambdas[document], decimals),
            report.crossings.get(rank).map_or("-".into(), |at| jump(at.jump)),
        ]);
    }
    let most = match order.len() {
        n if n > LISTED => format!(": the top {LISTED} of {n} documents, --json has all"),
        _ => String::new(),
    };
    format!("\n{}\n{}", heading(&format!("query {}{most}", ui::printable(&query.id))), ui::table(&table))
}
