//! Bindings to LightGBM, used to grow single trees.
//!
//! A tree depends only on gradients, settings and its seed. Scores are kept outside LightGBM. With random sampling each
//! tree gets a new booster, so that no random state is carried over and an interrupted run grows the same trees as an
//! uninterrupted one. Without sampling the booster is kept, because creating one takes a quarter of the time of a small
//! tree.

use super::threads;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::setting::MissingValues;
use crate::train::boosting_bytes;
use lightgbm3_sys::*;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// LightGBM's number of threads is global to the process and must not change while a tree grows.
#[derive(Debug, Clone, Copy)]
struct Shared {
    threads: usize,
    /// Number of callers that are using it.
    callers: usize,
    /// Number of times it has changed.
    changes: u64,
}

static SHARED: (Mutex<Shared>, Condvar) = (Mutex::new(Shared { threads: 0, callers: 0, changes: 0 }), Condvar::new());

/// The right to call LightGBM with this caller's number of threads.
struct Turn {
    threads: usize,
    /// [`Shared::changes`] when the turn was taken.
    changes: u64,
}

impl Turn {
    /// Waits for callers that use another number of threads.
    fn take(threads: usize) -> Self {
        let mut now = Turn::now();
        while now.callers > 0 && now.threads != threads {
            now = SHARED.1.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        now.changes += u64::from(now.threads != threads);
        (now.threads, now.callers) = (threads, now.callers + 1);
        let turn = Turn { threads, changes: now.changes };
        // SAFETY: the callback takes text and keeps nothing. LightGBM stores it per thread.
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

/// Settings of tree growth.
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
    pub missing: MissingValues,
    /// Columns of categorical features, from 0.
    pub categorical: Vec<usize>,
}

/// Training documents with binned features.
pub(super) struct Binned {
    handle: DatasetHandle,
    documents: usize,
    /// Number of feature values.
    values: usize,
    growth: Growth,
    /// The booster of the last tree, kept if nothing is sampled.
    booster: Option<Booster>,
}

// SAFETY: LightGBM does not tie a data set to a thread, and only reads it after construction.
unsafe impl Send for Binned {}

impl Binned {
    /// Bins the features of training documents.
    pub fn new(data: &Dataset, growth: Growth) -> Result<Self> {
        let (documents, features) = (data.n_documents(), data.n_features());
        let too_many = |what: &str| Error::Data(format!("LightGBM supports at most 2,147,483,647 {what}"));
        let rows = i32::try_from(documents).map_err(|_| too_many("documents"))?;
        let columns = i32::try_from(features).map_err(|_| too_many("features"))?;
        if growth.subsample * (documents as f64) < 1.0 {
            let fraction = growth.subsample;
            return Err(Error::Config(format!(
                "subsample {fraction} leaves none of {documents} documents: set a larger fraction"
            )));
        }
        let bytes = boosting_bytes(documents as u64, features as u64, growth.bins);
        memory::ask(bytes, "the bins of the training documents", "reduce `bins` or the number of documents")?;
        let values = documents.saturating_mul(features);
        let turn = Turn::take(threads::choose(values));
        let mut handle = null_mut();
        let parameters = text(&parameters(&growth, 0, turn.threads));
        // SAFETY: there are `rows` times `columns` features, which LightGBM copies; the text ends with a zero byte.
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
        // SAFETY: one label per row, which LightGBM copies; it requires labels even with custom gradients.
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

    /// Grows one tree on the gradients of all documents, following `before` earlier trees; `None` if no split is
    /// allowed or has a gain.
    pub fn grow(&mut self, gradient: &[f32], hessian: &[f32], seed: u64, before: usize) -> Result<Option<Grown>> {
        self.grow_by(threads::choose(self.values), gradient, hessian, seed, before)
    }

    /// Like [`Binned::grow`], with a given number of threads.
    fn grow_by(
        &mut self,
        threads: usize,
        gradient: &[f32],
        hessian: &[f32],
        seed: u64,
        before: usize,
    ) -> Result<Option<Grown>> {
        if gradient.len() != self.documents || hessian.len() != self.documents {
            let (gradients, documents) = (gradient.len().min(hessian.len()), self.documents);
            return Err(Error::Mismatch(format!("{gradients} gradients for {documents} documents")));
        }
        let turn = Turn::take(threads);
        // A booster is only valid for the number of threads that it was created with.
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

/// A grown tree.
pub(super) struct Grown {
    /// A model with this tree only, in LightGBM's text format.
    pub text: String,
    /// Training scores of all trees of the run, if the booster has grown all of them.
    pub scores: Option<Vec<f64>>,
}

/// A LightGBM booster.
struct Booster {
    handle: BoosterHandle,
    /// [`Shared::changes`] when the booster was created.
    changes: u64,
}

impl Booster {
    fn new(data: &Binned, seed: u64, turn: &Turn) -> Result<Self> {
        let mut handle = null_mut();
        let parameters = text(&parameters(&data.growth, seed, turn.threads));
        // SAFETY: the data set is valid and outlives the booster; the text ends with a zero byte.
        checked(unsafe { LGBM_BoosterCreate(data.handle, parameters.as_ptr(), &mut handle) })?;
        Ok(Booster { handle, changes: turn.changes })
    }

    /// The last tree, which follows `before` earlier ones.
    fn grown(&self, documents: usize, before: usize) -> Result<Grown> {
        let mut trees: c_int = 0;
        // SAFETY: the booster is alive, and LightGBM writes one number.
        checked(unsafe { LGBM_BoosterGetCurrentIteration(self.handle, &mut trees) })?;
        let all = usize::try_from(trees).is_ok_and(|trees| trees == before + 1);
        let scores = if all { Some(self.training_scores(documents)?) } else { None };
        Ok(Grown { text: self.tree(trees - 1)?, scores })
    }

    /// The training scores that LightGBM keeps: the same sums as ours, without reading the features again.
    fn training_scores(&self, documents: usize) -> Result<Vec<f64>> {
        let (mut scores, mut length) = (vec![0.0; documents], 0);
        // SAFETY: the booster is valid and has one class, so LightGBM writes one number per training document.
        checked(unsafe { LGBM_BoosterGetPredict(self.handle, 0, &mut length, scores.as_mut_ptr()) })?;
        Ok(scores)
    }

    /// A model with only the tree at `place`, in LightGBM's text format.
    fn tree(&self, place: c_int) -> Result<String> {
        let (split_counts, mut length) = (C_API_FEATURE_IMPORTANCE_SPLIT as c_int, 0);
        let mut buffer: Vec<u8> = vec![0; 1 << 14];
        // Try again if the first buffer is too short.
        for _ in 0..2 {
            let capacity = buffer.len() as i64;
            // SAFETY: LightGBM writes at most `capacity` bytes, and returns the length that it needs.
            checked(unsafe {
                let to = buffer.as_mut_ptr().cast::<c_char>();
                LGBM_BoosterSaveModelToString(self.handle, place, 1, split_counts, capacity, &mut length, to)
            })?;
            if length <= capacity {
                break;
            }
            buffer.resize(length as usize, 0);
        }
        let text = CStr::from_bytes_until_nul(&buffer).ok().and_then(|text| text.to_str().ok());
        text.map(str::to_owned).ok_or_else(|| Error::Training("LightGBM returned a model that is not text".into()))
    }
}

impl Drop for Booster {
    fn drop(&mut self) {
        // SAFETY: the handle is a booster that nothing else refers to any longer.
        unsafe { LGBM_BoosterFree(self.handle) };
    }
}

/// LightGBM's parameters. With `force_col_wise`, each histogram bin is summed by a single thread, so that trees do not
/// depend on the number of threads.
fn parameters(growth: &Growth, seed: u64, threads: usize) -> String {
    let seed = seed & 0x3fff_ffff;
    let columns: Vec<String> = growth.categorical.iter().map(usize::to_string).collect();
    let categorical =
        if columns.is_empty() { String::new() } else { format!(" categorical_feature={}", columns.join(",")) };
    // The defaults of LightGBM are left out.
    let missing = match growth.missing {
        MissingValues::Nan => "",
        MissingValues::Zero => " zero_as_missing=true",
        MissingValues::None => " use_missing=false",
    };
    format!(
        "objective=none boosting=gbdt verbosity=-1 deterministic=true force_col_wise=true num_threads={threads} num_leaves={} \
         learning_rate={} min_data_in_leaf={} min_sum_hessian_in_leaf={} max_bin={} lambda_l2={} bagging_fraction={} \
         bagging_freq={} feature_fraction={} bagging_seed={seed} feature_fraction_seed={seed} data_random_seed=1 \
         feature_pre_filter=false{missing}{categorical}",
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
    // Formatted numbers contain no 0 byte.
    CString::new(parameters).unwrap_or_default()
}

/// Discards LightGBM's log; failures are returned as errors.
unsafe extern "C" fn be_silent(_: *const c_char) {}

/// Converts a return code to LightGBM's last error.
fn checked(code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: LightGBM's last error is text that ends with a zero byte and is valid until the next call of this thread.
    let message = unsafe { CStr::from_ptr(LGBM_GetLastError()) };
    Err(Error::Training(format!("LightGBM: {}", message.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synthetic;

    #[test]
    fn trees_do_not_depend_on_the_number_of_threads_even_if_it_changes() {
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
                missing: MissingValues::Nan,
                categorical: Vec::new(),
            };
            let mut binned = Binned::new(&data, growth).unwrap();
            let tree = |(place, threads): (usize, usize)| {
                let grown = binned.grow_by(threads, &gradient, &hessian, place as u64, place).unwrap().unwrap();
                // The parameters that follow include the number of threads.
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
