//! Pairs of different classes: the classes halved again and again, one half swept against the other.

use super::super::grid::Sums;
use super::super::ranked::Ranked;
use super::scan::Scan;
use super::{Document, Moments};
use crate::numeric::exp::exponentials;
use crate::objective::pair_form::{Own, PairForm};
use crate::simd::dispatch;
use crate::stop::Stop;

/// The memory of the near-linear kernels: O(n).
#[derive(Debug, Default)]
pub(in super::super) struct SweepMemory {
    documents: Vec<Document>,
    spare: Vec<Document>,
    lines: [Vec<f64>; LINES],
}

/// Documents below which a list is not shared by threads.
const SHARED: usize = 4096;

/// Numbers by document: decays, fades, the sums over documents above and below, the same of second derivatives, and these so
/// far.
const LINES: usize = 7;

impl SweepMemory {
    /// Adds the sums over all pairs of a list; returns the loss in nats when asked. No form: the weights of
    /// [`Pairs`](crate::metric::Pairs).
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
        let curves = sums.curves.len();
        let wanted = [n, n, n, n, curves, curves, curves];
        self.lines.iter_mut().zip(wanted).for_each(|(line, n)| line.resize(n.max(line.len()), 0.0));
        self.lines[6][..curves].fill(0.0);
        let mut lines = self.lines.iter_mut().zip(wanted).map(|(line, n)| &mut line[..n]);
        let node = Node {
            documents: &mut self.documents,
            spare: &mut self.spare[..n],
            lines: std::array::from_fn(|_| lines.next().unwrap_or_default()),
            top: ranked.top as u32,
            stop,
        };
        let ends = &ranked.levels.ends;
        let total = match (loss, !sums.curves.is_empty()) {
            (false, false) => node.start::<false, false>(form, ends),
            (true, false) => node.start::<true, false>(form, ends),
            // The loss costs next to nothing here: not worth compiling every sweep without it once more.
            (_, true) => node.start::<true, true>(form, ends),
        };
        for document in &self.documents {
            sums.slopes[document.place as usize] += document.slope;
        }
        for (document, curve) in self.documents.iter().zip(&self.lines[6][..curves]) {
            sums.curves[document.place as usize] += curve;
        }
        total
    }
}

/// Some documents in rank order, and memory for as many.
pub(in super::super::super) struct Node<'a> {
    pub(super) documents: &'a mut [Document],
    pub(super) spare: &'a mut [Document],
    pub(super) lines: [&'a mut [f64]; LINES],
    /// Only pairs with a document of so many ranks count.
    pub(super) top: u32,
    pub(super) stop: &'a Stop,
}

impl Node<'_> {
    fn start<const LOSS: bool, const SECOND: bool>(self, form: Option<PairForm>, ends: &[u32]) -> f64 {
        match form {
            None => self.each_label::<LOSS, SECOND>(ends),
            Some(PairForm::Own) => self.all::<LOSS, SECOND>(),
            Some(form) => self.split::<LOSS, SECOND>(form, ends, 0),
        }
    }

    /// All pairs of these documents.
    fn all<const LOSS: bool, const SECOND: bool>(mut self) -> f64 {
        self.decay();
        let loss = self.sweep::<Own, 2, LOSS, SECOND>(Own, 0);
        self.keep::<SECOND>();
        loss
    }

    /// All pairs of different classes; `ends` are the ends of the groups of equal ones in their order, the first of which
    /// has the index `first`.
    fn split<const LOSS: bool, const SECOND: bool>(mut self, form: PairForm, ends: &[u32], first: u32) -> f64 {
        let n = self.documents.len();
        if self.stop.asked() {
            return 0.0;
        }
        if ends.len() < 2 {
            if form != (PairForm::Constant { ties: true }) {
                return 0.0;
            }
            self.documents.iter_mut().for_each(|document| document.values[0] = 0.5);
            return self.all::<LOSS, SECOND>();
        }
        let (groups, size) = halve(ends, n);
        let cut = first + groups as u32;
        self.decay();
        let loss = form.moments::<LOSS, SECOND>(&mut self, cut);
        self.part::<SECOND>(cut);
        let (high, low) = self.cut(size);
        let (high_ends, low_ends) = ends.split_at(groups);
        let (high, low) = join(
            n,
            || high.split::<LOSS, SECOND>(form, high_ends, first),
            || low.split::<LOSS, SECOND>(form, low_ends, cut),
        );
        loss + high + low
    }

    /// Takes the exponentials of the differences from one document to the next.
    pub(super) fn decay(&mut self) {
        let decay = &mut *self.lines[0];
        for (decay, pair) in decay.iter_mut().skip(1).zip(self.documents.windows(2)) {
            *decay = pair[1].x - pair[0].x;
        }
        exponentials(decay);
    }

    /// Sweeps down and up, forgetting what sweeps before found; documents before `cut` of the classes against the others.
    pub fn sweep<F: Moments<R>, const R: usize, const LOSS: bool, const SECOND: bool>(
        &mut self,
        form: F,
        cut: u32,
    ) -> f64 {
        self.both_ways::<F, R, false, LOSS, SECOND>(form, cut, 1.0)
    }

    /// The same with weights multiplied with an exponential of the distance of ranks, added to what sweeps before found.
    pub fn sweep_mode<F: Moments<R>, const R: usize, const LOSS: bool, const SECOND: bool>(
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
        self.both_ways::<F, R, true, LOSS, SECOND>(form, cut, amplitude)
    }

    fn both_ways<F: Moments<R>, const R: usize, const FADES: bool, const LOSS: bool, const SECOND: bool>(
        &mut self,
        form: F,
        cut: u32,
        amplitude: f64,
    ) -> f64 {
        if self.stop.asked() {
            return 0.0;
        }
        let (documents, top, stop) = (&*self.documents, self.top, self.stop);
        let [decay, fade, above, below, curve_above, curve_below, _] = &mut self.lines;
        let (decay, fade): (&[f64], &[f64]) = (decay, fade);
        let (slopes, curves) = (&mut **above, &mut **curve_above);
        let down = Scan::<F, R, true, FADES, LOSS, SECOND> {
            form,
            documents,
            cut,
            decay,
            fade,
            top,
            amplitude,
            slopes,
            curves,
            stop,
        };
        let (slopes, curves) = (&mut **below, &mut **curve_below);
        let up = Scan::<F, R, false, FADES, false, SECOND> {
            form,
            documents,
            cut,
            decay,
            fade,
            top,
            amplitude,
            slopes,
            curves,
            stop,
        };
        join(documents.len(), || dispatch(down), || dispatch(up)).0
    }

    /// Adds what the sweeps found to what was found before.
    pub(super) fn keep<const SECOND: bool>(&mut self) {
        let [_, _, above, below, curve_above, curve_below, curves] = &mut self.lines;
        for (document, (above, below)) in self.documents.iter_mut().zip(above.iter().zip(below.iter())) {
            document.slope += above + below;
        }
        if SECOND {
            for (curve, (above, below)) in curves.iter_mut().zip(curve_above.iter().zip(curve_below.iter())) {
                *curve += above + below;
            }
        }
    }

    /// The same, and puts the upper half first, both halves in rank order.
    fn part<const SECOND: bool>(&mut self, cut: u32) {
        let [_, _, above, below, curve_above, curve_below, curves] = &mut self.lines;
        let (mut kept, mut moved) = (0, 0);
        for index in 0..self.documents.len() {
            let mut document = self.documents[index];
            document.slope += above[index] + below[index];
            let curve = if SECOND { curves[index] + curve_above[index] + curve_below[index] } else { 0.0 };
            if document.level < cut {
                self.documents[kept] = document;
                if SECOND {
                    curves[kept] = curve;
                }
                kept += 1;
            } else {
                self.spare[moved] = document;
                if SECOND {
                    // Read already, and not needed again.
                    curve_above[moved] = curve;
                }
                moved += 1;
            }
        }
        self.documents[kept..].copy_from_slice(&self.spare[..moved]);
        if SECOND {
            curves[kept..].copy_from_slice(&curve_above[..moved]);
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

/// How many groups to put into the upper half, and how many documents that are: as near to half of them as it gets.
fn halve(ends: &[u32], n: usize) -> (usize, usize) {
    let before = ends[ends.len() - 1] as usize - n;
    let size = |groups: usize| ends[groups - 1] as usize - before;
    let groups = ends.partition_point(|&end| 2 * (end as usize - before) < n) + 1;
    let groups = groups.clamp(1, ends.len() - 1);
    let fewer = groups > 1 && (2 * size(groups - 1)).abs_diff(n) < (2 * size(groups)).abs_diff(n);
    let groups = groups - usize::from(fewer);
    (groups, size(groups))
}

/// Both, at the same time when there is enough to do.
fn join<A: Send, B: Send>(n: usize, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    if n < SHARED { (a(), b()) } else { rayon::join(a, b) }
}
