//! The systems that `compare` compares, with the values of metrics per query.

use super::Usage;
use super::evaluation::{RunArgs, note_unreached};
use super::input::{self, ReadArgs};
use super::ranking::{Fit, Ranking};
use anyhow::bail;
use burnrank::metric::Missing;
use burnrank::{Conventions, Dataset, Metric};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The data of one fold, with its name.
pub struct Fold {
    pub name: String,
    pub data: Dataset,
}

/// A system with its values on all folds. Scores are dropped, which saves memory for many systems.
pub struct System {
    pub name: String,
    /// Path as given by the user.
    pub path: String,
    /// How missing documents are ranked; [`Missing::Absent`] if the ranking of a fold is a run.
    pub missing: Missing,
    /// Whether all scores of a fold are equal.
    pub is_constant: bool,
    fits: Vec<Fit>,
    /// Whether it ranks each query, for the queries of all folds in order.
    pub ranked: Vec<bool>,
    /// Values by metric and query; `None` for queries that are not ranked or skipped.
    pub values: Vec<Vec<Option<f64>>>,
}

/// Replaces `{}` in a name with the number of each fold, from 1. Without folds, returns the name.
pub fn each_fold(pattern: &str, folds: Option<usize>) -> anyhow::Result<Vec<PathBuf>> {
    match folds {
        None => Ok(vec![PathBuf::from(pattern)]),
        Some(_) if !pattern.contains("{}") => {
            bail!(Usage(format!("{pattern}: --folds needs {{}} in the name, for the number of the fold")))
        }
        Some(folds) => Ok((1..=folds).map(|fold| PathBuf::from(pattern.replace("{}", &fold.to_string()))).collect()),
    }
}

/// Reads the data of all folds.
pub fn read_folds(pattern: &str, folds: Option<usize>, reading: &ReadArgs) -> anyhow::Result<Vec<Fold>> {
    let read = |path: &PathBuf| Ok(Fold { name: input::name(path), data: input::read_data(path, reading)? });
    each_fold(pattern, folds)?.iter().map(read).collect()
}

/// Reads and evaluates all systems. [`names`] names them.
pub fn read_systems(
    paths: &[String],
    folds: Option<usize>,
    data: &[Fold],
    metrics: &[Arc<dyn Metric>],
    args: &RunArgs,
) -> anyhow::Result<Vec<System>> {
    let queries: usize = data.iter().map(|fold| fold.data.n_queries()).sum();
    let each = burnrank::memory::bytes_of::<Option<f64>>(metrics.len() as u64).saturating_add(1);
    let bytes = (paths.len() as u64).saturating_mul(queries as u64).saturating_mul(each);
    let what = format!("the values of {} systems on {queries} queries", paths.len());
    burnrank::memory::ask(bytes, &what, "give fewer systems or metrics")?;
    data.iter().for_each(|fold| note_unreached(&fold.name, metrics, fold.data.labels(), fold.data.offsets()));
    let positions = |fold: &Fold| -> HashMap<String, usize> {
        fold.data.query_ids().iter().enumerate().map(|(position, id)| (id.clone(), position)).collect()
    };
    let positions: Vec<HashMap<String, usize>> = data.iter().map(positions).collect();
    let read = |(path, name): (&String, String)| {
        let mut system = System::new(name, path.clone(), metrics.len());
        for ((file, fold), positions) in each_fold(path, folds)?.iter().zip(data).zip(&positions) {
            let ranking = Ranking::of_system(file, &fold.data, &fold.name, args)?;
            system.add(&ranking, positions, metrics, &args.conventions())?;
        }
        Ok(system)
    };
    paths.iter().zip(names(paths)?).map(read).collect()
}

impl System {
    fn new(name: String, path: String, metrics: usize) -> Self {
        System {
            name,
            path,
            missing: Missing::Last,
            is_constant: false,
            fits: Vec::new(),
            ranked: Vec::new(),
            values: vec![Vec::new(); metrics],
        }
    }

    /// Evaluates the ranking of the next fold, whose queries have these positions.
    fn add(
        &mut self,
        ranking: &Ranking,
        positions: &HashMap<String, usize>,
        metrics: &[Arc<dyn Metric>],
        conventions: &Conventions,
    ) -> burnrank::Result<()> {
        if ranking.missing == Missing::Absent {
            self.missing = Missing::Absent;
        }
        self.is_constant |= ranking.is_constant();
        self.fits.extend(ranking.fit);
        let start = self.ranked.len();
        let queries: Vec<Option<usize>> =
            ranking.query_ids.iter().map(|id| positions.get(id).map(|position| start + position)).collect();
        self.ranked.resize(start + positions.len(), false);
        queries.iter().flatten().for_each(|&query| self.ranked[query] = true);
        for (metric, values) in metrics.iter().zip(&mut self.values) {
            values.resize(start + positions.len(), None);
            for (query, value) in queries.iter().zip(ranking.evaluate(&**metric, conventions)?) {
                query.iter().for_each(|&query| values[query] = value);
            }
        }
        Ok(())
    }

    /// Number of queries of the data that are not in its runs.
    pub fn not_in_run(&self) -> usize {
        self.fits.iter().map(|fit| fit.not_in_run).sum()
    }

    /// Number of queries of its runs that are not in the data.
    pub fn not_judged(&self) -> usize {
        self.fits.iter().map(|fit| fit.not_judged).sum()
    }

    /// Number of documents of its runs that are not in the data.
    pub fn unknown(&self) -> usize {
        self.fits.iter().map(|fit| fit.unknown).sum()
    }
}

/// Returns the shortest unique suffix of each path, as in `a/model` and `b/model`.
pub fn names(paths: &[String]) -> anyhow::Result<Vec<String>> {
    // Normalises `./a//b/` to `a/b`.
    let parts = |path: &String| -> Vec<OsString> {
        let path = if path == "-" { PathBuf::from(path) } else { std::path::absolute(path).unwrap_or(path.into()) };
        path.components().map(|part| part.as_os_str().to_owned()).collect()
    };
    let all: Vec<Vec<OsString>> = paths.iter().map(parts).collect();
    let written = |path: &String| Path::new(path).components().filter(|part| part.as_os_str() != ".").count();
    for (index, parts) in all.iter().enumerate() {
        if all[..index].contains(parts) {
            bail!(Usage(format!("{} is given twice: systems must differ", paths[index])));
        }
    }
    let end = |parts: &[OsString], length: usize| parts[parts.len() - length.min(parts.len())..].to_vec();
    let name = |(index, own): (usize, &Vec<OsString>)| {
        let others = || all.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, parts)| parts);
        let alone = |length: &usize| others().all(|other| end(other, *length) != end(own, *length));
        let length = (1..=own.len()).find(alone).unwrap_or(own.len());
        // At most as much of the path as the user wrote.
        let length = length.min(written(&paths[index]).max(1));
        end(own, length).iter().collect::<PathBuf>().to_string_lossy().into_owned()
    };
    Ok(all.iter().enumerate().map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<String> {
        names(&paths.iter().map(|path| path.to_string()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn names_are_the_shortest_unique_ends_of_paths() {
        assert_eq!(named(&["old/model", "new/scores.txt"]), ["model", "scores.txt"]);
        assert_eq!(named(&["a/model", "b/model/", "bm25.run"]), ["a/model", "b/model", "bm25.run"]);
        assert_eq!(named(&["model", "a/model"]), ["model", "a/model"]);
        assert_eq!(named(&["./model", "a/model", "a/other"]), ["model", "a/model", "other"]);
        assert_eq!(named(&["x/a/model", "y/a/model", "y/b/model"]), ["x/a/model", "y/a/model", "b/model"]);
        assert_eq!(named(&["one/Fold{}/model", "two/Fold{}/model"]), ["one/Fold{}/model", "two/Fold{}/model"]);
        assert_eq!(named(&["-", "scores.txt"]), ["-", "scores.txt"]);
    }

    #[test]
    fn one_path_is_one_system() {
        for twice in [["a/model", "./a//model/"], ["-", "-"], ["scores.txt", "scores.txt"]] {
            let error = names(&twice.map(str::to_owned)).unwrap_err();
            assert!(error.is::<Usage>() && error.to_string().contains("given twice"), "{error}");
        }
        let here = std::path::absolute("model").unwrap().to_string_lossy().into_owned();
        assert!(names(&["model".to_owned(), here]).is_err());
    }
}
