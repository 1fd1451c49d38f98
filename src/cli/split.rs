//! `burnrank split`: splits data into training, validation and test files, or folds.

use super::Usage;
use super::input::{self, ReadArgs};
use super::output::{Output, Watched, write_queries};
use super::protect;
use super::ui::{self, Align, Table, count};
use anyhow::bail;
use burnrank::data::kfold;
use burnrank::data::{Compression, rotated};
use burnrank::internal::files::Unfinished;
use burnrank::{Dataset, Error, WriteOptions, memory};
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  burnrank split all.txt --out parts
  burnrank split all.txt --out parts --parts 8,1,1 --seed 7
  burnrank split all.txt --out folds --folds 5

Five folds rotate as in LETOR: of the parts S1 to S5, Fold1 trains on S1 to S3, validates on S4
and tests on S5; Fold2 trains on S2 to S4, validates on S5 and tests on S1; and so on.";

const NAMES: [&str; 3] = ["train.txt", "vali.txt", "test.txt"];

/// Split data by query into training, validation and test files, or into folds
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Data; '-' is standard input
    file: PathBuf,
    /// Folder to write to; created if missing
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Fractions of training, validation and test queries
    #[arg(long, value_name = "SHARES", value_delimiter = ',', default_value = "0.6,0.2,0.2")]
    parts: Vec<f64>,
    /// Number of folds instead of a single split, 3 or more
    #[arg(long, value_name = "N", conflicts_with = "parts", value_parser = clap::value_parser!(u16).range(3..=1000))]
    folds: Option<u16>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Replace the files of an earlier split
    #[arg(long)]
    force: bool,
    /// Print JSON about the files
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// A file to write, and its queries.
#[derive(Debug)]
struct Part {
    /// Path in the folder, as in `Fold1/train.txt`.
    file: PathBuf,
    queries: Vec<usize>,
}

/// A written file.
#[derive(Debug, Serialize)]
struct Written {
    file: PathBuf,
    queries: usize,
    documents: usize,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if args.parts.len() != NAMES.len() {
        bail!(Usage("--parts: expected three fractions, as in 0.6,0.2,0.2 for training, validation and test".into()));
    }
    if let Some(bad) = args.parts.iter().find(|share| !(**share > 0.0 && share.is_finite())) {
        bail!(Usage(format!("--parts: bad fraction {bad}: expected a number above 0")));
    }
    let files = file_names(args.folds.map(usize::from));
    check_folder(&args.out, &files, args)?;
    let data = input::read_data(&args.file, &args.reading)?;
    let queries = match args.folds {
        Some(folds) => {
            // Each fold contains all queries.
            let bytes = memory::bytes_of::<usize>(data.n_queries() as u64).saturating_mul(u64::from(folds) + 2);
            memory::ask(bytes, &format!("{folds} folds of {} queries", data.n_queries()), "give fewer --folds")?;
            rotated(&kfold(data.n_queries(), folds.into(), args.seed)?)
        }
        None => burnrank::split(data.n_queries(), &args.parts, args.seed)?,
    };
    let parts: Vec<Part> = files.into_iter().zip(queries).map(|(file, queries)| Part { file, queries }).collect();
    write(&data, &parts, args)?;
    report(&data, parts, args)
}

/// Returns the files of a split, or of all folds.
fn file_names(folds: Option<usize>) -> Vec<PathBuf> {
    match folds {
        None => NAMES.map(PathBuf::from).to_vec(),
        Some(folds) => (1..=folds).flat_map(|f| NAMES.map(|name| Path::new(&format!("Fold{f}")).join(name))).collect(),
    }
}

/// Checks that a folder contains no other split, unless `--force` replaces all of its files.
fn check_folder(folder: &Path, files: &[PathBuf], args: &Args) -> anyhow::Result<()> {
    protect::check_not_model(folder, "--out")?;
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io(folder, "read", error).into()),
    };
    for entry in entries {
        let name = entry.map_err(|error| Error::io(folder, "read", error))?.file_name();
        let Some(name) = name.to_str().filter(|name| is_of_a_split(name)) else { continue };
        let path = folder.join(name);
        if !args.force {
            return Err(protect::exists(&path, "--out"));
        }
        if files.iter().all(|file| !file.starts_with(name)) {
            bail!("{} belongs to another split: remove it, or choose another folder", path.display());
        }
    }
    files.iter().try_for_each(|file| protect::check_not_input(&folder.join(file), "--out"))
}

/// Whether a file or folder of this name belongs to a split.
fn is_of_a_split(name: &str) -> bool {
    let number = name.strip_prefix("Fold").filter(|number| !number.is_empty());
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        || NAMES
            .iter()
            .any(|file| name == *file || Compression::plain_path(name).is_some_and(|plain| plain == Path::new(file)))
}

/// Writes all files under temporary names, and renames them after the last is complete.
fn write(data: &Dataset, parts: &[Part], args: &Args) -> anyhow::Result<()> {
    let mut created = CreatedFolders::default();
    created.create(&args.out)?;
    let options = WriteOptions::default();
    let mut staged = Vec::with_capacity(parts.len());
    for Part { file, queries } in parts {
        let target = args.out.join(file);
        target.parent().map_or(Ok(()), |parent| created.create(parent))?;
        let fill = |writer: &mut dyn Write| write_queries(&mut Watched::new(&target, writer), data, queries, &options);
        let output = Output::new(&target, "--out", args.force)?;
        let file = output.stage(fill)?;
        staged.push((output, file));
    }
    staged.into_iter().try_for_each(|(output, file)| output.publish(file))?;
    created.keep();
    Ok(())
}

/// Created folders, which are removed on drop unless they are kept.
#[derive(Debug, Default)]
struct CreatedFolders(Vec<(PathBuf, Unfinished)>);

impl CreatedFolders {
    /// Creates a folder and its missing parents.
    fn create(&mut self, folder: &Path) -> burnrank::Result<()> {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        folder.parent().map_or(Ok(()), |parent| self.create(parent))?;
        std::fs::create_dir(folder).map_err(|error| Error::io(folder, "create", error))?;
        self.0.push((folder.to_path_buf(), Unfinished::new(folder)));
        Ok(())
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        self.0.drain(..).rev().for_each(|(folder, _)| drop(std::fs::remove_dir(folder)));
    }
}

fn report(data: &Dataset, parts: Vec<Part>, args: &Args) -> anyhow::Result<()> {
    let size = |query: &usize| data.offsets()[query + 1] - data.offsets()[*query];
    let written = parts.into_iter().map(|Part { file, queries }| Written {
        file: args.out.join(file),
        queries: queries.len(),
        documents: queries.iter().map(size).sum(),
    });
    let written: Vec<Written> = written.collect();
    if args.json {
        return ui::print_json(
            &json!({ "folder": args.out.display().to_string(), "seed": args.seed, "files": written }),
        );
    }
    let mut table = Table::new(&[("file", Align::Left), ("queries", Align::Right), ("documents", Align::Right)]);
    written.iter().for_each(|w| table.row([w.file.display().to_string(), count(w.queries), count(w.documents)]));
    ui::print(&ui::table(&table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_splits_are_recognised() {
        for name in ["train.txt", "vali.txt.gz", "test.txt.zst", "Fold1", "Fold12"] {
            assert!(is_of_a_split(name), "{name}");
        }
        for name in ["all.txt", "train.txt.old", "Fold", "Folder", "train"] {
            assert!(!is_of_a_split(name), "{name}");
        }
    }

    #[test]
    fn folders_are_removed_unless_kept() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b");
        let mut created = CreatedFolders::default();
        created.create(&deep).unwrap();
        assert!(deep.is_dir());
        drop(created);
        assert!(!root.path().join("a").exists());
        let mut created = CreatedFolders::default();
        created.create(&deep).unwrap();
        created.keep();
        assert!(deep.is_dir());
    }
}
