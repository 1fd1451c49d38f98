//! Reads a file, trains a model, saves and loads it, and scores new documents.
//!
//! Run with `cargo run --release --example train_save_score`, or pass your own LETOR file after `--`.

use burnrank::{
    Model, Objective, ReadOptions, Synthetic, TrainConfig, Trainer, WriteOptions, device, read, split, write,
};
use std::path::PathBuf;

fn main() -> burnrank::Result<()> {
    let folder = std::env::temp_dir().join(format!("burnrank-example-{}", std::process::id()));
    let file = match std::env::args_os().nth(1) {
        Some(file) => PathBuf::from(file),
        None => {
            let generated = Synthetic { queries: 100, documents: 20, ..Synthetic::net() }.generator()?.dataset()?;
            std::fs::create_dir_all(&folder).map_err(|error| burnrank::Error::io(&folder, "create", error))?;
            write(folder.join("train.txt"), &generated, &WriteOptions::default())?;
            folder.join("train.txt")
        }
    };
    // One query in five is held out to select the best epoch.
    let mut train = read(&file, &ReadOptions::default())?.data;
    let parts = split(train.n_queries(), &[0.8, 0.2], 1)?;
    let valid = train.take_out(&parts[1]);
    let documents = valid.query(0).features.to_vec();

    // Feature scaling is fitted on the training queries, applied in place and saved with the model.
    let config = TrainConfig { objective: Objective::parse("lambdarank:ndcg")?, epochs: 20, ..TrainConfig::default() };
    let device = device::open("auto")?;
    let trainer = Trainer::new(config, train, valid, &device)?;
    let model = trainer.train()?;
    println!("best epoch {}, validation nDCG@10 {:.4}", model.info.best_epoch, model.best_value().unwrap_or(f64::NAN));

    model.save(&folder.join("model"))?;
    let loaded = Model::load(&folder.join("model"), &device)?;
    println!("scores of the documents of one query: {:?}", loaded.score_query(&documents)?);
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}
