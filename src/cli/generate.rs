//! `burnrank generate`: artificial data with a known target.

use super::Usage;
use super::output;
use super::ui::{self, Bar, Unit, count};
use anyhow::bail;
use burnrank::data::synthetic::{LabelMix, Target, TargetActivation};
use burnrank::data::write_to;
use burnrank::{Synthetic, WriteOptions};
use clap::ValueEnum;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank generate net --queries 1000 --seed 1 --out all.txt
  burnrank generate polynomial --documents 20 --levels 3 --out all.txt.gz
  burnrank generate lambdarank --mix 6,3,1 | head -1

For training and test data of one target, generate once and then 'burnrank split all.txt --out parts'.";

/// Feature values that are made and written at a time.
const VALUES_AT_ONCE: usize = 1 << 22;

/// Make artificial data, as in the RankNet and LambdaRank papers
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The random function that documents are labelled by
    kind: Kind,
    /// Number of queries [default: 1000; lambdarank: 25000]
    #[arg(long, value_name = "N")]
    queries: Option<usize>,
    /// Documents per query [default: 50]
    #[arg(long, value_name = "N")]
    documents: Option<usize>,
    /// Number of features [default: 50]
    #[arg(long, value_name = "N")]
    features: Option<usize>,
    /// Number of labels, all equally frequent [default: 6; lambdarank: its mix of five]
    #[arg(long, value_name = "N", conflicts_with = "mix")]
    levels: Option<usize>,
    /// Shares of the labels from 0 up, as in 5,3,2, or 'web' for those of lambdarank
    #[arg(long, value_name = "SHARES")]
    mix: Option<LabelMix>,
    /// Hidden units of the net [default: 10]
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Function of the net's hidden units [default: sigmoid]
    #[arg(long, value_name = "NAME")]
    activation: Option<HiddenUnits>,
    /// What all random numbers follow from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// File to write; packed when it ends in .gz or .zst; '-' is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Index of the first feature: 0 or 1
    #[arg(long, value_name = "INDEX", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1))]
    first_index: u32,
    /// Print JSON about the file for machines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A random net of two layers (RankNet paper)
    Net,
    /// A random polynomial of degree three (RankNet paper)
    Polynomial,
    /// The polynomial with five unequally frequent labels (LambdaRank paper)
    Lambdarank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HiddenUnits {
    Sigmoid,
    Tanh,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if args.json && output::is_stdout(&args.out) {
        bail!(Usage("--json describes the written file: say where with --out FILE".into()));
    }
    let settings = settings(args)?;
    let generator = settings.generator()?;
    let bar = Bar::new("generating", Unit::Queries);
    let at_once = (VALUES_AT_ONCE / (settings.documents * settings.features)).max(1);
    let options = WriteOptions { first_index: args.first_index, ..WriteOptions::default() };
    output::write(&args.out, |writer| {
        for start in (0..settings.queries).step_by(at_once) {
            let end = start.saturating_add(at_once).min(settings.queries);
            write_to(writer, &generator.part(start..end)?.0, &options)?;
            bar.update(end as u64, Some(settings.queries as u64));
        }
        Ok(())
    })?;
    drop(bar);
    let documents = settings.queries.saturating_mul(settings.documents);
    if args.json {
        return ui::print_json(
            &json!({ "file": args.out.display().to_string(), "documents": documents, "settings": settings }),
        );
    }
    if output::is_stdout(&args.out) {
        return Ok(());
    }
    ui::print(&format!(
        "{}: {} queries, {} documents, {} features, labels 0 to {} in shares {}, seed {}\n",
        ui::printable(&args.out.display().to_string()),
        count(settings.queries),
        count(documents),
        count(settings.features),
        settings.mix.levels() - 1,
        settings.mix.shares().iter().map(|&share| ui::percent(share)).collect::<Vec<_>>().join(", "),
        settings.seed
    ))
}

fn settings(args: &Args) -> anyhow::Result<Synthetic> {
    let mut settings = match args.kind {
        Kind::Net => Synthetic::net(),
        Kind::Polynomial => Synthetic::polynomial(),
        Kind::Lambdarank => Synthetic::lambdarank(),
    };
    match &mut settings.target {
        Target::Net { hidden, activation } => {
            *hidden = args.hidden.unwrap_or(*hidden);
            *activation = match args.activation {
                Some(HiddenUnits::Sigmoid) => TargetActivation::Sigmoid,
                Some(HiddenUnits::Tanh) => TargetActivation::Tanh,
                None => *activation,
            };
        }
        Target::Polynomial if args.hidden.is_some() || args.activation.is_some() => {
            bail!(Usage("--hidden and --activation are for 'generate net': a polynomial has no hidden units".into()))
        }
        Target::Polynomial => (),
    }
    settings.queries = args.queries.unwrap_or(settings.queries);
    settings.documents = args.documents.unwrap_or(settings.documents);
    settings.features = args.features.unwrap_or(settings.features);
    settings.seed = args.seed;
    if let Some(levels) = args.levels {
        settings.mix = LabelMix::equal(levels)?;
    }
    if let Some(mix) = &args.mix {
        settings.mix = mix.clone();
    }
    Ok(settings)
}
