//! Options for tables: the roles of columns.

use burnrank::data::Columns;

/// Options for Parquet and CSV files, of the commands that read data.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Tables (.parquet, .csv, .tsv)")]
pub struct TableArgs {
    /// Column of labels [default: label]
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// Column of query ids [default: qid, query or query_id]
    #[arg(long, value_name = "COLUMN")]
    pub query: Option<String>,
    /// Column of document ids [default: docid or document_id, if present]
    #[arg(long, value_name = "COLUMN")]
    pub document: Option<String>,
    /// Columns to ignore; all others are features
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub drop: Vec<String>,
}

impl TableArgs {
    /// Returns the columns that are not features.
    pub fn columns(&self) -> Columns {
        let TableArgs { label, query, document, drop, .. } = self.clone();
        Columns { label, query, document, drop }
    }

    /// Returns the options as arguments of a command: pairs of an option and its value.
    pub fn words(&self) -> Vec<Vec<String>> {
        let drop = (!self.drop.is_empty()).then(|| self.drop.join(","));
        let all = [
            ("--label", self.label.clone()),
            ("--query", self.query.clone()),
            ("--document", self.document.clone()),
            ("--drop", drop),
        ];
        all.into_iter().filter_map(|(option, value)| Some(vec![option.to_owned(), value?])).collect()
    }
}
