//! Glossary: terms that reports use and a reader may not know. A report explains the terms that it uses.

/// Returns all terms with their definitions, in the order in which reports list them.
fn terms() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("glossary.txt").lines().filter_map(|line| line.split_once(": "))
}

/// Returns the terms used in a text or in the definitions of those terms, each with its definition.
pub fn used(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    loop {
        let known = terms().filter(|(word, _)| occurs(&text, word));
        let lines: Vec<String> = known.map(|(word, meaning)| format!("*{word}*: {meaning}.")).collect();
        let new: Vec<&String> = lines.iter().filter(|line| !text.contains(line.as_str())).collect();
        if new.is_empty() {
            return lines;
        }
        let more: String = new.into_iter().map(|line| format!("\n{line}")).collect();
        text += &more;
    }
}

/// Returns whether a term occurs in a text as a whole word.
fn occurs(text: &str, word: &str) -> bool {
    let outside = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !"_+-=".contains(c));
    text.match_indices(word)
        .any(|(at, _)| outside(text[..at].chars().next_back()) && outside(text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole() {
        assert!(occurs("by NDCG@5, or MAP.", "NDCG") && occurs("by NDCG@5, or MAP.", "MAP"));
        assert!(!occurs("NDCG-Loss2++ and NDCGcost", "NDCG") && !occurs("NDCG-Loss2++", "NDCG-Loss2"));
        assert!(occurs("a lambda, or", "lambda") && !occurs("lambda=0.1", "lambda"));
        assert!(occurs("rho_ij|", "rho_ij") && !occurs("lambdarank:map", "map2"));
        assert_eq!(used("nothing here"), Vec::<String>::new());
        assert!(used("WTA")[0].starts_with("*WTA*: winner takes all"));
        // Terms used in a definition are explained too.
        let all = used("NDCG-Loss2").join("\n");
        assert!(all.contains("*delta_ij*: ") && all.contains("*G_i*: "), "{all}");
    }

    #[test]
    fn no_word_is_explained_twice() {
        let words: Vec<&str> = terms().map(|(word, _)| word).collect();
        assert!((1..words.len()).all(|n| !words[..n].contains(&words[n])));
        assert_eq!(words.len(), include_str!("glossary.txt").lines().count());
    }
}
