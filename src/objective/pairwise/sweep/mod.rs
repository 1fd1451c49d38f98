//! Sums over all pairs of a long list in near-linear time.
//!
//! # The method
//! Documents are in rank order, so `x = sigma s` falls from one to the next. For a pair `x_a >= x_b` let
//! `u = exp(-(x_a - x_b))`, a number from 0 to 1. Everything that a pair contributes is one of two functions of `u`, the
//! sigmoid and the softplus of `-(x_a - x_b)`,
//!
//! ```text
//! u / (1 + u)        and        ln(1 + u) = integral from 0 to u of  dv / (1 + v),
//! ```
//!
//! or the same plus a constant or linear term for pairs that are in the wrong order. `1 / (1 + u)` is analytic but for a
//! pole at -1, so its Chebyshev series on 0 to 1 converges like `(3 + sqrt 8)^-K = 5.83^-K`: twelve terms leave
//! an error of 1e-9. Written in powers of `u`,
//!
//! ```text
//! u / (1 + u) = c_1 u + c_2 u² + ... + c_K u^K        ln(1 + u) = c_1 u + c_2 u²/2 + ... + c_K u^K / K
//! ```
//!
//! both are sums of `K` exponentials of the difference, `u^k = exp(-k x_a) exp(k x_b)`, and a sum over all documents
//! above `b` is `K` numbers that a sweep carries down the list:
//!
//! ```text
//! M_k(b) = sum over a above b of  w_a u_ab^k        M_k(next) = (M_k(b) + w_b) exp(-k (x_b - x_next))
//! ```
//!
//! One sweep down and one up give every document its sums over those above and those below: the sides on which
//! `1/D_i - 1/D_j` has one sign. No pair is looked at, no score range is too wide (all factors are at most 1), documents
//! with equal scores need no care, and the coefficients are of the order of 1, so that nothing cancels.
//!
//! - Weights that mix `i` and `j` are sums of products: `(d_j - d_i)(G_i - G_j)` takes the four moments `1, d, G, d G`.
//! - Pairs of different labels: the labels are halved, those of the upper half are swept against those of the lower, and
//!   both halves are treated likewise: O(n log L) for L different labels, any number of them.
//! - The swaps of ERR are such a product times a value of the upper document, those of bpref are differences, and those of
//!   the share of rightly ordered pairs are two differences for every label ([`counts`]).
//! - `delta_ij` of NDCG-Loss2 depends on the distance of ranks. It is a sum of exponentials too, within 1e-6 up to a
//!   distance of four million ([`modes`](crate::numeric::modes)), and an exponential of the distance of ranks is one more factor of the sweep.
//!
//! # The error
//! `1 / (1 + u)` is off by at most `1.71 * 5.83^-12 < 1.2e-9` everywhere, so every pair's pull and loss is right to
//! 2.4e-9 of itself, and so are sums of pulls of one sign. Rounding adds about `n 1e-16` in the worst case. With NDCG-Loss2
//! the weight of a pair is right to 1e-6 of itself.

mod counts;
mod node;
mod scan;

pub(in super::super) use node::Node;
pub(super) use node::SweepMemory;

/// A document of a long list.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct Document {
    /// `sigma s`.
    pub x: f64,
    /// What the weight is made of.
    pub values: [f64; 2],
    /// `dC/dx` in nats, so far.
    slope: f64,
    /// The rank, from 0.
    place: u32,
    /// The index of the class, the highest first.
    level: u32,
}

/// The direction of a sweep: where the sources are that a target sums over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Side {
    Above,
    Below,
}

/// A form as sums of `R` products of one document's values with the other's.
///
/// For a pair of a document above and one below, `keep` is the weight of leaving them so and `swap` the weight of having
/// them the other way round. The forms give `keep + swap` and `swap`, seen from the target.
pub(in super::super) trait Moments<const R: usize>: Copy + Send + Sync {
    /// Whether documents are targets of all others, or only of those on the other side of the cut.
    const ALL: bool = false;

    /// What a document is to its targets; `high` says that it is in the half of higher classes.
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; R];

    /// What a document multiplies its sources with: for `keep + swap`, and for `swap`.
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; R], [f64; R]);
}
