//! How features become inputs of a model.

use super::inputs::{self, Inputs};
use super::{ScaleKind, Scaler, Scaling};
use crate::data::dataset::Dataset;
use crate::distributed::Member;
use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::ops::Range;

/// How the features of documents become the inputs of a model: fitted to training documents, it is a [`Scaler`].
///
/// ```
/// use burnrank::data::Preprocessing;
/// use burnrank::{Dataset, ScaleKind};
/// let values = vec![1.0, 7.0, f32::NAN, 4.0, 3.0, 7.0];
/// let data = Dataset::new(2, values, vec![0.0, 1.0, 0.0], vec![("a".into(), 3)])?;
/// let rules = Preprocessing { categorical: vec![1], ..Preprocessing::from(ScaleKind::MinMax) };
/// let scaler = rules.fit(&data)?;
/// // The scaled first feature, 1 if it is missing, and an input for each level, 4 and 7, of the second.
/// assert_eq!(scaler.inputs_of(vec![1.0, 7.0, f32::NAN, 4.0])?, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Preprocessing {
    /// Feature scaling.
    pub scaling: Scaling,
    /// Whether missing values are replaced by medians, if the data has any, with an input that is 1 if the feature is missing.
    /// Trees use missing values as they are.
    pub imputes: bool,
    /// Columns, from 0 and ascending, of categorical features, which get an input per level. Trees use levels as they are.
    pub categorical: Vec<usize>,
}

/// Replaces missing values; no feature is categorical.
impl From<Scaling> for Preprocessing {
    fn from(scaling: Scaling) -> Self {
        Preprocessing { scaling, imputes: true, categorical: Vec::new() }
    }
}

/// The same with the default parameters of a scaling.
impl From<ScaleKind> for Preprocessing {
    fn from(kind: ScaleKind) -> Self {
        Scaling::from(kind).into()
    }
}

impl Preprocessing {
    /// Fits the inputs to all documents of `data`, which should be the training split only.
    ///
    /// # Errors
    /// If a level of a categorical feature is not a whole number of 0 or more, or there are too many levels.
    pub fn fit(&self, data: &Dataset) -> Result<Scaler> {
        self.fit_for(data, &[])
    }

    /// Like [`Preprocessing::fit`]; also replaces missing values if only `others` have any.
    ///
    /// # Errors
    /// The errors of [`Preprocessing::fit`].
    pub(crate) fn fit_for(&self, data: &Dataset, others: &[&Dataset]) -> Result<Scaler> {
        let mut scaler = Scaler::fit(self.scaling, data);
        if self.imputes && (data.has_missing() || others.iter().any(|data| data.has_missing())) {
            scaler.inputs = Inputs::fit(data, &data.missing_counts(), data.n_documents());
        }
        let levels = inputs::levels(data, &self.categorical)?;
        scaler.inputs.categories = inputs::categories(&self.categorical, levels)?;
        Ok(scaler)
    }

    /// Fits the inputs to the documents of all members. `rows` are the rows of each member; `data` has those of this one.
    ///
    /// # Errors
    /// The errors of [`Preprocessing::fit`], and if the connection to a member is lost.
    pub(crate) fn fit_distributed(
        &self,
        member: &Member,
        data: &Dataset,
        other: &Dataset,
        rows: &[Range<usize>],
    ) -> Result<Scaler> {
        if member.size() == 1 || data.n_features() == 0 {
            return self.fit_for(data, &[other]);
        }
        let mut scaler = Scaler::fit_distributed(self.scaling, member, data, rows)?;
        if self.imputes {
            // The last number is not 0 if the other data has missing values.
            let counts = data.missing_counts().into_iter().chain([usize::from(other.has_missing())]);
            let mut all = vec![0; data.n_features() + 1];
            for counts in member.all_gather(Ok(counts.map(|count| count as u32).collect()))? {
                all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count as usize);
            }
            if all.iter().any(|&count| count > 0) {
                let documents = rows.last().map_or(0, |rows| rows.end);
                scaler.inputs = Scaler::distributed_inputs(member, data, rows, &all[..data.n_features()], documents)?;
            }
        }
        if self.categorical.is_empty() {
            return Ok(scaler);
        }
        let own = inputs::levels(data, &self.categorical);
        let words = own.map(|own| {
            let words = |levels: BTreeSet<u32>| std::iter::once(levels.len() as u32).chain(levels).collect::<Vec<_>>();
            own.into_iter().flat_map(words).collect()
        });
        let mut levels = vec![BTreeSet::new(); self.categorical.len()];
        for words in member.all_gather(words)? {
            let mut words = words.into_iter();
            for levels in &mut levels {
                let count = words.next().unwrap_or(0) as usize;
                levels.extend(words.by_ref().take(count));
            }
        }
        scaler.inputs.categories = inputs::categories(&self.categorical, levels)?;
        Ok(scaler)
    }

    /// Describes the rules as facts on which processes that train together must agree.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let categorical = self.categorical.iter().map(|column| (column + 1).to_string()).collect::<Vec<_>>().join(",");
        vec![("scaling".into(), self.scaling.to_string()), ("categorical features".into(), categorical)]
    }
}

/// Fails if a scaler does not replace missing values, but rows have one.
pub(crate) fn refuse_missing(scaler: &Scaler, rows: &[f32], document: usize) -> Result<()> {
    if !scaler.medians().is_empty() {
        return Ok(());
    }
    let Some(place) = rows.iter().position(|value| value.is_nan()) else { return Ok(()) };
    let width = scaler.n_features().max(1);
    Err(Error::Mismatch(format!(
        "feature {} of document {} is missing, but the model was trained on data without missing values: give missing values a \
         number with `null`, or train on data with missing values",
        place % width + 1,
        document + place / width + 1
    )))
}
