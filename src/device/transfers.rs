//! Counts of copies between host and device memory.

use crate::memory::readable;
use serde::Serialize;
use std::fmt;
use std::ops::Add;
#[cfg(feature = "cubecl")]
use std::sync::atomic::{AtomicU64, Ordering};

/// Number and size of copies in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Copies {
    /// Number of copies.
    pub count: u64,
    /// Total number of bytes.
    pub bytes: u64,
}

/// Copies between host and device memory since a run began.
///
/// Counts features, labels, orders, scores, sums and weights, but not the few bytes of arguments of each kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Transfers {
    /// From the host to the device.
    pub to_device: Copies,
    /// From the device to the host.
    pub from_device: Copies,
}

impl Add for Copies {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Copies { count: self.count + other.count, bytes: self.bytes + other.bytes }
    }
}

impl Add for Transfers {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Transfers { to_device: self.to_device + other.to_device, from_device: self.from_device + other.from_device }
    }
}

impl fmt::Display for Transfers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (to, from) = (self.to_device, self.from_device);
        let (sent, back) = (readable(to.bytes), readable(from.bytes));
        write!(f, "{sent} in {} copies to the device, {back} in {} from it", to.count, from.count)
    }
}

/// A thread-safe counter of copies.
#[cfg(feature = "cubecl")]
#[derive(Debug, Default)]
pub(crate) struct Counter {
    count: AtomicU64,
    bytes: AtomicU64,
}

#[cfg(feature = "cubecl")]
impl Counter {
    /// Counts a copy of this many 4-byte values.
    pub fn add(&self, values: usize) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(4 * values as u64, Ordering::Relaxed);
    }

    pub fn copies(&self) -> Copies {
        Copies { count: self.count.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}
