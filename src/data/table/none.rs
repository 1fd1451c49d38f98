//! What a build without the feature `tables` says of a table.

use super::kind::Kind;
use crate::data::letor::group::{Before, Origin};
use crate::data::letor::options::{ReadOptions, ReadProgress, ReadReport};
use crate::data::letor::pieces::Pieces;
use crate::data::letor::read::Parsed;
use crate::data::source::display_name;
use crate::error::{Error, Result};
use std::path::Path;

/// Nothing: there is no such value in this build.
pub(in crate::data) enum Table {}

impl Table {
    /// Refuses a table; `None` for other files.
    pub(in crate::data) fn open(path: &Path, options: &ReadOptions) -> Result<Option<Self>> {
        if Kind::of(path).is_none() {
            return options.table.check_unused(path).map(|()| None);
        }
        Err(Error::Config(format!(
            "{}: a table, which this build does not read: build with --features tables, as in 'cargo install --path . \
             --features tables'",
            display_name(path)
        )))
    }

    pub(in crate::data) fn read(self, _: &(dyn Fn(ReadProgress) + Sync)) -> Result<ReadReport> {
        match self {}
    }
}

impl Pieces for Table {
    fn origin(&self) -> Origin<'_> {
        match *self {}
    }

    fn expected(&self) -> &'static str {
        match *self {}
    }

    fn feature_names(&self) -> Option<Vec<String>> {
        match *self {}
    }

    fn next(&mut self, _: usize, _: Before<'_>, _: &dyn Fn(u64)) -> Result<(Parsed, bool)> {
        match *self {}
    }

    fn bytes(&self) -> u64 {
        match *self {}
    }
}
