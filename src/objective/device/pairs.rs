//! Sums the pairs of each document: one kernel per form.

use super::super::pair_form::PairForm;
use crate::device::cube::layout::{Place, query_of, start_of};
use burn_cubecl::cubecl::{self, prelude::*};

/// A pair form, as a compile-time parameter of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KernelForm {
    Constant,
    /// Like `Constant`, but with half of the weight in each direction for documents of the same class.
    ConstantOrTied,
    Gap,
    Discounts,
    Rest,
    Distance,
    Lower,
    FallOrRise,
    Own,
}

impl From<PairForm> for KernelForm {
    fn from(form: PairForm) -> Self {
        match form {
            PairForm::Constant { ties: false } => KernelForm::Constant,
            PairForm::Constant { ties: true } => KernelForm::ConstantOrTied,
            PairForm::Gap => KernelForm::Gap,
            PairForm::Discounts => KernelForm::Discounts,
            PairForm::Rest => KernelForm::Rest,
            PairForm::Distance { .. } => KernelForm::Distance,
            PairForm::Lower => KernelForm::Lower,
            PairForm::FallOrRise => KernelForm::FallOrRise,
            PairForm::Own => KernelForm::Own,
        }
    }
}

/// Number of terms that are summed separately before they are added to the total, which bounds rounding errors.
const BLOCK: u32 = 128;

/// Weight of a pair: `a` and `b` are the values of the documents, `upper` is the first value of the higher-ranked
/// document, `near` the nearness of the ranks with its factor, and `rises` whether the preferred document is ranked
/// lower.
#[cube]
fn weight(
    a: f32,
    a_other: f32,
    b: f32,
    b_other: f32,
    upper: f32,
    near: f32,
    rises: bool,
    #[comptime] form: KernelForm,
) -> f32 {
    match form {
        KernelForm::Constant | KernelForm::ConstantOrTied | KernelForm::Own => 1.0f32.runtime(),
        KernelForm::Gap => (a - a_other).abs(),
        KernelForm::Discounts => (a - a_other).abs() * (b - b_other).abs(),
        KernelForm::Rest => (a - a_other).abs() * (b - b_other).abs() / (1.0f32 - upper),
        KernelForm::Distance => (a - a_other).abs() * ((b - b_other).abs() + near),
        KernelForm::Lower => (a - a_other).abs() * near,
        KernelForm::FallOrRise => select(rises, (b - b_other).abs(), (a - a_other).abs()),
    }
}

/// `ln(1 + x)` for `x` in 0..1, without the rounding error of `1 + x`.
#[cube]
fn log1p(x: f32) -> f32 {
    select(x < 0.01f32, x * (1.0f32 - x * (0.5f32 - x / 3.0f32)), (1.0f32 + x).ln())
}

/// Unit `p` handles the document at position `p` of the batch, in rank order within its query.
///
/// `ranked` holds score, class, first and second value; `tables` the second value by rank if it is fixed, then the
/// nearness of ranks by distance. `sums` receives loss, pairs and saturated pairs.
#[cube(launch_unchecked)]
pub(super) fn pairs(
    layout: &[i32],
    ranked: &[f32],
    order: &[i32],
    batch_tops: &[i32],
    tables: &[f32],
    gradient: &mut [f32],
    sums: &mut [f32],
    place: Place,
    table_length: u32,
    sigma: f32,
    scale: f32,
    loss_scale: f32,
    #[comptime] form: KernelForm,
    #[comptime] by_table: bool,
) {
    let p = ABSOLUTE_POS as u32;
    let batch = place.documents;
    if p >= batch {
        terminate!();
    }
    let document = order[p as usize] as u32;
    let k = query_of(layout, &place, document);
    let start = start_of(layout, &place, k);
    let end = start_of(layout, &place, k + 1u32);
    let top = start + batch_tops[k as usize] as u32;
    let score = ranked[p as usize];
    let class = ranked[(batch + p) as usize];
    let a = ranked[(2u32 * batch + p) as usize];
    let b = if comptime!(by_table) { tables[(p - start) as usize] } else { ranked[(3u32 * batch + p) as usize] };
    // A document below the ranks that count is only paired with documents above it.
    let last = if p < top { end } else { top };
    let mut total = 0.0f32;
    let mut loss = 0.0f32;
    let mut count = 0u32;
    let mut saturated = 0u32;
    let mut from = start;
    while from < last {
        let to = min(from + BLOCK, last);
        let mut part = 0.0f32;
        let mut part_loss = 0.0f32;
        for q in from..to {
            let other = ranked[q as usize];
            let other_class = ranked[(batch + q) as usize];
            let a_other = ranked[(2u32 * batch + q) as usize];
            let b_other =
                if comptime!(by_table) { tables[(q - start) as usize] } else { ranked[(3u32 * batch + q) as usize] };
            let x = sigma * (score - other);
            let preferred = class > other_class;
            if comptime!(form == KernelForm::Own || form == KernelForm::ConstantOrTied) {
                // Both directions of a pair may have a weight.
                let small = (-x.abs()).exp();
                let sum = 1.0f32 / (1.0f32 + small);
                let keeps = select(x >= 0.0f32, small * sum, sum);
                let swaps = select(x >= 0.0f32, sum, small * sum);
                let tied = select(class == other_class, 0.5f32, 0.0f32);
                let up = if comptime!(form == KernelForm::Own) { a } else { select(preferred, 1.0f32, tied) };
                let down = if comptime!(form == KernelForm::Own) {
                    a_other
                } else {
                    select(class < other_class, 1.0f32, tied)
                };
                let other_document = q != p;
                let up = select(other_document, up, 0.0f32);
                let down = select(other_document, down, 0.0f32);
                part += down * swaps - up * keeps;
                part_loss += up * (log1p(small) + max(-x, 0.0f32));
                count += select(up != 0.0f32, 1u32, 0u32);
                saturated += select(up != 0.0f32 && keeps < 0.001f32, 1u32, 0u32);
            } else {
                // Branch-free: a pair of the same class has weight 0.
                let y = select(preferred, x, -x);
                let small = (-y.abs()).exp();
                let sum = 1.0f32 / (1.0f32 + small);
                let push = select(y >= 0.0f32, small * sum, sum);
                let distance = max(p, q) - min(p, q);
                let near = if comptime!(form == KernelForm::Distance) {
                    tables[(table_length + distance) as usize]
                } else if comptime!(form == KernelForm::Lower) {
                    select(p < q, b_other, b) * tables[(table_length + distance) as usize]
                } else {
                    0.0f32.runtime()
                };
                let upper = select(p < q, a, a_other);
                let rises = preferred != (p < q);
                let weight = weight(a, a_other, b, b_other, upper, near, rises, form);
                let up = select(preferred, weight, 0.0f32);
                let down = select(class < other_class, weight, 0.0f32);
                part += (down - up) * push;
                part_loss += up * (log1p(small) + max(-y, 0.0f32));
                count += select(preferred, 1u32, 0u32);
                saturated += select(preferred && push < 0.001f32, 1u32, 0u32);
            }
        }
        total += part;
        loss += part_loss;
        from = to;
    }
    gradient[document as usize] = total * scale;
    sums[p as usize] = loss * loss_scale;
    sums[(batch + p) as usize] = f32::cast_from(count);
    sums[(2u32 * batch + p) as usize] = f32::cast_from(saturated);
}
