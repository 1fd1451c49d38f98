//! What the machine is, and the roofline that it sets: memory bandwidth by a copy, multiply-adds by a square matrix product.

use super::timing::Patience;
use crate::harness::machine;
use burn::tensor::Distribution;
use burnrank::{Device, Tensor};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

/// Bytes that one task of the copy moves.
const PIECE: usize = 1 << 20;

/// What the machine can do, with all threads or with one.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Limits {
    pub threads: usize,
    /// Of a copy: bytes read and bytes written.
    pub bytes_per_second: f64,
    /// Of a product of square matrices by the backend.
    pub multiply_adds_per_second: f64,
}

/// Sizes of the two measurements.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Bytes of the source of the copy: far more than any cache.
    pub copy: usize,
    /// Rows and columns of the matrices.
    pub matrix: usize,
}

impl Limits {
    /// Measured by the threads of the running pool.
    pub fn measure(sizes: Sizes, device: &Device, patience: Patience) -> anyhow::Result<Limits> {
        let device = device.clone().without_autodiff();
        let copied = if burnrank::device::on_host(&device) {
            copy_on_host(sizes.copy, patience)?
        } else {
            copy_on_device(sizes.copy, &device, patience)?
        };
        let n = sizes.matrix;
        let square = || Tensor::<2>::random([n, n], Distribution::Uniform(-1.0, 1.0), &device);
        let (a, b) = (square(), square());
        // One number is read back, so that devices that compute later have to be done.
        let product = patience.time(|| Ok(a.clone().matmul(b.clone()).slice([0..1, 0..1]).into_scalar::<f32>()))?;
        Ok(Limits {
            threads: rayon::current_num_threads(),
            bytes_per_second: copied,
            multiply_adds_per_second: (n as f64).powi(3) / product.seconds,
        })
    }

    /// The better of two measurements, each number by itself: a limit that was reached once can be reached.
    pub fn or_better(self, other: Limits) -> Limits {
        Limits {
            threads: self.threads,
            bytes_per_second: self.bytes_per_second.max(other.bytes_per_second),
            multiply_adds_per_second: self.multiply_adds_per_second.max(other.multiply_adds_per_second),
        }
    }

    /// The minimum time for some work: moving its bytes or computing it, whichever takes longer.
    pub fn least(&self, work: Work) -> f64 {
        f64::max(work.bytes / self.bytes_per_second, work.multiply_adds / self.multiply_adds_per_second)
    }
}

/// The bytes that a copy of so many reads and writes per second, by all threads.
fn copy_on_host(bytes: usize, patience: Patience) -> anyhow::Result<f64> {
    let from = vec![1_u8; bytes];
    let mut to = vec![0_u8; bytes];
    let copy = patience.time(|| {
        to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
        Ok(())
    })?;
    Ok(2.0 * bytes as f64 / copy.seconds)
}

/// The same within a GPU's memory: every number is read, and written with 0 added to it.
fn copy_on_device(bytes: usize, device: &Device, patience: Patience) -> anyhow::Result<f64> {
    // A buffer of some drivers holds no more.
    let numbers = bytes.min(64 << 20) / 4;
    let from = Tensor::<1>::ones([numbers], device);
    // One number is read back, so that all of it has to be done.
    let copy = patience.time(|| Ok(from.clone().add_scalar(0.0).slice(0..1).into_scalar::<f32>()))?;
    Ok(8.0 * numbers as f64 / copy.seconds)
}

/// What cannot be left out.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    pub bytes: f64,
    pub multiply_adds: f64,
}

impl Work {
    /// One pass over all features, and the multiply-adds of a net of so many hidden units, forward.
    pub fn scoring(documents: usize, features: usize, units: usize) -> Work {
        let weights = if units == 0 { features } else { features * units + units };
        Work { bytes: (documents * features * 4) as f64, multiply_adds: (documents * weights) as f64 }
    }

    /// One pass over all features, and twice the multiply-adds: forward, and gradient of the weights.
    pub fn epoch(documents: usize, features: usize, units: usize) -> Work {
        let work = Work::scoring(documents, features, units);
        Work { multiply_adds: 2.0 * work.multiply_adds, ..work }
    }
}

/// What a reader of the numbers must know of the machine.
pub fn describe() -> Value {
    json!({
        "cpu": machine::processor(),
        "architecture": std::env::consts::ARCH,
        "system": std::env::consts::OS,
        "cores": machine::cores(),
        "threads": rayon::current_num_threads(),
        "lambda_kernels": burnrank::device::instruction_set(),
    })
}
