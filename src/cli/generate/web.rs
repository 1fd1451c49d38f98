//! `burnrank generate web`: semi-artificial data in the shape of judged web pages.

use super::{Args, mix};
use crate::cli::Usage;
use crate::cli::input::{self, ReadArgs, read_data};
use anyhow::{Context, bail};
use burnrank::data::synthetic::{Web, WebGenerator};
use std::path::PathBuf;

/// The options that only web data has.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Web")]
pub struct WebArgs {
    /// Which fitted function labels the documents [default: 0]
    #[arg(long, value_name = "N")]
    teacher: Option<u64>,
    /// The part of the variance behind the labels that is noise, from 0 to 1 [default: 0.7]
    #[arg(long, value_name = "PART")]
    noise: Option<f64>,
    /// Data of your own: features are resampled from its rows, and the teacher is fitted to its labels; its first index is
    /// that of --first-index
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,
}

impl WebArgs {
    /// For kinds of data that have no teacher.
    pub fn refuse(&self) -> anyhow::Result<()> {
        if self.teacher.is_some() || self.noise.is_some() || self.like.is_some() {
            bail!(Usage("--teacher, --noise and --like are for 'generate web': other data has none of them".into()));
        }
        Ok(())
    }
}

/// The generator that the options ask for.
pub fn generator(args: &Args) -> anyhow::Result<WebGenerator> {
    if args.hidden.is_some() || args.activation.is_some() {
        bail!(Usage("--hidden and --activation are for 'generate net': web data is not labelled by a net".into()));
    }
    if args.features.is_some() {
        bail!(Usage("web data has 136 features, or those of --like FILE: leave out --features".into()));
    }
    let usual = Web::default();
    let mut web = Web {
        queries: args.queries.unwrap_or(usual.queries),
        documents: args.documents.unwrap_or(usual.documents),
        mix: mix(args, usual.mix)?,
        noise: args.web.noise.unwrap_or(usual.noise),
        teacher: args.web.teacher.unwrap_or(usual.teacher),
        seed: args.seed,
    };
    let Some(path) = &args.web.like else { return Ok(web.generator()?) };
    // What makes no sense whatever the rows is told before they are read.
    web.check()?;
    let reading = ReadArgs { first_index: args.first_index, ..ReadArgs::default() };
    let rows = read_data(path, &reading)?;
    rows.load()?;
    if args.documents.is_none() && rows.n_queries() > 0 {
        web.documents = rows.n_documents().div_ceil(rows.n_queries()).max(1);
    }
    web.generator_like(rows).with_context(|| input::name(path))
}
