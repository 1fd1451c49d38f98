//! Values that depend on the labels above and below: one unit walks down one ranked list.

use crate::device::cube::layout::{Place, start_of};
use burn_cubecl::cubecl::{self, prelude::*};

/// The sum that a scan computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Scan {
    /// First value times the table.
    Discounted,
    /// Average precision.
    Precision,
    /// Reciprocal rank of the first relevant document.
    FirstRelevant,
    /// The same, also when it falls.
    FirstTwoRelevant,
    /// Binary preference.
    Preference,
    /// Expected reciprocal rank.
    Cascade,
}

/// Unit `k` computes the values of the batch's `k`-th query and the number of its ranks that count.
#[cube(launch_unchecked)]
pub(super) fn walk(
    layout: &[i32],
    table: &[f32],
    ranked: &mut [f32],
    batch_tops: &mut [i32],
    place: Place,
    #[comptime] kind: Scan,
) {
    let k = ABSOLUTE_POS as u32;
    if k >= place.queries {
        terminate!();
    }
    let batch = place.documents;
    let start = start_of(layout, &place, k);
    let end = start_of(layout, &place, k + 1u32);
    let n = end - start;
    if n > 0u32 {
        let top = batch_tops[k as usize] as u32;
        let mut depth = top;
        match kind {
            Scan::Discounted => discounted(table, ranked, batch, start, n),
            Scan::Precision => precision(table, ranked, batch, start, n),
            Scan::FirstRelevant => depth = first_relevant(table, ranked, batch, start, n, false),
            Scan::FirstTwoRelevant => depth = first_relevant(table, ranked, batch, start, n, true),
            Scan::Preference => depth = preference(ranked, batch, start, n),
            Scan::Cascade => depth = cascade(table, ranked, batch, start, n),
        }
        batch_tops[k as usize] = min(top, depth) as i32;
    }
}

#[cube]
fn discounted(table: &[f32], ranked: &mut [f32], batch: u32, start: u32, n: u32) {
    for p in 0..n {
        let at = (2u32 * batch + start + p) as usize;
        ranked[at] *= table[p as usize];
    }
}

/// Number of relevant documents, those of class 1.
#[cube]
fn count_relevant(ranked: &mut [f32], batch: u32, start: u32, n: u32) -> u32 {
    let mut count = 0u32;
    for p in 0..n {
        if ranked[(batch + start + p) as usize] > 0.5f32 {
            count += 1u32;
        }
    }
    count
}

#[cube]
fn precision(table: &[f32], ranked: &mut [f32], batch: u32, start: u32, n: u32) {
    let relevant = count_relevant(ranked, batch, start, n);
    let inverse_total = 1.0f32 / f32::cast_from(max(relevant, 1u32));
    let mut count = 0.0f32;
    // Kahan summation: `rest` is the rounding error.
    let mut sum = 0.0f32;
    let mut rest = 0.0f32;
    for p in 0..n {
        let inverse = table[p as usize];
        if ranked[(batch + start + p) as usize] > 0.5f32 {
            count += 1.0f32;
            let term = inverse - rest;
            let next = sum + term;
            rest = (next - sum) - term;
            sum = next;
        }
        ranked[(2u32 * batch + start + p) as usize] = (count * inverse - sum) * inverse_total;
        ranked[(3u32 * batch + start + p) as usize] = ((count + 1.0f32) * inverse - sum) * inverse_total;
    }
}

#[cube]
fn first_relevant(table: &[f32], ranked: &mut [f32], batch: u32, start: u32, n: u32, #[comptime] falls: bool) -> u32 {
    let mut first = n;
    let mut second = n;
    for p in 0..n {
        if ranked[(batch + start + p) as usize] > 0.5f32 {
            if first == n {
                first = p;
            } else if second == n {
                second = p;
            }
        }
    }
    for p in 0..n {
        let fall = if p == first { first } else { min(max(p, first), second) };
        let value = if comptime!(falls) { table[fall as usize] } else { 0.0f32.runtime() };
        ranked[(2u32 * batch + start + p) as usize] = value;
        ranked[(3u32 * batch + start + p) as usize] = table[min(p, first) as usize];
    }
    if comptime!(falls) { min(first + 1u32, n) } else { first }
}

#[cube]
fn preference(ranked: &mut [f32], batch: u32, start: u32, n: u32) -> u32 {
    let total = count_relevant(ranked, batch, start, n);
    let bound = f32::cast_from(total) * f32::cast_from(min(total, n - total));
    let scale = if bound > 0.0f32 { 1.0f32 / bound } else { 0.0f32.runtime() };
    let mut others = 0u32;
    let mut can_lose = 0u32;
    let mut can_gain = 0u32;
    let mut top = 0u32;
    for p in 0..n {
        let rise = min(others, total) + can_gain;
        if others < total {
            top += 1u32;
        }
        if ranked[(batch + start + p) as usize] > 0.5f32 {
            if others < total {
                can_lose += 1u32;
            }
            if others <= total {
                can_gain += 1u32;
            }
        } else {
            others += 1u32;
        }
        let fall = min(others, total) + can_lose;
        ranked[(2u32 * batch + start + p) as usize] = -f32::cast_from(fall) * scale;
        ranked[(3u32 * batch + start + p) as usize] = -f32::cast_from(rise) * scale;
    }
    top
}

/// Expected reciprocal rank: the first value is the probability of stopping; the second becomes the value of the list
/// below.
#[cube]
fn cascade(table: &[f32], ranked: &mut [f32], batch: u32, start: u32, n: u32) -> u32 {
    let mut reach = 1.0f32;
    // The logarithm of `reach` does not underflow.
    let mut depth = 0.0f32;
    let mut top = 0u32;
    for p in 0..n {
        ranked[(3u32 * batch + start + p) as usize] = reach;
        let continues = 1.0f32 - ranked[(2u32 * batch + start + p) as usize];
        reach *= continues;
        depth += continues.ln();
        let step = table[p as usize] - table[(p + 1u32) as usize];
        if step > 0.0f32 && depth + step.ln() > -667.7f32 {
            top = p + 1u32;
        }
    }
    let mut next = reach;
    let mut rest = 0.0f32;
    let mut below = 0.0f32;
    for back in 0..n {
        let p = n - 1u32 - back;
        let at = (3u32 * batch + start + p) as usize;
        let inverse = table[p as usize];
        rest += next * (inverse - below);
        next = ranked[at];
        below = inverse;
        ranked[at] = rest;
    }
    top
}
