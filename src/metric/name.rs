//! Names of measures: `ndcg@10`, `ndcg:linear@10`, `map:rel=2`. A name says everything, and prints as it parses.

use super::{Ap, Arp, ArpForm, Bpref, Dcg, ExpectedRr, Form, Gain, Metric, Ndcg, Pairs, Precision, Recall, Rr, Wta};
use crate::error::{Error, Result};
use crate::suggest;
use std::sync::Arc;

/// The measures that [`parse`] knows: canonical name, other names, what may follow, what it is.
#[rustfmt::skip]
pub const KNOWN_METRICS: [(&str, &[&str], &str, &str); 13] = [
    ("ndcg", &[], "[:linear][@k]", "normalised discounted cumulative gain, gain 2^y - 1 unless linear"),
    ("dcg", &[], "[:linear][@k]", "discounted cumulative gain, gain 2^y - 1 unless linear"),
    ("map", &["ap", "map-cut", "average-precision"], "[:rel=y][@k]", "average precision"),
    ("mrr", &["rr", "recip-rank", "reciprocal-rank"], "[:rel=y][@k]", "reciprocal rank of the first relevant document"),
    ("wta", &["winner-takes-all"], "", "1 when the top document has the query's best label"),
    ("wta-error", &["wta-cost"], "", "1 - wta"),
    ("pairs", &["pairwise", "pairs-correct", "pairwise-correct"], "", "share of pairs in the right order"),
    ("pair-error", &["pairs-error", "pairwise-error"], "", "1 - pairs"),
    ("bpref", &[], "[:rel=y]", "binary preference"),
    ("arp", &[], "[:sum]", "average relevance position: the label-weighted mean rank, or sum of ranks; a cost"),
    ("err", &[], "[:max=y][@k]", "expected reciprocal rank, highest grade 4 unless max"),
    ("p", &["precision"], "[:rel=y]@k", "precision"),
    ("recall", &["r"], "[:rel=y]@k", "recall"),
];

/// The measure of a name, in any case and with the usual aliases: `nDCG@10`, `AP`, `recip_rank`, `P_5`.
///
/// trec_eval's names mean what they mean there: `ndcg_cut_10` has the linear gain, and is called `ndcg:linear@10` here. Only
/// `ndcg` alone is a name of both: here with the gain 2^y - 1, in trec_eval with the linear one; see
/// [`parse_like_trec_eval`].
///
/// ```
/// let metric = burnrank::parse("nDCG@10")?;
/// assert_eq!(metric.name(), "ndcg@10");
/// assert_eq!(metric.value(&[0.0, 1.0]), 1.0 / 3f64.log2());
/// assert_eq!(burnrank::parse("ndcg_cut_10")?.name(), "ndcg:linear@10");
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// When the name is not one: the message lists the known ones and the nearest.
pub fn parse(name: &str) -> Result<Arc<dyn Metric>> {
    parse_with(name, 1.0)
}

/// [`parse`] with another threshold for binary measures whose name does not state one.
///
/// ```
/// assert_eq!(burnrank::parse_with("map@5", 2.0)?.name(), "map:rel=2@5");
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// When the name is not one, or the threshold is not a positive number.
pub fn parse_with(name: &str, default_threshold: f32) -> Result<Arc<dyn Metric>> {
    parse_parts(Parts::new(name, default_threshold)?)
}

/// As [`parse_with`], with trec_eval's linear gain where the name states none.
///
/// ```
/// assert_eq!(burnrank::parse_like_trec_eval("ndcg@10", 1.0)?.name(), "ndcg:linear@10");
/// assert_eq!(burnrank::parse_like_trec_eval("ndcg:exp@10", 1.0)?.name(), "ndcg@10");
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// As [`parse_with`].
pub fn parse_like_trec_eval(name: &str, default_threshold: f32) -> Result<Arc<dyn Metric>> {
    parse_parts(Parts { default_gain: Gain::Linear, ..Parts::new(name, default_threshold)? })
}

fn parse_parts(mut parts: Parts) -> Result<Arc<dyn Metric>> {
    let metric: Arc<dyn Metric> = match parts.base {
        "ndcg" => Arc::new(Ndcg { gain: parts.gain()?, k: parts.k() }),
        "dcg" => Arc::new(Dcg { gain: parts.gain()?, k: parts.k() }),
        "map" => Arc::new(Ap { threshold: parts.threshold()?, k: parts.k() }),
        "mrr" => Arc::new(Rr { threshold: parts.threshold()?, k: parts.k() }),
        "wta" => Arc::new(Wta { form: Form::Correct }),
        "wta-error" => Arc::new(Wta { form: Form::Error }),
        "pairs" => Arc::new(Pairs { form: Form::Correct }),
        "pair-error" => Arc::new(Pairs { form: Form::Error }),
        "bpref" => Arc::new(Bpref { threshold: parts.threshold()? }),
        "arp" => Arc::new(Arp { form: if parts.flag("sum") { ArpForm::Sum } else { ArpForm::Mean } }),
        "err" => Arc::new(ExpectedRr { max: parts.max()?, k: parts.k() }),
        "p" => Arc::new(Precision { threshold: parts.threshold()?, k: parts.needed_k()? }),
        _ => Arc::new(Recall { threshold: parts.threshold()?, k: parts.needed_k()? }),
    };
    parts.finish()?;
    Ok(metric)
}

/// `base:option@k`, without what is `None`.
pub(super) fn spell(base: &str, options: &[Option<String>], k: Option<usize>) -> String {
    let options = options.iter().flatten().map(|option| format!(":{option}"));
    let cut = k.map(|k| format!("@{k}"));
    std::iter::once(base.to_owned()).chain(options).chain(cut).collect()
}

/// The option that states a threshold, unless it is the usual one.
pub(super) fn rel_option(threshold: f32) -> Option<String> {
    (threshold != 1.0).then(|| format!("rel={threshold}"))
}

/// A name taken apart. Whoever uses a part takes it out; what is left at the end does not belong.
struct Parts<'a> {
    name: &'a str,
    base: &'static str,
    suffix: &'static str,
    options: Vec<String>,
    k: Option<usize>,
    default_threshold: f32,
    default_gain: Gain,
}

impl<'a> Parts<'a> {
    fn new(name: &'a str, default_threshold: f32) -> Result<Self> {
        if !(default_threshold > 0.0 && default_threshold.is_finite()) {
            return Err(Error::Config(format!("threshold {default_threshold}: expected a positive number")));
        }
        let lower = name.trim().to_ascii_lowercase().replace('_', "-");
        let (base, rest) = lower.split_at(lower.find([':', '@']).unwrap_or(lower.len()));
        let (base, mut k) = match base.rsplit_once('-') {
            Some((base, digits)) if is_digits(digits) => (base, Some(cutoff(name, digits)?)),
            _ => (base, None),
        };
        let (base, mut options) = trec_eval_cut(name, base, k)?;
        let (base, _, suffix, _) = KNOWN_METRICS
            .into_iter()
            .find(|(known, aliases, ..)| *known == base || aliases.contains(&base))
            .ok_or_else(|| unknown(name, base))?;
        let mut rest = rest;
        while let Some(part) = rest.get(1..) {
            let (text, next) = part.split_at(part.find([':', '@']).unwrap_or(part.len()));
            if rest.starts_with(':') {
                options.push(text.to_owned());
            } else if k.replace(cutoff(name, text)?).is_some() {
                return Err(Error::Config(format!("measure '{name}' has two cutoffs: state one, as in '@10'")));
            }
            rest = next;
        }
        Ok(Parts { name, base, suffix, options, k, default_threshold, default_gain: Gain::Exponential })
    }

    fn k(&mut self) -> Option<usize> {
        self.k.take()
    }

    fn needed_k(&mut self) -> Result<usize> {
        let base = self.base;
        self.k().ok_or_else(|| Error::Config(format!("measure '{}' needs a cutoff, as in '{base}@10'", self.name)))
    }

    /// Whether an option without a value is there.
    fn flag(&mut self, flag: &str) -> bool {
        let at = self.options.iter().position(|option| option == flag);
        at.map(|at| self.options.remove(at)).is_some()
    }

    fn number(&mut self, key: &str, default: f32) -> Result<f32> {
        let value = |option: &String| Some(option.strip_prefix(key)?.strip_prefix('=')?.to_owned());
        let Some((at, text)) = self.options.iter().enumerate().find_map(|(at, option)| Some((at, value(option)?)))
        else {
            return Ok(default);
        };
        self.options.remove(at);
        match text.parse::<f32>() {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
            _ => Err(Error::Config(format!("measure '{}': {key} '{text}' is not a positive number", self.name))),
        }
    }

    fn gain(&mut self) -> Result<Gain> {
        let linear = self.flag("linear") || self.flag("gain=linear");
        let exponential = self.flag("exponential") || self.flag("exp") || self.flag("gain=exponential");
        match (linear, exponential) {
            (true, true) => Err(Error::Config(format!("measure '{}' has two gains: state one", self.name))),
            (true, false) => Ok(Gain::Linear),
            (false, true) => Ok(Gain::Exponential),
            (false, false) => Ok(self.default_gain),
        }
    }

    fn threshold(&mut self) -> Result<f32> {
        self.number("rel", self.default_threshold)
    }

    fn max(&mut self) -> Result<f32> {
        self.number("max", ExpectedRr::DEFAULT_MAX)
    }

    fn finish(self) -> Result<()> {
        let odd = match (self.options.first(), self.k) {
            (Some(option), _) => format!("':{option}'"),
            (None, Some(k)) => format!("'@{k}'"),
            (None, None) => return Ok(()),
        };
        Err(Error::Config(format!(
            "measure '{}': {odd} does not belong there: expected '{}{}'",
            self.name, self.base, self.suffix
        )))
    }
}

/// `ndcg_cut_10` is trec_eval's name, and means trec_eval's linear gain. The same of `dcg` is nobody's.
fn trec_eval_cut<'a>(name: &str, base: &'a str, k: Option<usize>) -> Result<(&'a str, Vec<String>)> {
    match (base, k) {
        ("ndcg-cut", Some(_)) => Ok(("ndcg", vec!["linear".to_owned()])),
        ("ndcg-cut" | "dcg-cut", _) => {
            let (short, cut) = (base.trim_end_matches("-cut"), k.map_or("10".to_owned(), |k| k.to_string()));
            Err(Error::Config(format!(
                "measure '{name}': write '{short}:linear@{cut}' for the linear gain, as trec_eval has it, or \
                 '{short}@{cut}' for the gain 2^y - 1"
            )))
        }
        _ => Ok((base, Vec::new())),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn cutoff(name: &str, text: &str) -> Result<usize> {
    match text.parse() {
        Ok(k) if k > 0 && is_digits(text) => Ok(k),
        _ => Err(Error::Config(format!("measure '{name}': cutoff '{text}' is not a whole number of 1 or more"))),
    }
}

fn unknown(name: &str, base: &str) -> Error {
    match suggestion(name, base) {
        Some(meant) => Error::Config(format!("unknown measure '{name}': did you mean '{meant}'?")),
        None => {
            let known = KNOWN_METRICS.map(|(known, _, suffix, _)| format!("{known}{suffix}")).join(", ");
            Error::Config(format!("unknown measure '{name}': known are {known}"))
        }
    }
}

/// The whole name with the nearest known base.
fn suggestion(name: &str, base: &str) -> Option<String> {
    let all = KNOWN_METRICS.iter().flat_map(|(known, aliases, ..)| std::iter::once(known).chain(aliases.iter()));
    let known = suggest::nearest(base, all.copied())?;
    let meant = name.trim().to_ascii_lowercase().replace('_', "-").replacen(base, known, 1);
    // A name with a second mistake is named by its base alone.
    Some(if parse(&meant).is_ok() { meant } else { known.to_owned() })
}

#[cfg(test)]
mod tests {
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
        for (known, aliases, suffix, _) in KNOWN_METRICS {
            let cut = if suffix.ends_with("]@k") { "@7" } else { "" };
            for name in std::iter::once(&known).chain(aliases) {
                assert_eq!(canonical(&format!("{name}{cut}")), format!("{known}{cut}"));
            }
        }
    }

    #[test]
    fn names_of_trec_eval_mean_what_they_mean_there() {
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
            // Only one name is also ours, with another meaning.
            assert_eq!(canonical(name), if name == "ndcg" { "ndcg" } else { ours });
        }
        for name in ["ndcg_cut", "dcg_cut_10", "dcg_cut", "ndcg_cut@10"] {
            let short = if name.starts_with('n') { "ndcg" } else { "dcg" };
            let choice = format!("'{short}:linear@10' for the linear gain, as trec_eval has it, or '{short}@10'");
            assert!(message(name).contains(&choice), "{}", message(name));
        }
        assert!(message("ndcg_cut_10:exp").contains("two gains"));
    }

    #[test]
    fn default_thresholds_appear_in_names() {
        assert_eq!(parse_with("mrr", 2.0).unwrap().name(), "mrr:rel=2");
        assert_eq!(parse_with("mrr:rel=1", 2.0).unwrap().name(), "mrr");
        assert_eq!(parse_with("ndcg", 2.0).unwrap().name(), "ndcg");
        assert!(parse_with("mrr", 0.0).is_err() && parse_with("mrr", f32::NAN).is_err());
    }

    #[test]
    fn wrong_names_are_refused_with_a_remedy() {
        for (wrong, meant) in [
            ("ndgc@10", "ndcg@10"),
            ("ncdg@10", "ndcg@10"),
            ("nDGC:linear@5", "ndcg:linear@5"),
            ("recal@5", "recall@5"),
            ("mapp:rel=2", "map:rel=2"),
            ("recal@x", "recall"),
            ("precison_5", "precision-5"),
        ] {
            assert_eq!(message(wrong), format!("unknown measure '{wrong}': did you mean '{meant}'?"));
        }
        assert!(message("bleu").starts_with("unknown measure 'bleu': known are ndcg[:linear][@k], dcg"));
        assert!(!message("xyzzy-quux-plugh").contains("did you mean"));
        for name in ["ndcg@0", "ndcg@", "ndcg@x", "ndcg@-1", "ndcg@+1", "ndcg_cut_0", "ndcg@99999999999999999999"] {
            assert!(message(name).contains("is not a whole number of 1 or more"), "{name}: {}", message(name));
        }
        assert_eq!(message("p"), "measure 'p' needs a cutoff, as in 'p@10'");
        assert!(message("ndcg@5@6").contains("two cutoffs") && message("ndcg_5@6").contains("two cutoffs"));
        assert_eq!(message("bpref@5"), "measure 'bpref@5': '@5' does not belong there: expected 'bpref[:rel=y]'");
        assert_eq!(
            message("ndcg:rel=2"),
            "measure 'ndcg:rel=2': ':rel=2' does not belong there: expected 'ndcg[:linear][@k]'"
        );
        for name in ["map:rel=", "map:rel=0", "map:rel=-1", "map:rel=nan", "map:rel=inf", "map:rel=x"] {
            assert!(message(name).contains("is not a positive number"), "{name}");
        }
        for name in
            ["", "@", ":", "@10", "-5", "map:", "map:rel=1:rel=2", "ndcg:linear:exp", "ndcg@10:", "ndcg@1é0", "é"]
        {
            assert!(parse(name).is_err(), "{name}");
        }
    }
}
