//! Features that stay on the device: copied once, gathered there for each batch.

use super::layout::{Layout, Place, row_of};
use super::{Buffer, Cube, buffer};
use crate::data::Dataset;
use burn::tensor::Tensor;
use burn_cubecl::cubecl::{self, prelude::*};
use std::ops::Range;

/// Rows of features on a device, in pieces that fit in its buffers.
#[derive(Debug)]
pub(crate) struct Rows {
    cube: Cube,
    width: usize,
    /// Maximum number of rows per piece.
    max_rows: usize,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    rows: Range<usize>,
    /// `[rows, width]`
    tensor: Tensor<2>,
}

impl Rows {
    /// Copies the features of all documents to the device, padded with rows of zeros to a multiple of `block`; pieces
    /// are whole blocks.
    pub fn new(cube: &Cube, data: &Dataset, block: usize) -> Self {
        let (width, block) = (data.n_features().max(1), block.max(1));
        let fitting = cube.rows_of_a_buffer(width);
        Self::in_pieces(cube, data, block, (fitting / block * block).max(fitting.min(block)))
    }

    /// Like [`Rows::new`], with a maximum number of rows per piece.
    fn in_pieces(cube: &Cube, data: &Dataset, block: usize, max_rows: usize) -> Self {
        let width = data.n_features();
        let mut pieces = Vec::new();
        let documents = if width == 0 { 0 } else { data.n_documents() };
        for start in (0..documents).step_by(max_rows) {
            let end = documents.min(start + max_rows);
            let rows = (end - start).next_multiple_of(block).min(max_rows);
            let mut values = vec![0.0; rows * width];
            data.copy_rows(start..end, &mut values[..(end - start) * width]);
            pieces.push(Piece { rows: start..start + rows, tensor: cube.tensor(values, |_| [rows, width]) });
        }
        Rows { cube: cube.clone(), width: width.max(1), max_rows, pieces }
    }

    /// Copies row-major features of a slice to the device.
    pub fn of(cube: &Cube, values: Vec<f32>, width: usize) -> Self {
        let max_rows = cube.rows_of_a_buffer(width);
        let mut pieces = Vec::new();
        let mut push = |values: Vec<f32>, start: usize| {
            let rows = values.len() / width;
            pieces.push(Piece { rows: start..start + rows, tensor: cube.tensor(values, |_| [rows, width]) });
        };
        if values.len() <= max_rows * width {
            push(values, 0);
        } else {
            values
                .chunks(max_rows * width)
                .enumerate()
                .for_each(|(number, chunk)| push(chunk.to_vec(), number * max_rows));
        }
        Rows { cube: cube.clone(), width, max_rows, pieces }
    }

    /// The features of some queries of an epoch, in its order; several tensors if one would be too large.
    ///
    /// Contiguous rows are not copied, if the device allows a tensor to start there.
    ///
    /// # Shapes
    /// - output: `[documents, width]`, in total the documents of these queries
    pub fn batch(&self, layout: &Layout, queries: Range<usize>) -> Vec<Tensor<2>> {
        if let Some(rows) = layout.rows_together(queries.clone()) {
            return self.slices(rows);
        }
        let mut parts = Vec::new();
        let mut first = queries.start;
        while first < queries.end {
            // Takes as many queries as fit in one tensor, or one longer query; the rows of one query are contiguous.
            let fits = |last: usize| layout.n_documents(first..last + 1) <= self.max_rows;
            let last = (first + 1..queries.end).find(|&last| !fits(last)).unwrap_or(queries.end);
            match layout.n_documents(first..last) {
                0 => {}
                documents if documents <= self.max_rows => parts.push(self.gather(layout, first..last)),
                _ => parts.extend(layout.rows_together(first..last).into_iter().flat_map(|rows| self.slices(rows))),
            }
            first = last;
        }
        parts
    }

    /// Blocks of `block` rows; the last block of a piece may be shorter.
    pub fn blocks(&self, block: usize) -> impl Iterator<Item = Tensor<2>> + '_ {
        self.pieces.iter().flat_map(move |piece| {
            let rows = piece.rows.len();
            (0..rows).step_by(block).map(move |from| piece.tensor.clone().slice(from..(from + block).min(rows)))
        })
    }

    /// A contiguous range of rows.
    pub fn slices(&self, rows: Range<usize>) -> Vec<Tensor<2>> {
        let within = |piece: &Piece| {
            let (from, to) = (rows.start.max(piece.rows.start), rows.end.min(piece.rows.end));
            (from < to).then(|| piece.tensor.clone().slice(from - piece.rows.start..to - piece.rows.start))
        };
        self.pieces.iter().filter_map(within).collect()
    }

    fn gather(&self, layout: &Layout, queries: Range<usize>) -> Tensor<2> {
        let documents = layout.n_documents(queries.clone());
        let to = self.cube.new_floats(documents * self.width);
        let (count, size) = self.cube.units(documents * self.width);
        let lend = |buffer: &Buffer| buffer.clone().into_buffer_arg();
        for piece in &self.pieces {
            // SAFETY: each unit writes one distinct number, and reads a row only if the piece contains it.
            unsafe {
                gather::launch_unchecked(
                    self.cube.client(),
                    count.clone(),
                    size,
                    lend(&buffer(piece.tensor.clone())),
                    lend(layout.buffer()),
                    lend(&to),
                    layout.place(queries.clone()),
                    piece.rows.start as u32,
                    piece.rows.len() as u32,
                    self.width as u32,
                );
            }
        }
        super::tensor(to).reshape([documents, self.width])
    }
}

/// Device unit `u` copies one feature of one document of a batch, if the piece contains its row.
#[cube(launch_unchecked)]
fn gather(piece: &[f32], layout: &[i32], to: &mut [f32], place: Place, first_row: u32, rows: u32, width: u32) {
    let unit = ABSOLUTE_POS as u32;
    let i = unit / width;
    if i >= place.documents {
        terminate!();
    }
    let row = row_of(layout, &place, i);
    if row >= first_row && row - first_row < rows {
        to[unit as usize] = piece[((row - first_row) * width + unit % width) as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::super::DeviceQueries;
    use super::*;
    use crate::device;

    /// The concatenated values of tensors.
    fn values(cube: &Cube, tensors: Vec<Tensor<2>>) -> Vec<f32> {
        tensors.into_iter().flat_map(|tensor| cube.fetch_tensor(tensor).unwrap()).collect()
    }

    #[test]
    fn batches_are_gathered_from_any_piece() {
        let offsets = [0, 3, 3, 4, 11, 13];
        let features: Vec<f32> = (0..13 * 5).map(|i| i as f32).collect();
        let data = Dataset::new(5, features.clone(), vec![0.0; 13], vec![("all".into(), 13)]).unwrap();
        for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
            let cube = Cube::of(&backend.open().unwrap()).unwrap();
            let queries = DeviceQueries::new(&cube, &offsets);
            let order = [4, 1, 0, 3, 2];
            let layout = Layout::new(&cube, &queries, &order);
            for max_rows in [1, 2, 7, 100] {
                let rows = Rows::in_pieces(&cube, &data, 1, max_rows);
                for batch in [0..5, 0..2, 2..4, 1..2, 3..4, 4..5] {
                    let expected: Vec<f32> = order[batch.clone()]
                        .iter()
                        .flat_map(|&query| features[5 * offsets[query]..5 * offsets[query + 1]].to_vec())
                        .collect();
                    let actual = values(&cube, rows.batch(&layout, batch.clone()));
                    assert_eq!(actual, expected, "{backend}, queries {batch:?} of pieces of {max_rows}");
                }
            }
            let rows = Rows::in_pieces(&cube, &data, 4, 8);
            let blocks: Vec<_> = rows.blocks(4).collect();
            assert!(blocks.iter().all(|block| block.dims() == [4, 5]), "{backend}");
            assert_eq!(values(&cube, blocks), [&features[..], &[0.0; 3 * 5]].concat(), "{backend}");
        }
    }
}
