//! Long lists: near-linear sums against enumeration of all pairs.

use super::*;

#[test]
fn long_lists_agree_with_sums_in_double_precision() {
    let mut random = ChaCha8Rng::seed_from_u64(10);
    let mut lists = vec![
        query(900, 8.0, 1e6, 5, &mut random),
        query(900, 8.0, 4.0, 5, &mut random),
        query(900, 2e3, 1e3, 3, &mut random),
        query(900, 0.0, 1.0, 5, &mut random),
        query(900, 1e7, 1.0, 5, &mut random),
    ];
    // As many different labels as documents, and scores correlated with them.
    let mut graded = query(900, 1.0, 1e6, 1, &mut random);
    graded.labels.iter_mut().for_each(|label| *label = random.random::<f32>() * 4.0);
    graded.scores.iter_mut().zip(&graded.labels).for_each(|(score, label)| *score += 3.0 * label);
    lists.push(graded);
    for list in &lists {
        for weighting in formulas() {
            let kernel = Kernel { method: PairAlgorithm::Fast, ..Kernel::new(weighting) };
            if kernel.has_fast_method() {
                let reference = kernel.reference(&list.scores, &list.labels);
                agree(&kernel, list, &reference, 1e-6);
                agree(&Kernel { method: PairAlgorithm::Direct, ..kernel }, list, &reference, 1e-5);
            }
        }
    }
}

#[test]
fn both_algorithms_agree_on_ten_thousand_documents() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let list = query(10_000, 10.0, 1e6, 5, &mut random);
    let outputs = Outputs { loss: true, pairs: true };
    let binary = Weighting::SwapAp { k: None, threshold: 1.0 };
    let lambdarank = Weighting::Ndcg2 { rho: 1.0, delta: 0.0 };
    for weighting in [Weighting::RankNet { ties: true }, lambdarank, Weighting::Ndcg2 { rho: 1.0, delta: 5.0 }, binary]
    {
        let mut gradients = [vec![0f32; 10_000], vec![0f32; 10_000]];
        let mut results = Vec::new();
        for (gradient, method) in gradients.iter_mut().zip([PairAlgorithm::Direct, PairAlgorithm::Fast]) {
            let kernel = Kernel { method, ..Kernel::new(weighting.clone()) };
            results.push(kernel.query(&list.scores, &list.labels, gradient, outputs).unwrap());
            let sum: f64 = gradient.iter().map(|&value| f64::from(value)).sum();
            let size: f64 = gradient.iter().map(|&value| f64::from(value).abs()).sum();
            assert!(sum.abs() <= 1e-6 * size, "{weighting:?}: lambdas add up to {sum} of {size}");
        }
        let scale = gradients[1].iter().fold(0f32, |max, value| max.max(value.abs()));
        for (direct, fast) in gradients[0].iter().zip(&gradients[1]) {
            assert!((direct - fast).abs() <= 1e-5 * scale, "{weighting:?}: {direct} and {fast} of {scale}");
        }
        assert!((results[0].loss - results[1].loss).abs() <= 1e-5 * results[1].loss, "{weighting:?}");
        assert_eq!(results[0].pairs, results[1].pairs);
    }
}
