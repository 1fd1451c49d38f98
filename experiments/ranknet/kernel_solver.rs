//! Solver of Eq. 17 for any kernel by Newton's method in double precision, for a few hundred documents.

use anyhow::ensure;
use burnrank::metric::order;
use burnrank::{Dataset, Objective};

/// Kernel: similarity of two documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    Linear,
    Gaussian(f64),
    /// `(x . z + 1)^2`.
    Quadratic,
    /// `tanh(x . z - 1)`, which is not positive: squared norms can be negative.
    Tanh,
}

impl Kernel {
    pub fn value(self, x: &[f32], z: &[f32]) -> f64 {
        let dot: f64 = x.iter().zip(z).map(|(&x, &z)| f64::from(x) * f64::from(z)).sum();
        match self {
            Kernel::Linear => dot,
            Kernel::Gaussian(gamma) => {
                let squares = x.iter().zip(z).map(|(&x, &z)| (f64::from(x) - f64::from(z)).powi(2));
                (-gamma * squares.sum::<f64>()).exp()
            }
            Kernel::Quadratic => (dot + 1.0).powi(2),
            Kernel::Tanh => (dot - 1.0).tanh(),
        }
    }

    /// Kernel matrix of the points.
    pub fn matrix(self, points: &[&[f32]]) -> Vec<f64> {
        points.iter().flat_map(|x| points.iter().map(|z| self.value(x, z))).collect()
    }
}

/// Feature rows of all documents.
pub fn rows(data: &Dataset) -> Vec<&[f32]> {
    data.features().chunks(data.n_features()).collect()
}

/// `F = sum of C + lambda |f|^2` as a function of the coefficients of points; the first points are the documents.
pub struct Problem<'a> {
    pub data: &'a Dataset,
    /// Kernel matrix of all points.
    pub kernel: Vec<f64>,
    pub points: usize,
    pub lambda: f64,
}

/// Cost, gradient and hessian (row-major) with respect to the scores.
pub struct Parts {
    pub cost: f64,
    pub gradient: Vec<f64>,
    pub hessian: Vec<f64>,
}

/// RankNet's cost of all pairs of different labels, by the library's formulas.
pub fn parts(data: &Dataset, scores: &[f64], size: usize) -> anyhow::Result<Parts> {
    let objective = Objective::parse("ranknet")?;
    let field = objective.as_field()?;
    let mut sums = Parts { cost: 0.0, gradient: vec![0.0; size], hessian: vec![0.0; size * size] };
    for query in data.queries() {
        let scores = &scores[query.rows.clone()];
        let order = order(scores);
        let (first, n) = (query.rows.start, scores.len());
        sums.cost += field.cost(scores, query.labels, &order).unwrap_or(f64::NAN);
        let lambdas = field.lambdas(scores, query.labels, &order);
        lambdas.iter().enumerate().for_each(|(i, lambda)| sums.gradient[first + i] = -lambda);
        let jacobian = field.jacobian(scores, query.labels, &order);
        let Some(jacobian) = jacobian else { anyhow::bail!("RankNet has a closed form of its hessian") };
        for i in 0..n {
            (0..n).for_each(|j| sums.hessian[(first + i) * size + first + j] = -jacobian[i * n + j]);
        }
    }
    Ok(sums)
}

pub fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks(vector.len()).map(|row| dot(row, vector)).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves `matrix x = right` by Gaussian elimination with pivoting.
pub fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> anyhow::Result<Vec<f64>> {
    let n = right.len();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| matrix[a * n + column].abs().total_cmp(&matrix[b * n + column].abs()));
        let pivot = pivot.unwrap_or(column);
        ensure!(matrix[pivot * n + column].abs() > 1e-300, "a singular matrix");
        if pivot != column {
            (0..n).for_each(|k| matrix.swap(pivot * n + k, column * n + k));
            right.swap(pivot, column);
        }
        let (upper, lower) = matrix.split_at_mut((column + 1) * n);
        let own = &upper[column * n..];
        let value = right[column];
        for (row, right) in lower.chunks_mut(n).zip(&mut right[column + 1..]) {
            let factor = row[column] / own[column];
            if factor != 0.0 {
                (column..n).for_each(|k| row[k] -= factor * own[k]);
                *right -= factor * value;
            }
        }
    }
    for row in (0..n).rev() {
        let sum: f64 = (row + 1..n).map(|k| matrix[row * n + k] * right[k]).sum();
        right[row] = (right[row] - sum) / matrix[row * n + row];
    }
    Ok(right)
}

impl<'a> Problem<'a> {
    /// A problem over the documents of a data set and additional points.
    pub fn new(data: &'a Dataset, more: &[&[f32]], kernel: Kernel, lambda: f64) -> Problem<'a> {
        let mut points = rows(data);
        points.extend(more);
        Problem { data, kernel: kernel.matrix(&points), points: points.len(), lambda }
    }

    pub fn scores(&self, alphas: &[f64]) -> Vec<f64> {
        times(&self.kernel, alphas)
    }

    /// F.
    pub fn value(&self, alphas: &[f64]) -> anyhow::Result<f64> {
        let scores = self.scores(alphas);
        Ok(parts(self.data, &scores, self.points)?.cost + self.lambda * dot(alphas, &scores))
    }

    /// Minimises F for a positive kernel from `start`; returns the coefficients and the minimum.
    pub fn minimum(&self, start: &[f64]) -> anyhow::Result<(Vec<f64>, f64)> {
        let n = self.points;
        let mut alphas = start.to_vec();
        let mut value = self.value(&alphas)?;
        for _ in 0..60 {
            let scores = self.scores(&alphas);
            let Parts { gradient, hessian, .. } = parts(self.data, &scores, n)?;
            // (L K + 2 lambda) step = -(g + 2 lambda alpha); L is 0 outside the blocks of queries.
            let mut matrix = vec![0.0; n * n];
            for i in 0..n {
                for k in (0..n).filter(|k| hessian[i * n + k] != 0.0) {
                    let factor = hessian[i * n + k];
                    (0..n).for_each(|j| matrix[i * n + j] += factor * self.kernel[k * n + j]);
                }
                matrix[i * n + i] += 2.0 * self.lambda;
            }
            let right = gradient.iter().zip(&alphas).map(|(g, alpha)| -(g + 2.0 * self.lambda * alpha)).collect();
            let step = solve(matrix, right)?;
            let mut length = 1.0;
            let (next, after) = loop {
                let next: Vec<f64> = alphas.iter().zip(&step).map(|(alpha, step)| alpha + length * step).collect();
                let after = self.value(&next)?;
                if after <= value || length < 1e-6 {
                    break (next, after);
                }
                length /= 2.0;
            };
            let gained = value - after;
            if gained <= 1e-14 * value.abs() {
                break;
            }
            (alphas, value) = (next, after);
        }
        Ok((alphas, value))
    }

    /// F after gradient descent in the kernel's space from 0: `alpha -= rate (g + 2 lambda alpha)`.
    pub fn descend(&self, steps: usize) -> anyhow::Result<f64> {
        let n = self.points;
        let sum = |row: &[f64]| row.iter().map(|x| x.abs()).sum::<f64>();
        let largest = |matrix: &[f64]| matrix.chunks(n).map(sum).fold(0.0, f64::max);
        let mut alphas = vec![0.0; n];
        // The hessian of a pair is largest at equal scores, as at the start.
        let rate = 1.0 / (largest(&self.kernel) * largest(&parts(self.data, &alphas, n)?.hessian) + 2.0 * self.lambda);
        for _ in 0..steps {
            let gradient = parts(self.data, &self.scores(&alphas), n)?.gradient;
            alphas.iter_mut().zip(gradient).for_each(|(alpha, g)| *alpha -= rate * (g + 2.0 * self.lambda * *alpha));
        }
        self.value(&alphas)
    }

    /// Hessian of F with respect to the coefficients: `K L K + 2 lambda K`.
    pub fn hessian(&self, alphas: &[f64]) -> anyhow::Result<Vec<f64>> {
        let n = self.points;
        let hessian = parts(self.data, &self.scores(alphas), n)?.hessian;
        let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let mut product = vec![0.0; n * n];
            for i in 0..n {
                for k in 0..n {
                    (0..n).for_each(|j| product[i * n + j] += a[i * n + k] * b[k * n + j]);
                }
            }
            product
        };
        let first = product(&product(&self.kernel, &hessian), &self.kernel);
        Ok(first.iter().zip(&self.kernel).map(|(first, k)| first + 2.0 * self.lambda * k).collect())
    }
}

/// Minimises `sum of C + lambda |w|^2` over the weights of a linear ranker; returns the weights and the minimum.
pub fn linear(data: &Dataset, lambda: f64) -> anyhow::Result<(Vec<f64>, f64)> {
    let (n, width) = (data.n_documents(), data.n_features());
    let rows = rows(data);
    let score = |weights: &[f64]| -> Vec<f64> {
        rows.iter().map(|row| row.iter().zip(weights).map(|(&x, w)| f64::from(x) * w).sum()).collect()
    };
    let mut weights = vec![0.0; width];
    for _ in 0..60 {
        let Parts { gradient, hessian, .. } = parts(data, &score(&weights), n)?;
        let mut matrix = vec![0.0; width * width];
        let mut right: Vec<f64> = weights.iter().map(|w| -2.0 * lambda * w).collect();
        for i in 0..n {
            (0..width).for_each(|a| right[a] -= gradient[i] * f64::from(rows[i][a]));
            for j in (0..n).filter(|j| hessian[i * n + j] != 0.0) {
                for a in 0..width {
                    let factor = hessian[i * n + j] * f64::from(rows[i][a]);
                    (0..width).for_each(|b| matrix[a * width + b] += factor * f64::from(rows[j][b]));
                }
            }
        }
        matrix.iter_mut().step_by(width + 1).for_each(|diagonal| *diagonal += 2.0 * lambda);
        let step = solve(matrix, right)?;
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight += step);
        if step.iter().all(|step| step.abs() < 1e-13) {
            break;
        }
    }
    let value = parts(data, &score(&weights), n)?.cost + lambda * dot(&weights, &weights);
    Ok((weights, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        let solution = solve(vec![0.0, 2.0, 1.0, 1.0], vec![2.0, 3.0]).unwrap();
        assert_eq!(solution, [2.0, 1.0]);
        assert!(solve(vec![0.0; 4], vec![1.0; 2]).is_err());
    }

    #[test]
    fn the_gradient_of_f_vanishes_at_its_minimum() {
        let features = vec![0.1, 0.7, -0.3, 0.4, 0.9, -0.8, 0.2, 0.5];
        let data = Dataset::new(2, features, vec![1.0, 0.0, 2.0, 1.0], vec![("1".into(), 4)]).unwrap();
        for kernel in [Kernel::Linear, Kernel::Gaussian(0.5)] {
            let problem = Problem::new(&data, &[], kernel, 0.1);
            let (alphas, value) = problem.minimum(&[0.0; 4]).unwrap();
            for at in 0..4 {
                let moved = |step: f64| {
                    let mut moved = alphas.clone();
                    moved[at] += step;
                    problem.value(&moved).unwrap()
                };
                assert!((moved(1e-4) - moved(-1e-4)).abs() < 1e-9 && moved(1e-2) > value);
            }
            assert!((problem.descend(5000).unwrap() - value).abs() < 1e-6);
        }
    }
}
