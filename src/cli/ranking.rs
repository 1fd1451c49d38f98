//! Scores and labels, query by query, joined in one place for `evaluate` and `compare`.

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

/// Scores and labels of the queries that are judged.
pub struct Ranking {
    pub query_ids: Vec<String>,
    scores: Vec<f64>,
    labels: Vec<f32>,
    offsets: Vec<usize>,
    /// Whether somebody judged the document; without the list, all are.
    judged: Option<Vec<bool>>,
    pub missing: Missing,
    /// How a run and its judgements fit together; none for scores of all documents.
    pub fit: Option<Fit>,
}

/// How a run and its judgements fit together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fit {
    /// Queries of the run.
    pub queries: usize,
    /// Of these, queries that nobody judged.
    pub not_judged: usize,
    /// Judged queries that are not in the run.
    pub not_in_run: usize,
    /// Retrieved documents of judged queries that nobody judged.
    pub unknown: usize,
    /// Retrieved documents of judged queries.
    pub documents: usize,
    complete: bool,
}

impl Fit {
    /// What of the run does not count, to stand behind "20 queries".
    pub fn of_run(&self) -> String {
        let not_judged = left_out(self.not_judged, "left out, not judged");
        let none = self.documents > 0 && self.unknown == self.documents;
        if none { format!("{not_judged}; none of its documents is judged") } else { not_judged }
    }

    /// What of the judgements does not count, to stand behind "20 queries".
    pub fn of_judgements(&self) -> String {
        let words = if self.complete { "counted with nothing retrieved" } else { "left out, not in the run" };
        left_out(self.not_in_run, words)
    }
}

fn left_out(number: usize, why: &str) -> String {
    if number == 0 { String::new() } else { format!("; {} {why}", counted(number, "query", "queries")) }
}

impl Ranking {
    /// One score per document.
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

    /// Notes binary metrics that no label reaches.
    pub fn note_unreached(&self, file: &str, metrics: &[Arc<dyn Metric>]) {
        note_unreached(file, metrics, &self.labels, &self.offsets);
    }

    /// A model folder, a file of scores, or a run, on a data set called `data_name`.
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

    /// The scores of a model.
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
        // trec_eval knows documents by their ids only: these decide between equal scores.
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
                "{data_name}: query '{query}' has two documents called '{document}': a run cannot tell them apart; \
                 give each an id of its own, or scores per line"
            );
        }
        let ranking = Self::of_run(run, &labels, (run_name, data_name), args)?;
        let fit = ranking.fit.unwrap_or_default();
        // Judgements of a collection are few, but data hold every document that there was to rank.
        if fit.unknown == fit.documents {
            let example = labels.queries.first().and_then(|query| query.documents.first()).map(|(id, _)| printable(id));
            bail!(
                "{run_name} and {data_name} have queries in common, but no document: the ids of a run must be those of \
                 the data, as in '{}'",
                example.unwrap_or_default()
            );
        }
        Ok(ranking)
    }

    /// A run and its judgements, as trec_eval joins them, with their names for messages.
    pub fn of_run(
        run: TrecFile,
        qrels: &TrecFile,
        (run_name, qrels_name): (&str, &str),
        args: &RunArgs,
    ) -> anyhow::Result<Self> {
        if let Some(peer) = args.like().filter(|_| !args.like_trec_eval()) {
            bail!(Usage(format!(
                "--like {}: it judges scores of documents, not runs: give scores, one per line",
                peer.name()
            )));
        }
        let run = if args.like_trec_eval() { run.with_f32_scores() } else { run };
        let joined = join_run(&run, qrels);
        if joined.queries.is_empty() {
            bail!("{run_name} and {qrels_name} have no query in common: are they of the same collection?");
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
            let lacking: HashSet<&String> = joined.not_in_run.iter().collect();
            for query in qrels.queries.iter().filter(|query| lacking.contains(&query.id)) {
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

    /// Whether all scores are the same, so that they say nothing of the documents.
    pub fn says_nothing(&self) -> bool {
        let mut scores = self.scores.iter().filter(|score| **score > f64::NEG_INFINITY);
        let first = scores.next();
        self.labels.len() > 1 && scores.all(|score| Some(score) == first)
    }

    /// The measure of each query, `None` for those that do not count.
    pub fn evaluate(&self, metric: &dyn Metric, conventions: &Conventions) -> burnrank::Result<Vec<Option<f64>>> {
        let conventions = Conventions { missing: self.missing, ..*conventions };
        let Some(judged) = self.judged.as_ref().filter(|_| is_bpref(metric)) else {
            return evaluate(metric, &self.scores, &self.labels, &self.offsets, &conventions);
        };
        let kept = |row: &usize| judged[*row];
        let scores: Vec<f64> = (0..judged.len()).filter(kept).map(|row| self.scores[row]).collect();
        let labels: Vec<f32> = (0..judged.len()).filter(kept).map(|row| self.labels[row]).collect();
        let mut offsets = vec![0];
        let mut end = 0;
        for rows in self.offsets.windows(2) {
            end += (rows[0]..rows[1]).filter(kept).count();
            offsets.push(end);
        }
        evaluate(metric, &scores, &labels, &offsets, &conventions)
    }
}

/// Whether the measure tells documents that are not relevant from those that nobody judged.
fn is_bpref(metric: &dyn Metric) -> bool {
    metric.name().starts_with("bpref")
}

/// As in "20 queries, 1,200 documents".
pub fn size(data: &Dataset) -> String {
    format!(
        "{}, {}",
        counted(data.n_queries(), "query", "queries"),
        counted(data.n_documents(), "document", "documents")
    )
}

/// As in "5 of 20".
pub fn of(part: usize, whole: usize) -> String {
    format!("{} of {}", count(part), count(whole))
}
