//! Documents by label, the highest first; equal labels in the order given.

/// Whole labels below this are counted, not sorted.
const COUNTED: usize = 32;

/// The order of labels, and where each group of equal ones ends.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// Places of the labels, the highest label first.
    pub order: Vec<u32>,
    /// The end of each group in `order`.
    pub ends: Vec<u32>,
    keys: Vec<u64>,
}

impl Levels {
    pub fn fill(&mut self, labels: &[f32]) {
        self.ends.clear();
        self.order.clear();
        if !self.count(labels) {
            self.sort(labels);
        }
    }

    /// By counting; false when a label is not whole or too high.
    fn count(&mut self, labels: &[f32]) -> bool {
        let mut counts = [0u32; COUNTED];
        for &label in labels {
            // A negative label, a fraction or a NaN does not survive the round trip.
            let level = label as usize;
            if level >= COUNTED || level as f32 != label {
                return false;
            }
            counts[level] += 1;
        }
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
        for (place, &label) in labels.iter().enumerate() {
            let next = &mut counts[label as usize];
            self.order[*next as usize] = place as u32;
            *next += 1;
        }
        true
    }

    fn sort(&mut self, labels: &[f32]) {
        self.keys.clear();
        self.keys.extend(labels.iter().enumerate().map(|(place, &label)| super::sort::key(label + 0.0, place)));
        self.keys.sort_unstable();
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
