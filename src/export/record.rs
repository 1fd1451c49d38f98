//! A ranker as the bytes of a Burn record.

use crate::error::{Error, Result};
use crate::model::{Init, Ranker, RankerConfig};
use burn::module::Module;
use burn::store::ModuleRecord;
use burn::tensor::{Bytes, Device};

/// The burnpack bytes of a ranker: the same weights always give the same bytes.
pub(crate) fn ranker_to_bytes(ranker: &Ranker) -> Result<Vec<u8>> {
    let bytes = ranker.clone().into_record().into_bytes();
    bytes.map(|bytes| bytes.to_vec()).map_err(|error| Error::Record(format!("cannot write the record: {error}")))
}

/// The ranker of burnpack bytes, which must hold exactly the weights of its shape.
pub(crate) fn ranker_from_bytes(config: &RankerConfig, bytes: Vec<u8>, device: &Device) -> Result<Ranker> {
    let wrong = |error: &dyn std::fmt::Display| Error::Record(format!("not the record of this model: {error}"));
    let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes)).map_err(|error| wrong(&error))?;
    let empty = config.init(Init::Paper, 0, device)?;
    empty.try_load_record(record).map_err(|error| wrong(&error))
}
