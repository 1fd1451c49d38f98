//! Memory from the system, and a message instead of an abort where there is none left.
//!
//! Large amounts are asked for with `burnrank::memory` before they are taken. This is for what was not foreseen.

use burnrank::internal::files::try_remove_unfinished;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static MEMORY: Memory = Memory;

struct Memory;

// SAFETY: every call goes to the system's allocator as it is, and what that returns is returned.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this very function.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Gives memory of large blocks back to the system as soon as they are free, for programs that run for long.
///
/// Without it, glibc keeps blocks of up to 32 MB for later once it has seen some.
#[cfg(feature = "serve")]
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// `M_MMAP_THRESHOLD`: number of bytes from which a block is mapped by itself.
        const MAPPED_FROM: i32 = -3;
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        // SAFETY: the C library's function, with a parameter that it documents. Where it fails, memory is only kept longer.
        unsafe { mallopt(MAPPED_FROM, 256 << 10) };
    }
}

#[inline(always)]
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        refused(bytes);
    }
    memory
}

/// Ends the program with a message. Nothing here may need memory.
#[cold]
fn refused(bytes: usize) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if TOLD.swap(true, Ordering::SeqCst) {
        return;
    }
    let mut text = [0; 160];
    let mut rest = &mut text[..];
    let _ = writeln!(
        rest,
        "error: out of memory: the system gave no {bytes} bytes; use smaller files or fewer --threads, or lift its limit"
    );
    let left = rest.len();
    let _ = std::io::stderr().write_all(&text[..text.len() - left]);
    try_remove_unfinished();
    std::process::exit(1);
}
