//! Gathers the metric values of all processes in query order.

use super::Partition;
use crate::data::Dataset;
use crate::distributed::{doubles_of, of_doubles};
use crate::error::{Error, Result};
use crate::metric::{Conventions, Metric, Summary, evaluate};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Metric values of an epoch by query; `None` for queries that are left out of the mean.
#[derive(Debug, Default, PartialEq)]
pub(in crate::train) struct Evaluated {
    /// Whether scores or weights are no longer finite.
    pub diverged: bool,
    pub valid: Vec<Option<f64>>,
    pub train: Vec<Option<f64>>,
}

impl Partition {
    /// Gathers the values of all processes.
    ///
    /// # Errors
    /// If a process has failed or cannot be reached.
    pub(in crate::train) fn gather(&self, local: Result<Evaluated>) -> Result<Evaluated> {
        let local = local.map(|local| {
            let head = [u64::from(local.diverged), local.valid.len() as u64];
            let values = local.valid.iter().chain(&local.train).flat_map(|value| packed(*value));
            of_doubles(head.into_iter().chain(values))
        });
        let mut all = Evaluated::default();
        for words in self.member.all_gather(local)? {
            let numbers: Vec<u64> = doubles_of(&words).collect();
            let [diverged, valid, values @ ..] = numbers.as_slice() else { continue };
            all.diverged |= *diverged != 0;
            let mut values = values.as_chunks().0.iter().map(unpacked);
            all.valid.extend(values.by_ref().take(*valid as usize));
            all.train.extend(values);
        }
        Ok(all)
    }

    /// The mean of each metric over the queries of all processes, by name; means that are not finite are left out.
    /// `None` if a process has no scores.
    ///
    /// # Errors
    /// If a process has failed or cannot be reached.
    pub fn means(
        &self,
        metrics: &[Arc<dyn Metric>],
        scores: Option<&[f32]>,
        data: &Dataset,
    ) -> Result<Option<BTreeMap<String, f64>>> {
        let names: Vec<String> = metrics.iter().map(|metric| metric.name()).collect();
        let facts = vec![("metrics".into(), names.join(", "))];
        self.member.same(Error::Config, "give all processes the same metrics", Ok(facts))?;
        let mut means = BTreeMap::new();
        let mut all_scored = true;
        for metric in metrics {
            let local = scores
                .map(|scores| evaluate(&**metric, scores, data.labels(), data.offsets(), &Conventions::default()).ok());
            let head = [u64::from(local.is_some()), u64::from(local.as_ref().is_some_and(Option::is_some))];
            let values = local.flatten().unwrap_or_default().into_iter().flat_map(packed);
            let (mut all, mut is_defined) = (Vec::new(), true);
            for words in self.member.all_gather(Ok(of_doubles(head.into_iter().chain(values))))? {
                let numbers: Vec<u64> = doubles_of(&words).collect();
                let [scored, defined, values @ ..] = numbers.as_slice() else { continue };
                (all_scored, is_defined) = (all_scored && *scored != 0, is_defined && *defined != 0);
                all.extend(values.as_chunks().0.iter().map(unpacked));
            }
            let mean = Summary::of(&all).mean;
            if is_defined && mean.is_finite() {
                means.insert(metric.name(), mean);
            }
        }
        Ok(all_scored.then_some(means))
    }
}

fn packed(value: Option<f64>) -> [u64; 2] {
    [u64::from(value.is_some()), value.unwrap_or_default().to_bits()]
}

fn unpacked(&[is_some, bits]: &[u64; 2]) -> Option<f64> {
    (is_some != 0).then(|| f64::from_bits(bits))
}
