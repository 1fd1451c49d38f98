//! What tells training runs apart: settings, data and targets, as far as they decide what comes out.

use crate::data::Targets;
use crate::internal::hash::Hasher;
use crate::model::{Architecture, DataInfo};
use crate::setting::Schedule;
use crate::setting::TrainConfig;

/// The identity of a run: a text, of which checkpoints hold the whole and models a hash.
///
/// The number of epochs does not count, unless step sizes depend on it: it may grow. Data count as they are before scaling, which is one of the settings.
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

/// Target probabilities make another run.
pub(super) fn add_targets(identity: &mut String, targets: &Targets, queries: usize) {
    identity.push_str(&format!(" {:016x}", fingerprint(targets, queries)));
}

/// The identity as models state it.
pub(super) fn hash(identity: &str) -> String {
    format!("{:016x}", Hasher::of(identity.as_bytes()))
}

/// A number that tells targets apart.
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
