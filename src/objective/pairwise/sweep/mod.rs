//! Sums over all pairs of a long list in near-linear time.
//!
//! # The method
//! Documents are in rank order, so `x = sigma s` decreases from one to the next. For a pair `x_a >= x_b` let
//! `u = exp(-(x_a - x_b))`, a number from 0 to 1. All contributions of a pair are one of two functions of `u`, the
//! sigmoid and the softplus of `-(x_a - x_b)`,
//!
//! ```text
//! u / (1 + u)        and        ln(1 + u) = integral from 0 to u of  dv / (1 + v),
//! ```
//!
//! possibly plus a constant or linear term, for pairs in the wrong order. `1 / (1 + u)` is analytic except for a pole
//! at -1, so its Chebyshev series on 0 to 1 converges like `(3 + sqrt 8)^-K = 5.83^-K`: the error with twelve terms is
//! 1e-9. Written in powers of `u`,
//!
//! ```text
//! u / (1 + u) = c_1 u + c_2 u² + ... + c_K u^K        ln(1 + u) = c_1 u + c_2 u²/2 + ... + c_K u^K / K
//! ```
//!
//! both are sums of `K` exponentials of the difference, `u^k = exp(-k x_a) exp(k x_b)`. A sum over all documents above
//! `b` consists of `K` numbers that a sweep carries down the list:
//!
//! ```text
//! M_k(b) = sum over a above b of  w_a u_ab^k        M_k(next) = (M_k(b) + w_b) exp(-k (x_b - x_next))
//! ```
//!
//! One sweep down and one up give every document its sums over the documents above and below, so that `1/D_i - 1/D_j`
//! has one sign in each. No pair is enumerated, any score range is supported (all factors are at most 1), equal scores
//! need no special treatment, and the coefficients are of order 1, so that nothing cancels.
//!
//! - Weights that mix `i` and `j` are sums of products: `(d_j - d_i)(G_i - G_j)` takes the four moments `1, d, G, d G`.
//! - Pairs of different labels: the set of labels is halved, documents of the upper half are swept against those of the
//!   lower half, and both halves are processed recursively: O(n log L) for any number L of different labels.
//! - Swaps of ERR are such a product times a value of the upper document, those of bpref are differences, and those of
//!   the fraction of ordered pairs are two differences per label ([`counts`]).
//! - `delta_ij` of NDCG-Loss2 depends on the distance of ranks. It is also a sum of exponentials, within 1e-6 up to a
//!   distance of four million ([`modes`](crate::numeric::modes)), and an exponential of the distance of ranks is one
//!   more factor of the sweep.
//!
//! # The error
//! The error of `1 / (1 + u)` is at most `1.71 * 5.83^-12 < 1.2e-9`, so the relative error of every pair's gradient and
//! loss, and of sums of gradients of one sign, is at most 2.4e-9. Rounding adds about `n 1e-16` in the worst case. For
//! NDCG-Loss2 the relative error of a pair's weight is at most 1e-6.

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
    /// Values that the weight is computed from.
    pub values: [f64; 2],
    /// `dC/dx` in nats, summed so far.
    gradient: f64,
    /// Rank, from 0.
    place: u32,
    /// Index of the class, highest class first.
    level: u32,
}

/// The side of the target on which a sweep's sources are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Side {
    Above,
    Below,
}

/// A form as sums of `R` products of one document's values with the other's.
///
/// For a pair of documents, `keep` is the weight of their current order and `swap` that of the reverse order. Forms
/// return `keep + swap` and `swap`, from the target's side.
pub(in super::super) trait Moments<const R: usize>: Copy + Send + Sync {
    /// Whether documents are targets of all others, instead of only those on the other side of the cut.
    const ALL: bool = false;

    /// Values of a document as a source; `high` is whether it is in the half of higher classes.
    fn source(self, document: &Document, high: bool, side: Side) -> [f64; R];

    /// Factors of a document as a target: for `keep + swap`, and for `swap`.
    fn target(self, document: &Document, high: bool, side: Side) -> ([f64; R], [f64; R]);
}
