//! Scores and labels of the evaluated queries, for `evaluate` and `compare`.

use super::evaluation::{RunArgs, note_unreached};
use super::ui::{count, counted, printable};
use super::{Usage, input, warnings, widths};
use anyhow::bail;
use burnrank::data::trec::{Scored, TrecFile, join_run, read_run_or_scores};
use burnrank::metric::{Missing, Peer};
use burnrank::{Conventions, Dataset, Metric, Model, device, evaluate};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Scores and labels of the evaluated queries.
pub struct Ranking {
    pub query_ids: Vec<String>,
    scores: Vec<f64>,
    labels: Vec<f32>,
    offsets: Vec<usize>,
    /// Whether each document is judged; `None` if all are.
    judged: Option<Vec<bool>>,
    pub missing: Missing,
    /// Match between a run and its judgements; `None` for scores of all documents.
    pub fit: Option<Fit>,
}

/// Match between a run and its judgements.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fit {
    /// Number of queries of the run.
    pub queries: usize,
    /// Number of queries of the run without judgements.
    pub not_judged: usize,
    /// Number of judged queries that are not in the run.
    pub not_in_run: usize,
    /// Number of retrieved documents of judged queries without judgements.
    pub unknown: usize,
    /// Number of retrieved documents of judged queries.
    pub documents: usize,
    complete: bool,
}

impl Fit {
    /// Describes the queries of the run that are skipped, to follow "20 queries".
    pub fn of_run(&self) -> String {
        let not_judged = mismatch(self.not_judged, "skipped, not judged");
        let none = self.documents > 0 && self.unknown == self.documents;
        if none { format!("{not_judged}; none of its documents are judged") } else { not_judged }
    }

    /// Describes the judged queries that are not in the run, to follow "20 queries".
    pub fn of_judgements(&self) -> String {
        let words = if self.complete { "counted as having no retrieved documents" } else { "skipped, not in the run" };
        mismatch(self.not_in_run, words)
    }
}

fn mismatch(number: usize, why: &str) -> String {
    if number == 0 { String::new() } else { format!("; {} {why}", counted(number, "query", "queries")) }
}

impl Ranking {
    /// Joins a data set with one score per document.
    fn of_documents(data: &Dataset, scores: Vec<f64>) -> Self {
        Ranking {
            query_ids: data.query_ids().to_vec(),
            scores,
            labels: data.labels().to_vec(),
            offsets: data.offsets().to_vec(),
            judged: None,
            missing: Missing::Last,
            fit: None,
        }
    }

    /// Prints a warning for binary metrics whose threshold no label reaches.
    pub fn note_unreached(&self, file: &str, metrics: &[Arc<dyn Metric>]) {
        note_unreached(file, metrics, &self.labels, &self.offsets);
    }

    /// Reads a model folder, a score file or a run, and joins it with a data set. Messages call the data `data_name`.
    pub fn of_system(path: &Path, data: &Dataset, data_name: &str, args: &RunArgs) -> anyhow::Result<Self> {
        let scored = if !input::is_stdin(path) && path.is_dir() {
            let model = Model::load(path, &device::open("auto")?)?;
            warnings::print(&model, path);
            return Self::of_model(&model, data, data_name, args);
        } else {
            read_run_or_scores(path, data.n_documents())?
        };
        match scored {
            Scored::Run(run) => Self::of_run_on_data(run, data, (&input::name(path), data_name), args),
            Scored::Documents(scores) => Self::of_scores(scores, data, data_name, args),
        }
    }

    /// Scores a data set with a model.
    pub fn of_model(model: &Model, data: &Dataset, data_name: &str, args: &RunArgs) -> anyhow::Result<Self> {
        let scores = widths::score(model, data, data_name)?;
        Self::of_scores(scores.into_iter().map(f64::from).collect(), data, data_name, args)
    }

    fn of_scores(scores: Vec<f64>, data: &Dataset, data_name: &str, args: &RunArgs) -> anyhow::Result<Self> {
        if !args.like_trec_eval() {
            let single = args.like().is_some_and(Peer::compares_f32);
            let scores = if single { scores.iter().map(|&score| f64::from(score as f32)).collect() } else { scores };
            return Ok(Self::of_documents(data, scores));
        }
        // trec_eval identifies documents by their ids, which break ties.
        let run = TrecFile::from_scores(data, &scores)?;
        let ranking = Self::of_run_on_data(run, data, ("the scores", data_name), args)?;
        Ok(Ranking { fit: None, ..ranking })
    }

    fn of_run_on_data(
        run: TrecFile,
        data: &Dataset,
        (run_name, data_name): (&str, &str),
        args: &RunArgs,
    ) -> anyhow::Result<Self> {
        let labels = TrecFile::from_labels(data);
        if let Some((query, document)) = labels.first_repeated() {
            let (query, document) = (printable(query), printable(document));
            bail!(
                "{data_name}: query '{query}' has two documents with the id '{document}', which a run cannot distinguish: make \
                 ids unique, or use a score file"
            );
        }
        let ranking = Self::of_run(run, &labels, (run_name, data_name), args)?;
        let fit = ranking.fit.unwrap_or_default();
        // Qrels cover few documents of a collection, but data contains all candidates.
        if fit.unknown == fit.documents {
            let example = labels.queries.first().and_then(|query| query.documents.first()).map(|(id, _)| printable(id));
            bail!(
                "{run_name} and {data_name} have queries in common, but no documents: document ids of a run must match those of \
                 the data, as in '{}'",
                example.unwrap_or_default()
            );
        }
        Ok(ranking)
    }

    /// Joins a run with its judgements as trec_eval does. The names are for messages.
    pub fn of_run(
        run: TrecFile,
        qrels: &TrecFile,
        (run_name, qrels_name): (&str, &str),
        args: &RunArgs,
    ) -> anyhow::Result<Self> {
        if let Some(peer) = args.like().filter(|_| !args.like_trec_eval()) {
            bail!(Usage(format!(
                "--like {}: the program evaluates score files, not runs: give a score file",
                peer.name()
            )));
        }
        let run = if args.like_trec_eval() { run.with_f32_scores() } else { run };
        let joined = join_run(&run, qrels);
        if joined.queries.is_empty() {
            bail!(
                "{run_name} and {qrels_name} have no queries in common: check that they belong to the same collection"
            );
        }
        let mut fit = Fit {
            queries: run.queries.len(),
            not_judged: joined.not_judged.len(),
            not_in_run: joined.not_in_run.len(),
            complete: args.complete,
            ..Fit::default()
        };
        let (mut query_ids, mut offsets) = (Vec::new(), vec![0]);
        let (mut scores, mut labels, mut judged) = (Vec::new(), Vec::new(), Vec::new());
        for query in joined.queries {
            fit.documents += query.retrieved;
            fit.unknown += query.judged[..query.retrieved].iter().filter(|&&judged| !judged).count();
            query_ids.push(query.id);
            scores.extend(query.scores);
            labels.extend(query.labels);
            judged.extend(query.judged);
            offsets.push(labels.len());
        }
        if args.complete {
            let missing: HashSet<&String> = joined.not_in_run.iter().collect();
            for query in qrels.queries.iter().filter(|query| missing.contains(&query.id)) {
                query_ids.push(query.id.clone());
                labels.extend(query.documents.iter().map(|(_, label)| label.max(0.0) as f32));
                judged.extend(query.documents.iter().map(|(_, label)| *label >= 0.0));
                scores.resize(labels.len(), f64::NEG_INFINITY);
                offsets.push(labels.len());
            }
        }
        let (judged, fit) = (Some(judged), Some(fit));
        Ok(Ranking { query_ids, scores, labels, offsets, judged, missing: Missing::Absent, fit })
    }

    /// Whether all scores are equal.
    pub fn is_constant(&self) -> bool {
        let mut scores = self.scores.iter().filter(|score| **score > f64::NEG_INFINITY);
        let first = scores.next();
        self.labels.len() > 1 && scores.all(|score| Some(score) == first)
    }

    /// Evaluates a metric. Returns one value per query, `None` for skipped ones.
    pub fn evaluate(&self, metric: &dyn Metric, conventions: &Conventions) -> burnrank::Result<Vec<Option<f64>>> {
        let conventions = Conventions { missing: self.missing, ..*conventions };
        let Some(judged) = self.judged.as_ref().filter(|_| is_bpref(metric)) else {
            return evaluate(metric, &self.scores, &self.labels, &self.offsets, &conventions);
        };
        let is_judged = |row: &usize| judged[*row];
        let scores: Vec<f64> = (0..judged.len()).filter(is_judged).map(|row| self.scores[row]).collect();
        let labels: Vec<f32> = (0..judged.len()).filter(is_judged).map(|row| self.labels[row]).collect();
        let mut offsets = vec![0];
        let mut end = 0;
        for rows in self.offsets.windows(2) {
            end += (rows[0]..rows[1]).filter(is_judged).count();
            offsets.push(end);
        }
        evaluate(metric, &scores, &labels, &offsets, &conventions)
    }
}

/// Whether the metric distinguishes documents that are not relevant from those that are not judged.
fn is_bpref(metric: &dyn Metric) -> bool {
    metric.name().starts_with("bpref")
}

/// Formats the size of a data set, as in "20 queries, 1,200 documents".
pub fn size(data: &Dataset) -> String {
    format!(
        "{}, {}",
        counted(data.n_queries(), "query", "queries"),
        counted(data.n_documents(), "document", "documents")
    )
}

/// Formats a part of a whole, as in "5 of 20".
pub fn of(part: usize, whole: usize) -> String {
    format!("{} of {}", count(part), count(whole))
}
