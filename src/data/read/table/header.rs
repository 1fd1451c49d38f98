//! What each column of a table is, by its header.

use crate::data::MAX_FEATURES;
use crate::data::read::columns::{COLUMN_ROLES, ColumnRole, Role};
use crate::data::read::options::ReadOptions;
use crate::data::source::whole_file;
use crate::error::{Error, Result, printable};
use crate::internal::suggest;
use crate::internal::text::listed;
use std::collections::HashMap;

/// What pandas calls the index of its rows where it writes it as a column.
const INDEX: &str = "__index_level_";

/// Which columns are what, by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::data::read) struct Layout {
    /// The columns that are not features: labels are missing where nothing is labelled, queries where a side file counts their
    /// documents.
    pub others: Vec<(Role, usize)>,
    pub features: Vec<usize>,
    /// What each column is called in the file.
    pub headers: Vec<String>,
}

impl Layout {
    /// By the header of the file called `name`.
    pub(super) fn of(name: &str, headers: Vec<String>, options: &ReadOptions) -> Result<Self> {
        let header = Header::of(name, headers)?;
        let counted = options.query_file.is_some();
        let mut others: Vec<(Role, usize)> = Vec::new();
        for row in COLUMN_ROLES {
            let place = header.find(row.key, (row.given)(&options.columns), row.usual)?;
            match (row.role, place) {
                (Role::Label, None) if !options.unlabelled => return Err(header.missing(row)),
                (Role::Query, None) if !counted => return Err(header.missing(row)),
                (Role::Query, Some(_)) if counted => {
                    let remedy = "leave out either `query_file` or that column, as with `drop`";
                    return Err(whole_file(name, "queries in a column and in a query file", remedy));
                }
                _ => others.extend(place.map(|place| (row.role, place))),
            }
        }
        let is_other = |place: &usize| others.iter().any(|(_, other)| other == place);
        for (number, (_, place)) in others.iter().enumerate() {
            if others[..number].iter().any(|(_, other)| other == place) {
                let problem = format!("column '{}' cannot be two things at once", printable(&header.names[*place]));
                return Err(whole_file(name, &problem, &format!("name others with {}", role_keys())));
            }
        }
        let mut left_out: Vec<bool> = header.names.iter().map(|column| column.starts_with(INDEX)).collect();
        for column in &options.columns.drop {
            // A column of lists or records is several columns inside a Parquet file.
            let inside = format!("{column}.");
            let places: Vec<usize> = (0..header.names.len())
                .filter(|&place| header.names[place] == *column || header.names[place].starts_with(&inside))
                .collect();
            if places.is_empty() {
                return Err(header.unknown("drop", column));
            }
            if let Some(place) = places.iter().find(|place| is_other(place)) {
                let problem = format!("`drop` {}: that column is needed", header.names[*place]);
                return Err(whole_file(name, &problem, &format!("name another with {}", role_keys())));
            }
            places.into_iter().for_each(|place| left_out[place] = true);
        }
        let features: Vec<usize> =
            (0..header.names.len()).filter(|place| !left_out[*place] && !is_other(place)).collect();
        if features.is_empty() {
            let remedy = "every column that is no label or id, and not dropped, is a feature";
            return Err(whole_file(name, "no column is left for features", remedy));
        }
        if features.len() > MAX_FEATURES {
            let problem = format!("{} features are too many", features.len());
            return Err(whole_file(name, &problem, &format!("the most is {MAX_FEATURES}")));
        }
        Ok(Layout { others, features, headers: header.names })
    }

    /// The column of a role, where there is one.
    pub(in crate::data::read) fn place(&self, role: Role) -> Option<usize> {
        self.others.iter().find(|(other, _)| *other == role).map(|(_, place)| *place)
    }

    /// The names of the features, without blanks: each of those becomes an underscore.
    pub(super) fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|&place| word(&self.headers[place])).collect()
    }
}

/// The options that name columns, as messages list them.
pub(in crate::data::read) fn role_keys() -> String {
    listed(&COLUMN_ROLES.iter().map(|row| format!("`{}`", row.key)).collect::<Vec<_>>(), "or")
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
    fn find(&self, key: &str, given: Option<&str>, usual: &[&str]) -> Result<Option<usize>> {
        let place = |wanted: &str| self.names.iter().position(|name| name == wanted);
        match given {
            Some(given) => place(given).map(Some).ok_or_else(|| self.unknown(key, given)),
            None => Ok(usual.iter().find_map(|name| place(name))),
        }
    }

    #[cold]
    fn unknown(&self, key: &str, given: &str) -> Error {
        let near = suggest::nearest(given, self.names.iter().map(String::as_str));
        let remedy = match near {
            Some(near) => format!("did you mean '{}'? {}", printable(near), self.there()),
            None => self.there(),
        };
        whole_file(self.file, &format!("`{key}`: there is no column '{}'", printable(given)), &remedy)
    }

    #[cold]
    fn missing(&self, row: &ColumnRole) -> Error {
        let usual = row.usual.first().copied().unwrap_or(row.key);
        let remedy = format!("say which column holds {} with `{}` COLUMN; {}", row.holds, row.key, self.there());
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
