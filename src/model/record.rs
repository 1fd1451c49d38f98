//! Serialisation of nets as Burn records.

use crate::device;
use crate::error::{Error, Result};
use crate::model::{Ranker, RankerConfig};
use burn::module::{Module, ModuleVisitor, Param};
use burn::store::ModuleRecord;
use burn::tensor::{Bytes, DType, Device, Tensor};

/// The burnpack bytes of a ranker; equal weights give equal bytes.
pub(crate) fn ranker_to_bytes(ranker: &Ranker) -> Result<Vec<u8>> {
    let bytes = ranker.clone().into_record().into_bytes();
    bytes.map(|bytes| bytes.to_vec()).map_err(|error| Error::Record(format!("cannot write the record: {error}")))
}

/// Parses burnpack bytes, which must contain exactly the weights of the given shape, all of them finite.
pub(crate) fn ranker_from_bytes(config: &RankerConfig, bytes: Vec<u8>, device: &Device) -> Result<Ranker> {
    let wrong = |error: &dyn std::fmt::Display| Error::Record(format!("not the record of this model: {error}"));
    let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes)).map_err(|error| wrong(&error))?;
    let empty = config.unfilled(device)?;
    // Burn panics on a record of integers or booleans.
    let loaded = device::without_panic(|| empty.try_load_record(record)).ok_or_else(|| wrong(&"no weights"))?;
    let ranker = loaded.map_err(|error| wrong(&error))?;
    let weights = Weights::of(&ranker);
    if !weights.all_single {
        return Err(wrong(&"its weights are not 32-bit numbers"));
    }
    if !weights.all_finite {
        return Err(wrong(&"a weight is infinite or not a number"));
    }
    Ok(ranker)
}

/// Whether all weights are finite numbers.
pub(crate) fn is_finite(ranker: &Ranker) -> bool {
    Weights::of(ranker).all_finite
}

/// Properties of all weights of a ranker.
struct Weights {
    all_single: bool,
    all_finite: bool,
}

impl Weights {
    fn of(ranker: &Ranker) -> Self {
        let mut weights = Weights { all_single: true, all_finite: true };
        ranker.visit(&mut weights);
        weights
    }
}

impl ModuleVisitor for Weights {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let data = param.val().without_autodiff().into_data();
        self.all_single &= data.dtype() == DType::F32;
        self.all_finite &= data.iter::<f32>().all(f32::is_finite);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Activation;

    fn cpu() -> Device {
        device::open("auto").unwrap()
    }

    fn bytes(config: &RankerConfig, weights: &[Vec<f32>]) -> Vec<u8> {
        ranker_to_bytes(&config.from_weights(weights, &cpu()).unwrap()).unwrap()
    }

    #[test]
    fn bytes_round_trip() {
        let config = RankerConfig::mlp(2, &[2], Activation::Tanh);
        let record = bytes(&config, &[vec![1.0, -2.0, 3.0, 4.0], vec![0.5, -0.0], vec![f32::MIN_POSITIVE, 7.0]]);
        for device in [cpu(), cpu().autodiff()] {
            let ranker = ranker_from_bytes(&config, record.clone(), &device).unwrap();
            assert!(ranker_to_bytes(&ranker).unwrap() == record);
        }
    }

    #[test]
    fn weights_must_be_finite() {
        let config = RankerConfig::linear(3);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let error = ranker_from_bytes(&config, bytes(&config, &[vec![1.0, bad, 2.0]]), &cpu()).unwrap_err();
            assert!(error.to_string().contains("infinite or not a number"), "{error}");
        }
    }

    #[test]
    fn huge_sizes_are_refused_without_allocation() {
        let record = bytes(&RankerConfig::linear(3), &[vec![1.0, 2.0, 3.0]]);
        for features in [1, 4, 1_000_000_000_000, usize::MAX] {
            let error = ranker_from_bytes(&RankerConfig::linear(features), record.clone(), &cpu()).unwrap_err();
            assert!(error.to_string().contains(&features.to_string()), "{error}");
        }
        let other = RankerConfig::mlp(usize::MAX, &[65_536], Activation::Relu);
        assert!(ranker_from_bytes(&other, record, &cpu()).is_err());
    }

    #[test]
    fn weights_of_another_type_are_refused() {
        use burn::tensor::{FloatDType, Int, TensorData};
        /// Has the parameter names of a linear net.
        #[derive(Module, Debug)]
        struct Net<M: Module> {
            layers: Vec<M>,
        }
        #[derive(Module, Debug)]
        struct Whole {
            weight: Param<Tensor<2, Int>>,
        }
        #[derive(Module, Debug)]
        struct Double {
            weight: Param<Tensor<2>>,
        }
        let config = RankerConfig::linear(3);
        let data = TensorData::new(vec![1i64, 2, 3], [3, 1]);
        let whole = Whole { weight: Param::initialized(1.into(), Tensor::<2, Int>::from_data(data, &cpu())) };
        let record = Net { layers: vec![whole] }.into_record().into_bytes().unwrap().to_vec();
        assert!(ranker_from_bytes(&config, record, &cpu()).is_err());

        let numbers = Tensor::<2>::from_floats([[1.0], [2.0], [3.0]], &cpu());
        let double = Double { weight: Param::from_tensor(numbers.clone().cast(FloatDType::F64)) };
        let record = Net { layers: vec![double] }.into_record().into_bytes().unwrap().to_vec();
        let error = ranker_from_bytes(&config, record, &cpu()).unwrap_err();
        assert!(error.to_string().contains("32-bit"), "{error}");
        // Names and shape are correct.
        let single = Double { weight: Param::from_tensor(numbers) };
        let record = Net { layers: vec![single] }.into_record().into_bytes().unwrap().to_vec();
        ranker_from_bytes(&config, record, &cpu()).unwrap();
    }
}
