//! Models: nets of any depth (as Burn modules and on the host), decision trees and kernel sums, and the model folder.

mod activation;
mod architecture;
mod columns;
mod config;
#[cfg(feature = "cubecl")]
mod device;
mod encoded_columns;
mod encoding;
mod ensemble;
mod export_target;
mod folder;
mod fused;
mod host;
mod host_net;
mod init;
mod kernel;
#[expect(clippy::module_inception, reason = "the file of the type Model")]
mod model;
mod ranker;
mod record;
mod run;
mod score;
mod scorer;
mod serving;
mod trees;
mod units;
mod weighted_sum;

pub use activation::Activation;
pub use architecture::Architecture;
pub(crate) use architecture::{MAX_LAYERS, MAX_UNITS};
pub(crate) use columns::{Columns, GROUP};
pub use config::RankerConfig;
#[cfg(feature = "cubecl")]
pub(crate) use device::NarrowNet;
pub(crate) use encoding::EncodedRows;
pub use ensemble::MemberInfo;
pub(crate) use ensemble::{fold, score_deviation};
pub(crate) use export_target::NESTED_LEVELS;
pub use export_target::{Capability, ExportTarget, Scalings, Unsupported};
pub use folder::{DataInfo, ModelInfo, ModelPlace};
pub(crate) use fused::{DocumentRows, NetShape, PartValues};
pub(crate) use host::{HostRanker, HostRoom, to_host};
pub(crate) use host_net::{Dense, HostNet, LayerPlace};
pub use init::Init;
pub use kernel::{KernelKind, KernelRanker};
pub use model::Model;
pub(crate) use model::{means, means_until};
pub use ranker::Ranker;
pub(crate) use record::{is_finite, ranker_from_bytes, ranker_to_bytes};
pub use run::{EpochRecord, Finish, RunInfo};
pub use score::score;
pub(crate) use score::score_rows;
pub use scorer::Scorer;
pub use serving::{Ranked, Scratch, ServingScorer};
pub use trees::{Branch, Child, Forest, NegativeFractions, Rule, Tree, WhenMissing};
pub(crate) use trees::{ZERO, largest_f32};
pub(crate) use units::add_moved_unit;
pub(crate) use weighted_sum::shape_of_sum;
