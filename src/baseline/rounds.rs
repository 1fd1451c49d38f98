//! A baseline as a learner: its rounds are the epochs of a run.

use super::{Baseline, BaselineStart, Round};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::model::Scorer;
use crate::stop::Stop;
use crate::train::{EpochStart, EpochTotals, Learner, score_all};
use burn::tensor::Device;
use std::sync::Arc;

/// A baseline with its current, tried and best states.
pub(crate) struct Rounds<B> {
    metric: Arc<dyn Metric>,
    device: Device,
    current: Stage<B>,
    /// State after the epoch that was tried.
    next: Option<Stage<B>>,
    best: B,
}

struct Stage<B> {
    state: B,
    scorer: Scorer,
    converged: bool,
}

impl<B: Baseline> Rounds<B> {
    /// Creates the learner before the first round.
    pub fn start(start: &BaselineStart<'_>, state: B) -> Result<Box<dyn Learner>> {
        let (metric, device) = (start.metric.clone(), start.device.clone().without_autodiff());
        let scorer = state.scorer(start.train, &device)?;
        let best = state.clone();
        Ok(Box::new(Rounds { metric, device, current: Stage { state, scorer, converged: false }, next: None, best }))
    }

    fn scorer(&self) -> &Scorer {
        &self.next.as_ref().unwrap_or(&self.current).scorer
    }
}

impl<B: Baseline> Learner for Rounds<B> {
    fn try_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals> {
        self.next = None;
        let mut state = self.current.state.clone();
        let round = Round {
            train: epoch.data,
            metric: &*self.metric,
            number: epoch.number,
            seed: epoch.config.seed,
            stop: epoch.stop,
        };
        let end = state.round(&round)?;
        let scorer = state.scorer(epoch.data, &self.device)?;
        let scores = score_all(epoch.data, round.stop, scorer.cost(), |rows, width| scorer.score_rows(rows, width))?;
        self.next = Some(Stage { state, scorer, converged: end.converged });
        Ok(EpochTotals { loss: end.loss * epoch.data.n_queries() as f64, scores, ..EpochTotals::default() })
    }

    fn score_valid(&mut self, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        score_all(valid, stop, self.scorer().cost(), |rows, width| self.scorer().score_rows(rows, width))
    }

    fn is_finite(&self) -> bool {
        self.scorer().is_finite()
    }

    fn accept_epoch(&mut self, best: bool) -> Result<()> {
        if let Some(next) = self.next.take() {
            self.current = next;
        }
        if best {
            self.best = self.current.state.clone();
        }
        Ok(())
    }

    fn has_converged(&self) -> bool {
        self.current.converged
    }

    fn best(&self, train: &Dataset) -> Result<Scorer> {
        self.best.scorer(train, &self.device)
    }

    fn save(&self) -> Result<Vec<Vec<u8>>> {
        let json = |state: &B| serde_json::to_vec(state).map_err(|error| Error::Record(error.to_string()));
        let converged = vec![u8::from(self.current.converged)];
        Ok(vec![json(&self.current.state)?, json(&self.best)?, converged])
    }

    fn restore(&mut self, parts: Vec<Vec<u8>>, train: &Dataset) -> Result<()> {
        let damaged = |why: String| Error::Record(format!("damaged checkpoint: {why}"));
        let [state, best, converged] =
            <[Vec<u8>; 3]>::try_from(parts).map_err(|_| damaged("expected the state of a baseline".into()))?;
        let read = |json: &[u8]| serde_json::from_slice::<B>(json).map_err(|error| damaged(error.to_string()));
        let state = read(&state)?;
        self.best = read(&best)?;
        let scorer = state.scorer(train, &self.device)?;
        self.current = Stage { state, scorer, converged: converged == [1] };
        Ok(())
    }
}
