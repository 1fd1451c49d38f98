//! Nets, by gradient descent on batches of queries.

use super::distributed;
use super::epoch::{self, RunContext};
use super::learner::{EpochStart, EpochTotals, Learner, score_all};
#[cfg(feature = "cubecl")]
use super::on_device::OnDevice;
use super::order::Order;
use crate::data::Dataset;
use crate::device;
#[cfg(feature = "cubecl")]
use crate::device::{Transfers, cube::Cube};
use crate::error::{Error, Result};
use crate::model::{Ranker, RankerConfig, Scorer, is_finite, ranker_from_bytes, ranker_to_bytes, score_rows};
use crate::setting::{GradientPath, TrainConfig};
use crate::stop::Stop;
use burn::module::Module;
use burn::optim::ModuleOptimizer;
use burn::tensor::{Bytes, Device};

/// A net and its optimiser.
pub(super) struct NetLearner {
    shape: RankerConfig,
    path: GradientPath,
    /// With autodiff.
    device: Device,
    now: NetState,
    /// After the epoch that was tried.
    next: Option<NetState>,
    /// That of the best epoch, without autodiff.
    best: Ranker,
    /// The data of a run whose epochs stay on the device, from the first epoch on.
    #[cfg(feature = "cubecl")]
    on_device: Option<OnDevice>,
}

struct NetState {
    ranker: Ranker,
    optimizer: ModuleOptimizer,
}

impl NetLearner {
    pub fn new(config: &TrainConfig, features: usize, device: &Device) -> Result<Self> {
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
            let message = "shares are computed on the host: leave out --device, or train on a GPU in one process";
            return Err(Error::Config(message.into()));
        }
        let device = device.clone().autodiff();
        let shape = RankerConfig { features, architecture: config.architecture.clone() };
        let ranker = shape.init(config.init, config.seed, &device)?;
        let best = ranker.valid();
        let now = NetState { ranker, optimizer: config.optimizer.build(config, &device) };
        Ok(NetLearner {
            shape,
            path,
            device,
            now,
            next: None,
            best,
            #[cfg(feature = "cubecl")]
            on_device: None,
        })
    }

    /// What an epoch starts from: where the last one ended, or new weights.
    fn begin(&self, epoch: &EpochStart<'_>) -> Result<NetState> {
        let Some(restart) = epoch.restart else {
            return Ok(NetState { ranker: self.now.ranker.clone(), optimizer: self.now.optimizer.clone() });
        };
        let seed = epoch.config.seed.wrapping_add((restart as u64) << 40);
        let ranker = self.shape.init(epoch.config.init, seed, &self.device)?;
        Ok(NetState { ranker, optimizer: epoch.config.optimizer.build(epoch.config, &self.device) })
    }

    fn ranker(&self) -> &Ranker {
        &self.next.as_ref().unwrap_or(&self.now).ranker
    }

    fn run_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals> {
        let NetState { ranker, mut optimizer } = self.begin(epoch)?;
        let (seed, number) = (epoch.config.seed, epoch.number as u64);
        #[cfg(feature = "cubecl")]
        if let Some(data) = self.data_on_device(epoch)? {
            let order = Order::draw(epoch.data, seed, number);
            let (ranker, totals) = data.epoch(epoch, ranker, &mut optimizer, &order)?;
            self.next = Some(NetState { ranker, optimizer });
            return Ok(totals);
        }
        let context = RunContext {
            config: epoch.config,
            data: epoch.data,
            targets: epoch.targets,
            stop: epoch.stop,
            path: self.path,
            device: &self.device,
            host: device::on_host(&self.device),
            first: epoch.partition.map_or(0, |partition| partition.own(0).start),
        };
        let draws = seed ^ number << 32;
        let (ranker, totals) = match epoch.partition {
            Some(partition) => {
                distributed::run(&context, partition, ranker, &mut optimizer, number, epoch.step_sizes, draws)?
            }
            None => {
                let order = Order::draw(epoch.data, seed, number);
                epoch::run(&context, ranker, &mut optimizer, &order, epoch.step_sizes, draws)?
            }
        };
        self.next = Some(NetState { ranker, optimizer });
        Ok(totals)
    }

    /// The training queries on the device, where epochs can stay there.
    #[cfg(feature = "cubecl")]
    fn data_on_device(&mut self, epoch: &EpochStart<'_>) -> Result<Option<&OnDevice>> {
        let stays =
            self.path == GradientPath::Lambda && epoch.targets.is_none() && epoch.config.objective.has_kernels();
        if stays
            && self.on_device.is_none()
            && let Some(cube) = Cube::of(&self.device)
        {
            self.on_device = OnDevice::new(epoch.config, epoch.data, cube)?;
        }
        Ok(self.on_device.as_ref().filter(|_| stays))
    }
}

impl Learner for NetLearner {
    fn try_epoch(&mut self, epoch: &EpochStart<'_>) -> Result<EpochTotals> {
        self.next = None;
        device::guarded(&self.device.clone(), || self.run_epoch(epoch))
    }

    fn score_valid(&mut self, valid: &Dataset, stop: &Stop) -> Result<Vec<f32>> {
        #[cfg(feature = "cubecl")]
        if let Some(data) = &mut self.on_device {
            let ranker = &self.next.as_ref().unwrap_or(&self.now).ranker;
            return device::guarded(&self.device, || data.score_valid(ranker, valid, stop));
        }
        device::guarded(&self.device, || {
            let cost = self.ranker().num_params();
            score_all(valid, stop, cost, |rows, width| score_rows(self.ranker(), rows, width, &self.device))
        })
    }

    fn is_finite(&self) -> bool {
        #[cfg(feature = "cubecl")]
        if let Some(data) = &self.on_device {
            // A device that fails here fails in the next epoch too, which says so.
            return data.weights_are_finite(self.ranker()).unwrap_or(true);
        }
        is_finite(self.ranker())
    }

    #[cfg(feature = "cubecl")]
    fn transfers(&self) -> Option<Transfers> {
        self.on_device.as_ref().map(OnDevice::transfers)
    }

    fn take_epoch(&mut self, best: bool) -> Result<()> {
        if let Some(next) = self.next.take() {
            self.now = next;
        }
        if best {
            self.best = self.now.ranker.valid();
        }
        Ok(())
    }

    fn best(&self, _: &Dataset) -> Result<Scorer> {
        Ok(Scorer::Net(self.best.clone()))
    }

    fn save(&self) -> Result<Vec<Vec<u8>>> {
        let optimizer = self.now.optimizer.into_bytes().map_err(|error| Error::Record(error.to_string()))?;
        Ok(vec![ranker_to_bytes(&self.now.ranker)?, ranker_to_bytes(&self.best)?, optimizer.to_vec()])
    }

    fn restore(&mut self, parts: Vec<Vec<u8>>, _: &Dataset) -> Result<()> {
        let damaged = |why: String| Error::Record(format!("damaged checkpoint: {why}"));
        let [ranker, best, optimizer] =
            <[Vec<u8>; 3]>::try_from(parts).map_err(|_| damaged("it is not that of a net".into()))?;
        self.best = ranker_from_bytes(&self.shape, best, &self.device.clone().without_autodiff())?;
        let ranker = ranker_from_bytes(&self.shape, ranker, &self.device)?;
        let (bytes, fresh) = (Bytes::from_bytes_vec(optimizer), self.now.optimizer.clone());
        // Burn loads the state on its own default device, which may be a GPU without a driver.
        let optimizer = device::without_panic(|| fresh.from_bytes(bytes)).ok_or_else(|| {
            let message = "Burn's default device does not work here: resume with a build without GPU backends";
            Error::Record(message.into())
        })?;
        let optimizer = optimizer.map_err(|error| damaged(error.to_string()))?;
        self.now = NetState { ranker, optimizer };
        Ok(())
    }
}
