//! What each column of a table is, by its header.

use super::options::TableOptions;
use crate::data::MAX_FEATURES;
use crate::data::source::whole_file;
use crate::error::{Error, Result, printable};
use crate::suggest;
use std::collections::HashMap;

/// What pandas calls the index of its rows where it writes it as a column.
const INDEX: &str = "__index_level_";

/// Which columns are what, by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    /// `None` where nothing is labelled.
    pub label: Option<usize>,
    /// `None` where a side file counts the documents of queries.
    pub query: Option<usize>,
    pub document: Option<usize>,
    pub features: Vec<usize>,
    /// What each column is called in the file.
    pub headers: Vec<String>,
}

impl Columns {
    /// By the header of the file called `name`; `counted` where a side file has the queries.
    pub(super) fn of(name: &str, headers: Vec<String>, options: &TableOptions, counted: bool) -> Result<Self> {
        let header = Header::of(name, headers)?;
        let label = match header.find("--label", options.label.as_deref(), &["label"])? {
            None if !options.unlabelled => return Err(header.missing("labels", "label", "--label")),
            label => label,
        };
        let query = header.find("--query", options.query.as_deref(), &["qid", "query", "query_id"])?;
        match query {
            None if !counted => return Err(header.missing("the ids of queries", "qid", "--query")),
            Some(_) if counted => {
                let remedy = "leave out either --query-file or that column, as with --drop";
                return Err(whole_file(name, "queries in a column and in a query file", remedy));
            }
            _ => {}
        }
        let document = header.find("--document", options.document.as_deref(), &["docid", "document_id"])?;
        let roles: Vec<usize> = [label, query, document].into_iter().flatten().collect();
        for (place, column) in roles.iter().enumerate() {
            if roles[..place].contains(column) {
                let problem = format!("column '{}' cannot be two things at once", printable(&header.names[*column]));
                return Err(whole_file(name, &problem, "name others with --label, --query or --document"));
            }
        }
        let mut left_out: Vec<bool> = header.names.iter().map(|column| column.starts_with(INDEX)).collect();
        for column in &options.drop {
            // A column of lists or records is several columns inside a Parquet file.
            let inside = format!("{column}.");
            let places: Vec<usize> = (0..header.names.len())
                .filter(|&place| header.names[place] == *column || header.names[place].starts_with(&inside))
                .collect();
            if places.is_empty() {
                return Err(header.unknown("--drop", column));
            }
            if let Some(place) = places.iter().find(|place| roles.contains(place)) {
                let problem = format!("--drop {}: that column is needed", header.names[*place]);
                return Err(whole_file(name, &problem, "name another with --label, --query or --document"));
            }
            places.into_iter().for_each(|place| left_out[place] = true);
        }
        let features: Vec<usize> =
            (0..header.names.len()).filter(|place| !left_out[*place] && !roles.contains(place)).collect();
        if features.is_empty() {
            let remedy = "every column that is no label or id, and not dropped, is a feature";
            return Err(whole_file(name, "no column is left for features", remedy));
        }
        if features.len() > MAX_FEATURES {
            let problem = format!("{} features are too many", features.len());
            return Err(whole_file(name, &problem, &format!("the most is {MAX_FEATURES}")));
        }
        Ok(Columns { label, query, document, features, headers: header.names })
    }

    /// The names of the features, without blanks: each of those becomes an underscore.
    pub(super) fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|&place| word(&self.headers[place])).collect()
    }
}

/// A name that is one word.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect()
}

/// The names of a file's columns.
struct Header<'a> {
    file: &'a str,
    names: Vec<String>,
}

impl<'a> Header<'a> {
    /// Refuses names that are empty or come twice.
    fn of(file: &'a str, names: Vec<String>) -> Result<Self> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            if name.is_empty() || name.chars().any(char::is_control) {
                let problem = format!("column {} has no name", place + 1);
                let remedy = "name it; where it is the index that pandas writes, write the file with index=False";
                return Err(whole_file(file, &problem, remedy));
            }
            if let Some(first) = seen.insert(word(name), place) {
                let problem = format!("columns {} and {} are both called '{}'", first + 1, place + 1, printable(name));
                return Err(whole_file(file, &problem, "give each column a name of its own"));
            }
        }
        Ok(Header { file, names })
    }

    /// The column that the user names, or the first of the usual ones that is there.
    fn find(&self, option: &str, given: Option<&str>, usual: &[&str]) -> Result<Option<usize>> {
        let place = |wanted: &str| self.names.iter().position(|name| name == wanted);
        match given {
            Some(given) => place(given).map(Some).ok_or_else(|| self.unknown(option, given)),
            None => Ok(usual.iter().find_map(|name| place(name))),
        }
    }

    #[cold]
    fn unknown(&self, option: &str, given: &str) -> Error {
        let near = suggest::nearest(given, self.names.iter().map(String::as_str));
        let remedy = match near {
            Some(near) => format!("did you mean '{}'? {}", printable(near), self.there()),
            None => self.there(),
        };
        whole_file(self.file, &format!("{option}: there is no column '{}'", printable(given)), &remedy)
    }

    #[cold]
    fn missing(&self, what: &str, usual: &str, option: &str) -> Error {
        let remedy = format!("say which column holds {what} with {option} COLUMN; {}", self.there());
        whole_file(self.file, &format!("there is no column '{usual}'"), &remedy)
    }

    /// The first of the columns.
    fn there(&self) -> String {
        const MOST: usize = 12;
        let shown = self.names.iter().take(MOST).map(|name| printable(name)).collect::<Vec<_>>().join(", ");
        let more = match self.names.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("the columns are {shown}{more}")
    }
}
