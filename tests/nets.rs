//! Nets of any depth, from the command line to the saved bytes.

use burnrank::Schedule;
use burnrank::setting::Skip;
use burnrank::{
    Activation, Architecture, Dataset, Device, EpochRecord, Model, Objective, ScaleKind, Synthetic, TrainConfig,
    Trainer, device,
};
use std::fs;
use std::path::Path;

mod support;
use support::Place;

fn cpu() -> Device {
    device::open("auto").unwrap()
}

fn data(documents: usize) -> (Dataset, Dataset) {
    let generator = Synthetic { queries: 90, documents, features: 12, ..Synthetic::net() }.generator().unwrap();
    (generator.part(0..60).unwrap().0, generator.part(60..90).unwrap().0)
}

fn config(hidden: &[usize], activation: Activation) -> TrainConfig {
    TrainConfig {
        objective: Objective::parse("lambdarank:ndcg").unwrap(),
        architecture: Architecture::Mlp { hidden: hidden.to_vec(), activation },
        scaling: ScaleKind::None,
        epochs: 12,
        learning_rate: 0.01,
        schedule: Schedule::Constant,
        ..TrainConfig::default()
    }
}

fn run(trainer: Trainer) -> Model {
    trainer.train().unwrap()
}

/// Returns the bytes of the saved record, and the log without times.
fn bytes(model: &Model) -> (Vec<u8>, Vec<EpochRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    model.save(&path).unwrap();
    let timeless = model.history.iter().map(|epoch| EpochRecord { seconds: 0.0, ..epoch.clone() }).collect();
    (fs::read(path.join("model.bpk")).unwrap(), timeless)
}

#[test]
fn deep_nets_learn() {
    let (train, valid) = data(20);
    for (hidden, activation) in
        [(&[16, 8][..], Activation::Tanh), (&[16, 8], Activation::Relu), (&[8, 8, 8], Activation::Tanh)]
    {
        let model = run(Trainer::new(config(hidden, activation), &train, &valid, &cpu()).unwrap());
        let (first, best) = (model.history[0].valid, model.best_value().unwrap());
        assert!(best > first + 0.05, "{hidden:?} {activation}: {first} to {best}");
    }
}

#[test]
fn threads_and_interruptions_do_not_change_a_deep_net() {
    threads_and_interruptions_do_not_change(&config(&[9, 5], Activation::Tanh));
}

#[test]
fn threads_and_interruptions_do_not_change_a_net_with_encoded_features() {
    let config = config(&[9, 5], Activation::Relu);
    let config = TrainConfig { scaling: ScaleKind::Piecewise, scale_bins: 6, skip: Skip::Linear, ..config };
    threads_and_interruptions_do_not_change(&TrainConfig { average_weights: 0.9, ..config });
}

fn threads_and_interruptions_do_not_change(config: &TrainConfig) {
    // A batch of 6,000 documents is processed in two parts.
    let (train, valid) = data(100);
    let settings = || TrainConfig { epochs: 4, batch_queries: 60, ..config.clone() };
    let start = || Trainer::new(settings(), &train, &valid, &cpu()).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| bytes(&run(start())))
    };
    let whole = with(1);
    assert!(whole == with(2), "bytes depend on the number of threads");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    for epochs in 1..4 {
        let mut trainer = start();
        for _ in 0..epochs {
            trainer.epoch().unwrap();
        }
        trainer.save_checkpoint(&path).unwrap();
        drop(trainer);
        assert!(bytes(&run(start().resume(&path).unwrap())) == whole, "interrupted after {epochs}");
    }
    let other = Architecture::Mlp { hidden: vec![5, 9], activation: Activation::Tanh };
    let other = Trainer::new(TrainConfig { epochs: 4, architecture: other, ..config.clone() }, &train, &valid, &cpu());
    let error = other.unwrap().resume(&path).err().unwrap().to_string();
    assert!(error.contains("other settings"), "{error}");
    // A saved model scores the same.
    let model = run(start());
    model.save(&folder.path().join("model")).unwrap();
    let loaded = Model::load(&folder.path().join("model"), &cpu()).unwrap();
    assert_eq!(loaded.score(&valid).unwrap(), model.score(&valid).unwrap());
}

#[test]
fn the_tool_trains_shows_certifies_and_predicts_with_a_deep_net() {
    let place = Place::new(&[]);
    place.run("generate net --queries 30 --documents 8 --features 5 --out all.txt").good();
    place.run("train --train all.txt --hidden 6,4 --activation relu --epochs 3 --out model --quiet").good();
    let shown = place.run("info model").good();
    // 5 x 6 + 6, 6 x 4 + 4, 4.
    assert!(shown.contains("three-layer net, 6 and 4 relu hidden units, 5 features, 68 weights"), "{shown}");
    let hidden = &place.run("info model --json").json()["ranker"]["architecture"]["hidden"];
    assert_eq!(*hidden, serde_json::json!([6, 4]));
    assert!(place.read("model/README.md").contains("A three-layer net, 6 and 4 relu hidden units over 5 features"));
    let scores = place.run("predict --model model --data all.txt").good();
    assert_eq!(scores.lines().count(), 240);
    assert_eq!(place.run("predict --model model --data all.txt --threads 1").good(), scores);
    let found = place.run("certify --model model --data all.txt --directions 20 --each-weight --json").json();
    assert_eq!(found["certificate"]["weights"], 68);
    let names: Vec<&str> =
        found["each_weight"]["weights"].as_array().unwrap().iter().map(|w| w["name"].as_str().unwrap()).collect();
    assert_eq!(
        (names.len(), names[0], names[67]),
        (68, "feature 1 to unit 1 of layer 1", "unit 4 of layer 2 to output")
    );
    assert_eq!(names[36], "unit 1 of layer 1 to unit 1 of layer 2");
    // The value equals that of evaluating the predictions.
    fs::write(Path::new(place.0.path()).join("scores.txt"), scores).unwrap();
    let judged = place.run("evaluate --data all.txt --scores scores.txt --metric ndcg@10 --json").json();
    let value = found["certificate"]["value"].as_f64().unwrap();
    assert!(judged.to_string().contains(&format!("{value:.9}")[..9]), "{value} {judged}");
}

#[test]
fn invalid_layers_are_errors_with_a_remedy() {
    let text: String =
        (1..=10).map(|query| format!("1 qid:{query} 1:{query}.5\n0 qid:{query} 1:{query}.25\n")).collect();
    let place = Place::new(&[("a.txt", &text)]);
    for (hidden, expected) in [
        ("0", "hidden layers need at least 1 unit; for a net without hidden layers, use --model linear"),
        ("32,0", "hidden layers need at least 1 unit"),
        ("32,,16", "as in 10 or 32,16"),
        ("32,16,", "as in 10 or 32,16"),
        ("70000", "expected 1 to 65536"),
        ("8,99999999999999999999", "as in 10 or 32,16"),
    ] {
        let message = place.run(&format!("train --train a.txt --out m --hidden {hidden}")).bad(2);
        assert!(message.contains(expected), "{hidden}: {message}");
    }
    let many = vec!["2"; 101].join(",");
    assert!(
        place.run(&format!("train --train a.txt --out m --hidden {many}")).bad(2).contains("1 to 100 hidden layers")
    );
    let huge = "train --train a.txt --out m --max-memory 1GB --hidden 60000,60000";
    let message = place.run(huge).bad(1);
    assert!(message.contains("60000 and 60000") && message.contains("--hidden"), "{message}");
    // The weights fit into the limit, but not the activations of a batch.
    place.run("generate net --queries 10 --documents 20000 --features 2 --out long.txt").good();
    let message = place.run("train --train long.txt --out m --max-memory 1GB --hidden 60000").bad(1);
    assert!(message.contains("60000 hidden units for 20000 documents"), "{message}");
    let help = place.run("train --help").good();
    assert!(help.contains("  linear\n      one weight per feature\n") && help.contains("  mlp\n"), "{help}");
}

/// A net of another program in plain Burn, with layers named as in a record.
mod plain {
    use burn::module::Module;
    use burn::nn::{Dropout, Linear, LinearConfig};
    use burn::tensor::activation::{relu, sigmoid, tanh};
    use burn::tensor::{Device, Tensor};
    use burnrank::Activation;

    #[derive(Module, Debug)]
    pub struct Net {
        pub layers: Vec<Linear>,
    }

    impl Net {
        pub fn new(sizes: &[usize], device: &Device) -> Self {
            let last = sizes.len() - 2;
            let layer = |(place, sizes): (usize, &[usize])| {
                LinearConfig::new(sizes[0], sizes[1]).with_bias(place < last).init(device)
            };
            Net { layers: sizes.windows(2).enumerate().map(layer).collect() }
        }

        pub fn forward(&self, features: Tensor<2>, activation: Option<Activation>) -> Tensor<1> {
            let mut values = features;
            for (place, layer) in self.layers.iter().enumerate() {
                values = layer.forward(values);
                if place + 1 < self.layers.len() {
                    values = match activation.unwrap() {
                        Activation::Sigmoid => sigmoid(values),
                        Activation::Tanh => tanh(values),
                        Activation::Relu => relu(values),
                    };
                }
            }
            values.reshape([-1])
        }
    }

    /// Returns an unrelated net.
    #[derive(Module, Debug)]
    pub struct Own {
        pub first: Linear,
        pub second: Linear,
        pub last: Linear,
        pub dropout: Dropout,
    }

    impl Own {
        pub fn forward(&self, features: Tensor<2>) -> Tensor<1> {
            let hidden = self.dropout.forward(tanh(self.first.forward(features)));
            let hidden = self.dropout.forward(tanh(self.second.forward(hidden)));
            self.last.forward(hidden).reshape([-1])
        }
    }
}

#[test]
fn records_load_in_plain_burn_and_back() {
    use burn::module::Module;
    use burn::tensor::Tensor;
    use burnrank::{Init, ModelInfo, RankerConfig, Scaler, Scorer};
    let (train, _) = data(20);
    let rows = train.query(0).features;
    for (hidden, activation) in [
        (&[][..], None),
        (&[7], Some(Activation::Sigmoid)),
        (&[16, 8], Some(Activation::Tanh)),
        (&[5, 4, 3], Some(Activation::Relu)),
    ] {
        let shape = match activation {
            None => RankerConfig::linear(12),
            Some(activation) => RankerConfig::mlp(12, hidden, activation),
        };
        let model = |ranker| Model {
            scorer: Scorer::Net(ranker),
            info: ModelInfo::new(shape.clone(), Scaler::fit(ScaleKind::None, &train), "by hand"),
            history: Vec::new(),
        };
        let saved = model(shape.init(Init::Burn, 3, &cpu()).unwrap());
        let folder = tempfile::tempdir().unwrap();
        saved.save(&folder.path().join("m")).unwrap();
        let expected = saved.score_query(&rows).unwrap();
        let close = |scores: Vec<f32>| {
            assert_eq!(scores.len(), expected.len());
            scores.iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{hidden:?}: {a}, not {b}"));
        };

        let sizes: Vec<usize> = [12].into_iter().chain(hidden.iter().copied()).chain([1]).collect();
        let record = folder.path().join("m/model.bpk");
        let net = plain::Net::new(&sizes, &cpu()).try_load_file(&record).unwrap();
        let features = || Tensor::<1>::from_floats(&*rows, &cpu()).reshape([-1, 12]);
        close(net.forward(features(), activation).try_into_vec_as().unwrap());
        let ranker = shape.init(Init::Burn, 4, &cpu()).unwrap().try_load_file(&record).unwrap();
        close(ranker.forward(features()).try_into_vec_as().unwrap());

        // And back: equal weights give equal scores to the bit.
        let back = shape.init(Init::Burn, 5, &cpu()).unwrap().try_load_record(net.into_record()).unwrap();
        assert_eq!(model(back).score_query(&rows).unwrap(), expected);
        // A net of another shape is an error.
        assert!(plain::Net::new(&[12, 9, 9, 9, 1], &cpu()).try_load_file(&record).is_err());
    }
}

#[test]
fn every_objective_trains_a_custom_net() {
    use burn::module::Module;
    use burn::nn::{DropoutConfig, LinearConfig};
    use burn::optim::{AdamConfig, GradientsParams};
    use burn::tensor::Tensor;
    use burnrank::Batch;
    let (train, _) = data(15);
    let device = cpu().autodiff();
    let rows = [train.n_documents() as i32, 12];
    let features = |device: &Device| Tensor::<1>::from_floats(train.features(), device).reshape(rows);
    let batch = Batch { labels: train.labels(), offsets: train.offsets() };
    for name in [
        "ranknet",
        "lambdarank:ndcg",
        "lambdarank:map",
        "ndcg-loss1",
        "ndcg-loss2++",
        "arp-loss2",
        "listnet",
        "approx-ndcg",
        "softrank",
        "rankcosine",
        "hinge",
        "exponential",
        "squared-error",
    ] {
        let objective = Objective::parse(name).unwrap();
        device.seed(3);
        let layer = |inputs, outputs| LinearConfig::new(inputs, outputs).init(&device);
        let mut net = plain::Own {
            first: layer(12, 16),
            second: layer(16, 8),
            last: layer(8, 1),
            dropout: DropoutConfig::new(0.1).init(),
        };
        let ndcg = |net: &plain::Own| {
            let scores: Vec<f32> = net.valid().forward(features(&cpu())).try_into_vec_as().unwrap();
            let metric = burnrank::metric::Ndcg::default();
            let values =
                burnrank::evaluate(&metric, &scores, batch.labels, batch.offsets, &Default::default()).unwrap();
            burnrank::metric::Summary::of(&values).mean
        };
        let (before, mut optimizer) = (ndcg(&net), AdamConfig::new().init());
        for _ in 0..30 {
            let loss = objective.tensor_loss(net.forward(features(&device)), batch).unwrap();
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = optimizer.step(0.01, net, gradients);
        }
        let after = ndcg(&net);
        assert!(after > before + 0.05, "{name}: nDCG {before} before, {after} after");
    }
}
