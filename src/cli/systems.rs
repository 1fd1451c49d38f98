//! What `compare` compares: model folders, scores files and TREC runs, judged query by query.

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

/// A system, judged on all folds; of its scores nothing is kept, so that there is room for many systems.
pub struct System {
    pub name: String,
    /// As the user wrote it.
    pub path: String,
    /// Whether a ranking of a fold is a run, of which documents may be missing.
    pub missing: Missing,
    /// Whether all scores of a fold are the same.
    pub says_nothing: bool,
    fits: Vec<Fit>,
    /// Whether it ranked each query of all folds, one fold behind the other.
    pub ranked: Vec<bool>,
    /// By measures, then by queries: `None` for those that it did not rank, or that do not count.
    pub values: Vec<Vec<Option<f64>>>,
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
pub fn read_folds(pattern: &str, folds: Option<usize>, reading: &ReadArgs) -> anyhow::Result<Vec<Fold>> {
    let read = |path: &PathBuf| Ok(Fold { name: input::name(path), data: input::read_data(path, reading)? });
    each_fold(pattern, folds)?.iter().map(read).collect()
}

/// Reads and judges all systems, which [`names`] tells apart.
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
    burnrank::memory::ask(bytes, &what, "give fewer systems or measures")?;
    data.iter().for_each(|fold| note_unreached(&fold.name, metrics, fold.data.labels(), fold.data.offsets()));
    let places = |fold: &Fold| -> HashMap<String, usize> {
        fold.data.query_ids().iter().enumerate().map(|(place, id)| (id.clone(), place)).collect()
    };
    let places: Vec<HashMap<String, usize>> = data.iter().map(places).collect();
    let read = |(path, name): (&String, String)| {
        let mut system = System::new(name, path.clone(), metrics.len());
        for ((file, fold), places) in each_fold(path, folds)?.iter().zip(data).zip(&places) {
            let ranking = Ranking::of_system(file, &fold.data, &fold.name, args)?;
            system.add(&ranking, places, metrics, &args.conventions())?;
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
            says_nothing: false,
            fits: Vec::new(),
            ranked: Vec::new(),
            values: vec![Vec::new(); metrics],
        }
    }

    /// Judges the ranking of the next fold, whose queries have these places.
    fn add(
        &mut self,
        ranking: &Ranking,
        places: &HashMap<String, usize>,
        metrics: &[Arc<dyn Metric>],
        conventions: &Conventions,
    ) -> burnrank::Result<()> {
        if ranking.missing == Missing::Absent {
            self.missing = Missing::Absent;
        }
        self.says_nothing |= ranking.says_nothing();
        self.fits.extend(ranking.fit);
        let start = self.ranked.len();
        let queries: Vec<Option<usize>> =
            ranking.query_ids.iter().map(|id| places.get(id).map(|place| start + place)).collect();
        self.ranked.resize(start + places.len(), false);
        queries.iter().flatten().for_each(|&query| self.ranked[query] = true);
        for (metric, values) in metrics.iter().zip(&mut self.values) {
            values.resize(start + places.len(), None);
            for (query, value) in queries.iter().zip(ranking.evaluate(&**metric, conventions)?) {
                query.iter().for_each(|&query| values[query] = value);
            }
        }
        Ok(())
    }

    /// How many queries of the data its runs lack.
    pub fn lacks(&self) -> usize {
        self.fits.iter().map(|fit| fit.not_in_run).sum()
    }

    /// How many queries of its runs the data lack.
    pub fn not_judged(&self) -> usize {
        self.fits.iter().map(|fit| fit.not_judged).sum()
    }

    /// How many documents of its runs the data lack.
    pub fn unknown(&self) -> usize {
        self.fits.iter().map(|fit| fit.unknown).sum()
    }
}

/// As much of the end of each path as tells it from all others, as in `a/model` and `b/model`.
pub fn names(paths: &[String]) -> anyhow::Result<Vec<String>> {
    // `./a//b/` is `a/b`.
    let parts = |path: &String| -> Vec<OsString> {
        let whole = if path == "-" { PathBuf::from(path) } else { std::path::absolute(path).unwrap_or(path.into()) };
        whole.components().map(|part| part.as_os_str().to_owned()).collect()
    };
    let all: Vec<Vec<OsString>> = paths.iter().map(parts).collect();
    let written = |path: &String| Path::new(path).components().filter(|part| part.as_os_str() != ".").count();
    for (index, own) in all.iter().enumerate() {
        if all[..index].contains(own) {
            bail!(Usage(format!("{} is given twice: systems to compare must differ", paths[index])));
        }
    }
    let end = |parts: &[OsString], length: usize| parts[parts.len() - length.min(parts.len())..].to_vec();
    let name = |(index, own): (usize, &Vec<OsString>)| {
        let others = || all.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, parts)| parts);
        let alone = |length: &usize| others().all(|other| end(other, *length) != end(own, *length));
        let length = (1..=own.len()).find(alone).unwrap_or(own.len());
        // No more of the path than the user wrote, where that tells them apart.
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
    fn systems_are_told_apart_by_as_much_of_their_paths_as_it_takes() {
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
