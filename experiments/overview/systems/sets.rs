//! Stored scores of other programs.

use crate::harness::real::FoldedSet;
use crate::harness::{Execution, Scale};
use burnrank::data::read_scores;
use burnrank::internal::text::count;
use burnrank::{Conventions, Dataset, evaluate};

/// Location of stored scores.
pub const SCORES: &str = "Stored scores of test documents are expected in DIR/mq2008/scores/NAME.Fold1.test.txt and so on, one per line in the order \
     of test.txt (svm_rank, RankBoost, AdaRank, ListNet, RankNet): without them the claims are not tested.";

/// Values of a metric for the test queries of each fold, by stored scores; `None` if a fold has none.
pub fn stored(
    execution: &Execution<'_>,
    set: &FoldedSet,
    name: &str,
    metric: &str,
) -> anyhow::Result<Option<Vec<Vec<f64>>>> {
    let Some(folder) = execution.session.data.as_deref().filter(|_| execution.scale() == Scale::Paper) else {
        return Ok(None);
    };
    let mut folds = vec![];
    for (fold, [_, _, test]) in set.names.iter().zip(&set.folds) {
        let path = folder.join(set.key).join("scores").join(format!("{name}.{fold}.test.txt"));
        if !path.is_file() {
            return Ok(None);
        }
        let scores = read_scores(&path, test.n_documents())?;
        let metric = burnrank::metric::parse(metric)?;
        let values = evaluate(&*metric, &scores, test.labels(), test.offsets(), &Conventions::default())?;
        folds.push(values.into_iter().flatten().collect());
    }
    Ok(Some(folds))
}

/// Numbers of queries, documents, features and folds, as text.
pub fn describe(set: &FoldedSet) -> String {
    let sum = |of: fn(&Dataset) -> usize| set.folds.first().map_or(0, |fold| fold.iter().map(of).sum());
    let features = set.folds.first().map_or(0, |fold| fold[0].n_features());
    format!(
        "{}: {} queries with {} documents, {features} features, {} folds",
        set.name,
        count(sum(Dataset::n_queries)),
        count(sum(Dataset::n_documents)),
        set.folds.len()
    )
}
