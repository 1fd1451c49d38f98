//! The net as a custom operation of Burn's autodiff on the Flex backend, with a hand-written backward pass.
//!
//! All weights are one tensor, so that the same operation works for nets of any depth.

use super::{DocumentRows, NetShape, PartValues};
use crate::device::{Backend as DeviceBackend, host_backend};
use crate::model::Ranker;
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::{DType, Tensor, TensorData};
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of documents of a part. Parts are computed in parallel; their sizes depend on the number of documents alone.
const PART: usize = 512;

/// Scores documents with the operation; `None` unless the backend is Flex and all numbers have single precision.
pub(in crate::model) fn fused_scores(ranker: &Ranker, features: &Tensor<2>) -> Option<Tensor<1>> {
    let weights = ranker.flat();
    let is_single = features.dtype() == DType::F32 && weights.iter().all(|weights| weights.dtype() == DType::F32);
    if host_backend(&features.device()) != Some(DeviceBackend::Flex) || !is_single {
        return None;
    }
    let config = ranker.config();
    // Encoded inputs and skip connections have no gradient by the features here.
    if features.dims()[1] != config.features || config.encoding.is_some() || config.skip {
        return None;
    }
    let net = FusedNet { shape: Arc::new(NetShape::new(&config)), parts: Arc::default() };
    let (features, weights) = (features.clone().into_dispatch(), Tensor::cat(weights, 0).into_dispatch());
    Some(Tensor::from_dispatch(Dispatch::net_scores(features, weights, net)))
}

/// A net, and the values of its forward pass that the backward pass needs.
#[derive(Debug, Clone)]
pub struct FusedNet {
    shape: Arc<NetShape>,
    parts: Arc<Mutex<Vec<PartValues>>>,
}

/// The operation and its gradients.
#[backend_extension(Flex, Autodiff)]
pub trait NetOps: Backend {
    /// The score of each row.
    fn net_scores(features: FloatTensor<Self>, weights: FloatTensor<Self>, net: FusedNet) -> FloatTensor<Self>;
    /// The gradients with respect to the features, empty unless requested, and with respect to all weights.
    fn net_gradients(
        by_scores: FloatTensor<Self>,
        features: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        net: FusedNet,
        by_features: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// A tensor of these values.
fn tensor(values: Vec<f32>, shape: Vec<usize>) -> FloatTensor<Flex> {
    Flex::float_from_data(TensorData::new(values, shape), &Default::default())
}

impl FusedNet {
    /// Where the row of each document starts, and the number of features.
    fn rows(&self, features: &[f32]) -> (Vec<usize>, usize) {
        let width = self.shape.features();
        ((0..features.len() / width).map(|row| row * width).collect(), width)
    }
}

impl NetOps for Flex {
    fn net_scores(features: FloatTensor<Self>, weights: FloatTensor<Self>, net: FusedNet) -> FloatTensor<Self> {
        let (features, weights) = (features.to_contiguous(), weights.to_contiguous());
        let features = features.storage::<f32>();
        let mut packed = Vec::new();
        net.shape.pack(weights.storage::<f32>(), &mut packed);
        let (starts, width) = net.rows(features);
        let mut scores = vec![0.0; starts.len()];
        let mut parts = net.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.resize_with(starts.len().div_ceil(PART), PartValues::default);
        let work = parts.par_iter_mut().zip(scores.par_chunks_mut(PART)).zip(starts.par_chunks(PART));
        work.for_each(|((part, scores), starts)| {
            net.shape.forward([&packed, &[]], DocumentRows { features, starts, width }, part, scores);
        });
        let shape = vec![scores.len()];
        tensor(scores, shape)
    }

    fn net_gradients(
        by_scores: FloatTensor<Self>,
        features: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        net: FusedNet,
        by_features: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (by_scores, features, weights) =
            (by_scores.to_contiguous(), features.to_contiguous(), weights.to_contiguous());
        let (by_scores, features) = (by_scores.storage::<f32>(), features.storage::<f32>());
        let shape = &net.shape;
        let (mut packed, mut transposed) = (Vec::new(), Vec::new());
        shape.pack(weights.storage::<f32>(), &mut packed);
        shape.derive(&packed, &mut transposed);
        let (starts, width) = net.rows(features);
        let mut of_features = vec![0.0; if by_features { features.len() } else { 0 }];
        let mut parts = net.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = &mut of_features[..];
        let work: Vec<_> = parts
            .iter_mut()
            .zip(by_scores.chunks(PART))
            .zip(starts.chunks(PART))
            .map(|((part, by_scores), starts)| {
                let (own, others) =
                    std::mem::take(&mut rest).split_at_mut(if by_features { starts.len() * width } else { 0 });
                rest = others;
                (part, by_scores, starts, own)
            })
            .collect();
        let gradients: Vec<Vec<f32>> = work
            .into_par_iter()
            .map(|(part, by_scores, starts, of_features)| {
                let mut gradient = vec![0.0; shape.len()];
                let rows = DocumentRows { features, starts, width };
                shape.backward([&packed, &transposed], rows, part, by_scores, true, &mut gradient);
                if by_features {
                    shape.by_features(&packed, part, by_scores, of_features);
                }
                gradient
            })
            .collect();
        let mut sum = vec![0.0; shape.len()];
        for gradient in gradients {
            sum.iter_mut().zip(gradient).for_each(|(sum, slope)| *sum += slope);
        }
        let mut plain = Vec::new();
        shape.unpack(&sum, &mut plain);
        let (documents, count) = (of_features.len() / width, plain.len());
        (tensor(of_features, vec![documents, width]), tensor(plain, vec![count]))
    }
}

impl<B: NetOps, C: CheckpointStrategy> NetOps for Autodiff<B, C> {
    fn net_scores(features: FloatTensor<Self>, weights: FloatTensor<Self>, net: FusedNet) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct Net;
        impl<B: NetOps> Backward<B, 2> for Net {
            type State = (FloatTensor<B>, FloatTensor<B>, FusedNet);

            fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
                let by_scores = gradients.consume::<B>(&ops.node);
                let (features, weights, net) = ops.state;
                let [of_features, of_weights] = ops.parents;
                let found = B::net_gradients(by_scores, features, weights, net, of_features.is_some());
                if let Some(node) = of_features {
                    gradients.register::<B>(node.id, found.0);
                }
                if let Some(node) = of_weights {
                    gradients.register::<B>(node.id, found.1);
                }
            }
        }
        let nodes = [features.node(), weights.node()];
        let (features, weights) = (features.into_primitive(), weights.into_primitive());
        match Net.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let scores = B::net_scores(features.clone(), weights.clone(), net.clone());
                prepared.finish((features, weights, net), scores)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(B::net_scores(features, weights, net)),
        }
    }

    fn net_gradients(
        _: FloatTensor<Self>,
        _: FloatTensor<Self>,
        _: FloatTensor<Self>,
        _: FusedNet,
        _: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        unreachable!("gradients are computed by the backend below autodiff")
    }
}
