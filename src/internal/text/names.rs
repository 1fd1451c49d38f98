//! Lists of names in sentences, and shortened names for narrow columns.

use super::printable;
use std::collections::HashSet;

/// Joins names with commas, and with `last` before the last name.
///
/// ```
/// use burnrank::internal::text::listed;
/// assert_eq!(listed(&["a", "b", "c"], "or"), "a, b or c");
/// assert_eq!((listed(&["a"], "or"), listed::<&str>(&[], "or")), ("a".into(), String::new()));
/// ```
pub fn listed<S: AsRef<str>>(names: &[S], last: &str) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        match index {
            0 => {}
            index if index + 1 < names.len() => text.push_str(", "),
            _ => text.push_str(&format!(" {last} ")),
        }
        text.push_str(name.as_ref());
    }
    text
}

/// Replaces the omitted part of a name.
const GAP: &str = "...";

/// Shortens names to at most `width` characters by omitting the middle of long ones. Different names remain different.
///
/// If no common cut keeps them different, long names end in their number in the list instead.
///
/// ```
/// let names = ["short", "a-long-name-of-a-first-model", "a-long-name-of-another-model"].map(String::from);
/// assert_eq!(burnrank::internal::text::shorten(&names, 18), ["short", "a-long-...st-model", "a-long-...er-model"]);
/// ```
pub fn shorten(names: &[String], width: usize) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
    let kept = width.saturating_sub(GAP.len());
    // Prefers cuts near the middle, with more of the end, which contains the file name.
    let half = kept.div_ceil(2);
    let cuts = (0..=half).flat_map(|away| [Some(half + away), half.checked_sub(away)]);
    let cuts = cuts.flatten().filter(|end| *end <= kept);
    let cut =
        |end: usize| -> Vec<String> { names.iter().map(|name| middle_cut(name, kept - end, end, width)).collect() };
    let originals: HashSet<&String> = names.iter().collect();
    let distinct = |short: &Vec<String>| short.iter().collect::<HashSet<_>>().len() == originals.len();
    cuts.map(cut).find(distinct).unwrap_or_else(|| numbered(&names, width))
}

/// Omits the middle of a name that is longer than `width`.
fn middle_cut(name: &str, beginning: usize, end: usize, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let first: String = name.chars().take(beginning).collect();
    let last: String = name.chars().skip(length - end).collect();
    format!("{first}{GAP}{last}")
}

/// Truncates names that are longer than `width` and appends their number in the list.
fn numbered(names: &[String], width: usize) -> Vec<String> {
    let short = |(index, name): (usize, &String)| {
        if name.chars().count() <= width {
            return name.clone();
        }
        let end = format!("{GAP}({})", index + 1);
        let first: String = name.chars().take(width.saturating_sub(end.len())).collect();
        first + &end
    };
    names.iter().enumerate().map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str], width: usize) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let short = shorten(&names, width);
        assert!(short.iter().all(|name| name.chars().count() <= width), "{short:?}");
        short
    }

    #[test]
    fn shortened_names_remain_different() {
        assert_eq!(short(&["a", "model"], 9), ["a", "model"]);
        assert_eq!(short(&["first-of-the-models", "b"], 11), ["firs...dels", "b"]);
        // Names that differ only near the beginning, or only near the end.
        assert_eq!(short(&["abcdeX-models.txt", "abcdeY-models.txt"], 10), ["abcdeX...t", "abcdeY...t"]);
        assert_eq!(short(&["models-of-Xabcde", "models-of-Yabcde"], 10), ["m...Xabcde", "m...Yabcde"]);
        assert_eq!(short(&["ééééééééé", "éééééééé1"], 8), ["éé...ééé", "éé...éé1"]);
        assert_eq!(short(&["a\nb"], 9), ["a\\nb"]);
    }

    #[test]
    fn names_are_numbered_if_no_cut_keeps_them_different() {
        let names = ["xxxxxxxxxxxxxxAxxxxxxxxxxxxxx", "short", "xxxxxxxxxxxxxxBxxxxxxxxxxxxxx"];
        assert_eq!(short(&names, 12), ["xxxxxx...(1)", "short", "xxxxxx...(3)"]);
        // Repeated names are not numbered.
        assert_eq!(short(&["abcdefghijkl", "abcdefghijkl"], 9), ["abc...jkl", "abc...jkl"]);
        assert_eq!(shorten(&[], 5), Vec::<String>::new());
    }
}
