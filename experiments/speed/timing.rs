//! How long something takes, and how much memory the process holds while it does.

use serde::Serialize;
use std::time::Instant;

/// How often something is repeated.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The most repeats, but for work so short that they take less than a tenth of the seconds: that is repeated on, or a
    /// slow moment of the machine would be all there is.
    pub repeats: usize,
    /// No repeat starts later than this after the first.
    pub seconds: f64,
}

/// Seconds of several repeats: the minimum is what the machine can do, the median what it did.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Timing {
    pub seconds: f64,
    pub median: f64,
    pub repeats: usize,
}

impl Timing {
    /// Of two rounds of repeats, the one with the lower minimum.
    pub fn or_better(self, other: Timing) -> Timing {
        let better = if other.seconds < self.seconds { other } else { self };
        Timing { repeats: self.repeats + other.repeats, ..better }
    }

    /// Of the seconds of each repeat.
    pub fn of(mut all: Vec<f64>) -> Timing {
        all.sort_by(f64::total_cmp);
        let at = |place: usize| all.get(place).copied().unwrap_or(f64::NAN);
        Timing { seconds: at(0), median: at(all.len() / 2), repeats: all.len() }
    }
}

impl Patience {
    /// Repeats work that says itself how many seconds of it count. The first repeat warms up, and counts only if it alone
    /// takes all the time there is.
    pub fn repeat(self, mut work: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<Timing> {
        let start = Instant::now();
        let warm = work()?;
        if start.elapsed().as_secs_f64() > self.seconds {
            return Ok(Timing::of(vec![warm]));
        }
        let start = Instant::now();
        let mut all = vec![];
        let mut sum = 0.0;
        while (all.len() < self.repeats || sum < 0.1 * self.seconds)
            && (all.is_empty() || start.elapsed().as_secs_f64() < self.seconds)
        {
            all.push(work()?);
            sum += all.last().copied().unwrap_or(0.0);
        }
        Ok(Timing::of(all))
    }

    /// Repeats work of which everything counts.
    pub fn time<T>(self, mut work: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<Timing> {
        self.repeat(|| {
            let start = Instant::now();
            std::hint::black_box(work()?);
            Ok(start.elapsed().as_secs_f64())
        })
    }
}

/// The largest resident memory of the process since the last [`forget_peak`], in bytes, where the system tells.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}

/// Starts the peak anew from what is resident now; whether the system can do that.
pub fn forget_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The peak of the memory during some work, where the system tells.
pub fn with_peak<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Option<f64>)> {
    let can = forget_peak();
    let result = work()?;
    Ok((result, if can { peak_memory() } else { None }))
}

/// The slope of a straight line through the logarithms of points, by least squares; none of fewer than two.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let slope =
        logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    slope.is_finite().then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_powers() {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 8.0].map(|x: f64| (x, 3.0 * x.powf(1.5))).to_vec();
        assert!((slope(&points).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(slope(&points[..1]), None);
        assert_eq!(slope(&[]), None);
    }

    #[test]
    fn the_first_repeat_warms_up_unless_there_is_no_time_for_more() {
        let mut seconds = [9.0, 3.0, 1.0, 2.0].into_iter();
        let patience = Patience { repeats: 3, seconds: 60.0 };
        let timing = patience.repeat(|| Ok(seconds.next().unwrap_or(f64::NAN))).unwrap();
        assert_eq!((timing.seconds, timing.median, timing.repeats), (1.0, 2.0, 3));
        let timing = Patience { repeats: 3, seconds: 0.0 }.repeat(|| Ok(9.0)).unwrap();
        assert_eq!((timing.seconds, timing.repeats), (9.0, 1));
    }
}
