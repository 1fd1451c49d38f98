//! The text that LightGBM saves: a head of `key=value` lines, one block per tree, and a tail that no score depends on.

use super::block::{self, Fields};
use super::forest::Forest;
use crate::error::{Error, ParseError, Result};
use crate::memory;

/// The first line of a head.
pub(super) const FIRST: &str = "tree";
/// How the first line of a block begins.
pub(super) const TREE: &str = "Tree=";
/// The line between the last block and the tail.
pub(super) const END: &str = "end of trees";
/// How the line of the head begins that tells the bytes of each block.
pub(super) const SIZES: &str = "tree_sizes=";

/// The versions of the text that are written alike.
const VERSIONS: [&str; 3] = ["v2", "v3", "v4"];

/// The remedy for what no program writes.
pub(super) const SAVE_AGAIN: &str = "the file is damaged: save the model again";

/// A line and its number, counted from 1.
pub(super) type Numbered<'a> = (usize, &'a str);

/// Problems of one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complaint<'a> {
    pub file: &'a str,
}

impl Complaint<'_> {
    /// A problem of a line; 0 for the whole file.
    pub fn about(self, line: usize, text: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        let text = crate::error::printable(&text.chars().take(40).collect::<String>());
        let (file, problem, remedy) = (self.file.to_owned(), problem.into(), remedy.into());
        Box::new(ParseError { file, line, column: 0, text, problem, remedy }).into()
    }
}

/// A forest from LightGBM's text; `file` stands for it in messages.
pub(super) fn parse(file: &str, text: &str) -> Result<Forest> {
    let complaint = Complaint { file };
    // A branch is some 20 characters of text; it is kept as text, as a branch, and in the form that scores.
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
        let problem = format!("{} trees follow, where {sizes} sizes are", forest.n_trees());
        return Err(complaint.about(number, "", problem, SAVE_AGAIN));
    }
    forest.end(joined(&lines.collect::<Vec<_>>()));
    Ok(forest)
}

/// The tree of a block's text, with or without its first line.
pub(super) fn parse_block(file: &str, text: &str, features: usize) -> Result<(super::Tree, String)> {
    let mut lines: Vec<Numbered> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
    if lines.first().is_some_and(|(_, line)| line.starts_with(TREE)) {
        lines.remove(0);
    }
    while lines.last().is_some_and(|(_, line)| line.is_empty()) {
        lines.pop();
    }
    let tree = block::parse(Complaint { file }, 1, &lines, features)?;
    // LightGBM ends its blocks with two empty lines.
    Ok((tree, joined(&lines) + "\n\n"))
}

/// A forest without trees from its head; and how many trees there should be, with the line that says so.
fn start(complaint: Complaint<'_>, head: &[Numbered<'_>]) -> Result<(Forest, Option<(usize, usize)>)> {
    if head.first().map(|(_, line)| *line) != Some(FIRST) {
        let found = head.first().map_or("", |(_, line)| line);
        let remedy = "expected a model that LightGBM saved as text, which begins with the line 'tree'";
        return Err(complaint.about(1, found, "not a LightGBM model", remedy));
    }
    let fields = Fields::of(complaint, 1, &head[1..])?;
    let (number, version) = fields.text("version")?;
    if !VERSIONS.contains(&version) {
        let remedy =
            format!("known are {}; save the model with a version of LightGBM that writes one", VERSIONS.join(", "));
        return Err(complaint.about(number, version, "unknown version of the text", remedy));
    }
    for name in ["num_class", "num_tree_per_iteration"] {
        if let Some((number, value)) = fields.get(name).filter(|(_, value)| *value != "1") {
            let remedy = "a ranking model has one score per document: train with a ranking or a regression objective";
            return Err(complaint.about(number, value, format!("{name} is not 1 but"), remedy));
        }
    }
    let (number, last) = fields.text("max_feature_idx")?;
    let wrong = || complaint.about(number, last, "bad max_feature_idx", "expected a whole number of 0 or more");
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
                "max_feature_idx says one less than the number of features",
            ));
        }
    }
    let sizes = fields.get("tree_sizes").map(|(number, value)| (number, value.split_whitespace().count()));
    let kept = head.iter().filter(|(_, line)| !line.starts_with(SIZES) && !line.is_empty()).copied();
    let average = head.iter().any(|(_, line)| *line == "average_output");
    Ok((Forest::start(features, average, joined(&kept.collect::<Vec<_>>())), sizes))
}

/// Lines as one text.
fn joined(lines: &[Numbered<'_>]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|(_, line)| line.len() + 1).sum());
    for (_, line) in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}
