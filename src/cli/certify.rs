//! `burnrank certify`: tests whether a model is at a local optimum of a metric.

use super::Usage;
use super::evaluation::{EvaluationArgs, known_metric, note_unreached};
use super::figure;
use super::input::{self, ReadArgs};
use super::output::Output;
use super::prose::{number, paragraph};
use super::ui::{self, Align, Bar, Table, Unit, count, counted, heading};
use super::widths;
use anyhow::Context;
use burnrank::analysis::optimality::{Certificate, CertifyOptions, certify};
use burnrank::analysis::optimality::{EachWeight, certify_control, each_weight};
use burnrank::metric::DEFAULT_METRIC;
use burnrank::{Dataset, Device, Metric, Model, Ranker, device};
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank certify --model model --data train.txt
  burnrank certify --model model --data train.txt --metric map --control
  burnrank certify --model model --data train.txt --figure curves.svg
  burnrank certify --model model --data train.txt --steps 0.02,0.05,0.1,0.2
  burnrank certify --model model --data train.txt --each-weight --json

Evaluates the metric at steps along random directions in weight space. Steps are fractions of |w|, the norm of the \
model's weights. By default 459 directions: if 1% of all \
directions improved the metric, the chance of sampling none of them would be below 1%. An improvement disproves a local \
optimum. No improvement only bounds the share of directions that improve the metric at these steps.";

/// What the result means.
const LIMITS: &str = "An improvement disproves a local optimum; without one, the test does not prove an optimum, but bounds \
                      the share of directions that improve this metric on this data at these steps.";

/// Test whether a model is at a local optimum of a metric
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Data to evaluate on, usually the training data; '-' is standard input
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Metric
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_METRIC, value_parser = known_metric)]
    metric: String,
    /// Fraction of improving directions to rule out
    #[arg(long, value_name = "SHARE", default_value_t = 0.01)]
    epsilon: f64,
    /// Probability of sampling none of them, one minus the confidence
    #[arg(long, value_name = "P", default_value_t = 0.01)]
    delta: f64,
    /// Number of random directions [default: follows from --epsilon and --delta]
    #[arg(long, value_name = "N")]
    directions: Option<usize>,
    /// Step sizes as fractions of the norm of the weights, as in 0.1,0.2; may be repeated for several sets [default: 0.1
    /// to 1, and 0.001 to 0.01]
    #[arg(long, value_name = "LIST")]
    steps: Vec<String>,
    /// Use step sizes as distances instead of fractions of the norm of the weights
    #[arg(long)]
    absolute: bool,
    /// Stop at the first direction that improves the metric
    #[arg(long)]
    stop_at_first: bool,
    /// Also test random weights of the same norm; they should not be an optimum
    #[arg(long)]
    control: bool,
    /// Also change each weight alone, up and down
    #[arg(long)]
    each_weight: bool,
    /// Random seed of the directions
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Write a figure of the metric along a few directions and of the envelope of all, as SVG
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Replace the figure if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    evaluation: EvaluationArgs,
    /// Device; auto, or a name from 'burnrank devices'
    #[arg(long, value_name = "NAME", default_value = "auto")]
    device: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let figure = Output::of_option(args.figure.as_deref(), "--figure", args.force)?;
    let options = options(args)?;
    let metric = args.evaluation.metric(&args.metric)?;
    let device = device::open(&args.device)?;
    let model = Model::load(&args.model, &device)?;
    let ranker = model.scorer.net().with_context(|| {
        let (folder, architecture) = (args.model.display(), &model.info.ranker.architecture);
        format!("{folder}: the model is {architecture}, but certify needs a linear net or an mlp")
    })?;
    let data =
        scaled(&model, input::read_data(&args.data, &args.reading.for_model(&model))?, &input::name(&args.data))?;
    data.load()?;
    note_unreached(&input::name(&args.data), std::slice::from_ref(&metric), data.labels(), data.offsets());
    let bar = |what: &str| Bar::new(what, Unit::Share);
    let certificate =
        watch(bar("certifying"), |progress| certify(ranker, &data, &*metric, &device, &options, progress))?;
    let control = args.control.then(|| {
        watch(bar("random weights"), |progress| certify_control(ranker, &data, &*metric, &device, &options, progress))
    });
    let control = control.transpose()?;
    let each_weight = args.each_weight.then(|| weights(ranker, &data, &*metric, &device, &options)).transpose()?;
    if let Some(figure) = &figure {
        figure::certificate(figure, &certificate)?;
    }
    if args.json {
        let mut report = json!({ "model": args.model.display().to_string(), "data": input::name(&args.data), "certificate": certificate });
        report["holds"] = certificate.holds().into();
        if let Some(control) = &control {
            report["control"] = serde_json::to_value(control)?;
        }
        if let Some(each_weight) = &each_weight {
            report["each_weight"] = serde_json::to_value(each_weight)?;
        }
        return ui::print_json(&report);
    }
    let mut text = paragraph(&verdict(&certificate)) + "\n" + &table(&certificate, control.as_ref());
    if let Some(control) = &control {
        text += &("\n".to_owned() + &paragraph(&control_verdict(control)));
    }
    if let Some(each_weight) = &each_weight {
        text += &weights_text(each_weight);
    }
    text += &("\n".to_owned() + &paragraph(LIMITS) + "\n" + &about(args, &model, &certificate));
    ui::print(&text)
}

fn options(args: &Args) -> anyhow::Result<CertifyOptions> {
    let mut options = CertifyOptions {
        epsilon: args.epsilon,
        delta: args.delta,
        directions: args.directions,
        relative: !args.absolute,
        stop_at_first: args.stop_at_first,
        seed: args.seed,
        conventions: args.evaluation.conventions(),
        ..CertifyOptions::default()
    };
    args.evaluation.check()?;
    if !args.steps.is_empty() {
        options.steps = args.steps.iter().map(|set| steps(set)).collect::<anyhow::Result<_>>()?;
    }
    options.check().map_err(|error| Usage(error.to_string()))?;
    Ok(options)
}

fn steps(set: &str) -> anyhow::Result<Vec<f64>> {
    let step = |text: &str| {
        text.trim()
            .parse()
            .map_err(|_| Usage(format!("--steps {set}: '{text}' is not a number: give a list as in 0.1,0.5")))
    };
    Ok(set.split(',').map(step).collect::<Result<_, _>>()?)
}

/// Returns the data with the model's scaling.
pub fn scaled(model: &Model, data: Dataset, name: &str) -> anyhow::Result<Dataset> {
    let width = data.n_features();
    let data = model.scaled(data).with_context(|| name.to_owned())?;
    widths::note_filled(name, width, model.info.n_features());
    Ok(data)
}

/// Shows a progress bar during the work.
fn watch<T>(bar: Bar, work: impl FnOnce(&mut dyn FnMut(f64)) -> T) -> T {
    work(&mut |share| bar.update((share * 1000.0) as u64, Some(1000)))
}

fn weights(
    ranker: &Ranker,
    data: &Dataset,
    metric: &dyn Metric,
    device: &Device,
    options: &CertifyOptions,
) -> burnrank::Result<EachWeight> {
    watch(Bar::new("each weight", Unit::Share), |progress| each_weight(ranker, data, metric, device, options, progress))
}

/// Returns the answer: whether the model may be at a local optimum, with which confidence.
fn verdict(certificate: &Certificate) -> String {
    let metric = &certificate.metric;
    let directions = counted(certificate.directions, "random direction", "random directions");
    let (verb, verbs) = if certificate.cost { ("lower", "lowers") } else { ("raise", "raises") };
    let rising = certificate.reports.iter().filter(|report| !report.holds());
    if let Some(report) = rising.max_by(|a, b| a.best.rise.total_cmp(&b.best.rise)) {
        let best = report.best;
        return format!(
            "{}: at steps of {}, {} of {directions} {verb} {metric}, at best from {} to {} (direction {}, step {}).",
            heading("Not a local optimum"),
            certificate.steps(&report.steps),
            count(report.rising),
            number(certificate.value),
            number(best.value),
            best.direction,
            certificate.step(best.step)
        );
    }
    let share = certificate.reports.iter().filter_map(|report| report.share).fold(0.0, f64::max);
    format!(
        "{}: {metric} is {}, and none of {directions} {verbs} it. At {} confidence, fewer than {} of all directions do.",
        heading("No evidence against a local optimum"),
        number(certificate.value),
        share_text(1.0 - certificate.delta),
        share_text(share)
    )
}

/// Returns the table of results, one row per set of steps.
fn table(certificate: &Certificate, control: Option<&Certificate>) -> String {
    let mut table = Table::new(&[
        ("weights", Align::Left),
        ("steps", Align::Left),
        (if certificate.cost { "lower" } else { "higher" }, Align::Right),
        ("equal", Align::Right),
        ("best change", Align::Right),
        ("at step", Align::Right),
    ]);
    let rows = std::iter::once(("the model's", certificate)).chain(control.map(|control| ("random", control)));
    for (whose, certificate) in rows {
        for report in &certificate.reports {
            let change = if certificate.cost { -report.best.rise } else { report.best.rise };
            table.row([
                whose.to_owned(),
                certificate.steps(&report.steps),
                format!("{} of {}", count(report.rising), count(report.directions)),
                count(report.flat),
                signed(change),
                certificate.step(report.best.step),
            ]);
        }
    }
    ui::table(&table)
}

fn control_verdict(control: &Certificate) -> String {
    let value = format!("random weights of the same norm ({} {})", control.metric, number(control.value));
    if control.holds() {
        format!(
            "The control fails: the test does not refute {value} either, so it cannot distinguish good from random weights here."
        )
    } else {
        format!("The control works: {value} are not a local optimum.")
    }
}

/// Describes the model, the data and the options, one line each.
fn about(args: &Args, model: &Model, certificate: &Certificate) -> String {
    let lines = [
        format!(
            "{}: {}, {}, |w| = {}",
            input::name(&args.model),
            model.info.ranker.architecture,
            counted(certificate.weights, "weight", "weights"),
            number(certificate.length)
        ),
        format!(
            "{}: {}, {}",
            input::name(&args.data),
            counted(certificate.queries, "query", "queries"),
            counted(certificate.documents, "document", "documents")
        ),
        format!(
            "epsilon {}, delta {}: {}, seed {}",
            share_text(certificate.epsilon),
            share_text(certificate.delta),
            counted(certificate.planned_directions, "direction", "directions"),
            certificate.seed
        ),
        certificate.conventions.clone(),
    ];
    lines.iter().map(|line| paragraph(line)).collect()
}

fn share_text(share: f64) -> String {
    format!("{}%", number(100.0 * share))
}

/// Formats a number with its sign.
fn signed(change: f64) -> String {
    if change > 0.0 { format!("+{}", number(change)) } else { number(change) }
}

/// Number of weights to list, those with the largest improvements.
const LISTED: usize = 10;

fn weights_text(result: &EachWeight) -> String {
    let (best, all) = (result.best_as_learned, counted(result.weights.len(), "weight", "weights"));
    let mut text = if result.holds() {
        format!("\nEach weight alone: no change of any of {all} improves the metric.\n")
    } else {
        format!("\nEach weight alone: no change of {} of {all} improves the metric.\n", count(best))
    };
    let mut movable: Vec<_> = result.weights.iter().filter(|weight| weight.step != 0.0).collect();
    movable.sort_by(|a, b| b.rise.total_cmp(&a.rise));
    if !movable.is_empty() {
        let mut table = Table::new(&[
            ("weight", Align::Left),
            ("value", Align::Right),
            ("best step", Align::Right),
            ("change of metric", Align::Right),
        ]);
        for weight in movable.iter().take(LISTED) {
            let change = if result.cost { -weight.rise } else { weight.rise };
            table.row([weight.name.clone(), number(weight.weight), signed(weight.step), signed(change)]);
        }
        text += &("\n".to_owned() + &ui::table(&table));
        if movable.len() > LISTED {
            text += &format!("and {} more\n", count(movable.len() - LISTED));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([0.5, -0.5, 0.0].map(signed), ["+0.5", "-0.5", "0"]);
        assert_eq!(share_text(0.1), "10%");
    }
}
