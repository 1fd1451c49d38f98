//! What there is to compute on.

use super::{Backend, backends, without_panic};
use crate::error::{Error, Result};
use crate::memory;
use burn::tensor::Device;
use serde::Serialize;

/// Something that this build can compute on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// What `--device` takes, as in `flex` or `wgpu:1`.
    pub device: String,
    /// The backend's name.
    pub backend: &'static str,
    /// What the hardware calls itself; empty where nothing was found.
    pub name: String,
    /// Its memory in bytes, where it is known.
    pub memory: Option<u64>,
    /// Whether it is what `--device auto` takes.
    pub auto: bool,
    /// Whether it is what the backend's name alone takes.
    pub chosen: bool,
    /// Why it cannot be used; empty where it can.
    pub problem: String,
}

/// Every device of every backend of this build, those that do not work among them; GPUs are opened for it.
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
    let mut found: Vec<DeviceInfo> = Vec::new();
    for (number, device) in backend.all().into_iter().enumerate() {
        let name = format!("{backend}:{number}");
        let Some((what, memory)) = describe(&device) else {
            found.push(info(name, String::new(), None, false, "it cannot be opened".into()));
            continue;
        };
        let is_chosen = chosen.as_ref().is_some_and(|(name, _)| *name == what) && !found.iter().any(|one| one.chosen);
        found.push(info(name, what, memory, is_chosen, String::new()));
    }
    if !found.iter().any(|device| device.chosen) {
        let (name, memory) = chosen.unwrap_or_default();
        found.insert(0, info(backend.name().into(), name, memory, true, String::new()));
    }
    found
}

/// What a device calls itself, as in `NVIDIA H100 PCIe`, and its memory where it tells; nothing where it cannot be opened.
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

/// What is said of the device that `--device` chose, where that is a GPU: its name, and whether there are others.
pub fn chosen(asked: &str, device: &Device) -> Option<String> {
    let backend = super::resolve(asked).ok().filter(|backend| !backend.is_host())?;
    let (name, _) = describe(device)?;
    let others = match backend.all().len() {
        0 | 1 => String::new(),
        count => format!(", one of {count}: 'burnrank devices' lists them"),
    };
    Some(format!("computes on {backend}: {name}{others}"))
}

impl Backend {
    /// Its devices, as they are numbered on the command line.
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

    /// The device of this number.
    ///
    /// # Errors
    /// When there is none, or it does not work.
    pub(super) fn open_number(self, number: usize) -> Result<Device> {
        let all = if self.is_compiled() { self.all() } else { vec![] };
        let count = all.len();
        let Some(device) = all.into_iter().nth(number) else {
            // A backend that does not work says why.
            self.open()?;
            return Err(Error::Config(format!(
                "device '{self}:{number}' is not there: {self} has {count}, numbered from 0; 'burnrank devices' lists them"
            )));
        };
        self.try_out(device)
    }
}
