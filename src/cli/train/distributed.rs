//! A run that several processes train together: what can be, and what those do that neither write nor print.

use super::{Args, Choice, data};
use crate::cli::input::is_stdin;
use crate::cli::interrupt::Graceful;
use crate::cli::{Interrupted, Usage, ui};
use burnrank::distributed::Member;
use burnrank::setting::Method;
use burnrank::train::{Ensemble, RunFiles, report_metrics};
use burnrank::{Device, Finish, TrainConfig};
use std::ops::ControlFlow;
use std::path::Path;

/// The shares of a run under a launcher that names none: 12, which 2, 3, 4 and 6 processes divide evenly. Each share of a batch is
/// a computation of its own, so that small batches, of which few processes can have a part, are cut into 4.
fn shares(batch_queries: usize) -> usize {
    if batch_queries < 48 { 4 } else { 12 }
}

/// What the first process decides for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// The run is finished.
    Nothing,
    Train,
    Resume,
}

impl Plan {
    /// Tells the others, where there are any.
    pub fn tell(self, member: Option<&Member>) -> burnrank::Result<()> {
        member.map_or(Ok(()), |member| member.from_leader(|| Ok(vec![self as u8])).map(|_| ()))
    }

    fn hear(member: &Member) -> burnrank::Result<Self> {
        Ok(match member.from_leader(|| Ok(Vec::new()))?.first() {
            Some(1) => Plan::Train,
            Some(2) => Plan::Resume,
            _ => Plan::Nothing,
        })
    }
}

/// The settings of a run that was started by a launcher, in shares; what several processes cannot do is refused.
pub fn settings(args: &Args, config: TrainConfig, member: &Member) -> anyhow::Result<TrainConfig> {
    if member.size() > 1 {
        refuse(args, &config)?;
    }
    if !matches!(config.method, Method::Gradient) || args.train.is_none() {
        return Ok(config);
    }
    let config =
        TrainConfig { shares: if config.shares == 0 { shares(config.batch_queries) } else { config.shares }, ..config };
    if config.shares < member.size() {
        let (size, shares) = (member.size(), config.shares);
        ui::note(&format!(
            "{size} processes for {shares} shares: {} of them train nothing; --shares {size} gives each one, and \
                           another model",
            size - shares
        ));
    }
    Ok(config)
}

fn refuse(args: &Args, config: &TrainConfig) -> anyhow::Result<()> {
    let named = !matches!(args.settings.choice()?, Choice::Auto { .. });
    let alone = [
        ("--folds", args.folds.is_some(), "start one run per fold, or leave out the launcher"),
        (
            "the demonstration",
            args.train.is_none() && args.folds.is_none(),
            "give --train FILE, or leave out the launcher",
        ),
        ("the choice of a model (auto)", !named, "add --model mlp or --model linear, or leave out the launcher"),
        (
            "--model with this name",
            !matches!(config.method, Method::Gradient),
            "only nets are trained by several: --model mlp or --model linear, or leave out the launcher",
        ),
        ("--ensemble", args.settings.ensemble > 1, "start one run per seed, or leave out the launcher"),
        ("--repeat", args.repeat.is_some_and(|count| count > 1), "start one run per seed, or leave out the launcher"),
        ("--targets", args.targets.is_some(), "leave out the launcher"),
        ("--scale auto", args.settings.chooses_scaling(config), "name the scaling, as in --scale quantile"),
        (
            "standard input",
            [&args.train, &args.valid, &args.test].into_iter().flatten().any(|path| is_stdin(path)),
            "each of them reads the data: give a file",
        ),
    ];
    match alone.into_iter().find(|(_, given, _)| *given) {
        Some((what, _, remedy)) => Err(Usage(format!("{what} is not for several processes: {remedy}")).into()),
        None => Ok(()),
    }
}

/// The part of a run that every process but the first has: it trains what it holds, and writes and prints nothing.
pub fn assist(args: &Args, train: &Path, config: TrainConfig, device: &Device, member: &Member) -> anyhow::Result<()> {
    let files = RunFiles { train, valid: args.valid.as_deref(), test: None, targets: None };
    let query_files = [args.valid_query_file.as_ref(), None];
    let (mut splits, _) = data::read_all(&files, args.hold_out(), &args.read, query_files)?;
    data::fit_widths(&mut splits, args.features)?;
    splits.check_pairs(&config, false)?;
    let config = args.settings.suited(config, splits.train.data.n_queries())?;
    let plan = Plan::hear(member)?;
    if plan == Plan::Nothing {
        return Ok(());
    }
    let data = data::scale(&mut splits, &config, Some(member))?;
    let _graceful = Graceful::new();
    let members = Ensemble::of(&config, 1, &data, &[], device)?;
    let mut members = members.with_stop(&Graceful::stop()).with_metrics(&report_metrics(&config.metric)?);
    if plan == Plan::Resume {
        // The first process reads the file.
        members = members.resume(Path::new(""))?;
    }
    let stopped = members.run(|_, _| Ok(ControlFlow::Continue(())))? == Finish::Stopped;
    if stopped && members.history(0).is_empty() {
        return Err(Interrupted.into());
    }
    members.finish()?;
    if stopped { Err(Interrupted.into()) } else { Ok(()) }
}
