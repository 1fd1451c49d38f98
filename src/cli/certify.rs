//! `burnrank certify`: is a model at a local optimum of a measure, and how sure is that?

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
  burnrank certify --model model --data train.txt --steps 0.1,0.2,0.5 --relative
  burnrank certify --model model --data train.txt --each-weight --json

Random directions on the unit sphere of all weights; 459 of them, unless told otherwise, so that if 1% of all \
directions improved the measure, not one being among them had a probability of 1% at most. A rise that is found is a \
fact; that none is found bounds the share of directions that rise at these steps, and proves no more than that.";

/// Is a model at a local optimum of a measure, and how sure is that?
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// The queries to judge by, usually those it was trained on; '-' is standard input
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The measure
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_METRIC, value_parser = known_metric)]
    metric: String,
    /// The share of rising directions to be refuted
    #[arg(long, value_name = "SHARE", default_value_t = 0.01)]
    epsilon: f64,
    /// The probability of missing them all
    #[arg(long, value_name = "P", default_value_t = 0.01)]
    delta: f64,
    /// Directions to try, instead of as many as follow from --epsilon and --delta
    #[arg(long, value_name = "N")]
    directions: Option<usize>,
    /// A set of steps, as in 0.1,0.2,0.5; may be repeated [default: 0.1 to 1, and 0.001 to 0.01]
    #[arg(long, value_name = "LIST")]
    steps: Vec<String>,
    /// Steps are multiples of the length of the model's weights
    #[arg(long)]
    relative: bool,
    /// Stop at the first direction that rises
    #[arg(long)]
    stop_at_first: bool,
    /// Also test random weights of the same length, which should fail
    #[arg(long)]
    control: bool,
    /// Also move each weight alone, up and down
    #[arg(long)]
    each_weight: bool,
    /// The seed of the directions
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Draw the measure along a few directions, and the envelope of all, as SVG
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Replace the figure if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    judging: EvaluationArgs,
    /// Where to compute: auto, or a name that 'burnrank devices' lists
    #[arg(long, value_name = "NAME", default_value = "auto")]
    device: String,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let figure = Output::of_option(args.figure.as_deref(), "--figure", args.force)?;
    let options = options(args)?;
    let metric = args.judging.metric(&args.metric)?;
    let device = device::open(&args.device)?;
    let model = Model::load(&args.model, &device)?;
    let ranker = model.scorer.net().with_context(|| {
        let (folder, found) = (args.model.display(), &model.info.ranker.architecture);
        format!("{folder}: a model of {found}: a certificate moves the weights of a net: give a linear net or an mlp")
    })?;
    let data = scaled(&model, input::read_data(&args.data, &args.reading)?, &input::name(&args.data))?;
    data.load()?;
    note_unreached(&input::name(&args.data), std::slice::from_ref(&metric), data.labels(), data.offsets());
    let bar = |what: &str| Bar::new(what, Unit::Share);
    let found = watch(bar("certifying"), |progress| certify(ranker, &data, &*metric, &device, &options, progress))?;
    let control = args.control.then(|| {
        watch(bar("random weights"), |progress| certify_control(ranker, &data, &*metric, &device, &options, progress))
    });
    let control = control.transpose()?;
    let alone = args.each_weight.then(|| weights(ranker, &data, &*metric, &device, &options)).transpose()?;
    if let Some(figure) = &figure {
        figure::certificate(figure, &found)?;
    }
    if args.json {
        let mut report =
            json!({ "model": args.model.display().to_string(), "data": input::name(&args.data), "certificate": found });
        report["holds"] = found.holds().into();
        if let Some(control) = &control {
            report["control"] = serde_json::to_value(control)?;
        }
        if let Some(alone) = &alone {
            report["each_weight"] = serde_json::to_value(alone)?;
        }
        return ui::print_json(&report);
    }
    let mut text = paragraph(&verdict(&found)) + "\n" + &table(&found, control.as_ref());
    if let Some(control) = &control {
        text += &("\n".to_owned() + &paragraph(&control_verdict(control)));
    }
    if let Some(alone) = &alone {
        text += &weights_text(alone);
    }
    text += &("\n".to_owned() + &about(args, &model, &found));
    ui::print(&text)
}

fn options(args: &Args) -> anyhow::Result<CertifyOptions> {
    let mut options = CertifyOptions {
        epsilon: args.epsilon,
        delta: args.delta,
        directions: args.directions,
        relative: args.relative,
        stop_at_first: args.stop_at_first,
        seed: args.seed,
        conventions: args.judging.conventions(),
        ..CertifyOptions::default()
    };
    args.judging.check()?;
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

/// The data as the model's net sees it.
pub fn scaled(model: &Model, data: Dataset, name: &str) -> anyhow::Result<Dataset> {
    let width = data.n_features();
    let data = model.scaled(data).with_context(|| name.to_owned())?;
    widths::tell(name, width, model.info.ranker.features);
    Ok(data)
}

/// Shows how far the work has come.
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

/// Whether the model is at a local optimum, and how sure that is.
fn verdict(found: &Certificate) -> String {
    let (metric, tried) = (&found.metric, counted(found.directions, "random direction", "random directions"));
    let (verb, verbs) = if found.cost { ("lower", "lowers") } else { ("raise", "raises") };
    let rising = found.reports.iter().filter(|report| !report.holds());
    if let Some(report) = rising.max_by(|a, b| a.best.rise.total_cmp(&b.best.rise)) {
        let best = report.best;
        return format!(
            "{}: at steps of {}, {} of {tried} {verb} {metric}, at best from {} to {} (direction {}, step {}).",
            heading("Not a local optimum"),
            step_range(&report.steps),
            count(report.rising),
            number(found.value),
            number(best.value),
            best.direction,
            number(best.step)
        );
    }
    let share = found.reports.iter().filter_map(|report| report.share).fold(0.0, f64::max);
    format!(
        "{}: {metric} is {}, and none of {tried} {verbs} it. At {} confidence, fewer than {} of all directions do.",
        heading("No sign against a local optimum"),
        number(found.value),
        share_text(1.0 - found.delta),
        share_text(share)
    )
}

/// What each set of steps showed.
fn table(found: &Certificate, control: Option<&Certificate>) -> String {
    let mut table = Table::new(&[
        ("weights", Align::Left),
        ("steps", Align::Left),
        (if found.cost { "lower" } else { "higher" }, Align::Right),
        ("equal", Align::Right),
        ("best change", Align::Right),
        ("at step", Align::Right),
    ]);
    let rows = std::iter::once(("the model's", found)).chain(control.map(|control| ("random", control)));
    for (whose, certificate) in rows {
        for report in &certificate.reports {
            let change = if found.cost { -report.best.rise } else { report.best.rise };
            table.row([
                whose.to_owned(),
                step_range(&report.steps),
                format!("{} of {}", count(report.rising), count(report.directions)),
                count(report.flat),
                signed(change),
                number(report.best.step),
            ]);
        }
    }
    ui::table(&table)
}

fn control_verdict(control: &Certificate) -> String {
    let value = format!("random weights of the same length ({} {})", control.metric, number(control.value));
    if control.holds() {
        format!(
            "The control fails: {value} are not refuted, so this test cannot tell good weights from random ones here."
        )
    } else {
        format!("The control works: {value} are no local optimum.")
    }
}

/// What was judged, and how, one line each.
fn about(args: &Args, model: &Model, found: &Certificate) -> String {
    let lines = [
        format!(
            "{}: {}, {} of length {}",
            input::name(&args.model),
            model.info.ranker.architecture,
            counted(found.weights, "weight", "weights"),
            number(found.length)
        ),
        format!(
            "{}: {}, {}",
            input::name(&args.data),
            counted(found.queries, "query", "queries"),
            counted(found.documents, "document", "documents")
        ),
        format!(
            "epsilon {}, delta {}: {}, seed {}",
            share_text(found.epsilon),
            share_text(found.delta),
            counted(found.planned_directions, "direction", "directions"),
            found.seed
        ),
        found.conventions.clone(),
    ];
    lines.iter().map(|line| paragraph(line)).collect()
}

/// The first and the last step, as in "0.1 to 1".
fn step_range(steps: &[f64]) -> String {
    match steps {
        [] => "none".to_owned(),
        [only] => number(*only),
        [first, .., last] => format!("{} to {}", number(*first), number(*last)),
    }
}

fn share_text(share: f64) -> String {
    format!("{}%", number(100.0 * share))
}

/// A change: the sign is part of it.
fn signed(change: f64) -> String {
    if change > 0.0 { format!("+{}", number(change)) } else { number(change) }
}

/// How many of the weights with the largest rises are listed.
const LISTED: usize = 10;

fn weights_text(alone: &EachWeight) -> String {
    let (best, all) = (alone.best_as_learned, counted(alone.weights.len(), "weight", "weights"));
    let mut text = if alone.holds() {
        format!("\nEach weight alone: all of {all} are best where they are.\n")
    } else {
        format!("\nEach weight alone: {} of {all} are best where they are.\n", count(best))
    };
    let mut movable: Vec<_> = alone.weights.iter().filter(|weight| weight.step != 0.0).collect();
    movable.sort_by(|a, b| b.rise.total_cmp(&a.rise));
    if !movable.is_empty() {
        let mut table = Table::new(&[
            ("weight", Align::Left),
            ("value", Align::Right),
            ("better by", Align::Right),
            ("change", Align::Right),
        ]);
        for weight in movable.iter().take(LISTED) {
            let change = if alone.cost { -weight.rise } else { weight.rise };
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
    fn numbers_are_as_people_write_them() {
        assert_eq!([0.5, -0.5, 0.0].map(signed), ["+0.5", "-0.5", "0"]);
        assert_eq!(share_text(0.1), "10%");
        assert_eq!((step_range(&[0.1, 0.2, 1.0]), step_range(&[0.5])), ("0.1 to 1".into(), "0.5".into()));
    }
}
