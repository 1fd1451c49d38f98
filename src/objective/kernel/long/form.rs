//! Pair weights as sums of products of one document's values with the other's.

/// A document of a long list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Document {
    /// `sigma s`.
    pub x: f64,
    /// What the weight needs to know.
    pub values: [f64; 2],
    /// `dC/dx` in nats, so far.
    pub sum: f64,
    /// The rank, from 0.
    pub place: u32,
    /// The index of the label, the highest label first.
    pub level: u32,
}

/// The direction of a sweep: where the sources are that a target sums over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

/// A weight of `R` products.
///
/// For a pair of a document above and one below, `keep` is the weight of leaving them so and `swap` the weight of having
/// them the other way round. The forms give `keep + swap` and `swap`, seen from the target.
pub(super) trait Form<const R: usize>: Copy + Send + Sync {
    /// Whether documents are targets of all others, or only of those on the other side of the cut.
    const ALL: bool = false;

    /// What a document is to its targets; `high` says that it is in the half of higher labels.
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; R];

    /// What a document multiplies its sources with: for `keep + swap`, and for `swap`.
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; R], [f64; R]);
}

/// A higher target below its source, or a lower target above it, wants to be swapped.
#[inline(always)]
fn ordered<const R: usize>(weights: [f64; R], high: bool, side: Side) -> ([f64; R], [f64; R]) {
    (weights, if high == (side == Side::Above) { weights } else { [0.0; R] })
}

/// Weight 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct One;

impl Form<1> for One {
    #[inline(always)]
    fn source(self, _: &Document, _: bool, _: Side) -> [f64; 1] {
        [1.0]
    }

    #[inline(always)]
    fn target(self, _: &Document, high: bool, side: Side) -> ([f64; 1], [f64; 1]) {
        ordered([1.0], high, side)
    }
}

/// Weight `|v_i - v_j|`, where the higher label has the higher first value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap;

impl Form<2> for Gap {
    #[inline(always)]
    fn source(self, document: &Document, _: bool, _: Side) -> [f64; 2] {
        [1.0, document.values[0]]
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 2], [f64; 2]) {
        let sign = if high { 1.0 } else { -1.0 };
        ordered([sign * document.values[0], -sign], high, side)
    }
}

/// Weight `|g_i - g_j| |d_i - d_j|`, where the higher label has the higher first value (the gain) and the higher rank the
/// higher second one (the discount).
#[derive(Debug, Clone, Copy)]
pub(super) struct GapAndDiscount;

impl Form<4> for GapAndDiscount {
    #[inline(always)]
    fn source(self, document: &Document, _: bool, _: Side) -> [f64; 4] {
        let [gain, discount] = document.values;
        [1.0, discount, gain, gain * discount]
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 4], [f64; 4]) {
        let [gain, discount] = document.values;
        // (d_j - d_i)(g_i - g_j) for a source above and a higher target; each other case turns one difference round.
        let sign = if high == (side == Side::Above) { 1.0 } else { -1.0 };
        ordered([-sign * gain * discount, sign * gain, sign * discount, -sign], high, side)
    }
}

/// Weight `|r_i - r_j| (e_i - e_j) / (1 - r_i)` for `i` above `j`, where the higher label has the higher first value (the
/// chance to stop) and the higher rank the higher second one: the swaps of ERR.
#[derive(Debug, Clone, Copy)]
pub(super) struct GapOverRest;

impl GapOverRest {
    /// What the document above multiplies the weight with.
    #[inline(always)]
    fn factor(document: &Document, is_above: bool) -> f64 {
        if is_above { 1.0 / (1.0 - document.values[0]) } else { 1.0 }
    }
}

impl Form<4> for GapOverRest {
    #[inline(always)]
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; 4] {
        let factor = Self::factor(document, side == Side::Above);
        GapAndDiscount.source(document, high, side).map(|value| value * factor)
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 4], [f64; 4]) {
        let factor = Self::factor(document, side == Side::Below);
        let (total, swap) = GapAndDiscount.target(document, high, side);
        (total.map(|value| value * factor), swap.map(|value| value * factor))
    }
}

/// Weight of average precision's swaps, and of bpref's: the difference of the first values where the relevant document is
/// above, and of the second values where it is below; the values fall with the rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct FallOrRise;

/// Which of the values a pair looks at.
#[inline(always)]
fn chosen(document: &Document, relevant_above: bool) -> f64 {
    document.values[usize::from(!relevant_above)]
}

impl Form<2> for FallOrRise {
    #[inline(always)]
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; 2] {
        [1.0, chosen(document, high == (side == Side::Above))]
    }

    #[inline(always)]
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; 2], [f64; 2]) {
        let value = chosen(document, high != (side == Side::Above));
        let sign = if side == Side::Above { 1.0 } else { -1.0 };
        ordered([-sign * value, sign], high, side)
    }
}

/// All pairs: the first value is the weight of having the document above the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own;

impl Form<2> for Own {
    const ALL: bool = true;

    #[inline(always)]
    fn source(self, document: &Document, _: bool, _: Side) -> [f64; 2] {
        [1.0, document.values[0]]
    }

    #[inline(always)]
    fn target(self, document: &Document, _: bool, side: Side) -> ([f64; 2], [f64; 2]) {
        let own = document.values[0];
        // The document below is the one that wants the swap.
        ([own, 1.0], if side == Side::Above { [own, 0.0] } else { [0.0, 1.0] })
    }
}
