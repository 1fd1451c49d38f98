//! Devices and backends. This is the only module that refers to particular backends.

#[cfg(feature = "cubecl")]
pub(crate) mod cube;
mod list;
mod transfers;

pub use list::{DeviceInfo, chosen, list};
pub use transfers::{Copies, Transfers};

use crate::error::{Error, Result};
use crate::internal::suggest;
use crate::name::words;
pub use crate::simd::{instruction_set, portable, set_portable};
use burn::tensor::{Device, Tensor};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[cfg(not(any(feature = "flex", feature = "ndarray", feature = "wgpu", feature = "cuda", feature = "rocm")))]
compile_error!(
    "burnrank needs a backend: build with the default features, or with --no-default-features --features \
     flex | ndarray | wgpu | vulkan | metal | cuda | rocm"
);

words! {
    /// One of Burn's backends, in order of preference. Names are also those of the cargo features.
    #[non_exhaustive]
    pub enum Backend: "device" {
        /// Nvidia GPUs.
        Cuda = "cuda",
        /// AMD GPUs.
        Rocm = "rocm",
        /// Apple GPUs.
        Metal = "metal",
        /// GPUs through Vulkan.
        Vulkan = "vulkan",
        /// The CPU.
        Flex = "flex",
        /// The CPU, with Burn's older backend.
        Ndarray = "ndarray",
        /// GPUs through the system's graphics API.
        Wgpu = "wgpu",
    }
}

impl Backend {
    /// Whether this build includes the backend.
    pub fn is_compiled(self) -> bool {
        match self {
            Backend::Cuda => cfg!(feature = "cuda"),
            Backend::Rocm => cfg!(feature = "rocm"),
            Backend::Metal => cfg!(feature = "metal"),
            Backend::Vulkan => cfg!(feature = "vulkan"),
            Backend::Flex => cfg!(feature = "flex"),
            Backend::Ndarray => cfg!(feature = "ndarray"),
            Backend::Wgpu => cfg!(feature = "wgpu"),
        }
    }

    /// Whether tensors are in host memory, so that the lambda path needs no transfers.
    pub fn is_host(self) -> bool {
        matches!(self, Backend::Flex | Backend::Ndarray)
    }

    /// Opens the first device; a GPU is tested with a small computation.
    ///
    /// # Errors
    /// If this build lacks the backend, or there is no hardware or driver.
    pub fn open(self) -> Result<Device> {
        if !self.is_compiled() {
            return Err(Error::Config(format!("device '{self}' {}", self.another_build())));
        }
        self.try_out(self.device())
    }

    /// Tests a GPU with a small computation.
    fn try_out(self, device: Device) -> Result<Device> {
        if self.is_host() {
            return Ok(device);
        }
        let tried = without_panic(|| {
            let probe: f32 = Tensor::<1>::from_floats([1.0, 2.0], &device).sum().into_scalar();
            (probe == 3.0).then_some(device)
        });
        tried.flatten().ok_or_else(|| {
            let remedy = match backends().into_iter().find(|backend| backend.is_host()) {
                Some(host) => format!("use the CPU with `device` {host}"),
                None => "build with the feature flex to use the CPU".into(),
            };
            Error::Device(format!(
                "device '{self}' does not work: no suitable GPU or driver was found (for tests a software Vulkan \
                 driver such as Mesa's llvmpipe suffices); {remedy}"
            ))
        })
    }

    /// How to get a backend that this build lacks.
    fn another_build(self) -> String {
        format!("is not in this build (auto, {}): build with the feature {self}", names(backends()))
    }

    fn device(self) -> Device {
        match self {
            #[cfg(feature = "flex")]
            Backend::Flex => Device::flex(),
            #[cfg(feature = "ndarray")]
            #[allow(deprecated)] // still the second CPU backend of this Burn version
            Backend::Ndarray => Device::ndarray(),
            #[cfg(feature = "wgpu")]
            Backend::Wgpu => Device::wgpu(Default::default()),
            #[cfg(feature = "vulkan")]
            Backend::Vulkan => Device::vulkan(Default::default()),
            #[cfg(feature = "metal")]
            Backend::Metal => Device::metal(Default::default()),
            #[cfg(feature = "cuda")]
            Backend::Cuda => Device::cuda(0),
            #[cfg(feature = "rocm")]
            Backend::Rocm => Device::rocm(0),
            #[allow(unreachable_patterns)] // with every backend compiled in
            _ => Device::default(),
        }
    }
}

/// The backends in this build, in order of preference.
pub fn backends() -> Vec<Backend> {
    Backend::ALL.into_iter().filter(|backend| backend.is_compiled()).collect()
}

fn names(backends: Vec<Backend>) -> String {
    backends.into_iter().map(Backend::name).collect::<Vec<_>>().join(", ")
}

/// Whether a device, with or without autodiff, is the host.
pub fn on_host(device: &Device) -> bool {
    host_backend(device).is_some()
}

/// The backend of a host device.
pub(crate) fn host_backend(device: &Device) -> Option<Backend> {
    // The host has one device per backend; comparison ignores autodiff.
    backends().into_iter().filter(|backend| backend.is_host()).find(|backend| backend.device() == *device)
}

/// Returns the backend of a device name: `auto`, or the name of a backend with an optional device number.
///
/// # Errors
/// If the backend is unknown or not in this build; the message says how to get it.
pub fn resolve(name: &str) -> Result<Backend> {
    numbered(name).map(|(backend, _)| backend)
}

fn resolve_backend(name: &str) -> Result<Backend> {
    let compiled = backends();
    if name == "auto" {
        return Ok(compiled[0]);
    }
    if let Ok(backend) = name.parse::<Backend>() {
        let missing = || Error::Config(format!("device '{name}' {}", backend.another_build()));
        return backend.is_compiled().then_some(backend).ok_or_else(missing);
    }
    let find = |matches: fn(Backend) -> bool| compiled.iter().copied().find(|&backend| matches(backend));
    let meant = match name.to_ascii_lowercase().as_str() {
        "cpu" | "host" => Some(find(Backend::is_host).unwrap_or(Backend::Flex).name()),
        "gpu" => Some(find(|backend| !backend.is_host()).unwrap_or(Backend::Wgpu).name()),
        other => suggest::nearest(other, Backend::ALL.into_iter().map(Backend::name).chain(["auto"])),
    };
    Err(Error::Config(match (meant, meant.and_then(|meant| meant.parse::<Backend>().ok())) {
        (_, Some(backend)) if !backend.is_compiled() => {
            format!("unknown device '{name}': '{backend}' {}", backend.another_build())
        }
        (Some(meant), _) => format!("unknown device '{name}': did you mean '{meant}'?"),
        (None, _) => format!("unknown device '{name}': this build has auto, {}", names(compiled)),
    }))
}

/// Opens a device by name, as in [`resolve`]; `wgpu:1` is the second device of a backend.
///
/// # Errors
/// If the name is unknown, or there is no hardware or driver.
pub fn open(name: &str) -> Result<Device> {
    match numbered(name)? {
        (backend, None) => backend.open(),
        (backend, Some(number)) => backend.open_number(number),
    }
}

/// Splits a device name into a backend and an optional device number.
fn numbered(name: &str) -> Result<(Backend, Option<usize>)> {
    let Some((backend, number)) = name.split_once(':') else { return Ok((resolve_backend(name)?, None)) };
    let backend = resolve_backend(backend)?;
    match number.parse() {
        Ok(number) => Ok((backend, Some(number))),
        Err(_) => {
            Err(Error::Config(format!("device '{name}': expected a number after the colon, such as {backend}:0")))
        }
    }
}

/// Maximum bytes of GPU memory for features; 0 if not set.
static MEMORY_LIMIT: AtomicU64 = AtomicU64::new(0);

/// The limit set by [`set_memory_limit`]; the default is three quarters of the GPU's memory.
pub fn memory_limit() -> Option<u64> {
    Some(MEMORY_LIMIT.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0)
}

/// Sets the maximum GPU memory in bytes for the features of a run. Features that do not fit are copied in large slices
/// in every epoch.
pub fn set_memory_limit(bytes: u64) {
    MEMORY_LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

thread_local! {
    /// Whether panics of this thread are converted to errors rather than printed.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Number of guarded threads.
static GUARDED: AtomicUsize = AtomicUsize::new(0);

/// Whether a panic comes from a driver's thread, for which a guarded thread waits and reports the error.
fn is_of_driver(panic: &PanicHookInfo<'_>) -> bool {
    let is_driver = |location: &Location<'_>| ["cubecl", "wgpu"].iter().any(|name| location.file().contains(name));
    GUARDED.load(Ordering::SeqCst) > 0 && panic.location().is_some_and(is_driver)
}

/// Runs work that may panic in a driver; the error is the payload of the panic. Can be called from several threads.
fn caught<T>(work: impl FnOnce() -> T) -> std::thread::Result<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() && !is_of_driver(panic) {
                before(panic);
            }
        }));
    });
    let outer = IS_GUARDED.replace(true);
    GUARDED.fetch_add(1, Ordering::SeqCst);
    let tried = catch_unwind(AssertUnwindSafe(work));
    GUARDED.fetch_sub(1, Ordering::SeqCst);
    IS_GUARDED.set(outer);
    tried
}

/// Runs work and returns `None` if it panics: GPU backends panic without a driver.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    caught(work).ok()
}

/// Runs work and converts panics to errors: drivers panic if memory runs out or a device is lost.
///
/// # Errors
/// The error of the work, or the message of the panic.
pub(crate) fn guarded<T>(device: &Device, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if on_host(device) {
        return work();
    }
    caught(work).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(failure(message.unwrap_or("unknown reason")))
    })
}

/// The error for a device that failed.
pub(crate) fn failure(reason: impl std::fmt::Display) -> Error {
    let reason = reason.to_string();
    // Messages of drivers can be pages long.
    let reason: String = reason.lines().next().unwrap_or_default().chars().take(300).collect();
    Error::Device(format!(
        "the device failed: {reason}; if its memory is too small, reduce `batch_queries` or `hidden`, or use `device` \
         flex in a build with that backend; 'burnrank devices' lists the devices"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_the_first_compiled_backend() {
        assert_eq!(resolve("auto").unwrap(), backends()[0]);
    }

    #[test]
    fn the_error_for_an_unknown_device_lists_the_known_ones() {
        let message = resolve("abacus").unwrap_err().to_string();
        assert!(message.contains("abacus") && message.contains(backends()[0].name()), "{message}");
    }

    #[test]
    fn the_error_for_a_missing_backend_says_how_to_get_it() {
        if !cfg!(feature = "rocm") {
            let message = resolve("rocm").unwrap_err().to_string();
            assert!(message.starts_with("device 'rocm' is not in this build (auto, "), "{message}");
            assert!(message.ends_with("): build with the feature rocm"), "{message}");
        }
    }

    #[test]
    fn a_mistyped_device_gets_a_suggestion() {
        if cfg!(feature = "flex") {
            for (wrong, meant) in [("flxe", "flex"), ("cpu", "flex"), ("atuo", "auto")] {
                let message = resolve(wrong).unwrap_err().to_string();
                assert!(
                    message.starts_with(&format!("unknown device '{wrong}': did you mean '{meant}'?")),
                    "{message}"
                );
            }
            assert_eq!(resolve("FLEX").unwrap(), Backend::Flex);
        }
        assert!(resolve("gpu").unwrap_err().to_string().starts_with("unknown device 'gpu': "));
    }

    #[test]
    fn devices_have_numbers() {
        let first = backends()[0];
        assert_eq!(resolve(&format!("{first}:0")).unwrap(), first);
        assert!(open(&format!("{first}:0")).is_ok());
        let message = open(&format!("{first}:17")).unwrap_err().to_string();
        assert!(message.contains(":17' does not exist") && message.contains("burnrank devices"), "{message}");
        assert!(resolve("auto:x").unwrap_err().to_string().contains("a number after the colon"));
    }

    #[test]
    fn every_backend_is_listed_and_one_device_is_auto() {
        let devices = list();
        assert!(backends().iter().all(|backend| devices.iter().any(|device| device.backend == backend.name())));
        let auto: Vec<_> = devices.iter().filter(|device| device.auto).collect();
        assert!(matches!(auto[..], [one] if one.backend == backends()[0].name()), "{devices:?}");
        devices.iter().for_each(|device| assert!(open(&device.device).is_ok() || !device.problem.is_empty()));
    }

    #[test]
    fn host_devices_are_recognised_with_and_without_autodiff() {
        for backend in backends().into_iter().filter(|backend| backend.is_host()) {
            let device = backend.open().unwrap();
            assert!(on_host(&device) && on_host(&device.autodiff()), "{backend}");
        }
        for backend in backends().into_iter().filter(|backend| !backend.is_host()) {
            assert!(backend.open().is_ok_and(|device| !on_host(&device)), "{backend}");
        }
    }
}
