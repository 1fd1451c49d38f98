//! What epochs without a graph have in common, in one process or several.

use super::Net;
use super::team::Team;
use super::workspace::Workspace;
use crate::data::{Dataset, Targets};
use crate::error::Result;
use crate::objective::{Batch, Gradients, Objective, Outputs, QueryResult};
use crate::stop::Stop;
use crate::train::average::Average;
use crate::train::descent::Descent;
use crate::train::learner::{EpochStart, EpochTotals, query_seed};
use burn::tensor::Device;

/// An epoch without a graph: weights and the state of the optimizer are taken from Burn's at its start and returned at its end.
pub(super) struct FusedEpoch<'e> {
    device: &'e Device,
    pub workspace: &'e mut Workspace,
    pub work: EpochWork<'e>,
    descent: Descent,
    /// Packed as the workspace's weights.
    average: Option<Average>,
    pub team: Team,
    pub totals: EpochTotals,
}

impl<'e> FusedEpoch<'e> {
    /// Starts from `net`. `first` is the number of the data's first query among those of all processes; the memory of the
    /// previous epoch's workspace is reused.
    ///
    /// # Errors
    /// If the weights cannot be read.
    pub fn begin(
        epoch: &'e EpochStart<'_>,
        (net, device): (&Net, &'e Device),
        workspace: &'e mut Option<Workspace>,
        first: usize,
    ) -> Result<Self> {
        let workspace = Workspace::reuse(workspace, &net.ranker)?;
        Ok(FusedEpoch {
            device,
            average: net.average.clone().map(|average| average.packed(workspace.shape())),
            descent: Descent::of(epoch.config, workspace.shape(), &net.ranker, &net.optimizer),
            work: EpochWork::new(epoch, first),
            team: Team::new(),
            totals: EpochTotals::of_documents(epoch.data.n_documents()),
            workspace,
        })
    }

    /// Computes the gradient of some of the queries of a batch of `whole` queries.
    ///
    /// # Errors
    /// The errors of [`Workspace::gradient`].
    pub fn gradient(&mut self, queries: &[usize], whole: usize) -> Result<QueryResult> {
        self.workspace.gradient(&self.team, &self.work, queries, whole, &mut self.totals)
    }

    /// Updates the weights by the gradient of the batch.
    pub fn update(&mut self, learning_rate: f64) {
        self.workspace.update(&self.team, &mut self.descent, learning_rate);
        if let Some(average) = &mut self.average {
            average.add(&self.workspace.weights);
        }
    }

    /// Returns weights and optimizer state to `net`.
    ///
    /// # Errors
    /// The errors of [`Workspace::ranker`].
    pub fn finish(self, mut net: Net) -> Result<(Net, EpochTotals)> {
        net.ranker = self.workspace.ranker(self.device)?;
        let shape = self.workspace.shape();
        net.average = self.average.map(|average| average.unpacked(shape));
        self.descent.store(self.workspace.shape(), &net.ranker, &mut net.optimizer);
        Ok((net, self.totals))
    }
}

/// What the batches of an epoch have in common.
pub(super) struct EpochWork<'e> {
    objective: &'e Objective,
    pub data: &'e Dataset,
    targets: Option<&'e Targets>,
    pub stop: &'e Stop,
    draws: u64,
    /// The number of the first query of the data among those of all processes.
    first: usize,
}

impl<'e> EpochWork<'e> {
    pub fn new(epoch: &EpochStart<'e>, first: usize) -> Self {
        EpochWork {
            objective: &epoch.config.objective,
            data: epoch.data,
            targets: epoch.targets,
            stop: epoch.stop,
            draws: epoch.draws(),
            first,
        }
    }

    /// The lambdas of one query, and its sums.
    pub fn lambdas(&self, query: usize, scores: &[f32], lambdas: &mut [f32]) -> Result<QueryResult> {
        let labels = &self.data.labels()[self.data.offsets()[query]..self.data.offsets()[query + 1]];
        let batch = Batch { labels, offsets: &[0, scores.len()] };
        if let Some(targets) = self.targets {
            lambdas.fill(0.0);
            let pairs = std::iter::once(targets.query(query));
            return self.objective.target_sum(scores, batch, pairs, lambdas, self.stop);
        }
        let seed = query_seed(self.draws, self.first + query);
        let outputs = Outputs { loss: true, pairs: true };
        self.objective.gradients(scores, batch, Gradients::gradient(lambdas), outputs, &[seed], self.stop)
    }
}
