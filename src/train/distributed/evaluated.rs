//! What members judge of their own queries, joined in the order of all queries.

use super::Partition;
use crate::data::Dataset;
use crate::distributed::{doubles_of, of_doubles};
use crate::error::{Error, Result};
use crate::metric::{Conventions, Metric, Summary, evaluate};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an epoch came to, query by query.
#[derive(Debug, Default, PartialEq)]
pub(in crate::train) struct Evaluated {
    /// Whether scores or weights are no longer finite.
    pub diverged: bool,
    pub valid: Vec<Option<f64>>,
    pub train: Vec<Option<f64>>,
}

impl Partition {
    /// What all members judged, from what each did.
    ///
    /// # Errors
    /// As [`Member::share`](crate::distributed::Member).
    pub(in crate::train) fn judged(&self, own: Result<Evaluated>) -> Result<Evaluated> {
        let own = own.map(|own| {
            let head = [u64::from(own.diverged), own.valid.len() as u64];
            let values = own.valid.iter().chain(&own.train).flat_map(|value| packed(*value));
            of_doubles(head.into_iter().chain(values))
        });
        let mut all = Evaluated::default();
        for words in self.member.share(own)? {
            let numbers: Vec<u64> = doubles_of(&words).collect();
            let [diverged, valid, values @ ..] = numbers.as_slice() else { continue };
            all.diverged |= *diverged != 0;
            let mut values = values.as_chunks().0.iter().map(unpacked);
            all.valid.extend(values.by_ref().take(*valid as usize));
            all.train.extend(values);
        }
        Ok(all)
    }

    /// The mean of each measure over the queries of all members, by its name; those without a finite value are left out, and
    /// all of them where a member has no scores.
    ///
    /// # Errors
    /// As [`Member::share`](crate::distributed::Member).
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
        let mut whole = true;
        for metric in metrics {
            let own = scores
                .map(|scores| evaluate(&**metric, scores, data.labels(), data.offsets(), &Conventions::default()).ok());
            let head = [u64::from(own.is_some()), u64::from(own.as_ref().is_some_and(Option::is_some))];
            let values = own.flatten().unwrap_or_default().into_iter().flat_map(packed);
            let (mut all, mut judged) = (Vec::new(), true);
            for words in self.member.share(Ok(of_doubles(head.into_iter().chain(values))))? {
                let numbers: Vec<u64> = doubles_of(&words).collect();
                let [scored, known, values @ ..] = numbers.as_slice() else { continue };
                (whole, judged) = (whole && *scored != 0, judged && *known != 0);
                all.extend(values.as_chunks().0.iter().map(unpacked));
            }
            let mean = Summary::of(&all).mean;
            if judged && mean.is_finite() {
                means.insert(metric.name(), mean);
            }
        }
        Ok(whole.then_some(means))
    }
}

fn packed(value: Option<f64>) -> [u64; 2] {
    [u64::from(value.is_some()), value.unwrap_or_default().to_bits()]
}

fn unpacked(&[known, bits]: &[u64; 2]) -> Option<f64> {
    (known != 0).then(|| f64::from_bits(bits))
}
