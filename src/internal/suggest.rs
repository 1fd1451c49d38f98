//! Suggestions for mistyped words.

/// Returns the candidate with the smallest edit distance to `word`, if it is close; the first one of several.
///
/// Edits are insertions, deletions, substitutions, and transpositions of adjacent letters. One edit per three letters is allowed.
///
/// ```
/// use burnrank::internal::suggest::nearest;
/// assert_eq!(nearest("ncdg", ["dcg", "ndcg", "map"]), Some("ndcg"));
/// assert_eq!(nearest("bleu", ["dcg", "ndcg", "map"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    // Words without a common letter are never close, however short.
    let is_close = |(distance, candidate): &(usize, &str)| {
        *distance <= (letters / 3).max(1) && *distance < letters.min(candidate.chars().count())
    };
    let all = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate));
    all.filter(is_close).min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Returns the edit distance with transpositions of adjacent letters (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    // Candidates are short; this bounds the time for long words.
    const MAX_LETTERS: usize = 100;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(MAX_LETTERS).collect(), b.chars().take(MAX_LETTERS).collect());
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (vec![], (0..=b.len()).collect());
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let change = last[j] + usize::from(a[i] != b[j]);
            let mut min = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                min = min.min(before[j - 1] + 1);
            }
            row.push(min);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("ndcg", "ndcg", 0),
            ("ncdg", "ndcg", 1),
            ("lamdarank", "lambdarank", 1),
            ("recal", "recall", 1),
            ("mrrr", "mrr", 1),
            ("err", "arr", 1),
            ("kitten", "sitting", 3),
            ("é", "e", 1),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn only_close_words_are_suggested() {
        let names = ["ranknet", "lambdarank", "p", "ndcg-loss2"];
        assert_eq!(nearest("ranknte", names), Some("ranknet"));
        assert_eq!(nearest("ndgc-loss2", names), Some("ndcg-loss2"));
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("listnet", names), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), names), None);
    }
}
