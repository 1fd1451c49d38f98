//! A serving scorer returns the scores of the model to the bit, on any thread, and does not allocate once it is warm.

use burnrank::model::{Forest, Scratch, ServingScorer};
use burnrank::{Activation, Dataset, Init, Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer, device};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[allow(dead_code)] // not all of it is used here
#[path = "export/models.rs"]
mod models;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// The system allocator, with a count of requests per thread.
struct Counting;

#[global_allocator]
static MEMORY: Counting = Counting;

fn count() {
    // A thread that ends has no counter.
    let _ = TAKEN.try_with(|taken| taken.set(taken.get() + 1));
}

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the number of allocations of this thread during a call.
fn taken(work: impl FnOnce()) -> usize {
    let before = TAKEN.get();
    work();
    TAKEN.get() - before
}

/// Models of every kind, with their names and documents.
fn cases() -> Vec<(String, Model, Vec<f32>)> {
    let mut cases: Vec<_> =
        models::all().into_iter().map(|case| (case.name, case.model, case.data.features().to_vec())).collect();
    // Several layers, wider than any group of units, and documents of several blocks.
    let data = models::data();
    let wide: Vec<f32> = data.features().iter().cycle().take(3 * data.features().len()).copied().collect();
    let one = Dataset::new(models::FEATURES, wide.clone(), vec![0.0; 3000], vec![("a".into(), 3000)]).unwrap();
    for hidden in [&[][..], &[40], &[70, 33], &[33, 70, 5, 17]] {
        let shape = match hidden {
            [] => RankerConfig::linear(models::FEATURES),
            _ => RankerConfig::mlp(models::FEATURES, hidden, Activation::Tanh),
        };
        for kind in ScaleKind::ALL {
            let shape = shape.clone().encoded(&Scaler::fit(kind, &one));
            let net = shape.init(Init::Burn, 5, &device::open("auto").unwrap()).unwrap();
            let info = ModelInfo::new(shape.clone(), Scaler::fit(kind, &one), "by hand");
            let model = Model { scorer: Scorer::Net(net), info, history: Vec::new() };
            cases.push((format!("{hidden:?} {kind}"), model, wide.clone()));
        }
    }
    cases
}

fn bits(scores: &[f32]) -> Vec<u32> {
    scores.iter().map(|score| score.to_bits()).collect()
}

#[test]
fn serving_scores_equal_those_of_the_model_to_the_bit() {
    // Shared by all models and queries: earlier content must not matter.
    let mut scratch = Scratch::default();
    for (name, model, features) in cases() {
        let (serving, width) = (model.serving().unwrap(), model.info.n_features());
        assert_eq!(serving.n_features(), width);
        for documents in [1, 7, 40, 251, 1000, 0, features.len() / width] {
            let rows = &features[..documents * width];
            let expected = model.score_query(rows).unwrap();
            assert_eq!(bits(serving.score(rows, &mut scratch).unwrap()), bits(&expected), "{name}, {documents}");
            let ranked = serving.rank(rows, &mut scratch).unwrap();
            assert_eq!(bits(ranked.scores), bits(&expected), "{name}, {documents}");
            let mut order: Vec<u32> = (0..documents as u32).collect();
            order.sort_by(|&a, &b| expected[b as usize].partial_cmp(&expected[a as usize]).unwrap());
            assert_eq!(ranked.order, order, "{name}, {documents}");
        }
        if width > 1 {
            let error = serving.score(&features[..width + 1], &mut scratch).unwrap_err().to_string();
            assert!(error.contains(&format!("not a whole number of rows of {width} features")), "{error}");
        }
    }
}

#[test]
fn a_data_set_has_the_same_scores_query_by_query() {
    for case in models::nets().into_iter().chain(models::trees()).chain(models::kernels()) {
        let (serving, mut scratch) = (case.model.serving().unwrap(), Scratch::default());
        let mut scores = Vec::new();
        for query in case.data.queries() {
            scores.extend_from_slice(serving.score(&query.features, &mut scratch).unwrap());
        }
        assert_eq!(bits(&scores), bits(&case.model.score(&case.data).unwrap()), "{}", case.name);
    }
}

#[test]
fn a_warm_scorer_does_not_allocate() {
    assert!(taken(|| drop(std::hint::black_box(vec![1]))) > 0, "the counter counts");
    for (name, model, features) in cases() {
        let (serving, width, mut scratch) = (model.serving().unwrap(), model.info.n_features(), Scratch::default());
        let cold = taken(|| drop(serving.rank(&features, &mut scratch)));
        assert!(cold > 0, "{name}");
        let warm = taken(|| {
            for documents in [features.len() / width, 100, 1, 0, 999] {
                let ranked = serving.rank(&features[..documents * width], &mut scratch);
                assert!(ranked.is_ok_and(|ranked| ranked.scores.len() == documents));
            }
        });
        assert_eq!(warm, 0, "{name}");
    }
}

#[test]
fn threads_share_a_scorer() {
    fn shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    for (name, model, features) in cases().into_iter().step_by(7) {
        let serving: ServingScorer = model.serving().unwrap();
        shared(&serving);
        let expected = bits(&model.score_query(&features).unwrap());
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut scratch = Scratch::default();
                        (0..3).map(|_| bits(serving.score(&features, &mut scratch).unwrap())).collect::<Vec<_>>()
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap().iter().for_each(|found| assert_eq!(*found, expected, "{name}"));
            }
        });
    }
}

#[test]
fn missing_values_follow_the_trees() {
    let forest = Forest::parse(include_str!("../src/model/trees/tests/sample.txt")).unwrap();
    let n = f32::NAN;
    let rows = [[0.5, n, n, 1.0], [n, n, n, n], [0.5000001, n, 0.0, 3.0], [1.0, 2.0, n, 40.0], [n, 0.0, 1.0, n]];
    let model = forest.into_model("imported").unwrap();
    let expected = model.score_query(rows.as_flattened()).unwrap();
    let found = model.serving().unwrap().score(rows.as_flattened(), &mut Scratch::default()).unwrap().to_vec();
    assert_eq!(found, expected);
}

#[test]
fn an_inconsistent_model_is_refused() {
    let data = models::data();
    let shape = RankerConfig::linear(4);
    let net = shape.init(Init::Burn, 5, &device::open("auto").unwrap()).unwrap();
    let info = ModelInfo::new(shape, Scaler::fit(ScaleKind::ZScore, &data), "by hand");
    let error = Model { scorer: Scorer::Net(net), info, history: Vec::new() }.serving().unwrap_err();
    assert_eq!(error.to_string(), "the model's description has 4 inputs, but its weights have 4 and its scaling 6");
}
