//! Parses LightGBM's text format: a header of `key=value` lines, one block per tree, and a tail that does not affect
//! scores.

use super::block::{self, Fields};
use super::forest::{Forest, Sums};
use crate::error::{Error, ParseError, Result};
use crate::memory;

/// The first line of a header.
pub(super) const FIRST: &str = "tree";
/// Prefix of the first line of a block.
pub(super) const TREE: &str = "Tree=";
/// The line between the last block and the tail.
pub(super) const END: &str = "end of trees";
/// Prefix of the header line with the size of each block in bytes.
pub(super) const SIZES: &str = "tree_sizes=";

/// Supported versions of the format.
const VERSIONS: [&str; 3] = ["v2", "v3", "v4"];

/// The remedy for text that LightGBM does not write.
pub(super) const SAVE_AGAIN: &str = "the file is damaged: save the model again";

/// A line with its number, from 1.
pub(super) type Numbered<'a> = (usize, &'a str);

/// Creates errors about one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complaint<'a> {
    pub file: &'a str,
}

impl Complaint<'_> {
    /// An error about a line, or about the whole file for line 0.
    pub fn about(self, line: usize, text: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        let text = crate::error::printable(&text.chars().take(40).collect::<String>());
        let (file, problem, remedy) = (self.file.to_owned(), problem.into(), remedy.into());
        Box::new(ParseError { file, line, column: 0, text, problem, remedy }).into()
    }
}

/// Parses LightGBM's text; `file` is its name in messages.
pub(super) fn parse(file: &str, text: &str) -> Result<Forest> {
    let complaint = Complaint { file };
    // A branch takes about 20 characters of text, and is stored as text, parsed and compiled.
    memory::ask(8 * text.len() as u64, &format!("the trees of {file}"), "use fewer trees")?;
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line)).peekable();
    let mut head = Vec::new();
    while let Some(line) = lines.next_if(|(_, line)| !line.starts_with(TREE) && *line != END) {
        head.push(line);
    }
    let (mut forest, sizes) = start(complaint, &head)?;
    loop {
        let Some((number, line)) = lines.next() else {
            let problem = format!("the file ends without the line '{END}'");
            return Err(complaint.about(0, "", problem, "it was cut short: copy or save it again"));
        };
        if line == END {
            break;
        }
        if line.strip_prefix(TREE).and_then(|index| index.parse().ok()) != Some(forest.n_trees()) {
            let problem = format!("expected '{TREE}{}', not", forest.n_trees());
            return Err(complaint.about(number, line, problem, SAVE_AGAIN));
        }
        let mut block = Vec::new();
        while let Some(line) = lines.next_if(|(_, line)| !line.starts_with(TREE) && *line != END) {
            block.push(line);
        }
        let tree = block::parse(complaint, number, &block, forest.n_features())?;
        forest.add(tree, joined(&block));
    }
    if let Some((number, sizes)) = sizes
        && sizes != forest.n_trees()
    {
        let problem = format!("{sizes} tree sizes, but {} trees follow", forest.n_trees());
        return Err(complaint.about(number, "", problem, SAVE_AGAIN));
    }
    forest.end(joined(&lines.collect::<Vec<_>>()));
    Ok(forest)
}

/// Parses the text of one block, with or without its first line.
pub(super) fn parse_block(file: &str, text: &str, features: usize) -> Result<(super::Tree, String)> {
    let mut lines: Vec<Numbered> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
    if lines.first().is_some_and(|(_, line)| line.starts_with(TREE)) {
        lines.remove(0);
    }
    while lines.last().is_some_and(|(_, line)| line.is_empty()) {
        lines.pop();
    }
    let tree = block::parse(Complaint { file }, 1, &lines, features)?;
    // LightGBM ends blocks with two empty lines.
    Ok((tree, joined(&lines) + "\n\n"))
}

/// Creates a forest without trees from its header; also returns the number of trees with its line number, if stated.
fn start(complaint: Complaint<'_>, head: &[Numbered<'_>]) -> Result<(Forest, Option<(usize, usize)>)> {
    if head.first().map(|(_, line)| *line) != Some(FIRST) {
        let first = head.first().map_or("", |(_, line)| line);
        let remedy = "expected a model that LightGBM saved as text, which begins with the line 'tree'";
        return Err(complaint.about(1, first, "not a LightGBM model", remedy));
    }
    let fields = Fields::of(complaint, 1, &head[1..])?;
    let (number, version) = fields.text("version")?;
    if !VERSIONS.contains(&version) {
        let remedy = format!("supported are {}; save the model with another version of LightGBM", VERSIONS.join(", "));
        return Err(complaint.about(number, version, "unknown version", remedy));
    }
    for name in ["num_class", "num_tree_per_iteration"] {
        if let Some((number, value)) = fields.get(name).filter(|(_, value)| *value != "1") {
            let remedy = "a ranking model has one score per document: train with a ranking or a regression objective";
            return Err(complaint.about(number, value, format!("{name} must be 1, not"), remedy));
        }
    }
    let (number, last) = fields.text("max_feature_idx")?;
    let wrong = || complaint.about(number, last, "bad max_feature_idx", "expected an integer of 0 or more");
    let features = last.parse::<u32>().map_err(|_| wrong())? as usize + 1;
    for name in ["feature_names", "feature_infos"] {
        let (number, value) = fields.text(name)?;
        let count = value.split(' ').filter(|word| !word.is_empty()).count();
        if count != features {
            let problem = format!("{name} has {count} values, not {features}");
            return Err(complaint.about(
                number,
                "",
                problem,
                "max_feature_idx must be the number of features minus one",
            ));
        }
    }
    let sizes = fields.get("tree_sizes").map(|(number, value)| (number, value.split_whitespace().count()));
    let kept = head.iter().filter(|(_, line)| !line.starts_with(SIZES) && !line.is_empty()).copied();
    let sums = Sums::of_header(head.iter().map(|(_, line)| *line));
    Ok((Forest::start(features, sums, joined(&kept.collect::<Vec<_>>())), sizes))
}

/// Joins lines to a text.
fn joined(lines: &[Numbered<'_>]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|(_, line)| line.len() + 1).sum());
    for (_, line) in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}
