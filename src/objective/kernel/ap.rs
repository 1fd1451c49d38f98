//! LambdaRank for average precision: relevant documents against all others, O(1) a weight.

use super::Kernel;
use super::direct::WantedByGap;
use super::grid::{Grid, Sweep};
use super::ranked::Ranked;
use super::weights::ApSwaps;

impl Kernel {
    /// Adds `dC/d(sigma s)` in nats to `sums`, in rank order; returns the loss in nats when asked.
    ///
    /// The weight is a difference of [`ApSwaps::fall`] where the relevant document is above, and of [`ApSwaps::rise`] where
    /// it is below: two grids, in each of which a row's columns are all documents from some place on.
    pub(super) fn direct_ap(
        &self,
        ranked: &Ranked,
        swaps: &ApSwaps,
        grid: &mut Grid,
        sums: &mut [f64],
        loss: bool,
    ) -> f64 {
        let sweep = Sweep { wide: ranked.wide, sigma: self.sigma, loss, stop: &self.stop };
        let top = self.top(ranked.len());
        let within = |places: &[u32]| places.partition_point(|&place| (place as usize) < top);
        let (hits, others) = (&swaps.hits, &swaps.others);
        // Relevant documents of the top, wanted above others that are below: so many others are above a relevant document as
        // its place is ahead of its number.
        let rows = within(hits);
        let places = hits[..rows].iter().chain(others).copied();
        grid.starts
            .extend(hits[..rows].iter().zip(rows as u32..).map(|(&place, shift)| place + 2 * rows as u32 - shift));
        grid.gain.extend(places.clone().map(|place| swaps.fall[place as usize] as f32));
        grid.take(ranked, places);
        let below = grid.run::<WantedByGap>(sweep);
        grid.scatter(sums);
        // All relevant documents, wanted above others of the top that are above; the lowest of those first.
        grid.clear();
        let (rows, columns) = (hits.len() as u32, within(others) as u32);
        let places = hits.iter().chain(others[..columns as usize].iter().rev()).copied();
        let above = hits.iter().zip(0..).map(|(&place, number)| (place - number).min(columns));
        grid.starts.extend(above.map(|above| rows + columns - above));
        grid.gain.extend(places.clone().map(|place| -swaps.rise[place as usize] as f32));
        grid.take(ranked, places);
        let above = grid.run::<WantedByGap>(sweep);
        grid.scatter(sums);
        below + above
    }
}
