//! Documents by label, the highest first; equal labels in the order given.

use crate::numeric::order::{key, sort_keys};
use std::ops::Range;

/// Whole labels below this are counted, not sorted.
const COUNTED: usize = 32;

/// The order of labels, and where each group of equal ones ends.
#[derive(Debug, Default)]
pub(in super::super) struct Levels {
    /// Places of the labels, the highest label first.
    pub order: Vec<u32>,
    /// The end of each group in `order`.
    pub ends: Vec<u32>,
    keys: Vec<u64>,
    spare: Vec<u64>,
    level: Vec<u32>,
}

impl Levels {
    pub fn fill(&mut self, labels: &[f32]) {
        self.ends.clear();
        self.order.clear();
        if !self.count(labels) {
            self.sort(labels);
        }
    }

    /// The groups, as ranges of `order`.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        self.ends.iter().scan(0, |start, &end| Some(std::mem::replace(start, end as usize)..end as usize))
    }

    /// Calls back with every place and the index of its group, the highest label first.
    pub fn for_each(&self, mut each: impl FnMut(usize, u32)) {
        for (level, group) in self.groups().enumerate() {
            self.order[group].iter().for_each(|&place| each(place as usize, level as u32));
        }
    }

    /// By counting; false when a label is not whole or too high.
    fn count(&mut self, labels: &[f32]) -> bool {
        let mut whole = true;
        self.level.resize(labels.len(), 0);
        for (level, &label) in self.level.iter_mut().zip(labels) {
            // A negative label, a fraction or a NaN does not survive the round trip.
            *level = (label as i32).cast_unsigned();
            whole &= (*level < COUNTED as u32) & (*level as f32 == label);
        }
        if !whole {
            return false;
        }
        let mut counts = [0u32; COUNTED];
        self.level.iter().for_each(|&level| counts[level as usize % COUNTED] += 1);
        let mut end = 0;
        for count in counts.iter_mut().rev() {
            let start = end;
            end += *count;
            if end > start {
                self.ends.push(end);
            }
            *count = start;
        }
        self.order.resize(labels.len(), 0);
        let order = self.order.as_mut_slice();
        for (place, &level) in self.level.iter().enumerate() {
            let next = &mut counts[level as usize % COUNTED];
            order[*next as usize] = place as u32;
            *next += 1;
        }
        true
    }

    fn sort(&mut self, labels: &[f32]) {
        self.keys.clear();
        self.keys.extend(labels.iter().enumerate().map(|(place, &label)| key(label + 0.0, place)));
        sort_keys(&mut self.keys, &mut self.spare);
        self.order.extend(self.keys.iter().map(|&key| key as u32));
        let mut end = 0;
        self.ends.extend(self.keys.chunk_by(|a, b| a >> 32 == b >> 32).map(|group| {
            end += group.len() as u32;
            end
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(labels: &[f32]) -> (Vec<u32>, Vec<u32>) {
        let mut levels = Levels::default();
        levels.fill(labels);
        (levels.order, levels.ends)
    }

    #[test]
    fn labels_are_grouped_by_counting_and_by_sorting() {
        assert_eq!(fill(&[0.0, 2.0, 1.0, 0.0, 2.0]), (vec![1, 4, 2, 0, 3], vec![2, 3, 5]));
        assert_eq!(fill(&[0.0, 2.5, 1.0, -0.0, 2.5]), (vec![1, 4, 2, 0, 3], vec![2, 3, 5]));
        assert_eq!(fill(&[40.0, -1.0, 40.0]), (vec![0, 2, 1], vec![2, 3]));
        assert_eq!(fill(&[]), (vec![], vec![]));
    }
}
