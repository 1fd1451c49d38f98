//! A kind of scaling and its parameters.

use super::ScaleKind;
use super::pieces::DEFAULT_BINS;
use std::fmt;

/// A kind of scaling with its parameters.
///
/// ```
/// use burnrank::{ScaleKind, Scaling};
/// assert_eq!(Scaling::from(ScaleKind::Piecewise), Scaling { kind: ScaleKind::Piecewise, bins: 16 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scaling {
    /// The kind.
    pub kind: ScaleKind,
    /// Maximum number of bins per feature of `piecewise`.
    pub bins: usize,
}

/// The kind, and the number of bins where it matters.
impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ScaleKind::Piecewise => write!(f, "{} of {} bins", self.kind, self.bins),
            kind => write!(f, "{kind}"),
        }
    }
}

impl From<ScaleKind> for Scaling {
    fn from(kind: ScaleKind) -> Self {
        Scaling { kind, bins: DEFAULT_BINS }
    }
}
