//! A group of threads connected by channels, for tests.

use super::{Group, Member};
use crate::error::{Error, Result};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

struct Threads {
    rank: usize,
    to: Vec<Sender<Vec<u32>>>,
    from: Vec<Mutex<Receiver<Vec<u32>>>>,
}

/// Runs `work` in every member of a group of this size, each with one rayon thread, and returns all results.
pub(crate) fn each<T: Send>(size: usize, work: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    each_with(size, 1, work)
}

/// Like [`each`], with a number of rayon threads per member.
pub(crate) fn each_with<T: Send>(size: usize, threads: usize, work: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    let mut from: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
    let mut to: Vec<Vec<_>> = (0..size).map(|_| Vec::new()).collect();
    for giver in &mut to {
        for taker in &mut from {
            let (sender, receiver) = channel();
            giver.push(sender);
            taker.push(Mutex::new(receiver));
        }
    }
    let members: Vec<Threads> =
        to.into_iter().zip(from).enumerate().map(|(rank, (to, from))| Threads { rank, to, from }).collect();
    let work = &work;
    std::thread::scope(|scope| {
        let run = |member: Threads| {
            scope.spawn(move || {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let member = Member::of(Arc::new(member));
                pool.install(|| work(&member))
            })
        };
        let running: Vec<_> = members.into_iter().map(run).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

impl Threads {
    /// Errors are ignored: a dead member is detected when receiving from it.
    fn send(&self, to: usize, words: &[u32]) {
        let _ = self.to[to].send(words.to_vec());
    }

    fn receive(&self, from: usize, into: &mut [u32]) -> Result<()> {
        let words = self.from[from].lock().unwrap().recv().map_err(|_| self.gone(from))?;
        assert_eq!(words.len(), into.len(), "members do not make the same calls");
        into.copy_from_slice(&words);
        Ok(())
    }

    fn gone(&self, rank: usize) -> Error {
        Error::Elsewhere {
            process: self.name(rank),
            message: "it has died: see the output of its machine".into(),
            code: 1,
        }
    }
}

impl Group for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn name(&self, rank: usize) -> String {
        format!("process {rank} of {}", self.size())
    }

    fn gather(&self, local: &[u32], lengths: &[usize], all: &mut [u32]) -> Result<()> {
        assert_eq!(local.len(), lengths[self.rank]);
        (0..self.size()).for_each(|to| self.send(to, local));
        let mut rest = all;
        for (from, &length) in lengths.iter().enumerate() {
            let (part, after) = rest.split_at_mut(length);
            self.receive(from, part)?;
            rest = after;
        }
        Ok(())
    }

    fn exchange(&self, out: &[u32], out_lengths: &[usize], into: &mut [u32], into_lengths: &[usize]) -> Result<()> {
        let mut rest = out;
        for (to, &length) in out_lengths.iter().enumerate() {
            let (part, after) = rest.split_at(length);
            self.send(to, part);
            rest = after;
        }
        let mut rest = into;
        for (from, &length) in into_lengths.iter().enumerate() {
            let (part, after) = rest.split_at_mut(length);
            self.receive(from, part)?;
            rest = after;
        }
        Ok(())
    }
}
