//! Saving an ensemble to a checkpoint, and resuming it.

use super::Ensemble;
use crate::error::Result;
use crate::train::checkpoint;
use crate::train::identity::hash;
use crate::train::resume::{Saved, other_run};
use std::path::Path;

impl Ensemble<'_> {
    /// Like [`Trainer::resume`](crate::Trainer::resume), for all members.
    ///
    /// # Errors
    /// The errors of [`Trainer::resume`](crate::Trainer::resume).
    pub fn resume(mut self, path: &Path) -> Result<Self> {
        if self.members.len() == 1 {
            self.members = self.members.into_iter().map(|only| only.resume(path)).collect::<Result<_>>()?;
            return Ok(self);
        }
        let (saved, parts): (Saved, Vec<Vec<u8>>) = checkpoint::read(path)?;
        let Saved::Ensemble(states) = saved else { return Err(other_run(path)) };
        if states.len() != self.members.len() || states.iter().map(|(_, parts)| parts).sum::<usize>() != parts.len() {
            return Err(other_run(path));
        }
        let mut parts = parts.into_iter();
        for (member, (state, count)) in self.members.iter_mut().zip(states) {
            member.restore(state, parts.by_ref().take(count).collect(), path)?;
        }
        Ok(self)
    }

    /// The [`Ensemble::identity`] of the run in a checkpoint.
    ///
    /// # Errors
    /// If the file is missing or damaged.
    pub fn identity_in(path: &Path) -> Result<String> {
        let (saved, _): (Saved, Vec<Vec<u8>>) = checkpoint::read(path)?;
        let members = match saved {
            Saved::Run(state) => vec![hash(&state.identity)],
            Saved::Ensemble(states) => states.iter().map(|(state, _)| hash(&state.identity)).collect(),
        };
        Ok(Self::identity_of(&members))
    }

    /// Like [`Trainer::save_checkpoint`](crate::Trainer::save_checkpoint): one file for all members.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_checkpoint(&self, path: &Path) -> Result<()> {
        if let [only] = &self.members[..] {
            return only.save_checkpoint(path);
        }
        let (mut states, mut parts) = (Vec::new(), Vec::new());
        for member in &self.members {
            let member_parts = member.learner.save()?;
            states.push((&member.state, member_parts.len()));
            parts.extend(member_parts);
        }
        checkpoint::write(path, &states, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}
