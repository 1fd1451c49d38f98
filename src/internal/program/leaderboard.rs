//! Leaderboards as sentences, tables that fit a terminal, Markdown and CSV.

use crate::analysis::significance::{Leaderboard, Standing};
use crate::internal::text::{self, Align, Table, count, counted, fixed, shorten};

/// Number of decimals of metrics.
const DECIMALS: usize = 4;
/// Width of the space between columns of a [`Table`].
const COLUMN_GAP: usize = 2;
/// Width of the column of letters; longer lists continue on the next line.
const LETTERS: usize = 14;
/// Width reserved for names when further metrics are added to a table.
const NAMES: usize = 20;
/// Minimum width of the column of names.
const MIN_NAMES: usize = 8;
/// Maximum number of systems listed in a sentence; more are counted.
const NAMED: usize = 4;

/// Boards of the same systems, one per metric. The first one determines the order.
#[derive(Debug)]
pub struct LeaderboardText<'a> {
    boards: &'a [Leaderboard],
    /// Names by index of the system.
    names: Vec<String>,
    /// Columns of each table, without rank and name.
    tables: Vec<Vec<Column>>,
    shortened: bool,
}

#[derive(Debug)]
struct Column {
    heading: String,
    align: Align,
    /// Lines of each cell.
    cells: Vec<Vec<String>>,
}

impl Column {
    fn new(heading: &str, align: Align, cells: impl Iterator<Item = Vec<String>>) -> Self {
        Column { heading: heading.to_owned(), align, cells: cells.collect() }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().flatten().chain([&self.heading]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + COLUMN_GAP
    }
}

impl<'a> LeaderboardText<'a> {
    /// Lays out tables of at most `width` characters. All boards must have the same systems in the same order.
    pub fn new(boards: &'a [Leaderboard], width: usize) -> Self {
        let mut whole = vec![String::new(); boards.first().map_or(0, |board| board.rows.len())];
        boards.iter().flat_map(|board| &board.rows).for_each(|row| whole[row.system].clone_from(&row.name));
        let longest = whole.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let rank = "rank".len().max(whole.len().to_string().len()) + COLUMN_GAP;
        let used = |columns: &[Column]| rank + columns.iter().map(Column::width).sum::<usize>();
        let mut tables: Vec<Vec<Column>> = Vec::new();
        for (index, board) in boards.iter().enumerate() {
            let columns = columns(board, &boards[0], index == 0);
            let room = width.saturating_sub(longest.min(NAMES));
            match tables.last_mut() {
                Some(table) if used(table) + columns.iter().map(Column::width).sum::<usize>() <= room => {
                    table.extend(columns);
                }
                _ => tables.push(columns),
            }
        }
        let widest = tables.iter().map(|table| used(table)).max().unwrap_or(0);
        let names = shorten(&whole, width.saturating_sub(widest).max(MIN_NAMES));
        let shortened = whole.iter().zip(&names).any(|(whole, short)| whole.chars().count() > short.chars().count());
        LeaderboardText { boards, names, tables, shortened }
    }

    /// Returns the names of the systems as shown in the tables, in the order given.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the result of each board in a sentence or two.
    pub fn verdicts(&self) -> Vec<String> {
        self.boards.iter().map(|board| self.verdict(board)).collect()
    }

    fn verdict(&self, board: &Leaderboard) -> String {
        let (metric, all) = (&board.metric, board.rows.len());
        let name = |row: &&Standing| self.names[row.system].clone();
        let Some(best) = board.rows.first() else { return String::new() };
        if all > 1 && board.all_equal() {
            let queries = counted(board.queries, "query", "queries");
            return format!("All {} systems are equal by {metric} on every query, {queries} in all.", count(all));
        }
        let top: Vec<String> = board.rows.iter().filter(|row| row.rank == 1).map(|row| name(&row)).collect();
        let equal = if top.len() > 1 { ", with equal means" } else { "" };
        let subject = if top.len() > 1 { &top[0] } else { "It" };
        let alike: Vec<&Standing> =
            board.rows[1..].iter().filter(|row| !board.differ(best.system, row.system)).collect();
        let others = all - 1 - alike.len();
        let than = match others {
            1 => "the other system".to_owned(),
            others => format!("the other {} systems", count(others)),
        };
        let result = match (alike.len(), others) {
            (0, 0) => "There is no other system".to_owned(),
            (0, 1) => format!("{subject} is significantly better than the other system"),
            (0, _) => format!("{subject} is significantly better than every other system"),
            (1, 0) => format!("{subject} does not differ significantly from the other system"),
            (_, 0) => format!("{subject} does not differ significantly from any other system"),
            _ => {
                let names = listed(&alike.iter().map(name).collect::<Vec<_>>());
                format!("{subject} does not differ significantly from {names}, and is significantly better than {than}")
            }
        };
        format!(
            "Best by {metric}: {} ({}){equal}. {result}.{}",
            listed(&top),
            fixed(best.mean, DECIMALS),
            self.counted_once(board)
        )
    }

    /// Lists the systems that are equal on every query.
    fn counted_once(&self, board: &Leaderboard) -> String {
        let equal = |one: usize, other: usize| board.pair(one, other).is_some_and(|pair| pair.ties == board.queries);
        let all = 0..board.rows.len();
        let first = |one: &usize| !(0..*one).any(|earlier| equal(earlier, *one));
        let group = |one: usize| -> Vec<String> {
            all.clone()
                .filter(|&other| other == one || equal(one, other))
                .map(|system| self.names[system].clone())
                .collect()
        };
        let groups: Vec<Vec<String>> = all.clone().filter(first).map(group).filter(|names| names.len() > 1).collect();
        if groups.len() > NAMED {
            let others: usize = groups.iter().map(|names| names.len() - 1).sum();
            return format!(" {} systems are equal to another one on every query and count once.", count(others));
        }
        let line =
            |names: &Vec<String>| format!(" {} are equal on every query and count as one system.", listed(names));
        groups.iter().map(line).collect()
    }

    /// Returns the boards as tables, with as many metrics per table as fit, in the order of the first board.
    pub fn tables(&self) -> Vec<Table> {
        self.tables.iter().map(|columns| self.table(columns)).collect()
    }

    fn table(&self, columns: &[Column]) -> Table {
        let headings = columns.iter().map(|column| (column.heading.as_str(), column.align));
        let headings: Vec<_> = [("rank", Align::Right), ("system", Align::Left)].into_iter().chain(headings).collect();
        let mut table = Table::new(&headings);
        for (index, row) in self.boards[0].rows.iter().enumerate() {
            let lines = columns.iter().map(|column| column.cells[index].len()).max().unwrap_or(1);
            for line in 0..lines {
                let own =
                    if line == 0 { [row.rank.to_string(), self.names[row.system].clone()] } else { Default::default() };
                let others = columns.iter().map(|column| column.cells[index].get(line).cloned().unwrap_or_default());
                table.row(own.into_iter().chain(others));
            }
        }
        table
    }

    /// Explains how numbers and letters were computed and what they mean.
    pub fn meaning(&self) -> String {
        let mut text = meaning(self.boards);
        if self.boards.iter().flat_map(|board| &board.rows).any(|row| row.letters.parts().concat().contains('-')) {
            text += "; c-f stands for the letters from c to f";
        }
        text
    }

    /// Whether a name was shortened to fit the tables.
    pub fn shortened(&self) -> bool {
        self.shortened
    }
}

/// Returns the columns of a board, with an interval if `with_interval`.
fn columns(board: &Leaderboard, first: &Leaderboard, with_interval: bool) -> Vec<Column> {
    let rows = || first.rows.iter().filter_map(|row| board.rows.iter().find(|own| own.system == row.system));
    let means = rows().map(|row| vec![fixed(row.mean, DECIMALS)]);
    let letters = rows().map(|row| letter_lines(&row.letters.parts()));
    let mut columns = vec![Column::new(&board.metric, Align::Right, means)];
    if with_interval {
        columns.push(Column::new(&interval_name(board), Align::Left, rows().map(|row| vec![interval(row)])));
    }
    columns.push(Column::new(if with_interval { "letters" } else { "" }, Align::Left, letters));
    columns
}

fn interval_name(board: &Leaderboard) -> String {
    format!("{}% interval", crate::internal::text::number(100.0 * board.options.level))
}

fn interval(row: &Standing) -> String {
    let text = |(low, high)| format!("{} to {}", fixed(low, DECIMALS), fixed(high, DECIMALS));
    row.interval.map_or("-".into(), text)
}

/// Breaks letters into lines between parts, or within a part that is too long for a line.
fn letter_lines(parts: &[String]) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut push = |text: &str| {
        let last = lines.last_mut().filter(|line| line.is_empty() || line.len() + 1 + text.len() <= LETTERS);
        match last {
            Some(line) if line.is_empty() => *line = text.to_owned(),
            Some(line) => *line += &format!(",{text}"),
            None => lines.push(text.to_owned()),
        }
    };
    for part in parts {
        let mut open = String::new();
        for letter in part.chars() {
            // Keeps a letter and its number together; reserves two digits.
            if part.len() > LETTERS && open.len() + 2 >= LETTERS && !letter.is_ascii_digit() {
                push(&std::mem::take(&mut open));
            }
            open.push(letter);
        }
        push(&open);
    }
    lines
}

/// Joins names as in "a, b and c", or "a, b, c, d and 3 more".
fn listed(names: &[String]) -> String {
    match names {
        names if names.len() <= NAMED + 1 => text::listed(names, "and"),
        many => format!("{} and {} more", many[..NAMED].join(", "), count(many.len() - NAMED)),
    }
}

/// Explains intervals and letters.
fn meaning(boards: &[Leaderboard]) -> String {
    let Some(board) = boards.first() else { return String::new() };
    format!(
        "systems that share a letter do not differ significantly: p of the randomisation test above {}, two-sided, \
         corrected by Holm's method over {}; intervals of means by bootstrap over queries, for each mean alone",
        board.alpha,
        family(&families(boards))
    )
}

/// Describes the pairs for which tests are corrected, such as "all 3 pairs of different systems, for each metric alone", from each
/// metric and its number of pairs.
pub fn family(metrics: &[(&str, usize)]) -> String {
    let pairs = |pairs: usize| match pairs {
        0 => "no pair of different systems".to_owned(),
        1 => "1 pair of different systems".to_owned(),
        pairs => format!("all {} pairs of different systems", count(pairs)),
    };
    match metrics {
        [] => pairs(0),
        [(_, only)] => pairs(*only),
        [(_, first), ..] if metrics.iter().all(|(_, other)| other == first) => {
            format!("{}, for each metric alone", pairs(*first))
        }
        _ => {
            let list: Vec<String> =
                metrics.iter().map(|(metric, pairs)| format!("{} by {metric}", count(*pairs))).collect();
            format!("all pairs of different systems, for each metric alone: {}", list.join(", "))
        }
    }
}

/// Returns each metric with its number of pairs of different systems.
pub fn families(boards: &[Leaderboard]) -> Vec<(&str, usize)> {
    boards.iter().map(|board| (board.metric.as_str(), board.family)).collect()
}

/// Formats the boards as one Markdown table in the order of the first board, with an explanation.
pub fn markdown(boards: &[Leaderboard]) -> String {
    let mut headings = vec!["rank".to_owned(), "system".into()];
    boards.iter().for_each(|board| headings.extend([board.metric.clone(), interval_name(board), "letters".into()]));
    let aligned: Vec<_> = headings.iter().map(|heading| (heading.as_str(), Align::Left)).collect();
    let mut table = Table::new(&aligned);
    for (row, own) in rows(boards) {
        let start = [row.rank.to_string(), escaped(&row.name)];
        let cells = own.into_iter().flat_map(|row| [fixed(row.mean, DECIMALS), interval(row), row.letters.to_string()]);
        table.row(start.into_iter().chain(cells));
    }
    let meaning = meaning(boards);
    let (first, rest) = meaning.split_at(meaning.len().min(1));
    format!("{}{}{rest}.\n", table.markdown(), first.to_uppercase())
}

/// Escapes Markdown in a cell of a table.
fn escaped(text: &str) -> String {
    let special = |letter| matches!(letter, '\\' | '*' | '_' | '`' | '<' | '[' | ']');
    text.chars().flat_map(|letter| special(letter).then_some('\\').into_iter().chain([letter])).collect()
}

/// Formats the boards as CSV with all digits, in the order of the first board: rank, system, and for each metric its mean, the
/// ends of its interval, and letters.
pub fn csv(boards: &[Leaderboard]) -> String {
    let mut text = "rank,system".to_owned();
    for Leaderboard { metric, .. } in boards {
        for end in ["", " low", " high", " letters"] {
            text += &format!(",{}", quoted(&format!("{metric}{end}")));
        }
    }
    text.push('\n');
    for (row, own) in rows(boards) {
        text += &format!("{},{}", row.rank, quoted(&row.name));
        for row in own {
            let (low, high) =
                row.interval.map_or(Default::default(), |(low, high)| (low.to_string(), high.to_string()));
            text += &format!(",{},{low},{high},{}", row.mean, row.letters);
        }
        text.push('\n');
    }
    text
}

/// Quotes a CSV field if necessary.
fn quoted(field: &str) -> String {
    let plain = !field.contains([',', '"', '\n', '\r']) && field.trim() == field;
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}

/// Iterates over the rows of the first board, each with the rows of the same system in all boards.
fn rows(boards: &[Leaderboard]) -> impl Iterator<Item = (&Standing, Vec<&Standing>)> {
    let of = |system| boards.iter().filter_map(move |board| board.rows.iter().find(|row| row.system == system));
    boards.first().into_iter().flat_map(|board| &board.rows).map(move |row| (row, of(row.system).collect()))
}

#[cfg(test)]
mod tests;
