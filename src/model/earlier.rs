//! Records of earlier versions, which had one module for linear nets and one for nets of one hidden layer.

use super::ranker::{Layer, Ranker};
use burn::module::{Module, Param};
use burn::store::ModuleRecord;
use burn::tensor::Tensor;

/// The modules that named the weights of a record.
#[derive(Module, Debug)]
enum Earlier {
    Linear(Linear),
    Mlp(Mlp),
}

#[derive(Module, Debug)]
struct Linear {
    weight: Param<Tensor<2>>,
}

#[derive(Module, Debug)]
struct Mlp {
    hidden_weight: Param<Tensor<2>>,
    hidden_bias: Param<Tensor<1>>,
    output_weight: Param<Tensor<2>>,
}

impl Ranker {
    /// Loads the weights of an earlier record into a ranker whose weights are still to be loaded; nothing where there never
    /// was such a record, or this is none.
    pub(crate) fn try_load_earlier(self, record: ModuleRecord) -> Option<Ranker> {
        let activation = self.activation;
        let layers: Vec<(_, _)> = self.layers.into_iter().map(|layer| (layer.weight, layer.bias)).collect();
        let earlier = match <[_; 1]>::try_from(layers) {
            Ok([(weight, None)]) => Earlier::Linear(Linear { weight }),
            Ok(_) => return None,
            Err(layers) => match <[_; 2]>::try_from(layers) {
                Ok([(hidden_weight, Some(hidden_bias)), (output_weight, None)]) => {
                    Earlier::Mlp(Mlp { hidden_weight, hidden_bias, output_weight })
                }
                _ => return None,
            },
        };
        let layers = match earlier.try_load_record(record).ok()? {
            Earlier::Linear(net) => vec![Layer { weight: net.weight, bias: None }],
            Earlier::Mlp(net) => vec![
                Layer { weight: net.hidden_weight, bias: Some(net.hidden_bias) },
                Layer { weight: net.output_weight, bias: None },
            ],
        };
        Some(Ranker { layers, activation })
    }
}
