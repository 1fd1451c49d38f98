//! Protection of files: a command replaces existing files only with `--force`, and never its inputs.

use super::input::query_file_names;
use anyhow::bail;
use burnrank::internal::files::target_of;
use clap::{Arg, ArgMatches, Command};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Value names of options that take paths.
const PATHS: [&str; 3] = ["FILE", "DIR", "SYSTEM"];

/// Options for outputs. All other options with paths are inputs.
const OUTPUTS: [&str; 4] = ["out", "log", "figure", "figures"];

/// Depth to which the files of an input folder are inputs, as those in `Fold1`.
const DEPTH: usize = 2;

static INPUTS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Whether an option takes a path.
fn is_path(arg: &Arg) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| PATHS.contains(&name.as_str())))
}

/// Stores the inputs of the command line.
pub fn note_inputs(root: &Command, matches: &ArgMatches) {
    let Some((name, matches)) = matches.subcommand() else { return };
    let arguments = root.find_subcommand(name).into_iter().flat_map(Command::get_arguments);
    let inputs = arguments.filter(|arg| is_path(arg) && !OUTPUTS.contains(&arg.get_id().as_str()));
    let named = inputs.flat_map(|arg| matches.try_get_raw(arg.get_id().as_str()).ok().flatten().into_iter().flatten());
    let folds = matches.try_get_one::<u16>("folds").ok().flatten().copied();
    let each = |path: PathBuf| match (path.to_str().filter(|name| name.contains("{}")), folds) {
        (Some(name), Some(folds)) => (1..=folds).map(|fold| name.replace("{}", &fold.to_string()).into()).collect(),
        _ => vec![path],
    };
    let _ = INPUTS.set(named.map(PathBuf::from).filter(|path| path.as_os_str() != "-").flat_map(each).collect());
}

/// Checks that an output is not an input, and not an existing file unless `force` is set.
///
/// Pipes and devices may always be written to.
pub fn check(path: &Path, option: &str, force: bool) -> anyhow::Result<()> {
    check_not_input(path, option)?;
    if path.is_file() && !force {
        return Err(exists(path, option));
    }
    Ok(())
}

/// Returns the error for an existing output.
pub fn exists(path: &Path, option: &str) -> anyhow::Error {
    anyhow::anyhow!("{} already exists: choose another {option}, or replace it with --force", path.display())
}

/// Checks that an output is not an input, also under another name.
pub fn check_not_input(path: &Path, option: &str) -> anyhow::Result<()> {
    let Some(output) = Identity::of(path) else { return Ok(()) };
    match inputs().into_iter().find(|input| Identity::of(input).as_ref() == Some(&output)) {
        Some(input) => Err(is_input(path, &input, option)),
        None => Ok(()),
    }
}

/// Whether two paths refer to the same file, which need not exist.
pub fn is_same(one: &Path, other: &Path) -> bool {
    Identity::of(one).is_some_and(|one| Identity::of(other) == Some(one))
}

/// Checks that a folder that will be replaced contains no input.
pub fn check_holds_no_input(folder: &Path, option: &str) -> anyhow::Result<()> {
    let Ok(real) = std::fs::canonicalize(folder) else { return Ok(()) };
    let is_inside = |input: &PathBuf| std::fs::canonicalize(input).is_ok_and(|input| input.starts_with(&real));
    if let Some(input) = inputs().iter().find(|input| is_inside(input)) {
        return Err(is_input(folder, input, option));
    }
    let files = std::fs::read_dir(&real).into_iter().flatten().flatten();
    files.into_iter().try_for_each(|file| check_not_input(&file.path(), option))
}

/// Checks that a folder is not a model folder, which may only contain the model.
pub fn check_not_model(folder: &Path, option: &str) -> anyhow::Result<()> {
    if folder.join("model.json").exists() {
        bail!("{}: is a model folder, which may only contain its model: choose another {option}", folder.display());
    }
    Ok(())
}

fn is_input(output: &Path, input: &Path, option: &str) -> anyhow::Error {
    let (output, input) = (output.display().to_string(), input.display().to_string());
    let same = if output == input { String::new() } else { format!(" as {input}") };
    anyhow::anyhow!("{output} is an input of this command{same} and is not overwritten: choose another {option}")
}

/// Returns all input files: files and files in folders on the command line, and query files beside data.
fn inputs() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in INPUTS.get().into_iter().flatten() {
        if path.is_dir() {
            add_files(path, DEPTH, &mut all);
        } else {
            all.extend(query_file_names(path).into_iter().filter(|name| name.is_file()));
            all.push(path.clone());
        }
    }
    all
}

fn add_files(folder: &Path, depth: usize, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if depth > 1 => add_files(&path, depth - 1, all),
            true => {}
            false => all.push(path),
        }
    }
}

/// Identifies a file independently of its path.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and inode.
    #[cfg(unix)]
    Node(u64, u64),
    /// Path with links resolved.
    Path(PathBuf),
}

impl Identity {
    /// Identifies a file that exists or can be created. Returns `None` for pipes, devices and folders.
    fn of(path: &Path) -> Option<Self> {
        let target = target_of(path);
        match std::fs::metadata(&target) {
            #[cfg(unix)]
            Ok(metadata) if metadata.is_file() => {
                use std::os::unix::fs::MetadataExt;
                Some(Identity::Node(metadata.dev(), metadata.ino()))
            }
            #[cfg(not(unix))]
            Ok(metadata) if metadata.is_file() => Some(Identity::Path(target)),
            Ok(_) => None,
            Err(_) => {
                let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
                Some(Identity::Path(folder.join(target.file_name()?)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;
    use clap::builder::ValueParser;

    fn arguments() -> Vec<(String, Arg)> {
        let commands: Vec<Command> = Cli::command().get_subcommands().cloned().collect();
        let of = |command: &Command| command.get_arguments().cloned().collect::<Vec<_>>();
        commands.iter().flat_map(|c| of(c).into_iter().map(|arg| (c.get_name().to_owned(), arg))).collect()
    }

    #[test]
    fn every_option_with_a_path_is_an_input_or_an_output() {
        let path = ValueParser::path_buf().type_id();
        for (command, arg) in arguments() {
            assert!(arg.get_value_parser().type_id() != path || is_path(&arg), "{command} {}", arg.get_id());
        }
    }

    #[test]
    fn every_command_that_writes_a_file_has_force() {
        let all = arguments();
        let writes = |arg: &Arg| is_path(arg) && OUTPUTS.contains(&arg.get_id().as_str());
        for (command, arg) in all.iter().filter(|(_, arg)| writes(arg)) {
            println!("{command} --{}", arg.get_id());
            assert!(all.iter().any(|(other, arg)| other == command && arg.get_id() == "force"), "{command}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_one_identity_under_all_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        std::fs::write(at("other"), "").unwrap();
        std::fs::hard_link(at("file"), at("hard")).unwrap();
        std::os::unix::fs::symlink("file", at("soft")).unwrap();
        std::os::unix::fs::symlink("missing", at("dangling")).unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        let of = |name: &str| Identity::of(&at(name));
        for name in ["hard", "soft", "sub/../file"] {
            assert_eq!(of("file"), of(name), "{name}");
        }
        assert_ne!(of("file"), of("other"));
        assert_eq!(of("dangling"), of("sub/../missing"));
        assert!(of("missing").is_some() && of("missing") != of("file"));
        assert_eq!((of("sub"), Identity::of(Path::new("/dev/null"))), (None, None));
    }
}
