//! Sweeps for the fraction of pairs in the right order: each label against all others.

use super::Document;
use super::node::Node;
use crate::objective::pair_form::FallOrRise;

impl Node<'_> {
    /// Sums of [`MetricKind::Pairs`](crate::MetricKind::Pairs).
    ///
    /// A swap of a higher label `h` and a lower label `l` changes the order of the pair itself, of the pairs of both
    /// documents with each document between them in rank and in label, and of the pairs of one of them with each
    /// document between them in rank that has the label of either. Let `C_x(p)` be the number of documents above rank
    /// `p` with a label below `x` plus the number of those with a label of at most `x`. For `i` above `j`, the change
    /// is `C_h(j) - C_h(i) - (C_l(j) - C_l(i))`, divided by the number of pairs.
    ///
    /// The first difference takes a sweep of `h` against all lower labels, the second one of `l` against all higher
    /// labels: two sweeps per label. Both use the same factors for a pair, so that cancellation does not amplify
    /// errors.
    pub(super) fn each_label<const LOSS: bool, const HESSIAN: bool>(self, ends: &[u32]) -> f64 {
        let n = self.documents.len() as f64;
        let sizes = ends.iter().scan(0, |start, &end| Some(f64::from(end - std::mem::replace(start, end))));
        let pairs = 0.5 * (n * n - sizes.map(|size| size * size).sum::<f64>());
        if pairs == 0.0 {
            return 0.0;
        }
        let mut loss = 0.0;
        let Node { documents, spare, mut lines, top, stop } = self;
        let mut hessian = vec![0.0; if HESSIAN { documents.len() } else { 0 }];
        for label in 0..ends.len() as u32 {
            // Compare the label with all lower labels, then with all higher labels.
            for (sign, cut) in [(-1.0, label + 1), (1.0, label)] {
                let meets = |level: u32| if cut > label { level >= label } else { level <= label };
                let mut size = 0;
                let mut count = 0u64;
                for document in documents.iter() {
                    if meets(document.level) {
                        let value = sign * count as f64 / pairs;
                        spare[size] = Document { values: [value; 2], gradient: 0.0, ..*document };
                        size += 1;
                    }
                    count += u64::from(document.level > label) + u64::from(document.level >= label);
                }
                let lines = lines.each_mut().map(|line| {
                    let end = size.min(line.len());
                    &mut line[..end]
                });
                let mut node = Node { documents: &mut spare[..size], spare: &mut [], lines, top, stop };
                node.lines[6].fill(0.0);
                node.decay();
                loss += node.sweep::<FallOrRise, 2, LOSS, HESSIAN>(FallOrRise, cut);
                node.add_sums::<HESSIAN>();
                if HESSIAN {
                    let matching = documents.iter().zip(&mut hessian).filter(|(document, _)| meets(document.level));
                    matching.zip(node.lines[6].iter()).for_each(|((_, sum), part)| *sum += part);
                }
                let matching = documents.iter_mut().filter(|document| meets(document.level));
                matching.zip(spare.iter()).for_each(|(document, part)| document.gradient += part.gradient);
            }
        }
        lines[6].copy_from_slice(&hessian);
        loss
    }
}
