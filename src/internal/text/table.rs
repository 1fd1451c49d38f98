//! Tables for terminals and Markdown pages.

use crate::error::printable;

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Left-aligned, for text.
    Left,
    /// Right-aligned, for numbers.
    Right,
}

/// A table with headings and aligned columns.
#[derive(Debug, Clone)]
pub struct Table {
    title: Option<String>,
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(name, align)| (printable(name), *align)).collect();
        Table { title: None, columns, rows: Vec::new() }
    }

    /// Creates a table with a title, text in the first column and numbers in the others.
    pub fn titled<S: AsRef<str>>(title: impl Into<String>, columns: &[S]) -> Self {
        let align = |column| if column == 0 { Align::Left } else { Align::Right };
        let columns =
            columns.iter().enumerate().map(|(column, name)| (printable(name.as_ref()), align(column))).collect();
        Table { title: Some(title.into()), columns, rows: Vec::new() }
    }

    /// Adds a row. Control characters are escaped.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    /// Returns the table as plain text, with title and headings.
    pub fn text(&self) -> String {
        self.text_with(str::to_owned)
    }

    /// Returns the table as [`Table::text`] does, with `style` applied to the line of headings.
    pub fn text_with(&self, style: impl Fn(&str) -> String) -> String {
        let headings = self.headings();
        let length = |cell: &String| cell.chars().count();
        let widths: Vec<usize> = (0..headings.len())
            .map(|i| self.rows.iter().chain([&headings]).filter_map(|row| row.get(i)).map(length).max().unwrap_or(0))
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&self.columns).zip(&widths).map(|((cell, (_, align)), &width)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let title = self.title.as_ref().map_or(String::new(), |title| format!("\n{title}\n\n"));
        let mut text = title + &style(&line(&headings)) + "\n";
        self.rows.iter().for_each(|row| text.extend([&line(row), "\n"]));
        text
    }

    /// Returns the table in Markdown, with its title.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        let title = self.title.as_ref().map_or(String::new(), |title| format!("{title}\n\n"));
        format!("{title}{}|{}\n{rows}\n", line(&self.headings()), "---|".repeat(self.columns.len()))
    }

    fn headings(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align() {
        let mut table = Table::new(&[("name", Align::Left), ("count", Align::Right)]);
        table.row(["a\u{1b}".to_owned(), "1".to_owned()]);
        table.row(["é".to_owned(), "1,000".to_owned()]);
        assert_eq!(table.text(), "name     count\na\\u{1b}      1\né        1,000\n");
        assert!(table.text_with(|line| format!("<{line}>")).starts_with("<name     count>\na"));
    }

    #[test]
    fn titles_precede_text_and_markdown() {
        let mut table = Table::titled("t", &["name", "n"]);
        table.row(["long name".into(), "1".into()]);
        assert_eq!(table.text(), "\nt\n\nname       n\nlong name  1\n");
        assert_eq!(table.markdown(), "t\n\n| name | n |\n|---|---|\n| long name | 1 |\n\n");
        let mut bars = Table::titled("", &["|z|"]);
        bars.row(["a|b".into()]);
        assert_eq!(bars.markdown(), "\n\n| \\|z\\| |\n|---|\n| a\\|b |\n\n");
    }
}
