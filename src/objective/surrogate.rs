//! The connection between lambdas and autodiff.

use burn::tensor::{Tensor, TensorData};

/// Returns `sum_i s_i g_i` with constant `g`. Its gradient with respect to the scores is `g`, so that `backward()`
/// propagates any lambdas into the weights. Its value has no meaning.
///
/// # Shapes
/// - scores: `[documents]`, tracked by autodiff
/// - gradient: one number per document, `dC/ds_i`, that is `-lambda_i`
/// - output: `[1]`
///
/// ```
/// use burnrank::{Tensor, device};
/// use burnrank::objective::surrogate;
/// let device = device::open("auto")?.autodiff();
/// let weights = Tensor::<1>::from_floats([1.0, 1.0], &device).require_grad();
/// let scores = weights.clone() * 3.0;
/// let gradient = weights.grad(&surrogate(scores, vec![0.5, -0.5]).backward()).unwrap();
/// assert_eq!(gradient.into_data().to_vec::<f32>().unwrap(), [1.5, -1.5]);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Panics
/// Panics if `gradient` does not have one number per document.
pub fn surrogate(scores: Tensor<1>, gradient: Vec<f32>) -> Tensor<1> {
    let length = gradient.len();
    let constant = Tensor::<1>::from_data(TensorData::new(gradient, [length]), &scores.device().without_autodiff());
    (scores * constant).sum()
}
