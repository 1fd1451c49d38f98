//! Padding of rows that were written before the final number of features was known.

use super::header;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// Approximate number of bytes moved at a time.
const AT_ONCE: usize = 1 << 22;

/// Pads all rows in place to `width` features with the bytes of a value, `padding`.
///
/// `parts` lists pairs of a number of rows and their number of features, in the order of the file. Rows only move towards the
/// end of the file, so the last rows are moved first.
pub(super) fn widen_rows(
    file: &mut File,
    parts: &[(usize, usize)],
    width: usize,
    padding: &[u8],
) -> std::io::Result<()> {
    let value = padding.len();
    let wide = width * value;
    let mut row: usize = parts.iter().map(|(rows, _)| rows).sum();
    let mut end = header::BYTES + parts.iter().map(|(rows, width)| rows * width * value).sum::<usize>();
    let at_once = (AT_ONCE / wide.max(1)).max(1);
    let mut from = Vec::new();
    for &(rows, own) in parts.iter().rev() {
        let narrow = own * value;
        let mut left = rows;
        while left > 0 {
            let count = left.min(at_once);
            (left, row, end) = (left - count, row - count, end - count * narrow);
            from.resize(count * narrow, 0);
            file.seek(SeekFrom::Start(end as u64))?;
            file.read_exact(&mut from)?;
            let mut to = padding.repeat(count * width);
            for (index, row) in to.chunks_exact_mut(wide).enumerate() {
                row[..narrow].copy_from_slice(&from[index * narrow..][..narrow]);
            }
            file.seek(SeekFrom::Start((header::BYTES + row * wide) as u64))?;
            file.write_all(&to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_order_and_are_padded() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[9; header::BYTES]).unwrap();
        file.write_all(&[1, 2, 3, 3, 4, 4, 5, 5, 5]).unwrap();
        widen_rows(&mut file, &[(2, 1), (1, 0), (2, 2), (1, 3)], 3, &[7]).unwrap();
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes[..header::BYTES], [9; header::BYTES]);
        assert_eq!(bytes[header::BYTES..], [1, 7, 7, 2, 7, 7, 7, 7, 7, 3, 3, 7, 4, 4, 7, 5, 5, 5]);
    }
}
