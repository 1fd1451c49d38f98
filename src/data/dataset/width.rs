//! The number of features of a data set, and how it is made to fit a model.

use super::Dataset;
use super::store::{Mapped, Store};
use crate::error::{Error, Result};
use crate::memory;

impl Dataset {
    /// Whether features that are 0 may have been left out: some document of the file states fewer than another has.
    ///
    /// Of such data the last features may be missing altogether. Data that states every feature of every document, as one
    /// made by [`Dataset::new`] does, is not sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// The same data, said to be sparse or not; messages call it `fill_zeros`.
    pub fn declared_sparse(mut self, sparse: bool) -> Self {
        self.sparse = sparse;
        self
    }

    /// The same documents with the `width` features that a model takes: where data is sparse, zeros are added.
    ///
    /// ```
    /// use burnrank::data::read_bytes;
    /// use burnrank::ReadOptions;
    /// let read = |text: &[u8]| read_bytes("text", text, &ReadOptions::default()).map(|report| report.data);
    /// // The second document leaves out feature 1: so all may leave out feature 3.
    /// assert_eq!(read(b"1 qid:a 1:5 2:6\n0 qid:a 2:7\n")?.fit_width(3)?.features(), [5.0, 6.0, 0.0, 0.0, 7.0, 0.0]);
    /// assert!(read(b"1 qid:a 1:5 2:6\n0 qid:a 1:0 2:7\n")?.fit_width(3).is_err());
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there are more features, or fewer in data that is not [sparse](Dataset::is_sparse).
    pub fn fit_width(self, width: usize) -> Result<Dataset> {
        if self.width > width {
            return Err(Error::Mismatch(format!(
                "the data has {} features, the model was trained on {width}: use the same feature set",
                self.width
            )));
        }
        if self.width < width && !self.sparse {
            return Err(Error::Mismatch(format!(
                "the data has {} features, all of them in every document, the model was trained on {width}: use the same \
                 feature set, or say with `fill_zeros` that the last ones are 0",
                self.width
            )));
        }
        self.widened(width)
    }

    /// As [`Dataset::with_width`], where the width comes from a user.
    ///
    /// # Errors
    /// When the wider documents need more memory than may be taken.
    pub fn widened(self, width: usize) -> Result<Dataset> {
        if width > self.width && !self.is_mapped() {
            let cells = (self.n_documents() as u64).saturating_mul(width as u64);
            let what = format!("{} documents of {width} features", self.n_documents());
            memory::ask(memory::bytes_of::<f32>(cells), &what, "split the file")?;
        }
        Ok(self.with_width(width))
    }

    /// The same documents with `width` features: zeros are added, or the last features dropped.
    pub fn with_width(mut self, width: usize) -> Dataset {
        if width == self.width {
            return self;
        }
        // There is a name for each feature, or none.
        match self.features {
            Store::Mapped(Mapped { file, queries, scalers, .. }) if scalers.is_empty() => {
                let features = Store::Mapped(Mapped::new(file, queries, scalers));
                return Dataset { width, features, feature_names: None, ..self };
            }
            // What is scaled for one width has none of another.
            features => self.features = features,
        }
        let before = std::mem::take(self.in_memory());
        let keep = width.min(self.width);
        let mut features = vec![0.0; self.n_documents() * width];
        if keep > 0 {
            for (to, from) in features.chunks_exact_mut(width).zip(before.chunks_exact(self.width)) {
                to[..keep].copy_from_slice(&from[..keep]);
            }
        }
        Dataset { width, features: Store::Memory(features), feature_names: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::small;

    #[test]
    fn width_grows_with_zeros_and_shrinks_from_the_end() {
        assert_eq!(small().with_width(3).query(1).features, [5.0, 6.0, 0.0]);
        assert_eq!(small().with_width(1).features(), [1.0, 3.0, 5.0]);
    }
}
