//! What scores: nets of any depth as a Burn module, and the same on the host.

mod activation;
mod architecture;
mod columns;
mod config;
mod earlier;
mod host;
mod init;
mod ranker;
mod registry;
mod units;

pub use activation::Activation;
pub use architecture::Architecture;
pub(crate) use columns::{Columns, GROUP};
pub use config::RankerConfig;
pub(crate) use host::{HostRanker, to_host};
pub use init::Init;
pub use ranker::Ranker;
pub use registry::{MODELS, ModelKind, ModelSettings};
pub(crate) use units::add_moved_unit;
