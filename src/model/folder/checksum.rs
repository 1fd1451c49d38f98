//! Checksum of everything that determines a model's scores: weights, shape and scaling.

use super::info::ModelInfo;
use crate::internal::hash::Hasher;
use crate::model::{Activation, Architecture};

/// Code of trees, in place of a net's activation function.
const TREES: u64 = 4;

/// Computes the checksum stored in a model folder.
///
/// Numbers are hashed by their bits and names by codes, so that the formatting of `model.json` does not matter.
pub(super) fn of(info: &ModelInfo, record: &[u8]) -> String {
    let mut hasher = Hasher::new();
    hasher.word(u64::from(info.format));
    shape(&mut hasher, info);
    scaling(&mut hasher, info);
    if info.sparse_missing {
        hasher.bytes(b"sparse_missing");
    }
    hasher.bytes(record);
    format!("{:016x}", hasher.finish())
}

fn shape(hasher: &mut Hasher, info: &ModelInfo) {
    hasher.word(info.ranker.features as u64);
    if let Architecture::Trees { trees, leaves } = info.ranker.architecture {
        [TREES, trees as u64, leaves as u64].into_iter().for_each(|word| hasher.word(word));
        return;
    }
    if let Architecture::Kernel { points } = info.ranker.architecture {
        hasher.bytes(b"kernel");
        return hasher.word(points as u64);
    }
    hasher.word(match info.ranker.architecture.activation() {
        None => 0,
        Some(Activation::Sigmoid) => 1,
        Some(Activation::Tanh) => 2,
        Some(Activation::Relu) => 3,
    });
    let hidden = info.ranker.architecture.hidden();
    hasher.word(hidden.len() as u64);
    hidden.iter().for_each(|&units| hasher.word(units as u64));
    if info.ranker.skip {
        hasher.bytes(b"skip");
    }
}

fn scaling(hasher: &mut Hasher, info: &ModelInfo) {
    let scaler = &info.scaler;
    hasher.bytes(scaler.kind().name().as_bytes());
    hasher.word(scaler.n_features() as u64);
    let (center, spread) = scaler.numbers();
    for numbers in [center, spread] {
        hasher.word(numbers.len() as u64);
        numbers.iter().for_each(|number| hasher.word(number.to_bits()));
    }
    scaler.knots().iter().for_each(|knot| hasher.word(u64::from(knot.to_bits())));
    if let Some(pieces) = scaler.pieces() {
        for knots in pieces.knots() {
            hasher.word(knots.len() as u64);
            knots.iter().for_each(|knot| hasher.word(u64::from(knot.to_bits())));
        }
        pieces.encoding().means().iter().for_each(|mean| hasher.word(u64::from(mean.to_bits())));
    }
    let inputs = scaler.parts();
    if inputs.is_empty() {
        return;
    }
    hasher.bytes(b"inputs");
    hasher.word(inputs.medians.len() as u64);
    inputs.medians.iter().for_each(|median| hasher.word(u64::from(median.to_bits())));
    hasher.word(inputs.indicators.len() as u64);
    inputs.indicators.iter().for_each(|&feature| hasher.word(feature as u64));
    for category in &inputs.categories {
        hasher.word(category.feature as u64);
        hasher.word(category.levels.len() as u64);
        category.levels.iter().for_each(|&level| hasher.word(u64::from(level)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::data::scale::{ScaleKind, Scaler};
    use crate::model::RankerConfig;

    fn info(ranker: RankerConfig, kind: ScaleKind, last: f32) -> ModelInfo {
        let data = Dataset::new(2, vec![0.0, 1.0, 2.0, last], vec![0.0, 1.0], vec![("a".into(), 2)]).unwrap();
        ModelInfo::new(ranker, Scaler::fit(kind, &data), "ranknet")
    }

    #[test]
    fn the_checksum_covers_everything_that_decides_scores() {
        let tanh = RankerConfig::mlp(2, &[3], Activation::Tanh);
        let good = of(&info(tanh.clone(), ScaleKind::ZScore, 5.0), b"record");
        assert_eq!(of(&info(tanh.clone(), ScaleKind::ZScore, 5.0), b"record"), good);
        let others = [
            of(&info(tanh.clone(), ScaleKind::ZScore, 5.0), b"recorD"),
            of(&info(RankerConfig::mlp(2, &[3], Activation::Relu), ScaleKind::ZScore, 5.0), b"record"),
            of(&info(RankerConfig::mlp(2, &[4], Activation::Tanh), ScaleKind::ZScore, 5.0), b"record"),
            of(&info(RankerConfig::mlp(3, &[3], Activation::Tanh), ScaleKind::ZScore, 5.0), b"record"),
            of(&info(RankerConfig::linear(2), ScaleKind::ZScore, 5.0), b"record"),
            of(&info(RankerConfig::mlp(2, &[3, 3], Activation::Tanh), ScaleKind::ZScore, 5.0), b"record"),
            of(&info(tanh.clone(), ScaleKind::MinMax, 5.0), b"record"),
            of(&info(tanh.clone(), ScaleKind::QueryZScore, 5.0), b"record"),
            of(&info(tanh.clone(), ScaleKind::ZScore, 5.000_001), b"record"),
            of(&info(tanh.clone(), ScaleKind::Quantile, 5.0), b"record"),
            of(&info(tanh.clone(), ScaleKind::Quantile, 5.000_001), b"record"),
            of(&ModelInfo { sparse_missing: true, ..info(tanh.clone(), ScaleKind::ZScore, 5.0) }, b"record"),
            of(&ModelInfo { format: 2, ..info(tanh.clone(), ScaleKind::ZScore, 5.0) }, b"record"),
        ];
        others.iter().for_each(|other| assert_ne!(*other, good));
        assert_eq!(others.iter().collect::<std::collections::HashSet<_>>().len(), others.len());
    }
}
