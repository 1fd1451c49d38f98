//! Feature names, and reordering features to match those of a model.

use super::Dataset;
use crate::data::feature_names::check_names;
use crate::error::{Error, Result, printable};
use crate::memory;
use std::collections::HashMap;

impl Dataset {
    /// Returns the feature names, if the file has them: tables do, and caches built from tables.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// Sets the feature names.
    ///
    /// # Errors
    /// When the number of names is not the number of features, or a name is empty, contains whitespace or is repeated.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.width {
            return Err(Error::Mismatch(format!("{} names for {} features", names.len(), self.width)));
        }
        check_names(&names).map_err(Error::Data)?;
        self.feature_names = Some(names.into());
        Ok(self)
    }

    /// Removes the feature names.
    pub fn without_feature_names(mut self) -> Self {
        self.feature_names = None;
        self
    }

    /// Reorders the features to match `names`. Data without feature names is returned unchanged.
    ///
    /// ```
    /// use burnrank::Dataset;
    /// let data = Dataset::new(2, vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
    /// let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    /// let data = data.with_feature_names(names("bm25 clicks"))?;
    /// assert_eq!(data.clone().arranged(&names("clicks bm25"))?.features(), [2.0, 1.0, 4.0, 3.0]);
    /// assert_eq!(data.arranged(&names("clicks age")).unwrap_err().to_string(),
    ///     "the training data has a feature 'age', but this data does not: add it, or train without it");
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a feature is missing, when the data has a feature that is not in `names`, and when loading the features of a mapped
    /// file would exceed the memory limit.
    pub fn arranged(mut self, names: &[String]) -> Result<Dataset> {
        let Some(own) = self.feature_names.take() else { return Ok(self) };
        if *own == *names {
            self.feature_names = Some(own);
            return Ok(self);
        }
        let columns: HashMap<&str, usize> =
            own.iter().enumerate().map(|(column, name)| (name.as_str(), column)).collect();
        let order: Vec<Option<usize>> = names.iter().map(|name| columns.get(name.as_str()).copied()).collect();
        let missing: Vec<&String> =
            names.iter().zip(&order).filter(|(_, column)| column.is_none()).map(|(name, _)| name).collect();
        if let [first, others @ ..] = &missing[..] {
            return Err(Error::Mismatch(format!(
                "the training data has a feature '{}'{}, but this data does not: add it, or train without it",
                printable(first),
                and_more(others.len())
            )));
        }
        let mut unexpected = own.iter().filter(|name| !names.contains(name));
        if let Some(first) = unexpected.next() {
            let (first, others) = (printable(first), unexpected.count());
            return Err(Error::Mismatch(format!(
                "the data has a column '{first}'{}, but the training data had no such feature: exclude it with `drop` {first}",
                and_more(others)
            )));
        }
        let (width, order) = (self.width, order.into_iter().flatten().collect::<Vec<_>>());
        if self.is_mapped() {
            let what =
                format!("{} documents of {width} features in the order of the training data", self.n_documents());
            let bytes = memory::bytes_of::<f32>(self.n_documents() as u64 * width as u64);
            memory::ask(bytes, &what, "build the cache from a table whose columns are in that order")?;
        }
        let mut row = vec![0.0; width];
        for cells in self.features_mut().chunks_exact_mut(width.max(1)) {
            row.copy_from_slice(cells);
            cells.iter_mut().zip(&order).for_each(|(cell, &column)| *cell = row[column]);
        }
        self.feature_names = Some(names.into());
        Ok(self)
    }
}

fn and_more(others: usize) -> String {
    match others {
        0 => String::new(),
        others => format!(" and {others} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::small;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn columns_are_matched_by_name() {
        let named = || small().with_feature_names(names("a b")).unwrap();
        assert_eq!(named().arranged(&names("a b")).unwrap().features(), small().features());
        let reordered = named().arranged(&names("b a")).unwrap();
        assert_eq!(reordered.features(), [2.0, 1.0, 4.0, 3.0, 6.0, 5.0]);
        assert_eq!(reordered.feature_names(), Some(&names("b a")[..]));
        let error = named().arranged(&names("b")).unwrap_err().to_string();
        assert!(
            error.contains("a column 'a', but the training data had no such feature: exclude it with `drop` a"),
            "{error}"
        );
        let error = named().arranged(&names("x a y")).unwrap_err().to_string();
        assert!(error.contains("a feature 'x' and 1 more, but this data does not"), "{error}");
        assert_eq!(small().arranged(&names("x y")).unwrap(), small(), "data without names is unchanged");
    }

    #[test]
    fn selecting_queries_keeps_feature_names() {
        let data = small().with_feature_names(names("a b")).unwrap();
        assert_eq!(data.select(&[1]).feature_names(), Some(&names("a b")[..]));
        assert!(small().with_feature_names(names("a")).is_err());
        assert!(small().with_feature_names(names("a a")).is_err());
    }
}
