//! What is copied between the host's memory and a device's.

use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// Copies in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Copies {
    /// How many.
    pub count: u64,
    /// Of how many bytes together.
    pub bytes: u64,
}

/// Copies between the host's memory and a device's, since a run began.
///
/// What a run asks for is counted: features, labels, orders, scores, sums and weights. The few bytes of arguments that come
/// with every kernel are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Transfers {
    /// From the host to the device.
    pub to_device: Copies,
    /// From the device to the host.
    pub from_device: Copies,
}

/// A count that several threads add to.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    count: AtomicU64,
    bytes: AtomicU64,
}

impl Counter {
    /// One more copy, of so many values of four bytes.
    pub fn add(&self, values: usize) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(4 * values as u64, Ordering::Relaxed);
    }

    pub fn copies(&self) -> Copies {
        Copies { count: self.count.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}
