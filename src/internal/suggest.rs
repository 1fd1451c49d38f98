//! What somebody who mistyped a word most likely meant.

/// The known word that is the fewest typing mistakes away, if it is near; the first of several that are as near.
///
/// A mistake is a letter added, dropped or changed, or two neighbours exchanged; one in three letters may be wrong.
///
/// ```
/// use burnrank::internal::suggest::nearest;
/// assert_eq!(nearest("ncdg", ["dcg", "ndcg", "map"]), Some("ndcg"));
/// assert_eq!(nearest("bleu", ["dcg", "ndcg", "map"]), None);
/// ```
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    // A word that shares no letter is never meant, however short.
    let near = |(mistakes, known): &(usize, &str)| {
        *mistakes <= (letters / 3).max(1) && *mistakes < letters.min(known.chars().count())
    };
    let all = known.into_iter().map(|known| (mistakes(word, known), known));
    all.filter(near).min_by_key(|(mistakes, _)| *mistakes).map(|(_, known)| known)
}

/// The least number of letters to add, drop, change or exchange with their neighbour: optimal string alignment.
fn mistakes(a: &str, b: &str) -> usize {
    // No known name is long, and nobody's patience should depend on how long a wrong one is.
    const LONGEST: usize = 100;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (vec![], (0..=b.len()).collect());
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let change = last[j] + usize::from(a[i] != b[j]);
            let mut least = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_counted() {
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
            assert_eq!((mistakes(a, b), mistakes(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let known = ["ranknet", "lambdarank", "p", "ndcg-loss2"];
        assert_eq!(nearest("ranknte", known), Some("ranknet"));
        assert_eq!(nearest("ndgc-loss2", known), Some("ndcg-loss2"));
        assert_eq!(nearest("x", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("listnet", known), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }
}
