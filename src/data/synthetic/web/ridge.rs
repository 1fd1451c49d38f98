//! Ridge regression on binary columns.

/// A binary column, 64 rows per word.
#[derive(Debug, Clone)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(rows: impl Iterator<Item = bool>) -> Bits {
        let mut words = vec![];
        for (row, one) in rows.enumerate() {
            if row % 64 == 0 {
                words.push(0);
            }
            words[row / 64] |= u64::from(one) << (row % 64);
        }
        Bits(words)
    }

    pub(super) fn ones(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn both(&self, other: &Bits) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones()).sum()
    }

    fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(word, &bits)| (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * word + bit))
    }
}

/// Returns the weights w that minimize the sum of (y - mean(y) - sum_k w_k (b_k - mean(b_k)))^2 + penalty · rows · |w|^2.
///
/// The normal equations contain only counts of ones and sums of y over ones. They are solved by Cholesky decomposition.
pub(super) fn ridge(columns: &[Bits], y: &[f64], penalty: f64) -> Vec<f64> {
    let (n, size) = (y.len() as f64, columns.len());
    let mean = y.iter().sum::<f64>() / n;
    let ones: Vec<f64> = columns.iter().map(|column| f64::from(column.ones())).collect();
    let mut matrix = vec![vec![0.0; size]; size];
    for i in 0..size {
        for j in 0..=i {
            let diagonal = if i == j { penalty * n } else { 0.0 };
            matrix[i][j] = f64::from(columns[i].both(&columns[j])) - ones[i] * ones[j] / n + diagonal;
        }
    }
    let mut right: Vec<f64> = columns.iter().map(|column| column.rows().map(|row| y[row] - mean).sum()).collect();
    // Replaces the lower triangle with L of L L^T; the penalty keeps the diagonal positive.
    for i in 0..size {
        for j in 0..=i {
            let (above, row) = matrix.split_at_mut(i);
            let other = if j < i { &above[j] } else { &row[0] };
            let sum: f64 = row[0][..j].iter().zip(&other[..j]).map(|(a, b)| a * b).sum();
            let rest = row[0][j] - sum;
            row[0][j] = if j < i { rest / other[j] } else { rest.max(f64::MIN_POSITIVE).sqrt() };
        }
    }
    for i in 0..size {
        let sum: f64 = (0..i).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|j| matrix[j][i] * right[j]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_vanishes_at_the_solution() {
        let bit = |row: usize, k: usize| (row * (k + 3) + k * k).is_multiple_of(k + 2);
        let (rows, size, penalty) = (500, 7, 0.01);
        let columns: Vec<Bits> = (0..size).map(|k| Bits::new((0..rows).map(|row| bit(row, k)))).collect();
        let y: Vec<f64> =
            (0..rows).map(|row| ((row * 37) % 101) as f64 / 50.0 + f64::from(u8::from(bit(row, 2)))).collect();
        let weights = ridge(&columns, &y, penalty);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let x: Vec<Vec<f64>> =
            (0..size).map(|k| (0..rows).map(|row| f64::from(u8::from(bit(row, k)))).collect()).collect();
        let centred = |k: usize, row: usize| x[k][row] - mean(&x[k]);
        let rest: Vec<f64> = (0..rows)
            .map(|row| y[row] - mean(&y) - (0..size).map(|k| weights[k] * centred(k, row)).sum::<f64>())
            .collect();
        for (k, weight) in weights.iter().enumerate() {
            let gradient: f64 = (0..rows).map(|row| centred(k, row) * rest[row]).sum();
            assert!((gradient - penalty * rows as f64 * weight).abs() < 1e-9, "{k}: {gradient}");
        }
        assert!(weights[2] > 0.5, "{weights:?}");
        assert_eq!(ridge(&[], &y, penalty), Vec::<f64>::new());
    }

    #[test]
    fn ones_are_counted_across_words() {
        let bits = Bits::new((0..130).map(|row| row % 3 == 0));
        assert_eq!((bits.ones(), bits.both(&Bits::new((0..130).map(|row| row % 2 == 0)))), (44, 22));
        assert!(bits.rows().eq((0..130).filter(|row| row % 3 == 0)));
    }
}
