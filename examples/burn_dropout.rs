//! Trains a custom Burn module, three layers with dropout, with a ranking loss in a custom training loop.
//!
//! Run with `cargo run --release --example burn_dropout`.

use burn::module::Module;
use burn::nn::{Dropout, DropoutConfig, Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::activation::relu;
use burnrank::metric::Ndcg;
use burnrank::metric::Summary;
use burnrank::{Batch, Conventions, Dataset, Device, Objective, Synthetic, Tensor, device, evaluate};

#[derive(Module, Debug)]
struct Net {
    first: Linear,
    second: Linear,
    last: Linear,
    dropout: Dropout,
}

impl Net {
    fn new(features: usize, device: &Device) -> Self {
        let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        let (first, second, last) = (layer(features, 32), layer(32, 16), layer(16, 1));
        Net { first, second, last, dropout: DropoutConfig::new(0.1).init() }
    }

    fn forward(&self, features: Tensor<2>) -> Tensor<1> {
        let hidden = self.dropout.forward(relu(self.first.forward(features)));
        let hidden = self.dropout.forward(relu(self.second.forward(hidden)));
        self.last.forward(hidden).reshape([-1])
    }
}

fn features(data: &Dataset, device: &Device) -> Tensor<2> {
    let shape = [data.n_documents() as i32, data.n_features() as i32];
    Tensor::<1>::from_floats(data.features(), device).reshape(shape)
}

fn main() -> burnrank::Result<()> {
    let generator = Synthetic { queries: 250, documents: 20, features: 20, ..Synthetic::net() }.generator()?;
    let (train, test) = (generator.part(0..200)?.0, generator.part(200..250)?.0);
    let device = device::open("auto")?;
    device.seed(1);
    let objective = Objective::parse("lambdarank:ndcg")?;
    let mut net = Net::new(train.n_features(), &device.clone().autodiff());
    let mut optimizer = AdamConfig::new().init();
    for epoch in 0..=20 {
        if epoch % 10 == 0 {
            // `valid` turns off dropout.
            let scores = net.valid().forward(features(&test, &device));
            let scores: Vec<f32> = scores.try_into_vec_as().unwrap_or_default();
            let values = evaluate(&Ndcg::default(), &scores, test.labels(), test.offsets(), &Conventions::default())?;
            println!("epoch {epoch:2}: nDCG {:.4} on the test queries", Summary::of(&values).mean);
        }
        let queries: Vec<usize> = (0..train.n_queries()).collect();
        for queries in queries.chunks(20) {
            let part = train.select(queries);
            let scores = net.forward(features(&part, &device.clone().autodiff()));
            let loss = objective.tensor_loss(scores, Batch { labels: part.labels(), offsets: part.offsets() })?;
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = optimizer.step(0.005, net, gradients);
        }
    }
    Ok(())
}
