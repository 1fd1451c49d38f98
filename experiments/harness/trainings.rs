//! Whether training runs were limited by the maximum number of epochs or the grid of learning rates.

use burnrank::internal::text::{Table, number};

/// A training run, as far as it shows whether its limits were wide enough.
#[derive(Debug, Clone)]
pub struct Went {
    /// Name of the configuration; runs with the same name share a row.
    pub what: String,
    /// Learning rate of the run, if it was tuned.
    pub step: Option<f64>,
    /// Whether the learning rate is at the end of the grid; `None` if there was no grid.
    pub at_edge: Option<bool>,
    /// Number of the best epoch, counted over all restarts.
    pub best_epoch: usize,
    /// Maximum number of epochs.
    pub allowed: usize,
}

impl Went {
    /// A run without a tuned learning rate.
    pub fn new(what: impl Into<String>, best_epoch: usize, allowed: usize) -> Went {
        Went { what: what.into(), step: None, at_edge: None, best_epoch, allowed }
    }

    /// Adds the learning rate, chosen among trials, each with its validation value; further seeds share the choice of the
    /// first and count once.
    pub fn tuned(self, learning_rate: f64, trials: &[(f64, f64)], is_first_seed: bool) -> Went {
        let rates = || trials.iter().map(|trial| trial.0);
        let ends = [rates().fold(f64::INFINITY, f64::min), rates().fold(f64::NEG_INFINITY, f64::max)];
        let at_edge = is_first_seed.then(|| ends.contains(&learning_rate));
        Went { step: Some(learning_rate), at_edge, ..self }
    }

    /// Returns whether the best epoch is in the last tenth of the allowed epochs: a higher limit might have changed it.
    fn is_late(&self) -> bool {
        10 * self.best_epoch > 9 * self.allowed
    }
}

/// Returns a table with one row per name, in the order of first runs.
pub fn table(runs: &[Went]) -> Table {
    let late = |runs: &[&Went]| runs.iter().filter(|run| run.is_late()).count();
    let title = format!(
        "Limits of training: {} of {} runs have their best epoch in the last tenth of the allowed epochs, where a higher limit \
         might change it{}:",
        late(&runs.iter().collect::<Vec<_>>()),
        runs.len(),
        at_edges(runs.iter()).map_or(String::new(), |(edge, all)| format!(
            "; {edge} of {all} tuned settings are at the edge of their grid"
        ))
    );
    let (stepped, tuned) = (runs.iter().any(|run| run.step.is_some()), runs.iter().any(|run| run.at_edge.is_some()));
    let mut head = vec!["model", "runs", "best epoch: median", "latest", "allowed epochs", "in the last tenth"];
    if stepped {
        head.push("learning rates (runs)");
    }
    if tuned {
        head.push("at the edge of the grid");
    }
    let mut table = Table::titled(title, &head);
    for own in groups(runs) {
        let mut best: Vec<usize> = own.iter().map(|run| run.best_epoch).collect();
        best.sort_unstable();
        let mut row = vec![
            own[0].what.clone(),
            own.len().to_string(),
            best[best.len() / 2].to_string(),
            best[best.len() - 1].to_string(),
            own.iter().map(|run| run.allowed).max().unwrap_or(0).to_string(),
            late(&own).to_string(),
        ];
        if stepped {
            row.push(learning_rates(&own));
        }
        if tuned {
            row.push(at_edges(own.iter().copied()).map_or("-".into(), |(edge, all)| format!("{edge} of {all}")));
        }
        table.row(row);
    }
    table
}

fn groups(runs: &[Went]) -> Vec<Vec<&Went>> {
    let mut groups: Vec<Vec<&Went>> = vec![];
    for run in runs {
        match groups.iter_mut().find(|group| group[0].what == run.what) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

/// The number of tuned settings at an end of their grid, and the number of tuned settings.
fn at_edges<'a>(runs: impl Iterator<Item = &'a Went>) -> Option<(usize, usize)> {
    let known: Vec<bool> = runs.filter_map(|run| run.at_edge).collect();
    (!known.is_empty()).then(|| (known.iter().filter(|edge| **edge).count(), known.len()))
}

/// Each learning rate with its number of runs, in ascending order.
fn learning_rates(runs: &[&Went]) -> String {
    let mut steps: Vec<f64> = runs.iter().filter_map(|run| run.step).collect();
    steps.sort_by(f64::total_cmp);
    let each: Vec<String> =
        steps.chunk_by(|a, b| a == b).map(|same| format!("{} ({})", number(same[0]), same.len())).collect();
    if each.is_empty() { "-".into() } else { each.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_how_late_the_best_epochs_are() {
        let run = |what: &str, step: f64, best_epoch| Went {
            step: Some(step),
            at_edge: Some(step > 0.05),
            ..Went::new(what, best_epoch, 100)
        };
        let runs = [run("b", 0.1, 90), run("b", 0.01, 91), run("a", 0.01, 3), run("b", 0.1, 50)];
        let text = table(&runs).markdown();
        assert!(
            text.starts_with("Limits of training: 1 of 4 runs") && text.contains("; 2 of 4 tuned settings"),
            "{text}"
        );
        assert!(text.contains("| b | 3 | 90 | 91 | 100 | 1 | 0.01 (1), 0.1 (2) | 2 of 3 |"), "{text}");
        assert!(text.contains("| a | 1 | 3 | 3 | 100 | 0 | 0.01 (1) | 0 of 1 |"), "{text}");
        let plain = table(&[Went::new("c", 1, 10)]).markdown();
        assert!(plain.contains("| c | 1 | 1 | 1 | 10 | 0 |") && !plain.contains("learning rates"), "{plain}");
    }
}
