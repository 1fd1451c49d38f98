//! `burnrank train` without data: a demonstration on the RankNet paper's artificial net data, with three objectives or `--objective`.

use super::epochs::run_epochs;
use super::output::RunOutput;
use super::warnings::{self, Warning};
use super::{Args, data};
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::prose::paragraph;
use crate::cli::ui::{self, Align, Table};
use burnrank::setting::Method;
use burnrank::train::{Ensemble, Split, Splits, report_metrics};
use burnrank::{Device, Model, Objective, Synthetic, TrainConfig};
use serde_json::json;

/// The default objectives, and the names of their model folders.
const OBJECTIVES: [(&str, &str); 3] =
    [("ranknet", "net-ranknet"), ("lambdarank:ndcg", "net-lambdarank"), ("ndcg-loss2++:mu=5", "net-ndcg-loss2pp")];

/// The paper's 800 training, 100 validation and 100 test queries of 50 documents.
const PARTS: [std::ops::Range<usize>; 3] = [0..800, 800..900, 900..1000];

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
        return Ok(vec![(Objective::default(), format!("net-{}", model.kind.name))]);
    }
    match args.settings.stated("objective") {
        None => OBJECTIVES.into_iter().map(named).collect(),
        Some(name) => {
            let objective = Objective::parse(name)?;
            let default = OBJECTIVES.iter().find(|(name, _)| *name == objective.name());
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            let folder = || format!("net-{}", objective.name().chars().map(plain).collect::<String>());
            let folder = default.map_or_else(folder, |(_, folder)| (*folder).to_owned());
            Ok(vec![(objective, folder)])
        }
    }
}

pub fn run(args: &Args, config: TrainConfig, device: &Device) -> anyhow::Result<()> {
    let config = args.settings.of_demonstration(config)?;
    let generator = Synthetic { seed: config.seed, ..Synthetic::net() }.generator()?;
    let source = "random net, 50 features, 6 labels (RankNet paper, section 5.1)";
    let part = |place: usize| -> anyhow::Result<Split> {
        Ok(Split::new(source.into(), generator.part(PARTS[place].clone())?.0))
    };
    let objectives = objectives(args)?;
    let mut splits = Splits::new(part(0)?, part(1)?, Some(part(2)?));
    let claim = |name: &str| args.out.as_ref().map(|out| args.claim(&out.join(name))).transpose();
    // The first claim creates the parent folder and must be released last, hence the reversed order.
    let mut outs = objectives.iter().rev().map(|(_, name)| claim(name)).collect::<anyhow::Result<Vec<_>>>()?;
    outs.reverse();
    let mut output = RunOutput::new(args.json);
    if !args.json {
        let about = format!(
            "Demonstration, because --train FILE was not given: {source}. {} training, {} validation and {} test queries of \
             50 documents; {}{}.",
            PARTS[0].len(),
            PARTS[1].len(),
            PARTS[2].len(),
            config.architecture,
            if config.method == Method::Gradient { format!(", {}", config.optimizer) } else { String::new() }
        );
        output.print(&(paragraph(&about) + "\n"));
    }
    let _graceful = Graceful::new();
    data::fit_widths(&mut splits, args.features)?;
    let mut warnings = warnings::before_training(&splits, &config, args.read.first_index)?;
    let data = data::scale(&mut splits, &config, None)?;
    let mut metrics = report_metrics(&config.metric)?;
    metrics.push(burnrank::metric::parse("pairs")?);
    let mut columns = vec![("test queries", Align::Left), ("best epoch", Align::Right), ("seconds", Align::Right)];
    let names: Vec<String> = metrics.iter().map(|metric| metric.name()).collect();
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    let mut results = vec![];
    let mut conventions = String::new();
    for ((objective, _), out) in objectives.into_iter().zip(&outs) {
        let config = TrainConfig { objective, ..config.clone() };
        let objective = config.aim();
        let members = Ensemble::of(&config, args.settings.ensemble, &data, &[], device)?;
        let model = run_epochs(args, &config, members, None, &objective, &mut output)?;
        let Some(mut model) = model.filter(|_| !Graceful::asked()) else { return Err(Interrupted.into()) };
        data::describe(&splits, &mut model, &config)?;
        conventions = model.info.conventions.clone();
        warnings.extend(warnings::after_training(&model, &objective).inspect(Warning::print));
        let test = splits.test.as_ref().map_or(&splits.valid.data, |test| &test.data);
        let results_on_test = model.evaluate(test, &metrics)?;
        let values: Vec<f64> =
            names.iter().map(|name| results_on_test.get(name).copied().unwrap_or(f64::NAN)).collect();
        let (best_epoch, seconds) =
            (model.info.best_epoch, model.history.iter().map(|epoch| epoch.seconds).sum::<f64>());
        if let Some(out) = out {
            // Without the log, which has times: the shipped models must be reproducible to the byte.
            out.save(&Model { history: vec![], ..model })?;
            out.discard_checkpoint();
        }
        let cells = [objective.clone(), best_epoch.to_string(), format!("{seconds:.1}")];
        table.row(cells.into_iter().chain(values.iter().map(|&value| ui::decimals(value))));
        let named: serde_json::Map<_, _> = names.iter().cloned().zip(values.iter().map(|&v| json!(v))).collect();
        results.push(json!({"objective": objective, "best_epoch": best_epoch, "test": named}));
    }
    if args.json {
        let warnings: Vec<_> = warnings.iter().map(Warning::json).collect();
        let result = json!({"demo": results, "conventions": conventions, "warnings": warnings});
        output.print(&(serde_json::to_string(&result)? + "\n"));
        return output.finish(&args.models_location());
    }
    let saved = args.out.as_ref().map_or(String::new(), |out| format!("models: {}\n", out.display()));
    output.print(&(ui::table(&table) + &format!("\n{conventions}\n{saved}\n{NEXT}")));
    output.finish(&args.models_location())
}
