//! Paired values shared by the tests of this module and the scripts that computed SciPy's reference values.

/// Ten hand-made pairs: (baseline, system).
pub(super) const TEN: ([f64; 10], [f64; 10]) = (
    [0.52, 0.31, 0.77, 0.45, 0.9, 0.12, 0.66, 0.38, 0.71, 0.25],
    [0.61, 0.29, 0.83, 0.57, 0.93, 0.27, 0.62, 0.59, 0.7, 0.33],
);

pub(super) fn ten() -> Vec<f64> {
    TEN.0.iter().zip(TEN.1).map(|(a, b)| b - a).collect()
}

/// `y(n) + shift - x(n)`, where x_i = ((37 i) mod 101) / 101 and y_i = ((53 i + 11) mod 103) / 103.
pub(super) fn smooth(n: u32, shift: f64) -> Vec<f64> {
    pairs(n).map(|(x, y)| (y + shift) - x).collect()
}

/// Like [`smooth`], but with x and y rounded down to eighths, so that there are zeros and ties.
pub(super) fn coarse(n: u32, shift: f64) -> Vec<f64> {
    let eighths = |v: f64| (v * 8.0).floor() / 8.0;
    pairs(n).map(|(x, y)| (eighths(y) + shift) - eighths(x)).collect()
}

fn pairs(n: u32) -> impl Iterator<Item = (f64, f64)> {
    (0..n).map(|i| (f64::from((i * 37) % 101) / 101.0, f64::from((i * 53 + 11) % 103) / 103.0))
}

/// Asserts equality to `relative` of the expected value.
pub(super) fn near(got: f64, expected: f64, relative: f64) {
    assert!((got - expected).abs() <= relative * expected.abs(), "{got}, expected {expected}");
}
