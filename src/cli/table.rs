//! The options of tables: which columns are what.

use burnrank::data::Columns;

/// The options of commands that read data, for Parquet and CSV files.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Tables (.parquet, .csv, .tsv)")]
pub struct TableArgs {
    /// The column of labels [default: label]
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// The column of query ids [default: qid, query or query_id]
    #[arg(long, value_name = "COLUMN")]
    pub query: Option<String>,
    /// The column of document ids [default: docid or document_id, if there is one]
    #[arg(long, value_name = "COLUMN")]
    pub document: Option<String>,
    /// Columns to leave out; all others are features
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// The value of features that have none; without it they are refused
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    pub null: Option<f32>,
}

impl TableArgs {
    /// The columns that are not features.
    pub fn columns(&self) -> Columns {
        let TableArgs { label, query, document, drop, .. } = self.clone();
        Columns { label, query, document, drop }
    }

    /// The same options as words of a command, an option and its value at a time.
    pub fn words(&self) -> Vec<Vec<String>> {
        let drop = (!self.drop.is_empty()).then(|| self.drop.join(","));
        let all = [
            ("--label", self.label.clone()),
            ("--query", self.query.clone()),
            ("--document", self.document.clone()),
            ("--drop", drop),
            ("--null", self.null.map(|null| null.to_string())),
        ];
        all.into_iter().filter_map(|(option, value)| Some(vec![option.to_owned(), value?])).collect()
    }
}
