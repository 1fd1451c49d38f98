//! Where results go: standard output, or files that appear when they are complete and are packed by their name's ending.
//!
//! Every file that a command writes is an [`Output`], which refuses to overwrite what must stay: when it is made, before any
//! work, and again when it is written.

use super::protect;
use super::ui::{Bar, Unit};
use burnrank::data::Compression;
use burnrank::data::cache::check_in_use;
use burnrank::data::write_to;
use burnrank::internal::files::{Outlasts, Staged, target_of, write_new, write_whole};
use burnrank::internal::text::harmless;
use burnrank::{Dataset, Error, Result, WriteOptions};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Feature values that are turned into text at a time.
const VALUES_AT_ONCE: usize = 1 << 22;

/// The names of standard output.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Whether `path` means standard output.
pub fn is_stdout(path: &Path) -> bool {
    STDOUT.iter().any(|name| path.as_os_str() == *name)
}

/// Whether `path` means a file that is not compressed.
pub fn is_plain_file(path: &Path) -> bool {
    !is_stdout(path) && Compression::of_name(path).is_none()
}

/// A file that a command writes: neither one that it reads, nor one that exists, unless that may be replaced.
#[derive(Debug, Clone)]
pub struct Output {
    path: PathBuf,
    /// The option that names it.
    option: &'static str,
    force: bool,
}

impl Output {
    /// The file that `option` names, or standard output; `force` allows to replace a file that exists.
    pub fn new(path: &Path, option: &'static str, force: bool) -> anyhow::Result<Self> {
        let output = Output { path: path.to_path_buf(), option, force };
        output.check()?;
        Ok(output)
    }

    /// The same for an option that may be left out.
    pub fn of_option(path: Option<&Path>, option: &'static str, force: bool) -> anyhow::Result<Option<Self>> {
        path.map(|path| Output::new(path, option, force)).transpose()
    }

    fn check(&self) -> anyhow::Result<()> {
        if is_stdout(&self.path) {
            return Ok(());
        }
        protect::check(&self.path, self.option, self.force)
    }

    /// As the user calls it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Calls `fill` with a writer; a file appears, or is replaced, only when `fill` succeeded.
    pub fn write(&self, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> anyhow::Result<()> {
        if is_stdout(&self.path) {
            let (name, stdout) = (Path::new("<stdout>"), std::io::stdout().lock());
            // Ids and names in files may steer a terminal; what a program reads stays as it is.
            match stdout.is_terminal() {
                true => compress(name, Harmless { writer: stdout, line: Vec::new() }, fill)?,
                false => compress(name, BufWriter::with_capacity(1 << 18, stdout), fill)?,
            }
            return Ok(());
        }
        self.check()?;
        let fill = |writer: &mut dyn Write| compress(&self.path, writer, fill);
        self.explain(match self.force {
            true => write_whole(&self.path, Outlasts::Program, fill),
            false => write_new(&self.path, Outlasts::Program, fill),
        })
    }

    /// As [`Output::write`], for a text.
    pub fn write_text(&self, text: &str) -> anyhow::Result<()> {
        self.write(|writer| writer.write_all(text.as_bytes()).map_err(|error| Error::io(&self.path, "write", error)))
    }

    /// As [`Output::write`], but the file gets its name later, from [`Output::publish`].
    pub fn stage(&self, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Staged> {
        Staged::new(&self.path, target_of(&self.path), Outlasts::Program, |writer| compress(&self.path, writer, fill))
    }

    /// Gives a complete file its name.
    pub fn publish(&self, staged: Staged) -> anyhow::Result<()> {
        self.check()?;
        self.explain(if self.force { staged.publish() } else { staged.publish_new() })
    }

    /// The result of writing; that a file appeared meanwhile is reported as one that was there before is.
    pub fn explain<T>(&self, written: Result<T>) -> anyhow::Result<T> {
        match written {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists && !self.force => {
                Err(protect::exists(&self.path, self.option))
            }
            other => Ok(other?),
        }
    }
}

/// Refuses a folder with files that a command would write, unless they may be replaced; `is_own` knows the names of these.
pub fn check_folder(
    folder: &Path,
    option: &'static str,
    force: bool,
    is_own: impl Fn(&str) -> bool,
) -> anyhow::Result<()> {
    protect::check_not_model(folder, option)?;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(&is_own) {
            Output::new(&entry.path(), option, force)?;
        }
    }
    Ok(())
}

/// A writer of lines that do not steer a terminal.
struct Harmless<W> {
    writer: W,
    /// The line that is not yet over.
    line: Vec<u8>,
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            self.writer.write_all(harmless(&String::from_utf8_lossy(&lines)).as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.writer.write_all(harmless(&String::from_utf8_lossy(&line)).as_bytes())?;
        self.writer.flush()
    }
}

/// A writer that shows how far it has come.
pub struct Watched<'a> {
    writer: &'a mut dyn Write,
    bar: Bar,
    done: u64,
}

impl<'a> Watched<'a> {
    /// Watches what is written to the file of this name.
    pub fn new(path: &Path, writer: &'a mut dyn Write) -> Self {
        Watched { writer, bar: Bar::new(&format!("writing {}", path.display()), Unit::Bytes), done: 0 }
    }
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.done += written as u64;
        self.bar.update(self.done, None);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

/// Some queries of a data set as LETOR text, a few at a time.
pub fn write_queries(writer: &mut dyn Write, data: &Dataset, queries: &[usize], options: &WriteOptions) -> Result<()> {
    pieces(data, queries, VALUES_AT_ONCE).try_for_each(|piece| write_to(writer, &data.select(piece), options))
}

/// The queries in pieces of about `most` feature values.
fn pieces<'a>(data: &'a Dataset, queries: &'a [usize], most: usize) -> impl Iterator<Item = &'a [usize]> {
    let mut values = 0;
    queries.chunk_by(move |&query, _| {
        values += (data.offsets()[query + 1] - data.offsets()[query]) * data.n_features().max(1);
        let more = values < most;
        values = if more { values } else { 0 };
        more
    })
}

/// Fills a writer through the compression that the ending of `path` asks for.
fn compress<W: Write>(path: &Path, mut writer: W, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let failed = |error| Error::io(path, "write", error);
    // The library knows no name for a writer's trouble.
    let named = |error| match error {
        Error::Io { source, .. } => failed(source),
        other => other,
    };
    match Compression::of_name(path) {
        Some(compression) => writer = compression.write(writer, fill).map_err(named)?,
        None => fill(&mut writer).map_err(named)?,
    }
    writer.flush().map_err(failed)?;
    check_in_use()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burnrank::data::read_bytes;
    use burnrank::{ReadOptions, read};

    #[test]
    fn endings_choose_the_packing() {
        let folder = tempfile::tempdir().unwrap();
        let text = b"1 qid:a 1:2\n";
        for (name, magic) in [("a.txt", &text[..2]), ("a.txt.gz", &[0x1f, 0x8b]), ("a.ZST", &[0x28, 0xb5])] {
            let path = folder.path().join(name);
            let output = Output::new(&path, "--out", false).unwrap();
            output.write(|writer| writer.write_all(text).map_err(|error| Error::io("x", "write", error))).unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(magic), "{name}");
            assert_eq!(read(&path, &ReadOptions::default()).unwrap().data.labels(), [1.0]);
        }
    }

    #[test]
    fn lines_for_a_terminal_do_not_steer_it() {
        let mut written = Harmless { writer: Vec::new(), line: Vec::new() };
        // A character of two bytes in two pieces.
        for piece in [&b"a\x1b[2J\tb\xc3"[..], b"\xa9\n\xe2\x80\xae", b"c"] {
            written.write_all(piece).unwrap();
        }
        written.flush().unwrap();
        assert_eq!(String::from_utf8(written.writer).unwrap(), "a\\u001b[2J\tb\u{e9}\n\\u202ec");
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gz");
        std::fs::write(&path, "old").unwrap();
        let output = Output::new(&path, "--out", true).unwrap();
        let error = output.write(|_| Err(Error::io("output", "write", std::io::Error::other("full")))).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: cannot write: full", path.display()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_exists_is_replaced_only_where_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let output = Output::new(&path, "--figure", false).unwrap();
        std::fs::write(&path, "late").unwrap();
        let expected =
            format!("{} exists already: choose another --figure, or replace it with --force", path.display());
        assert_eq!(output.write_text("new").unwrap_err().to_string(), expected);
        assert_eq!(Output::new(&path, "--figure", false).unwrap_err().to_string(), expected);
        // The file may appear between the last look and the end of writing.
        let late = Err::<(), _>(Error::io(&path, "create", ErrorKind::AlreadyExists.into()));
        assert_eq!(output.explain(late).unwrap_err().to_string(), expected);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "late");
        Output::new(&path, "--figure", true).unwrap().write_text("new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn queries_in_several_pieces_read_back_whole() {
        let queries = ["a", "b", "c"].map(|id| (id.to_owned(), 2)).to_vec();
        let features = vec![1.0, 0.0, 2.0, 3.0, 0.0, 0.0, 4.0, 5.0, 0.0, 6.0, 0.0, 7.0];
        let data = Dataset::new(2, features, vec![0.0, 1.0, 2.0, 0.0, 0.0, 1.0], queries).unwrap();
        let sizes = |most| pieces(&data, &[2, 0, 1], most).map(<[usize]>::len).collect::<Vec<_>>();
        assert_eq!((sizes(1), sizes(5), sizes(100)), (vec![1, 1, 1], vec![2, 1], vec![3]));
        let mut text = Vec::new();
        write_queries(&mut text, &data, &[2, 0, 1], &WriteOptions::default()).unwrap();
        assert_eq!(read_bytes("text", &text, &ReadOptions::default()).unwrap().data, data.select(&[2, 0, 1]));
    }
}
