//! Tests of all scalings: formulas, edge cases, and equal results in memory, by query and after saving.

use super::lines::KNOTS;
use super::*;
use crate::data::dataset::Dataset;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn data(width: usize, features: Vec<f32>, queries: &[usize]) -> Dataset {
    let labels = vec![0.0; queries.iter().sum()];
    let queries = queries.iter().enumerate().map(|(i, &n)| (i.to_string(), n)).collect();
    Dataset::new(width, features, labels, queries).unwrap()
}

fn random(queries: usize, documents: usize, width: usize) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let values = (0..queries * documents * width).map(|i| {
        let x: f32 = rng.random::<f32>() * 2.0 - 1.0;
        if i % width == 0 { x * 1e6 } else { x }
    });
    data(width, values.collect(), &vec![documents; queries])
}

fn scaled(kind: ScaleKind, from: &Dataset) -> Dataset {
    let mut to = from.clone();
    Scaler::fit(kind, from).apply(&mut to).unwrap();
    to
}

#[test]
fn all_kinds_follow_their_formulas() {
    let from = data(1, vec![-3.0, 1.0, 5.0, 7.0], &[2, 2]);
    let (mean, sd) = (2.5_f64, (59.0_f64 / 4.0).sqrt());
    let logs = [-(4f64.ln()), 2f64.ln(), 6f64.ln(), 8f64.ln()];
    let log_mean = logs.iter().sum::<f64>() / 4.0;
    let log_sd = (logs.iter().map(|x| (x - log_mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    // The knot k is the value of rank 3 F_k, F_k = 1 / (1 + exp(-0.6 (k - 15))), rounded: knots 0 to 12, 13 to 14, 15 to 17 and
    // 18 to 30 are equal.
    let share = |k: usize| 1.0 / (1.0 + (-0.6 * (k as f64 - 15.0)).exp());
    let quantiles = [(0, 12), (13, 14), (15, 17), (18, 30)].map(|(first, last)| {
        let middle = (share(first) + share(last)) / 2.0;
        3f64.sqrt() * (2.0 * middle - 1.0)
    });
    let expected: [(ScaleKind, [f64; 4]); 9] = [
        (ScaleKind::None, [-3.0, 1.0, 5.0, 7.0]),
        (ScaleKind::Log1p, logs),
        (ScaleKind::ZScore, [-3.0, 1.0, 5.0, 7.0].map(|x| (x - mean) / sd)),
        (ScaleKind::MinMax, [0.0, 0.4, 0.8, 1.0]),
        (ScaleKind::Log1pZScore, logs.map(|x| (x - log_mean) / log_sd)),
        (ScaleKind::Quantile, quantiles),
        (ScaleKind::Piecewise, [0.0, 1.0, 2.0, 3.0]),
        (ScaleKind::QueryMinMax, [0.0, 1.0, 0.0, 1.0]),
        (ScaleKind::QueryZScore, [-1.0, 1.0, -1.0, 1.0]),
    ];
    for (kind, values) in expected {
        let got = scaled(kind, &from);
        got.features().iter().zip(values).for_each(|(&a, b)| assert!((f64::from(a) - b).abs() < 1e-6, "{kind}"));
    }
}

#[test]
fn a_constant_feature_becomes_zero_even_if_it_varies_in_other_data() {
    // The mean of many 0.1f32 is not exactly 0.1f32: the computed variance is not 0.
    let from = data(1, vec![0.1; 12_345], &[12_345]);
    for kind in
        [ScaleKind::ZScore, ScaleKind::MinMax, ScaleKind::Log1pZScore, ScaleKind::Quantile, ScaleKind::Piecewise]
    {
        let mut other = data(1, vec![0.1, 7.0, -1e38], &[3]);
        Scaler::fit(kind, &from).apply(&mut other).unwrap();
        assert_eq!(other.features(), [0.0; 3], "{kind}");
    }
    for kind in [ScaleKind::QueryMinMax, ScaleKind::QueryZScore] {
        assert!(scaled(kind, &from).features().iter().all(|&x| x == 0.0), "{kind}");
    }
}

#[test]
fn huge_values_stay_finite() {
    let from = data(1, vec![3e38, -3e38, 3e38, 1.0], &[4]);
    for kind in ScaleKind::ALL {
        assert!(scaled(kind, &from).features().iter().all(|x| x.is_finite()), "{kind}");
    }
    assert_eq!(scaled(ScaleKind::MinMax, &from).features(), [1.0, 0.0, 1.0, 0.5]);
    // Fitted to a feature of tiny range, applied to a huge value.
    let mut other = data(1, vec![3e38], &[1]);
    Scaler::fit(ScaleKind::MinMax, &data(1, vec![0.0, 1e-30], &[2])).apply(&mut other).unwrap();
    assert_eq!(other.features(), [f32::MAX]);
}

#[test]
fn values_that_are_not_finite_are_ignored_by_the_fit() {
    let scaler = Scaler::fit(ScaleKind::MinMax, &data(1, vec![1.0, f32::NAN, 3.0, f32::INFINITY], &[4]));
    let mut row = [2.0];
    scaler.apply_rows(&mut row).unwrap();
    assert_eq!(row, [0.5]);
}

#[test]
fn a_saved_scaler_gives_the_same_bits() {
    let from = random(300, 20, 5);
    for kind in ScaleKind::ALL {
        let scaler = Scaler::fit(kind, &from);
        let back: Scaler = serde_json::from_str(&serde_json::to_string(&scaler).unwrap()).unwrap();
        assert_eq!(scaler, back);
        let (mut a, mut b) = (from.clone(), from.clone());
        scaler.apply(&mut a).unwrap();
        back.apply(&mut b).unwrap();
        assert_eq!(bits(&a), bits(&b), "{kind}");
    }
}

#[test]
fn invalid_files_are_rejected() {
    let rejects = |text: &str| assert!(serde_json::from_str::<Scaler>(text).is_err(), "{text}");
    rejects(r#"{"kind":"zscore","width":2,"center":[0.0],"spread":[1.0,1.0]}"#);
    rejects(r#"{"kind":"query-zscore","width":1,"center":[0.0],"spread":[1.0]}"#);
    rejects(r#"{"kind":"zscore","width":1,"center":[0.0],"spread":[-1.0]}"#);
    rejects(r#"{"kind":"zscore","width":1,"center":[null],"spread":[1.0]}"#);
    let table = |width: usize, knots: &[f32]| {
        serde_json::json!({"kind": "quantile", "width": width, "center": [], "spread": [], "knots": knots}).to_string()
    };
    let mut good: Vec<f32> = (0..KNOTS).map(|k| k as f32).collect();
    serde_json::from_str::<Scaler>(&table(1, &good)).unwrap();
    rejects(&table(2, &good));
    rejects(&table(1, &good[1..]));
    rejects(&table(1, &good).replace("[0.0,", "[null,"));
    rejects(&table(1, &good).replace("[0.0,", "[-1e39,"));
    rejects(&table(1, &good).replace("quantile", "none"));
    rejects(r#"{"kind":"quantile","width":1,"center":[],"spread":[]}"#);
    let pieces = |pieces: serde_json::Value| {
        serde_json::json!({"kind": "piecewise", "width": 1, "center": [], "spread": [], "pieces": [pieces]}).to_string()
    };
    serde_json::from_str::<Scaler>(&pieces(serde_json::json!({"knots": [1.0, 2.0], "means": [0.5]}))).unwrap();
    serde_json::from_str::<Scaler>(&pieces(serde_json::json!({"knots": [], "means": []}))).unwrap();
    rejects(&pieces(serde_json::json!({"knots": [1.0, 1.0], "means": [0.5]})));
    rejects(&pieces(serde_json::json!({"knots": [1.0], "means": []})));
    rejects(&pieces(serde_json::json!({"knots": [1.0, 2.0], "means": [1.5]})));
    rejects(&pieces(serde_json::json!({"knots": [1.0, 2.0, 3.0], "means": [0.5]})));
    rejects(&pieces(serde_json::json!({"knots": (0..40).collect::<Vec<_>>(), "means": vec![0.5; 39]})));
    rejects(r#"{"kind":"piecewise","width":1,"center":[],"spread":[]}"#);
    good[3] = 2e9;
    rejects(&table(1, &good));
}

#[test]
fn rows_of_one_query_agree_with_the_data_set() {
    let from = random(30, 7, 3);
    for kind in ScaleKind::ALL {
        let scaler = Scaler::fit(kind, &from);
        let all = scaled(kind, &from);
        for (before, after) in from.queries().zip(all.queries()) {
            let mut rows = before.features.to_vec();
            scaler.apply_rows(&mut rows).unwrap();
            assert_eq!(rows, after.features, "{kind}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let from = random(900, 20, 4);
    for kind in ScaleKind::ALL {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (Scaler::fit(kind, &from), bits(&scaled(kind, &from))))
        };
        assert!(run(1) == run(3), "{kind}");
    }
}

#[test]
fn widths_must_agree_and_may_be_zero() {
    let scaler = Scaler::fit(ScaleKind::ZScore, &random(2, 2, 3));
    assert!(scaler.apply(&mut random(2, 2, 4)).unwrap_err().to_string().contains("3 features, but the data has 4"));
    assert!(scaler.apply_rows(&mut [0.0; 4]).is_err());
    for kind in ScaleKind::ALL {
        let mut nothing = data(0, vec![], &[2, 1]);
        let scaler = Scaler::fit(kind, &nothing);
        scaler.apply(&mut nothing).unwrap();
        scaler.apply_rows(&mut []).unwrap();
        assert!(scaler.apply_rows(&mut [1.0]).is_err());
        Scaler::fit(kind, &Dataset::default()).apply(&mut Dataset::default()).unwrap();
    }
}

fn bits(data: &Dataset) -> Vec<u32> {
    data.features().iter().map(|x| x.to_bits()).collect()
}
