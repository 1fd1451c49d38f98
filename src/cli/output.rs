//! Output to standard output or to files, which appear once they are complete and are compressed if they end in .gz or .zst.
//!
//! Every file that a command writes is an [`Output`]. It refuses to overwrite inputs, and existing files without `--force`: when
//! it is constructed, before any work, and again when it is written.

use super::protect;
use super::ui::{Bar, Unit};
use burnrank::data::Compression;
use burnrank::data::cache::check_in_use;
use burnrank::data::write_to;
use burnrank::internal::files::{Durability, Staged, target_of, write_new, write_whole};
use burnrank::internal::text::harmless;
use burnrank::{Dataset, Error, Result, WriteOptions};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Number of feature values to format at once.
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

/// An output file: not an input, and not an existing file unless `--force` is given.
#[derive(Debug, Clone)]
pub struct Output {
    path: PathBuf,
    /// The option that sets it.
    option: &'static str,
    force: bool,
}

impl Output {
    /// Checks the path of `option`. `force` allows replacing an existing file.
    pub fn new(path: &Path, option: &'static str, force: bool) -> anyhow::Result<Self> {
        let output = Output { path: path.to_path_buf(), option, force };
        output.check()?;
        Ok(output)
    }

    /// Like [`Output::new`], for an optional option.
    pub fn of_option(path: Option<&Path>, option: &'static str, force: bool) -> anyhow::Result<Option<Self>> {
        path.map(|path| Output::new(path, option, force)).transpose()
    }

    fn check(&self) -> anyhow::Result<()> {
        if is_stdout(&self.path) {
            return Ok(());
        }
        protect::check(&self.path, self.option, self.force)
    }

    /// The path as given by the user.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes with `fill`. The file appears or is replaced only if `fill` succeeds.
    pub fn write(&self, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> anyhow::Result<()> {
        if is_stdout(&self.path) {
            let (name, stdout) = (Path::new("<stdout>"), std::io::stdout().lock());
            // Ids and names may contain control characters. They are only escaped for terminals.
            match stdout.is_terminal() {
                true => compress(name, Harmless { writer: stdout, line: Vec::new() }, fill)?,
                false => compress(name, BufWriter::with_capacity(1 << 18, stdout), fill)?,
            }
            return Ok(());
        }
        self.check()?;
        let fill = |writer: &mut dyn Write| compress(&self.path, writer, fill);
        self.explain(match self.force {
            true => write_whole(&self.path, Durability::Crash, fill),
            false => write_new(&self.path, Durability::Crash, fill),
        })
    }

    /// Writes a text, like [`Output::write`].
    pub fn write_text(&self, text: &str) -> anyhow::Result<()> {
        self.write(|writer| writer.write_all(text.as_bytes()).map_err(|error| Error::io(&self.path, "write", error)))
    }

    /// Writes a temporary file, which [`Output::publish`] renames.
    pub fn stage(&self, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Staged> {
        Staged::new(&self.path, target_of(&self.path), Durability::Crash, |writer| compress(&self.path, writer, fill))
    }

    /// Renames a temporary file to the output.
    pub fn publish(&self, staged: Staged) -> anyhow::Result<()> {
        self.check()?;
        self.explain(if self.force { staged.publish() } else { staged.publish_new() })
    }

    /// Converts the error for a file that appeared during writing to that for an existing file.
    pub fn explain<T>(&self, written: Result<T>) -> anyhow::Result<T> {
        match written {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists && !self.force => {
                Err(protect::exists(&self.path, self.option))
            }
            other => Ok(other?),
        }
    }
}

/// Checks that a folder has no files that the command writes, unless `force` is set. `is_own` recognises their names.
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

/// A writer that escapes control characters, for terminals.
struct Harmless<W> {
    writer: W,
    /// The incomplete last line.
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

/// A writer with a progress bar.
pub struct Watched<'a> {
    writer: &'a mut dyn Write,
    bar: Bar,
    done: u64,
}

impl<'a> Watched<'a> {
    /// Wraps the writer of the file `path`.
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

/// Writes some queries of a data set as LETOR text, in pieces of limited size.
pub fn write_queries(writer: &mut dyn Write, data: &Dataset, queries: &[usize], options: &WriteOptions) -> Result<()> {
    pieces(data, queries, VALUES_AT_ONCE).try_for_each(|piece| write_to(writer, &data.select(piece), options))
}

/// Splits the queries into pieces of about `size` feature values.
fn pieces<'a>(data: &'a Dataset, queries: &'a [usize], size: usize) -> impl Iterator<Item = &'a [usize]> {
    let mut values = 0;
    queries.chunk_by(move |&query, _| {
        values += (data.offsets()[query + 1] - data.offsets()[query]) * data.n_features().max(1);
        let has_room = values < size;
        values = if has_room { values } else { 0 };
        has_room
    })
}

/// Writes with `fill`, compressed according to the extension of `path`.
fn compress<W: Write>(path: &Path, mut writer: W, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let failed = |error| Error::io(path, "write", error);
    // Errors of a writer have no file name.
    let with_path = |error| match error {
        Error::Io { source, .. } => failed(source),
        other => other,
    };
    match Compression::of_name(path) {
        Some(compression) => writer = compression.write(writer, fill).map_err(with_path)?,
        None => fill(&mut writer).map_err(with_path)?,
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
    fn extensions_select_the_compression() {
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
    fn output_on_a_terminal_has_no_control_characters() {
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
    fn an_existing_file_is_replaced_only_with_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let output = Output::new(&path, "--figure", false).unwrap();
        std::fs::write(&path, "late").unwrap();
        let expected =
            format!("{} already exists: choose another --figure, or replace it with --force", path.display());
        assert_eq!(output.write_text("new").unwrap_err().to_string(), expected);
        assert_eq!(Output::new(&path, "--figure", false).unwrap_err().to_string(), expected);
        // The file may appear between the check and the end of writing.
        let late = Err::<(), _>(Error::io(&path, "create", ErrorKind::AlreadyExists.into()));
        assert_eq!(output.explain(late).unwrap_err().to_string(), expected);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "late");
        Output::new(&path, "--figure", true).unwrap().write_text("new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn queries_in_several_pieces_read_back() {
        let queries = ["a", "b", "c"].map(|id| (id.to_owned(), 2)).to_vec();
        let features = vec![1.0, 0.0, 2.0, 3.0, 0.0, 0.0, 4.0, 5.0, 0.0, 6.0, 0.0, 7.0];
        let data = Dataset::new(2, features, vec![0.0, 1.0, 2.0, 0.0, 0.0, 1.0], queries).unwrap();
        let sizes = |size| pieces(&data, &[2, 0, 1], size).map(<[usize]>::len).collect::<Vec<_>>();
        assert_eq!((sizes(1), sizes(5), sizes(100)), (vec![1, 1, 1], vec![2, 1], vec![3]));
        let mut text = Vec::new();
        write_queries(&mut text, &data, &[2, 0, 1], &WriteOptions::default()).unwrap();
        assert_eq!(read_bytes("text", &text, &ReadOptions::default()).unwrap().data, data.select(&[2, 0, 1]));
    }
}
