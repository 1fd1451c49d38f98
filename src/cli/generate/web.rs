//! `burnrank generate web`: semi-artificial data similar to web search data.

use super::{Args, mix};
use crate::cli::Usage;
use crate::cli::input::{self, ReadArgs, read_data};
use anyhow::{Context, bail};
use burnrank::data::synthetic::{Web, WebGenerator};
use std::path::PathBuf;

/// Options for web data only.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Web")]
pub struct WebArgs {
    /// Random seed of the teacher, the function that labels the documents [default: 0]
    #[arg(long, value_name = "N")]
    teacher: Option<u64>,
    /// Fraction of noise in the variance of the scores that determine the labels, from 0 to 1 [default: 0.7]
    #[arg(long, value_name = "PART")]
    noise: Option<f64>,
    /// Resample features from this data and fit the teacher to its labels; indices start at --first-index
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,
}

impl WebArgs {
    /// Refuses these options for other kinds of data.
    pub fn refuse(&self) -> anyhow::Result<()> {
        if self.teacher.is_some() || self.noise.is_some() || self.like.is_some() {
            bail!(Usage("--teacher, --noise and --like only work with 'generate web'".into()));
        }
        Ok(())
    }
}

/// The generator for the options.
pub fn generator(args: &Args) -> anyhow::Result<WebGenerator> {
    if args.hidden.is_some() || args.activation.is_some() {
        bail!(Usage("--hidden and --activation are for 'generate net': web data is not labelled by a net".into()));
    }
    if args.features.is_some() {
        bail!(Usage("web data has 136 features, or those of --like FILE: remove --features".into()));
    }
    let default = Web::default();
    let mut web = Web {
        queries: args.queries.unwrap_or(default.queries),
        documents: args.documents.unwrap_or(default.documents),
        mix: mix(args, default.mix)?,
        noise: args.web.noise.unwrap_or(default.noise),
        teacher: args.web.teacher.unwrap_or(default.teacher),
        seed: args.seed,
    };
    let Some(path) = &args.web.like else { return Ok(web.generator()?) };
    // Check settings that do not depend on the rows before reading them.
    web.check()?;
    let reading = ReadArgs { first_index: args.first_index, ..ReadArgs::default() };
    let rows = read_data(path, &reading)?;
    rows.load()?;
    if args.documents.is_none() && rows.n_queries() > 0 {
        web.documents = rows.n_documents().div_ceil(rows.n_queries()).max(1);
    }
    web.generator_like(rows).with_context(|| input::name(path))
}
