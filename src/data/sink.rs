//! Whole files or none: what is written appears under its name only when it is complete.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Calls `fill` with a writer; the file at `path` appears, or is replaced, only when `fill` succeeded.
///
/// Devices and pipes cannot be replaced and are written to directly.
///
/// # Errors
/// When the folder or the file cannot be written, and whatever `fill` returns.
pub(crate) fn write_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let create = |error| Error::io(path, "create", error);
    // A link stays a link: the file it leads to is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if std::fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        let mut writer = BufWriter::new(File::create(&target).map_err(create)?);
        fill(&mut writer)?;
        return writer.flush().map_err(|error| Error::io(path, "write", error));
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is private by default; a result is as readable as the user's umask says.
        builder.permissions(std::fs::Permissions::from_mode(0o666))
    };
    let file = builder.prefix(".burnrank-").tempfile_in(folder).map_err(create)?;
    let mut writer = BufWriter::with_capacity(1 << 18, file);
    fill(&mut writer)?;
    let file = writer.into_inner().map_err(|error| Error::io(path, "write", error.into_error()))?;
    file.persist(&target).map_err(|error| create(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        std::fs::write(&path, "old").unwrap();
        let failed = write_whole(&path, |writer| {
            writer.write_all(b"half").unwrap();
            Err(Error::Config("stop".into()))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        write_whole(&path, |writer| writer.write_all(b"new").map_err(|e| Error::io("x", "write", e))).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        assert!(write_whole(Path::new("no/such/folder/out.txt"), |_| Ok(())).is_err());
    }
}
