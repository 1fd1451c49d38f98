//! A group with a single process.

use super::Group;
use crate::error::Result;

/// The only process of a group.
#[derive(Debug)]
pub(super) struct Alone;

impl Group for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn name(&self, _: usize) -> String {
        "this process".into()
    }

    fn gather(&self, local: &[u32], _: &[usize], all: &mut [u32]) -> Result<()> {
        all.copy_from_slice(local);
        Ok(())
    }

    fn exchange(&self, out: &[u32], _: &[usize], into: &mut [u32], _: &[usize]) -> Result<()> {
        into.copy_from_slice(out);
        Ok(())
    }
}
