//! `burnrank generate`: artificial data with a known target function.

mod web;

use super::Usage;
use super::output::{self, Output};
use super::ui::{self, Bar, Unit, count};
use anyhow::bail;
use burnrank::data::cache::{CacheOptions, CacheWriter};
use burnrank::data::synthetic::{Generator, LabelMix, Target, TargetActivation, WebGenerator};
use burnrank::data::write_to;
use burnrank::{Dataset, Synthetic, WriteOptions};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::ops::Range;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank generate net --queries 1000 --seed 1 --out all.txt
  burnrank generate polynomial --documents 20 --levels 3 --out all.txt.gz
  burnrank generate lambdarank --mix 6,3,1 | head -1
  burnrank generate web --queries 6000 --teacher 1 --out web.txt
  burnrank generate web --queries 100000 --out web.cache
  burnrank generate web --like train.txt --queries 1000 --out more.txt

For training and test data with the same target, generate all queries, then run 'burnrank split all.txt --out parts'.";

/// Number of feature values per generated block.
const BLOCK_VALUES: usize = 1 << 22;

/// Generate artificial data, as in the RankNet and LambdaRank papers, or similar to web search data
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Target function of the labels
    kind: Kind,
    /// Number of queries [default: 1000; lambdarank: 25000]
    #[arg(long, value_name = "N")]
    queries: Option<usize>,
    /// Documents per query; web: on average [default: 50; web: 120, or as in --like]
    #[arg(long, value_name = "N")]
    documents: Option<usize>,
    /// Number of features [default: 50; web: always 136, or as in --like]
    #[arg(long, value_name = "N")]
    features: Option<usize>,
    /// Number of equally frequent labels [default: 6; lambdarank and web: see --mix]
    #[arg(long, value_name = "N", conflicts_with = "mix")]
    levels: Option<usize>,
    /// Relative frequencies of the labels from 0 up, as in 5,3,2, or 'web' for five labels distributed as in web
    /// search data [default for lambdarank and web: web]
    #[arg(long, value_name = "SHARES")]
    mix: Option<LabelMix>,
    /// Hidden units of the net [default: 10]
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Activation of the net's hidden units: sigmoid or tanh [default: sigmoid]
    #[arg(long, value_name = "NAME")]
    activation: Option<TargetActivation>,
    /// Random seed; web: of everything except the teacher
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// File to write: compressed if it ends in .gz or .zst, a cache if it ends in .cache; '-' is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Index of the first feature: 0 or 1
    #[arg(long, value_name = "INDEX", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1))]
    first_index: u32,
    /// Print JSON about the file
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    web: web::WebArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Random two-layer net (RankNet paper)
    Net,
    /// Random cubic polynomial (RankNet paper)
    Polynomial,
    /// The polynomial with five labels of different frequencies (LambdaRank paper)
    Lambdarank,
    /// Similar to web search data: simulated features of text, links and clicks, or rows of --like; labels from a teacher
    /// (a fitted function) plus noise
    Web,
}

/// Generates the data in parts.
enum Source {
    Plain(Generator),
    Web(WebGenerator),
}

impl Source {
    fn part(&self, queries: Range<usize>) -> burnrank::Result<Dataset> {
        Ok(match self {
            Source::Plain(generator) => generator.part(queries)?.0,
            Source::Web(generator) => generator.part(queries)?.0,
        })
    }

    /// Number of queries, mean number of documents per query, and number of features.
    fn sizes(&self) -> (usize, usize, usize) {
        match self {
            Source::Plain(generator) => {
                let settings = generator.settings();
                (settings.queries, settings.documents, settings.features)
            }
            Source::Web(generator) => {
                (generator.settings().queries, generator.settings().documents, generator.n_features())
            }
        }
    }

    fn mix(&self) -> &LabelMix {
        match self {
            Source::Plain(generator) => &generator.settings().mix,
            Source::Web(generator) => &generator.settings().mix,
        }
    }

    fn settings(&self) -> Value {
        match self {
            Source::Plain(generator) => json!(generator.settings()),
            Source::Web(generator) => json!(generator.settings()),
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if args.json && output::is_stdout(&args.out) {
        bail!(Usage("--json needs a file to describe: set --out FILE".into()));
    }
    let out = Output::new(&args.out, "--out", args.force)?;
    let source = match args.kind {
        Kind::Web => Source::Web(web::generator(args)?),
        _ => Source::Plain(settings(args)?.generator()?),
    };
    let (queries, documents, features) = source.sizes();
    let bar = Bar::new("generating", Unit::Queries);
    let block = (BLOCK_VALUES / (documents * features)).max(1);
    let options = WriteOptions { first_index: args.first_index, ..WriteOptions::default() };
    let mut written = 0;
    let mut each = |write: &mut dyn FnMut(&Dataset) -> burnrank::Result<()>| -> burnrank::Result<()> {
        for start in (0..queries).step_by(block) {
            let end = start.saturating_add(block).min(queries);
            let part = source.part(start..end)?;
            write(&part)?;
            written += part.n_documents();
            bar.update(end as u64, Some(queries as u64));
        }
        Ok(())
    };
    if args.out.extension().is_some_and(|ending| ending == "cache") {
        let (first_index, keep_existing) = (args.first_index, !args.force);
        let options = CacheOptions { first_index, keep_existing, ..CacheOptions::default() };
        let mut writer = CacheWriter::create(&args.out, options)?;
        each(&mut |part| writer.push(part))?;
        out.explain(writer.finish(false))?;
    } else {
        out.write(|writer| each(&mut |part| write_to(writer, part, &options)))?;
    }
    drop(bar);
    if args.json {
        let file = args.out.display().to_string();
        return ui::print_json(&json!({ "file": file, "documents": written, "settings": source.settings() }));
    }
    if output::is_stdout(&args.out) {
        return Ok(());
    }
    let teacher = match &source {
        Source::Plain(_) => String::new(),
        Source::Web(generator) => format!(", teacher {}", generator.settings().teacher),
    };
    ui::print(&format!(
        "{}: {} queries, {} documents, {} features, labels 0 to {} in shares {}{teacher}, seed {}\n",
        ui::printable(&args.out.display().to_string()),
        count(queries),
        count(written),
        count(features),
        source.mix().levels() - 1,
        source.mix().shares().iter().map(|&share| ui::percent(share)).collect::<Vec<_>>().join(", "),
        args.seed
    ))
}

fn settings(args: &Args) -> anyhow::Result<Synthetic> {
    let mut settings = match args.kind {
        Kind::Net => Synthetic::net(),
        Kind::Polynomial => Synthetic::polynomial(),
        Kind::Lambdarank | Kind::Web => Synthetic::lambdarank(),
    };
    args.web.refuse()?;
    match &mut settings.target {
        Target::Net { hidden, activation } => {
            *hidden = args.hidden.unwrap_or(*hidden);
            *activation = args.activation.unwrap_or(*activation);
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
    settings.mix = mix(args, settings.mix)?;
    Ok(settings)
}

/// The relative frequencies of the labels.
fn mix(args: &Args, default: LabelMix) -> anyhow::Result<LabelMix> {
    Ok(match (&args.mix, args.levels) {
        (Some(mix), _) => mix.clone(),
        (None, Some(levels)) => LabelMix::equal(levels)?,
        (None, None) => default,
    })
}
