//! A batch takes no memory of its own once the first ones have.

use burn::optim::{AdamConfig, GradientsParams};
use burnrank::objective::surrogate;
use burnrank::{
    Activation, Architecture, Dataset, Init, Objective, RankerConfig, ScaleKind, Schedule, Synthetic, Tensor,
    TrainConfig, Trainer, device,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's memory, counted.
struct Counted;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

fn counted(work: impl FnOnce()) -> usize {
    let before = COUNT.load(Ordering::Relaxed);
    work();
    COUNT.load(Ordering::Relaxed) - before
}

/// Allocations of an epoch after the first two, in batches of `batch_queries` queries.
fn of_epoch(data: &Dataset, valid: &Dataset, objective: &str, hidden: &[usize], batch_queries: usize) -> usize {
    let architecture = match hidden {
        [] => Architecture::Linear,
        _ => Architecture::Mlp { hidden: hidden.to_vec(), activation: Activation::Tanh },
    };
    let config = TrainConfig {
        objective: Objective::parse(objective).unwrap(),
        architecture,
        batch_queries,
        scaling: ScaleKind::None,
        schedule: Schedule::Constant,
        metric: "p@1".into(),
        ..TrainConfig::default()
    };
    let mut trainer = Trainer::new(config, data, valid, &device::open("auto").unwrap()).unwrap();
    for _ in 0..2 {
        trainer.epoch().unwrap();
    }
    counted(|| drop(trainer.epoch().unwrap()))
}

#[test]
fn batches_take_no_memory_after_the_first() {
    let generator = Synthetic { queries: 130, documents: 30, features: 20, ..Synthetic::net() }.generator().unwrap();
    let (data, valid) = (generator.part(0..120).unwrap().0, generator.part(120..130).unwrap().0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        for objective in ["lambdarank:ndcg", "ranknet"] {
            for hidden in [&[][..], &[10], &[20, 5]] {
                let [one, ten] = [1, 10].map(|batch| of_epoch(&data, &valid, objective, hidden, batch));
                let each = (one as f64 - ten as f64) / 108.0;
                println!("{objective}, {hidden:?}: {each:.2} allocations per batch, {ten} per epoch of 12 batches");
                assert!(each.abs() < 0.1, "{objective}, {hidden:?}: {one} allocations with batches of 1, {ten} of 10");
            }
        }
        // The same batch through autodiff.
        let device = device::open("auto").unwrap().autodiff();
        let shape = RankerConfig::mlp(20, &[10], Activation::Tanh);
        let mut ranker = shape.init(Init::Burn, 1, &device).unwrap();
        let mut optimizer = AdamConfig::new().init();
        let mut count = 0;
        for _ in 0..3 {
            let rows = data.query(0).features.to_vec();
            count = counted(|| {
                let rows = Tensor::<1>::from_floats(&rows[..], &device).reshape([30, 20]);
                let loss = surrogate(ranker.forward(rows), vec![0.1; 30]);
                let gradients = GradientsParams::from_grads(loss.backward(), &ranker);
                ranker = optimizer.step(0.01, ranker.clone(), gradients);
            });
        }
        println!("the same through Burn's autodiff and optimiser: {count} allocations per batch");
    });
}
