//! The least value of a smooth function, by conjugate gradients.

use crate::error::Result;

/// A step must gain this share of what the slope at its start promises.
const ENOUGH: f64 = 1e-4;
/// A step ends where the slope is at most this share of that at its start.
const FLAT: f64 = 0.2;
/// Values that one step may look at.
const LOOKS: usize = 20;
/// A gain of less than this, relative to the value, is none.
const NO_GAIN: f64 = 1e-9;

/// A point of a function, with the value and the gradient there.
#[derive(Clone)]
struct At {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// Goes down from `point` by the conjugate gradients of Polak and Ribière, until nothing is gained or all `iterations` are
/// made. The function gives its value and its gradient. Returns the last point and its value, which is never above the first.
///
/// # Errors
/// The function's own.
pub(super) fn minimise(
    point: Vec<f64>,
    iterations: usize,
    mut function: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>)>,
) -> Result<(Vec<f64>, f64)> {
    let (value, gradient) = function(&point)?;
    let mut now = At { point, value, gradient };
    let mut direction: Vec<f64> = now.gradient.iter().map(|slope| -slope).collect();
    let mut length = 0.1 * norm(&now.point).max(1.0) / norm(&direction);
    for _ in 0..iterations {
        let mut slope = dot(&now.gradient, &direction);
        if slope >= 0.0 {
            direction = now.gradient.iter().map(|slope| -slope).collect();
            slope = dot(&now.gradient, &direction);
        }
        if slope == 0.0 || !length.is_finite() {
            break;
        }
        let Some((step, next)) = step(&now, &direction, slope, length, &mut function)? else { break };
        let gained = now.value - next.value;
        let change: f64 = next.gradient.iter().zip(&now.gradient).map(|(new, old)| new * (new - old)).sum();
        let keep = (change / dot(&now.gradient, &now.gradient)).max(0.0);
        direction.iter_mut().zip(&next.gradient).for_each(|(old, slope)| *old = keep * *old - slope);
        // The next step is likely to gain as much as this one did.
        let ahead = dot(&next.gradient, &direction);
        length = if ahead < 0.0 { (step * slope / ahead).min(10.0 * step) } else { step };
        now = next;
        if gained <= NO_GAIN * now.value.abs() {
            break;
        }
    }
    Ok((now.point, now.value))
}

/// One step along a line that falls: its length, and where it ends. None where nothing lower is found.
fn step(
    from: &At,
    direction: &[f64],
    slope: f64,
    first: f64,
    function: &mut impl FnMut(&[f64]) -> Result<(f64, Vec<f64>)>,
) -> Result<Option<(f64, At)>> {
    // Length, value and slope of the ends of a stretch that holds a low: the near end falls towards the far one.
    let mut near = (0.0, from.value, slope);
    let mut far: Option<(f64, f64, f64)> = None;
    let mut best: Option<(f64, At)> = None;
    let mut length = first;
    for _ in 0..LOOKS {
        let point: Vec<f64> = from.point.iter().zip(direction).map(|(x, d)| x + length * d).collect();
        let (value, gradient) = function(&point)?;
        let here = (length, value, dot(&gradient, direction));
        let falls = value.is_finite() && value <= from.value + ENOUGH * length * slope;
        if falls && best.as_ref().is_none_or(|(_, best)| value < best.value) {
            best = Some((length, At { point, value, gradient }));
            if here.2.abs() <= -FLAT * slope {
                break;
            }
        }
        if falls && here.2 < 0.0 && value <= near.1 {
            near = here
        } else {
            far = Some(here)
        }
        length = match far {
            None => 3.0 * length,
            Some(far) => between(near, far),
        };
    }
    Ok(best)
}

/// The low of the cubic through two points with their slopes; kept away from both ends.
fn between(near: (f64, f64, f64), far: (f64, f64, f64)) -> f64 {
    let width = far.0 - near.0;
    let first = near.2 + far.2 - 3.0 * (far.1 - near.1) / width;
    let second = (first * first - near.2 * far.2).sqrt();
    let share = 1.0 - (far.2 + second - first) / (far.2 - near.2 + 2.0 * second);
    let share = if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.5 };
    near.0 + share * width
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_of_a_quadratic_and_of_a_curved_valley() {
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
    fn nothing_to_gain_is_no_trouble() {
        let flat = |x: &[f64]| Ok((3.0, vec![0.0; x.len()]));
        assert_eq!(minimise(vec![1.0, 2.0], 10, flat).unwrap(), (vec![1.0, 2.0], 3.0));
        // A kink: the low is where the gradient jumps.
        let kink = |x: &[f64]| Ok((x[0].abs(), vec![x[0].signum()]));
        let (point, value) = minimise(vec![1.0], 50, kink).unwrap();
        assert!(value <= 1.0 && point[0].is_finite());
    }
}
