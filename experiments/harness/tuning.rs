//! Equal tuning: the same grid for everything that is compared, extended if the best value is at its end.

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// Result of a search over one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    pub best: f64,
    /// Each value tried and its validation metric, in ascending order of values.
    pub trials: Vec<(f64, f64)>,
    /// Whether the best value is still at the end of the values tried.
    pub at_edge: bool,
}

/// Searches an ascending geometric grid. While the best value is at an end, extends the grid at that end by the same factor, at
/// most `more` times.
///
/// `value` returns the validation metric of a setting; larger is better. Ties go to the smaller setting.
pub fn tune(grid: &[f64], more: usize, mut value: impl FnMut(f64) -> anyhow::Result<f64>) -> anyhow::Result<Tuned> {
    let mut trials: Vec<(f64, f64)> = vec![];
    for &setting in grid {
        trials.push((setting, value(setting)?));
    }
    let factor =
        if grid.len() > 1 { (grid[grid.len() - 1] / grid[0]).powf(1.0 / (grid.len() - 1) as f64) } else { 3.0 };
    let place = |trials: &[(f64, f64)]| {
        let best = trials.iter().map(|trial| trial.1).fold(f64::NEG_INFINITY, f64::max);
        trials.iter().position(|trial| trial.1 == best)
    };
    let mut left = more;
    loop {
        let best = place(&trials).context("no setting reached a number")?;
        let at_edge = best == 0 || best + 1 == trials.len();
        if !at_edge || left == 0 {
            return Ok(Tuned { best: trials[best].0, trials, at_edge });
        }
        left -= 1;
        // Two significant digits, so that tables show the exact values.
        let setting = rounded(if best == 0 { trials[0].0 / factor } else { trials[best].0 * factor });
        let reached = (setting, value(setting)?);
        if best == 0 { trials.insert(0, reached) } else { trials.push(reached) }
    }
}

/// The validation metric of a setting with which training diverges: 0.
pub fn or_diverged(value: anyhow::Result<f64>) -> anyhow::Result<f64> {
    match value {
        Err(error) if matches!(error.downcast_ref(), Some(burnrank::Error::Training(_))) => Ok(0.0),
        value => value,
    }
}

fn rounded(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_grows_towards_the_best() {
        let peak = |at: f64| move |x: f64| Ok(-(x.ln() - at.ln()).abs());
        let inside = tune(&[0.01, 0.1, 1.0], 3, peak(0.1)).unwrap();
        assert_eq!((inside.best, inside.trials.len(), inside.at_edge), (0.1, 3, false));
        let below = tune(&[0.01, 0.1, 1.0], 3, peak(0.0001)).unwrap();
        assert_eq!((below.best, below.trials.len(), below.at_edge), (0.0001, 6, false));
        let beyond = tune(&[0.01, 0.1, 1.0], 2, peak(1000.0)).unwrap();
        assert_eq!((beyond.best, beyond.at_edge), (100.0, true));
        assert!(beyond.trials.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
