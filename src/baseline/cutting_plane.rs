//! Exact minimisation of `|w|^2 / 2 + C max(0, max over planes of (lost - slope . w))`, with planes added step by step.
//!
//! The dual has one non-negative share per plane, with sum C, and maximises `lost . shares - |sum of shares * slopes|^2 / 2`. Each
//! step moves weight between two shares, which keeps their sum.

use super::algebra::{dot, step};
use crate::error::Result;
use crate::stop::Stop;
use serde::{Deserialize, Serialize};

/// A constraint from one choice of rankings: `slope . w` should be at least `lost`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plane {
    pub slope: Vec<f64>,
    pub lost: f64,
}

impl Plane {
    /// By how much the weights violate the constraint.
    pub fn height(&self, weights: &[f64]) -> f64 {
        self.lost - dot(&self.slope, weights)
    }
}

/// A set of cutting planes and the minimum of their regularised maximum.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Planes {
    pub weights: Vec<f64>,
    c: f64,
    /// The first plane is zero and so imposes no constraint.
    planes: Vec<Plane>,
    /// Dual variables, one per plane; their sum is C.
    shares: Vec<f64>,
    /// Dot products of the slopes of all planes that have been computed so far.
    #[serde(skip)]
    products: Vec<Vec<f64>>,
}

/// Number of steps between two checks of the stop signal.
const CHECK_INTERVAL: usize = 1 << 10;
/// Maximum number of steps; a few thousand are typical.
const MAX_STEPS: usize = 1 << 17;

impl Planes {
    /// An empty set, for weights of this many features.
    pub fn new(features: usize) -> Self {
        let zero = Plane { slope: vec![0.0; features], lost: 0.0 };
        Planes { weights: vec![0.0; features], c: 0.0, planes: vec![zero], shares: vec![0.0], products: vec![] }
    }

    /// Continues with the same or a larger C.
    pub fn raise(&mut self, c: f64) {
        self.shares[0] += c - self.c;
        self.c = c;
    }

    /// The height of the highest plane at the weights, at least 0.
    pub fn slack(&self) -> f64 {
        self.planes.iter().map(|plane| plane.height(&self.weights)).fold(0.0, f64::max)
    }

    /// The objective if the highest of all planes, including those not in the set, is at `height`.
    pub fn value(&self, height: f64) -> f64 {
        0.5 * dot(&self.weights, &self.weights) + self.c * height
    }

    /// The dual objective: a lower bound of the objective.
    #[cfg(test)]
    pub fn bound(&self) -> f64 {
        let lost: f64 = self.planes.iter().zip(&self.shares).map(|(plane, share)| plane.lost * share).sum();
        lost - 0.5 * dot(&self.weights, &self.weights)
    }

    /// Adds a plane.
    pub fn add(&mut self, plane: Plane) {
        self.planes.push(plane);
        self.shares.push(0.0);
    }

    /// Removes all planes with a share of 0.
    pub fn prune(&mut self) {
        let mut kept = 0;
        for place in 0..self.planes.len() {
            if place == 0 || self.shares[place] > 0.0 {
                self.planes.swap(kept, place);
                self.shares.swap(kept, place);
                kept += 1;
            }
        }
        self.planes.truncate(kept);
        self.shares.truncate(kept);
        self.products.clear();
    }

    /// Moves the weights to the minimum of the regularised maximum of the planes, to within `tolerance` times C.
    pub fn solve(&mut self, tolerance: f64, stop: &Stop) -> Result<()> {
        self.multiply();
        let mut heights: Vec<f64> =
            self.planes.iter().zip(&self.products).map(|(plane, row)| plane.lost - dot(row, &self.shares)).collect();
        for number in 0..MAX_STEPS {
            if number % CHECK_INTERVAL == 0 {
                stop.check()?;
            }
            let top = (0..heights.len()).fold(0, |top, next| if heights[next] > heights[top] { next } else { top });
            let gap = self.c * heights[top] - dot(&self.shares, &heights);
            if gap <= tolerance * self.c {
                break;
            }
            let Some((from, amount)) = self.exchange(top, &heights) else { break };
            self.shares[top] += amount;
            self.shares[from] = if amount < self.shares[from] { self.shares[from] - amount } else { 0.0 };
            let moved = self.products[top].iter().zip(&self.products[from]);
            heights.iter_mut().zip(moved).for_each(|(height, (to, from))| *height -= amount * (to - from));
        }
        self.weights.fill(0.0);
        for (plane, &share) in self.planes.iter().zip(&self.shares) {
            step(&mut self.weights, share, &plane.slope);
        }
        Ok(())
    }

    /// Computes the products of new planes.
    fn multiply(&mut self) {
        for new in self.products.len()..self.planes.len() {
            let row: Vec<f64> =
                self.planes[..=new].iter().map(|old| dot(&old.slope, &self.planes[new].slope)).collect();
            self.products.iter_mut().zip(&row).for_each(|(products, product)| products.push(*product));
            self.products.push(row);
        }
    }

    /// Returns the plane whose transfer of share to the highest plane gains most, and the amount.
    fn exchange(&self, top: usize, heights: &[f64]) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64, f64)> = None;
        for from in (0..heights.len()).filter(|&from| self.shares[from] > 0.0 && heights[from] < heights[top]) {
            let difference = heights[top] - heights[from];
            let products = &self.products;
            let curvature = products[top][top] + products[from][from] - 2.0 * products[top][from];
            let amount =
                if curvature > 0.0 { (difference / curvature).min(self.shares[from]) } else { self.shares[from] };
            let gain = amount * (difference - 0.5 * amount * curvature.max(0.0));
            if best.is_none_or(|(_, _, best_gain)| gain > best_gain) {
                best = Some((from, amount, gain));
            }
        }
        best.map(|(from, amount, _)| (from, amount))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minima_by_hand() {
        let stop = Stop::new();
        let plane = |slope: [f64; 2], lost: f64| Plane { slope: slope.to_vec(), lost };
        // |w|^2 / 2 + C max(0, 1 - w_1): at w = (1, 0) if C is 1 or more, else at (C, 0).
        for c in [0.25, 1.0, 10.0] {
            let mut planes = Planes::new(2);
            planes.raise(c);
            planes.add(plane([1.0, 0.0], 1.0));
            planes.solve(1e-12, &stop).unwrap();
            assert!((planes.weights[0] - c.min(1.0)).abs() < 1e-6 && planes.weights[1] == 0.0, "{:?}", planes.weights);
            assert!((planes.value(planes.slack()) - planes.bound()).abs() < 1e-9);
        }
        // A second plane, 1 - w_2, at C = 1: both shares are 1/2, and w is (1/2, 1/2).
        let mut planes = Planes::new(2);
        planes.raise(0.5);
        planes.add(plane([1.0, 0.0], 1.0));
        planes.solve(1e-12, &stop).unwrap();
        planes.raise(1.0);
        planes.add(plane([0.0, 1.0], 1.0));
        planes.add(plane([-1.0, -1.0], -2.0));
        planes.solve(1e-12, &stop).unwrap();
        assert!(planes.weights.iter().all(|weight| (weight - 0.5).abs() < 1e-6), "{:?}", planes.weights);
        assert_eq!(planes.shares[3], 0.0);
        planes.prune();
        assert_eq!(planes.planes.len(), 3, "the zero plane and two others");
    }
}
