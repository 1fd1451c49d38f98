//! LambdaLoss, Figs. 1 and 2: generalised logistic curves, and the zero-one loss with its bound.

use crate::harness::Evidence;
use crate::harness::figure::{Panel, Series};
use burnrank::internal::text::fixed;

/// `log2(1 + exp(-x))`.
fn logistic_bits(x: f64) -> f64 {
    (-x).exp().ln_1p() / std::f64::consts::LN_2
}

/// Eq. 12 on a grid of score differences and sigmas.
pub fn zero_one(sigmas: &[f64]) -> (String, Evidence) {
    let mut least = f64::INFINITY;
    for sigma in sigmas {
        for step in -4_000..=4_000 {
            let x = f64::from(step) / 400.0;
            least = least.min(logistic_bits(sigma * x) - f64::from(u8::from(x < 0.0)));
        }
    }
    ("zero-one".into(), Evidence::fact(least >= 0.0, format!("right side minus left side at least {least:.1e}")))
}

/// Fig. 1: `(1 / (1 + exp(-x)))^a`.
fn generalised(x: f64, exponent: f64) -> f64 {
    (1.0 / (1.0 + (-x).exp())).powf(exponent)
}

const EXPONENTS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// Checks that the maximum slope rises with the exponent, and so does the slope of the loss everywhere.
pub fn sharper() -> (String, Evidence) {
    let grid = || (-2_000..=2_000).map(|step| f64::from(step) / 200.0);
    let slope = |x: f64, a: f64| (generalised(x + 1e-4, a) - generalised(x - 1e-4, a)) / 2e-4;
    let steepest = EXPONENTS.map(|a| grid().map(|x| slope(x, a)).fold(0.0, f64::max));
    let loss_slope = |x: f64, a: f64| (-generalised(x, a).log2() + generalised(x + 1e-4, a).log2()).abs();
    let rises = |x: f64| EXPONENTS.windows(2).all(|pair| loss_slope(x, pair[1]) > loss_slope(x, pair[0]));
    let holds = steepest.windows(2).all(|pair| pair[1] > pair[0]) && grid().all(rises);
    let words: Vec<String> = EXPONENTS.iter().zip(steepest).map(|(a, s)| format!("{a}: {}", fixed(s, 3))).collect();
    ("sharper".into(), Evidence::fact(holds, format!("maximum slope by exponent {}", words.join(", "))))
}

fn curve(name: String, colour: usize, ends: f64, value: impl Fn(f64) -> f64) -> Series {
    Series::line(name, colour, (0..=32).map(|step| ends * (f64::from(step) / 16.0 - 1.0)).map(|x| (x, value(x))))
}

fn ticks(ends: i32) -> Vec<(f64, String)> {
    (-ends..=ends).step_by(2).map(|x| (f64::from(x), x.to_string())).collect()
}

/// Fig. 1.
pub fn exponents() -> Panel {
    let one = |(colour, a): (usize, &f64)| curve(format!("exponent {a}"), colour, 6.0, |x| generalised(x, *a));
    Panel {
        title: "Figure 1: generalised logistic curves".into(),
        x_label: "s_i - s_j".into(),
        y_label: "probability".into(),
        ticks: ticks(6),
        series: EXPONENTS.iter().enumerate().map(one).collect(),
        ..Panel::default()
    }
}

/// Fig. 2.
pub fn zero_one_panel() -> Panel {
    Panel {
        title: "Figure 2: the zero-one loss and its bound".into(),
        x_label: "s_i - s_j".into(),
        y_label: "loss".into(),
        ticks: ticks(4),
        series: vec![
            curve("logistic, bits".into(), 0, 4.0, logistic_bits),
            curve("zero-one".into(), 1, 4.0, |x| f64::from(u8::from(x < 0.0))),
        ],
        ..Panel::default()
    }
}
