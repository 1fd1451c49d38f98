//! Web pages with 136 features of words, links and clicks, in the order of MSLR-WEB10K.
//!
//! Five streams of a page (body, anchors, title, URL, and the whole document) have 25 features each: the number of query terms
//! covered, the stream length, inverse document frequencies, statistics of term frequencies (raw, normalized by length, and
//! TF*IDF), and four classic scores. The last 11 features describe the page: URL, links, quality and clicks.

use super::random::{log_normal, poisson};
use crate::numeric::standard_normal;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// 25 features for each of five streams, and 11 for the page.
pub(super) const FEATURES: usize = 5 * KINDS + 11;
const KINDS: usize = 25;
/// Body, anchors, title, URL; the fifth stream is the whole document.
const TEXTS: usize = 4;
/// Distribution of the number of words of a query, starting at one word.
const WORDS: [f64; 8] = [0.18, 0.3, 0.23, 0.13, 0.08, 0.04, 0.03, 0.01];
/// For each stream: mean and standard deviation of the log length, and the log frequency of a word.
const TEXT_SHAPES: [(f64, f64, f64); TEXTS] = [(6.0, 1.1, -5.4), (3.0, 1.6, -3.4), (1.9, 0.4, -3.0), (2.0, 0.5, -3.4)];
/// Typical lengths of the five streams, for scores that normalize by length.
const TYPICAL: [f64; TEXTS + 1] = [740.0, 50.0, 7.0, 8.0, 800.0];
/// Causes of relevance: the match of each stream, the quality of the page, and the product of quality and overall match.
const CAUSES: usize = TEXTS + 2;

/// Pages of random queries, with weights of the causes of relevance that depend on the teacher.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    weights: [f64; CAUSES],
}

/// Properties shared by the documents of a query.
struct Query {
    /// Rarity of each word, like an inverse document frequency.
    rarity: Vec<f64>,
    /// Popularity of the query.
    popularity: f64,
    /// Average match of its documents.
    ease: f64,
}

impl Pages {
    pub(super) fn for_teacher(rng: &mut ChaCha8Rng) -> Pages {
        Pages { weights: std::array::from_fn(|_| standard_normal(rng).abs()) }
    }

    /// Draws a query and its pages, and calls `relevance` with the relevance of each.
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
        let mut rest = rng.random::<f64>() * WORDS.iter().sum::<f64>();
        let words = WORDS.iter().take_while(|&&fraction| {
            rest -= fraction;
            rest > 0.0
        });
        let words = (words.count() + 1).min(WORDS.len());
        Query {
            rarity: (0..words).map(|_| rng.random_range(1.0..9.0)).collect(),
            popularity: standard_normal(rng),
            ease: 0.4 * standard_normal(rng),
        }
    }

    /// Fills the row of a random page and returns the causes of its relevance.
    fn page(&self, row: &mut [f32], rng: &mut ChaCha8Rng) -> [f64; CAUSES] {
        let (quality, overall) = (standard_normal(rng), self.ease + 0.7 * standard_normal(rng));
        let mut causes = [0.0; CAUSES];
        let mut whole = vec![0.0; self.rarity.len()];
        let mut whole_length = 0.0;
        for (text, (length, spread, frequency)) in TEXT_SHAPES.into_iter().enumerate() {
            let matching = overall + 0.7 * standard_normal(rng);
            // Pages without incoming links have no anchors.
            let empty = text == 1 && rng.random::<f64>() < 0.5 - 0.2 * quality;
            let more = if text == 1 { 0.5 * quality } else { 0.0 };
            let length = if empty { 0.0 } else { log_normal(length + more, spread, rng).round().max(1.0) };
            let occurs = |rarity: &f64| {
                let rate = (frequency + 0.9 * matching - 0.12 * (rarity - 5.0)).exp();
                poisson(rate * length, rng).min(length)
            };
            let counts: Vec<f64> = self.rarity.iter().map(occurs).collect();
            self.text(text, &counts, length, row);
            whole.iter_mut().zip(&counts).for_each(|(sum, count)| *sum += count);
            whole_length += length;
            causes[text] = matching;
        }
        self.text(TEXTS, &whole, whole_length, row);
        self.of_the_page(&mut row[5 * KINDS..], quality, overall, rng);
        causes[TEXTS] = quality;
        causes[TEXTS + 1] = overall * quality;
        causes
    }

    /// Computes the 25 features of a stream from the number of occurrences of each word.
    fn text(&self, text: usize, counts: &[f64], length: f64, row: &mut [f32]) {
        let words = counts.len() as f64;
        let covered = counts.iter().filter(|&&count| count > 0.0).count() as f64;
        // Words are rarer in short texts.
        let rarity = |word: usize| self.rarity[word] + [0.0, 1.0, 2.0, 3.0, 0.0][text];
        let weighted: Vec<f64> = counts.iter().enumerate().map(|(word, count)| count * rarity(word)).collect();
        let by_length: Vec<f64> = counts.iter().map(|count| count / length.max(1.0)).collect();
        let each =
            |value: &dyn Fn(usize, f64) -> f64| -> f64 { counts.iter().enumerate().map(|(w, &c)| value(w, c)).sum() };
        let typical = TYPICAL[text];
        let bm25 = each(&|word, count| rarity(word) * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length / typical)));
        let general = |word: usize| (-rarity(word) - 2.0).exp();
        let absolute = each(&|word, count| {
            (((count - 0.7).max(0.0) + 0.7 * covered.max(1.0) * general(word)) / (length + 1.0)).ln()
        });
        let dirichlet = each(&|word, count| ((count + typical * general(word)) / (length + typical)).ln());
        let mixed = each(&|word, count| (0.9 * count / length.max(1.0) + 0.1 * general(word)).ln());
        let mut values = [0.0; KINDS];
        values[..4].copy_from_slice(&[covered, covered / words, length, (0..counts.len()).map(rarity).sum()]);
        values[4..9].copy_from_slice(&statistics(counts));
        values[9..14].copy_from_slice(&statistics(&by_length));
        values[14..19].copy_from_slice(&statistics(&weighted));
        values[19] = f64::from(u8::from(covered == words));
        values[20] = weighted.iter().sum::<f64>() / (1.0 + length).sqrt();
        values[21..].copy_from_slice(&[bm25, absolute, dirichlet, mixed]);
        values.into_iter().enumerate().for_each(|(kind, value)| row[5 * kind + text] = value as f32);
    }

    /// Draws the last 11 features: slashes and length of the URL, links in and out, ranks of page and site, two quality
    /// scores, clicks for this query, all clicks, and dwell time.
    fn of_the_page(&self, row: &mut [f32], quality: f64, overall: f64, rng: &mut ChaCha8Rng) {
        let site = 0.6 * quality + 0.8 * standard_normal(rng);
        let mut rank = |of: f64, max: f64| {
            let share = 1.0 / (1.0 + (-of - 0.5 * standard_normal(rng)).exp());
            (max * share).floor()
        };
        let ranks =
            [rank(quality, 65_536.0), rank(site, 65_536.0), rank(1.5 * quality, 256.0), rank(0.7 * quality, 256.0)];
        let mut clicks = |mean: f64, spread: f64| log_normal(mean, spread, rng).floor();
        let own = clicks(-3.5 + 0.8 * overall + 0.8 * quality + self.popularity, 2.0);
        let all = own + clicks(-1.0 + 1.2 * quality, 2.5);
        let time = if all > 0.0 { clicks(4.0 + 0.2 * quality, 0.8) } else { 0.0 };
        let links = [clicks(0.5 + 1.2 * quality, 2.5), clicks(2.5, 1.3)];
        let (slashes, url_length) = (1.0 + poisson(1.6, rng), log_normal(3.7, 0.4, rng).round());
        let values = [[slashes, url_length], links, [ranks[0], ranks[1]], [ranks[2], ranks[3]], [own, all]];
        let values = values.into_iter().flatten().chain([time]);
        row.iter_mut().zip(values).for_each(|(cell, value)| *cell = value as f32);
    }
}

/// Returns sum, minimum, maximum, mean and variance.
fn statistics(values: &[f64]) -> [f64; 5] {
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let variance = values.iter().map(|value| (value - sum / n).powi(2)).sum::<f64>() / n;
    [sum, min, max, sum / n, variance]
}
