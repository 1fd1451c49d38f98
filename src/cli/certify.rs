//! `burnrank certify`: is a model at a local optimum of a measure, and how sure is that?

use super::Usage;
use super::figure;
use super::input::{self, ReadArgs};
use super::judging::{JudgeArgs, known_metric};
use super::ui::{self, Align, Bar, Table, Unit, count, counted, heading};
use anyhow::bail;
use burnrank::{
    Certificate, CertifyOptions, Dataset, Device, EachWeight, Metric, Model, ScaleKind, certify, certify_control,
    device, each_weight,
};
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
    #[arg(long, short, value_name = "NAME", default_value = "ndcg@10", value_parser = known_metric)]
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
    #[command(flatten)]
    judging: JudgeArgs,
    /// Where to compute: auto, or one of the backends of this build
    #[arg(long, value_name = "NAME", default_value = "auto")]
    device: String,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let options = options(args)?;
    let metric = args.judging.metric(&args.metric)?;
    let device = device::open(&args.device)?;
    let model = Model::load(&args.model, &device)?;
    let data = scaled(&model, input::read_data(&args.data, &args.reading)?)?;
    let bar = |what: &str| Bar::new(what, Unit::Share);
    let found =
        watch(bar("certifying"), |progress| certify(&model.ranker, &data, &*metric, &device, &options, progress))?;
    let control = args.control.then(|| {
        watch(bar("random weights"), |progress| {
            certify_control(&model.ranker, &data, &*metric, &device, &options, progress)
        })
    });
    let control = control.transpose()?;
    let alone = args.each_weight.then(|| weights(&model, &data, &*metric, &device, &options)).transpose()?;
    if let Some(path) = &args.figure {
        figure::certificate(path, &found)?;
    }
    if args.json {
        let mut report = json!({ "model": args.model, "data": input::name(&args.data), "certificate": found });
        report["holds"] = found.holds().into();
        if let Some(control) = &control {
            report["control"] = serde_json::to_value(control)?;
        }
        if let Some(alone) = &alone {
            report["each_weight"] = serde_json::to_value(alone)?;
        }
        return ui::print_json(&report);
    }
    let mut text = header(args, &model, &found);
    text += &section("the model", &found);
    if let Some(control) = &control {
        text += &section("random weights of the same length", control);
        if control.holds() {
            text += "  The control is not refuted: this test cannot tell good weights from random ones here.\n";
        }
    }
    if let Some(alone) = &alone {
        text += &weights_text(alone);
    }
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
pub fn scaled(model: &Model, data: Dataset) -> anyhow::Result<Dataset> {
    let expected = model.info.ranker.features;
    if data.n_features() > expected {
        bail!(
            "the data has {} features, the model was trained on {expected}: use the same feature set",
            data.n_features()
        );
    }
    let mut data = data.with_width(expected);
    if model.info.scaler.kind() != ScaleKind::None {
        model.info.scaler.apply(&mut data)?;
    }
    Ok(data)
}

/// Shows how far the work has come.
fn watch<T>(bar: Bar, work: impl FnOnce(&mut dyn FnMut(f64)) -> T) -> T {
    work(&mut |share| bar.update((share * 1000.0) as u64, Some(1000)))
}

fn weights(
    model: &Model,
    data: &Dataset,
    metric: &dyn Metric,
    device: &Device,
    options: &CertifyOptions,
) -> burnrank::Result<EachWeight> {
    watch(Bar::new("each weight", Unit::Share), |progress| {
        each_weight(&model.ranker, data, metric, device, options, progress)
    })
}

fn header(args: &Args, model: &Model, found: &Certificate) -> String {
    let lines = [
        (
            "model",
            format!(
                "{}: {}, {} weights",
                input::name(&args.model),
                model.info.ranker.architecture,
                count(found.weights)
            ),
        ),
        (
            "data",
            format!(
                "{}: {}, {}",
                input::name(&args.data),
                counted(found.queries, "query", "queries"),
                counted(found.documents, "document", "documents")
            ),
        ),
        ("measure", format!("{}; {}", found.metric, found.conventions)),
        (
            "test",
            format!(
                "epsilon {}, delta {}: {} directions, seed {}",
                found.epsilon,
                found.delta,
                count(found.planned),
                found.seed
            ),
        ),
    ];
    lines.iter().map(|(name, what)| format!("{name:<8}  {what}\n")).collect()
}

fn section(what: &str, found: &Certificate) -> String {
    let mut text =
        format!("\n{}\n  {} {:.6}, weights of length {:.4}\n", heading(what), found.metric, found.value, found.length);
    for report in &found.reports {
        text += &format!("  {}\n", report.statement);
        if report.holds() {
            let (rise, best) = (report.best.rise, report.best);
            text +=
                &format!("  Nearest to a rise: {rise:.3e} along direction {} at step {}.\n", best.direction, best.step);
        }
    }
    text
}

/// How many of the weights with the largest rises are listed.
const LISTED: usize = 10;

fn weights_text(alone: &EachWeight) -> String {
    let mut text = format!(
        "\n{}\n  {} of {} are best where they are\n",
        heading("each weight alone"),
        count(alone.best_as_learned),
        counted(alone.weights.len(), "weight", "weights")
    );
    let mut movable: Vec<_> = alone.weights.iter().filter(|weight| weight.step != 0.0).collect();
    movable.sort_by(|a, b| b.rise.total_cmp(&a.rise));
    if !movable.is_empty() {
        let mut table = Table::new(&[
            ("weight", Align::Left),
            ("value", Align::Right),
            ("better by", Align::Right),
            ("rise", Align::Right),
        ]);
        for weight in movable.iter().take(LISTED) {
            let (value, step, rise) = (weight.weight, weight.step, weight.rise);
            table.row([weight.name.clone(), format!("{value:.4}"), format!("{step:+}"), format!("{rise:.3e}")]);
        }
        text += &table.render();
    }
    text
}
