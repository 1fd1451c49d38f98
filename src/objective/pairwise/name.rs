//! Formatting of the name of a pair loss.

use super::{Assignment, PairLoss};
use crate::name::Spelling;

impl PairLoss {
    /// The title with the truncation and the parameters that are not the default.
    pub(super) fn spell(&self) -> String {
        let [head, tail] = &self.title;
        let name = Spelling::new(head).cutoff(self.truncation).finish() + tail;
        let name = Spelling::new(&name).number("sigma", self.sigma, Some(1.0));
        match self.assignment {
            Assignment::Hard => name,
            Assignment::PlackettLuce { samples } => name.number("plackett-luce", samples as f64, None),
            Assignment::Gaussian { samples, scale } => {
                name.number("gaussian", samples as f64, None).number("noise", scale, Some(1.0))
            }
        }
        .finish()
    }
}
