//! Trees trained by LightGBM with our gradients: every objective trains them, repeated and resumed runs give the same
//! bytes, and scores equal LightGBM's predictions.

use burnrank::model::Forest;
use burnrank::setting::ModelChoice;
use burnrank::{Dataset, Model, OBJECTIVES, Objective, Scorer, Synthetic, TrainConfig, Trainer, device};
use lightgbm3_sys::*;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::time::Instant;

/// 40 queries of 50 documents, and 20 for validation.
fn data() -> (Dataset, Dataset) {
    let generator = Synthetic { queries: 60, ..Synthetic::net() }.generator().expect("a generator");
    (generator.part(0..40).expect("queries").0, generator.part(40..60).expect("queries").0)
}

fn config(objective: &str, trees: usize) -> TrainConfig {
    let preset = "trees".parse::<ModelChoice>().expect("a kind of model").config();
    TrainConfig { objective: Objective::parse(objective).expect("an objective"), epochs: trees, patience: 0, ..preset }
}

fn train(config: TrainConfig, (train, valid): &(Dataset, Dataset)) -> Model {
    let device = device::open("auto").expect("a device");
    let trainer = Trainer::new(config, train, valid, &device).expect("a run");
    trainer.train().expect("a model")
}

fn text(model: &Model) -> String {
    let Scorer::Trees(forest) = &model.scorer else { panic!("not trees") };
    forest.to_text()
}

#[test]
fn every_objective_grows_trees_that_rank_better_than_chance() {
    let data = data();
    for objective in OBJECTIVES {
        // Some names need a metric; everything else has its default.
        let name = match objective.name {
            "lambdarank" => "lambdarank:ndcg",
            name => name,
        };
        let Ok(parsed) = Objective::parse(name) else { panic!("{name}: no default") };
        let model = train(TrainConfig { objective: parsed, ..config("ranknet", 8) }, &data);
        let best = model.best_value().expect("a value");
        assert!(best > 0.25, "{name}: nDCG@10 {best}");
    }
    for name in
        ["lambdarank:map", "lambdarank:mrr:swap", "lambdarank:err", "lambdarank:ndcg@10", "lambdarank:precision@5"]
    {
        let best = train(config(name, 8), &data).best_value().expect("a value");
        assert!(best > 0.25, "{name}: nDCG@10 {best}");
    }
}

#[test]
fn the_same_seed_grows_the_same_trees_for_any_number_of_threads() {
    let data = data();
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut config = TrainConfig { seed, ..config("lambdarank:ndcg", 6) };
        let burnrank::setting::Method::Boosting(settings) = &mut config.method else { panic!("not boosting") };
        (settings.subsample, settings.feature_fraction) = (0.4, 0.5);
        text(&pool.install(|| train(config, &data)))
    };
    let one = run(1, 7);
    assert_eq!(run(2, 7), one);
    assert_eq!(run(3, 7), one);
    assert_ne!(run(2, 8), one, "another seed draws other documents");
}

#[test]
fn a_run_resumes_from_its_checkpoint_to_the_same_bytes() {
    check_resumed(1.0, 1.0);
    check_resumed(0.6, 0.5);
}

/// Trains with sampled documents and features per tree, with and without interruption.
fn check_resumed(subsample: f64, feature_fraction: f64) {
    let (train, valid) = data();
    let folder = tempfile::tempdir().expect("a folder");
    let checkpoint = folder.path().join("checkpoint");
    let mut config = config("ndcg-loss2++:mu=5", 9);
    let burnrank::setting::Method::Boosting(settings) = &mut config.method else { panic!("not boosting") };
    (settings.subsample, settings.feature_fraction) = (subsample, feature_fraction);
    let start =
        || Trainer::new(config.clone(), &train, &valid, &device::open("auto").expect("a device")).expect("a run");
    let mut whole = start();
    let mut cut = start();
    for epoch in 0..9 {
        whole.epoch().expect("an epoch");
        if epoch == 2 || epoch == 5 {
            cut.save_checkpoint(&checkpoint).expect("a checkpoint");
            cut = start().resume(&checkpoint).expect("a resumed run");
        }
        cut.epoch().expect("an epoch");
    }
    let (whole, cut) = (whole.finish().expect("a model"), cut.finish().expect("a model"));
    assert_eq!(text(&whole), text(&cut));
    assert_eq!((whole.info.best_epoch, whole.best_value()), (cut.info.best_epoch, cut.best_value()));
    whole.save(&folder.path().join("model")).expect("a saved model");
    let loaded = Model::load(&folder.path().join("model"), &device::open("auto").expect("a device")).expect("a model");
    assert_eq!(loaded.score(&valid).expect("scores"), whole.score(&valid).expect("scores"));
}

#[test]
fn unsupported_trees_are_errors() {
    let (train, valid) = data();
    let device = device::open("auto").expect("a device");
    let mut config = config("lambdarank:ndcg", 3);
    let burnrank::setting::Method::Boosting(settings) = &mut config.method else { panic!("not boosting") };
    settings.min_data = 5_000;
    let error = Trainer::new(config, &train, &valid, &device).expect("a run").epoch().expect_err("no tree");
    assert!(error.to_string().contains("lower `min_data`"), "{error}");
}

/// Queries with missing values, zeros, and a last feature of 30 categories that decide the label.
fn data_with_missing_values() -> Dataset {
    let mut seed = 7_u64;
    let mut next = move |end: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..2000 {
        let category = next(30);
        let mut row: Vec<f32> = (0..4).map(|_| next(1000) as f32 / 500.0 - 1.0).collect();
        let sum = row[0] + row[1] + ((category * 7 % 30) as f32) / 15.0;
        // The value is often missing where it is large, and often 0 where it is small.
        row[0] = if row[0] > 0.3 && next(2) == 0 { f32::NAN } else { row[0] };
        row[1] = if row[1] < 0.2 && next(2) == 0 { 0.0 } else { row[1] };
        row[2] = if next(5) == 0 { f32::NAN } else { row[2] };
        row.push(if next(10) == 0 { f32::NAN } else { category as f32 });
        features.extend(row);
        labels.push((sum + 1.0).clamp(0.0, 4.0).round());
    }
    let queries = (0..100).map(|query| (query.to_string(), 20)).collect();
    Dataset::new(5, features, labels, queries).expect("data")
}

/// The trees that LightGBM grows by its own objective.
fn grown_by_lightgbm(data: &Dataset, parameters: &str, trees: usize) -> Forest {
    let parameters = format!(
        "objective=regression boost_from_average=false verbosity=-1 num_threads=1 deterministic=true force_col_wise=true \
         num_leaves=15 learning_rate=0.1 min_data_in_leaf=20 min_sum_hessian_in_leaf=0.001 max_bin=255 data_random_seed=1 \
         feature_pre_filter=false {parameters}"
    );
    let settings = CString::new(parameters).expect("text");
    let (mut handle, mut booster) = (null_mut(), null_mut());
    // SAFETY: the pointers are those of live slices of the given lengths; the text ends with a zero byte.
    unsafe {
        let (count, single) = (data.n_documents() as c_int, C_API_DTYPE_FLOAT32 as c_int);
        let (features, width) = (data.features().as_ptr().cast::<c_void>(), data.n_features() as c_int);
        let made =
            LGBM_DatasetCreateFromMat(features, single, count, width, 1, settings.as_ptr(), null_mut(), &mut handle);
        assert_eq!(made, 0);
        let labels = data.labels().as_ptr().cast::<c_void>();
        assert_eq!(LGBM_DatasetSetField(handle, c"label".as_ptr(), labels, count, single), 0);
        assert_eq!(LGBM_BoosterCreate(handle, settings.as_ptr(), &mut booster), 0);
        for _ in 0..trees {
            let mut over = 0;
            assert_eq!(LGBM_BoosterUpdateOneIter(booster, &mut over), 0);
        }
        LGBM_DatasetFree(handle);
    }
    Forest::parse(&Peer(booster).text()).expect("a forest")
}

#[test]
fn trees_grow_with_missing_values_and_categories_as_in_lightgbm() {
    use burnrank::model::Rule;
    use burnrank::setting::{Method, MissingValues};
    let data = data_with_missing_values();
    for (missing, categorical, parameters) in [
        (MissingValues::Nan, "", ""),
        (MissingValues::Zero, "", "zero_as_missing=true"),
        (MissingValues::None, "", "use_missing=false"),
        (MissingValues::Nan, "5", "categorical_feature=4"),
        (MissingValues::Zero, "5", "zero_as_missing=true categorical_feature=4"),
    ] {
        let mut config = config("squared-error", 10);
        config.architecture = burnrank::Architecture::Trees { trees: 10, leaves: 15 };
        config.categorical = categorical.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let Method::Boosting(settings) = &mut config.method else { panic!("not boosting") };
        settings.missing = missing;
        config.learning_rate = 0.1;
        let model = train(config, &(data.clone(), data.clone()));
        let Scorer::Trees(ours) = &model.scorer else { panic!("not trees") };
        let theirs = grown_by_lightgbm(&data, parameters, 10).truncated(ours.n_trees());
        assert!(ours.n_trees() > 3, "{parameters}");
        for (a, b) in ours.trees().iter().zip(theirs.trees()) {
            assert_eq!(a.branches(), b.branches(), "{parameters}");
            let differ = a.leaves().iter().zip(b.leaves()).filter(|(a, b)| (*a - *b).abs() > 1e-6).count();
            assert_eq!(differ, 0, "{parameters}");
        }
        let has_sets =
            ours.trees().iter().flat_map(|tree| tree.branches()).any(|b| matches!(b.rule, Rule::OneOf { .. }));
        assert_eq!(has_sets, !categorical.is_empty(), "{parameters}");
        // With zero as missing, NaN goes where 0 goes, except for categories.
        let differ = missing == MissingValues::Nan || has_sets;
        assert_eq!(!ours.missing_features().is_empty(), differ, "{parameters}");
        let folder = tempfile::tempdir().expect("a folder");
        model.save(&folder.path().join("model")).expect("a saved model");
        let loaded = Model::load(&folder.path().join("model"), &device::open("auto").expect("a device"));
        assert_eq!(loaded.expect("a model").score(&data).expect("scores"), model.score(&data).expect("scores"));
    }
}

#[test]
fn levels_must_be_whole_numbers() {
    let data = data_with_missing_values();
    for (feature, expected) in [("1", "categorical feature 1 of document "), ("6", "from 1 to 5")] {
        let config = TrainConfig { categorical: vec![feature.to_owned()], ..config("ranknet", 2) };
        let device = device::open("auto").expect("a device");
        let error = Trainer::new(config, &data, &data, &device).err().expect("an error").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// LightGBM itself, for comparison.
struct Peer(BoosterHandle);

const FEATURES: usize = 136;

impl Peer {
    /// Trains LightGBM on labels that are a function of some features.
    fn grown(rows: &[f32], trees: usize, leaves: usize) -> Self {
        let labels: Vec<f32> = rows
            .chunks_exact(FEATURES)
            .map(|row| {
                row[..20].iter().map(|value| if value.is_nan() { 0.3 } else { value.clamp(-2.0, 2.0).sin() }).sum()
            })
            .collect();
        let settings =
            format!("objective=regression num_leaves={leaves} min_data_in_leaf=5 verbosity=-1 num_threads=2");
        let settings = CString::new(settings).expect("text");
        let (mut data, mut booster) = (null_mut(), null_mut());
        // SAFETY: the pointers are those of live slices of the given lengths; the text ends with a zero byte.
        unsafe {
            let (count, single) = (labels.len() as c_int, C_API_DTYPE_FLOAT32 as c_int);
            let features = rows.as_ptr().cast::<c_void>();
            let width = FEATURES as c_int;
            let made =
                LGBM_DatasetCreateFromMat(features, single, count, width, 1, settings.as_ptr(), null_mut(), &mut data);
            assert_eq!(made, 0);
            let labels = labels.as_ptr().cast::<c_void>();
            assert_eq!(LGBM_DatasetSetField(data, c"label".as_ptr(), labels, count, single), 0);
            assert_eq!(LGBM_BoosterCreate(data, settings.as_ptr(), &mut booster), 0);
            for _ in 0..trees {
                let mut over = 0;
                assert_eq!(LGBM_BoosterUpdateOneIter(booster, &mut over), 0);
            }
            LGBM_DatasetFree(data);
        }
        Peer(booster)
    }

    /// Loads trees into LightGBM.
    fn read(text: &str) -> Self {
        let text = CString::new(text).expect("text");
        let (mut trees, mut booster) = (0, null_mut());
        // SAFETY: the text ends with a zero byte, and LightGBM writes a number and a handle.
        assert_eq!(unsafe { LGBM_BoosterLoadModelFromString(text.as_ptr(), &mut trees, &mut booster) }, 0);
        Peer(booster)
    }

    fn text(&self) -> String {
        let (mut buffer, mut length) = (vec![0_u8; 1 << 24], 0);
        // SAFETY: LightGBM writes no more than the stated length.
        let code = unsafe {
            let to = buffer.as_mut_ptr().cast::<c_char>();
            LGBM_BoosterSaveModelToString(self.0, 0, -1, 0, buffer.len() as i64, &mut length, to)
        };
        assert_eq!(code, 0);
        assert!(length as usize <= buffer.len());
        buffer.truncate(length as usize - 1);
        String::from_utf8(buffer).expect("text")
    }

    fn predict(&self, rows: &[f32], threads: usize) -> Vec<f64> {
        let mut scores = vec![0.0; rows.len() / FEATURES];
        let settings = CString::new(format!("num_threads={threads} verbosity=-1")).expect("text");
        let mut length = 0;
        // SAFETY: there is room for one prediction per row.
        let code = unsafe {
            LGBM_BoosterPredictForMat(
                self.0,
                rows.as_ptr().cast::<c_void>(),
                C_API_DTYPE_FLOAT32 as c_int,
                scores.len() as c_int,
                FEATURES as c_int,
                1,
                C_API_PREDICT_RAW_SCORE as c_int,
                0,
                -1,
                settings.as_ptr(),
                &mut length,
                scores.as_mut_ptr(),
            )
        };
        assert_eq!((code, length as usize), (0, scores.len()));
        scores
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: the booster is not used again.
        unsafe { LGBM_BoosterFree(self.0) };
    }
}

/// Random rows; with `odd`, one value in ten is missing, infinite, a signed zero, or tiny.
fn rows(count: usize, odd: bool, mut seed: u64) -> Vec<f32> {
    let strange = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-40, -1e-36, 1e-35, f32::MAX, f32::MIN];
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as usize
    };
    (0..count * FEATURES)
        .map(|_| match next() % 10 {
            0 if odd => strange[next() % strange.len()],
            _ => next() as f32 / (1 << 23) as f32 - 1.0,
        })
        .collect()
}

#[test]
fn predictions_equal_those_of_lightgbm_to_the_last_bit() {
    // Trained on rows with missing values, so that all kinds of splits occur.
    let with_missing: Vec<f32> =
        rows(3_000, true, 1).into_iter().map(|value| if value.is_infinite() { 0.0 } else { value }).collect();
    let documents = rows(100_000, true, 2);
    for (grown_on, leaves) in [(with_missing, 31), (rows(3_000, false, 3), 64)] {
        let peer = Peer::grown(&grown_on, 100, leaves);
        let forest = Forest::parse(&peer.text()).expect("a forest");
        assert_eq!(forest.n_trees(), 100);
        let mut scores = vec![0.0; 100_000];
        forest.score_rows(&documents, FEATURES, &mut scores).expect("scores");
        let expected = peer.predict(&documents, 2);
        let differ = scores.iter().zip(&expected).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        assert_eq!(differ, 0, "of 100,000 rows");
    }
}

#[test]
fn lightgbm_reads_a_sum_of_forests_and_scores_alike() {
    let documents = rows(20_000, true, 2);
    let forests: Vec<Scorer> = [(3, 31), (4, 8), (5, 64)]
        .map(|(seed, leaves)| Peer::grown(&rows(2_000, false, seed), 20, leaves).text())
        .iter()
        .map(|text| Scorer::Trees(std::sync::Arc::new(Forest::parse(text).expect("a forest"))))
        .collect();
    let factors = [0.1, 1.0 / 3.0, 7e-5];
    let sum = Scorer::weighted_sum(&forests.iter().zip(factors).collect::<Vec<_>>()).expect("a forest");
    let scores = |scorer: &Scorer| {
        let Scorer::Trees(forest) = scorer else { panic!("not trees") };
        let mut scores = vec![0.0; 20_000];
        forest.score_rows(&documents, FEATURES, &mut scores).expect("scores");
        scores
    };
    let mut expected = vec![0.0; 20_000];
    for (forest, factor) in forests.iter().zip(factors) {
        expected.iter_mut().zip(scores(forest)).for_each(|(sum, score)| *sum += factor * score);
    }
    let found = scores(&sum);
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-13 * (1.0 + b.abs())));
    let Scorer::Trees(forest) = &sum else { panic!("not trees") };
    let theirs = Peer::read(&forest.to_text()).predict(&documents, 2);
    assert!(found.iter().zip(&theirs).all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn an_ensemble_of_trees_is_one_forest_for_any_number_of_threads() {
    use burnrank::setting::Method;
    use burnrank::train::{Ensemble, TrainingData};
    let (train, valid) = data();
    let mut config = config("lambdarank:ndcg", 5);
    assert!(Ensemble::is_deterministic(&config));
    let Method::Boosting(settings) = &mut config.method else { panic!("not boosting") };
    settings.subsample = 0.5;
    assert!(!Ensemble::is_deterministic(&config));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let data = TrainingData::new(config.scaling, &train, &valid).expect("data");
            let (data, device) = (std::sync::Arc::new(data), device::open("auto").expect("a device"));
            let member =
                |seed| Trainer::on(TrainConfig { seed, ..config.clone() }, data.clone(), &device).expect("a run");
            let ensemble = Ensemble::new(Ensemble::seeds(1, 3).map(member).collect()).expect("an ensemble");
            ensemble.train().expect("a model")
        })
    };
    let model = run(1);
    assert_eq!(text(&model), text(&run(3)));
    let trees: usize = model.info.members.iter().map(|member| member.best_epoch).sum();
    assert_eq!(model.info.ranker.architecture, burnrank::Architecture::Trees { trees, leaves: 31 });
}

/// Prints how much faster than LightGBM 100 trees of 31 leaves are scored; alternating, the best of seven.
#[test]
#[ignore = "measures time"]
fn speed_of_scoring() {
    let (documents, grown_on) = (rows(100_000, false, 2), rows(20_000, false, 3));
    let peer = Peer::grown(&grown_on, 100, 31);
    let forest = Forest::parse(&peer.text()).expect("a forest");
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        let mut scores = vec![0.0; 100_000];
        for _ in 0..7 {
            let start = Instant::now();
            pool.install(|| forest.score_rows(&documents, FEATURES, &mut scores).expect("scores"));
            ours = ours.min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            let expected = peer.predict(&documents, threads);
            theirs = theirs.min(start.elapsed().as_secs_f64());
            assert_eq!(scores, expected);
        }
        println!(
            "100,000 rows of 136 features, 100 trees of 31 leaves, {threads} threads: {:.1} ms, LightGBM {:.1} ms, {:.2} times \
             as fast",
            ours * 1e3,
            theirs * 1e3,
            theirs / ours
        );
    }
}
