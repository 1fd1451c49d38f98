//! Columns of a table that are not features.

/// Names of the columns that are not features. Where no name is given, default names are tried. All other columns are features.
///
/// ```
/// use burnrank::{ReadOptions, data::Columns};
/// let columns = Columns { label: Some("relevance".into()), ..Columns::default() };
/// let options = ReadOptions { columns, null: Some(0.0), ..ReadOptions::default() };
/// # assert_eq!(options.null, Some(0.0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Columns {
    /// Label column [default: `label`].
    pub label: Option<String>,
    /// Query id column [default: `qid`, `query` or `query_id`].
    pub query: Option<String>,
    /// Document id column [default: `docid` or `document_id`, if present].
    pub document: Option<String>,
    /// Columns to ignore.
    pub drop: Vec<String>,
}

/// The role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Label,
    Query,
    Document,
    #[cfg_attr(not(feature = "tables"), allow(dead_code))] // used by tables only
    Feature,
}

/// A row of [`COLUMN_ROLES`]: a role that a column other than a feature can have.
#[derive(Debug, Clone, Copy)]
pub struct ColumnRole {
    /// The field of [`Columns`] that names the column.
    pub key: &'static str,
    /// Contents of the column.
    pub holds: &'static str,
    /// Default names, tried in this order.
    pub usual: &'static [&'static str],
    #[cfg_attr(not(feature = "tables"), allow(dead_code))] // used by tables only
    pub(super) role: Role,
    pub(super) given: fn(&Columns) -> Option<&str>,
}

/// All roles of columns that are not features.
pub static COLUMN_ROLES: &[ColumnRole] = &[
    ColumnRole {
        key: "label",
        holds: "labels",
        usual: &["label"],
        role: Role::Label,
        given: |columns| columns.label.as_deref(),
    },
    ColumnRole {
        key: "query",
        holds: "query ids",
        usual: &["qid", "query", "query_id"],
        role: Role::Query,
        given: |columns| columns.query.as_deref(),
    },
    ColumnRole {
        key: "document",
        holds: "document ids",
        usual: &["docid", "document_id"],
        role: Role::Document,
        given: |columns| columns.document.as_deref(),
    },
];

/// Values of a document that are not features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fields<'a> {
    pub label: f32,
    /// Query id; empty if a query file defines the queries.
    pub query: &'a [u8],
    /// Document id.
    pub document: Option<&'a [u8]>,
}
