//! An allocator that prints an error instead of aborting when the system is out of memory.
//!
//! Large allocations are checked with `burnrank::memory` first. This handles all others.

use burnrank::internal::files::try_remove_unfinished;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, but the program ends with an error message when memory runs out. The `burnrank` program uses it as its
/// global allocator.
#[derive(Debug)]
pub struct ReportingAllocator;

// SAFETY: all calls are forwarded unchanged to the system's allocator, and its results are returned.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of this function.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Makes the allocator return large blocks to the system as soon as they are freed, for programs that run for a long time.
///
/// By default glibc keeps freed blocks of up to 32 MB for reuse.
#[cfg(feature = "serve")]
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Minimum size in bytes of blocks that are mapped individually.
        const M_MMAP_THRESHOLD: i32 = -3;
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        // SAFETY: a function of the C library with a documented parameter. If it fails, memory is only kept longer.
        unsafe { mallopt(M_MMAP_THRESHOLD, 256 << 10) };
    }
}

#[inline(always)]
fn checked(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        out_of_memory(bytes);
    }
    memory
}

/// Ends the program with an error message, without allocating.
#[cold]
fn out_of_memory(bytes: usize) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, Ordering::SeqCst) {
        return;
    }
    let mut text = [0; 160];
    let mut rest = &mut text[..];
    let _ = writeln!(
        rest,
        "error: out of memory: cannot allocate {bytes} bytes; use smaller files or fewer --threads, or raise the system's limit"
    );
    let left = rest.len();
    let _ = std::io::stderr().write_all(&text[..text.len() - left]);
    try_remove_unfinished();
    std::process::exit(1);
}
