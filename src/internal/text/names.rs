//! Names in sentences and in narrow columns.

use super::printable;
use std::collections::HashSet;

/// The names as a sentence has them, with `last` before the last of them.
///
/// ```
/// use burnrank::internal::text::listed;
/// assert_eq!(listed(&["a", "b", "c"], "or"), "a, b or c");
/// assert_eq!((listed(&["a"], "or"), listed::<&str>(&[], "or")), ("a".into(), String::new()));
/// ```
pub fn listed<S: AsRef<str>>(names: &[S], last: &str) -> String {
    let mut text = String::new();
    for (place, name) in names.iter().enumerate() {
        match place {
            0 => {}
            place if place + 1 < names.len() => text.push_str(", "),
            _ => text.push_str(&format!(" {last} ")),
        }
        text.push_str(name.as_ref());
    }
    text
}

/// What stands for the part of a name that was left out.
const GAP: &str = "...";

/// The names in at most `width` characters each, long ones without their middle, such that different names stay different.
///
/// Where no cut at one place tells them apart, long names end in their number in the list instead.
///
/// ```
/// let names = ["short", "a-long-name-of-a-first-model", "a-long-name-of-another-model"].map(String::from);
/// assert_eq!(burnrank::internal::text::shorten(&names, 18), ["short", "a-long-...st-model", "a-long-...er-model"]);
/// ```
pub fn shorten(names: &[String], width: usize) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
    let kept = width.saturating_sub(GAP.len());
    // A little more of the end than of the beginning, where file names are; then other cuts, ever further from it.
    let half = kept.div_ceil(2);
    let cuts = (0..=half).flat_map(|away| [Some(half + away), half.checked_sub(away)]);
    let cuts = cuts.flatten().filter(|end| *end <= kept);
    let cut =
        |end: usize| -> Vec<String> { names.iter().map(|name| middle_cut(name, kept - end, end, width)).collect() };
    let whole: HashSet<&String> = names.iter().collect();
    let distinct = |short: &Vec<String>| short.iter().collect::<HashSet<_>>().len() == whole.len();
    cuts.map(cut).find(distinct).unwrap_or_else(|| numbered(&names, width))
}

/// The beginning and the end of a name that is longer than `width`.
fn middle_cut(name: &str, beginning: usize, end: usize, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let first: String = name.chars().take(beginning).collect();
    let last: String = name.chars().skip(length - end).collect();
    format!("{first}{GAP}{last}")
}

/// Names that are longer than `width`, with their number in the list behind as much of them as fits.
fn numbered(names: &[String], width: usize) -> Vec<String> {
    let short = |(place, name): (usize, &String)| {
        if name.chars().count() <= width {
            return name.clone();
        }
        let end = format!("{GAP}({})", place + 1);
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
    fn names_lose_their_middle_and_stay_different() {
        assert_eq!(short(&["a", "model"], 9), ["a", "model"]);
        assert_eq!(short(&["first-of-the-models", "b"], 11), ["firs...dels", "b"]);
        // Different only near the beginning, or only near the end.
        assert_eq!(short(&["abcdeX-models.txt", "abcdeY-models.txt"], 10), ["abcdeX...t", "abcdeY...t"]);
        assert_eq!(short(&["models-of-Xabcde", "models-of-Yabcde"], 10), ["m...Xabcde", "m...Yabcde"]);
        assert_eq!(short(&["ééééééééé", "éééééééé1"], 8), ["éé...ééé", "éé...éé1"]);
        assert_eq!(short(&["a\nb"], 9), ["a\\nb"]);
    }

    #[test]
    fn names_that_no_cut_tells_apart_are_numbered() {
        let names = ["xxxxxxxxxxxxxxAxxxxxxxxxxxxxx", "short", "xxxxxxxxxxxxxxBxxxxxxxxxxxxxx"];
        assert_eq!(short(&names, 12), ["xxxxxx...(1)", "short", "xxxxxx...(3)"]);
        // The same name twice is no reason for numbers.
        assert_eq!(short(&["abcdefghijkl", "abcdefghijkl"], 9), ["abc...jkl", "abc...jkl"]);
        assert_eq!(shorten(&[], 5), Vec::<String>::new());
    }
}
