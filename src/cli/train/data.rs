//! The data of a run: reading with a progress bar, common width, scaling, and final evaluation.

use super::Args;
use super::progress;
use crate::cli::input::{self, ReadArgs};
use crate::cli::interrupt::Graceful;
use crate::cli::{ui, widths};
use burnrank::data::Targets;
use burnrank::distributed::Member;
use burnrank::train::{HoldOut, RunFiles, Split, Splits, TrainingData, report_metrics};
use burnrank::{Model, TrainConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads a file with a progress bar.
pub fn read(path: &Path, reading: &ReadArgs) -> anyhow::Result<Split> {
    let report = input::read_report(path, reading)?;
    Ok(Split::of_report(path, input::name(path), report))
}

/// Reads the files of a run. `query_files` are those of validation and test data.
pub fn read_all(
    files: &RunFiles<'_>,
    hold_out: HoldOut,
    reading: &ReadArgs,
    query_files: [Option<&PathBuf>; 2],
) -> anyhow::Result<(Splits, Vec<Targets>)> {
    Splits::read(files, hold_out, |name, path| match name {
        "valid" => read(path, &reading.with_query_file(query_files[0])),
        "test" => read(path, &reading.with_query_file(query_files[1])),
        _ => read(path, reading),
    })
}

impl Args {
    /// Reads the files of a run.
    pub fn read_splits(&self, train: &Path, hold_out: HoldOut) -> anyhow::Result<(Splits, Vec<Targets>)> {
        let files = RunFiles {
            train,
            valid: self.valid.as_deref(),
            test: self.test.as_deref(),
            targets: self.targets.as_deref(),
        };
        let query_files = [self.valid_query_file.as_ref(), self.test_query_file.as_ref()];
        read_all(&files, hold_out, &self.read, query_files)
    }

    /// Holds out one in five training queries, different ones for each member.
    pub fn hold_out(&self) -> HoldOut {
        HoldOut::Fifth { seed: self.settings.seed(), members: self.settings.ensemble }
    }
}

/// Gives all splits the number of features of the training data, or `stated` features.
pub fn fit_widths(splits: &mut Splits, stated: Option<usize>) -> anyhow::Result<()> {
    splits
        .fit_widths(stated)?
        .iter()
        .for_each(|filled| widths::note_filled(&filled.file, filled.features, filled.width));
    Ok(())
}

/// Scales training and validation data. With several processes, each keeps only its part.
pub fn scale(
    splits: &mut Splits,
    config: &TrainConfig,
    member: Option<&Member>,
) -> anyhow::Result<Vec<Arc<TrainingData<'static>>>> {
    let bar = progress::scaling(splits.values_to_scale());
    let data = match member.filter(|_| config.shares > 0) {
        Some(member) => splits.distributed_data(config, member)?,
        None => splits.training_data(config)?,
    };
    bar.finish_and_clear();
    Ok(data)
}

/// Stores the sources of its data and its metrics in a model.
pub fn describe(splits: &Splits, model: &mut Model, config: &TrainConfig) -> anyhow::Result<()> {
    for missing in splits.describe(model, &report_metrics(&config.metric)?, &Graceful::stop()) {
        ui::note(&format!("{}: not evaluated: {}", ui::printable(&missing.source), missing.reason));
    }
    Ok(())
}
