//! The two net architectures that the papers compare.

/// Number of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetShape {
    Linear,
    TwoLayer,
}

impl NetShape {
    /// Name in the papers.
    pub fn name(self) -> &'static str {
        match self {
            NetShape::Linear => "linear",
            NetShape::TwoLayer => "two-layer",
        }
    }
}
