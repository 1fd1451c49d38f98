//! `burnrank tune`: searches for good settings on the validation queries.

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
use anyhow::{anyhow, bail};
use burnrank::data::find_folds;
use burnrank::distributed::Member;
use burnrank::metric::DEFAULT_METRIC;
use burnrank::model::ExportTarget;
use burnrank::train::{HoldOut, RunFiles, Splits};
use burnrank::tune::{
    Choices, ExistingJournal, Journal, Part, Progress, RUNGS, Search, SearchContext, SearchEnd, SearchResult, Space,
    TuneData,
};
use burnrank::{Error, Objective, TrainConfig, device};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  burnrank tune --train train.txt --valid vali.txt
      compare 40 trials, and print the command that trains the best one
  burnrank tune --train train.txt --objective ndcg-loss2++:mu=5 --seconds 600
      at most ten minutes
  burnrank tune --folds MQ2008 --out search
      on all folds; test files are not opened
  burnrank tune --folds MQ2008 --out search --resume
      continue an interrupted search
  burnrank tune --print-space > space.toml
  burnrank tune --train train.txt --space space.toml --trials 100

Trial 0 is the default: 'burnrank train --model mlp' without further options ('--model trees' if only trees are searched). \
Successive halving with factor 3: all trials train for a ninth of their epochs, the best third for a third of them, and the best \
third of these and the default to the end. Values are on the validation queries: each half is evaluated after the epoch \
that the other half selects. The expected gain over the default is estimated in the same way: settings selected on one half are \
evaluated on the other.

--out writes journal.jsonl (every trial with its values per query; --resume continues it), results.json and figure.svg (the \
metric by setting). Ctrl-C prints the results so far and exits with code 130. Without --seconds, the same seed gives the \
same result, with any number of threads.";

/// Search for good settings on the validation queries
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Training data
    #[arg(long, value_name = "FILE", required_unless_present_any = ["folds", "print_space"], conflicts_with = "folds")]
    train: Option<PathBuf>,
    /// Validation data, to select settings [default: one in five training queries]
    #[arg(long, value_name = "FILE", requires = "train")]
    valid: Option<PathBuf>,
    /// Query file of the validation data (see --query-file)
    #[arg(long, value_name = "FILE", requires = "valid")]
    valid_query_file: Option<PathBuf>,
    /// Folder of folds to select settings on; Fold1, Fold2, ..., each with train.txt and vali.txt
    #[arg(long, value_name = "DIR")]
    folds: Option<PathBuf>,
    /// Number of features, if the training data omits the last ones; they are 0
    #[arg(long, value_name = "N", value_parser = features)]
    features: Option<usize>,
    /// Search space, in the format of --print-space; settings not in the file keep their defaults
    #[arg(long, value_name = "FILE")]
    space: Option<PathBuf>,
    /// Print the default search space as a file to edit
    #[arg(long)]
    print_space: bool,
    /// Search only these objectives, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    objective: Vec<Objective>,
    /// Search only scalings and activation functions that an export format supports, as 'burnrank train --for'
    #[arg(long = "for", value_name = "NAME", default_value_t)]
    target: ExportTarget,
    /// Number of trials
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    trials: u32,
    /// Maximum time in seconds; no epoch starts after it
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Metric that selects epochs and settings
    #[arg(long, value_name = "METRIC", default_value = DEFAULT_METRIC)]
    metric: String,
    /// Maximum number of epochs of a net, or of trees [default: 100 for nets, 500 for trees]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Stop a trial after N epochs or trees without a better validation value; 0 disables this
    /// [default: 20 for nets, 50 for trees]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Random seed
    #[arg(long, default_value_t = TrainConfig::default().seed)]
    seed: u64,
    /// Device: auto, or a name listed by 'burnrank devices'
    #[arg(long, value_name = "NAME", default_value = "auto")]
    device: String,
    /// Folder for journal, results and figure
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the search in --out, if it exists
    #[arg(long, requires = "out")]
    resume: bool,
    /// Discard the search in --out, if it exists
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
        space.restrict(self.target)?;
        let Some(until) = self.seconds.map_or(Some(None), |seconds| deadline(seconds).map(Some)) else {
            bail!(Usage(format!("--seconds {}: expected a number above 0", self.seconds.unwrap_or_default())));
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

    /// Reads all folds and gives them the same number of features. Test data is not opened.
    fn read(&self, search: &Search) -> anyhow::Result<(Vec<Splits>, Vec<Warning>)> {
        let mut all = Vec::new();
        if let Some(folder) = &self.folds {
            if self.read.query_file.is_some() {
                bail!(Usage("--query-file does not work with --folds: put FILE.query next to each file".into()));
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
            warnings.extend(train::data_warnings(splits, &config, self.read.first_index)?);
        }
        warnings.iter().for_each(Warning::print);
        Ok((all, warnings))
    }

    /// The error of a search in which no trial finished.
    fn without_result(&self, result: &SearchResult, resume: &str) -> anyhow::Error {
        if result.ended == SearchEnd::Stopped {
            ui::note(&format!("interrupted before a trial finished: no result{resume}"));
            return Interrupted.into();
        }
        let failed = ui::counted(result.trials.len(), "trial", "trials");
        match result.trials.iter().find_map(|trial| trial.failure.as_deref()) {
            Some(why) => anyhow!("no result: {failed} failed, the first with: {why}"),
            None => anyhow!(
                "--seconds {}: no trial finished in this time: increase --seconds, or lower --epochs{resume}",
                self.seconds.unwrap_or_default()
            ),
        }
    }

    fn existing_journal(&self) -> ExistingJournal {
        match (self.resume, self.force) {
            (true, _) => ExistingJournal::Resume,
            (_, true) => ExistingJournal::Discard,
            _ => ExistingJournal::Refuse,
        }
    }
}

/// The time that is `seconds` from now; `None` unless that is a representable time in the future.
fn deadline(seconds: f64) -> Option<Instant> {
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
            Some(Journal::open(&out.join("journal.jsonl"), &identity, args.existing_journal())?)
        }
        None => None,
    };
    if let Some(done) = journal.as_ref().map(Journal::n_outcomes).filter(|done| *done > 0) {
        ui::note(&format!("resuming after {}", ui::counted(done, "result", "results")));
    }
    let _graceful = Graceful::new();
    let bars = RungBars::default();
    let result = search.run(
        &data,
        &SearchContext {
            device: &device,
            stop: Graceful::stop(),
            journal: journal.as_ref(),
            progress: &|progress| bars.show(progress),
            member,
        },
    )?;
    drop(bars);
    let resume = if out.is_some() { "; continue with --resume" } else { "" };
    if result.ranked().is_empty() {
        return Err(args.without_result(&result, resume));
    }
    let report = report::Report::new(args, &result, &data, &warnings)?;
    // Print before writing files, so that a full disk does not lose the result.
    let printed = match args.json {
        true => ui::print_json(&report.json),
        false => ui::print(&report.text(&result, start.elapsed().as_secs_f64())),
    };
    let written = out.map_or(Ok(()), |out| write_files(out, args, &report, &result));
    let journal_error = journal.as_ref().and_then(Journal::failure).map(|error| {
        anyhow::Error::new(error).context("the journal is incomplete: --resume repeats the missing trials")
    });
    let failures = [printed.err(), journal_error, written.err()];
    let mut failures = failures.into_iter().flatten();
    if result.ended == SearchEnd::Stopped {
        failures.for_each(|error| ui::note(&format!("{error:#}")));
        ui::note(&format!("interrupted: these are the results so far{resume}"));
        return Err(Interrupted.into());
    }
    let first = failures.next();
    failures.for_each(|error| ui::note(&format!("{error:#}")));
    first.map_or(Ok(()), Err)
}

/// Refuses a folder that is not for a search, or has another search, before any data is read.
fn check_free(out: &Path, args: &Args) -> anyhow::Result<()> {
    protect::check_not_model(out, "--out")?;
    let journal = out.join("journal.jsonl");
    protect::check_not_input(&journal, "--out")?;
    let started = journal.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if started && !args.force && !args.resume {
        bail!(
            "{} exists already: continue this search with --resume, choose another --out, or replace it with --force",
            journal.display()
        );
    }
    for name in [RESULTS, FIGURE] {
        Output::new(&out.join(name), "--out", args.force || (args.resume && journal.is_file()))?;
    }
    Ok(())
}

/// The files next to the journal.
const RESULTS: &str = "results.json";
const FIGURE: &str = "figure.svg";

/// Writes results and figure next to the journal.
fn write_files(out: &Path, args: &Args, report: &report::Report, result: &SearchResult) -> anyhow::Result<()> {
    let output = |name: &str| Output::new(&out.join(name), "--out", args.force || args.resume);
    output(RESULTS)?.write_text(&(serde_json::to_string_pretty(&report.json)? + "\n"))?;
    if result.ranked().len() > 1 {
        figure::settings(&output(FIGURE)?, result)?;
    }
    Ok(())
}

/// Progress bars on standard error, one per rung.
#[derive(Default)]
struct RungBars(Mutex<Option<(usize, Bar)>>);

impl RungBars {
    fn show(&self, Progress { rung, trials, done }: Progress) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_none_or(|(current, _)| *current != rung) {
            let title = format!("rung {rung} of {RUNGS}, {}", ui::counted(trials, "trial", "trials"));
            *current = Some((rung, Bar::new(&title, Unit::Share)));
        }
        if let Some((_, bar)) = current.as_ref() {
            bar.update((1000 * done / trials.max(1)) as u64, Some(1000));
        }
    }
}
