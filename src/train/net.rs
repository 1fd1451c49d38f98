//! Training of nets by gradient descent on batches of queries.

use super::average::Average;
use super::engine::{self, Engine, Net};
use super::epoch;
use super::learner::{EpochStart, EpochTotals, Learner};
use crate::data::{Dataset, Scaler};
use crate::device::{self, Transfers};
use crate::error::{Error, Result};
use crate::model::{Ranker, RankerConfig, Scorer, ranker_from_bytes, ranker_to_bytes};
use crate::setting::{GradientPath, TrainConfig};
use crate::stop::Stop;
use burn::module::Module;
use burn::tensor::{Bytes, Device};

/// A net and its optimiser.
pub(super) struct NetLearner {
    shape: RankerConfig,
    path: GradientPath,
    /// An autodiff device.
    device: Device,
    now: Net,
    /// The net after the tried epoch.
    next: Option<Net>,
    /// The net with the averaged weights of the tried epoch, or else of the last accepted one, if weights are averaged.
    evaluated: Option<Ranker>,
    /// The ranker of the best epoch, without autodiff.
    best: Ranker,
    /// Computes epochs; `None` before the first one.
    engine: Option<Box<dyn Engine>>,
}

impl NetLearner {
    pub fn new(config: &TrainConfig, scaler: &Scaler, device: &Device) -> Result<Self> {
        let path = match config.gradient {
            GradientPath::Auto
                if device::on_host(device)
                    || config.objective.has_kernels()
                    || !config.objective.has_device_weights() =>
            {
                GradientPath::Lambda
            }
            GradientPath::Auto => GradientPath::Tensor,
            chosen => chosen,
        };
        if path == GradientPath::Tensor {
            config.objective.tensors()?;
        }
        if config.shares > 0 && (path == GradientPath::Tensor || !device::on_host(device)) {
            let message =
                "`shares` needs a CPU device: leave out `device`, or train on a GPU in one process without `shares`";
            return Err(Error::Config(message.into()));
        }
        let device = device.clone().autodiff();
        let shape = config.shape(scaler);
        let ranker = shape.init(config.init, config.seed, &device)?;
        let best = ranker.valid();
        let average = Average::new(config, &ranker)?;
        let now = Net { ranker, optimizer: config.optimizer.build(config, &device), average };
        Ok(NetLearner { shape, path, device, now, next: None, evaluated: None, best, engine: None })
    }

    /// The net that an epoch starts from: that of the last accepted epoch, or new weights.
    fn begin(&self, epoch: &EpochStart<'_>) -> Result<Net> {
        let Some(restart) = epoch.restart else {
            return Ok(self.now.clone());
        };
        let seed = epoch.config.seed.wrapping_add((restart as u64) << 40);
        let ranker = self.shape.init(epoch.config.init, seed, &self.device)?;
        let average = Average::new(epoch.config, &ranker)?;
        Ok(Net { ranker, optimizer: epoch.config.optimizer.build(epoch.config, &self.device), average })
    }

    /// The net that is evaluated and saved: with averaged weights, if they are averaged.
    fn tried(&self) -> &Ranker {
        self.evaluated.as_ref().unwrap_or_else(|| &self.next.as_ref().unwrap_or(&self.now).ranker)
    }

    fn run_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals> {
        let net = self.begin(epoch)?;
        let engine = match &mut self.engine {
            Some(engine) => engine,
            none => none.insert(engine::choose(epoch, self.path, &self.device)?),
        };
        let (net, totals) = epoch::run(&mut **engine, epoch, net)?;
        self.evaluated = net.average.as_ref().map(|average| average.ranker(&self.shape, &self.device)).transpose()?;
        self.next = Some(net);
        Ok(totals)
    }
}

impl Learner for NetLearner {
    fn try_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals> {
        // An epoch that fails leaves the state of the last accepted one.
        (self.next, self.evaluated) = (None, None);
        device::guarded(&self.device.clone(), || self.run_epoch(epoch))
    }

    fn score_valid(&mut self, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        let ranker = self.evaluated.as_ref().unwrap_or_else(|| &self.next.as_ref().unwrap_or(&self.now).ranker);
        let Some(engine) = &mut self.engine else { return Err(Error::Training("no epoch has been run yet".into())) };
        device::guarded(&self.device, || engine.score_valid(ranker, valid, stop))
    }

    fn is_finite(&self) -> bool {
        self.engine.as_ref().is_none_or(|engine| engine.is_finite(self.tried()))
    }

    fn ranker(&self) -> Option<Ranker> {
        Some(self.now.ranker.valid())
    }

    fn start_from(&mut self, ranker: &Ranker) -> Result<()> {
        self.now.ranker = ranker_from_bytes(&self.shape, ranker_to_bytes(ranker)?, &self.device)?;
        self.best = self.now.ranker.valid();
        Ok(())
    }

    fn transfers(&self) -> Option<Transfers> {
        self.engine.as_ref().and_then(|engine| engine.transfers())
    }

    fn accept_epoch(&mut self, best: bool) -> Result<()> {
        if let Some(next) = self.next.take() {
            self.now = next;
        }
        if best {
            self.best = self.tried().valid();
        }
        Ok(())
    }

    fn best(&self, _: &Dataset) -> Result<Scorer> {
        Ok(Scorer::Net(self.best.clone()))
    }

    fn save(&self) -> Result<Vec<Vec<u8>>> {
        let optimizer = self.now.optimizer.into_bytes().map_err(|error| Error::Record(error.to_string()))?;
        let parts = vec![ranker_to_bytes(&self.now.ranker)?, ranker_to_bytes(&self.best)?, optimizer.to_vec()];
        Ok(parts.into_iter().chain(self.now.average.as_ref().map(Average::to_bytes)).collect())
    }

    fn restore(&mut self, mut parts: Vec<Vec<u8>>, _: &Dataset) -> Result<()> {
        let damaged = |why: String| Error::Record(format!("damaged checkpoint: {why}"));
        let average = match &self.now.average {
            Some(average) => {
                let bytes = parts.pop().unwrap_or_default();
                Some(average.restored(&bytes).ok_or_else(|| damaged("it does not contain averaged weights".into()))?)
            }
            None => None,
        };
        let [ranker, best, optimizer] =
            <[Vec<u8>; 3]>::try_from(parts).map_err(|_| damaged("it does not contain a net".into()))?;
        self.best = ranker_from_bytes(&self.shape, best, &self.device.clone().without_autodiff())?;
        let ranker = ranker_from_bytes(&self.shape, ranker, &self.device)?;
        let (bytes, fresh) = (Bytes::from_bytes_vec(optimizer), self.now.optimizer.clone());
        // Burn loads the state on its own default device, which may be a GPU without a driver.
        let optimizer = device::without_panic(|| fresh.from_bytes(bytes)).ok_or_else(|| {
            let message = "Burn's default device does not work: resume with a build without GPU backends";
            Error::Record(message.into())
        })?;
        let optimizer = optimizer.map_err(|error| damaged(error.to_string()))?;
        self.evaluated = average.as_ref().map(|average| average.ranker(&self.shape, &self.device)).transpose()?;
        self.now = Net { ranker, optimizer, average };
        Ok(())
    }
}
