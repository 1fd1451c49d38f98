//! Identities of training runs, computed from the settings, data and targets that determine the result.

use crate::data::Targets;
use crate::internal::hash::Hasher;
use crate::model::{Architecture, DataInfo};
use crate::setting::Schedule;
use crate::setting::TrainConfig;

/// Returns the identity of a run as text; checkpoints store the text, models a hash of it.
///
/// The number of epochs is left out unless the schedule depends on it, so that a run can be extended. Data is
/// identified as it was before scaling; the scaling is one of the settings.
pub(super) fn identity(config: &TrainConfig, [train, valid]: &[DataInfo; 2]) -> String {
    let mut timeless = config.clone();
    if config.schedule != Schedule::Cosine {
        timeless.epochs = 1;
    }
    if let Architecture::Trees { trees, .. } = &mut timeless.architecture {
        *trees = 1;
    }
    let settings = serde_json::to_string(&timeless).unwrap_or_default();
    format!("{settings} {} {}", train.fingerprint, valid.fingerprint)
}

/// Adds target probabilities to an identity.
pub(super) fn add_targets(identity: &mut String, targets: &Targets, queries: usize) {
    identity.push_str(&format!(" {:016x}", fingerprint(targets, queries)));
}

/// Adds initial weights to an identity.
pub(super) fn add_weights(identity: &mut String, weights: &[f32]) {
    let mut hasher = Hasher::new();
    weights.iter().for_each(|weight| hasher.word(u64::from(weight.to_bits())));
    identity.push_str(&format!(" {:016x}", hasher.finish()));
}

/// The identity as stored in models.
pub(super) fn hash(identity: &str) -> String {
    format!("{:016x}", Hasher::of(identity.as_bytes()))
}

/// A hash of the targets.
fn fingerprint(targets: &Targets, queries: usize) -> u64 {
    let mut hasher = Hasher::new();
    for query in 0..queries {
        let pairs = targets.query(query);
        hasher.word(pairs.len() as u64);
        for pair in pairs {
            [pair.i as u64, pair.j as u64, pair.probability.to_bits()].into_iter().for_each(|word| hasher.word(word));
        }
    }
    hasher.finish()
}
