//! The shape of a sum of scorers, or why there is none: known before anything is trained.

use crate::error::{Error, Result};
use crate::model::{Activation, Architecture, RankerConfig};

/// The units that all linear nets together take in each layer of a net of relu units.
pub(super) const LINEAR_UNITS: usize = 2;

/// The shape of what has the sum of the scores of scorers of these shapes.
///
/// # Errors
/// When no single scorer has it, with what to do about it.
pub(crate) fn shape_of_sum(shapes: &[RankerConfig]) -> Result<RankerConfig> {
    let Some(first) = shapes.first() else {
        return Err(Error::Config("an ensemble of no models: give at least one".into()));
    };
    if let Some(other) = shapes.iter().find(|shape| shape.features != first.features) {
        return Err(Error::Mismatch(format!(
            "models of {} and of {} features cannot be one model: train all on data of the same features",
            first.features, other.features
        )));
    }
    let architectures: Vec<&Architecture> = shapes.iter().map(|shape| &shape.architecture).collect();
    let architecture = match first.architecture {
        _ if architectures.iter().any(|other| kind(other) != kind(&first.architecture)) => {
            return Err(Error::Config(
                "nets, trees and sums of kernels cannot be one model: make an ensemble of one kind of model".into(),
            ));
        }
        Architecture::Trees { .. } => {
            let (mut all, mut most) = (0, 0);
            for architecture in architectures {
                if let Architecture::Trees { trees, leaves } = architecture {
                    (all, most) = (all + trees, most.max(*leaves));
                }
            }
            Architecture::Trees { trees: all, leaves: most }
        }
        Architecture::Kernel { .. } => {
            let points = |architecture: &&Architecture| match architecture {
                Architecture::Kernel { points } => *points,
                _ => 0,
            };
            Architecture::Kernel { points: architectures.iter().map(points).sum() }
        }
        Architecture::Linear | Architecture::Mlp { .. } => net(&architectures)?,
    };
    architecture
        .check()
        .map_err(|error| Error::Config(format!("{error}, and the ensemble has those of all members")))?;
    Ok(RankerConfig { features: first.features, architecture })
}

/// A number for nets, trees and kernels each.
fn kind(architecture: &Architecture) -> u8 {
    match architecture {
        Architecture::Linear | Architecture::Mlp { .. } => 0,
        Architecture::Trees { .. } => 1,
        Architecture::Kernel { .. } => 2,
    }
}

/// The net with all units of these nets.
fn net(nets: &[&Architecture]) -> Result<Architecture> {
    let deep: Vec<&Architecture> = nets.iter().copied().filter(|net| **net != Architecture::Linear).collect();
    let Some(activation) = deep.first().and_then(|net| net.activation()) else {
        return Ok(Architecture::Linear);
    };
    let wrong = |message: String| Err(Error::Config(message));
    if let Some(other) = deep.iter().filter_map(|net| net.activation()).find(|other| *other != activation) {
        return wrong(format!(
            "nets of {activation} and of {other} hidden units cannot be one net: train all with the same `activation`"
        ));
    }
    let depth = deep.iter().map(|net| net.hidden().len()).max().unwrap_or(0);
    if activation != Activation::Relu {
        if deep.len() < nets.len() {
            return wrong(format!(
                "a linear net and one of {activation} hidden units cannot be one net: with `activation` relu they can"
            ));
        }
        if deep.iter().any(|net| net.hidden().len() != depth) {
            return wrong(format!(
                "nets of {activation} hidden units that differ in depth cannot be one net: train all with as many `hidden` \
                 layers, or with `activation` relu"
            ));
        }
    }
    // A net of relu units that is less deep than others hands on the units of its last layer.
    let units =
        |net: &&Architecture, layer: usize| net.hidden().get(layer).or(net.hidden().last()).copied().unwrap_or(0);
    let linear = if deep.len() < nets.len() { LINEAR_UNITS } else { 0 };
    let hidden = (0..depth).map(|layer| linear + deep.iter().map(|net| units(net, layer)).sum::<usize>()).collect();
    Ok(Architecture::Mlp { hidden, activation })
}
