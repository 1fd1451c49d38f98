//! Launches the kernels, batch by batch.

use super::super::Objective;
use super::super::loss::QueryResult;
use super::pairs::{KernelForm, pairs};
use super::plan::Plan;
use super::rank::{LONG, Ranks, count_up, merge, rank};
use super::scan::{Scan, walk};
use super::sums::{add_up, keep_scores};
use crate::device::cube::{self, Buffer, Cube, DeviceQueries, Layout};
use crate::error::{Error, Result};
use burn::tensor::Tensor;
use std::ops::Range;

/// An objective on a device, prepared for the queries of one data set.
#[derive(Debug)]
pub(crate) struct DeviceLambdas {
    cube: Cube,
    form: KernelForm,
    scan: Option<Scan>,
    sorts: bool,
    sigma: f32,
    unit: f64,
    table_length: u32,
    fixed: Buffer,
    tops: Buffer,
    tables: Buffer,
    queries: DeviceQueries,
}

/// The queries of an epoch in the order of its batches, and the results of its batches.
#[derive(Debug)]
pub(crate) struct DeviceEpoch {
    pub layout: Layout,
    scores: Buffer,
    sums: Buffer,
}

impl DeviceLambdas {
    /// Copies the label-dependent data of the objective to the device. Returns `None` if the objective has no kernels.
    ///
    /// # Errors
    /// Returns an error if a label is too high for the objective, or there are too many documents for the device.
    pub fn new(objective: &Objective, labels: &[f32], offsets: &[usize], cube: &Cube) -> Result<Option<Self>> {
        let Some(loss) = objective.loss().as_pairs() else { return Ok(None) };
        let Some(plan) = Plan::new(loss, labels, offsets)? else { return Ok(None) };
        // The largest buffers hold four numbers per document.
        let bytes = 16 * labels.len() as u64;
        if bytes > cube.largest_buffer().min(i32::MAX as u64 * 2) {
            return Err(Error::Device(format!(
                "{} documents exceed the device's maximum buffer size of {}: train on fewer documents, or with \
                 `device` flex",
                labels.len(),
                crate::memory::readable(cube.largest_buffer())
            )));
        }
        let Plan { form, scan, sorts, fixed, tops, tables, table_length, sigma, unit } = plan;
        Ok(Some(DeviceLambdas {
            form,
            scan,
            sorts,
            sigma: sigma as f32,
            unit,
            table_length: table_length as u32,
            fixed: cube.floats(fixed),
            tops: cube.ints(tops),
            tables: cube.floats(tables),
            queries: DeviceQueries::new(cube, offsets),
            cube: cube.clone(),
        }))
    }

    /// Creates the layout of an epoch that visits these queries in this order.
    pub fn epoch(&self, queries: &[usize]) -> DeviceEpoch {
        let layout = Layout::new(&self.cube, &self.queries, queries);
        let scores = self.cube.new_floats(self.queries.documents());
        DeviceEpoch { layout, scores, sums: self.cube.new_floats(SUMS * queries.len()) }
    }

    /// Gradient of the loss with respect to the scores of a range of an epoch's queries, averaged over them. Scores and
    /// gradient are in the order of the epoch.
    ///
    /// # Shapes
    /// - scores: `[documents]` of these queries
    /// - output: `[documents]`, a constant
    pub fn gradient(&self, epoch: &DeviceEpoch, queries: Range<usize>, scores: Tensor<1>) -> Tensor<1> {
        let (n, m) = (epoch.layout.n_documents(queries.clone()), queries.len());
        let scores = cube::buffer(scores);
        let gradient = self.cube.new_floats(n);
        if n == 0 {
            return cube::tensor(gradient).slice(0..0);
        }
        let place = || epoch.layout.place(queries.clone());
        let (ranked, sums) = (self.cube.new_floats(4 * n), self.cube.new_floats(3 * n));
        let (order, ranks) = self.order(epoch, queries.clone(), &scores);
        let tops = self.cube.new_ints(m);
        let lend = |buffer: &Buffer| buffer.clone().into_buffer_arg();
        let (client, layout) = (self.cube.client(), epoch.layout.buffer());
        let ((each, unit), (each_query, query_unit)) = (self.cube.units(n), self.cube.units(m));
        let scale = 1.0 / self.unit;
        let share = f64::from(self.sigma) * scale / m.max(1) as f64;
        // SAFETY: every kernel stops units beyond the batch; positions that are read come from the layout, which holds
        // documents and queries of this data set; and no two units write to the same position.
        unsafe {
            rank::launch_unchecked(
                client,
                each.clone(),
                unit,
                lend(&scores),
                lend(layout),
                lend(&self.fixed),
                lend(&self.tops),
                lend(&ranked),
                lend(&order),
                lend(&tops),
                place(),
                self.queries.documents() as u32,
                ranks,
            );
            if let Some(scan) = self.scan {
                walk::launch_unchecked(
                    client,
                    each_query.clone(),
                    query_unit,
                    lend(layout),
                    lend(&self.tables),
                    lend(&ranked),
                    lend(&tops),
                    place(),
                    scan,
                );
            }
            pairs::launch_unchecked(
                client,
                each.clone(),
                unit,
                lend(layout),
                lend(&ranked),
                lend(&order),
                lend(&tops),
                lend(&self.tables),
                lend(&gradient),
                lend(&sums),
                place(),
                self.table_length,
                self.sigma,
                share as f32,
                scale as f32,
                self.form,
                self.scan.is_none(),
            );
            add_up::launch_unchecked(
                client,
                each_query,
                query_unit,
                lend(layout),
                lend(&sums),
                lend(&epoch.sums),
                place(),
            );
            keep_scores::launch_unchecked(
                client,
                each,
                unit,
                lend(&scores),
                lend(layout),
                lend(&epoch.scores),
                place(),
            );
        }
        cube::tensor(gradient)
    }

    /// Allocates the order of a batch's documents and returns how its ranks are computed; long lists are sorted here.
    fn order(&self, epoch: &DeviceEpoch, queries: Range<usize>, scores: &Buffer) -> (Buffer, Ranks) {
        let (layout, n) = (&epoch.layout, epoch.layout.n_documents(queries.clone()));
        let mut order = self.cube.new_ints(n);
        let longest = layout.longest(queries.clone());
        if !self.sorts {
            return (order, Ranks::None);
        }
        if longest < LONG {
            return (order, Ranks::Counted);
        }
        let mut spare = self.cube.new_ints(n);
        let (client, (each, unit)) = (self.cube.client(), self.cube.units(n));
        let lend = |buffer: &Buffer| buffer.clone().into_buffer_arg();
        let place = || layout.place(queries.clone());
        // SAFETY: as in `gradient`; units write to the ranks of different documents.
        unsafe {
            count_up::launch_unchecked(client, each.clone(), unit, lend(&order), place());
            let mut width = 1;
            while width < longest {
                let (from, to) = (lend(&order), lend(&spare));
                let (scores, layout) = (lend(scores), lend(layout.buffer()));
                merge::launch_unchecked(client, each.clone(), unit, scores, layout, from, to, place(), width as u32);
                std::mem::swap(&mut order, &mut spare);
                width *= 2;
            }
        }
        (order, Ranks::Sorted)
    }

    /// Returns the scores of the documents that an epoch visited, in the order of the data, and the sums over its
    /// queries. Copies twice to the host.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn finish(&self, epoch: DeviceEpoch) -> Result<(Vec<f32>, QueryResult)> {
        let result = self.sums(&epoch)?;
        Ok((self.cube.fetch(epoch.scores)?, result))
    }

    /// Returns the sums over the queries of an epoch.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn sums(&self, epoch: &DeviceEpoch) -> Result<QueryResult> {
        let sums = self.cube.fetch(epoch.sums.clone())?;
        let count = |low: f32, high: f32| low as u64 + 1_000_000 * high as u64;
        // Queries without documents have no sums.
        let is_empty = |query: usize| epoch.layout.n_documents(query..query + 1) == 0;
        let nonempty = sums.chunks_exact(SUMS).enumerate().filter(|&(query, _)| !is_empty(query));
        Ok(nonempty
            .map(|(_, sum)| QueryResult {
                loss: f64::from(sum[0]) + f64::from(sum[1]),
                pairs: count(sum[2], sum[3]),
                saturated: count(sum[4], sum[5]),
            })
            .sum())
    }
}

/// Number of sums per query: two each for loss, pairs and saturated pairs.
const SUMS: usize = 6;
