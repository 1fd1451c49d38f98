//! What leaves: Burn records in model folders, and the formats that search engines and evaluators load.

mod card;
mod folder;
mod record;

pub use folder::{DataInfo, Model, ModelInfo};
pub(crate) use record::{ranker_from_bytes, ranker_to_bytes};
