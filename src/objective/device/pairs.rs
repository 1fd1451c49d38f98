//! Each document sums its pairs: one kernel per form.

use super::super::pair_form::PairForm;
use crate::device::cube::layout::{Place, query_of, start_of};
use burn_cubecl::cubecl::{self, prelude::*};

/// A form as a kernel is compiled for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KernelForm {
    Constant,
    /// The same, and half of the weight each way for documents of one class.
    ConstantOrTied,
    Gap,
    Discounts,
    Rest,
    Distance,
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
            PairForm::FallOrRise => KernelForm::FallOrRise,
            PairForm::Own => KernelForm::Own,
        }
    }
}

/// So many terms are added up before the sum is added to that of all: rounding errors grow with neither.
const BLOCK: u32 = 128;

/// The weight of a pair from the side of either document: `a` and `b` are their values, `upper` is the first value of the
/// upper one, and `rises` whether the wanted one is below.
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
        KernelForm::FallOrRise => select(rises, (b - b_other).abs(), (a - a_other).abs()),
    }
}

/// `ln(1 + x)` of a number from 0 to 1, without the rounding error of the sum.
#[cube]
fn log1p(x: f32) -> f32 {
    select(x < 0.01f32, x * (1.0f32 - x * (0.5f32 - x / 3.0f32)), (1.0f32 + x).ln())
}

/// Unit `p` is the document at place `p` of the batch, in rank order within its query.
///
/// `ranked` holds score, class, first and second value; `tables` what the second value is by rank, then the nearness of
/// ranks by distance. `found` gets loss, pairs and saturated pairs.
#[cube(launch_unchecked)]
pub(super) fn pairs(
    layout: &[i32],
    ranked: &[f32],
    order: &[i32],
    batch_tops: &[i32],
    tables: &[f32],
    gradient: &mut [f32],
    found: &mut [f32],
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
    // A document behind the ranks that count has pairs with those before it alone.
    let last = if p < top { end } else { top };
    let mut slope = 0.0f32;
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
            let wanted = class > other_class;
            if comptime!(form == KernelForm::Own || form == KernelForm::ConstantOrTied) {
                // Both orders of a pair may have a weight.
                let small = (-x.abs()).exp();
                let sum = 1.0f32 / (1.0f32 + small);
                let keeps = select(x >= 0.0f32, small * sum, sum);
                let swaps = select(x >= 0.0f32, sum, small * sum);
                let tied = select(class == other_class, 0.5f32, 0.0f32);
                let up = if comptime!(form == KernelForm::Own) { a } else { select(wanted, 1.0f32, tied) };
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
                // Without a branch: a pair of one class weighs nothing.
                let y = select(wanted, x, -x);
                let small = (-y.abs()).exp();
                let sum = 1.0f32 / (1.0f32 + small);
                let pull = select(y >= 0.0f32, small * sum, sum);
                let distance = max(p, q) - min(p, q);
                let near = if comptime!(form == KernelForm::Distance) {
                    tables[(table_length + distance) as usize]
                } else {
                    0.0f32.runtime()
                };
                let upper = select(p < q, a, a_other);
                let rises = wanted != (p < q);
                let weight = weight(a, a_other, b, b_other, upper, near, rises, form);
                let up = select(wanted, weight, 0.0f32);
                let down = select(class < other_class, weight, 0.0f32);
                part += (down - up) * pull;
                part_loss += up * (log1p(small) + max(-y, 0.0f32));
                count += select(wanted, 1u32, 0u32);
                saturated += select(wanted && pull < 0.001f32, 1u32, 0u32);
            }
        }
        slope += part;
        loss += part_loss;
        from = to;
    }
    gradient[document as usize] = slope * scale;
    found[p as usize] = loss * loss_scale;
    found[(batch + p) as usize] = f32::cast_from(count);
    found[(2u32 * batch + p) as usize] = f32::cast_from(saturated);
}
