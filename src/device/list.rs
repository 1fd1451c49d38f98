//! Listing of the available devices.

use super::{Backend, backends, without_panic};
use crate::error::{Error, Result};
use crate::memory;
use burn::tensor::Device;
use serde::Serialize;

/// A device that this build supports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// Name for `--device`, such as `flex` or `wgpu:1`.
    pub device: String,
    /// Name of the backend.
    pub backend: &'static str,
    /// Name of the hardware; empty if none was found.
    pub name: String,
    /// Memory in bytes, if known.
    pub memory: Option<u64>,
    /// Whether `--device auto` selects it.
    pub auto: bool,
    /// Whether the backend's name without a number selects it.
    pub chosen: bool,
    /// Why it cannot be used; empty if it works.
    pub problem: String,
}

/// Lists all devices of all backends in this build, including those that do not work. This opens GPUs.
///
/// ```
/// let devices = burnrank::device::list();
/// assert_eq!(devices.iter().filter(|device| device.auto).count(), 1);
/// ```
pub fn list() -> Vec<DeviceInfo> {
    let auto = backends().first().copied();
    backends().into_iter().flat_map(|backend| of_backend(backend, Some(backend) == auto)).collect()
}

fn of_backend(backend: Backend, auto: bool) -> Vec<DeviceInfo> {
    let info = |device: String, name: String, memory: Option<u64>, chosen: bool, problem: String| DeviceInfo {
        device,
        backend: backend.name(),
        name,
        memory,
        auto: auto && chosen,
        chosen,
        problem,
    };
    if backend.is_host() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let name = format!("the CPU, {cores} threads, {}", super::instruction_set());
        return vec![info(backend.name().into(), name, Some(memory::machine()), true, String::new())];
    }
    let first = match backend.open() {
        Ok(device) => device,
        Err(error) => return vec![info(backend.name().into(), String::new(), None, true, error.to_string())],
    };
    let chosen = describe(&first);
    let mut devices: Vec<DeviceInfo> = Vec::new();
    for (number, device) in backend.all().into_iter().enumerate() {
        let name = format!("{backend}:{number}");
        let Some((what, memory)) = describe(&device) else {
            devices.push(info(name, String::new(), None, false, "it cannot be opened".into()));
            continue;
        };
        let is_chosen = chosen.as_ref().is_some_and(|(name, _)| *name == what) && !devices.iter().any(|one| one.chosen);
        devices.push(info(name, what, memory, is_chosen, String::new()));
    }
    if !devices.iter().any(|device| device.chosen) {
        let (name, memory) = chosen.unwrap_or_default();
        devices.insert(0, info(backend.name().into(), name, memory, true, String::new()));
    }
    devices
}

/// The name of a device, such as `NVIDIA H100 PCIe`, and its memory if reported; `None` if it cannot be opened.
fn describe(device: &Device) -> Option<(String, Option<u64>)> {
    #[cfg(feature = "cubecl")]
    {
        let open = || device.identity().zip(super::cube::Cube::of(device));
        without_panic(open).flatten().map(|(identity, cube)| (identity.name, cube.memory()))
    }
    #[cfg(not(feature = "cubecl"))]
    {
        without_panic(|| format!("{device:?}")).map(|name| (name, None))
    }
}

/// A message about the GPU that `--device` selected: its name, and whether there are others. `None` for the host.
pub fn chosen(name: &str, device: &Device) -> Option<String> {
    let backend = super::resolve(name).ok().filter(|backend| !backend.is_host())?;
    let (name, _) = describe(device)?;
    let others = match backend.all().len() {
        0 | 1 => String::new(),
        count => format!(", one of {count} (see 'burnrank devices')"),
    };
    Some(format!("using {backend}: {name}{others}"))
}

impl Backend {
    /// The devices of the backend, in the order of their numbers.
    pub(super) fn all(self) -> Vec<Device> {
        let all = || match self {
            #[cfg(feature = "cuda")]
            Backend::Cuda => Device::enumerate(burn::tensor::DeviceType::Cuda).to_vec(),
            #[cfg(feature = "rocm")]
            Backend::Rocm => Device::enumerate(burn::tensor::DeviceType::Rocm).to_vec(),
            #[cfg(feature = "metal")]
            Backend::Metal => Device::enumerate(burn::tensor::DeviceType::Metal).to_vec(),
            #[cfg(feature = "vulkan")]
            Backend::Vulkan => Device::enumerate(burn::tensor::DeviceType::Vulkan).to_vec(),
            #[cfg(feature = "wgpu")]
            Backend::Wgpu => Device::enumerate(burn::tensor::DeviceType::Wgpu).to_vec(),
            _ => vec![self.device()],
        };
        without_panic(all).unwrap_or_default()
    }

    /// Opens the device with a number.
    ///
    /// # Errors
    /// If there is no such device, or it does not work.
    pub(super) fn open_number(self, number: usize) -> Result<Device> {
        let all = if self.is_compiled() { self.all() } else { vec![] };
        let count = all.len();
        let Some(device) = all.into_iter().nth(number) else {
            // Reports why a backend does not work.
            self.open()?;
            return Err(Error::Config(format!(
                "device '{self}:{number}' does not exist: {self} has {count}, numbered from 0; see 'burnrank devices'"
            )));
        };
        self.try_out(device)
    }
}
