//! `burnrank train` without data: the RankNet paper's artificial net data, three objectives or the one asked for, one table.

use super::output::RunOutput;
use super::run::train_with;
use super::warn::{self, Warning};
use super::{Args, data};
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::prose::paragraph;
use crate::cli::ui::{self, Align, Table};
use burnrank::setting::Method;
use burnrank::train::{Ensemble, Split, Splits, report_metrics};
use burnrank::{Device, Model, Objective, Synthetic, TrainConfig};
use serde_json::json;

/// The objectives of the table, and the names of their model folders.
const OBJECTIVES: [(&str, &str); 3] =
    [("ranknet", "net-ranknet"), ("lambdarank:ndcg", "net-lambdarank"), ("ndcg-loss2++:mu=5", "net-ndcg-loss2pp")];

/// The paper's 800 training, 100 validation and 100 test queries of 50 documents.
const PARTS: [std::ops::Range<usize>; 3] = [0..800, 800..900, 900..1000];

/// What to do after the demonstration.
const NEXT: &str = "\
Next, on data of your own (LETOR text, '<label> qid:<id> <index>:<value> ...'):
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
            let known = OBJECTIVES.iter().find(|(known, _)| *known == objective.name());
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            let folder = || format!("net-{}", objective.name().chars().map(plain).collect::<String>());
            let folder = known.map_or_else(folder, |(_, folder)| (*folder).to_owned());
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
    // The first that is claimed makes the folder of all, and must be the last to leave it.
    let mut outs = objectives.iter().rev().map(|(_, name)| claim(name)).collect::<anyhow::Result<Vec<_>>>()?;
    outs.reverse();
    let mut output = RunOutput::new(args.json);
    if !args.json {
        let about = format!(
            "No data given (--train FILE), so this is a demonstration: {source}. {} training, {} validation and {} test \
             queries of 50 documents; {}{}.",
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
    let mut odd = warn::before(&splits, &config, args.read.first_index)?;
    let data = data::scale(&mut splits, &config, None)?;
    let mut measures = report_metrics(&config.metric)?;
    measures.push(burnrank::metric::parse("pairs")?);
    let mut columns = vec![("test queries", Align::Left), ("best epoch", Align::Right), ("seconds", Align::Right)];
    let names: Vec<String> = measures.iter().map(|metric| metric.name()).collect();
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    let mut results = vec![];
    let mut conventions = String::new();
    for ((objective, _), out) in objectives.into_iter().zip(&outs) {
        let config = TrainConfig { objective, ..config.clone() };
        let objective = config.aim();
        let members = Ensemble::of(&config, args.settings.ensemble, &data, &[], device)?;
        let model = train_with(args, &config, members, None, &objective, &mut output)?;
        let Some(mut model) = model.filter(|_| !Graceful::asked()) else { return Err(Interrupted.into()) };
        data::describe(&splits, &mut model, &config)?;
        conventions = model.info.conventions.clone();
        odd.extend(warn::training(&model, &objective).inspect(Warning::tell));
        let test = splits.test.as_ref().map_or(&splits.valid.data, |test| &test.data);
        let found = model.evaluate(test, &measures)?;
        let values: Vec<f64> = names.iter().map(|name| found.get(name).copied().unwrap_or(f64::NAN)).collect();
        let (best_epoch, seconds) =
            (model.info.best_epoch, model.history.iter().map(|epoch| epoch.seconds).sum::<f64>());
        if let Some(out) = out {
            // Without the log, which holds times: the models that ship are the same whenever they are made.
            out.save(&Model { history: vec![], ..model })?;
            out.discard_checkpoint();
        }
        let cells = [objective.clone(), best_epoch.to_string(), format!("{seconds:.1}")];
        table.row(cells.into_iter().chain(values.iter().map(|&value| ui::decimals(value))));
        let named: serde_json::Map<_, _> = names.iter().cloned().zip(values.iter().map(|&v| json!(v))).collect();
        results.push(json!({"objective": objective, "best_epoch": best_epoch, "test": named}));
    }
    if args.json {
        let odd: Vec<_> = odd.iter().map(Warning::json).collect();
        let result = json!({"demo": results, "conventions": conventions, "warnings": odd});
        output.print(&(serde_json::to_string(&result)? + "\n"));
        return output.end(&args.kept());
    }
    let saved = args.out.as_ref().map_or(String::new(), |out| format!("models: {}\n", out.display()));
    output.print(&(ui::table(&table) + &format!("\n{conventions}\n{saved}\n{NEXT}")));
    output.end(&args.kept())
}
