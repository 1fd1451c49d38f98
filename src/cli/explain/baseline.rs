//! The scores of the baseline that a model is compared with.

use crate::cli::input;
use crate::cli::ui::{self, counted};
use crate::cli::widths;
use anyhow::bail;
use burnrank::data::trec::{Scored, TrecFile, read_run_or_scores};
use burnrank::{Dataset, Model, device};
use std::collections::HashMap;
use std::path::Path;

/// The scores of a model folder, a score file or a run: one per document of the data, minus infinity for documents that are
/// missing from the run.
pub fn read_baseline(path: &Path, data: &Dataset, data_name: &str) -> anyhow::Result<Vec<f64>> {
    if !input::is_stdin(path) && path.is_dir() {
        let model = Model::load(path, &device::open("auto")?)?;
        return Ok(widths::score(&model, data, data_name)?.into_iter().map(f64::from).collect());
    }
    match read_run_or_scores(path, data.n_documents())? {
        Scored::Documents(scores) => Ok(scores),
        Scored::Run(run) => of_run(&run, data, (&input::name(path), data_name)),
    }
}

fn of_run(run: &TrecFile, data: &Dataset, (run_name, data_name): (&str, &str)) -> anyhow::Result<Vec<f64>> {
    let queries: HashMap<&str, HashMap<&str, f64>> = run
        .queries
        .iter()
        .map(|query| (query.id.as_str(), query.documents.iter().map(|(id, score)| (id.as_str(), *score)).collect()))
        .collect();
    let (mut scores, mut missing_queries, mut shared) = (Vec::with_capacity(data.n_documents()), 0, 0);
    for query in &TrecFile::from_labels(data).queries {
        let retrieved = queries.get(query.id.as_str());
        missing_queries += usize::from(retrieved.is_none());
        for (document, _) in &query.documents {
            let score = retrieved.and_then(|documents| documents.get(document.as_str()));
            shared += usize::from(score.is_some());
            scores.push(score.copied().unwrap_or(f64::NEG_INFINITY));
        }
    }
    if shared == 0 {
        bail!("{run_name} and {data_name} have no document in common: check that they use the same document ids");
    }
    if missing_queries > 0 {
        let queries = counted(missing_queries, "query", "queries");
        ui::note(&format!("{run_name}: {queries} of {data_name} missing: their documents count as not retrieved"));
    }
    Ok(scores)
}
