//! Conversion between the gradients of a net and a flat vector.

use crate::error::{Error, Result};
use crate::model::Ranker;
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};

/// The gradients of all weights in Burn's order of visits; 0 for weights without a gradient.
pub(super) fn flat(ranker: &Ranker, gradients: GradientsParams) -> Result<Vec<f32>> {
    struct Visit(GradientsParams, Result<Vec<f32>>);
    impl ModuleVisitor for Visit {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let Ok(numbers) = &mut self.1 else { return };
            match self.0.remove::<D>(param.id).map(|gradient| gradient.into_data().try_into_vec::<f32>()) {
                Some(Ok(gradient)) => numbers.extend(gradient),
                Some(Err(error)) => self.1 = Err(Error::Device(format!("a gradient cannot be read: {error:?}"))),
                None => numbers.extend(vec![0.0; param.shape().num_elements()]),
            }
        }
    }
    let mut visit = Visit(gradients, Ok(Vec::new()));
    ranker.visit(&mut visit);
    visit.1
}

/// The inverse of [`flat`], on a device without autodiff.
pub(super) fn gradients(ranker: &Ranker, numbers: &[f32], device: &Device) -> GradientsParams {
    struct Visit<'a>(&'a [f32], &'a Device, GradientsParams);
    impl ModuleVisitor for Visit<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let shape = param.shape();
            let (values, rest) = self.0.split_at(shape.num_elements().min(self.0.len()));
            self.0 = rest;
            let gradient = Tensor::<D>::from_data(TensorData::new(values.to_vec(), shape), self.1);
            self.2.register(param.id, gradient);
        }
    }
    let mut visit = Visit(numbers, device, GradientsParams::new());
    ranker.visit(&mut visit);
    visit.2
}
