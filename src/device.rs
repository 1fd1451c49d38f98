//! Where tensors live: the only file that names a backend.

use crate::error::{Error, Result};
use crate::suggest;
use burn::tensor::{Device, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

#[cfg(not(any(feature = "flex", feature = "ndarray", feature = "wgpu", feature = "cuda", feature = "rocm")))]
compile_error!(
    "burnrank needs a backend: build with the default features, or with --no-default-features --features \
     flex | ndarray | wgpu | vulkan | metal | cuda | rocm"
);

/// The backends compiled into this build, the preferred one first.
pub fn backends() -> Vec<&'static str> {
    let all = [
        ("cuda", cfg!(feature = "cuda")),
        ("rocm", cfg!(feature = "rocm")),
        ("metal", cfg!(feature = "metal")),
        ("vulkan", cfg!(feature = "vulkan")),
        ("flex", cfg!(feature = "flex")),
        ("ndarray", cfg!(feature = "ndarray")),
        ("wgpu", cfg!(feature = "wgpu")),
    ];
    all.into_iter().filter_map(|(name, compiled)| compiled.then_some(name)).collect()
}

/// Whether scores on this backend are already in the host's memory, so that the lambda path costs no transfer.
pub fn is_cpu(backend: &str) -> bool {
    matches!(backend, "flex" | "ndarray")
}

/// Whether a device computes on the host.
pub fn on_host(device: &Device) -> bool {
    let name = format!("{device:?}").to_ascii_lowercase();
    name.contains("flex") || name.contains("ndarray")
}

/// The name a user gives (`auto` or one of [`backends`]) made the name of a compiled backend.
///
/// # Errors
/// When that backend is unknown or not compiled in; the message says how to get it.
pub fn resolve(name: &str) -> Result<&'static str> {
    let compiled = backends();
    if name == "auto" {
        return Ok(compiled[0]);
    }
    if let Some(found) = compiled.iter().find(|&&backend| backend == name) {
        return Ok(found);
    }
    let all = ["flex", "ndarray", "wgpu", "vulkan", "metal", "cuda", "rocm"];
    let list = compiled.join(", ");
    let lower = name.to_ascii_lowercase();
    let meant = match lower.as_str() {
        "cpu" | "host" => compiled.iter().copied().find(|backend| is_cpu(backend)).or(Some("flex")),
        "gpu" => compiled.iter().copied().find(|backend| !is_cpu(backend)).or(Some("wgpu")),
        other => suggest::nearest(other, all.into_iter().chain(["auto"])),
    };
    let another_build = |name: &str| format!("is not in this build (auto, {list}): build with --features {name}");
    Err(Error::Config(match meant {
        Some(meant) if meant == name => format!("device '{name}' {}", another_build(name)),
        Some(meant) if meant == "auto" || compiled.contains(&meant) => {
            format!("unknown device '{name}': did you mean '{meant}'?")
        }
        Some(meant) => format!("unknown device '{name}': '{meant}' {}", another_build(meant)),
        None => format!("unknown device '{name}': this build has auto, {list}"),
    }))
}

/// The device of a backend named by [`resolve`], tried out with one small computation.
///
/// # Errors
/// When the name is unknown or the backend finds no hardware or driver.
pub fn open(name: &str) -> Result<Device> {
    let backend = resolve(name)?;
    if is_cpu(backend) {
        return Ok(create(backend));
    }
    let tried = without_panic(|| {
        let device = create(backend);
        let probe: f32 = Tensor::<1>::from_floats([1.0, 2.0], &device).sum().into_scalar();
        (probe == 3.0).then_some(device)
    });
    tried.flatten().ok_or_else(|| {
        Error::Device(format!(
            "device '{backend}' does not work here: no suitable GPU or driver was found (a software Vulkan driver, such as \
             Mesa's llvmpipe, serves for tests); a CPU build is made with --features flex"
        ))
    })
}

/// GPU backends panic when there is no driver; a user's missing driver must be an error instead.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let tried = catch_unwind(AssertUnwindSafe(work));
    set_hook(hook);
    tried.ok()
}

fn create(backend: &str) -> Device {
    match backend {
        #[cfg(feature = "flex")]
        "flex" => Device::flex(),
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)] // still the second CPU backend of this Burn version
        "ndarray" => Device::ndarray(),
        #[cfg(feature = "wgpu")]
        "wgpu" => Device::wgpu(Default::default()),
        #[cfg(feature = "vulkan")]
        "vulkan" => Device::vulkan(Default::default()),
        #[cfg(feature = "metal")]
        "metal" => Device::metal(Default::default()),
        #[cfg(feature = "cuda")]
        "cuda" => Device::cuda(0),
        #[cfg(feature = "rocm")]
        "rocm" => Device::rocm(0),
        _ => Device::default(),
    }
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
        assert!(message.contains("abacus") && message.contains(backends()[0]), "{message}");
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
}
