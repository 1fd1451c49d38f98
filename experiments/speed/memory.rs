//! Peak memory while training, in a process of its own: features once, and how much more?

use super::Task;
use super::epoch::config;
use super::shape::{self, FEATURES};
use super::timing::peak_memory;
use crate::harness::NetShape;
use anyhow::{Context, bail};
use burnrank::{Device, GradientPath, Trainer};
use serde::{Deserialize, Serialize};
use std::process::{Command, Stdio};

/// What the process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct MemoryRequest {
    pub feature_bytes: usize,
    pub batch: usize,
    pub seed: u64,
}

/// What it found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    pub documents: usize,
    pub feature_bytes: f64,
    /// Of the whole process from its start; none where the system does not tell.
    pub peak_bytes: Option<f64>,
    /// Of one epoch.
    pub seconds: f64,
}

impl Found {
    /// Peak memory over the bytes of the features.
    pub fn ratio(&self) -> Option<f64> {
        self.peak_bytes.map(|peak| peak / self.feature_bytes)
    }
}

/// Runs this program once more as the child.
pub fn run(task: MemoryRequest, backend: &str) -> anyhow::Result<Found> {
    let program = std::env::current_exe().context("cannot find this program to start it again")?;
    let output = Command::new(program)
        .args(["speed", "--device", backend, "--child", &serde_json::to_string(&Task::Memory(task))?])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start this program again")?;
    if !output.status.success() {
        bail!("the process that measures memory failed: {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the process that measures memory said something else")
}

/// The child: makes the data, trains one epoch, and prints what it found.
pub fn child(&MemoryRequest { feature_bytes, batch, seed }: &MemoryRequest, device: &Device) -> anyhow::Result<()> {
    let documents = feature_bytes.div_ceil(4 * FEATURES);
    let mut lengths = shape::lengths(documents.div_ceil(5), seed);
    let mut left = documents;
    lengths.retain_mut(|length| {
        *length = left.min(*length);
        left -= *length;
        *length > 0
    });
    let data = shape::dataset(&lengths, FEATURES, seed)?;
    let valid = data.select(&[0]);
    let mut trainer = Trainer::new(
        config("lambdarank:ndcg", NetShape::TwoLayer, GradientPath::Lambda, batch, seed)?,
        &data,
        &valid,
        device,
    )?;
    let seconds = trainer.epoch()?.seconds;
    let feature_bytes = data.features().len() as f64 * 4.0;
    let found = Found { documents: data.n_documents(), feature_bytes, peak_bytes: peak_memory(), seconds };
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}
