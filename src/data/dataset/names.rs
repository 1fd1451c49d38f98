//! Features by name: what a table calls its columns, and columns in the order that a model knows.

use super::Dataset;
use crate::data::feature_names::check_names;
use crate::error::{Error, Result, printable};
use crate::memory;
use std::collections::HashMap;

impl Dataset {
    /// What the features are called, where the file names them, as tables do, and caches that were made from them.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The same data with a name for each feature.
    ///
    /// # Errors
    /// When there is not one name per feature, or one is empty, holds blanks or comes twice.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Self> {
        if names.len() != self.width {
            return Err(Error::Mismatch(format!("{} names for {} features", names.len(), self.width)));
        }
        check_names(&names).map_err(Error::Data)?;
        self.feature_names = Some(names.into());
        Ok(self)
    }

    /// The same data with features that have no names.
    pub fn without_feature_names(mut self) -> Self {
        self.feature_names = None;
        self
    }

    /// The same documents with the features in the order of `names`. Data whose features have no names stay as they are.
    ///
    /// ```
    /// use burnrank::Dataset;
    /// let data = Dataset::new(2, vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
    /// let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    /// let data = data.with_feature_names(names("bm25 clicks"))?;
    /// assert_eq!(data.clone().arranged(&names("clicks bm25"))?.features(), [2.0, 1.0, 4.0, 3.0]);
    /// assert_eq!(data.arranged(&names("clicks age")).unwrap_err().to_string(),
    ///     "the training data has a feature 'age', the data has none of that name: give it, or train without it");
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a feature is missing, or one is there that is not among the names; and when features of a mapped file need more memory
    /// than may be taken.
    pub fn arranged(mut self, names: &[String]) -> Result<Dataset> {
        let Some(own) = self.feature_names.take() else { return Ok(self) };
        if *own == *names {
            self.feature_names = Some(own);
            return Ok(self);
        }
        let places: HashMap<&str, usize> = own.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        let order: Vec<Option<usize>> = names.iter().map(|name| places.get(name.as_str()).copied()).collect();
        let missing: Vec<&String> =
            names.iter().zip(&order).filter(|(_, place)| place.is_none()).map(|(name, _)| name).collect();
        if let [first, others @ ..] = &missing[..] {
            return Err(Error::Mismatch(format!(
                "the training data has a feature '{}'{}, the data has none of that name: give it, or train without it",
                printable(first),
                more(others.len())
            )));
        }
        let mut surplus = own.iter().filter(|name| !names.contains(name));
        if let Some(first) = surplus.next() {
            let (first, others) = (printable(first), surplus.count());
            return Err(Error::Mismatch(format!(
                "the data has a column '{first}'{}, the training data has no such feature: leave it out with `drop` {first}",
                more(others)
            )));
        }
        let (width, order) = (self.width, order.into_iter().flatten().collect::<Vec<_>>());
        if self.is_mapped() {
            let what =
                format!("{} documents of {width} features in the order of the training data", self.n_documents());
            let bytes = memory::bytes_of::<f32>(self.n_documents() as u64 * width as u64);
            memory::ask(bytes, &what, "make the cache from a table whose columns are in that order")?;
        }
        let mut row = vec![0.0; width];
        for cells in self.features_mut().chunks_exact_mut(width.max(1)) {
            row.copy_from_slice(cells);
            cells.iter_mut().zip(&order).for_each(|(cell, &place)| *cell = row[place]);
        }
        self.feature_names = Some(names.into());
        Ok(self)
    }
}

fn more(others: usize) -> String {
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
    fn columns_are_found_by_name_or_refused() {
        let named = || small().with_feature_names(names("a b")).unwrap();
        assert_eq!(named().arranged(&names("a b")).unwrap().features(), small().features());
        let turned = named().arranged(&names("b a")).unwrap();
        assert_eq!(turned.features(), [2.0, 1.0, 4.0, 3.0, 6.0, 5.0]);
        assert_eq!(turned.feature_names(), Some(&names("b a")[..]));
        let error = named().arranged(&names("b")).unwrap_err().to_string();
        assert!(
            error.contains("a column 'a', the training data has no such feature: leave it out with `drop` a"),
            "{error}"
        );
        let error = named().arranged(&names("x a y")).unwrap_err().to_string();
        assert!(error.contains("a feature 'x' and 1 more, the data has none"), "{error}");
        assert_eq!(small().arranged(&names("x y")).unwrap(), small(), "data without names stays");
    }

    #[test]
    fn names_stay_with_the_queries() {
        let data = small().with_feature_names(names("a b")).unwrap();
        assert_eq!(data.select(&[1]).feature_names(), Some(&names("a b")[..]));
        assert!(small().with_feature_names(names("a")).is_err());
        assert!(small().with_feature_names(names("a a")).is_err());
    }
}
