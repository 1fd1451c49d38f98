//! Document ids.

/// The ids of all documents, in one buffer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentIds {
    text: String,
    ends: Vec<usize>,
}

impl DocumentIds {
    /// Appends the id of the next document.
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// Returns the id of document `row`, or an empty string if it has none.
    ///
    /// # Panics
    /// When `row` is out of range.
    pub fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }

    /// Returns the number of ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no ids.
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
