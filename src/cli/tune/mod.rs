//! `burnrank tune`: which settings, by search on the validation queries.

pub mod command;
mod report;
mod space;

use super::figure;
use super::input::ReadArgs;
use super::interrupt::Graceful;
use super::output::Output;
use super::protect;
use super::train::{self, Warning, features};
use super::ui::{self, Bar, Unit};
use super::{Interrupted, Usage};
use anyhow::anyhow;
use burnrank::data::find_folds;
use burnrank::distributed::Member;
use burnrank::metric::DEFAULT_METRIC;
use burnrank::train::{HoldOut, RunFiles, Splits};
use burnrank::tune::{
    Before, Choices, Ended, Found, Journal, Part, Progress, RUNGS, Search, Space, Surroundings, TuneData,
};
use burnrank::{Error, Objective, TrainConfig, device};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  burnrank tune --train train.txt --valid vali.txt
      40 ways to train, compared; ends with the command that trains the best
  burnrank tune --train train.txt --objective ndcg-loss2++:mu=5 --seconds 600
      for ten minutes at most
  burnrank tune --folds MQ2008 --out search
      on all folds; test files are not opened
  burnrank tune --folds MQ2008 --out search --resume
      goes on after an interruption
  burnrank tune --print-space > space.toml
  burnrank tune --train train.txt --space space.toml --trials 100

The first trial is the default: what 'burnrank train --model mlp' does without further options ('--model trees' if only \
trees are searched). All trials are trained for a ninth of their epochs, the best third for a third, the best third of \
these and the default for all of them. Values are those of the validation queries: each half is evaluated after the \
epoch that the other half chose. The expected gain over the default is estimated in the same way: settings chosen on one \
half are evaluated on the other.

--out keeps journal.jsonl (every trial, query by query; --resume goes on with it), results.json and figure.svg (the value \
against each setting). Ctrl-C prints what was found so far, and exits with code 130. With --trials alone the same seed \
gives the same result, whatever the number of threads.";

/// Find good settings, by search on the validation queries
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Training data
    #[arg(long, value_name = "FILE", required_unless_present_any = ["folds", "print_space"], conflicts_with = "folds")]
    train: Option<PathBuf>,
    /// Validation data, which settings are chosen by; without it, one in five training queries
    #[arg(long, value_name = "FILE", requires = "train")]
    valid: Option<PathBuf>,
    /// The query file of the validation data, as --query-file is that of the training data
    #[arg(long, value_name = "FILE", requires = "valid")]
    valid_query_file: Option<PathBuf>,
    /// A folder of Fold1, Fold2, ... with train.txt and vali.txt: settings are chosen by all of them together
    #[arg(long, value_name = "DIR")]
    folds: Option<PathBuf>,
    /// The number of features, where the training data leaves out the last ones, which then are 0
    #[arg(long, value_name = "N", value_parser = features)]
    features: Option<usize>,
    /// What is searched, as --print-space prints it; what the file does not name stays at its default
    #[arg(long, value_name = "FILE")]
    space: Option<PathBuf>,
    /// Print what is searched without --space, as a file to start from
    #[arg(long)]
    print_space: bool,
    /// Search these objectives alone, with commas between them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    objective: Vec<Objective>,
    /// How many settings are tried
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    trials: u32,
    /// Begin no further epoch after so many seconds
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// The measure that epochs and settings are chosen by
    #[arg(long, value_name = "METRIC", default_value = DEFAULT_METRIC)]
    metric: String,
    /// The most epochs of a net, or trees [default: 100 and 500]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Stop a run after this many epochs or trees without a better validation value; 0 never stops [default: 20 and 50]
    #[arg(long, value_name = "EPOCHS")]
    patience: Option<usize>,
    /// Seed of everything random
    #[arg(long, default_value_t = TrainConfig::default().seed)]
    seed: u64,
    /// Where to compute: auto, or a name that 'burnrank devices' lists
    #[arg(long, value_name = "NAME", default_value = "auto")]
    device: String,
    /// Where journal, results and figure go
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the search in --out, if there is one
    #[arg(long, requires = "out")]
    resume: bool,
    /// Discard the search in --out, if there is one
    #[arg(long, requires = "out", conflicts_with = "resume")]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
}

impl Args {
    fn search(&self) -> anyhow::Result<Search> {
        let mut space = match &self.space {
            Some(path) => space::read(path)?,
            None => Space::standard(),
        };
        if !self.objective.is_empty() {
            let names = self.objective.iter().map(Objective::name).collect();
            space.set(Part::Objective, "objective", Choices::List(names))?;
        }
        let Some(until) = self.seconds.map_or(Some(None), |seconds| limit(seconds).map(Some)) else {
            let message = format!("--seconds {}: expected a number above 0", self.seconds.unwrap_or_default());
            return Err(Usage(message).into());
        };
        let search = Search {
            space,
            trials: self.trials as usize,
            metric: self.metric.clone(),
            seed: self.seed,
            epochs: self.epochs,
            patience: self.patience,
            until,
        };
        search.check()?;
        Ok(search)
    }

    /// All folds, read and made alike. Test data is not opened.
    fn read(&self, search: &Search) -> anyhow::Result<(Vec<Splits>, Vec<Warning>)> {
        let mut all = Vec::new();
        if let Some(folder) = &self.folds {
            if self.read.query_file.is_some() {
                let message = "--query-file is for --train: with --folds, put FILE.query beside each file";
                return Err(Usage(message.into()).into());
            }
            for fold in find_folds(folder)? {
                let [train, valid] = [&fold.train, &fold.vali].map(|path| train::read(path, &self.read));
                all.push(Splits::new(train?, valid?, None));
            }
        } else if let Some(path) = &self.train {
            let files = RunFiles { train: path, valid: self.valid.as_deref(), test: None, targets: None };
            let hold_out = HoldOut::Fifth { seed: self.seed, members: 1 };
            let query_files = [self.valid_query_file.as_ref(), None];
            all.push(train::read_all(&files, hold_out, &self.read, query_files)?.0);
        }
        let (config, mut warnings) = (search.config(0, 1)?, Vec::new());
        for splits in &mut all {
            train::fit_widths(splits, self.features)?;
            splits.check_pairs(&config, false)?;
            warnings.extend(train::warnings_of(splits, &config, self.read.first_index)?);
        }
        warnings.iter().for_each(Warning::tell);
        Ok((all, warnings))
    }

    /// Why there is nothing to print, and what to do about it.
    fn without_result(&self, found: &Found, resume: &str) -> anyhow::Error {
        if found.ended == Ended::Stopped {
            ui::note(&format!("interrupted before a trial was finished: there is no result{resume}"));
            return Interrupted.into();
        }
        let failed = ui::counted(found.trials.len(), "trial", "trials");
        match found.trials.iter().find_map(|trial| trial.failure.as_deref()) {
            Some(why) => anyhow!("there is no result: {failed} failed, the first: {why}"),
            None => anyhow!(
                "--seconds {}: no trial was finished in this time, there is no result: allow more seconds, or lower \
                 --epochs{resume}",
                self.seconds.unwrap_or_default()
            ),
        }
    }

    fn before(&self) -> Before {
        match (self.resume, self.force) {
            (true, _) => Before::GoOn,
            (_, true) => Before::Discard,
            _ => Before::Refuse,
        }
    }
}

/// A moment after now.
fn limit(seconds: f64) -> Option<Instant> {
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())?;
    Instant::now().checked_add(time)
}

pub fn run(args: &Args, member: Option<&Member>) -> anyhow::Result<()> {
    if args.print_space {
        return ui::print(&space::text(&Space::standard()));
    }
    let start = Instant::now();
    let search = args.search()?;
    let (backend, device) = (device::resolve(&args.device)?, device::open(&args.device)?);
    // Only the first of several processes writes.
    let member = member.cloned().unwrap_or_else(Member::alone);
    let out = args.out.as_deref().filter(|_| member.leads());
    out.map_or(Ok(()), |out| check_free(out, args))?;
    let (sets, warnings) = args.read(&search)?;
    let data = TuneData::new(sets.iter().map(|sets| [&sets.train.data, &sets.valid.data]).collect(), args.seed)?;
    let journal = match out {
        Some(out) => {
            std::fs::create_dir_all(out).map_err(|error| Error::io(out, "create", error))?;
            let identity = search.identity(&data, backend.name());
            Some(Journal::open(&out.join("journal.jsonl"), &identity, args.before())?)
        }
        None => None,
    };
    if let Some(known) = journal.as_ref().map(Journal::n_known).filter(|known| *known > 0) {
        ui::note(&format!("going on with {} from before", ui::counted(known, "result", "results")));
    }
    let _graceful = Graceful::new();
    let shown = Shown::default();
    let found = search.run(
        &data,
        &Surroundings {
            device: &device,
            stop: Graceful::stop(),
            journal: journal.as_ref(),
            progress: &|progress| shown.show(progress),
            member,
        },
    )?;
    drop(shown);
    let resume = if out.is_some() { "; continue with --resume" } else { "" };
    if found.ranked().is_empty() {
        return Err(args.without_result(&found, resume));
    }
    let report = report::Report::new(args, &found, &data, &warnings)?;
    // The result first: a full disk must not lose it.
    let printed = match args.json {
        true => ui::print_json(&report.json),
        false => ui::print(&report.text(&found, start.elapsed().as_secs_f64())),
    };
    let kept = out.map_or(Ok(()), |out| keep(out, args, &report, &found));
    let unwritten = journal.as_ref().and_then(Journal::failure).map(|error| {
        anyhow::Error::new(error).context("the journal is not complete, so --resume repeats what it lacks")
    });
    let failures = [printed.err(), unwritten, kept.err()];
    let mut failures = failures.into_iter().flatten();
    if found.ended == Ended::Stopped {
        failures.for_each(|error| ui::note(&format!("{error:#}")));
        ui::note(&format!("interrupted: this is what was found so far{resume}"));
        return Err(Interrupted.into());
    }
    let first = failures.next();
    failures.for_each(|error| ui::note(&format!("{error:#}")));
    first.map_or(Ok(()), Err)
}

/// Refuses a folder that is something else, or holds another search, before any data is read.
fn check_free(out: &Path, args: &Args) -> anyhow::Result<()> {
    protect::check_not_model(out, "--out")?;
    let journal = out.join("journal.jsonl");
    protect::check_not_input(&journal, "--out")?;
    let started = journal.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if started && !args.force && !args.resume {
        let (journal, or) = (journal.display(), "choose another --out, or replace it with --force");
        anyhow::bail!("{journal} exists already: continue this search with --resume, {or}");
    }
    for name in [RESULTS, FIGURE] {
        Output::new(&out.join(name), "--out", args.force || (args.resume && journal.is_file()))?;
    }
    Ok(())
}

/// The files beside the journal.
const RESULTS: &str = "results.json";
const FIGURE: &str = "figure.svg";

/// Writes what was found, beside the journal.
fn keep(out: &Path, args: &Args, report: &report::Report, found: &Found) -> anyhow::Result<()> {
    let output = |name: &str| Output::new(&out.join(name), "--out", args.force || args.resume);
    output(RESULTS)?.write_text(&(serde_json::to_string_pretty(&report.json)? + "\n"))?;
    if found.ranked().len() > 1 {
        figure::settings(&output(FIGURE)?, found)?;
    }
    Ok(())
}

/// What a user sees of a search on standard error: a bar for each rung.
#[derive(Default)]
struct Shown(Mutex<Option<(usize, Bar)>>);

impl Shown {
    fn show(&self, Progress { rung, trials, done }: Progress) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.as_ref().is_none_or(|(shown, _)| *shown != rung) {
            let title = format!("rung {rung} of {RUNGS}, {}", ui::counted(trials, "trial", "trials"));
            *shown = Some((rung, Bar::new(&title, Unit::Share)));
        }
        if let Some((_, bar)) = shown.as_ref() {
            bar.update((1000 * done / trials.max(1)) as u64, Some(1000));
        }
    }
}
