//! Do lambdas come from a cost function at all, is it convex, do forces balance, where do they jump?

mod eigen;
mod margin;
mod regularised;
mod report;
mod ties;

pub use eigen::eigenvalues;
pub use margin::MarginLambda;
pub use regularised::Regularised;
pub use report::{FieldReport, MOST_DOCUMENTS, Potential};
pub use ties::Crossing;
