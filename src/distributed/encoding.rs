//! Encoding of numbers and bytes as 32-bit words.

/// Encodes bytes, preceded by their number.
pub(crate) fn of_bytes(bytes: &[u8]) -> Vec<u32> {
    let mut words = of_doubles([bytes.len() as u64]);
    words.extend(bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    }));
    words
}

/// The inverse of [`of_bytes`]; truncated input gives fewer bytes.
pub(crate) fn bytes_of(words: &[u32]) -> Vec<u8> {
    let (head, rest) = words.split_at(words.len().min(2));
    let length = doubles_of(head).next().unwrap_or(0) as usize;
    let mut bytes: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}

/// Encodes each 64-bit word as two 32-bit words.
pub(crate) fn of_doubles(values: impl IntoIterator<Item = u64>) -> Vec<u32> {
    values.into_iter().flat_map(|value| [value as u32, (value >> 32) as u32]).collect()
}

/// The inverse of [`of_doubles`].
pub(crate) fn doubles_of(words: &[u32]) -> impl Iterator<Item = u64> + '_ {
    words.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_numbers_round_trip() {
        for bytes in [&b""[..], b"a", b"abcd", b"abcde"] {
            assert_eq!(bytes_of(&of_bytes(bytes)), bytes);
        }
        let values = [0, 1, u64::MAX, f64::NAN.to_bits(), 1 << 40];
        assert_eq!(doubles_of(&of_doubles(values)).collect::<Vec<_>>(), values);
        assert!(bytes_of(&[]).is_empty());
    }
}
