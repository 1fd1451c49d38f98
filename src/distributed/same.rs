//! Checks that all processes have the same data and settings, before they exchange numbers.

use super::{Member, bytes_of, of_bytes};
use crate::data::Dataset;
use crate::error::{Error, Result};
use serde_json::Value;

/// A name and a value that must be equal in all processes.
pub(crate) type Fact = (String, String);

impl Member {
    /// Compares facts between processes. If a process differs from process 0, all fail; the error names the process,
    /// the differences and the remedy.
    ///
    /// # Errors
    /// An error of `kind` if a process differs, the error of `local`, and if a process cannot be reached.
    pub(crate) fn same(&self, kind: fn(String) -> Error, remedy: &str, local: Result<Vec<Fact>>) -> Result<()> {
        if self.size() == 1 {
            return local.map(|_| ());
        }
        let packed = local.map(|facts| of_bytes(&serde_json::to_vec(&facts).unwrap_or_default()));
        let all: Vec<Vec<Fact>> = self.all_gather(packed)?.iter().map(|words| unpacked(words)).collect();
        let Some(rank) = all.iter().position(|facts| *facts != all[0]) else { return Ok(()) };
        let (first, other) = (self.group().name(0), self.group().name(rank));
        let differences = differences(&all[0], &all[rank]);
        Err(kind(format!("{other} differs from {first}: {}: {remedy}", differences.join("; "))))
    }

    /// Compares the program's version and command between processes; the first exchange.
    ///
    /// ```
    /// use burnrank::distributed::Member;
    /// Member::alone().same_program("train")?;
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a process differs from process 0, or cannot be reached.
    pub fn same_program(&self, command: &str) -> Result<()> {
        let facts = [("version of burnrank", env!("CARGO_PKG_VERSION")), ("command", command)];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.same(Error::Mismatch, "start the same program and command in all processes", Ok(facts.to_vec()))
    }
}

/// The facts that another process gave to [`Member::same`]; empty if that process is at another exchange.
fn unpacked(words: &[u32]) -> Vec<Fact> {
    serde_json::from_slice(&bytes_of(words)).unwrap_or_default()
}

/// The differences of `other` from the facts of process 0.
fn differences(facts: &[Fact], other: &[Fact]) -> Vec<String> {
    let value = |facts: &[Fact], name: &str| {
        let fact = facts.iter().find(|(other, _)| other == name);
        fact.map_or("nothing".to_owned(), |(_, value)| value.clone())
    };
    let further = other.iter().filter(|(name, _)| !facts.iter().any(|(key, _)| key == name));
    let names = facts.iter().chain(further).map(|(name, _)| name);
    let pairs = names.map(|name| (name, value(facts, name), value(other, name)));
    pairs
        .filter(|(_, first, other)| first != other)
        .map(|(name, first, other)| format!("{name} {other} instead of {first}"))
        .collect()
}

/// The fact that describes a data set.
pub(crate) fn data_fact(name: &str, data: &Dataset, fingerprint: &str) -> Fact {
    let (queries, documents, features) = (data.n_queries(), data.n_documents(), data.n_features());
    let value = format!("{queries} queries, {documents} documents and {features} features (fingerprint {fingerprint})");
    (format!("{name} of"), value)
}

/// The fields of settings as facts.
pub(crate) fn setting_facts(settings: &Value) -> Vec<Fact> {
    match settings {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
        other => vec![("settings".into(), other.to_string())],
    }
}

#[cfg(test)]
mod tests {
    use super::super::threads::each;
    use super::*;

    fn facts(values: [&str; 2]) -> Result<Vec<Fact>> {
        Ok(vec![("shares".into(), values[0].into()), ("seed".into(), values[1].into())])
    }

    #[test]
    fn all_processes_report_the_differing_process_and_facts() {
        assert!(each(3, |member| member.same(Error::Config, "", facts(["1", "2"]))).iter().all(Result::is_ok));
        let errors = each(3, |member| {
            let local = facts(if member.rank() == 2 { ["6", "7"] } else { ["4", "7"] });
            let error = member.same(Error::Config, "give the same `shares`", local).unwrap_err();
            assert!(matches!(error, Error::Config(_)), "{error:?}");
            // The group can end normally.
            member.end(None);
            error.to_string()
        });
        let expected = "process 2 of 3 differs from process 0 of 3: shares 6 instead of 4: give the same `shares`";
        assert_eq!(errors, [expected; 3]);
    }

    #[test]
    fn missing_facts_and_other_exchanges_are_differences() {
        let errors = each(2, |member| match member.rank() {
            0 => member.same(Error::Mismatch, "r", facts(["4", "7"])).unwrap_err().to_string(),
            _ => member.broadcast(|| Ok(Vec::new())).map(|_| String::new()).unwrap(),
        });
        assert!(errors[0].contains("shares nothing instead of 4; seed nothing instead of 7"), "{}", errors[0]);
    }

    #[test]
    fn other_programs_and_commands_are_refused() {
        assert!(each(2, |member| member.same_program("train")).iter().all(Result::is_ok));
        let commands = ["train", "tune"];
        let errors = each(2, |member| member.same_program(commands[member.rank()]).unwrap_err().to_string());
        assert!(errors[0].contains("command tune instead of train"), "{}", errors[0]);
    }
}
