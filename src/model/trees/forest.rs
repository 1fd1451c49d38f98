//! Many trees, whose values are added.

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
/// It is read from the text that LightGBM saves, and scores as LightGBM does, to the last bit: in f64, tree after tree. It
/// keeps that text, and can be written again.
///
/// What LightGBM calls a random forest (`average_output`) has its sum divided by the number of trees, as LightGBM's
/// predictions have; its `raw_score` leaves that out. No objective's transformation is applied: an order does not depend on it.
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
    average: bool,
    pub(super) head: String,
    pub(super) blocks: Vec<String>,
    pub(super) tail: String,
    /// Whether trees came or went since the tail was written.
    pub(super) changed: bool,
    trees: Vec<Tree>,
    compiled: OnceLock<Compiled>,
    notes: Vec<String>,
}

impl Forest {
    /// A forest from the text that LightGBM saves, version 2.3 or newer.
    ///
    /// # Errors
    /// When the text is damaged, and when it holds what is not supported: several classes, or leaves with linear models.
    pub fn parse(text: &str) -> Result<Self> {
        text::parse("model.txt", text)
    }

    /// A forest from a file of LightGBM (text) or XGBoost (JSON), which its content tells apart.
    ///
    /// A split of XGBoost, `x < t` in f32, becomes `x <= the float before t`, and its base score a tree of one leaf.
    ///
    /// # Errors
    /// When the file cannot be read, and as [`Forest::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        let (name, bytes) = read_whole(path)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            let remedy = "expected a model of LightGBM as text, or of XGBoost as JSON: save_model('model.json')";
            Complaint { file: &name }.about(0, "", "the file is not text", remedy)
        })?;
        Self::parse_any(&name, text)
    }

    /// As [`Forest::read`], from a text; `file` stands for it in messages.
    ///
    /// # Errors
    /// As [`Forest::parse`].
    pub fn parse_any(file: &str, text: &str) -> Result<Self> {
        if text.trim_start().starts_with('{') { xgboost::parse(file, text) } else { text::parse(file, text) }
    }

    /// The number of features that a document has.
    pub fn n_features(&self) -> usize {
        self.features
    }

    /// The number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// The trees, in the order in which their values are added.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Whether scores are divided by the number of trees.
    pub fn is_average(&self) -> bool {
        self.average
    }

    /// The forest of the first `count` trees, or of all when there are fewer.
    pub fn truncated(&self, count: usize) -> Forest {
        if count >= self.n_trees() {
            return self.clone();
        }
        let mut forest = Forest::start(self.features, self.average, self.head.clone());
        forest.blocks = self.blocks[..count].to_vec();
        forest.trees = self.trees[..count].to_vec();
        forest.tail.clone_from(&self.tail);
        forest.changed = true;
        forest
    }

    /// Adds a tree, given as the block of LightGBM's text, with or without its line `Tree=`.
    ///
    /// # Errors
    /// When the block is not that of a tree over the forest's features.
    pub fn push_block(&mut self, block: &str) -> Result<()> {
        let (tree, block) = text::parse_block("tree", block, self.features)?;
        self.add(tree, block);
        self.changed = true;
        Ok(())
    }

    /// Sets the scores of row-major documents of `width` features.
    ///
    /// A document's score does not depend on what else is scored, on its place, or on the number of threads.
    ///
    /// # Errors
    /// When documents have another number of features, when `features` and `scores` are not of the same documents, and when
    /// memory is short.
    pub fn score_rows(&self, features: &[f32], width: usize, scores: &mut [f64]) -> Result<()> {
        self.check_rows(features, width, scores)?;
        scores.fill(0.0);
        self.compiled()?.add_to(features, width, scores);
        self.average(scores);
        Ok(())
    }

    /// As [`Forest::score_rows`], by one thread and in the memory that is given; after the first time it takes none.
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

    /// The trees, ready to be asked.
    fn compiled(&self) -> Result<&Compiled> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let made = Compiled::new(&self.trees)?;
        Ok(self.compiled.get_or_init(|| made))
    }

    fn average(&self, scores: &mut [f64]) {
        if self.average && !self.trees.is_empty() {
            let count = self.n_trees() as f64;
            scores.iter_mut().for_each(|score| *score /= count);
        }
    }

    /// Adds the values of one tree, counted from 0, to the scores of row-major documents of `width` features.
    ///
    /// # Errors
    /// As [`Forest::score_rows`], and when there is no such tree.
    pub fn add_tree(&self, index: usize, features: &[f32], width: usize, scores: &mut [f64]) -> Result<()> {
        self.check_rows(features, width, scores)?;
        let Some(tree) = self.trees.get(index) else {
            return Err(Error::Config(format!("there is no tree {index}: the forest has {}", self.n_trees())));
        };
        Compiled::new(std::slice::from_ref(tree))?.add_to(features, width, scores);
        Ok(())
    }

    fn check_rows(&self, features: &[f32], width: usize, scores: &[f64]) -> Result<()> {
        if width != self.features {
            let trees = self.features;
            return Err(Error::Mismatch(format!("the model scores {trees} features, the data has {width}")));
        }
        if features.len() != scores.len() * width {
            let (values, documents) = (features.len(), scores.len());
            return Err(Error::Mismatch(format!("{values} values are not {width} features of {documents} documents")));
        }
        Ok(())
    }

    /// A forest without trees.
    pub(super) fn start(features: usize, average: bool, head: String) -> Self {
        Forest {
            features,
            average,
            head,
            blocks: Vec::new(),
            tail: String::new(),
            changed: false,
            trees: Vec::new(),
            compiled: OnceLock::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a tree over the forest's features, and its text without the first line.
    pub(super) fn add(&mut self, tree: Tree, block: String) {
        self.trees.push(tree);
        self.blocks.push(block);
        self.compiled = OnceLock::new();
    }

    /// What was decided where the file that it was read from leaves a choice, as sentences. Not part of the text.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a note.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Sets what follows the trees in the text.
    pub(super) fn end(&mut self, tail: String) {
        self.tail = tail;
    }
}
