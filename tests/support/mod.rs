//! Runs the program of a package in a temporary folder.
#![allow(dead_code)] // not every test file uses all of it

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// The program under test, one per package.
const PROGRAM: &str = match (option_env!("CARGO_BIN_EXE_burnrank"), option_env!("CARGO_BIN_EXE_experiments")) {
    (Some(program), _) | (None, Some(program)) => program,
    (None, None) => panic!("no program is built: its feature is missing"),
};

/// Exit code and output of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the tool prints UTF-8");
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Returns standard output; the command must have succeeded without messages.
    pub fn good(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        self.out
    }

    /// Returns standard output; the command must have succeeded, with or without messages.
    pub fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// Returns the error message; the command must have failed with `code`.
    pub fn bad(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        assert!(self.err.starts_with("error: "), "{}", self.err);
        self.err
    }

    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.good()).expect("the tool prints JSON")
    }
}

/// A temporary folder that commands run in.
pub struct Place(pub TempDir);

impl Place {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).expect("a file"));
        Place(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.path()).env_remove("BURNRANK_DATA").args(arguments.split_whitespace());
        command
    }

    pub fn run(&self, arguments: &str) -> Ran {
        Ran::of(self.command(arguments).stdin(Stdio::null()).output().expect("the tool runs"))
    }

    pub fn run_with(&self, arguments: &str, input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool starts");
        child.stdin.take().expect("a pipe").write_all(input).expect("the tool reads");
        Ran::of(child.wait_with_output().expect("the tool ends"))
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.path().join(file)).expect(file)
    }

    /// Returns all files and folders, including hidden ones.
    pub fn list(&self) -> Vec<String> {
        fn walk(folder: &Path, root: &Path, names: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                names.push(path.strip_prefix(root).expect("below").display().to_string());
                if path.is_dir() {
                    walk(&path, root, names);
                }
            }
        }
        let mut names = Vec::new();
        walk(self.0.path(), self.0.path(), &mut names);
        names.sort();
        names
    }
}

/// Waits until a run writes its first or next checkpoint.
pub fn wait_for_checkpoint(child: &mut Child, file: &Path) {
    let written = || std::fs::metadata(file).and_then(|file| file.modified()).ok();
    let before = written();
    while written().is_none() || written() == before {
        assert!(child.try_wait().expect("a state").is_none(), "the run ended before its next checkpoint");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Sends a signal, such as INT or KILL.
#[cfg(unix)]
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status();
    assert!(sent.expect("a signal").success());
}

/// Runs a Python script in a folder. Returns `None` if BURNRANK_PYTHON is not set or lacks a module.
pub fn python(script: &str, modules: &[&str], folder: &Path) -> Option<String> {
    let Some(python) = std::env::var_os("BURNRANK_PYTHON") else {
        println!("skipped: BURNRANK_PYTHON does not name a Python with {}", modules.join(", "));
        return None;
    };
    let run =
        |script: &str| Command::new(&python).args(["-c", script]).current_dir(folder).output().expect("Python runs");
    let has = |module: &&str| run(&format!("import {module}")).status.success();
    if let Some(missing) = modules.iter().find(|module| !has(module)) {
        println!("skipped: BURNRANK_PYTHON has no {missing}");
        return None;
    }
    let output = run(script);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("text"))
}
