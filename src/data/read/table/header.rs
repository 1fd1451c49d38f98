//! The roles of the columns of a table, from its header.

use crate::data::MAX_FEATURES;
use crate::data::read::columns::{COLUMN_ROLES, ColumnRole, Role};
use crate::data::read::options::ReadOptions;
use crate::data::source::whole_file;
use crate::error::{Error, Result, printable};
use crate::internal::suggest;
use crate::internal::text::listed;
use std::collections::HashMap;

/// Prefix of the column in which pandas stores the index of its rows.
const INDEX: &str = "__index_level_";

/// The roles of columns, identified by their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::data::read) struct Layout {
    /// Columns that are not features. Unlabelled data has no labels, and files with a query file have no query ids.
    pub others: Vec<(Role, usize)>,
    pub features: Vec<usize>,
    /// Column names, as in the file.
    pub headers: Vec<String>,
}

impl Layout {
    /// Determines the layout from the header of the file `name`.
    pub(super) fn of(name: &str, headers: Vec<String>, options: &ReadOptions) -> Result<Self> {
        let header = Header::of(name, headers)?;
        let has_query_file = options.query_file.is_some();
        let mut others: Vec<(Role, usize)> = Vec::new();
        for row in COLUMN_ROLES {
            let column = header.find(row.key, (row.given)(&options.columns), row.usual)?;
            match (row.role, column) {
                (Role::Label, None) if !options.unlabelled => return Err(header.missing(row)),
                (Role::Query, None) if !has_query_file => return Err(header.missing(row)),
                (Role::Query, Some(_)) if has_query_file => {
                    let remedy = "remove `query_file`, or exclude the column with `drop`";
                    return Err(whole_file(name, "query ids in a column in addition to a query file", remedy));
                }
                _ => others.extend(column.map(|column| (row.role, column))),
            }
        }
        let is_other = |column: &usize| others.iter().any(|(_, other)| other == column);
        for (number, (_, column)) in others.iter().enumerate() {
            if others[..number].iter().any(|(_, other)| other == column) {
                let problem = format!("column '{}' is used twice", printable(&header.names[*column]));
                return Err(whole_file(name, &problem, &format!("choose other columns with {}", role_keys())));
            }
        }
        let mut is_dropped: Vec<bool> = header.names.iter().map(|column| column.starts_with(INDEX)).collect();
        for dropped in &options.columns.drop {
            // In Parquet files, a column of lists or records consists of several columns.
            let inside = format!("{dropped}.");
            let columns: Vec<usize> = (0..header.names.len())
                .filter(|&column| header.names[column] == *dropped || header.names[column].starts_with(&inside))
                .collect();
            if columns.is_empty() {
                return Err(header.unknown("drop", dropped));
            }
            if let Some(column) = columns.iter().find(|column| is_other(column)) {
                let problem = format!("`drop` {}: this column is needed", header.names[*column]);
                return Err(whole_file(name, &problem, &format!("choose another column with {}", role_keys())));
            }
            columns.into_iter().for_each(|column| is_dropped[column] = true);
        }
        let features: Vec<usize> =
            (0..header.names.len()).filter(|column| !is_dropped[*column] && !is_other(column)).collect();
        if features.is_empty() {
            let remedy = "all columns that are not labels, ids or dropped are features";
            return Err(whole_file(name, "no columns are left for features", remedy));
        }
        if features.len() > MAX_FEATURES {
            let problem = format!("{} features are too many", features.len());
            return Err(whole_file(name, &problem, &format!("the maximum is {MAX_FEATURES}")));
        }
        Ok(Layout { others, features, headers: header.names })
    }

    /// Returns the column of a role, if there is one.
    pub(in crate::data::read) fn column(&self, role: Role) -> Option<usize> {
        self.others.iter().find(|(other, _)| *other == role).map(|(_, column)| *column)
    }

    /// Returns the feature names, with whitespace replaced by underscores.
    pub(super) fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|&column| word(&self.headers[column])).collect()
    }
}

/// Lists the options that name columns, for messages.
pub(in crate::data::read) fn role_keys() -> String {
    listed(&COLUMN_ROLES.iter().map(|row| format!("`{}`", row.key)).collect::<Vec<_>>(), "or")
}

/// Replaces whitespace in a name with underscores.
fn word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect()
}

/// The column names of a file.
struct Header<'a> {
    file: &'a str,
    names: Vec<String>,
}

impl<'a> Header<'a> {
    /// Fails if a name is empty or repeated.
    fn of(file: &'a str, names: Vec<String>) -> Result<Self> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (column, name) in names.iter().enumerate() {
            if name.is_empty() || name.chars().any(char::is_control) {
                let problem = format!("column {} has no name", column + 1);
                let remedy = "name it; if it is the index of a pandas DataFrame, write the file with index=False";
                return Err(whole_file(file, &problem, remedy));
            }
            if let Some(first) = seen.insert(word(name), column) {
                let problem = format!("columns {} and {} are both named '{}'", first + 1, column + 1, printable(name));
                return Err(whole_file(file, &problem, "give each column a unique name"));
            }
        }
        Ok(Header { file, names })
    }

    /// Returns the column named by the user, or the first that has a default name.
    fn find(&self, key: &str, given: Option<&str>, usual: &[&str]) -> Result<Option<usize>> {
        let column = |wanted: &str| self.names.iter().position(|name| name == wanted);
        match given {
            Some(given) => column(given).map(Some).ok_or_else(|| self.unknown(key, given)),
            None => Ok(usual.iter().find_map(|name| column(name))),
        }
    }

    #[cold]
    fn unknown(&self, key: &str, given: &str) -> Error {
        let near = suggest::nearest(given, self.names.iter().map(String::as_str));
        let remedy = match near {
            Some(near) => format!("did you mean '{}'? {}", printable(near), self.list()),
            None => self.list(),
        };
        whole_file(self.file, &format!("`{key}`: there is no column '{}'", printable(given)), &remedy)
    }

    #[cold]
    fn missing(&self, row: &ColumnRole) -> Error {
        let usual = row.usual.first().copied().unwrap_or(row.key);
        let remedy = format!("choose the column of {} with `{}` COLUMN; {}", row.holds, row.key, self.list());
        whole_file(self.file, &format!("there is no column '{usual}'"), &remedy)
    }

    /// Lists the first columns.
    fn list(&self) -> String {
        const SHOWN: usize = 12;
        let shown = self.names.iter().take(SHOWN).map(|name| printable(name)).collect::<Vec<_>>().join(", ");
        let more = match self.names.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("the columns are {shown}{more}")
    }
}
