//! Pairs of different classes: the set of classes is halved recursively, and one half is swept against the other.

use super::super::grid::Sums;
use super::super::ranked::Ranked;
use super::scan::Scan;
use super::{Document, Moments};
use crate::numeric::exp::exponentials;
use crate::objective::pair_form::{Own, PairForm};
use crate::simd::dispatch;
use crate::stop::Stop;

/// Buffers of the near-linear kernels: O(n).
#[derive(Debug, Default)]
pub(in super::super) struct SweepMemory {
    documents: Vec<Document>,
    spare: Vec<Document>,
    lines: [Vec<f64>; LINES],
}

/// Lists with at least this many documents are shared between threads.
const SHARED: usize = 4096;

/// Number of values per document: decay, fade, the gradients from documents above and below, their second derivatives,
/// and the sum of second derivatives so far.
const LINES: usize = 7;

impl SweepMemory {
    /// Adds the sums over all pairs of a list; returns the loss in nats if requested. Without a form, the weights are
    /// those of the fraction of ordered pairs.
    pub fn run(&mut self, form: Option<PairForm>, ranked: &Ranked, loss: bool, stop: &Stop, sums: &mut Sums) -> f64 {
        let n = ranked.len();
        let value = |of: &[f64], place: usize| of.get(place).copied().unwrap_or_default();
        let (first, second) = (&ranked.values.first, &ranked.values.second);
        self.documents.clear();
        self.documents.extend((0..n).map(|place| Document {
            x: ranked.scaled[place],
            values: [value(first, place), value(second, place)],
            place: place as u32,
            ..Document::default()
        }));
        if form != Some(PairForm::Own) {
            ranked.levels.for_each(|place, level| self.documents[place].level = level);
        }
        self.spare.resize(n, Document::default());
        let hessian_length = sums.hessian.len();
        let lengths = [n, n, n, n, hessian_length, hessian_length, hessian_length];
        self.lines.iter_mut().zip(lengths).for_each(|(line, n)| line.resize(n.max(line.len()), 0.0));
        self.lines[6][..hessian_length].fill(0.0);
        let mut lines = self.lines.iter_mut().zip(lengths).map(|(line, n)| &mut line[..n]);
        let node = Node {
            documents: &mut self.documents,
            spare: &mut self.spare[..n],
            lines: std::array::from_fn(|_| lines.next().unwrap_or_default()),
            top: ranked.top as u32,
            stop,
        };
        let ends = &ranked.levels.ends;
        let total = match (loss, !sums.hessian.is_empty()) {
            (false, false) => node.start::<false, false>(form, ends),
            (true, false) => node.start::<true, false>(form, ends),
            // The loss costs almost nothing here: not worth compiling every sweep a second time without it.
            (_, true) => node.start::<true, true>(form, ends),
        };
        for document in &self.documents {
            sums.gradient[document.place as usize] += document.gradient;
        }
        for (document, second) in self.documents.iter().zip(&self.lines[6][..hessian_length]) {
            sums.hessian[document.place as usize] += second;
        }
        total
    }
}

/// Some documents in rank order, and buffers of the same length.
pub(in super::super::super) struct Node<'a> {
    pub(super) documents: &'a mut [Document],
    pub(super) spare: &'a mut [Document],
    pub(super) lines: [&'a mut [f64]; LINES],
    /// Number of top ranks: only pairs with one of their documents count.
    pub(super) top: u32,
    pub(super) stop: &'a Stop,
}

impl Node<'_> {
    fn start<const LOSS: bool, const HESSIAN: bool>(self, form: Option<PairForm>, ends: &[u32]) -> f64 {
        match form {
            None => self.each_label::<LOSS, HESSIAN>(ends),
            Some(PairForm::Own) => self.all::<LOSS, HESSIAN>(),
            Some(form) => self.split::<LOSS, HESSIAN>(form, ends, 0),
        }
    }

    /// Sums over all pairs of these documents.
    fn all<const LOSS: bool, const HESSIAN: bool>(mut self) -> f64 {
        self.decay();
        let loss = self.sweep::<Own, 2, LOSS, HESSIAN>(Own, 0);
        self.add_sums::<HESSIAN>();
        loss
    }

    /// Sums over all pairs of different classes; `ends` holds the ends of the groups of equal classes, and `first` is
    /// the index of the first group.
    fn split<const LOSS: bool, const HESSIAN: bool>(mut self, form: PairForm, ends: &[u32], first: u32) -> f64 {
        let n = self.documents.len();
        if self.stop.asked() {
            return 0.0;
        }
        if ends.len() < 2 {
            if form != (PairForm::Constant { ties: true }) {
                return 0.0;
            }
            self.documents.iter_mut().for_each(|document| document.values[0] = 0.5);
            return self.all::<LOSS, HESSIAN>();
        }
        let (groups, size) = halve(ends, n);
        let cut = first + groups as u32;
        self.decay();
        let loss = form.moments::<LOSS, HESSIAN>(&mut self, cut);
        self.add_sums_and_partition::<HESSIAN>(cut);
        let (high, low) = self.cut(size);
        let (high_ends, low_ends) = ends.split_at(groups);
        let (high, low) = join(
            n,
            || high.split::<LOSS, HESSIAN>(form, high_ends, first),
            || low.split::<LOSS, HESSIAN>(form, low_ends, cut),
        );
        loss + high + low
    }

    /// Computes the exponentials of the differences between neighbouring documents.
    pub(super) fn decay(&mut self) {
        let decay = &mut *self.lines[0];
        for (decay, pair) in decay.iter_mut().skip(1).zip(self.documents.windows(2)) {
            *decay = pair[1].x - pair[0].x;
        }
        exponentials(decay);
    }

    /// Sweeps down and up, discarding sums of earlier sweeps; documents of classes before `cut` against the others.
    pub fn sweep<F: Moments<R>, const R: usize, const LOSS: bool, const HESSIAN: bool>(
        &mut self,
        form: F,
        cut: u32,
    ) -> f64 {
        self.both_ways::<F, R, false, LOSS, HESSIAN>(form, cut, 1.0)
    }

    /// The same, with weights multiplied by an exponential of the distance of ranks, and added to the sums of earlier
    /// sweeps.
    pub fn sweep_mode<F: Moments<R>, const R: usize, const LOSS: bool, const HESSIAN: bool>(
        &mut self,
        form: F,
        cut: u32,
        rate: f64,
        amplitude: f64,
    ) -> f64 {
        let fade = &mut *self.lines[1];
        for (fade, pair) in fade.iter_mut().skip(1).zip(self.documents.windows(2)) {
            *fade = -rate * f64::from(pair[1].place - pair[0].place);
        }
        exponentials(fade);
        self.both_ways::<F, R, true, LOSS, HESSIAN>(form, cut, amplitude)
    }

    fn both_ways<F: Moments<R>, const R: usize, const FADES: bool, const LOSS: bool, const HESSIAN: bool>(
        &mut self,
        form: F,
        cut: u32,
        amplitude: f64,
    ) -> f64 {
        if self.stop.asked() {
            return 0.0;
        }
        let (documents, top, stop) = (&*self.documents, self.top, self.stop);
        let [decay, fade, above, below, hessian_above, hessian_below, _] = &mut self.lines;
        let (decay, fade): (&[f64], &[f64]) = (decay, fade);
        let (gradient, hessian) = (&mut **above, &mut **hessian_above);
        let down = Scan::<F, R, true, FADES, LOSS, HESSIAN> {
            form,
            documents,
            cut,
            decay,
            fade,
            top,
            amplitude,
            gradient,
            hessian,
            stop,
        };
        let (gradient, hessian) = (&mut **below, &mut **hessian_below);
        let up = Scan::<F, R, false, FADES, false, HESSIAN> {
            form,
            documents,
            cut,
            decay,
            fade,
            top,
            amplitude,
            gradient,
            hessian,
            stop,
        };
        join(documents.len(), || dispatch(down), || dispatch(up)).0
    }

    /// Discards the sums of earlier sweeps, for sweeps that only add.
    pub fn clear_sums(&mut self) {
        let [_, _, sums @ .., _] = &mut self.lines;
        sums.iter_mut().for_each(|line| line.fill(0.0));
    }

    /// Adds the sums of the latest sweeps to the documents.
    pub(super) fn add_sums<const HESSIAN: bool>(&mut self) {
        let [_, _, above, below, hessian_above, hessian_below, hessian] = &mut self.lines;
        for (document, (above, below)) in self.documents.iter_mut().zip(above.iter().zip(below.iter())) {
            document.gradient += above + below;
        }
        if HESSIAN {
            for (sum, (above, below)) in hessian.iter_mut().zip(hessian_above.iter().zip(hessian_below.iter())) {
                *sum += above + below;
            }
        }
    }

    /// The same, and moves documents of classes before `cut` to the front, keeping rank order in both parts.
    fn add_sums_and_partition<const HESSIAN: bool>(&mut self, cut: u32) {
        let [_, _, above, below, hessian_above, hessian_below, hessian] = &mut self.lines;
        let (mut n_high, mut n_low) = (0, 0);
        for index in 0..self.documents.len() {
            let mut document = self.documents[index];
            document.gradient += above[index] + below[index];
            let second = if HESSIAN { hessian[index] + hessian_above[index] + hessian_below[index] } else { 0.0 };
            if document.level < cut {
                self.documents[n_high] = document;
                if HESSIAN {
                    hessian[n_high] = second;
                }
                n_high += 1;
            } else {
                self.spare[n_low] = document;
                if HESSIAN {
                    // This element has been read and is not needed again.
                    hessian_above[n_low] = second;
                }
                n_low += 1;
            }
        }
        self.documents[n_high..].copy_from_slice(&self.spare[..n_low]);
        if HESSIAN {
            hessian[n_high..].copy_from_slice(&hessian_above[..n_low]);
        }
    }

    fn cut(&mut self, size: usize) -> (Node<'_>, Node<'_>) {
        let (documents, low_documents) = self.documents.split_at_mut(size);
        let (spare, low_spare) = self.spare.split_at_mut(size);
        let mut low_lines: [&mut [f64]; LINES] = Default::default();
        let mut lines: [&mut [f64]; LINES] = Default::default();
        for (line, (high, low)) in self.lines.iter_mut().zip(lines.iter_mut().zip(&mut low_lines)) {
            (*high, *low) = line.split_at_mut(size.min(line.len()));
        }
        let (top, stop) = (self.top, self.stop);
        (
            Node { documents, spare, lines, top, stop },
            Node { documents: low_documents, spare: low_spare, lines: low_lines, top, stop },
        )
    }
}

/// Returns the number of groups in the upper half, and of their documents: as close to half of the documents as
/// possible.
fn halve(ends: &[u32], n: usize) -> (usize, usize) {
    let before = ends[ends.len() - 1] as usize - n;
    let size = |groups: usize| ends[groups - 1] as usize - before;
    let groups = ends.partition_point(|&end| 2 * (end as usize - before) < n) + 1;
    let groups = groups.clamp(1, ends.len() - 1);
    let is_closer = groups > 1 && (2 * size(groups - 1)).abs_diff(n) < (2 * size(groups)).abs_diff(n);
    let groups = groups - usize::from(is_closer);
    (groups, size(groups))
}

/// Runs both tasks, in parallel if there is enough work.
fn join<A: Send, B: Send>(n: usize, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    if n < SHARED { (a(), b()) } else { rayon::join(a, b) }
}
