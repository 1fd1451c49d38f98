//! Document ids, collected in temporary files until all features are written.

use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::internal::temporary::parent;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// The end of each id and the text of all ids.
#[derive(Debug)]
pub(super) struct Ids {
    ends: BufWriter<File>,
    text: BufWriter<File>,
    length: u64,
}

impl Ids {
    /// Creates unnamed files in the folder of the cache at `path`, after `before` documents without ids.
    pub fn new(path: &Path, before: usize) -> Result<Self> {
        let failed = |error| Error::io(path, "write", error);
        let file = || tempfile::tempfile_in(parent(path)).map(|file| BufWriter::with_capacity(1 << 18, file));
        let mut ids = Ids { ends: file().map_err(failed)?, text: file().map_err(failed)?, length: 0 };
        (0..before).try_for_each(|_| ids.ends.write_all(&[0; 8])).map_err(failed)?;
        Ok(ids)
    }

    /// Appends the ids of all documents; missing ids are empty.
    pub fn push(&mut self, data: &Dataset, path: &Path) -> Result<()> {
        for row in 0..data.n_documents() {
            let id = data.document_id(row).unwrap_or_default().as_bytes();
            self.length += id.len() as u64;
            let written = self.text.write_all(id).and_then(|()| self.ends.write_all(&self.length.to_le_bytes()));
            written.map_err(|error| Error::io(path, "write", error))?;
        }
        Ok(())
    }

    /// Returns both files, positioned at their starts.
    pub fn files(self) -> std::io::Result<[File; 2]> {
        let rewind = |file: BufWriter<File>| {
            let mut file = file.into_inner().map_err(|error| error.into_error())?;
            file.seek(SeekFrom::Start(0)).map(|_| file)
        };
        Ok([rewind(self.ends)?, rewind(self.text)?])
    }
}
