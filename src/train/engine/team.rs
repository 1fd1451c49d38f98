//! Threads that wait for work during an epoch, so that work of a few microseconds can run in parallel.
//!
//! A fork and join in Rayon wakes a sleeping thread each time, which takes longer than a batch of one query. Here threads of the
//! current pool poll for the next piece of work. The leader never waits for a thread to join: it computes every piece that no
//! other thread has taken. A busy pool makes a round slower but cannot deadlock it.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of polls before a thread yields the core: about 50 microseconds.
const LOOKS: u32 = 1_000;

/// Maximum number of pieces of a round.
const PIECES: usize = 1 << 15;

thread_local! {
    /// Whether this thread is computing a piece. While a piece waits in Rayon, the thread must not become a helper, which
    /// would not return.
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// The free threads of the current pool.
pub(super) struct Team {
    shared: Arc<Shared>,
    /// Number of threads besides the leader.
    helpers: usize,
    rounds: Cell<u32>,
}

/// Computes one piece, given its number.
type Task<'a> = dyn Fn(usize) + Sync + 'a;

struct Shared {
    /// The number of the round (32 bits), the first piece that no thread has taken, and the end of the pieces (16 bits each).
    pieces: AtomicU64,
    /// Number of pieces of the round that are done.
    done: AtomicUsize,
    /// The task of the round; valid until all of its pieces are done.
    task: UnsafeCell<*const Task<'static>>,
    closed: AtomicBool,
    /// Payload of the first panic.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: only the leader writes `task`, while no piece is left to take or to finish; it is read only by threads that have taken
// a piece of the round for which it was written. The task itself is `Sync`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Team {
    /// A team of the threads of the current pool.
    pub fn new() -> Self {
        let idle: *const Task<'static> = &|_: usize| {};
        let shared = Arc::new(Shared {
            pieces: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            task: UnsafeCell::new(idle),
            closed: AtomicBool::new(false),
            panic: Mutex::new(None),
        });
        let helpers = rayon::current_num_threads() - 1;
        for _ in 0..helpers {
            let shared = shared.clone();
            rayon::spawn(move || shared.help());
        }
        Team { shared, helpers, rounds: Cell::new(0) }
    }

    /// Number of threads.
    #[cfg(test)]
    pub fn size(&self) -> usize {
        self.helpers + 1
    }

    /// Computes each piece once, and returns when all are done.
    ///
    /// The same thread tends to compute the same pieces in every round with the same number of pieces.
    ///
    /// # Panics
    /// If a piece panics.
    pub fn each(&self, pieces: usize, task: impl Fn(usize) + Sync) {
        // A round within a piece would replace the task of the outer round.
        if self.helpers == 0 || pieces <= 1 || IS_AT_WORK.get() {
            return (0..pieces).for_each(task);
        }
        for start in (0..pieces).step_by(PIECES) {
            self.round(PIECES.min(pieces - start), &|piece| task(start + piece));
        }
    }

    fn round(&self, pieces: usize, task: &Task<'_>) {
        let shared = &*self.shared;
        self.rounds.set(self.rounds.get().wrapping_add(1));
        shared.done.store(0, Ordering::Relaxed);
        // SAFETY: all pieces of the previous round are done, so no thread reads it. Only the lifetime changes, and this function
        // returns after the last piece of the round is done.
        unsafe { *shared.task.get() = std::mem::transmute::<*const Task<'_>, *const Task<'static>>(task) };
        shared.pieces.store(u64::from(self.rounds.get()) << 32 | pieces as u64, Ordering::Release);
        while let Some(piece) = shared.take(true) {
            shared.work(piece);
        }
        let mut looks = 0u32;
        while shared.done.load(Ordering::Acquire) < pieces {
            wait(&mut looks);
        }
        let panic = shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
    }
}

impl Shared {
    /// Takes the next piece, from the front or from the back.
    fn take(&self, front: bool) -> Option<usize> {
        let mut now = self.pieces.load(Ordering::Acquire);
        loop {
            let (first, end) = (now >> 16 & 0xffff, now & 0xffff);
            if first >= end {
                return None;
            }
            let (piece, next) = if front { (first, now + (1 << 16)) } else { (end - 1, now - 1) };
            match self.pieces.compare_exchange_weak(now, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(piece as usize),
                Err(other) => now = other,
            }
        }
    }

    /// Computes a piece that was taken.
    fn work(&self, piece: usize) {
        // SAFETY: the round of this piece lasts until `done` counts it.
        let task = unsafe { &**self.task.get() };
        let outer = IS_AT_WORK.replace(true);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| task(piece))) {
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            match &*first {
                // Dropping a payload may panic, which must not happen before the piece is counted.
                Some(_) => std::mem::forget(panic),
                None => *first = Some(panic),
            }
        }
        IS_AT_WORK.set(outer);
        self.done.fetch_add(1, Ordering::Release);
    }

    /// Takes pieces until the team is closed.
    fn help(&self) {
        if IS_AT_WORK.get() {
            return;
        }
        let mut looks = 0u32;
        while !self.closed.load(Ordering::Acquire) {
            match self.take(false) {
                Some(piece) => {
                    self.work(piece);
                    looks = 0;
                }
                None => {
                    wait(&mut looks);
                    if looks >= LOOKS {
                        // Runs other work of the pool.
                        rayon::yield_now();
                    }
                }
            }
        }
    }
}

/// Waits for a moment, at first without yielding the core.
fn wait(looks: &mut u32) {
    if *looks < LOOKS {
        *looks += 1;
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

/// A slice to which the pieces of a round write, each to its own range.
pub(super) struct Apart<T> {
    start: *mut T,
    length: usize,
}

// SAFETY: callers of `cut` promise that no two ranges overlap.
unsafe impl<T: Send> Sync for Apart<T> {}

impl<T> Apart<T> {
    pub fn new(all: &mut [T]) -> Self {
        Apart { start: all.as_mut_ptr(), length: all.len() }
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns a range of the slice.
    ///
    /// # Safety
    /// The original slice must not be used until all pieces of the round are done, and no other piece of the round may ask for
    /// these places.
    #[allow(clippy::mut_from_ref)] // the caller promises that ranges do not overlap
    pub unsafe fn cut(&self, places: std::ops::Range<usize>) -> &mut [T] {
        assert!(places.start <= places.end && places.end <= self.length, "places within the slice");
        // SAFETY: the places lie within the slice, and the caller promises the rest.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(places.start), places.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    #[test]
    fn every_piece_is_computed_once_by_any_number_of_threads() {
        for threads in [1, 2, 4] {
            with_threads(threads, || {
                let team = Team::new();
                assert_eq!(team.size(), threads);
                for round in 0..2_000 {
                    let pieces = [0, 1, 2, 3, 8, 17][round % 6];
                    let mut counts = vec![0usize; pieces];
                    let apart = Apart::new(&mut counts);
                    // SAFETY: every piece has one place.
                    team.each(pieces, |piece| unsafe { apart.cut(piece..piece + 1)[0] += round + piece });
                    assert!(counts.iter().enumerate().all(|(piece, &count)| count == round + piece), "{threads}");
                }
            });
        }
    }

    #[test]
    fn more_pieces_than_a_round_has_are_computed() {
        with_threads(2, || {
            let sum = AtomicUsize::new(0);
            Team::new().each(PIECES * 2 + 5, |piece| {
                sum.fetch_add(piece, Ordering::Relaxed);
            });
            let last = PIECES * 2 + 4;
            assert_eq!(sum.into_inner(), last * (last + 1) / 2);
        });
    }

    /// A piece that forks may be asked to start the helpers of its own team, which must not wait for it.
    #[test]
    fn pieces_that_fork_do_not_wait_for_themselves() {
        for threads in [1, 2, 3] {
            with_threads(threads, || {
                let team = Team::new();
                for _ in 0..200 {
                    let sum = AtomicUsize::new(0);
                    team.each(4, |piece| {
                        let (a, b) = rayon::join(|| piece, || 1);
                        sum.fetch_add(a + b, Ordering::Relaxed);
                    });
                    assert_eq!(sum.into_inner(), 10);
                }
            });
        }
    }

    #[test]
    fn a_round_within_a_piece_does_not_disturb_the_outer_one() {
        struct OfLeader<'a>(&'a Team, std::thread::ThreadId);
        // SAFETY: only the thread of the leader uses the team.
        unsafe impl Sync for OfLeader<'_> {}
        impl OfLeader<'_> {
            fn each(&self, task: impl Fn(usize) + Sync) {
                if std::thread::current().id() == self.1 {
                    self.0.each(3, task);
                }
            }
        }
        with_threads(2, || {
            let team = Team::new();
            let leader = OfLeader(&team, std::thread::current().id());
            for _ in 0..200 {
                let [outer, inner] = [0, 0].map(AtomicUsize::new);
                team.each(6, |piece| {
                    outer.fetch_add(piece, Ordering::Relaxed);
                    leader.each(|piece| {
                        inner.fetch_add(piece, Ordering::Relaxed);
                    });
                });
                assert_eq!(outer.into_inner(), 15);
                assert_eq!(inner.into_inner() % 3, 0);
            }
        });
    }

    #[test]
    fn several_teams_share_a_pool() {
        use rayon::prelude::*;
        with_threads(2, || {
            let sums: Vec<usize> = (0..8usize)
                .into_par_iter()
                .map(|number| {
                    let (team, sum) = (Team::new(), AtomicUsize::new(0));
                    for _ in 0..100 {
                        team.each(5, |piece| {
                            sum.fetch_add(piece + number, Ordering::Relaxed);
                        });
                    }
                    sum.into_inner()
                })
                .collect();
            assert!(sums.iter().enumerate().all(|(number, &sum)| sum == 100 * (10 + 5 * number)));
        });
    }

    #[test]
    fn a_panic_reaches_the_leader_and_the_team_lives_on() {
        with_threads(2, || {
            let team = Team::new();
            let failed = catch_unwind(AssertUnwindSafe(|| team.each(4, |piece| assert!(piece != 2, "piece 2"))));
            assert!(failed.is_err());
            let sum = AtomicUsize::new(0);
            team.each(3, |piece| {
                sum.fetch_add(piece, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 3);
        });
    }
}
