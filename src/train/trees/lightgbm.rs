//! LightGBM as a grower of single trees: the one place that calls it.
//!
//! A tree follows from slopes, settings and its own seed alone: scores are ours, and where something is drawn, each tree has
//! a booster of its own, so that no state of random numbers is left over. A run that was interrupted then grows the same trees
//! as one that was not. Where nothing is drawn, the booster is kept: making one takes a quarter of a small tree's time.

use super::threads;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::train::boosting_bytes;
use lightgbm3_sys::*;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// LightGBM has one number of threads for the whole process, which must not change while a tree grows.
#[derive(Debug, Clone, Copy)]
struct Shared {
    threads: usize,
    /// How many callers work with it.
    callers: usize,
    /// How often it has changed.
    changes: u64,
}

static SHARED: (Mutex<Shared>, Condvar) = (Mutex::new(Shared { threads: 0, callers: 0, changes: 0 }), Condvar::new());

/// The right to call LightGBM with this caller's number of threads.
struct Turn {
    threads: usize,
    /// How often the number had changed before.
    changes: u64,
}

impl Turn {
    /// Waits for those who work with another number.
    fn take(threads: usize) -> Self {
        let mut now = Turn::now();
        while now.callers > 0 && now.threads != threads {
            now = SHARED.1.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        now.changes += u64::from(now.threads != threads);
        (now.threads, now.callers) = (threads, now.callers + 1);
        let turn = Turn { threads, changes: now.changes };
        // SAFETY: a function that takes text and keeps nothing. LightGBM holds it for each thread.
        unsafe { LGBM_RegisterLogCallback(Some(be_silent)) };
        turn
    }

    fn now() -> MutexGuard<'static, Shared> {
        SHARED.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        Turn::now().callers -= 1;
        SHARED.1.notify_all();
    }
}

/// How a tree is grown.
#[derive(Debug, Clone)]
pub(super) struct Growth {
    pub leaves: usize,
    pub shrinkage: f64,
    pub min_data: usize,
    pub min_hessian: f64,
    pub bins: usize,
    pub l2: f64,
    pub subsample: f64,
    pub feature_fraction: f64,
}

/// Training documents, their features put into bins.
pub(super) struct Binned {
    handle: DatasetHandle,
    documents: usize,
    /// The number of feature values.
    values: usize,
    growth: Growth,
    /// What grew the last tree, where nothing is drawn.
    booster: Option<Booster>,
}

// SAFETY: LightGBM ties nothing to the thread that made the data, and only reads it once it is made.
unsafe impl Send for Binned {}

impl Binned {
    /// Puts the features of training documents into bins.
    pub fn new(data: &Dataset, growth: Growth) -> Result<Self> {
        let (documents, features) = (data.n_documents(), data.n_features());
        let too_many = |what: &str| Error::Data(format!("LightGBM takes no more than 2,147,483,647 {what}"));
        let rows = i32::try_from(documents).map_err(|_| too_many("documents"))?;
        let columns = i32::try_from(features).map_err(|_| too_many("features"))?;
        if growth.subsample * (documents as f64) < 1.0 {
            let share = growth.subsample;
            return Err(Error::Config(format!(
                "subsample {share} leaves none of {documents} documents: give a larger share"
            )));
        }
        let bytes = boosting_bytes(documents as u64, features as u64, growth.bins);
        memory::ask(bytes, "the bins of the training documents", "give fewer `bins` or documents")?;
        let values = documents.saturating_mul(features);
        let turn = Turn::take(threads::choose(values));
        let mut handle = null_mut();
        let parameters = text(&parameters(&growth, 0, turn.threads));
        // SAFETY: the features are `rows` times `columns` numbers, which LightGBM copies; the text ends in 0.
        checked(unsafe {
            LGBM_DatasetCreateFromMat(
                data.features().as_ptr().cast::<c_void>(),
                C_API_DTYPE_FLOAT32 as c_int,
                rows,
                columns,
                1,
                parameters.as_ptr(),
                null_mut(),
                &mut handle,
            )
        })?;
        let binned = Binned { handle, documents, values, growth, booster: None };
        // SAFETY: one label per row, which LightGBM copies; it wants labels even where gradients come from elsewhere.
        checked(unsafe {
            LGBM_DatasetSetField(
                handle,
                c"label".as_ptr(),
                data.labels().as_ptr().cast::<c_void>(),
                rows,
                C_API_DTYPE_FLOAT32 as c_int,
            )
        })?;
        Ok(binned)
    }

    /// Grows one tree on slopes of all documents, or nothing when no split is allowed or worth anything; `before` trees were
    /// grown before it.
    pub fn grow(&mut self, gradient: &[f32], hessian: &[f32], seed: u64, before: usize) -> Result<Option<Grown>> {
        self.grow_by(threads::choose(self.values), gradient, hessian, seed, before)
    }

    /// As [`Binned::grow`], by this number of threads.
    fn grow_by(
        &mut self,
        threads: usize,
        gradient: &[f32],
        hessian: &[f32],
        seed: u64,
        before: usize,
    ) -> Result<Option<Grown>> {
        if gradient.len() != self.documents || hessian.len() != self.documents {
            let (slopes, documents) = (gradient.len().min(hessian.len()), self.documents);
            return Err(Error::Mismatch(format!("{slopes} slopes of {documents} documents")));
        }
        let turn = Turn::take(threads);
        // A booster counts on the number of threads that it was made under.
        let kept = self.booster.take().filter(|booster| booster.changes == turn.changes);
        let booster = match kept {
            Some(booster) => booster,
            None => Booster::new(self, seed, &turn)?,
        };
        let mut nothing = 0;
        // SAFETY: the booster is alive, and both slices have a number for each document of its data.
        checked(unsafe {
            LGBM_BoosterUpdateOneIterCustom(booster.handle, gradient.as_ptr(), hessian.as_ptr(), &mut nothing)
        })?;
        let grown = if nothing != 0 { None } else { Some(booster.grown(self.documents, before)?) };
        if self.growth.subsample == 1.0 && self.growth.feature_fraction == 1.0 {
            self.booster = Some(booster);
        }
        Ok(grown)
    }
}

impl Drop for Binned {
    fn drop(&mut self) {
        self.booster = None;
        // SAFETY: the handle is a data set that nothing else refers to any longer.
        unsafe { LGBM_DatasetFree(self.handle) };
    }
}

/// A tree that was grown.
pub(super) struct Grown {
    /// A whole model of this tree alone, as LightGBM's text.
    pub text: String,
    /// The scores of all trees of the run on the training documents, where LightGBM knows them all.
    pub scores: Option<Vec<f64>>,
}

/// What grows trees.
struct Booster {
    handle: BoosterHandle,
    /// How often the number of threads had changed when it was made.
    changes: u64,
}

impl Booster {
    fn new(data: &Binned, seed: u64, turn: &Turn) -> Result<Self> {
        let mut handle = null_mut();
        let parameters = text(&parameters(&data.growth, seed, turn.threads));
        // SAFETY: the data set is alive and outlives the booster; the text ends in 0.
        checked(unsafe { LGBM_BoosterCreate(data.handle, parameters.as_ptr(), &mut handle) })?;
        Ok(Booster { handle, changes: turn.changes })
    }

    /// The newest tree, which follows `before` others.
    fn grown(&self, documents: usize, before: usize) -> Result<Grown> {
        let mut trees: c_int = 0;
        // SAFETY: the booster is alive, and LightGBM writes one number.
        checked(unsafe { LGBM_BoosterGetCurrentIteration(self.handle, &mut trees) })?;
        let all = usize::try_from(trees).is_ok_and(|trees| trees == before + 1);
        let scores = if all { Some(self.training_scores(documents)?) } else { None };
        Ok(Grown { text: self.tree(trees - 1)?, scores })
    }

    /// The sums that LightGBM has kept while it grew its trees: the same additions as ours, without a look at the features.
    fn training_scores(&self, documents: usize) -> Result<Vec<f64>> {
        let (mut scores, mut length) = (vec![0.0; documents], 0);
        // SAFETY: the booster is alive, and of one class: it writes a number for each document of its training data.
        checked(unsafe { LGBM_BoosterGetPredict(self.handle, 0, &mut length, scores.as_mut_ptr()) })?;
        Ok(scores)
    }

    /// A tree, as a model of its own.
    fn tree(&self, place: c_int) -> Result<String> {
        let (split_counts, mut length) = (C_API_FEATURE_IMPORTANCE_SPLIT as c_int, 0);
        let mut buffer: Vec<u8> = vec![0; 1 << 14];
        // Once more where the first buffer is too short.
        for _ in 0..2 {
            let room = buffer.len() as i64;
            // SAFETY: LightGBM writes no more than `room` bytes, and says how many it would have written.
            checked(unsafe {
                let to = buffer.as_mut_ptr().cast::<c_char>();
                LGBM_BoosterSaveModelToString(self.handle, place, 1, split_counts, room, &mut length, to)
            })?;
            if length <= room {
                break;
            }
            buffer.resize(length as usize, 0);
        }
        let text = CStr::from_bytes_until_nul(&buffer).ok().and_then(|text| text.to_str().ok());
        text.map(str::to_owned).ok_or_else(|| Error::Training("LightGBM gave a model that is no text".into()))
    }
}

impl Drop for Booster {
    fn drop(&mut self) {
        // SAFETY: the handle is a booster that nothing else refers to any longer.
        unsafe { LGBM_BoosterFree(self.handle) };
    }
}

/// All settings. Histograms are built by feature: the sum of a bin is then one thread's, whatever the number of threads.
fn parameters(growth: &Growth, seed: u64, threads: usize) -> String {
    let seed = seed & 0x3fff_ffff;
    format!(
        "objective=none boosting=gbdt verbosity=-1 deterministic=true force_col_wise=true num_threads={threads} num_leaves={} \
         learning_rate={} min_data_in_leaf={} min_sum_hessian_in_leaf={} max_bin={} lambda_l2={} bagging_fraction={} \
         bagging_freq={} feature_fraction={} bagging_seed={seed} feature_fraction_seed={seed} data_random_seed=1 \
         feature_pre_filter=false",
        growth.leaves,
        growth.shrinkage,
        growth.min_data,
        growth.min_hessian,
        growth.bins,
        growth.l2,
        growth.subsample,
        usize::from(growth.subsample < 1.0),
        growth.feature_fraction,
    )
}

fn text(parameters: &str) -> CString {
    // No number is written with a 0 byte.
    CString::new(parameters).unwrap_or_default()
}

/// LightGBM's own words go nowhere: what matters comes back as an error.
unsafe extern "C" fn be_silent(_: *const c_char) {}

/// The error that LightGBM tells of.
fn checked(code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: LightGBM's last error is text that ends in 0 and stays until the next call of this thread.
    let message = unsafe { CStr::from_ptr(LGBM_GetLastError()) };
    Err(Error::Training(format!("LightGBM: {}", message.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synthetic;

    #[test]
    fn trees_are_the_same_for_any_number_of_threads_also_when_it_changes() {
        let data = Synthetic { queries: 40, ..Synthetic::net() }.generator().unwrap().part(0..40).unwrap().0;
        let gradient: Vec<f32> = data.labels().iter().map(|label| 1.0 - label).collect();
        let hessian = vec![1.0; gradient.len()];
        let grown = |threads: [usize; 4], subsample: f64| {
            let growth = Growth {
                leaves: 31,
                shrinkage: 0.1,
                min_data: 5,
                min_hessian: 0.0,
                bins: 255,
                l2: 0.0,
                subsample,
                feature_fraction: subsample,
            };
            let mut binned = Binned::new(&data, growth).unwrap();
            let tree = |(place, threads): (usize, usize)| {
                let grown = binned.grow_by(threads, &gradient, &hessian, place as u64, place).unwrap().unwrap();
                // The settings that follow name the number of threads.
                grown.text.split("end of trees").next().unwrap().to_owned()
            };
            threads.into_iter().enumerate().map(tree).collect::<Vec<_>>()
        };
        for subsample in [1.0, 0.5] {
            let one = grown([1, 1, 1, 1], subsample);
            assert_eq!(grown([3, 3, 3, 3], subsample), one);
            assert_eq!(grown([1, 2, 1, 3], subsample), one);
        }
    }
}
