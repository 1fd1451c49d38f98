//! Where tensors live: the only room that names a backend.

#[cfg(feature = "cubecl")]
pub(crate) mod cube;
mod transfers;

pub use transfers::{Copies, Transfers};

use crate::error::{Error, Result};
pub use crate::simd::{instruction_set, portable, set_portable};
use crate::suggest;
use burn::tensor::{Device, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

#[cfg(not(any(feature = "flex", feature = "ndarray", feature = "wgpu", feature = "cuda", feature = "rocm")))]
compile_error!(
    "burnrank needs a backend: build with the default features, or with --no-default-features --features \
     flex | ndarray | wgpu | vulkan | metal | cuda | rocm"
);

/// What computes: one of Burn's backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Nvidia's GPUs.
    Cuda,
    /// AMD's GPUs.
    Rocm,
    /// Apple's GPUs.
    Metal,
    /// GPUs through Vulkan.
    Vulkan,
    /// The CPU.
    Flex,
    /// The CPU, through Burn's older backend.
    Ndarray,
    /// GPUs through whichever interface the system has.
    Wgpu,
}

impl Backend {
    /// Every backend, the preferred one first.
    pub const ALL: [Backend; 7] =
        [Backend::Cuda, Backend::Rocm, Backend::Metal, Backend::Vulkan, Backend::Flex, Backend::Ndarray, Backend::Wgpu];

    /// Its name on the command line, which is also that of the feature that compiles it in.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Cuda => "cuda",
            Backend::Rocm => "rocm",
            Backend::Metal => "metal",
            Backend::Vulkan => "vulkan",
            Backend::Flex => "flex",
            Backend::Ndarray => "ndarray",
            Backend::Wgpu => "wgpu",
        }
    }

    /// Whether it is compiled into this build.
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

    /// Whether its scores are in the host's memory, so that the lambda path costs no transfer.
    pub fn is_host(self) -> bool {
        matches!(self, Backend::Flex | Backend::Ndarray)
    }

    /// Its first device, tried out with one small computation where it may be absent.
    ///
    /// # Errors
    /// When it is not compiled in, or finds no hardware or driver.
    pub fn open(self) -> Result<Device> {
        if !self.is_compiled() {
            return Err(Error::Config(format!("device '{self}' {}", self.another_build())));
        }
        if self.is_host() {
            return Ok(self.device());
        }
        let tried = without_panic(|| {
            let device = self.device();
            let probe: f32 = Tensor::<1>::from_floats([1.0, 2.0], &device).sum().into_scalar();
            (probe == 3.0).then_some(device)
        });
        tried.flatten().ok_or_else(|| {
            Error::Device(format!(
                "device '{self}' does not work here: no suitable GPU or driver was found (a software Vulkan driver, such as \
                 Mesa's llvmpipe, serves for tests); a CPU build is made with --features flex"
            ))
        })
    }

    /// How to get a backend that is not compiled in.
    fn another_build(self) -> String {
        format!("is not in this build (auto, {}): build with --features {self}", names(backends()))
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

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The backends compiled into this build, the preferred one first.
pub fn backends() -> Vec<Backend> {
    Backend::ALL.into_iter().filter(|backend| backend.is_compiled()).collect()
}

fn names(backends: Vec<Backend>) -> String {
    backends.into_iter().map(Backend::name).collect::<Vec<_>>().join(", ")
}

/// Whether a device, with gradients or without, computes on the host.
pub fn on_host(device: &Device) -> bool {
    // A host has one device per backend, and devices are compared without their gradients.
    backends().into_iter().filter(|backend| backend.is_host()).any(|backend| backend.device() == *device)
}

/// The name a user gives, `auto` or that of a backend, made a compiled backend.
///
/// # Errors
/// When that backend is unknown or not compiled in; the message says how to get it.
pub fn resolve(name: &str) -> Result<Backend> {
    let compiled = backends();
    if name == "auto" {
        return Ok(compiled[0]);
    }
    if let Some(found) = compiled.iter().find(|backend| backend.name() == name) {
        return Ok(*found);
    }
    let find = |fits: fn(Backend) -> bool| compiled.iter().copied().find(|&backend| fits(backend));
    let meant = match name.to_ascii_lowercase().as_str() {
        "cpu" | "host" => Some(find(Backend::is_host).unwrap_or(Backend::Flex).name()),
        "gpu" => Some(find(|backend| !backend.is_host()).unwrap_or(Backend::Wgpu).name()),
        other => suggest::nearest(other, Backend::ALL.into_iter().map(Backend::name).chain(["auto"])),
    };
    let known = meant.and_then(|meant| Backend::ALL.into_iter().find(|backend| backend.name() == meant));
    Err(Error::Config(match (meant, known) {
        (_, Some(backend)) if backend.name() == name => format!("device '{name}' {}", backend.another_build()),
        (_, Some(backend)) if !backend.is_compiled() => {
            format!("unknown device '{name}': '{backend}' {}", backend.another_build())
        }
        (Some(meant), _) => format!("unknown device '{name}': did you mean '{meant}'?"),
        (None, _) => format!("unknown device '{name}': this build has auto, {}", names(compiled)),
    }))
}

/// The device of the backend of this name, as [`resolve`] and [`Backend::open`] find it.
///
/// # Errors
/// When the name is unknown or the backend finds no hardware or driver.
pub fn open(name: &str) -> Result<Device> {
    resolve(name)?.open()
}

/// GPU backends panic when there is no driver; a user's missing driver must be an error instead.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let tried = catch_unwind(AssertUnwindSafe(work));
    set_hook(hook);
    tried.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_the_first_compiled_backend() {
        assert_eq!(resolve("auto").unwrap(), backends()[0]);
    }

    #[test]
    fn an_unknown_device_names_the_known_ones() {
        let message = resolve("abacus").unwrap_err().to_string();
        assert!(message.contains("abacus") && message.contains(backends()[0].name()), "{message}");
    }

    #[test]
    fn a_device_of_another_build_says_how_to_get_it() {
        if !cfg!(feature = "rocm") {
            let message = resolve("rocm").unwrap_err().to_string();
            assert!(message.starts_with("device 'rocm' is not in this build (auto, "), "{message}");
            assert!(message.ends_with("): build with --features rocm"), "{message}");
        }
    }

    #[test]
    fn a_mistyped_device_is_corrected() {
        if cfg!(feature = "flex") {
            for (wrong, meant) in [("flxe", "flex"), ("FLEX", "flex"), ("cpu", "flex"), ("atuo", "auto")] {
                let message = resolve(wrong).unwrap_err().to_string();
                assert!(
                    message.starts_with(&format!("unknown device '{wrong}': did you mean '{meant}'?")),
                    "{message}"
                );
            }
        }
        assert!(resolve("gpu").unwrap_err().to_string().starts_with("unknown device 'gpu': "));
    }

    #[test]
    fn a_device_of_the_host_is_known_by_itself_with_gradients_and_without() {
        for backend in backends().into_iter().filter(|backend| backend.is_host()) {
            let device = backend.open().unwrap();
            assert!(on_host(&device) && on_host(&device.autodiff()), "{backend}");
        }
        for backend in backends().into_iter().filter(|backend| !backend.is_host()) {
            assert!(backend.open().is_ok_and(|device| !on_host(&device)), "{backend}");
        }
    }
}
