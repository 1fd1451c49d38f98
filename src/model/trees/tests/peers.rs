//! Scores that LightGBM 4.7.0 and XGBoost 3.2.0 printed.

use super::*;

const N: f32 = f32::NAN;
const I: f32 = f32::INFINITY;

/// `Booster(model_str=...).predict(row, raw_score=True)` of the sample.
#[test]
fn the_sample_scores_as_lightgbm_does_to_the_last_bit() {
    let peer: [([f32; 4], f64); 15] = [
        ([0.0, 0.0, 0.0, 0.0], 2.1314159265358983),
        ([0.5, 0.0, -0.0, 1.0], 1.131415926535898),
        ([0.5, 1e-35, 3.0, 2.0], 2.1314159265358983),
        ([0.5, -1e-40, 3.0, 35.0], 2.1314159265358983),
        ([0.5000001, N, 0.0, 3.0], 0.5314159265358979),
        ([N, N, N, N], 0.5314159265358979),
        ([I, 2.5, I, -I], 0.5314159265358979),
        ([I, 2.6, -0.1, -0.5], 2.331415926535898),
        ([-I, -I, -I, 34.0], -0.968584073464102),
        ([1.0, 3.0, -0.2, 35.9], 2.331415926535898),
        ([1.0, 2.0, N, 2147483648.0], 0.5314159265358979),
        ([1.0, 0.0, 5.0, -1.0], 0.5314159265358979),
        ([I, 3.0, 0.0, -2147483648.0], 0.1314159265358979),
        ([-I, 1.0, 1.0, 99.0], -1.0685840734641021),
        ([1.0, -3.0, N, 1e30], 0.5314159265358979),
    ];
    let forest = Forest::parse(SAMPLE).unwrap();
    let rows: Vec<f32> = peer.iter().flat_map(|(row, _)| *row).collect();
    let expected: Vec<f64> = peer.iter().map(|(_, score)| *score).collect();
    assert_eq!(bits(&scores(&forest, &rows)), bits(&expected));
}

#[test]
fn a_random_forest_is_an_average() {
    let text = SAMPLE.replace("objective=lambdarank\n", "objective=regression\naverage_output\n");
    let (forest, sum) = (Forest::parse(&text).unwrap(), Forest::parse(SAMPLE).unwrap());
    assert!(forest.is_average() && !sum.is_average());
    let row = [0.0; 4];
    assert_eq!(scores(&forest, &row)[0], scores(&sum, &row)[0] / 3.0);
    assert_eq!(scores(&forest.truncated(2), &row)[0], scores(&sum.truncated(2), &row)[0] / 2.0);
    assert_eq!(forest.to_text(), text);
}
