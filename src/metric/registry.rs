//! Registry of metrics, one row each. Lists, help texts, suggestions and errors are generated from it.

use super::name::{GAIN, MetricName, REL, check_threshold, split};
use super::{Gain, Metric, ap, arp, bpref, capped_ap, dcg, err, letor, ndcg, pairs, precision, recall, rr, wta};
use crate::error::{Error, Result};
use crate::internal::suggest::nearest;
use crate::name::{Cutoff, Named, Parameter, corrected, plain};
use std::sync::Arc;

/// The default metric.
pub const DEFAULT_METRIC: &str = "ndcg@10";
/// Metrics in reports by default.
pub const REPORTED_METRICS: [&str; 3] = [DEFAULT_METRIC, "map", "mrr"];

/// The metrics that [`parse`] supports.
pub static METRICS: &[MetricEntry] = &[
    ndcg::ROW,
    dcg::ROW,
    ap::ROW,
    rr::ROW,
    wta::ROW,
    wta::ERROR_ROW,
    pairs::ROW,
    pairs::ERROR_ROW,
    bpref::ROW,
    arp::ROW,
    err::ROW,
    precision::ROW,
    recall::ROW,
    capped_ap::ROW,
    letor::ROW,
];

/// A row of the registry: a metric's name, syntax and constructor.
#[derive(Debug)]
pub struct MetricEntry {
    /// Canonical name, without parameters and cutoff.
    pub name: &'static str,
    /// Aliases of the name.
    pub aliases: &'static [&'static str],
    /// Parameters that may follow the name.
    pub parameters: &'static [Parameter],
    pub(super) cutoff: Cutoff,
    /// Short description.
    pub help: &'static str,
    pub(super) make: fn(&MetricName) -> Arc<dyn Metric>,
}

impl Named for MetricEntry {
    const WHAT: &'static str = "metric";

    fn rows() -> impl Iterator<Item = &'static Self> {
        METRICS.iter()
    }

    fn heads(&self) -> Vec<&'static str> {
        self.names().collect()
    }

    fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }

    fn cutoff(&self) -> Cutoff {
        self.cutoff
    }
}

impl MetricEntry {
    /// Returns the row of a name or alias, given in lower case without parameters and cutoff.
    pub fn find(base: &str) -> Option<&'static MetricEntry> {
        Named::find(base)
    }

    /// Canonical name, followed by the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Syntax of the name, as in `ndcg[:linear][@k]`.
    pub fn pattern(&self) -> String {
        Named::pattern(self)
    }

    /// Returns whether the metric has a gain, which can be set in its name.
    pub fn has_gain(&self) -> bool {
        self.has(&GAIN)
    }

    /// Returns whether the metric is binary: labels are relevant from a threshold on, which can be set in its name.
    pub fn is_binary(&self) -> bool {
        self.has(&REL)
    }

    fn has(&self, parameter: &Parameter) -> bool {
        self.parameters.iter().any(|own| own.key == parameter.key)
    }

    /// Shortest valid name: `ndcg`, but `p@10`.
    pub fn shortest(&self) -> String {
        if self.cutoff == Cutoff::Needed { format!("{}@10", self.name) } else { self.name.to_owned() }
    }
}

/// Parses the name of a metric, in any case and with the usual aliases: `nDCG@10`, `AP`, `recip_rank`, `P_5`.
///
/// Names of trec_eval have trec_eval's meaning: `ndcg_cut_10` uses the linear gain and is called `ndcg:linear@10` here.
/// The exception is `ndcg`, which means the gain 2^y - 1 here but the linear gain in trec_eval; see
/// [`parse_like_trec_eval`].
///
/// ```
/// let metric = burnrank::metric::parse("nDCG@10")?;
/// assert_eq!(metric.name(), "ndcg@10");
/// assert_eq!(metric.value(&[0.0, 1.0]), 1.0 / 3f64.log2());
/// assert_eq!(burnrank::metric::parse("ndcg_cut_10")?.name(), "ndcg:linear@10");
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the name is unknown; it suggests the nearest name or lists all names.
pub fn parse(name: &str) -> Result<Arc<dyn Metric>> {
    parse_with(name, 1.0)
}

/// Like [`parse`], with another default threshold for binary metrics.
///
/// ```
/// assert_eq!(burnrank::metric::parse_with("map@5", 2.0)?.name(), "map:rel=2@5");
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the name is unknown or the threshold is not a positive number.
pub fn parse_with(name: &str, default_threshold: f32) -> Result<Arc<dyn Metric>> {
    read_or_suggest(name, default_threshold, Gain::Exponential)
}

/// Like [`parse_with`], with trec_eval's linear gain as the default.
///
/// ```
/// assert_eq!(burnrank::metric::parse_like_trec_eval("ndcg@10", 1.0)?.name(), "ndcg:linear@10");
/// assert_eq!(burnrank::metric::parse_like_trec_eval("ndcg:exp@10", 1.0)?.name(), "ndcg@10");
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// Same as [`parse_with`].
pub fn parse_like_trec_eval(name: &str, default_threshold: f32) -> Result<Arc<dyn Metric>> {
    read_or_suggest(name, default_threshold, Gain::Linear)
}

fn read(name: &str, default_threshold: f32, default_gain: Gain) -> Result<Arc<dyn Metric>> {
    check_threshold(default_threshold)?;
    let parts = split(name)?;
    let row = MetricEntry::find(&parts.head).ok_or_else(|| MetricEntry::unknown(name, &parts.head))?;
    let parameters = parts.parameters(row)?;
    Ok((row.make)(&MetricName { parameters, default_threshold, default_gain }))
}

/// Parses a name; the error suggests a likely correction.
fn read_or_suggest(name: &str, default_threshold: f32, default_gain: Gain) -> Result<Arc<dyn Metric>> {
    read(name, default_threshold, default_gain).map_err(|error| match suggestion(name) {
        Some(suggestion) => Error::Config(format!("unknown metric '{name}': did you mean '{suggestion}'?")),
        None => error,
    })
}

/// Returns a valid name that is a few typing mistakes away.
fn suggestion(name: &str) -> Option<String> {
    let lower = plain(name);
    let (word, rest) = lower.split_at(lower.find([':', '@']).unwrap_or(lower.len()));
    let cut = with_cutoff(word).map(|name| name + rest);
    [cut, Some(corrected::<MetricEntry>(name, |_| None))].into_iter().flatten().find(|name| is_valid(name))
}

fn is_valid(name: &str) -> bool {
    read(name, 1.0, Gain::Exponential).is_ok()
}

/// Returns the metric meant by a word with a cutoff but without '@', as in `ndcg10` or `ndcg-at-10`.
pub(crate) fn with_cutoff(word: &str) -> Option<String> {
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &word[stem.len()..];
    let stem = stem.trim_end_matches('-').trim_end_matches("-at");
    let names = METRICS.iter().flat_map(MetricEntry::names);
    let head = MetricEntry::find(stem).map(|_| stem).or_else(|| nearest(stem, names))?;
    Some(format!("{head}@{digits}")).filter(|name| is_valid(name))
}

#[cfg(test)]
mod tests {
    use super::super::{MetricKind, discount};
    use super::*;

    fn canonical(name: &str) -> String {
        parse(name).unwrap().name()
    }

    fn message(name: &str) -> String {
        parse(name).unwrap_err().to_string()
    }

    #[test]
    fn canonical_names_print_as_they_parse() {
        for name in [
            "ndcg",
            "ndcg@10",
            "ndcg:linear",
            "ndcg:linear@10",
            "dcg",
            "dcg@3",
            "dcg:linear@3",
            "map",
            "map@10",
            "map:rel=2",
            "map:rel=1.5@10",
            "mrr",
            "mrr@10",
            "mrr:rel=3",
            "wta",
            "wta-error",
            "pairs",
            "pair-error",
            "bpref",
            "bpref:rel=2",
            "arp",
            "arp:sum",
            "err",
            "err@10",
            "err:max=3@10",
            "p@5",
            "p:rel=2@5",
            "recall@10",
            "recall:rel=0.5@10",
            "capped-map@10",
            "capped-map:rel=2@10",
            "letor-ndcg",
            "letor-ndcg@10",
        ] {
            assert_eq!(canonical(name), name);
        }
    }

    #[test]
    fn aliases_have_one_canonical_name() {
        for (alias, name) in [
            ("nDCG@10", "ndcg@10"),
            ("ndcg_cut_10", "ndcg:linear@10"),
            ("NDCG", "ndcg"),
            (" ndcg ", "ndcg"),
            ("AP", "map"),
            ("MAP", "map"),
            ("map_cut_5", "map@5"),
            ("ap@5", "map@5"),
            ("rr", "mrr"),
            ("MRR@10", "mrr@10"),
            ("recip_rank", "mrr"),
            ("P@5", "p@5"),
            ("p_5", "p@5"),
            ("P_5", "p@5"),
            ("precision@5", "p@5"),
            ("recall_10", "recall@10"),
            ("R@10", "recall@10"),
            ("ERR@10", "err@10"),
            ("map@10:rel=2", "map:rel=2@10"),
            ("map:rel=1", "map"),
            ("err:max=4", "err"),
            ("ndcg:exp@5", "ndcg@5"),
            ("ndcg:gain=linear", "ndcg:linear"),
            ("wta_cost", "wta-error"),
            ("pairwise-error", "pair-error"),
            ("map:rel=2.0", "map:rel=2"),
        ] {
            assert_eq!(canonical(alias), name, "{alias}");
        }
    }

    #[test]
    fn every_known_name_and_alias_parses() {
        for row in METRICS {
            for name in row.names() {
                assert_eq!(canonical(&row.shortest().replacen(row.name, name, 1)), row.shortest());
            }
        }
    }

    #[test]
    fn a_name_belongs_to_one_row() {
        let mut all: Vec<&str> = METRICS.iter().flat_map(MetricEntry::names).collect();
        let total = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), total);
    }

    #[test]
    fn names_take_the_parameters_of_their_rows() {
        for row in METRICS {
            let cut = if row.shortest().contains('@') { "@7" } else { "" };
            for (pattern, text) in
                [("[:linear]", ":linear"), ("[:rel=1]", ":rel=2"), ("[:max=4]", ":max=3"), ("[:sum]", ":sum")]
            {
                let name = format!("{}{text}{cut}", row.name);
                assert_eq!(parse(&name).is_ok(), row.pattern().contains(pattern), "{name}");
            }
            assert_eq!(parse(&format!("{}@7", row.name)).is_ok(), row.pattern().contains("@k"), "{}", row.name);
            assert_eq!(parse(row.name).is_ok(), cut.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn gain_is_part_of_the_metric() {
        let ranked = [0.0, 3.0, 1.0];
        for (name, gain) in [("ndcg", Gain::Exponential), ("ndcg:linear@2", Gain::Linear), ("dcg:linear", Gain::Linear)]
        {
            let metric = parse(name).unwrap();
            let parsed = match metric.kind() {
                MetricKind::Ndcg { gain, .. } | MetricKind::Dcg { gain, .. } => gain,
                kind => panic!("{name} is {kind:?}"),
            };
            assert_eq!(parsed, gain, "{name}");
            let dcg = parse(&name.replace("ndcg", "dcg")).unwrap().value(&ranked);
            assert_eq!(
                dcg,
                gain.of(3.0) * discount(1) + if name.ends_with('2') { 0.0 } else { gain.of(1.0) * discount(2) }
            );
            assert_eq!(parse(&metric.name()).unwrap().value(&ranked), metric.value(&ranked), "{name}");
        }
    }

    #[test]
    fn trec_eval_names_keep_their_meaning() {
        let like = |name: &str| parse_like_trec_eval(name, 1.0).unwrap().name();
        for (name, ours) in [
            ("ndcg", "ndcg:linear"),
            ("ndcg_cut_5", "ndcg:linear@5"),
            ("map", "map"),
            ("map_cut_5", "map@5"),
            ("recip_rank", "mrr"),
            ("P_10", "p@10"),
            ("recall_100", "recall@100"),
            ("bpref", "bpref"),
        ] {
            assert_eq!(like(name), ours);
            // Only `ndcg` has another meaning here.
            assert_eq!(canonical(name), if name == "ndcg" { "ndcg" } else { ours });
        }
        for name in ["ndcg_cut", "dcg_cut_10", "dcg_cut", "ndcg_cut@10"] {
            let short = if name.starts_with('n') { "ndcg" } else { "dcg" };
            let choice = format!("'{short}:linear@10' for trec_eval's linear gain, or '{short}@10'");
            assert!(message(name).contains(&choice), "{}", message(name));
        }
        assert!(message("ndcg_cut_10:exp").contains("gain is given twice"));
    }

    #[test]
    fn default_thresholds_appear_in_names() {
        assert_eq!(parse_with("mrr", 2.0).unwrap().name(), "mrr:rel=2");
        assert_eq!(parse_with("mrr:rel=1", 2.0).unwrap().name(), "mrr");
        assert_eq!(parse_with("ndcg", 2.0).unwrap().name(), "ndcg");
        assert!(parse_with("mrr", 0.0).is_err() && parse_with("mrr", f32::NAN).is_err());
    }

    #[test]
    fn invalid_names_are_refused_with_a_suggestion() {
        for (wrong, meant) in [
            ("ndgc@10", "ndcg@10"),
            ("ncdg@10", "ndcg@10"),
            ("nDGC:linear@5", "ndcg:linear@5"),
            ("recal@5", "recall@5"),
            ("mapp:rel=2", "map:rel=2"),
            ("recal", "recall"),
            ("precison_5", "precision@5"),
            ("ndcg_at_10", "ndcg@10"),
            ("NDCG-at-10:linear", "ndcg@10:linear"),
            ("ndcg10", "ndcg@10"),
            ("NDCG10", "ndcg@10"),
            ("ndgc10", "ndcg@10"),
            ("ndcg10:linear", "ndcg@10:linear"),
            ("map5:rel=2", "map@5:rel=2"),
            ("p10", "p@10"),
            ("recall20", "recall@20"),
            ("ndcg0", "ndcg"),
            ("bpref5", "bpref"),
            ("ndcg:lnear@10", "ndcg:linear@10"),
            ("map@10:re=2", "map@10:rel=2"),
        ] {
            assert_eq!(message(wrong), format!("unknown metric '{wrong}': did you mean '{meant}'?"));
        }
        assert!(message("bleu").starts_with("unknown metric 'bleu': expected ndcg[:linear][@k], dcg"));
        assert!(!message("xyzzy-quux-plugh").contains("did you mean"));
        for name in ["ndcg@0", "ndcg@", "ndcg@x", "ndcg@-1", "ndcg@+1", "ndcg_cut_0", "ndcg@99999999999999999999"] {
            assert!(message(name).contains("expected a whole number of 1 or more"), "{name}: {}", message(name));
        }
        assert_eq!(message("p"), "metric 'p': needs a cutoff, as in 'p@10'");
        assert!(message("ndcg@5@6").contains("two cutoffs") && message("map_5:rel=2@6").contains("two cutoffs"));
        assert_eq!(message("bpref@5"), "metric 'bpref@5': bpref has no cutoff '@5': expected 'bpref[:rel=1]'");
        assert!(message("ndcg:rel=2").starts_with("metric 'ndcg:rel=2': rel belongs to map, mrr, bpref, p, recall"));
        assert_eq!(message("ndcg:x=2"), "metric 'ndcg:x=2': unknown parameter 'x=2': ndcg has gain");
        for name in ["map:rel=", "map:rel=0", "map:rel=-1", "map:rel=nan", "map:rel=inf", "map:rel=x"] {
            assert!(message(name).contains("expected a number above 0"), "{name}");
        }
        for name in
            ["", "@", ":", "@10", "-5", "map:", "map:rel=1:rel=2", "ndcg:linear:exp", "ndcg@10:", "ndcg@1é0", "é"]
        {
            assert!(parse(name).is_err(), "{name}");
        }
    }
}
