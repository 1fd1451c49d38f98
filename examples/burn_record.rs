//! Exchanges weights with plain Burn: `model.bpk` loads into a net of Burn layers and into `burnrank::Ranker`, and the
//! record of such a net becomes a model.
//!
//! Run with `cargo run --release --example burn_record`.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::tanh;
use burnrank::{
    Activation, Architecture, Device, Init, Model, ScaleKind, Synthetic, Tensor, TrainConfig, Trainer, device,
};

/// Burn names the entries of a record after the fields of the module. These field names match those in `model.bpk`.
#[derive(Module, Debug)]
struct Net {
    layers: Vec<Linear>,
}

impl Net {
    /// Creates a net from its layer sizes, inputs first. The last layer has no bias.
    fn new(sizes: &[usize], device: &Device) -> Self {
        let last = sizes.len().saturating_sub(2);
        let layer = |(place, sizes): (usize, &[usize])| {
            LinearConfig::new(sizes[0], sizes[1]).with_bias(place < last).init(device)
        };
        Net { layers: sizes.windows(2).enumerate().map(layer).collect() }
    }

    fn forward(&self, features: Tensor<2>) -> Tensor<1> {
        let apply = |values: Tensor<2>, (place, layer): (usize, &Linear)| {
            let values = layer.forward(values);
            if place + 1 < self.layers.len() { tanh(values) } else { values }
        };
        self.layers.iter().enumerate().fold(features, apply).reshape([-1])
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (device, folder) = (device::open("auto")?, tempfile::tempdir()?);
    let data = Synthetic { queries: 60, documents: 20, features: 10, ..Synthetic::net() }.generator()?.dataset()?;
    let architecture = Architecture::Mlp { hidden: vec![8, 4], activation: Activation::Tanh };
    // Without scaling, the net sees the raw features. Otherwise apply `model.info.scaler` to them first.
    let config = TrainConfig { architecture, scaling: ScaleKind::None, epochs: 5, ..TrainConfig::default() };
    let trainer = Trainer::new(config, &data, &data, &device)?;
    let model = trainer.train()?;
    model.save(&folder.path().join("model"))?;
    let record = folder.path().join("model/model.bpk");

    let net = Net::new(&[10, 8, 4, 1], &device).try_load_file(&record)?;
    let ranker = model.info.ranker.init(Init::Burn, 1, &device)?.try_load_file(&record)?;
    let query = data.query(0).features;
    let features = || Tensor::<1>::from_floats(&*query, &device).reshape([-1, 10]);
    println!("model  {:?}", &model.score_query(&query)?[..3]);
    println!("net    {:?}", &net.forward(features()).try_into_vec_as::<f32>()?[..3]);
    println!("ranker {:?}", &ranker.forward(features()).try_into_vec_as::<f32>()?[..3]);

    // The other direction: a net trained in a custom loop can be saved, loaded, served and exported like any model.
    let custom = model.info.ranker.init(Init::Burn, 2, &device)?.try_load_record(net.into_record())?;
    let custom = Model { scorer: burnrank::Scorer::Net(custom), ..model };
    custom.save(&folder.path().join("custom"))?;
    println!("custom {:?}", &Model::load(&folder.path().join("custom"), &device)?.score_query(&query)?[..3]);
    Ok(())
}
