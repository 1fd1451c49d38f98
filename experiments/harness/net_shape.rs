//! The two nets that the papers compare.

/// How many layers a net has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetShape {
    Linear,
    TwoLayer,
}

impl NetShape {
    /// As the papers call it.
    pub fn name(self) -> &'static str {
        match self {
            NetShape::Linear => "linear",
            NetShape::TwoLayer => "two-layer",
        }
    }
}
