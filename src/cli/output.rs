//! Where results go: standard output, or files that appear when they are complete and are packed by their name's ending.

use super::interrupt::Unfinished;
use burnrank::{Dataset, Error, Result, WriteOptions, write_to};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Feature values that are turned into text at a time.
const VALUES_AT_ONCE: usize = 1 << 22;

/// Whether `path` means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Calls `fill` with a writer for `path`; a file appears, or is replaced, only when `fill` succeeded.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    if is_stdout(path) {
        let name = Path::new("<stdout>");
        return pack(name, BufWriter::with_capacity(1 << 18, std::io::stdout().lock()), fill).map(drop);
    }
    // A link stays a link: the file it leads to is replaced. Devices and pipes cannot be.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if std::fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        let file = File::create(&target).map_err(|error| Error::io(path, "create", error))?;
        return pack(path, BufWriter::new(file), fill).map(drop);
    }
    Staged::new(path, target, fill)?.publish()
}

/// Some queries of a data set as LETOR text, a few at a time.
pub fn write_queries(writer: &mut dyn Write, data: &Dataset, queries: &[usize], options: &WriteOptions) -> Result<()> {
    let size = |query: usize| (data.offsets()[query + 1] - data.offsets()[query]) * data.n_features().max(1);
    let mut values = 0;
    let few = |_: &usize, next: &usize| {
        values += size(*next);
        let more = values < VALUES_AT_ONCE;
        values = if more { values } else { 0 };
        more
    };
    queries.chunk_by(few).try_for_each(|queries| write_to(writer, &data.select(queries), options))
}

/// A finished file that waits for its name.
#[derive(Debug)]
pub struct Staged {
    file: TempPath,
    target: PathBuf,
    _unfinished: Unfinished,
}

impl Staged {
    /// Writes the file next to `target`; `path` is how the user calls it.
    pub fn new(path: &Path, target: PathBuf, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Self> {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        let builder = {
            use std::os::unix::fs::PermissionsExt;
            // A temporary file is private by default; a result is as readable as the user's umask says.
            builder.permissions(std::fs::Permissions::from_mode(0o666))
        };
        let file = builder.prefix(".burnrank-").tempfile_in(folder).map_err(|error| Error::io(path, "create", error))?;
        let (file, temporary) = file.into_parts();
        let unfinished = Unfinished::new(&temporary);
        pack(path, BufWriter::with_capacity(1 << 18, file), fill)?;
        Ok(Staged { file: temporary, target, _unfinished: unfinished })
    }

    /// Gives the file its name.
    pub fn publish(self) -> Result<()> {
        self.file.persist(&self.target).map_err(|error| Error::io(&self.target, "create", error.error))
    }
}

/// Fills a writer through the packing that the ending of `path` asks for.
fn pack<W: Write>(path: &Path, mut writer: W, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let failed = |error| Error::io(path, "write", error);
    // The library knows no name for a writer's trouble.
    let named = |error| match error {
        Error::Io { source, .. } => failed(source),
        other => other,
    };
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("gz") => {
            let mut encoder = flate2::write::GzEncoder::new(writer, flate2::Compression::default());
            fill(&mut encoder).map_err(named)?;
            writer = encoder.finish().map_err(failed)?;
        }
        Some("zst") => {
            let mut encoder = zstd::stream::write::Encoder::new(writer, 0).map_err(failed)?;
            fill(&mut encoder).map_err(named)?;
            writer = encoder.finish().map_err(failed)?;
        }
        _ => fill(&mut writer).map_err(named)?,
    }
    writer.flush().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burnrank::{ReadOptions, read, read_bytes};

    #[test]
    fn endings_choose_the_packing() {
        let folder = tempfile::tempdir().unwrap();
        let text = b"1 qid:a 1:2\n";
        for (name, magic) in [("a.txt", &text[..2]), ("a.txt.gz", &[0x1f, 0x8b]), ("a.ZST", &[0x28, 0xb5])] {
            let path = folder.path().join(name);
            write(&path, |writer| writer.write_all(text).map_err(|error| Error::io("x", "write", error))).unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(magic), "{name}");
            assert_eq!(read(&path, &ReadOptions::default()).unwrap().data.labels(), [1.0]);
        }
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gz");
        std::fs::write(&path, "old").unwrap();
        let error = write(&path, |_| Err(Error::io("output", "write", std::io::Error::other("full")))).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: cannot write: full", path.display()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn queries_in_several_pieces_read_back_whole() {
        // Wide enough that each query is a piece of its own.
        let width = VALUES_AT_ONCE / 4;
        let features = (0..3 * width).map(|i| (i % 7) as f32).collect();
        let queries = ["a", "b", "c"].map(|id| (id.to_owned(), 1)).to_vec();
        let data = Dataset::new(width, features, vec![0.0, 1.0, 2.0], queries).unwrap();
        let mut text = Vec::new();
        let options = WriteOptions { zeros: burnrank::Zeros::Omit, ..WriteOptions::default() };
        write_queries(&mut text, &data, &[2, 0, 1], &options).unwrap();
        let back = read_bytes("text", &text, &ReadOptions { width: None, ..ReadOptions::default() }).unwrap();
        assert_eq!(back.data.n_documents(), 3);
        assert_eq!(back.data, data.select(&[2, 0, 1]));
    }
}
