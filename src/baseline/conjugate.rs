//! Minimises a smooth function by conjugate gradients.

use super::algebra::dot;
use crate::error::Result;

/// Sufficient decrease: fraction of the decrease predicted by the slope at the start of a step (Armijo).
const SUFFICIENT: f64 = 1e-4;
/// A line search ends where the slope is at most this fraction of the slope at its start.
const FLAT: f64 = 0.2;
/// Maximum number of function evaluations per line search.
const MAX_EVALUATIONS: usize = 20;
/// Minimum decrease per step, relative to the value.
const TOLERANCE: f64 = 1e-9;

/// A point of a function, with the value and the gradient there.
#[derive(Clone)]
struct At {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// Minimises from `point` by Polak-Ribière conjugate gradients, until a step gains nothing or after `iterations` steps. `function`
/// returns its value and gradient. Returns the last point and its value, which is at most the initial one.
///
/// # Errors
/// Errors of the function.
pub(super) fn minimise(
    point: Vec<f64>,
    iterations: usize,
    mut function: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>)>,
) -> Result<(Vec<f64>, f64)> {
    let (value, gradient) = function(&point)?;
    let mut current = At { point, value, gradient };
    let mut direction: Vec<f64> = current.gradient.iter().map(|x| -x).collect();
    let mut length = 0.1 * norm(&current.point).max(1.0) / norm(&direction);
    for _ in 0..iterations {
        let mut slope = dot(&current.gradient, &direction);
        if slope >= 0.0 {
            direction = current.gradient.iter().map(|x| -x).collect();
            slope = dot(&current.gradient, &direction);
        }
        if slope == 0.0 || !length.is_finite() {
            break;
        }
        let Some((step, next)) = step(&current, &direction, slope, length, &mut function)? else { break };
        let decrease = current.value - next.value;
        let change: f64 = next.gradient.iter().zip(&current.gradient).map(|(new, old)| new * (new - old)).sum();
        let keep = (change / dot(&current.gradient, &current.gradient)).max(0.0);
        direction.iter_mut().zip(&next.gradient).for_each(|(old, new)| *old = keep * *old - new);
        // The next step is likely to gain as much as this one.
        let next_slope = dot(&next.gradient, &direction);
        length = if next_slope < 0.0 { (step * slope / next_slope).min(10.0 * step) } else { step };
        current = next;
        if decrease <= TOLERANCE * current.value.abs() {
            break;
        }
    }
    Ok((current.point, current.value))
}

/// Line search along a descent direction. Returns the length of the step and its end, or `None` if no lower point is found.
fn step(
    from: &At,
    direction: &[f64],
    slope: f64,
    first: f64,
    function: &mut impl FnMut(&[f64]) -> Result<(f64, Vec<f64>)>,
) -> Result<Option<(f64, At)>> {
    // Length, value and slope at the ends of an interval that contains a minimum; the near end descends towards the far one.
    let mut near = (0.0, from.value, slope);
    let mut far: Option<(f64, f64, f64)> = None;
    let mut best: Option<(f64, At)> = None;
    let mut length = first;
    for _ in 0..MAX_EVALUATIONS {
        let point: Vec<f64> = from.point.iter().zip(direction).map(|(x, d)| x + length * d).collect();
        let (value, gradient) = function(&point)?;
        let trial = (length, value, dot(&gradient, direction));
        let decreases = value.is_finite() && value <= from.value + SUFFICIENT * length * slope;
        if decreases && best.as_ref().is_none_or(|(_, best)| value < best.value) {
            best = Some((length, At { point, value, gradient }));
            if trial.2.abs() <= -FLAT * slope {
                break;
            }
        }
        if decreases && trial.2 < 0.0 && value <= near.1 {
            near = trial
        } else {
            far = Some(trial)
        }
        length = match far {
            None => 3.0 * length,
            Some(far) => between(near, far),
        };
    }
    Ok(best)
}

/// Minimum of the cubic through two points with given slopes, kept away from both ends.
fn between(near: (f64, f64, f64), far: (f64, f64, f64)) -> f64 {
    let width = far.0 - near.0;
    let first = near.2 + far.2 - 3.0 * (far.1 - near.1) / width;
    let second = (first * first - near.2 * far.2).sqrt();
    let share = 1.0 - (far.2 + second - first) / (far.2 - near.2 + 2.0 * second);
    let share = if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.5 };
    near.0 + share * width
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_a_quadratic_and_of_a_curved_valley() {
        // Σ c (x - 1)² with very different c.
        let scales = [1.0, 10.0, 0.1, 300.0];
        let quadratic = |x: &[f64]| {
            let value = x.iter().zip(scales).map(|(x, c)| c * (x - 1.0) * (x - 1.0)).sum();
            Ok((value, x.iter().zip(scales).map(|(x, c)| 2.0 * c * (x - 1.0)).collect()))
        };
        let (point, value) = minimise(vec![0.0; 4], 200, quadratic).unwrap();
        assert!(value < 1e-6 && point.iter().all(|x| (x - 1.0).abs() < 1e-2), "{value} {point:?}");

        // Rosenbrock's function: (1 - x)² + 100 (y - x²)².
        let valley = |at: &[f64]| {
            let (x, y) = (at[0], at[1]);
            let bend = y - x * x;
            Ok(((1.0 - x).powi(2) + 100.0 * bend * bend, vec![2.0 * (x - 1.0) - 400.0 * x * bend, 200.0 * bend]))
        };
        let (point, value) = minimise(vec![-1.2, 1.0], 1000, valley).unwrap();
        assert!(value < 1e-6, "{value} at {point:?}");
    }

    #[test]
    fn flat_functions_and_kinks() {
        let flat = |x: &[f64]| Ok((3.0, vec![0.0; x.len()]));
        assert_eq!(minimise(vec![1.0, 2.0], 10, flat).unwrap(), (vec![1.0, 2.0], 3.0));
        // A kink: the gradient jumps at the minimum.
        let kink = |x: &[f64]| Ok((x[0].abs(), vec![x[0].signum()]));
        let (point, value) = minimise(vec![1.0], 50, kink).unwrap();
        assert!(value <= 1.0 && point[0].is_finite());
    }
}
