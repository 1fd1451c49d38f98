//! The weights of a model folder in plain Burn: `model.bpk` loads into a net that is made of Burn's own layers, and into
//! `burnrank::Ranker`; and the record of such a net becomes a model.
//!
//! Run with `cargo run --release --example burn_record`.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::tanh;
use burnrank::{
    Activation, Architecture, Device, Init, Model, ScaleKind, Synthetic, Tensor, TrainConfig, Trainer, device,
};

/// Burn names what is in a record by the fields of the module: these are the names of a model folder.
#[derive(Module, Debug)]
struct Net {
    layers: Vec<Linear>,
}

impl Net {
    /// Layers between so many numbers each; the last has no bias.
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
    // Features as they are: else `model.info.scaler` is applied to them first.
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

    // The other way: what a loop of one's own has trained is saved, loaded, served and exported as any model is.
    let own = model.info.ranker.init(Init::Burn, 2, &device)?.try_load_record(net.into_record())?;
    let own = Model { scorer: burnrank::Scorer::Net(own), ..model };
    own.save(&folder.path().join("own"))?;
    println!("own    {:?}", &Model::load(&folder.path().join("own"), &device)?.score_query(&query)?[..3]);
    Ok(())
}
