//! Ensembles of decision trees.

use super::compile::Compiled;
use super::evaluate::Keys;
use super::text::Complaint;
use super::{Tree, text, xgboost};
use crate::data::source::read_whole;
use crate::error::{Error, Result};
use std::path::Path;
use std::sync::OnceLock;

/// An ensemble of decision trees: a document's score is the sum of its trees' values.
///
/// A forest read from LightGBM's text gives LightGBM's scores to the last bit: sums are in f64, in the order of trees.
/// It keeps the text and can be written again.
///
/// Forests of XGBoost are summed in f32, as XGBoost does, so scores equal XGBoost's margins to the last bit.
///
/// For LightGBM's random forests (`average_output`) the sum is divided by the number of trees, as in LightGBM's
/// predictions, but not in its `raw_score`. Transformations of objectives are not applied, as they do not change the
/// order.
///
/// ```
/// use burnrank::model::{Branch, Child, Forest, Rule, Tree, WhenMissing};
///
/// let rule = Rule::AtMost { threshold: 0.5, missing: WhenMissing::NanIsZero };
/// let stump = Tree::new(
///     vec![Branch { feature: 1, rule, left: Child::Leaf(0), right: Child::Leaf(1) }],
///     vec![-1.0, 1.0],
/// )?;
/// let forest = Forest::from_trees(2, vec![stump])?;
/// let mut scores = [0.0; 2];
/// forest.score_rows(&[9.0, 0.5, 9.0, 0.6], 2, &mut scores)?;
/// assert_eq!(scores, [-1.0, 1.0]);
/// assert_eq!(Forest::parse(&forest.to_text())?.trees(), forest.trees());
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Forest {
    features: usize,
    sums: Sums,
    pub(super) head: String,
    pub(super) blocks: Vec<String>,
    pub(super) tail: String,
    /// Whether trees were added or removed since the tail was written.
    pub(super) changed: bool,
    trees: Vec<Tree>,
    compiled: OnceLock<Compiled>,
    notes: Vec<String>,
}

/// How a score is computed from the values of the trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sums {
    /// Sum in f64, as in LightGBM.
    Double,
    /// Mean in f64: LightGBM's random forests.
    Mean,
    /// Sum in f32, as in XGBoost.
    Single,
}

impl Sums {
    /// The line of a header that differs from the others'.
    pub const fn line(self) -> Option<&'static str> {
        match self {
            Sums::Double => None,
            Sums::Mean => Some("average_output"),
            // LightGBM ignores lines that it does not know.
            Sums::Single => Some("sums=f32"),
        }
    }

    /// The sums of a forest whose header has these lines.
    pub fn of_header<'a>(mut lines: impl Iterator<Item = &'a str>) -> Self {
        let found =
            lines.find_map(|line| [Sums::Mean, Sums::Single].into_iter().find(|sums| sums.line() == Some(line)));
        found.unwrap_or(Sums::Double)
    }
}

impl Forest {
    /// Parses LightGBM's text format, version 2.3 or newer.
    ///
    /// # Errors
    /// If the text is damaged, or uses unsupported features: several classes, or leaves with linear models.
    pub fn parse(text: &str) -> Result<Self> {
        text::parse("model.txt", text)
    }

    /// Reads a model file of LightGBM (text) or XGBoost (JSON), detected by its contents.
    ///
    /// XGBoost's split `x < t` in f32 becomes `x <= the float before t`, and its base score a tree with one leaf.
    ///
    /// # Errors
    /// If the file cannot be read, and those of [`Forest::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        let (name, bytes) = read_whole(path)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            let remedy = "expected LightGBM's text or XGBoost's JSON: save_model('model.json')";
            Complaint { file: &name }.about(0, "", "the file is not text", remedy)
        })?;
        Self::parse_any(&name, text)
    }

    /// Like [`Forest::read`], from a text; `file` is its name in messages.
    ///
    /// # Errors
    /// The errors of [`Forest::parse`].
    pub fn parse_any(file: &str, text: &str) -> Result<Self> {
        if text.trim_start().starts_with('{') { xgboost::parse(file, text) } else { text::parse(file, text) }
    }

    /// Number of features per document.
    pub fn n_features(&self) -> usize {
        self.features
    }

    /// Number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// The trees, in the order of summation.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Whether scores are divided by the number of trees.
    pub fn is_average(&self) -> bool {
        self.sums == Sums::Mean
    }

    /// Whether the trees are XGBoost's, with sums in f32.
    pub fn is_of_xgboost(&self) -> bool {
        self.sums == Sums::Single
    }

    /// Returns a forest of the first `count` trees, or of all if there are fewer.
    pub fn truncated(&self, count: usize) -> Forest {
        if count >= self.n_trees() {
            return self.clone();
        }
        let mut forest = Forest::start(self.features, self.sums, self.head.clone());
        forest.blocks = self.blocks[..count].to_vec();
        forest.trees = self.trees[..count].to_vec();
        forest.tail.clone_from(&self.tail);
        forest.changed = true;
        forest
    }

    /// Adds a tree from its block of LightGBM's text, with or without the line `Tree=`.
    ///
    /// # Errors
    /// If the block is not a tree over the forest's features.
    pub fn push_block(&mut self, block: &str) -> Result<()> {
        let (tree, block) = text::parse_block("tree", block, self.features)?;
        self.add(tree, block);
        self.changed = true;
        Ok(())
    }

    /// Scores row-major documents of `width` features into `scores`.
    ///
    /// A document's score does not depend on other documents, its position or the number of threads.
    ///
    /// # Errors
    /// If `width` is not the number of features, `features` and `scores` differ in the number of documents, or there is
    /// not enough memory.
    pub fn score_rows(&self, features: &[f32], width: usize, scores: &mut [f64]) -> Result<()> {
        self.check_rows(features, width, scores)?;
        scores.fill(0.0);
        self.compiled()?.add_to(features, width, scores);
        self.average(scores);
        Ok(())
    }

    /// Like [`Forest::score_rows`], on one thread with buffers passed in; allocates only at the first call.
    pub(crate) fn score_rows_in(
        &self,
        features: &[f32],
        width: usize,
        scores: &mut [f64],
        keys: &mut Vec<Keys>,
    ) -> Result<()> {
        self.check_rows(features, width, scores)?;
        scores.fill(0.0);
        self.compiled()?.add_in(features, width, scores, keys);
        self.average(scores);
        Ok(())
    }

    /// The compiled trees.
    fn compiled(&self) -> Result<&Compiled> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let compiled = Compiled::new(&self.trees, self.sums == Sums::Single)?;
        Ok(self.compiled.get_or_init(|| compiled))
    }

    fn average(&self, scores: &mut [f64]) {
        if self.is_average() && !self.trees.is_empty() {
            let count = self.n_trees() as f64;
            scores.iter_mut().for_each(|score| *score /= count);
        }
    }

    /// Adds the values of tree number `index` to the scores of row-major documents of `width` features.
    ///
    /// # Errors
    /// The errors of [`Forest::score_rows`]; also if there is no such tree.
    pub fn add_tree(&self, index: usize, features: &[f32], width: usize, scores: &mut [f64]) -> Result<()> {
        self.check_rows(features, width, scores)?;
        let Some(tree) = self.trees.get(index) else {
            return Err(Error::Config(format!("there is no tree {index}: the forest has {} trees", self.n_trees())));
        };
        Compiled::new(std::slice::from_ref(tree), self.sums == Sums::Single)?.add_to(features, width, scores);
        Ok(())
    }

    fn check_rows(&self, features: &[f32], width: usize, scores: &[f64]) -> Result<()> {
        if width != self.features {
            let trees = self.features;
            return Err(Error::Mismatch(format!("the model expects {trees} features, the data has {width}")));
        }
        if features.len() != scores.len() * width {
            let (values, documents) = (features.len(), scores.len());
            return Err(Error::Mismatch(format!(
                "{values} values are not {documents} documents with {width} features"
            )));
        }
        Ok(())
    }

    /// A forest without trees.
    pub(super) fn start(features: usize, sums: Sums, head: String) -> Self {
        Forest {
            features,
            sums,
            head,
            blocks: Vec::new(),
            tail: String::new(),
            changed: false,
            trees: Vec::new(),
            compiled: OnceLock::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a tree and its text without the first line.
    pub(super) fn add(&mut self, tree: Tree, block: String) {
        self.trees.push(tree);
        self.blocks.push(block);
        self.compiled = OnceLock::new();
    }

    /// Sums scores in another way.
    pub(super) fn summed(mut self, sums: Sums) -> Self {
        if let Some(line) = sums.line() {
            self.head += &format!("{line}\n");
        }
        self.sums = sums;
        self.compiled = OnceLock::new();
        self
    }

    /// Notes about choices made while reading the file. They are not part of the text.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a note.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Sets the text after the trees.
    pub(super) fn end(&mut self, tail: String) {
        self.tail = tail;
    }
}
