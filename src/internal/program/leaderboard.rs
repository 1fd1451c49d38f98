//! Leaderboards in words, as tables that fit a terminal, in Markdown and as CSV.

use crate::analysis::significance::{Leaderboard, Standing};
use crate::internal::text::{self, Align, Table, count, counted, fixed, shorten};

/// The decimals of measures.
const DECIMALS: usize = 4;
/// Between columns, as [`Table`] writes them.
const BETWEEN: usize = 2;
/// Letters of a system that take more room than this go on in the next line.
const LETTERS: usize = 14;
/// Names keep so much room, where they need it, when further measures ask for columns.
const NAMES: usize = 20;
/// Names have at least so much room, whatever stands beside them.
const LEAST: usize = 8;
/// More systems than this are counted in a sentence, not named.
const NAMED: usize = 4;

/// Boards of the same systems, one per measure, the one that decides the order first.
#[derive(Debug)]
pub struct LeaderboardText<'a> {
    boards: &'a [Leaderboard],
    /// By the systems' places in the order given.
    names: Vec<String>,
    /// The groups of columns of each table, behind rank and name.
    tables: Vec<Vec<Column>>,
    shortened: bool,
}

#[derive(Debug)]
struct Column {
    heading: String,
    align: Align,
    /// The lines of each cell.
    cells: Vec<Vec<String>>,
}

impl Column {
    fn new(heading: &str, align: Align, cells: impl Iterator<Item = Vec<String>>) -> Self {
        Column { heading: heading.to_owned(), align, cells: cells.collect() }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().flatten().chain([&self.heading]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + BETWEEN
    }
}

impl<'a> LeaderboardText<'a> {
    /// For lines of at most `width` characters; all boards must be of the same systems in the same order.
    pub fn new(boards: &'a [Leaderboard], width: usize) -> Self {
        let mut whole = vec![String::new(); boards.first().map_or(0, |board| board.rows.len())];
        boards.iter().flat_map(|board| &board.rows).for_each(|row| whole[row.system].clone_from(&row.name));
        let longest = whole.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let rank = "rank".len().max(whole.len().to_string().len()) + BETWEEN;
        let used = |columns: &[Column]| rank + columns.iter().map(Column::width).sum::<usize>();
        let mut tables: Vec<Vec<Column>> = Vec::new();
        for (place, board) in boards.iter().enumerate() {
            let columns = columns(board, &boards[0], place == 0);
            let room = width.saturating_sub(longest.min(NAMES));
            match tables.last_mut() {
                Some(table) if used(table) + columns.iter().map(Column::width).sum::<usize>() <= room => {
                    table.extend(columns);
                }
                _ => tables.push(columns),
            }
        }
        let widest = tables.iter().map(|table| used(table)).max().unwrap_or(0);
        let names = shorten(&whole, width.saturating_sub(widest).max(LEAST));
        let shortened = whole.iter().zip(&names).any(|(whole, short)| whole.chars().count() > short.chars().count());
        LeaderboardText { boards, names, tables, shortened }
    }

    /// The names of the systems in the order given, as the tables have them.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What each board came to, in a sentence or two.
    pub fn verdicts(&self) -> Vec<String> {
        self.boards.iter().map(|board| self.verdict(board)).collect()
    }

    fn verdict(&self, board: &Leaderboard) -> String {
        let (measure, all) = (&board.metric, board.rows.len());
        let name = |row: &&Standing| self.names[row.system].clone();
        let Some(best) = board.rows.first() else { return String::new() };
        if all > 1 && board.all_equal() {
            let queries = counted(board.queries, "query", "queries");
            return format!("All {} systems are equal by {measure} on every query, {queries} in all.", count(all));
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
        let found = match (alike.len(), others) {
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
            "Best by {measure}: {} ({}){equal}. {found}.{}",
            listed(&top),
            fixed(best.mean, DECIMALS),
            self.counted_once(board)
        )
    }

    /// Which systems are equal on every query.
    fn counted_once(&self, board: &Leaderboard) -> String {
        let equal = |one: usize, other: usize| board.pair(one, other).is_some_and(|pair| pair.ties == board.queries);
        let all = 0..board.rows.len();
        let first = |one: &usize| !(0..*one).any(|earlier| equal(earlier, *one));
        let group = |one: usize| -> Vec<String> {
            all.clone()
                .filter(|&other| other == one || equal(one, other))
                .map(|place| self.names[place].clone())
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

    /// The boards side by side, as far as they fit, in the order of the first.
    pub fn tables(&self) -> Vec<Table> {
        self.tables.iter().map(|columns| self.table(columns)).collect()
    }

    fn table(&self, columns: &[Column]) -> Table {
        let headings = columns.iter().map(|column| (column.heading.as_str(), column.align));
        let headings: Vec<_> = [("rank", Align::Right), ("system", Align::Left)].into_iter().chain(headings).collect();
        let mut table = Table::new(&headings);
        for (place, row) in self.boards[0].rows.iter().enumerate() {
            let lines = columns.iter().map(|column| column.cells[place].len()).max().unwrap_or(1);
            for line in 0..lines {
                let own =
                    if line == 0 { [row.rank.to_string(), self.names[row.system].clone()] } else { Default::default() };
                let others = columns.iter().map(|column| column.cells[place].get(line).cloned().unwrap_or_default());
                table.row(own.into_iter().chain(others));
            }
        }
        table
    }

    /// How the numbers and letters came about, and what they mean.
    pub fn meaning(&self) -> String {
        let mut text = meaning(self.boards);
        if self.boards.iter().flat_map(|board| &board.rows).any(|row| row.letters.parts().concat().contains('-')) {
            text += "; c-f stands for the letters from c to f";
        }
        text
    }

    /// Whether a name was too long for the tables.
    pub fn shortened(&self) -> bool {
        self.shortened
    }
}

/// The columns of one board: the first has an interval too.
fn columns(board: &Leaderboard, first: &Leaderboard, whole: bool) -> Vec<Column> {
    let rows = || first.rows.iter().filter_map(|row| board.rows.iter().find(|own| own.system == row.system));
    let means = rows().map(|row| vec![fixed(row.mean, DECIMALS)]);
    let letters = rows().map(|row| letter_lines(&row.letters.parts()));
    let mut columns = vec![Column::new(&board.metric, Align::Right, means)];
    if whole {
        columns.push(Column::new(&interval_name(board), Align::Left, rows().map(|row| vec![interval(row)])));
    }
    columns.push(Column::new(if whole { "letters" } else { "" }, Align::Left, letters));
    columns
}

fn interval_name(board: &Leaderboard) -> String {
    format!("{}% interval", crate::internal::text::number(100.0 * board.options.level))
}

fn interval(row: &Standing) -> String {
    let text = |(low, high)| format!("{} to {}", fixed(low, DECIMALS), fixed(high, DECIMALS));
    row.interval.map_or("-".into(), text)
}

/// Letters in lines of their column, broken between parts, or within one that is too long for any line.
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
            // A letter and its number stay together: there is room for two digits.
            if part.len() > LETTERS && open.len() + 2 >= LETTERS && !letter.is_ascii_digit() {
                push(&std::mem::take(&mut open));
            }
            open.push(letter);
        }
        push(&open);
    }
    lines
}

/// As in "a, b and c", or "a, b, c, d and 3 more".
fn listed(names: &[String]) -> String {
    match names {
        names if names.len() <= NAMED + 1 => text::listed(names, "and"),
        many => format!("{} and {} more", many[..NAMED].join(", "), count(many.len() - NAMED)),
    }
}

/// What intervals and letters mean.
fn meaning(boards: &[Leaderboard]) -> String {
    let Some(board) = boards.first() else { return String::new() };
    format!(
        "systems that share a letter do not differ significantly: p of the randomisation test above {}, two-sided, \
         corrected by Holm's method over {}; intervals of means by bootstrap over queries, for each mean alone",
        board.alpha,
        family(&families(boards))
    )
}

/// The pairs that tests are corrected for, as in "all 3 pairs of different systems, for each metric alone"; takes each metric and
/// its number of pairs.
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

/// Each metric and the number of pairs of different systems by it.
pub fn families(boards: &[Leaderboard]) -> Vec<(&str, usize)> {
    boards.iter().map(|board| (board.metric.as_str(), board.family)).collect()
}

/// The boards as one table in Markdown, in the order of the first, and a line that says what it means.
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

/// Text that Markdown takes for itself in a table's cell.
fn escaped(text: &str) -> String {
    let special = |letter| matches!(letter, '\\' | '*' | '_' | '`' | '<' | '[' | ']');
    text.chars().flat_map(|letter| special(letter).then_some('\\').into_iter().chain([letter])).collect()
}

/// The boards as lines of comma-separated values with all digits, in the order of the first: rank, system, and for each
/// measure its mean, the ends of its interval, and letters.
pub fn csv(boards: &[Leaderboard]) -> String {
    let mut text = "rank,system".to_owned();
    for Leaderboard { metric: measure, .. } in boards {
        for end in ["", " low", " high", " letters"] {
            text += &format!(",{}", quoted(&format!("{measure}{end}")));
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

/// A field of comma-separated values, in quotes where it needs them.
fn quoted(field: &str) -> String {
    let plain = !field.contains([',', '"', '\n', '\r']) && field.trim() == field;
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}

/// The rows of the first board, each with the same system's rows of all boards.
fn rows(boards: &[Leaderboard]) -> impl Iterator<Item = (&Standing, Vec<&Standing>)> {
    let of = |system| boards.iter().filter_map(move |board| board.rows.iter().find(|row| row.system == system));
    boards.first().into_iter().flat_map(|board| &board.rows).map(move |row| (row, of(row.system).collect()))
}

#[cfg(test)]
mod tests;
