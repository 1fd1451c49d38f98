//! Enumerates pairs in f32 lanes, for weights with a form.

use super::grid::{Grid, GridTask, Sums};
use super::ranked::Ranked;
use super::{PairForm, PairLoss};

impl PairLoss {
    /// Adds the sums of all pairs; returns the loss in nats if requested.
    pub(super) fn direct(
        &self,
        form: PairForm,
        ranked: &Ranked,
        grid: &mut Grid,
        task: GridTask<'_>,
        sums: &mut Sums,
    ) -> f64 {
        if form == PairForm::FallOrRise {
            return fall_or_rise(ranked, grid, task, sums);
        }
        let by_label = form.has_label_layout() && ranked.top == ranked.len();
        grid.clear();
        if by_label {
            lay_out_by_label(ranked, grid);
        } else {
            self.lay_out_by_rank(form, ranked, grid);
        }
        let loss = form.lanes(grid, task, by_label);
        grid.scatter(sums);
        loss
    }

    /// Lays out rows ranked above their columns: each of the top ranks against all documents below.
    fn lay_out_by_rank(&self, form: PairForm, ranked: &Ranked, grid: &mut Grid) {
        let n = ranked.len();
        match form {
            PairForm::Constant { .. } => grid.first.extend(ranked.classes(self.weight.classes())),
            _ => grid.first.extend(ranked.values.first.iter().map(|&value| value as f32)),
        }
        grid.second.extend(ranked.values.second.iter().map(|&value| value as f32));
        grid.second.resize(n, 0.0);
        if let Some(share) = form.share_of_nearness() {
            ranked.values.add_nearness(n, share, &mut grid.near);
        }
        if form == PairForm::Rest {
            grid.upper.extend(ranked.values.first.iter().map(|&first| (1.0 - first).recip() as f32));
        }
        grid.starts.extend(1..=ranked.top as u32);
        grid.append(ranked, 0..n as u32);
    }
}

/// Lays out rows preferred to their columns: documents by class, each against all documents of lower classes.
fn lay_out_by_label(ranked: &Ranked, grid: &mut Grid) {
    let (order, ends) = (&ranked.levels.order, &ranked.levels.ends);
    // The lowest class has no rows, only columns.
    for &end in &ends[..ends.len().saturating_sub(1)] {
        grid.starts.resize(end as usize, end);
    }
    for (from, to) in [(&ranked.values.first, &mut grid.first), (&ranked.values.second, &mut grid.second)] {
        if !from.is_empty() {
            to.extend(order.iter().map(|&place| from[place as usize] as f32));
        }
    }
    grid.append(ranked, order.iter().copied());
}

/// Relevant documents against all others: two grids in which a row's columns are all documents from some position on,
/// and the weight is a difference of one value of each document.
fn fall_or_rise(ranked: &Ranked, grid: &mut Grid, task: GridTask<'_>, sums: &mut Sums) -> f64 {
    let within = |places: &[u32]| places.partition_point(|&place| (place as usize) < ranked.top);
    let &[end, _] = ranked.levels.ends.as_slice() else { return 0.0 };
    let (hits, others) = ranked.levels.order.split_at(end as usize);
    let mut loss = 0.0;
    // Relevant documents of the top against other documents below them. The number of other documents above a relevant
    // document is its position minus its index among the relevant documents.
    let rows = within(hits);
    if rows > 0 {
        let places = hits[..rows].iter().chain(others).copied();
        let starts = hits[..rows].iter().zip(rows as u32..).map(|(&place, shift)| place + 2 * rows as u32 - shift);
        grid.clear();
        grid.starts.extend(starts);
        grid.first.extend(places.clone().map(|place| ranked.values.first[place as usize] as f32));
        grid.append(ranked, places);
        loss += PairForm::FallOrRise.lanes(grid, task, true);
        grid.scatter(sums);
    }
    // All relevant documents against other documents of the top that are above them, the lowest of those first.
    let (rows, columns) = (hits.len() as u32, within(others) as u32);
    if columns > 0 {
        let places = hits.iter().chain(others[..columns as usize].iter().rev()).copied();
        let above = hits.iter().zip(0..).map(|(&place, number)| (place - number).min(columns));
        grid.clear();
        grid.starts.extend(above.map(|above| rows + columns - above));
        grid.first.extend(places.clone().map(|place| -ranked.values.second[place as usize] as f32));
        grid.append(ranked, places);
        loss += PairForm::FallOrRise.lanes(grid, task, true);
        grid.scatter(sums);
    }
    loss
}
