//! Documents grouped by label, in descending order; equal labels keep their order.

use super::order::{key, sort_keys};
use std::ops::Range;

/// Integer labels below this are sorted by counting.
const COUNTED: usize = 32;

/// Order of labels, and the end of each group of equal labels.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    /// Positions of the labels, highest label first.
    pub order: Vec<u32>,
    /// End of each group in `order`.
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

    /// Groups, as ranges of `order`.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        self.ends.iter().scan(0, |start, &end| Some(std::mem::replace(start, end as usize)..end as usize))
    }

    /// Calls `each` with every position and the index of its group, highest label first.
    pub fn for_each(&self, mut each: impl FnMut(usize, u32)) {
        for (level, group) in self.groups().enumerate() {
            self.order[group].iter().for_each(|&position| each(position as usize, level as u32));
        }
    }

    /// Sorts by counting; returns false if a label is not an integer or too high.
    fn count(&mut self, labels: &[f32]) -> bool {
        let mut whole = true;
        self.level.resize(labels.len(), 0);
        for (level, &label) in self.level.iter_mut().zip(labels) {
            // Negative labels, fractions and NaN do not survive the round trip.
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
        for (position, &level) in self.level.iter().enumerate() {
            let next = &mut counts[level as usize % COUNTED];
            order[*next as usize] = position as u32;
            *next += 1;
        }
        true
    }

    fn sort(&mut self, labels: &[f32]) {
        self.keys.clear();
        self.keys.extend(labels.iter().enumerate().map(|(position, &label)| key(label + 0.0, position)));
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
