//! Check values, computed with every algorithm.

use super::*;

fn close(kernel: &Kernel, loss: Option<f64>, gradient: Option<[f64; 5]>) {
    for method in [PairAlgorithm::Auto, PairAlgorithm::Direct, PairAlgorithm::Fast] {
        let kernel = Kernel { method, ..kernel.clone() };
        let (values, result) = run(&kernel, &SCORES, &LABELS);
        if let Some(loss) = loss {
            assert!((result.loss - loss).abs() < 1e-6 * loss.max(1.0), "{kernel:?}: {} is not {loss}", result.loss);
        }
        for (value, expected) in values.iter().zip(gradient.iter().flatten()) {
            assert!((f64::from(*value) - expected).abs() < 2e-6, "{kernel:?}: {value} is not {expected}");
        }
    }
}

#[test]
fn check_values() {
    let lambdarank = Kernel::new(Weighting::Ndcg2 { rho: 1.0, delta: 0.0 });
    close(
        &Kernel::new(Weighting::RankNet { ties: false }),
        Some(10.848086),
        Some([2.121466, -0.419533, -1.946374, 2.440600, -2.196159]),
    );
    close(&lambdarank, Some(1.344197), Some([0.138972, -0.037590, -0.221437, 0.505351, -0.385296]));
    close(&Kernel { base: LogBase::Bits, ..lambdarank }, Some(1.939267), None);
    close(
        &Kernel::new(Weighting::SwapAp { k: None, threshold: 1.0 }),
        None,
        Some([0.239140, -0.299493, -0.411738, 0.678743, -0.206653]),
    );
    close(
        &Kernel::new(Weighting::SwapRr { k: None, threshold: 1.0 }),
        None,
        Some([0.353578, -0.649785, -0.710900, 1.627067, -0.619959]),
    );
    close(
        &Kernel::new(Weighting::Mrr { k: None, threshold: 1.0 }),
        None,
        Some([0.353578, -0.649785, -0.710900, 1.627067, -0.619959]),
    );
    close(&Kernel::new(Weighting::Arp1), Some(37.344646), Some([6.057319, 0.253746, -6.520650, 6.993524, -6.783939]));
    close(&Kernel::new(Weighting::Arp2), Some(28.894528), Some([6.057319, 0.044194, -5.196732, 6.993524, -7.898305]));
    close(&Kernel::new(Weighting::Ndcg1), Some(3.160013), Some([0.532819, 0.192908, -0.321860, 0.621277, -1.025144]));
    close(
        &Kernel::new(Weighting::Ndcg2 { rho: 0.0, delta: 1.0 }),
        Some(1.095203),
        Some([0.295183, 0.201268, -0.086549, 0.134294, -0.544197]),
    );
    close(&Kernel::new(Weighting::Ndcg2 { rho: 1.0, delta: 5.0 }), Some(7.415284), None);
    close(&Kernel::new(Weighting::Ndcg2 { rho: 1.0, delta: 10.0 }), Some(12.891301), None);
}
