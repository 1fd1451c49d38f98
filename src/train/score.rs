//! Scores of whole data sets, in large batches, without gradients.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::Ranker;
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};

/// Documents scored at once: large enough to fill all cores, small enough to stay in cache with a few features.
const DOCUMENTS_AT_ONCE: usize = 1 << 14;

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
    let mut scores = Vec::with_capacity(features.len() / width.max(1));
    for rows in features.chunks(DOCUMENTS_AT_ONCE * width.max(1)) {
        let data = TensorData::new(rows.to_vec(), [rows.len() / width, width]);
        scores.extend(to_host(ranker.forward(Tensor::from_data(data, &device)))?);
    }
    Ok(scores)
}

/// Copies a vector from a device.
pub(crate) fn to_host(tensor: Tensor<1>) -> Result<Vec<f32>> {
    tensor.without_autodiff().try_into_vec_as().map_err(|error| Error::Config(format!("the device failed: {error}")))
}
