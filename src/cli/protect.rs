//! What a command must not overwrite: a file that exists, unless `--force` is given, and never a file that it reads.

use super::input::query_file_names;
use anyhow::bail;
use burnrank::internal::files::target_of;
use clap::{Arg, ArgMatches, Command};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What options call the paths that they take.
const PATHS: [&str; 3] = ["FILE", "DIR", "SYSTEM"];

/// The options that name outputs; all others that take a path name inputs.
const OUTPUTS: [&str; 4] = ["out", "log", "figure", "figures"];

/// Folders in an input folder that are looked into, as `Fold1` is.
const DEPTH: usize = 2;

static INPUTS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Whether an option takes a path.
fn is_path(arg: &Arg) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| PATHS.contains(&name.as_str())))
}

/// Remembers all inputs that the command line names.
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

/// Refuses an output that would replace what must stay: an input always, another file unless `force` says so.
///
/// Standard output, pipes and devices are no files that could be lost.
pub fn check(path: &Path, option: &str, force: bool) -> anyhow::Result<()> {
    check_not_input(path, option)?;
    if path.is_file() && !force {
        return Err(exists(path, option));
    }
    Ok(())
}

/// The error for an output that exists.
pub fn exists(path: &Path, option: &str) -> anyhow::Error {
    anyhow::anyhow!("{} exists already: choose another {option}, or replace it with --force", path.display())
}

/// Refuses an output that is an input, by whatever name.
pub fn check_not_input(path: &Path, option: &str) -> anyhow::Result<()> {
    let Some(output) = Identity::of(path) else { return Ok(()) };
    match inputs().into_iter().find(|input| Identity::of(input).as_ref() == Some(&output)) {
        Some(input) => Err(is_input(path, &input, option)),
        None => Ok(()),
    }
}

/// Whether two paths lead to the same file, be it one that is still to be made.
pub fn is_same(one: &Path, other: &Path) -> bool {
    Identity::of(one).is_some_and(|one| Identity::of(other) == Some(one))
}

/// Refuses a folder that is replaced as a whole where an input lies in it.
pub fn check_holds_no_input(folder: &Path, option: &str) -> anyhow::Result<()> {
    let Ok(real) = std::fs::canonicalize(folder) else { return Ok(()) };
    let lies_in = |input: &PathBuf| std::fs::canonicalize(input).is_ok_and(|input| input.starts_with(&real));
    if let Some(input) = inputs().iter().find(|input| lies_in(input)) {
        return Err(is_input(folder, input, option));
    }
    let files = std::fs::read_dir(&real).into_iter().flatten().flatten();
    files.into_iter().try_for_each(|file| check_not_input(&file.path(), option))
}

/// Refuses a model folder for files that are not the model's.
pub fn check_not_model(folder: &Path, option: &str) -> anyhow::Result<()> {
    if folder.join("model.json").exists() {
        bail!("{}: a model folder holds nothing but its model: choose another {option}", folder.display());
    }
    Ok(())
}

fn is_input(output: &Path, input: &Path, option: &str) -> anyhow::Error {
    let (output, input) = (output.display().to_string(), input.display().to_string());
    let same = if output == input { String::new() } else { format!(" as {input}") };
    anyhow::anyhow!("{output} is read by this command{same} and is never overwritten: choose another {option}")
}

/// All files that the command reads: those that it names, those in the folders that it names, and query files beside data.
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

/// Identifies a file whatever its name.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and number of a file.
    #[cfg(unix)]
    Node(u64, u64),
    /// The path, with links followed.
    Path(PathBuf),
}

impl Identity {
    /// Of a file that exists or may be made; nothing for pipes, devices and folders.
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
    fn a_file_is_the_same_by_all_of_its_names() {
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
