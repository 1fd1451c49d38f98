//! The number of features of a data set, and adapting it to a model.

use super::Dataset;
use super::store::{Mapped, Store};
use crate::error::{Error, Result};
use crate::memory;

impl Dataset {
    /// Whether the file may leave features out: true if some documents list fewer features than others.
    ///
    /// The last features of sparse data may be missing from the whole file. Data that lists every feature of every document,
    /// and data built by [`Dataset::new`], is not sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Declares the data sparse or not. Error messages call this `fill_zeros`.
    pub fn declared_sparse(mut self, sparse: bool) -> Self {
        self.sparse = sparse;
        self
    }

    /// Adapts the data to a model of `width` features: appends zeros, or missing values, if the data is sparse.
    ///
    /// ```
    /// use burnrank::data::read_bytes;
    /// use burnrank::ReadOptions;
    /// let read = |text: &[u8]| read_bytes("text", text, &ReadOptions::default()).map(|report| report.data);
    /// // The second document omits feature 1, so all documents may omit feature 3.
    /// assert_eq!(read(b"1 qid:a 1:5 2:6\n0 qid:a 2:7\n")?.fit_width(3)?.features(), [5.0, 6.0, 0.0, 0.0, 7.0, 0.0]);
    /// assert!(read(b"1 qid:a 1:5 2:6\n0 qid:a 1:0 2:7\n")?.fit_width(3).is_err());
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data has more features, or has fewer and is not [sparse](Dataset::is_sparse).
    pub fn fit_width(self, width: usize) -> Result<Dataset> {
        if self.width > width {
            return Err(Error::Mismatch(format!(
                "the data has {} features, but the model was trained on {width}: use the same feature set",
                self.width
            )));
        }
        if self.width < width && !self.sparse {
            return Err(Error::Mismatch(format!(
                "every document of the data lists all {} features, but the model was trained on {width}: use the same \
                 feature set, or set missing features to 0 with `fill_zeros`",
                self.width
            )));
        }
        self.widened(width)
    }

    /// Does the same as [`Dataset::with_width`], but checks the memory limit first.
    ///
    /// # Errors
    /// When the wider documents would exceed the memory limit.
    pub fn widened(self, width: usize) -> Result<Dataset> {
        if width > self.width && !self.is_mapped() {
            let cells = (self.n_documents() as u64).saturating_mul(width as u64);
            let what = format!("{} documents of {width} features", self.n_documents());
            memory::ask(memory::bytes_of::<f32>(cells), &what, "split the file")?;
        }
        Ok(self.with_width(width))
    }

    /// Sets the number of features to `width`: appends zeros, or missing values if the data is
    /// [`sparse_missing`](Dataset::is_sparse_missing), or drops the last features.
    pub fn with_width(mut self, width: usize) -> Dataset {
        if width == self.width {
            return self;
        }
        match self.features {
            Store::Mapped(Mapped { file, queries, scalers, .. }) if scalers.is_empty() => {
                let features = Store::Mapped(Mapped::new(file, queries, scalers));
                return Dataset { width, features, feature_names: None, ..self };
            }
            // Scalers are fitted for one width.
            features => self.features = features,
        }
        let before = std::mem::take(self.in_memory());
        let keep = width.min(self.width);
        let mut features = vec![self.padding(); self.n_documents() * width];
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
    fn with_width_appends_zeros_or_drops_the_last_features() {
        assert_eq!(small().with_width(3).query(1).features, [5.0, 6.0, 0.0]);
        assert_eq!(small().with_width(1).features(), [1.0, 3.0, 5.0]);
    }
}
