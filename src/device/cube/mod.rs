//! Support for custom kernels: buffers, launch sizes, and counts of copies.

pub(crate) mod layout;
mod rows;

pub(crate) use layout::{DeviceQueries, Layout};
pub(crate) use rows::Rows;

use super::failure;
use super::transfers::{Counter, Transfers};
use crate::error::Result;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_cubecl::CubeBackend;
use burn_cubecl::cubecl::prelude::{CubeCount, CubeDim};
use burn_cubecl::cubecl::{calculate_cube_count_elemwise, client::Client};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_dtype;
use burn_cubecl::tensor::CubeTensor;
use std::sync::Arc;

/// A contiguous buffer of numbers of one type on a device.
pub(crate) type Buffer = CubeTensor;

/// Number of documents scored at a time: enough to fill a GPU. Wide nets always score this many, because a matrix
/// product of another shape may round differently.
pub(crate) const ON_A_GPU: usize = 1 << 13;

/// A device that runs custom kernels.
#[derive(Clone)]
pub(crate) struct Cube {
    device: Device,
    client: Client,
    /// One number of each type, as a template for new buffers.
    float: Buffer,
    int: Buffer,
    sent: Arc<Counter>,
    fetched: Arc<Counter>,
}

impl std::fmt::Debug for Cube {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cube").field("device", &self.device).field("transfers", &self.transfers()).finish()
    }
}

impl Cube {
    /// Returns the cube of a CubeCL device, with or without autodiff; `None` for the host.
    pub fn of(device: &Device) -> Option<Self> {
        let device = device.clone().without_autodiff();
        if super::on_host(&device) {
            return None;
        }
        let float = Tensor::<1>::zeros([1], &device).try_into_primitive::<CubeBackend>().ok()?;
        let int = Tensor::<1, Int>::zeros([1], &device).try_into_primitive::<CubeBackend>().ok()?;
        let client = float.client.clone();
        Some(Cube { device, client, float, int, sent: Arc::default(), fetched: Arc::default() })
    }

    /// Whether a device is this one.
    pub fn is_on(&self, device: &Device) -> bool {
        self.device == *device
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The copies so far.
    pub fn transfers(&self) -> Transfers {
        Transfers { to_device: self.sent.copies(), from_device: self.fetched.copies() }
    }

    /// Maximum size of a buffer in bytes: limited by the device and by 32-bit indices.
    pub fn largest_buffer(&self) -> u64 {
        self.client.properties().memory.max_page_size.min(4 * u64::from(u32::MAX))
    }

    /// Number of documents of this width scored at a time: [`ON_A_GPU`], or fewer if buffers are small.
    pub fn block(&self, width: usize) -> usize {
        self.rows_of_a_buffer(width).min(ON_A_GPU)
    }

    /// Number of rows of this width that fit in a buffer, at least one.
    pub fn rows_of_a_buffer(&self, width: usize) -> usize {
        ((self.largest_buffer() / 4) as usize / width.max(1)).max(1)
    }

    /// Size of the device memory in bytes, if reported.
    pub fn memory(&self) -> Option<u64> {
        self.client.properties().memory.max_memory()
    }

    /// Size of the allocated device memory in bytes.
    pub fn used(&self) -> u64 {
        self.device.memory_pool_usage().map_or(0, |usage| usage.bytes_in_use)
    }

    /// Copies numbers to the device.
    pub fn floats(&self, values: Vec<f32>) -> Buffer {
        buffer(self.tensor(values, |length| [length]))
    }

    /// Copies numbers to the device as a tensor, whose shape is computed from their count.
    pub fn tensor<const D: usize>(&self, values: Vec<f32>, shape: impl FnOnce(usize) -> [usize; D]) -> Tensor<D> {
        self.sent.add(values.len());
        let shape = shape(values.len());
        Tensor::from_data(TensorData::new(values, shape), &self.device)
    }

    /// Copies integers to the device.
    pub fn ints(&self, values: Vec<i32>) -> Buffer {
        self.sent.add(values.len());
        let length = values.len();
        let tensor = Tensor::<1, Int>::from_data(TensorData::new(values, [length]), &self.device);
        cube(tensor.try_into_primitive::<CubeBackend>())
    }

    /// Allocates uninitialised memory for numbers.
    pub fn new_floats(&self, length: usize) -> Buffer {
        self.like(&self.float, length)
    }

    /// Allocates uninitialised memory for integers.
    pub fn new_ints(&self, length: usize) -> Buffer {
        self.like(&self.int, length)
    }

    /// A placeholder for an argument that a kernel does not read.
    pub fn nothing(&self) -> &Buffer {
        &self.float
    }

    fn like(&self, one: &Buffer, length: usize) -> Buffer {
        empty_device_dtype(self.client.clone(), one.device.clone(), [length.max(1)].into(), one.dtype)
    }

    /// Copies numbers to the host after all pending writes.
    ///
    /// # Errors
    /// If the device failed.
    pub fn fetch(&self, buffer: Buffer) -> Result<Vec<f32>> {
        self.fetch_tensor(tensor(buffer))
    }

    /// Like [`Cube::fetch`], for a tensor.
    ///
    /// # Errors
    /// If the device failed.
    pub fn fetch_tensor<const D: usize>(&self, tensor: Tensor<D>) -> Result<Vec<f32>> {
        let values: Vec<f32> = tensor.try_into_vec_as().map_err(|error| failure(format!("{error:?}")))?;
        self.fetched.add(values.len());
        Ok(values)
    }

    /// Waits until the device has finished all work.
    ///
    /// # Errors
    /// If the device failed.
    pub fn wait(&self) -> Result<()> {
        self.device.sync().map_err(|error| failure(format!("{error:?}")))
    }

    /// Launch size for a kernel with one device unit per item, at least one.
    pub fn units(&self, count: usize) -> (CubeCount, CubeDim) {
        let size = CubeDim::new(&self.client, count.max(1));
        (calculate_cube_count_elemwise(&self.client, count.max(1), size), size)
    }
}

/// The numbers of a buffer as a tensor.
pub(crate) fn tensor(buffer: Buffer) -> Tensor<1> {
    Tensor::from_primitive::<CubeBackend>(buffer)
}

/// The buffer of a tensor on a CubeCL device, without autodiff history.
pub(crate) fn buffer<const D: usize>(tensor: Tensor<D>) -> Buffer {
    into_contiguous(cube(tensor.without_autodiff().try_into_primitive::<CubeBackend>()))
}

/// Unwraps a primitive; cannot fail for devices accepted by [`Cube::of`].
fn cube<E: std::fmt::Debug>(primitive: std::result::Result<Buffer, E>) -> Buffer {
    primitive.expect("a tensor of a CubeCL device")
}
