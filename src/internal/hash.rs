//! A small, stable hash, which is the same in every version and on every machine.

use crate::data::Dataset;
use rayon::prelude::*;

/// FNV-1a over 64-bit words, including the length: fast and stable, but not cryptographic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hasher(u64);

impl Hasher {
    pub(crate) fn new() -> Self {
        Hasher(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn of(bytes: &[u8]) -> u64 {
        let mut hasher = Hasher::new();
        hasher.bytes(bytes);
        hasher.finish()
    }

    pub(crate) fn word(&mut self, word: u64) {
        // Multiplication alone would not propagate high bits of a word to low bits of the state.
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn floats(&mut self, values: &[f32]) {
        self.word(values.len() as u64);
        values.iter().for_each(|value| self.word(u64::from(value.to_bits())));
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

/// Mixes a hash so that every bit of the result depends on every bit of the input (the finalizer of SplitMix64; Steele, Lea and
/// Flood 2014). Without it, sums of hashes would often collide.
fn mix(number: u64) -> u64 {
    let first = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    second ^ (second >> 31)
}

impl Dataset {
    /// Returns a hash of all queries, labels and features.
    ///
    /// It is computed from one hash per query, which caches store, so that hashing any selection of their queries is fast.
    pub fn fingerprint(&self) -> u64 {
        let queries: Vec<u64> =
            (0..self.n_queries()).into_par_iter().map(|query| self.query_fingerprint(query)).collect();
        let mut hasher = Hasher::new();
        hasher.word(self.n_features() as u64);
        queries.into_iter().for_each(|fingerprint| hasher.word(fingerprint));
        hasher.finish()
    }

    /// Returns a hash of the id, labels and features of a query.
    pub(crate) fn query_fingerprint(&self, query: usize) -> u64 {
        if let Some([fingerprint, _]) = self.stored_fingerprints(query) {
            return fingerprint;
        }
        let query = self.query(query);
        let mut hasher = Hasher::new();
        hasher.bytes(query.id.as_bytes());
        hasher.floats(query.labels);
        hasher.floats(&query.features);
        hasher.finish()
    }

    /// Returns a hash of the labels and features of the documents of a query that does not depend on the query id, the order of
    /// documents or trailing zeros. Returns `None` if all features are 0, because such queries cannot be compared.
    ///
    /// ```
    /// use burnrank::Dataset;
    /// let data = |width, features: &[f32]| Dataset::new(width, features.to_vec(), vec![1.0, 1.0], vec![("a".into(), 2)]);
    /// assert_eq!(data(1, &[3.0, 5.0])?.query_key(0), data(2, &[5.0, 0.0, 3.0, 0.0])?.query_key(0));
    /// assert_eq!(data(1, &[0.0, 0.0])?.query_key(0), None);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Panics
    /// When `query` is out of range.
    pub fn query_key(&self, query: usize) -> Option<u64> {
        if let Some([_, key]) = self.stored_fingerprints(query) {
            return Some(key).filter(|&key| key != 0);
        }
        let (query, width) = (self.query(query), self.n_features().max(1));
        let mut any = false;
        let document = |(label, features): (&f32, &[f32])| {
            let mut hasher = Hasher::new();
            // Adding 0 converts -0 to 0.
            hasher.word(u64::from((label + 0.0).to_bits()));
            for (column, value) in features.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                any = true;
                hasher.word((column as u64) << 32 | u64::from(value.to_bits()));
            }
            mix(hasher.finish())
        };
        let documents = query.labels.iter().zip(query.features.chunks(width)).map(document);
        let key = documents.fold(query.labels.len() as u64, u64::wrapping_add);
        any.then_some(key.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_changes_the_fingerprint() {
        let data = |label: f32, value: f32| {
            Dataset::new(1, vec![value, 2.0], vec![label, 0.0], vec![("a".into(), 2)]).unwrap().fingerprint()
        };
        assert_eq!(data(1.0, 1.0), data(1.0, 1.0));
        assert_ne!(data(1.0, 1.0), data(2.0, 1.0));
        assert_ne!(data(1.0, 1.0), data(1.0, f32::from_bits(1.0f32.to_bits() + 1)));
    }

    #[test]
    fn queries_with_similar_documents_have_different_keys() {
        let queries = 1..=200_usize;
        let values = queries.clone().flat_map(|query| [query as f32 + 0.5, query as f32 + 0.25]).collect();
        let labels = queries.clone().flat_map(|_| [1.0, 0.0]).collect();
        let data = Dataset::new(1, values, labels, queries.map(|query| (query.to_string(), 2)).collect()).unwrap();
        let keys: std::collections::HashSet<u64> = (0..200).filter_map(|query| data.query_key(query)).collect();
        assert_eq!(keys.len(), 200);
    }

    #[test]
    fn the_hash_depends_on_bytes_and_length() {
        assert_ne!(Hasher::of(b"a"), Hasher::of(b"a\0"));
        assert_ne!(Hasher::of(b"abcdefgh"), Hasher::of(b"abcdefgi"));
    }
}
