//! Training and validation data, scaled by a scaling fitted on the training queries.

use super::distributed::Partition;
use crate::data::Dataset;
use crate::data::scale::{Preprocessing, Scaler};
use crate::distributed::{Member, data_fact};
use crate::error::{Error, Result};
use crate::memory;
use crate::model::DataInfo;
use std::borrow::Cow;

/// Scaled training and validation queries; several runs can share them.
///
/// Owned data is scaled in place. Borrowed data is copied, except if the scaling is none. Data of a memory-mapped file
/// is scaled whenever it is read.
///
/// ```
/// use burnrank::{ScaleKind, Synthetic, TrainConfig, Trainer, device};
/// use burnrank::train::TrainingData;
/// use std::sync::Arc;
/// let generator = Synthetic { queries: 30, ..Synthetic::net() }.generator()?;
/// let (train, valid) = (generator.part(0..20)?.0, generator.part(20..30)?.0);
/// let data = Arc::new(TrainingData::new(ScaleKind::ZScore, train, valid)?);
/// for learning_rate in [0.001, 0.01] {
///     let config = TrainConfig { scaling: ScaleKind::ZScore, learning_rate, ..TrainConfig::default() };
///     Trainer::on(config, data.clone(), &device::open("auto")?)?.epoch()?;
/// }
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TrainingData<'a> {
    pub(super) train: Cow<'a, Dataset>,
    pub(super) valid: Cow<'a, Dataset>,
    pub(super) scaler: Scaler,
    /// Descriptions of the training and validation data before scaling.
    pub(super) info: [DataInfo; 2],
    /// For distributed training: which process holds which queries. `train` and `valid` are then the part of this
    /// process.
    pub(super) partition: Option<Partition>,
    /// Whether any training query, of any process, has documents with different labels.
    pub(super) has_pairs: bool,
}

impl<'a> TrainingData<'a> {
    /// Fits scaling, medians and levels on the training queries and applies them to training and validation queries. For trees,
    /// which use missing values and levels as they are, pass [`TrainConfig::preprocessing`](crate::TrainConfig::preprocessing).
    ///
    /// # Errors
    /// If a data set is empty, the numbers of features differ, a categorical feature has invalid or too many levels, or there is not
    /// enough memory to copy borrowed data.
    pub fn new(
        rules: impl Into<Preprocessing>,
        train: impl Into<Cow<'a, Dataset>>,
        valid: impl Into<Cow<'a, Dataset>>,
    ) -> Result<Self> {
        let (train, valid) = (train.into(), valid.into());
        check(&train, &valid)?;
        let scaler = rules.into().fit_for(&train, &[&valid])?;
        Self::scaled(scaler, train, valid)
    }

    /// The part of the queries that one of several processes holds, scaled as a single process with all queries would
    /// scale them.
    ///
    /// Every process passes all queries and keeps those of its part of the `shares`, which must equal
    /// [`TrainConfig::shares`](crate::TrainConfig::shares). The model does not depend on the number of processes, to
    /// the byte.
    ///
    /// ```
    /// use burnrank::{Synthetic, TrainConfig, Trainer, device};
    /// use burnrank::distributed::Member;
    /// use burnrank::train::TrainingData;
    /// use std::sync::Arc;
    /// let member = Member::alone(); // or one of an MPI launch
    /// let generator = Synthetic { queries: 30, ..Synthetic::net() }.generator()?;
    /// let (train, valid) = (generator.part(0..20)?.0, generator.part(20..30)?.0);
    /// let config = TrainConfig { shares: 8, ..TrainConfig::default() };
    /// let data = Arc::new(TrainingData::distributed(&member, config.shares, config.scaling, train, valid)?);
    /// Trainer::on(config, data, &device::open("auto")?)?.epoch()?;
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`TrainingData::new`]; also if another process fails, or if processes differ in queries, scaling
    /// or shares.
    pub fn distributed(
        member: &Member,
        shares: usize,
        rules: impl Into<Preprocessing>,
        train: Dataset,
        valid: Dataset,
    ) -> Result<Self> {
        let rules = rules.into();
        check(&train, &valid)?;
        let info = [&train, &valid].map(|data| DataInfo::of("", data));
        // Compare before queries are split and exchanged.
        let facts = vec![
            data_fact("training data", &train, &info[0].fingerprint),
            data_fact("validation data", &valid, &info[1].fingerprint),
        ];
        member.same(Error::Mismatch, "give all processes the same files", Ok(facts))?;
        let facts = rules.facts().into_iter().chain([("shares".into(), shares.to_string())]).collect();
        member.same(Error::Config, "give all processes the same settings", Ok(facts))?;
        let has_pairs = train.has_pairs();
        let partition = Partition::new(member.clone(), shares, [train.offsets(), valid.offsets()]);
        let local = |data: Dataset, set: usize| {
            if member.size() == 1 { data } else { data.select(&partition.local(set).collect::<Vec<_>>()) }
        };
        let (train, valid) = (local(train, 0), local(valid, 1));
        // Wait for all processes before rows are exchanged.
        member.agree(Ok(()))?;
        let scaler = rules.fit_distributed(member, &train, &valid, &partition.rows())?;
        let data = Self::scaled(scaler, train.into(), valid.into())?;
        Ok(TrainingData { info, partition: Some(partition), has_pairs, ..data })
    }

    /// Other queries with the scaling of these, such as the folds of an ensemble's members.
    ///
    /// # Errors
    /// The errors of [`TrainingData::new`].
    pub fn with_same_scaling(
        &self,
        train: impl Into<Cow<'a, Dataset>>,
        valid: impl Into<Cow<'a, Dataset>>,
    ) -> Result<Self> {
        let (train, valid) = (train.into(), valid.into());
        check(&train, &valid)?;
        let data = Self::scaled(self.scaler.clone(), train, valid)?;
        Ok(TrainingData { has_pairs: data.has_pairs || self.has_pairs, ..data })
    }

    /// Applies a fitted scaler to queries of data that [`TrainConfig::check_pairs`] has accepted.
    ///
    /// [`TrainConfig::check_pairs`]: crate::setting::TrainConfig::check_pairs
    pub(crate) fn with_scaler(scaler: Scaler, train: &'a Dataset, valid: &'a Dataset) -> Result<Self> {
        check(train, valid)?;
        Ok(TrainingData { has_pairs: true, ..Self::scaled(scaler, train.into(), valid.into())? })
    }

    fn scaled(scaler: Scaler, mut train: Cow<'a, Dataset>, mut valid: Cow<'a, Dataset>) -> Result<Self> {
        let info = [&train, &valid].map(|data| DataInfo::of("", data));
        if !scaler.is_identity() {
            apply(&scaler, &mut train)?;
            apply(&scaler, &mut valid)?;
        }
        let has_pairs = train.has_pairs();
        Ok(TrainingData { train, valid, scaler, info, partition: None, has_pairs })
    }
}

/// Checks that both data sets have queries and the same number of features.
fn check(train: &Dataset, valid: &Dataset) -> Result<()> {
    if train.n_queries() == 0 || valid.n_queries() == 0 {
        return Err(Error::Data("training needs at least one training and one validation query".into()));
    }
    if train.n_features() != valid.n_features() {
        return Err(Error::Mismatch(format!(
            "{} features in the training data, {} in the validation data",
            train.n_features(),
            valid.n_features()
        )));
    }
    Ok(())
}

fn apply(scaler: &Scaler, data: &mut Cow<'_, Dataset>) -> Result<()> {
    if matches!(data, Cow::Borrowed(_)) && !data.is_mapped() {
        let bytes = memory::bytes_of::<f32>(data.n_documents() as u64 * data.n_features() as u64);
        memory::ask(bytes, "a scaled copy of the features", "pass the data by value to scale it in place")?;
    }
    scaler.apply(data.to_mut())
}

impl From<Dataset> for Cow<'_, Dataset> {
    fn from(data: Dataset) -> Self {
        Cow::Owned(data)
    }
}

impl<'a> From<&'a Dataset> for Cow<'a, Dataset> {
    fn from(data: &'a Dataset) -> Self {
        Cow::Borrowed(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::ScaleKind;

    fn data(features: &[f32]) -> Dataset {
        Dataset::new(1, features.to_vec(), vec![0.0; features.len()], vec![("a".into(), features.len())]).unwrap()
    }

    #[test]
    fn the_scaling_is_fitted_on_training_queries_and_applied_to_both() {
        let (train, valid) = (data(&[2.0, 4.0]), data(&[3.0, 8.0]));
        let scaled = TrainingData::new(ScaleKind::MinMax, &train, &valid).unwrap();
        assert_eq!((scaled.train.features(), scaled.valid.features()), (&[0.0, 1.0][..], &[0.5, 3.0][..]));
        assert_eq!(scaled.info[0], DataInfo::of("", &train));
        assert_eq!(train.features(), [2.0, 4.0], "borrowed data is not changed");
    }

    #[test]
    fn owned_data_is_scaled_in_place() {
        let (train, valid) = (data(&[2.0, 4.0]), data(&[3.0, 8.0]));
        let pointers = [&train, &valid].map(|data| data.features().as_ptr());
        let scaled = TrainingData::new(ScaleKind::ZScore, train, valid).unwrap();
        assert_eq!([&scaled.train, &scaled.valid].map(|data| data.features().as_ptr()), pointers);
        assert_eq!(scaled.train.features(), [-1.0, 1.0]);
    }

    #[test]
    fn borrowed_data_without_scaling_is_not_copied() {
        let train = data(&[2.0, 4.0]);
        let same = TrainingData::new(ScaleKind::None, &train, &train).unwrap();
        assert_eq!(same.train.features().as_ptr(), train.features().as_ptr());
    }
}
