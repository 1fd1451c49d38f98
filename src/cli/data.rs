//! `burnrank data`: statistics and problems of data files.

use super::data_problems::DataProblem;
use super::input::{self, ReadArgs};
use super::pairs::EffectivePairs;
use super::prose::paragraph;
use super::statistics::{LabelCount, Labels, MissingValues, Statistics};
use super::ui::{self, Align, Bar, Table, count, counted, heading, percent, printable};
use burnrank::data::cache::{self, CacheInfo};
use burnrank::data::{FeatureNames, find_folds};
use burnrank::memory::readable;
use burnrank::{Dataset, Objective};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  burnrank data train.txt
  burnrank data train.txt.gz --first-index 0
  burnrank data train.txt --objective lambdarank:ndcg --objective lambdarank:mrr
  burnrank data train.cache --check
  burnrank data MSLR-WEB10K              Fold1 to Fold5, one line per file
  zcat train.gz | burnrank data - --json";

/// Show statistics and problems of data files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Data files, '-' for standard input, or folders of folds; a folder contains Fold1, Fold2, ..., each with train.txt,
    /// vali.txt and test.txt
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Count the document pairs that this objective learns from; may be repeated
    #[arg(long = "objective", value_name = "NAME", value_parser = Objective::parse)]
    objectives: Vec<Objective>,
    /// Count pairs for the scores of this model folder [default: for equal scores]
    #[arg(long, value_name = "DIR", requires = "objectives")]
    model: Option<PathBuf>,
    /// Feature names, one 'index name' per line
    #[arg(long, value_name = "FILE")]
    feature_names: Option<PathBuf>,
    /// Verify all checksums of a cache; otherwise those of features and document ids are not verified
    #[arg(long)]
    check: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// Report on a file.
#[derive(Debug, Serialize)]
struct File {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fold: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<&'static str>,
    bytes: u64,
    skipped_lines: usize,
    /// Set if the file is a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<CacheInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<bool>,
    #[serde(flatten)]
    statistics: Statistics,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    effective_pairs: Vec<EffectivePairs>,
    warnings: Vec<DataProblem>,
}

/// Report on a folder of folds.
#[derive(Debug, Serialize)]
struct Folder {
    folder: String,
    warnings: Vec<DataProblem>,
}

/// The report that is printed.
#[derive(Debug, Default, Serialize)]
struct Report {
    files: Vec<File>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    folders: Vec<Folder>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut report = Report::default();
    let mut text = String::new();
    for path in &args.files {
        if !text.is_empty() {
            text.push('\n');
        }
        if path.is_dir() {
            let (folder, files) = examine_folder(path, args)?;
            text.push_str(&folder_text(&folder, &files));
            report.folders.push(folder);
            report.files.extend(files);
        } else {
            let (file, _) = examine(path, args)?;
            text.push_str(&file_text(&file));
            report.files.push(file);
        }
    }
    if args.json { ui::print_json(&report) } else { ui::print(&text) }
}

fn examine(path: &Path, args: &Args) -> anyhow::Result<(File, Dataset)> {
    let cache = cache::info(path)?;
    if args.check && cache.is_some() {
        let _bar = Bar::working(&format!("{}: checking", input::name(path)));
        cache::check(path)?;
    }
    input::note_ignored(path);
    let report = input::read_report(path, &args.reading)?;
    let bar = Bar::working(&format!("{}: counting", input::name(path)));
    let mut statistics = Statistics::of(&report.data, args.reading.first_index);
    if let Some(path) = &args.feature_names {
        let names = FeatureNames::read(path, args.reading.first_index)?;
        statistics.feature_names = names.of_width(report.data.n_features())?;
    } else if let Some(names) = report.data.feature_names() {
        statistics.feature_names = names.to_vec();
    }
    let pairs = |objective| EffectivePairs::count(objective, &report.data, args.model.as_deref());
    let effective_pairs = args.objectives.iter().map(pairs).collect::<anyhow::Result<_>>()?;
    drop(bar);
    let file = File {
        file: input::name(path),
        fold: None,
        split: None,
        bytes: report.bytes,
        skipped_lines: report.skipped.lines,
        checked: cache.as_ref().filter(|_| args.check).map(|_| true),
        cache,
        warnings: statistics.problems(),
        statistics,
        effective_pairs,
    };
    Ok((file, report.data))
}

fn examine_folder(path: &Path, args: &Args) -> anyhow::Result<(Folder, Vec<File>)> {
    let (mut files, mut warnings) = (Vec::new(), Vec::new());
    for fold in find_folds(path)? {
        let mut earlier: Vec<(&str, HashSet<String>)> = Vec::new();
        for (split, path) in [("train", &fold.train), ("vali", &fold.vali), ("test", &fold.test)] {
            let (file, data) = examine(path, args)?;
            let ids: HashSet<String> = data.query_ids().iter().cloned().collect();
            for (other, other_ids) in &earlier {
                warnings.extend(shared(&fold.name, split, other, ids.intersection(other_ids).count()));
            }
            earlier.push((split, ids));
            files.push(File { fold: Some(fold.name.clone()), split: Some(split), ..file });
        }
    }
    let widths = |files: &[File]| files.iter().map(|file| file.statistics.features).collect::<HashSet<_>>().len();
    if widths(&files) > 1 {
        warnings.push(DataProblem {
            message: "the files have different numbers of features".into(),
            remedy: "harmless if some files omit trailing zeros; otherwise the files belong to different data sets"
                .into(),
        });
    }
    Ok((Folder { folder: input::name(path), warnings }, files))
}

fn shared(fold: &str, split: &str, other: &str, queries: usize) -> Option<DataProblem> {
    (queries > 0).then(|| DataProblem {
        message: format!("{fold}: {} in both {other} and {split}", counted(queries, "query is", "queries are")),
        remedy: "training and test queries must differ: split the data again with 'burnrank split'".into(),
    })
}

fn file_text(file: &File) -> String {
    let Statistics { documents_per_query: sizes, labels, missing_values: missing, .. } = &file.statistics;
    let first = file.statistics.first_index;
    let last = (first + file.statistics.features).saturating_sub(1);
    let rows = [
        ("queries", count(file.statistics.queries), String::new()),
        (
            "documents",
            count(file.statistics.documents),
            format!(
                "{} to {} per query, median {}, mean {:.1}",
                count(sizes.min),
                count(sizes.max),
                sizes.median,
                sizes.mean
            ),
        ),
        ("features", count(file.statistics.features), format!("indices {first} to {last}")),
        ("missing", count(missing.iter().map(|missing| missing.documents).sum()), missing_text(missing)),
        ("zero", count(file.statistics.zero_features.len()), "features that are 0 everywhere".into()),
        ("constant", count(file.statistics.constant_features.len()), "features with one nonzero value".into()),
        (
            "duplicates",
            count(file.statistics.duplicates.documents),
            "documents with the features of an earlier one in the query".into(),
        ),
        ("document ids", count(file.statistics.documents_with_id), String::new()),
    ];
    let widest = rows.iter().map(|(_, number, _)| number.len()).max().unwrap_or(0);
    let mut text = heading(&file.file) + "\n";
    if let Some(cache) = &file.cache {
        text += &paragraph(&cache_text(cache, file.checked.is_some()));
    }
    for (name, number, description) in rows {
        text.push_str(format!("{name:<12}  {number:>widest$}  {description}").trim_end());
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&labels_text(labels));
    if !missing.is_empty() {
        text += &format!("\n{}\n{}", heading("Missing values"), missing_table(&file.statistics));
    }
    if !file.effective_pairs.is_empty() {
        text.push_str(&format!("\n{}\n", heading("Pairs")));
        file.effective_pairs.iter().for_each(|pairs| text.push_str(&(pairs.text() + "\n")));
    }
    text + &warnings_text(&file.warnings)
}

fn missing_text(missing: &[MissingValues]) -> String {
    match missing.len() {
        0 => "missing values".into(),
        features => format!("missing values, of {}", counted(features, "feature", "features")),
    }
}

/// Maximum number of features with missing values to list.
const MAX_LISTED: usize = 20;

/// The features with missing values, the most frequent first.
fn missing_table(statistics: &Statistics) -> String {
    let mut table = Table::new(&[("feature", Align::Left), ("documents", Align::Right), ("share", Align::Right)]);
    let mut missing: Vec<&MissingValues> = statistics.missing_values.iter().collect();
    missing.sort_by_key(|missing| std::cmp::Reverse(missing.documents));
    for MissingValues { feature, documents, share } in missing.iter().take(MAX_LISTED).copied() {
        let name = statistics.feature_names.get(feature - statistics.first_index);
        let name = name.map_or_else(|| feature.to_string(), |name| printable(name));
        table.row([name, count(*documents), percent(*share)]);
    }
    let more = match missing.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!("and {} more\n", count(more)),
    };
    ui::table(&table) + &more
}

/// Describes a cache.
fn cache_text(cache: &CacheInfo, checked: bool) -> String {
    let (bits, size) = (cache.bits, readable(cache.feature_bytes));
    let source = cache.source.as_ref().map_or(String::new(), |source| format!(", built from {}", printable(source)));
    let text = format!("Cache with {size} of f{bits} features{source}.");
    if checked { format!("{text} All checksums match.") } else { format!("{text} --check verifies its checksums.") }
}

fn labels_text(labels: &Labels) -> String {
    if labels.distribution.is_empty() {
        let Labels { distinct, min, mean, max, .. } = labels;
        return format!("labels  {} distinct values, {min} to {max}, mean {mean:.4}\n", count(*distinct));
    }
    let mut table = Table::new(&[("label", Align::Right), ("documents", Align::Right), ("share", Align::Right)]);
    labels.distribution.iter().for_each(|l| table.row([l.label.to_string(), count(l.documents), percent(l.share)]));
    ui::table(&table)
}

fn warnings_text(warnings: &[DataProblem]) -> String {
    if warnings.is_empty() {
        return "\nNo problems.\n".into();
    }
    let lines = warnings.iter().map(|warning| format!("- {}\n  {}\n", printable(&warning.message), warning.remedy));
    format!("\n{}\n{}", heading("Warnings"), lines.collect::<String>())
}

fn folder_text(folder: &Folder, files: &[File]) -> String {
    let columns = ["queries", "documents", "features", "per query", "none relevant", "warnings"];
    let mut table = Table::new(
        &[("fold", Align::Left), ("split", Align::Left)]
            .into_iter()
            .chain(columns.map(|name| (name, Align::Right)))
            .chain([("labels", Align::Left)])
            .collect::<Vec<_>>(),
    );
    for File { fold, split, statistics, warnings, .. } in files {
        let label = |l: &LabelCount| format!("{}: {}", l.label, percent(l.share));
        table.row([
            fold.clone().unwrap_or_default(),
            split.unwrap_or_default().to_owned(),
            count(statistics.queries),
            count(statistics.documents),
            count(statistics.features),
            format!("{:.1}", statistics.documents_per_query.mean),
            count(statistics.queries_without_relevant_documents),
            count(warnings.len()),
            statistics.labels.distribution.iter().map(label).collect::<Vec<_>>().join(", "),
        ]);
    }
    let mut text = format!("{}\n{}", heading(&folder.folder), ui::table(&table));
    if !folder.warnings.is_empty() {
        text.push_str(&warnings_text(&folder.warnings));
    }
    for File { fold, split, effective_pairs, .. } in files {
        let name = format!("{} {}", fold.as_deref().unwrap_or_default(), split.unwrap_or_default());
        effective_pairs.iter().for_each(|pairs| text.push_str(&format!("{name}: {}\n", pairs.text())));
    }
    if let Some(file) = files.iter().find(|file| !file.warnings.is_empty()) {
        text.push_str(&format!("\nTo see the warnings of a file: burnrank data {}\n", file.file));
    }
    text
}
