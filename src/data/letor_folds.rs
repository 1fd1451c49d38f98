//! The cross-validation folders of LETOR and MSLR: `Fold1` to `FoldN`, each with `train.txt`, `vali.txt` and `test.txt`.

use super::{INPUT_FORMATS, InputFormat};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The three files of one fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldFiles {
    /// Name of the fold's folder, such as `Fold1`.
    pub name: String,
    /// Training data.
    pub train: PathBuf,
    /// Validation data.
    pub vali: PathBuf,
    /// Test data.
    pub test: PathBuf,
}

/// Finds the folds in `folder`: subfolders `Fold1`, `Fold2`, ... without gaps, or a single fold whose files are in `folder` itself.
///
/// Each file may be in any of the [`INPUT_FORMATS`], such as `train.txt.gz` or `train.parquet`.
///
/// # Errors
/// When there is no fold, a fold is missing, or a fold lacks a file.
pub fn find_folds(folder: impl AsRef<Path>) -> Result<Vec<FoldFiles>> {
    let folder = folder.as_ref();
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Error::io(folder, "read", error))? {
        let entry = entry.map_err(|error| Error::io(folder, "read", error))?;
        let name = entry.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix("Fold")).and_then(|text| text.parse::<usize>().ok());
        numbers
            .extend(number.filter(|number| name.to_str() == Some(&format!("Fold{number}")) && entry.path().is_dir()));
    }
    numbers.sort_unstable();
    if numbers.is_empty() {
        let name = folder.file_name().map_or_else(|| "fold".into(), |name| name.to_string_lossy().into_owned());
        return match fold(folder, name) {
            Ok(fold) => Ok(vec![fold]),
            Err(_) => Err(Error::Data(format!(
                "{}: no folds found: expected folders Fold1, Fold2, ... or the files train.txt, vali.txt and test.txt",
                folder.display()
            ))),
        };
    }
    if let Some(missing) = (1..=numbers.len()).find(|&number| numbers[number - 1] != number) {
        return Err(Error::Data(format!("{}: Fold{missing} is missing", folder.display())));
    }
    numbers.into_iter().map(|number| fold(&folder.join(format!("Fold{number}")), format!("Fold{number}"))).collect()
}

fn fold(folder: &Path, name: String) -> Result<FoldFiles> {
    let file = |part: &str| {
        let endings = INPUT_FORMATS.iter().flat_map(InputFormat::file_endings);
        let path = endings.map(|ending| folder.join(format!("{part}.{ending}"))).find(|path| path.is_file());
        path.ok_or_else(|| Error::Data(format!("{}: {part}.txt is missing", folder.display())))
    };
    Ok(FoldFiles { name, train: file("train")?, vali: file("vali")?, test: file("test")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(folder: &Path, files: &[&str]) {
        for file in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn folds_are_found_in_order() {
        let root = tempfile::tempdir().unwrap();
        for number in (1..=10).rev() {
            let file = |part: &str| format!("Fold{number}/{part}");
            make(root.path(), &[&file("train.txt"), &file("vali.txt.gz"), &file("test.txt")]);
        }
        make(root.path(), &["readme.txt", "Fold01/x", "Folds/x"]);
        let folds = find_folds(root.path()).unwrap();
        assert_eq!(folds.len(), 10);
        assert_eq!((folds[9].name.as_str(), folds[9].vali.clone()), ("Fold10", root.path().join("Fold10/vali.txt.gz")));
        assert_eq!(find_folds(root.path().join("Fold3")).unwrap()[0].test, root.path().join("Fold3/test.txt"));
    }

    #[test]
    fn missing_folds_and_files_are_reported() {
        let root = tempfile::tempdir().unwrap();
        let error = |root: &Path| find_folds(root).unwrap_err().to_string();
        assert!(error(root.path()).contains("no folds found"));
        make(root.path(), &["Fold1/train.txt", "Fold1/test.txt"]);
        assert!(error(root.path()).ends_with("Fold1: vali.txt is missing"));
        make(root.path(), &["Fold3/train.txt"]);
        assert!(error(root.path()).ends_with("Fold2 is missing"));
        assert!(error(&root.path().join("none")).contains("cannot read"));
    }
}
