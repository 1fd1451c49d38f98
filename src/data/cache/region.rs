//! A SIGBUS handler for mapped files that lose pages while they are in use.
//!
//! If a mapped file is truncated, or its disk fails, reading a lost page raises SIGBUS, which by default kills the process without
//! a message. This handler replaces the lost pages with zeros and records the loss, so that the read continues; readers check
//! [`Region::is_lost`] before they use the numbers. Reading with `pread` would need no handler, but would copy all features.
//!
//! The handler is installed with the first map. A SIGBUS at any other address is passed on to the previous handler.

#[cfg(unix)]
pub(super) use unix::Region;

/// On other systems, such as Windows, mapped files cannot be truncated.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Region;

#[cfg(not(unix))]
impl Region {
    pub fn of(_: &[u8]) -> Self {
        Region
    }

    pub fn is_lost(&self) -> bool {
        false
    }
}

#[cfg(unix)]
mod unix {
    use libc::{c_int, c_void, sigaction, siginfo_t};
    use std::mem::{MaybeUninit, transmute};
    use std::ptr::{null, null_mut};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    /// A map as the handler sees it. Never freed, because the handler may read it at any time.
    #[derive(Debug)]
    struct Entry {
        start: usize,
        end: usize,
        is_mapped: AtomicBool,
        is_lost: AtomicBool,
        next: *const Entry,
    }

    static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(null_mut());
    /// The previous handler; `None` if it is unknown.
    static PREVIOUS: OnceLock<Option<sigaction>> = OnceLock::new();

    /// A map whose lost pages are replaced with zeros until this value is dropped.
    #[derive(Debug)]
    pub(in super::super) struct Region(&'static Entry);

    // SAFETY: only the atomic flags of an entry ever change, and `next` points to another entry.
    unsafe impl Send for Region {}
    // SAFETY: as above.
    unsafe impl Sync for Region {}

    impl Region {
        /// Registers the addresses of a map.
        pub fn of(map: &[u8]) -> Self {
            PREVIOUS.get_or_init(install);
            let start = map.as_ptr() as usize;
            let entry = Box::leak(Box::new(Entry {
                start,
                end: (start + map.len()).next_multiple_of(page()),
                is_mapped: AtomicBool::new(true),
                is_lost: AtomicBool::new(false),
                next: null(),
            }));
            let mut first = ENTRIES.load(Ordering::Acquire);
            loop {
                entry.next = first;
                match ENTRIES.compare_exchange_weak(first, entry, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return Region(entry),
                    Err(other) => first = other,
                }
            }
        }

        /// Whether a page could not be read and was replaced with zeros.
        pub fn is_lost(&self) -> bool {
            self.0.is_lost.load(Ordering::Acquire)
        }
    }

    impl Drop for Region {
        fn drop(&mut self) {
            self.0.is_mapped.store(false, Ordering::Release);
        }
    }

    fn page() -> usize {
        static SIZE: OnceLock<usize> = OnceLock::new();
        // SAFETY: `sysconf` only returns a number.
        *SIZE.get_or_init(|| usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096).max(1))
    }

    /// Installs the handler and returns the previous one.
    fn install() -> Option<sigaction> {
        page();
        let mut previous = MaybeUninit::<sigaction>::zeroed();
        let mut ours = MaybeUninit::<sigaction>::zeroed();
        // SAFETY: an all-zero `sigaction` is valid, its fields are set as documented, and both pointers are valid for the calls.
        unsafe {
            if libc::sigaction(libc::SIGBUS, null(), previous.as_mut_ptr()) != 0 {
                return None;
            }
            let action = ours.assume_init_mut();
            action.sa_sigaction = on_bus_error as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, action, null_mut());
            Some(previous.assume_init())
        }
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system passes a valid `siginfo_t`.
        let address = unsafe { (*info).si_addr() } as usize;
        if replace_lost(address) {
            return;
        }
        let previous = PREVIOUS.get().and_then(Option::as_ref);
        let handler = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
        // SAFETY: a handler with SA_SIGINFO takes these three arguments, one without takes only the first; `signal` may be
        // called in a handler.
        unsafe {
            if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
                // The read is retried after this returns, and then ends the process.
                libc::signal(libc::SIGBUS, libc::SIG_DFL);
            } else if previous.is_some_and(|previous| previous.sa_flags & libc::SA_SIGINFO != 0) {
                transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(handler)(signal, info, context);
            } else {
                transmute::<usize, extern "C" fn(c_int)>(handler)(signal);
            }
        }
    }

    /// Replaces all pages of a map, from the one with this address, with zeros. Returns false if the address is in no map.
    fn replace_lost(address: usize) -> bool {
        let mut next = ENTRIES.load(Ordering::Acquire).cast_const();
        // SAFETY: entries are never freed.
        while let Some(entry) = unsafe { next.as_ref() } {
            if entry.is_mapped.load(Ordering::Acquire) && (entry.start..entry.end).contains(&address) {
                entry.is_lost.store(true, Ordering::Release);
                let start = address / page() * page();
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
                // SAFETY: these addresses belong to a map that its owner still holds and only reads.
                let mapped =
                    unsafe { libc::mmap(start as *mut c_void, entry.end - start, libc::PROT_READ, flags, -1, 0) };
                return mapped != libc::MAP_FAILED;
            }
            next = entry.next;
        }
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Region;
    use memmap2::Mmap;
    use std::io::Write;

    #[test]
    fn lost_pages_read_as_zeros_and_are_recorded() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 3 << 16]).unwrap();
        // SAFETY: this test is about such changes.
        let map = unsafe { Mmap::map(&file).unwrap() };
        let region = Region::of(&map);
        let sum = |map: &[u8]| map.iter().map(|&byte| usize::from(std::hint::black_box(byte))).sum::<usize>();
        assert_eq!((sum(&map), region.is_lost()), (7 * (3 << 16), false));
        file.set_len(1 << 16).unwrap();
        assert_eq!((sum(&map), region.is_lost()), (7 << 16, true));
        // Other maps are not affected.
        let mut other = tempfile::tempfile().unwrap();
        other.write_all(&[1; 10]).unwrap();
        // SAFETY: the file does not change.
        let second = unsafe { Mmap::map(&other).unwrap() };
        let fresh = Region::of(&second);
        assert_eq!((sum(&second), fresh.is_lost()), (10, false));
    }
}
