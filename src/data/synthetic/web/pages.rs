//! Pages that look like those of a web search engine: 136 features of words, links and clicks, in the order of MSLR-WEB10K.
//!
//! Five texts of a page (body, anchors, title, address, and all together) have 25 features each: how many of the query's
//! words are found, the text's length, the words' rarity, sums and spreads of how often they occur, as such, by length and by
//! rarity, and four classic scores. The last 11 features are of the page: its address, links, quality and clicks.

use super::random::{log_normal, poisson};
use crate::numeric::standard_normal;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// 25 features of each of five texts, and 11 of the page.
pub(super) const FEATURES: usize = 5 * KINDS + 11;
const KINDS: usize = 25;
/// Body, anchors, title, address; the fifth is all of them together.
const TEXTS: usize = 4;
/// How many words queries have: the part with one word, two words, and so on.
const WORDS: [f64; 8] = [0.18, 0.3, 0.23, 0.13, 0.08, 0.04, 0.03, 0.01];
/// For each text: the logarithm of its length, the spread of it, and the logarithm of a word's frequency in it.
const TEXT_SHAPES: [(f64, f64, f64); TEXTS] = [(6.0, 1.1, -5.4), (3.0, 1.6, -3.4), (1.9, 0.4, -3.0), (2.0, 0.5, -3.4)];
/// Typical lengths of the five texts, for scores that ask how long a text is.
const TYPICAL: [f64; TEXTS + 1] = [740.0, 50.0, 7.0, 8.0, 800.0];
/// What decides relevance: the match of each text, the page's quality, and a product of the two.
const CAUSES: usize = TEXTS + 2;

/// Pages of random queries; how much each cause matters differs by teacher.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    weights: [f64; CAUSES],
}

/// What the documents of a query have in common.
struct Query {
    /// The words' rarity: the logarithm of the part of documents that lack them.
    rarity: Vec<f64>,
    /// How often the query is asked.
    popularity: f64,
    /// How well its documents match on the whole.
    ease: f64,
}

impl Pages {
    pub(super) fn for_teacher(rng: &mut ChaCha8Rng) -> Pages {
        Pages { weights: std::array::from_fn(|_| standard_normal(rng).abs()) }
    }

    /// Draws a query and its pages, and tells how relevant each is.
    pub(super) fn query(&self, features: &mut [f32], rng: &mut ChaCha8Rng, mut relevance: impl FnMut(f64)) {
        let query = Query::random(rng);
        for row in features.chunks_exact_mut(FEATURES) {
            let causes = query.page(row, rng);
            relevance(self.weights.iter().zip(causes).map(|(weight, cause)| weight * cause).sum());
        }
    }
}

impl Query {
    fn random(rng: &mut ChaCha8Rng) -> Query {
        let mut left = rng.random::<f64>() * WORDS.iter().sum::<f64>();
        let words = WORDS.iter().take_while(|&&part| {
            left -= part;
            left > 0.0
        });
        let words = (words.count() + 1).min(WORDS.len());
        Query {
            rarity: (0..words).map(|_| rng.random_range(1.0..9.0)).collect(),
            popularity: standard_normal(rng),
            ease: 0.4 * standard_normal(rng),
        }
    }

    /// Fills the row of a random page, and gives the causes of its relevance.
    fn page(&self, row: &mut [f32], rng: &mut ChaCha8Rng) -> [f64; CAUSES] {
        let (quality, overall) = (standard_normal(rng), self.ease + 0.7 * standard_normal(rng));
        let mut causes = [0.0; CAUSES];
        let mut whole = vec![0.0; self.rarity.len()];
        let mut whole_length = 0.0;
        for (text, (length, spread, frequency)) in TEXT_SHAPES.into_iter().enumerate() {
            let matching = overall + 0.7 * standard_normal(rng);
            // Pages that nobody links to have no anchors.
            let empty = text == 1 && rng.random::<f64>() < 0.5 - 0.2 * quality;
            let more = if text == 1 { 0.5 * quality } else { 0.0 };
            let length = if empty { 0.0 } else { log_normal(length + more, spread, rng).round().max(1.0) };
            let occurs = |rarity: &f64| {
                let rate = (frequency + 0.9 * matching - 0.12 * (rarity - 5.0)).exp();
                poisson(rate * length, rng).min(length)
            };
            let found: Vec<f64> = self.rarity.iter().map(occurs).collect();
            self.text(text, &found, length, row);
            whole.iter_mut().zip(&found).for_each(|(sum, found)| *sum += found);
            whole_length += length;
            causes[text] = matching;
        }
        self.text(TEXTS, &whole, whole_length, row);
        self.of_the_page(&mut row[5 * KINDS..], quality, overall, rng);
        causes[TEXTS] = quality;
        causes[TEXTS + 1] = overall * quality;
        causes
    }

    /// The 25 features of a text in which the words occur so often.
    fn text(&self, text: usize, found: &[f64], length: f64, row: &mut [f32]) {
        let words = found.len() as f64;
        let covered = found.iter().filter(|&&count| count > 0.0).count() as f64;
        // Words are rarer in short texts.
        let rarity = |word: usize| self.rarity[word] + [0.0, 1.0, 2.0, 3.0, 0.0][text];
        let weighted: Vec<f64> = found.iter().enumerate().map(|(word, count)| count * rarity(word)).collect();
        let by_length: Vec<f64> = found.iter().map(|count| count / length.max(1.0)).collect();
        let each =
            |value: &dyn Fn(usize, f64) -> f64| -> f64 { found.iter().enumerate().map(|(w, &c)| value(w, c)).sum() };
        let typical = TYPICAL[text];
        let bm25 = each(&|word, count| rarity(word) * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length / typical)));
        let general = |word: usize| (-rarity(word) - 2.0).exp();
        let absolute = each(&|word, count| {
            (((count - 0.7).max(0.0) + 0.7 * covered.max(1.0) * general(word)) / (length + 1.0)).ln()
        });
        let dirichlet = each(&|word, count| ((count + typical * general(word)) / (length + typical)).ln());
        let mixed = each(&|word, count| (0.9 * count / length.max(1.0) + 0.1 * general(word)).ln());
        let mut values = [0.0; KINDS];
        values[..4].copy_from_slice(&[covered, covered / words, length, (0..found.len()).map(rarity).sum()]);
        values[4..9].copy_from_slice(&statistics(found));
        values[9..14].copy_from_slice(&statistics(&by_length));
        values[14..19].copy_from_slice(&statistics(&weighted));
        values[19] = f64::from(u8::from(covered == words));
        values[20] = weighted.iter().sum::<f64>() / (1.0 + length).sqrt();
        values[21..].copy_from_slice(&[bm25, absolute, dirichlet, mixed]);
        values.into_iter().enumerate().for_each(|(kind, value)| row[5 * kind + text] = value as f32);
    }

    /// The last 11 features: slashes and length of the address, links in and out, ranks of page and site, two scores of
    /// quality, clicks for this query, all clicks, and the time that visitors stay.
    fn of_the_page(&self, row: &mut [f32], quality: f64, overall: f64, rng: &mut ChaCha8Rng) {
        let site = 0.6 * quality + 0.8 * standard_normal(rng);
        let mut rank = |of: f64, most: f64| {
            let share = 1.0 / (1.0 + (-of - 0.5 * standard_normal(rng)).exp());
            (most * share).floor()
        };
        let ranks =
            [rank(quality, 65_536.0), rank(site, 65_536.0), rank(1.5 * quality, 256.0), rank(0.7 * quality, 256.0)];
        let mut clicks = |place: f64, spread: f64| log_normal(place, spread, rng).floor();
        let own = clicks(-3.5 + 0.8 * overall + 0.8 * quality + self.popularity, 2.0);
        let all = own + clicks(-1.0 + 1.2 * quality, 2.5);
        let time = if all > 0.0 { clicks(4.0 + 0.2 * quality, 0.8) } else { 0.0 };
        let links = [clicks(0.5 + 1.2 * quality, 2.5), clicks(2.5, 1.3)];
        let (slashes, address) = (1.0 + poisson(1.6, rng), log_normal(3.7, 0.4, rng).round());
        let values = [[slashes, address], links, [ranks[0], ranks[1]], [ranks[2], ranks[3]], [own, all]];
        let values = values.into_iter().flatten().chain([time]);
        row.iter_mut().zip(values).for_each(|(place, value)| *place = value as f32);
    }
}

/// Sum, least, greatest, mean and variance.
fn statistics(values: &[f64]) -> [f64; 5] {
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let variance = values.iter().map(|value| (value - sum / n).powi(2)).sum::<f64>() / n;
    [sum, least, greatest, sum / n, variance]
}
