//! Lambdas as a tensor, on the device of the scores.

use super::Objective;
use super::batch::Batch;
#[cfg(feature = "cubecl")]
use super::device::{DeviceEpoch, DeviceLambdas};
use super::loss::{Outputs, QueryResult};
#[cfg(feature = "cubecl")]
use super::mean_over;
use crate::device::failure;
use crate::error::{Error, Result};
use burn::tensor::{Tensor, TensorData};

/// Result of [`Objective::lambda_tensor`].
#[derive(Debug)]
pub struct LambdaTensor {
    /// Gradient of the loss with respect to the scores, averaged over queries; a constant: `[documents]`.
    pub gradient: Tensor<1>,
    sums: Sums,
}

#[derive(Debug)]
enum Sums {
    OnHost(QueryResult),
    #[cfg(feature = "cubecl")]
    OnDevice(Box<(DeviceLambdas, DeviceEpoch)>),
}

impl LambdaTensor {
    /// Returns the loss, averaged over queries, and the numbers of pairs. Copies six numbers per query from a GPU.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn result(&self) -> Result<QueryResult> {
        match &self.sums {
            Sums::OnHost(result) => Ok(*result),
            #[cfg(feature = "cubecl")]
            Sums::OnDevice(both) => {
                let (lambdas, epoch) = &**both;
                Ok(mean_over(epoch.layout.n_queries(), lambdas.sums(epoch)?, &mut []))
            }
        }
    }
}

impl Objective {
    /// Gradient of a batch's loss with respect to its scores, averaged over its queries, on the device of the scores.
    /// Memory is linear in the number of documents.
    ///
    /// GPUs have kernels for every pair loss whose weight has a form and a [rule](crate::objective::ValueRule) for its
    /// values. Other losses use [`Objective::lambda_gradient`] on the host.
    ///
    /// # Shapes
    /// - scores: `[documents]`
    ///
    /// ```
    /// use burnrank::objective::Batch;
    /// use burnrank::{Objective, Tensor, device};
    /// let scores = Tensor::<1>::from_floats([0.9, 0.1, -0.4, 1.5, 0.3], &device::open("auto")?);
    /// let batch = Batch { labels: &[0.0, 1.0, 2.0, 0.0, 3.0], offsets: &[0, 5] };
    /// let lambdas = Objective::parse("lambdarank:ndcg")?.lambda_tensor(scores, batch, &[])?;
    /// let result = lambdas.result()?;
    /// let gradient = lambdas.gradient.try_into_vec_as::<f32>().unwrap();
    /// assert!((gradient[4] + 0.385296).abs() < 1e-5 && (result.loss - 1.344197).abs() < 1e-5);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Objective::lambda_gradient`], and an error if the device fails.
    pub fn lambda_tensor(&self, scores: Tensor<1>, batch: Batch<'_>, seeds: &[u64]) -> Result<LambdaTensor> {
        let scores = scores.without_autodiff();
        let [n] = scores.dims();
        if !batch.has_length(n) {
            let labels = batch.labels.len();
            return Err(Error::Mismatch(format!("{n} scores and {labels} labels do not match the query offsets")));
        }
        #[cfg(feature = "cubecl")]
        if let Some(cube) = crate::device::cube::Cube::of(&scores.device())
            && let Some(lambdas) = DeviceLambdas::new(self, batch.labels, batch.offsets, &cube)?
        {
            let queries: Vec<usize> = (0..batch.n_queries()).collect();
            let epoch = lambdas.epoch(&queries);
            let gradient = lambdas.gradient(&epoch, 0..queries.len(), scores);
            return Ok(LambdaTensor { gradient, sums: Sums::OnDevice(Box::new((lambdas, epoch))) });
        }
        let device = scores.device();
        let (host, mut gradient) = (scores.try_into_vec_as::<f32>().map_err(failure)?, vec![0.0; n]);
        let result = self.lambda_gradient(&host, batch, &mut gradient, Outputs { loss: true, pairs: true }, seeds)?;
        let gradient = Tensor::from_data(TensorData::new(gradient, [n]), &device);
        Ok(LambdaTensor { gradient, sums: Sums::OnHost(result) })
    }
}
