//! Training by several processes: the options that support it, and the part of the processes that neither write nor print.

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

/// Default number of shares under a launcher: 12, which 2, 3, 4 and 6 processes divide evenly. Each share of a batch is a
/// separate computation, so small batches are cut into only 4.
fn shares(batch_queries: usize) -> usize {
    if batch_queries < 48 { 4 } else { 12 }
}

/// What all processes do next, decided by the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The run is already finished.
    Exit,
    Train,
    Resume,
}

impl Action {
    /// Sends the action to the other processes, if any.
    pub fn send(self, member: Option<&Member>) -> burnrank::Result<()> {
        member.map_or(Ok(()), |member| member.broadcast(|| Ok(vec![self as u8])).map(|_| ()))
    }

    fn receive(member: &Member) -> burnrank::Result<Self> {
        Ok(match member.broadcast(|| Ok(Vec::new()))?.first() {
            Some(1) => Action::Train,
            Some(2) => Action::Resume,
            _ => Action::Exit,
        })
    }
}

/// The settings of a run under a launcher, with the number of shares. Refuses options that several processes do not support.
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
            "{size} processes for {shares} shares: {} of them stay idle; --shares {size} uses all, but trains a different model",
            size - shares
        ));
    }
    Ok(config)
}

fn refuse(args: &Args, config: &TrainConfig) -> anyhow::Result<()> {
    let is_auto = matches!(args.settings.choice()?, Choice::Auto { .. });
    let unsupported = [
        ("--folds", args.folds.is_some(), "start one run per fold, or run without the launcher"),
        (
            "the demonstration",
            args.train.is_none() && args.folds.is_none(),
            "add --train FILE, or run without the launcher",
        ),
        ("model selection (auto)", is_auto, "add --model mlp or --model linear, or run without the launcher"),
        (
            "this --model",
            !matches!(config.method, Method::Gradient),
            "use --model mlp or --model linear, or run without the launcher",
        ),
        ("--ensemble", args.settings.ensemble > 1, "start one run per seed, or run without the launcher"),
        ("--repeat", args.repeat.is_some_and(|count| count > 1), "start one run per seed, or run without the launcher"),
        ("--targets", args.targets.is_some(), "run without the launcher"),
        ("--scale auto", args.settings.chooses_scaling(config), "choose a scaling, as in --scale quantile"),
        (
            "standard input",
            [&args.train, &args.valid, &args.test].into_iter().flatten().any(|path| is_stdin(path)),
            "pass a file, which every process can read",
        ),
    ];
    match unsupported.into_iter().find(|(_, is_used, _)| *is_used) {
        Some((what, _, remedy)) => Err(Usage(format!("{what} does not work with several processes: {remedy}")).into()),
        None => Ok(()),
    }
}

/// The part of every process but the first: trains on its share of the data, writes and prints nothing.
pub fn assist(args: &Args, train: &Path, config: TrainConfig, device: &Device, member: &Member) -> anyhow::Result<()> {
    let files = RunFiles { train, valid: args.valid.as_deref(), test: None, targets: None };
    let query_files = [args.valid_query_file.as_ref(), None];
    let (mut splits, _) = data::read_all(&files, args.hold_out(), &args.read, query_files)?;
    data::fit_widths(&mut splits, args.features)?;
    splits.check_pairs(&config, false)?;
    let config = args.settings.suited(config, splits.train.data.n_queries())?;
    let action = Action::receive(member)?;
    if action == Action::Exit {
        return Ok(());
    }
    let data = data::scale(&mut splits, &config, Some(member))?;
    let _graceful = Graceful::new();
    let members = Ensemble::of(&config, 1, &data, &[], device)?;
    let mut members = members.with_stop(&Graceful::stop()).with_metrics(&report_metrics(&config.metric)?);
    if action == Action::Resume {
        // The first process reads the checkpoint.
        members = members.resume(Path::new(""))?;
    }
    let stopped = members.run(|_, _| Ok(ControlFlow::Continue(())))? == Finish::Stopped;
    if stopped && members.history(0).is_empty() {
        return Err(Interrupted.into());
    }
    members.finish()?;
    if stopped { Err(Interrupted.into()) } else { Ok(()) }
}
