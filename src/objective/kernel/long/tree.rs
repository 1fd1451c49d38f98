//! Pairs of different labels: the labels halved again and again, one half swept against the other.

use super::super::levels::Levels;
use super::super::ranked::Ranked;
use super::super::weights::{ApSwaps, RrSwaps};
use super::super::{Kernel, Weighting};
use super::form::{Document, FallOrRise, Form, Gap, GapAndDiscount, GapOverRest, One, Own, Side};
use super::modes::MODES;
use super::scan::Scan;
use crate::metric::MetricKind;
use crate::numeric::exp::exponentials;
use crate::simd::dispatch;
use crate::stop::Stop;

/// The memory of the near-linear kernels: O(n).
#[derive(Debug, Default)]
pub(in super::super) struct Long {
    levels: Levels,
    binary: Vec<f32>,
    documents: Vec<Document>,
    spare: Vec<Document>,
    decay: Vec<f64>,
    fade: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

/// Documents below which a list is not shared by threads.
const SHARED: usize = 4096;

impl Kernel {
    /// Adds `dC/d(sigma s)` in nats to `sums`, in rank order; returns the loss in nats when asked.
    ///
    /// Only where [`Kernel::has_fast_method`].
    pub(in super::super) fn fast(&self, ranked: &Ranked, memory: &mut Long, sums: &mut [f64], loss: bool) -> f64 {
        let n = ranked.len();
        let mut total = 0.0;
        memory.documents.clear();
        match self.weighting {
            Weighting::SwapAp { threshold, k } => {
                let swaps = ApSwaps::new(&ranked.labels, k, threshold);
                memory.take(ranked, 0..n, |place| [swaps.fall[place], swaps.rise[place]]);
                memory.by_relevance(&swaps.relevant);
            }
            Weighting::SwapRr { threshold, k } => {
                let swaps = RrSwaps::new(&ranked.labels, k, threshold);
                total += self.top_relevant(ranked, &swaps, sums, loss);
                // Every relevant document, wanted above those that are above all of them.
                let places = (0..n).filter(|&place| place < swaps.first || swaps.relevant[place]);
                memory.take(ranked, places, |place| [-swaps.value(place.min(swaps.first)), 0.0]);
                memory.by_relevance(&swaps.relevant);
            }
            Weighting::Arp1 => memory.take(ranked, 0..n, |place| [ranked.labels[place].into(), 0.0]),
            Weighting::Ndcg1 => memory.take(ranked, 0..n, |place| [ranked.gains[place] * ranked.discounts[place], 0.0]),
            Weighting::Ndcg2 { rho, .. } => {
                memory.take(ranked, 0..n, |place| [ranked.gains[place], rho * ranked.discounts[place]]);
            }
            Weighting::SwapNdcg { k } => {
                let discount = |place: usize| if place < k { ranked.discounts[place] } else { 0.0 };
                memory.take(ranked, 0..n, |place| [ranked.gains[place], discount(place)]);
            }
            Weighting::SwapMetric(_) => self.take_measure(ranked, memory),
            _ => memory.take(ranked, 0..n, |place| [ranked.labels[place].into(), 0.0]),
        }
        let binary = matches!(self.measure(), MetricKind::Bpref { .. });
        let levels = match self.weighting {
            Weighting::SwapAp { .. } | Weighting::SwapRr { .. } => &std::mem::take(&mut memory.levels),
            _ if binary => &std::mem::take(&mut memory.levels),
            _ => &ranked.levels,
        };
        if !matches!(self.weighting, Weighting::Arp1 | Weighting::Ndcg1) {
            levels.for_each(|place, level| memory.documents[place].level = level);
        }
        total += memory.run(&self.weighting, &levels.ends, loss, &self.stop);
        memory.documents.iter().for_each(|document| sums[document.place as usize] += document.sum);
        total
    }
}

impl Long {
    pub fn take(&mut self, ranked: &Ranked, places: impl Iterator<Item = usize>, values: impl Fn(usize) -> [f64; 2]) {
        self.documents.extend(places.map(|place| Document {
            x: ranked.scaled[place],
            values: values(place),
            sum: 0.0,
            place: place as u32,
            level: 0,
        }));
    }

    /// Two levels: relevant documents and others.
    pub fn by_relevance(&mut self, relevant: &[bool]) {
        self.binary.clear();
        self.binary.extend(self.documents.iter().map(|document| f32::from(relevant[document.place as usize])));
        self.levels.fill(&self.binary);
    }

    fn run(&mut self, weighting: &Weighting, ends: &[u32], loss: bool, stop: &Stop) -> f64 {
        let n = self.documents.len();
        self.spare.resize(n, Document::default());
        for numbers in [&mut self.decay, &mut self.fade, &mut self.above, &mut self.below] {
            numbers.resize(n, 0.0);
        }
        let node = Node {
            documents: &mut self.documents,
            spare: &mut self.spare[..n],
            decay: &mut self.decay[..n],
            fade: &mut self.fade[..n],
            above: &mut self.above[..n],
            below: &mut self.below[..n],
            stop,
        };
        let swaps_pairs = matches!(weighting, Weighting::SwapMetric(metric) if metric.kind() == MetricKind::Pairs);
        match (weighting, loss) {
            (Weighting::Arp1 | Weighting::Ndcg1, false) => node.all::<false>(),
            (Weighting::Arp1 | Weighting::Ndcg1, true) => node.all::<true>(),
            (_, false) if swaps_pairs => node.each_label::<false>(ends),
            (_, true) if swaps_pairs => node.each_label::<true>(ends),
            (_, false) => node.split::<false>(weighting, ends, 0),
            (_, true) => node.split::<true>(weighting, ends, 0),
        }
    }
}

/// Some documents in rank order, and memory for as many.
pub(super) struct Node<'a> {
    pub documents: &'a mut [Document],
    pub spare: &'a mut [Document],
    pub decay: &'a mut [f64],
    pub fade: &'a mut [f64],
    pub above: &'a mut [f64],
    pub below: &'a mut [f64],
    pub stop: &'a Stop,
}

impl Node<'_> {
    /// All pairs of these documents.
    fn all<const LOSS: bool>(mut self) -> f64 {
        self.decay();
        let loss = self.sweep::<Own, 2, LOSS>(Own, 0, None, false);
        for (document, (above, below)) in self.documents.iter_mut().zip(self.above.iter().zip(&*self.below)) {
            document.sum += above + below;
        }
        loss
    }

    /// All pairs of different labels; `ends` are the ends of the groups of equal labels in label order, the first of which
    /// has the index `first`.
    fn split<const LOSS: bool>(mut self, weighting: &Weighting, ends: &[u32], first: u32) -> f64 {
        let n = self.documents.len();
        if self.stop.asked() {
            return 0.0;
        }
        if ends.len() < 2 {
            if !matches!(weighting, Weighting::RankNet { ties: true }) {
                return 0.0;
            }
            self.documents.iter_mut().for_each(|document| document.values[0] = 0.5);
            return self.all::<LOSS>();
        }
        let (groups, size) = halve(ends, n);
        let cut = first + groups as u32;
        self.decay();
        let mut loss = match *weighting {
            Weighting::RankNet { .. } => self.sweep::<One, 1, LOSS>(One, cut, None, false),
            Weighting::Arp2 | Weighting::SwapRr { .. } => self.sweep::<Gap, 2, LOSS>(Gap, cut, None, false),
            Weighting::SwapAp { .. } => self.sweep::<FallOrRise, 2, LOSS>(FallOrRise, cut, None, false),
            Weighting::SwapMetric(ref metric) => match metric.kind() {
                MetricKind::Err { .. } => self.sweep::<GapOverRest, 4, LOSS>(GapOverRest, cut, None, false),
                MetricKind::Bpref { .. } => self.sweep::<FallOrRise, 2, LOSS>(FallOrRise, cut, None, false),
                _ => self.sweep::<GapAndDiscount, 4, LOSS>(GapAndDiscount, cut, None, false),
            },
            Weighting::Ndcg2 { rho: 0.0, delta: 0.0 } => return 0.0,
            Weighting::Ndcg2 { rho: 0.0, .. } => 0.0,
            _ => self.sweep::<GapAndDiscount, 4, LOSS>(GapAndDiscount, cut, None, false),
        };
        if let Weighting::Ndcg2 { rho, delta } = *weighting
            && delta != 0.0
        {
            for (index, (rate, amplitude)) in MODES.into_iter().enumerate() {
                let adds = rho != 0.0 || index > 0;
                loss += self.sweep::<Gap, 2, LOSS>(Gap, cut, Some((rate, delta * amplitude)), adds);
            }
        }
        self.part(cut);
        let (high, low) = self.cut(size);
        let (high_ends, low_ends) = ends.split_at(groups);
        let (high, low) =
            join(n, || high.split::<LOSS>(weighting, high_ends, first), || low.split::<LOSS>(weighting, low_ends, cut));
        loss + high + low
    }

    /// Takes the exponentials of the differences from one document to the next.
    pub(super) fn decay(&mut self) {
        for (decay, pair) in self.decay.iter_mut().skip(1).zip(self.documents.windows(2)) {
            *decay = pair[1].x - pair[0].x;
        }
        exponentials(self.decay);
    }

    /// Sweeps down and up, adding to what the sweeps before found or not; a mode is an exponential of the distance of ranks and what it is multiplied with.
    pub(super) fn sweep<F: Form<R>, const R: usize, const LOSS: bool>(
        &mut self,
        form: F,
        cut: u32,
        mode: Option<(f64, f64)>,
        adds: bool,
    ) -> f64 {
        if self.stop.asked() {
            return 0.0;
        }
        let (documents, decay, mut fade, mut amplitude) = (&*self.documents, &*self.decay, [].as_slice(), 1.0);
        if let Some((rate, factor)) = mode {
            for (fade, pair) in self.fade.iter_mut().skip(1).zip(documents.windows(2)) {
                *fade = -rate * f64::from(pair[1].place - pair[0].place);
            }
            exponentials(self.fade);
            (fade, amplitude) = (&*self.fade, factor);
        }
        let (sums, stop) = (&mut *self.above, self.stop);
        let side = Side::Above;
        let down = Scan::<F, R, LOSS> { form, documents, cut, decay, fade, side, amplitude, adds, sums, stop };
        let (sums, side) = (&mut *self.below, Side::Below);
        let up = Scan::<F, R, false> { form, documents, cut, decay, fade, side, amplitude, adds, sums, stop };
        join(documents.len(), || dispatch(down), || dispatch(up)).0
    }

    /// Adds what the sweeps found to the documents, and puts the upper half first, both in rank order.
    fn part(&mut self, cut: u32) {
        let (mut kept, mut moved) = (0, 0);
        for index in 0..self.documents.len() {
            let mut document = self.documents[index];
            document.sum += self.above[index] + self.below[index];
            if document.level < cut {
                self.documents[kept] = document;
                kept += 1;
            } else {
                self.spare[moved] = document;
                moved += 1;
            }
        }
        self.documents[kept..].copy_from_slice(&self.spare[..moved]);
    }

    fn cut(&mut self, size: usize) -> (Node<'_>, Node<'_>) {
        let (documents, low_documents) = self.documents.split_at_mut(size);
        let (spare, low_spare) = self.spare.split_at_mut(size);
        let (decay, low_decay) = self.decay.split_at_mut(size);
        let (fade, low_fade) = self.fade.split_at_mut(size);
        let (above, low_above) = self.above.split_at_mut(size);
        let (below, low_below) = self.below.split_at_mut(size);
        let stop = self.stop;
        (
            Node { documents, spare, decay, fade, above, below, stop },
            Node {
                documents: low_documents,
                spare: low_spare,
                decay: low_decay,
                fade: low_fade,
                above: low_above,
                below: low_below,
                stop,
            },
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
