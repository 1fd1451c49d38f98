//! What `compare` compares: model folders, scores files and TREC runs, judged query by query.

use super::Usage;
use super::input::{self, ReadArgs};
use super::widths;
use anyhow::{Context, bail};
use burnrank::{
    Conventions, Dataset, Metric, Missing, Model, TrecFile, device, join_run, judge, judge_query, read_run, read_scores,
};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The scores of one system on one file.
enum Scores {
    Documents(Vec<f64>),
    Run(TrecFile),
}

/// A system and its scores on each file of the data.
pub struct System {
    pub name: String,
    scores: Vec<Scores>,
}

/// `{}` in a name is the number of the fold, from 1; without folds a name stands for itself.
pub fn each_fold(pattern: &str, folds: Option<usize>) -> anyhow::Result<Vec<PathBuf>> {
    match folds {
        None => Ok(vec![PathBuf::from(pattern)]),
        Some(_) if !pattern.contains("{}") => {
            bail!(Usage(format!("{pattern}: with --folds, write {{}} where the number of the fold stands")))
        }
        Some(folds) => Ok((1..=folds).map(|fold| PathBuf::from(pattern.replace("{}", &fold.to_string()))).collect()),
    }
}

/// Reads the data of all folds.
pub fn read_folds(pattern: &str, folds: Option<usize>, reading: &ReadArgs) -> anyhow::Result<Vec<Dataset>> {
    let read = |path: &PathBuf| input::read_data(path, reading);
    each_fold(pattern, folds)?.iter().map(read).collect()
}

impl System {
    pub fn read(pattern: &str, folds: Option<usize>, data: &[Dataset]) -> anyhow::Result<Self> {
        let paths = each_fold(pattern, folds)?;
        let scores = paths.iter().zip(data).map(|(path, data)| read(path, data));
        Ok(System { name: name(pattern), scores: scores.collect::<anyhow::Result<_>>()? })
    }

    /// One value a query, over all files; `None` for queries that do not count.
    pub fn judge(
        &self,
        data: &[Dataset],
        metric: &dyn Metric,
        conventions: &Conventions,
    ) -> burnrank::Result<Vec<Option<f64>>> {
        let mut values = Vec::new();
        for (scores, data) in self.scores.iter().zip(data) {
            match scores {
                Scores::Documents(scores) => {
                    values.extend(judge(metric, scores, data.labels(), data.offsets(), conventions)?);
                }
                Scores::Run(run) => values.extend(judge_run(run, data, metric, conventions)?),
            }
        }
        Ok(values)
    }
}

/// The last part of a path that tells systems apart: the file's name without its ending.
fn name(pattern: &str) -> String {
    let path = Path::new(pattern.trim_end_matches('/'));
    path.file_name().map_or_else(|| pattern.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn read(path: &Path, data: &Dataset) -> anyhow::Result<Scores> {
    if path.is_dir() {
        let device = device::open("auto")?;
        let scores = widths::score(&Model::load(path, &device)?, data, &input::name(path), &device)?;
        return Ok(Scores::Documents(scores.into_iter().map(f64::from).collect()));
    }
    if is_run(path)? {
        return Ok(Scores::Run(read_run(path)?));
    }
    Ok(Scores::Documents(read_scores(path, data.n_documents())?))
}

/// Whether a file's first line has the six fields of a run. Packed files hold scores.
fn is_run(path: &Path) -> anyhow::Result<bool> {
    if input::is_stdin(path) {
        return Ok(false);
    }
    let file = std::fs::File::open(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let mut line = Vec::new();
    // A line of a run is short; a packed file may have none at all.
    BufReader::new(std::io::Read::take(file, 4096)).read_until(b'\n', &mut line)?;
    let fields = line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty());
    Ok(fields.count() == 6)
}

/// The values of the data's queries, in their order; a query that the run lacks has nothing retrieved.
fn judge_run(
    run: &TrecFile,
    data: &Dataset,
    metric: &dyn Metric,
    conventions: &Conventions,
) -> burnrank::Result<Vec<Option<f64>>> {
    let conventions = Conventions { missing: Missing::Absent, ..*conventions };
    let joined = join_run(run, &TrecFile::from_labels(data));
    let known: HashMap<&str, usize> =
        joined.queries.iter().enumerate().map(|(index, query)| (query.id.as_str(), index)).collect();
    let value = |query: burnrank::QueryView<'_>| match known.get(query.id) {
        Some(&index) => judge_query(metric, &joined.queries[index].scores, &joined.queries[index].labels, &conventions),
        None => judge_query(metric, &vec![f64::NEG_INFINITY; query.labels.len()], query.labels, &conventions),
    };
    data.queries().map(value).collect()
}
