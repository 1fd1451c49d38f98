//! How the name of a pair loss is put together.

use super::{Assignment, PairLoss};

impl PairLoss {
    /// The title, truncated, with the settings that are not the usual ones.
    pub(super) fn spell(&self) -> String {
        let [head, tail] = &self.title;
        let cut = self.truncation.map(|k| format!("@{k}")).unwrap_or_default();
        let mut name = format!("{head}{cut}{tail}");
        let mut add = |key: &str, value: f64| name += &format!(":{key}={}", number(value));
        if self.sigma != 1.0 {
            add("sigma", self.sigma);
        }
        match self.assignment {
            Assignment::Hard => {}
            Assignment::PlackettLuce { samples } => add("plackett-luce", samples as f64),
            Assignment::Gaussian { samples, scale } => {
                add("gaussian", samples as f64);
                if scale != 1.0 {
                    add("noise", scale);
                }
            }
        }
        name
    }
}

/// A number as people write it, and as it is read back: no row of zeros.
pub(in super::super) fn number(value: f64) -> String {
    if value != 0.0 && !(1e-5..1e9).contains(&value.abs()) { format!("{value:e}") } else { value.to_string() }
}
