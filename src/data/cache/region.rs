//! Addresses of mapped files, and what becomes of a read from a page that the file no longer has.
//!
//! Where a mapped file is cut short, or its disk fails, the system answers a read from a lost page with the signal SIGBUS, which
//! ends a process without a word. The handler here puts pages of zeros in the place of the lost ones and notes the loss, so
//! that the read continues; the reader checks [`Region::is_lost`] before it uses the numbers. Reading with `pread` into buffers
//! would need no handler, but a copy of all features where slices of the map do.
//!
//! The handler is installed with the first map. A SIGBUS at any other address is left to the handler before ours.

#[cfg(unix)]
pub(super) use unix::Region;

/// Elsewhere, as on Windows, the system refuses to cut a mapped file short.
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

    /// What the handler knows of a map. Never freed, because the handler may look at it at any time.
    #[derive(Debug)]
    struct Entry {
        start: usize,
        end: usize,
        is_mapped: AtomicBool,
        is_lost: AtomicBool,
        next: *const Entry,
    }

    static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(null_mut());
    /// The handler before ours; `None` if it is unknown.
    static BEFORE: OnceLock<Option<sigaction>> = OnceLock::new();

    /// A map that survives the loss of its pages, until this value is dropped.
    #[derive(Debug)]
    pub(in super::super) struct Region(&'static Entry);

    // SAFETY: entries are never changed but for their atomic flags, and `next` leads to another entry of that kind.
    unsafe impl Send for Region {}
    // SAFETY: as above.
    unsafe impl Sync for Region {}

    impl Region {
        /// The addresses of a whole map.
        pub fn of(map: &[u8]) -> Self {
            BEFORE.get_or_init(install);
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

        /// Whether a page could not be read, and zeros were read in its place.
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
        // SAFETY: asks for a number.
        *SIZE.get_or_init(|| usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096).max(1))
    }

    /// Installs the handler, and returns the one before.
    fn install() -> Option<sigaction> {
        page();
        let mut before = MaybeUninit::<sigaction>::zeroed();
        let mut ours = MaybeUninit::<sigaction>::zeroed();
        // SAFETY: zeros are a valid `sigaction`, whose fields are then set as the system wants them; both pointers are valid
        // for the calls.
        unsafe {
            if libc::sigaction(libc::SIGBUS, null(), before.as_mut_ptr()) != 0 {
                return None;
            }
            let action = ours.assume_init_mut();
            action.sa_sigaction = on_bus_error as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, action, null_mut());
            Some(before.assume_init())
        }
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system hands over a valid `siginfo_t`.
        let address = unsafe { (*info).si_addr() } as usize;
        if replace_lost(address) {
            return;
        }
        let before = BEFORE.get().and_then(Option::as_ref);
        let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
        // SAFETY: a handler with SA_SIGINFO takes these three arguments, one without takes the first; resetting a signal is
        // allowed in a handler.
        unsafe {
            if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
                // The read is tried again when this returns, and then ends the process.
                libc::signal(libc::SIGBUS, libc::SIG_DFL);
            } else if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) {
                transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(handler)(signal, info, context);
            } else {
                transmute::<usize, extern "C" fn(c_int)>(handler)(signal);
            }
        }
    }

    /// Puts zeros in the place of all pages of a map from an address on; `false` where the address is in none.
    fn replace_lost(address: usize) -> bool {
        let mut next = ENTRIES.load(Ordering::Acquire).cast_const();
        // SAFETY: entries are never freed.
        while let Some(entry) = unsafe { next.as_ref() } {
            if entry.is_mapped.load(Ordering::Acquire) && (entry.start..entry.end).contains(&address) {
                entry.is_lost.store(true, Ordering::Release);
                let start = address / page() * page();
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
                // SAFETY: these addresses are those of a map that its owner still holds and only reads.
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
    fn lost_pages_are_zeros_and_are_noted() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 3 << 16]).unwrap();
        // SAFETY: the test looks at what a change does.
        let map = unsafe { Mmap::map(&file).unwrap() };
        let region = Region::of(&map);
        let sum = |map: &[u8]| map.iter().map(|&byte| usize::from(std::hint::black_box(byte))).sum::<usize>();
        assert_eq!((sum(&map), region.is_lost()), (7 * (3 << 16), false));
        file.set_len(1 << 16).unwrap();
        assert_eq!((sum(&map), region.is_lost()), (7 << 16, true));
        // Other maps are left alone.
        let mut other = tempfile::tempfile().unwrap();
        other.write_all(&[1; 10]).unwrap();
        // SAFETY: nothing changes it.
        let second = unsafe { Mmap::map(&other).unwrap() };
        let fresh = Region::of(&second);
        assert_eq!((sum(&second), fresh.is_lost()), (10, false));
    }
}
