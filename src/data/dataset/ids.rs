//! The ids of documents.

/// One text per document, all in one buffer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentIds {
    text: String,
    ends: Vec<usize>,
}

impl DocumentIds {
    /// Adds the next document's id.
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// The id of document `row`; empty when the file gave none for it.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl<S: AsRef<str>> FromIterator<S> for DocumentIds {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        let mut all = DocumentIds::default();
        ids.into_iter().for_each(|id| all.push(id.as_ref()));
        all
    }
}
