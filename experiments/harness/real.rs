//! Real data provided by the user: folders of LETOR folds below the `--data` folder.

use super::{Scale, Session};
use anyhow::Context;
use burnrank::data::{FoldFiles, find_folds};
use burnrank::{Dataset, ReadOptions, Synthetic, read};
use std::path::Path;

/// Instructions for obtaining and placing the data, for reports.
pub const WHERE: &str = "Real data: MQ2007 and MQ2008 are part of LETOR 4.0 \
     (https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/), WEB10K and WEB30K are \
     at https://www.microsoft.com/en-us/research/project/mslr/, YAHOO is set 1 of data set C14 of Yahoo's Webscope. Put them \
     into DIR/mq2007/Fold1 to Fold5, DIR/mq2008/Fold1 to Fold5, DIR/web10k/Fold1 to Fold5, DIR/web30k/Fold1 to Fold5 and \
     DIR/yahoo, each fold with train.txt, vali.txt and test.txt, and pass --data DIR.";

/// An optional data set: names of its folders and its name in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealSet {
    pub folder: &'static str,
    pub name: &'static str,
}

/// MQ2007, complete or the part that is often redistributed, whichever exists.
pub const MQ2007: [RealSet; 2] =
    [RealSet { folder: "mq2007", name: "MQ2007" }, RealSet { folder: "mq2007-part", name: "MQ2007 (85% of the rows)" }];
/// MQ2008.
pub const MQ2008: RealSet = RealSet { folder: "mq2008", name: "MQ2008" };
/// The web data sets of the LambdaLoss paper.
pub const WEB: [RealSet; 5] = [
    RealSet { folder: "web10k", name: "WEB10K" },
    RealSet { folder: "mslr-web10k", name: "WEB10K" },
    RealSet { folder: "web30k", name: "WEB30K" },
    RealSet { folder: "mslr-web30k", name: "WEB30K" },
    RealSet { folder: "yahoo", name: "YAHOO" },
];

impl RealSet {
    /// The folds of the set, if the data folder has it.
    pub fn folds(self, data: Option<&Path>) -> anyhow::Result<Option<Vec<FoldFiles>>> {
        let Some(folder) = data.and_then(|data| subfolder(data, self.folder)) else { return Ok(None) };
        Ok(Some(find_folds(&folder).with_context(|| format!("data set {}", self.name))?))
    }
}

/// The first set that exists, with its folds.
pub fn first_of(sets: &[RealSet], data: Option<&Path>) -> anyhow::Result<Option<(RealSet, Vec<FoldFiles>)>> {
    for set in sets {
        if let Some(folds) = set.folds(data)? {
            return Ok(Some((*set, folds)));
        }
    }
    Ok(None)
}

/// A data set in memory.
pub struct FoldedSet {
    pub key: &'static str,
    pub name: &'static str,
    /// Names of the folds.
    pub names: Vec<String>,
    /// Training, validation and test queries of each fold.
    pub folds: Vec<[Dataset; 3]>,
    pub is_real: bool,
}

/// MQ2008 and MQ2007 as far as they are present, at full scale; otherwise small artificial folds, which only check the program.
pub fn letor(session: &Session) -> anyhow::Result<Vec<FoldedSet>> {
    let folder = session.data.as_deref().filter(|_| session.scale == Scale::Paper);
    let mut sets = vec![];
    for found in [first_of(&[MQ2008], folder)?, first_of(&MQ2007, folder)?] {
        let Some((RealSet { folder: key, name }, files)) = found else { continue };
        let names = files.iter().map(|fold| fold.name.clone()).collect();
        let folds = files.iter().map(load).collect::<anyhow::Result<_>>()?;
        sets.push(FoldedSet { key, name, names, folds, is_real: true });
    }
    if sets.is_empty() {
        let fold = |number: u64| -> anyhow::Result<[Dataset; 3]> {
            let seed = session.seed.wrapping_mul(1_000).wrapping_add(number);
            let generator = Synthetic { features: 10, documents: 20, seed, ..Synthetic::net() }.generator()?;
            let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
            Ok([part(0, 30)?, part(30, 15)?, part(45, 30)?])
        };
        let (names, folds) = (vec!["Fold1".into(), "Fold2".into()], vec![fold(0)?, fold(1)?]);
        sets.push(FoldedSet { key: "artificial", name: "artificial net data", names, folds, is_real: false });
    }
    Ok(sets)
}

/// Training, validation and test queries of a fold, with equal numbers of features.
pub fn load(files: &FoldFiles) -> anyhow::Result<[Dataset; 3]> {
    let set = |path: &Path| read(path, &ReadOptions::default()).map(|report| report.data);
    let sets = [set(&files.train)?, set(&files.vali)?, set(&files.test)?];
    let width = sets.iter().map(Dataset::n_features).max().unwrap_or(0);
    Ok(sets.map(|set| set.with_width(width)))
}

fn subfolder(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut found = entries.flatten().filter(|entry| entry.file_name().eq_ignore_ascii_case(name));
    found.next().map(|entry| entry.path()).filter(|path| path.is_dir())
}
