//! Nets for export: layers of weights and biases on the host, and the scaling that is not folded into them.

use crate::data::Encoding;
use crate::data::scale::{Affine, Input, Inputs, Step};
use crate::error::Result;
use crate::model::{Activation, Dense, EncodedRows, HostNet, Model, Ranker};
use std::sync::Arc;

/// A net and its scaling.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Net<'a> {
    pub scaling: &'a [Step],
    /// Medians in place of missing values, and the inputs that are not scaled features.
    pub parts: &'a Inputs,
    /// All layers; the last is the output, with one unit and no activation function.
    pub layers: Vec<Dense<f64>>,
    /// Activation function of the hidden units; `None` without hidden units.
    pub activation: Option<Activation>,
    /// Weights of the skip connection, one per input; empty without one.
    pub skip: Vec<f64>,
    /// How scaled features become inputs; `None` if each is one.
    pub encoding: Option<Arc<Encoding>>,
}

/// Maximum rounding error of a folded layer, as a multiple of that with scaled features.
const MAX_ERROR: f64 = 16.0;

impl<'a> Net<'a> {
    /// The net of a model, with its scaling separate.
    pub fn of(model: &'a Model, ranker: &Ranker) -> Result<Self> {
        let HostNet { layers, activation, skip, encoding } = HostNet::of(ranker)?.to_f64();
        let scaler = &model.info.scaler;
        Ok(Net { scaling: scaler.steps(), parts: scaler.parts(), layers, activation, skip, encoding })
    }

    /// The rows of the first layer's table, if features are encoded.
    pub fn rows(&self) -> Option<EncodedRows> {
        self.encoding.as_deref().map(EncodedRows::new)
    }

    /// Folds an affine scaling into the first layer: W' = W / spread, b' = b - center / spread . W.
    ///
    /// The scaling stays separate if values are so much larger than their differences that f32 sums would lose
    /// precision.
    pub fn folded(mut self) -> Self {
        if let [Step::Affine(affine)] = self.scaling
            && self.skip.is_empty()
            && self.parts.is_empty()
            && self.layers[0].is_cheap_to_fold(affine)
        {
            self.layers[0].fold(affine);
            self.scaling = &[];
        }
        self
    }

    /// Like [`Net::folded_in_double`], also if there are inputs that are not scaled features.
    pub fn folded_by_input(mut self) -> Self {
        if let [Step::Affine(affine)] = self.scaling {
            let of_input = |input: &Input| match *input {
                Input::Scaled(feature) => (affine.center[feature], affine.spread[feature]),
                Input::Missing(_) | Input::Level(..) => (0.0, 1.0),
            };
            let (center, spread) = self.parts.list(affine.center.len()).iter().map(of_input).unzip();
            self.layers[0].fold(&Affine { center, spread, ..Affine::default() });
            self.scaling = &[];
        }
        self
    }

    /// Like [`Net::folded`] without the check, for formats with f64 sums.
    pub fn folded_in_double(mut self) -> Self {
        // The skip connection reads scaled features, too.
        if let [Step::Affine(affine)] = self.scaling
            && self.skip.is_empty()
            && self.parts.is_empty()
        {
            self.layers[0].fold(affine);
            self.scaling = &[];
        }
        self
    }
}

impl Dense<f64> {
    /// Whether sums of unscaled features have similar rounding errors to sums of scaled ones.
    fn is_cheap_to_fold(&self, affine: &Affine) -> bool {
        let far: Vec<f64> = affine.center.iter().zip(affine.factors()).map(|(center, f)| (center * f).abs()).collect();
        (0..self.units).all(|unit| {
            let sum =
                |of: &dyn Fn(f64, f64) -> f64| self.column(unit).zip(&far).map(|(w, r)| of(w.abs(), *r)).sum::<f64>();
            sum(&|weight, far| weight * far) <= MAX_ERROR * sum(&|weight, _| weight)
        })
    }

    fn fold(&mut self, affine: &Affine) {
        for (input, (factor, center)) in affine.factors().iter().zip(&affine.center).enumerate() {
            for unit in 0..self.units {
                let weight = &mut self.weights[input * self.units + unit];
                *weight *= factor;
                self.bias[unit] -= center * *weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer() -> Dense<f64> {
        Dense { inputs: 3, units: 2, weights: vec![1.0, -2.0, 3.0, 4.0, 5.0, 6.0], bias: vec![0.5, 0.25] }
    }

    #[test]
    fn a_folded_layer_gives_the_same_sums() {
        let affine = Affine { center: vec![2.0, 7.0, -1.0], spread: vec![4.0, 0.0, 0.5], ..Affine::default() };
        let x = [3.0, 100.0, 2.0];
        let scaled: Vec<f64> = vec![(3.0 - 2.0) / 4.0, 0.0, (2.0 + 1.0) / 0.5];
        let sums = |layer: &Dense<f64>, x: &[f64]| -> Vec<f64> {
            let unit = |unit: usize| layer.bias[unit] + layer.column(unit).zip(x).map(|(w, x)| w * x).sum::<f64>();
            (0..2).map(unit).collect()
        };
        let mut folded = layer();
        folded.fold(&affine);
        assert_eq!(sums(&folded, &x), sums(&layer(), &scaled));
        assert_eq!(folded.row(1), [0.0, 0.0], "a constant feature has no weight");
    }

    #[test]
    fn scalings_whose_folding_would_lose_precision_stay_separate() {
        let near = Affine { center: vec![2.0, 7.0, -1.0], spread: vec![1.0; 3], ..Affine::default() };
        let far = Affine { center: vec![1e6, 7.0, -1.0], spread: vec![1.0; 3], ..Affine::default() };
        assert!(layer().is_cheap_to_fold(&near) && !layer().is_cheap_to_fold(&far));
        let (near, far) = ([Step::Affine(near)], [Step::Affine(far)]);
        let parts = Inputs::default();
        let net = |scaling| {
            let (skip, layers) = (vec![], vec![layer()]);
            Net { scaling, parts: &parts, layers, activation: None, skip, encoding: None }
        };
        assert_eq!(net(&near).folded().scaling, []);
        assert_eq!(net(&far).folded(), net(&far));
        assert_eq!(net(&far).folded_in_double().scaling, []);
    }
}
