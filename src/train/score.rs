//! Scores of whole data sets, without gradients.

use crate::data::Dataset;
use crate::device::on_host;
use crate::error::{Error, Result};
use crate::model::Ranker;
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

/// Documents that a GPU scores at once: enough to fill it.
const ON_A_GPU: usize = 1 << 14;
/// Documents that a core scores at once: few enough that features and hidden units stay in its cache.
const ON_A_CORE: usize = 512;

/// The score of every document of a data set, in its order.
///
/// # Errors
/// When the device fails.
pub fn score(ranker: &Ranker, data: &Dataset, device: &Device) -> Result<Vec<f32>> {
    score_rows(ranker, data.features(), data.n_features(), device)
}

/// The scores of row-major documents.
pub(crate) fn score_rows(ranker: &Ranker, features: &[f32], width: usize, device: &Device) -> Result<Vec<f32>> {
    let ranker = ranker.valid();
    let device = device.clone().without_autodiff();
    let width = width.max(1);
    let score = |rows: &[f32]| {
        let data = TensorData::new(rows.to_vec(), [rows.len() / width, width]);
        to_host(ranker.forward(Tensor::from_data(data, &device)))
    };
    if on_host(&device) {
        let mut scores = vec![0.0; features.len() / width];
        let blocks = scores.par_chunks_mut(ON_A_CORE).zip(features.par_chunks(ON_A_CORE * width));
        blocks.try_for_each(|(scores, rows)| score(rows).map(|found| scores.copy_from_slice(&found)))?;
        return Ok(scores);
    }
    let blocks: Result<Vec<Vec<f32>>> = features.chunks(ON_A_GPU * width).map(score).collect();
    Ok(blocks?.concat())
}

/// Copies a vector from a device.
pub(crate) fn to_host(tensor: Tensor<1>) -> Result<Vec<f32>> {
    tensor.without_autodiff().try_into_vec_as().map_err(|error| Error::Device(format!("the device failed: {error}")))
}
