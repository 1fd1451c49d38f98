//! What a document has beside its features, and what columns of it are called.

/// Columns of a table that are not features, by name. Where none is named, the usual names are tried; columns that are nothing else
/// are features.
///
/// ```
/// use burnrank::{ReadOptions, data::Columns};
/// let columns = Columns { label: Some("relevance".into()), ..Columns::default() };
/// let options = ReadOptions { columns, null: Some(0.0), ..ReadOptions::default() };
/// # assert_eq!(options.null, Some(0.0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Columns {
    /// The labels; `label` unless given.
    pub label: Option<String>,
    /// The ids of queries; `qid`, `query` or `query_id` unless given.
    pub query: Option<String>,
    /// The ids of documents; `docid` or `document_id` unless given, where there is such a column.
    pub document: Option<String>,
    /// Columns that are left out.
    pub drop: Vec<String>,
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Label,
    Query,
    Document,
    #[cfg_attr(not(feature = "tables"), allow(dead_code))] // formats without columns have no use for it
    Feature,
}

/// A row of [`COLUMN_ROLES`]: something that a document has beside its features.
#[derive(Debug, Clone, Copy)]
pub struct ColumnRole {
    /// The field of [`Columns`] that names the column.
    pub key: &'static str,
    /// What the column holds.
    pub holds: &'static str,
    /// Names that are tried, in this order, where none is given.
    pub usual: &'static [&'static str],
    #[cfg_attr(not(feature = "tables"), allow(dead_code))] // formats without columns have no use for it
    pub(super) role: Role,
    pub(super) given: fn(&Columns) -> Option<&str>,
}

/// What a document has beside its features.
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
        holds: "the ids of queries",
        usual: &["qid", "query", "query_id"],
        role: Role::Query,
        given: |columns| columns.query.as_deref(),
    },
    ColumnRole {
        key: "document",
        holds: "the ids of documents",
        usual: &["docid", "document_id"],
        role: Role::Document,
        given: |columns| columns.document.as_deref(),
    },
];

/// Values of a document that are not features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fields<'a> {
    pub label: f32,
    /// The id of its query; empty where a side file counts the documents of queries.
    pub query: &'a [u8],
    /// Its own id.
    pub document: Option<&'a [u8]>,
}
