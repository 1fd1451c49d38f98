//! The shape of a sum of scorers, or why they cannot be combined; needed before training.

use crate::error::{Error, Result};
use crate::model::{Activation, Architecture, RankerConfig};

/// Number of units per layer of a relu net that represent all linear nets together.
pub(super) const LINEAR_UNITS: usize = 2;

/// Returns the shape of the sum of scorers with these shapes.
///
/// # Errors
/// If the scorers cannot be combined, with a remedy.
pub(crate) fn shape_of_sum(shapes: &[RankerConfig]) -> Result<RankerConfig> {
    let Some(first) = shapes.first() else {
        return Err(Error::Config("an ensemble without models: pass at least one".into()));
    };
    if let Some(other) = shapes.iter().find(|shape| shape.features != first.features) {
        return Err(Error::Mismatch(format!(
            "models with {} and {} features cannot be averaged: train all on data with the same features",
            first.features, other.features
        )));
    }
    if shapes.iter().any(|shape| shape.encoding != first.encoding) {
        return Err(Error::Mismatch(
            "nets that encode features differently cannot be averaged: train all with the same scaling of the same data".into(),
        ));
    }
    let skip = shapes.iter().any(|shape| shape.skip);
    let architectures: Vec<&Architecture> = shapes.iter().map(|shape| &shape.architecture).collect();
    let architecture = match first.architecture {
        _ if architectures.iter().any(|other| kind(other) != kind(&first.architecture)) => {
            return Err(Error::Config(
                "nets, trees and sums of kernels cannot be averaged: make an ensemble of one kind of model".into(),
            ));
        }
        Architecture::Trees { .. } => {
            let (mut n_trees, mut max_leaves) = (0, 0);
            for architecture in architectures {
                if let Architecture::Trees { trees, leaves } = architecture {
                    (n_trees, max_leaves) = (n_trees + trees, max_leaves.max(*leaves));
                }
            }
            Architecture::Trees { trees: n_trees, leaves: max_leaves }
        }
        Architecture::Kernel { .. } => {
            let points = |architecture: &&Architecture| match architecture {
                Architecture::Kernel { points } => *points,
                _ => 0,
            };
            Architecture::Kernel { points: architectures.iter().map(points).sum() }
        }
        Architecture::Linear | Architecture::Mlp { .. } => net(&architectures, skip)?,
    };
    architecture
        .check()
        .map_err(|error| Error::Config(format!("{error}; the ensemble has the units of all members")))?;
    Ok(RankerConfig { features: first.features, architecture, skip, encoding: first.encoding.clone() })
}

/// A number that distinguishes nets, trees and kernels.
fn kind(architecture: &Architecture) -> u8 {
    match architecture {
        Architecture::Linear | Architecture::Mlp { .. } => 0,
        Architecture::Trees { .. } => 1,
        Architecture::Kernel { .. } => 2,
    }
}

/// The architecture with all units of these nets; linear nets become part of a skip connection if there is one.
fn net(nets: &[&Architecture], skip: bool) -> Result<Architecture> {
    let deep: Vec<&Architecture> = nets.iter().copied().filter(|net| **net != Architecture::Linear).collect();
    let Some(activation) = deep.first().and_then(|net| net.activation()) else {
        return Ok(Architecture::Linear);
    };
    let wrong = |message: String| Err(Error::Config(message));
    if let Some(other) = deep.iter().filter_map(|net| net.activation()).find(|other| *other != activation) {
        return wrong(format!(
            "nets with {activation} and {other} hidden units cannot be averaged: train all with the same `activation`"
        ));
    }
    let depth = deep.iter().map(|net| net.hidden().len()).max().unwrap_or(0);
    if activation != Activation::Relu {
        if deep.len() < nets.len() && !skip {
            return wrong(format!(
                "a linear net and a net with {activation} hidden units cannot be averaged: use `activation` relu"
            ));
        }
        if deep.iter().any(|net| net.hidden().len() != depth) {
            return wrong(format!(
                "nets with {activation} hidden units and different depths cannot be averaged: train all with the same \
                 number of `hidden` layers, or with `activation` relu"
            ));
        }
    }
    // A relu net that is shallower than others repeats its last layer.
    let units =
        |net: &&Architecture, layer: usize| net.hidden().get(layer).or(net.hidden().last()).copied().unwrap_or(0);
    let linear = if deep.len() < nets.len() && !skip { LINEAR_UNITS } else { 0 };
    let hidden = (0..depth).map(|layer| linear + deep.iter().map(|net| units(net, layer)).sum::<usize>()).collect();
    Ok(Architecture::Mlp { hidden, activation })
}
