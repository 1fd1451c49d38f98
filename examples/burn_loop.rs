//! Uses a ranking loss in a custom training loop, with a plain Burn `Linear` layer and Burn's Adam optimizer.
//!
//! Run with `cargo run --release --example burn_loop`.

use burn::module::Module;
use burn::nn::LinearConfig;
use burn::optim::{AdamConfig, GradientsParams};
use burnrank::metric::Ndcg;
use burnrank::metric::Summary;
use burnrank::{Batch, Conventions, Objective, Synthetic, Tensor, device, evaluate};

fn main() -> burnrank::Result<()> {
    let data = Synthetic { queries: 100, documents: 20, ..Synthetic::net() }.generator()?.dataset()?;
    let device = device::open("auto")?.autodiff();
    let objective = Objective::parse("ndcg-loss2++:mu=5")?;
    let batch = Batch { labels: data.labels(), offsets: data.offsets() };

    let shape = [data.n_documents() as i32, data.n_features() as i32];
    let features = Tensor::<1>::from_floats(data.features(), &device).reshape(shape);
    let mut net = LinearConfig::new(data.n_features(), 1).init(&device);
    let mut optimizer = AdamConfig::new().init();
    for epoch in 0..=50 {
        let scores = net.forward(features.clone()).reshape([-1]);
        let loss = objective.tensor_loss(scores.clone(), batch)?;
        if epoch % 25 == 0 {
            let scores: Vec<f32> = scores.try_into_vec_as().unwrap_or_default();
            let values = evaluate(&Ndcg::default(), &scores, data.labels(), data.offsets(), &Conventions::default())?;
            let value: f32 = loss.clone().into_scalar();
            println!("epoch {epoch}: loss {value:.3} bits, nDCG {:.4}", Summary::of(&values).mean);
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        net = optimizer.step(0.02, net, gradients);
    }
    println!("{} weights trained", net.num_params());
    Ok(())
}
