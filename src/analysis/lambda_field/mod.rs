//! Properties of lambda fields: whether a cost function exists and is convex, whether lambdas sum to zero, and where they jump.

mod eigen;
mod margin;
mod regularised;
mod report;
mod ties;

pub use eigen::eigenvalues;
pub use margin::MarginLambda;
pub use regularised::Regularised;
pub use report::{FieldReport, MAX_DOCUMENTS, Potential};
pub use ties::Crossing;
