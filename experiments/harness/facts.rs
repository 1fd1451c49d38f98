//! Facts: deterministic statements, each defined next to the code that checks it.

use super::{Claim, Evidence, Execution, Finding, Job, Report, Session, Test};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Function that checks a fact.
pub type Check = fn(&Session) -> anyhow::Result<Checked>;

/// A statement of a paper and its check.
pub struct Fact {
    /// Unique name within the experiment.
    pub id: &'static str,
    /// Whether it counts towards the verdict.
    pub primary: bool,
    pub statement: &'static str,
    /// The paper's numbers or words for it.
    pub paper: &'static str,
    /// What the paper leaves open and how it is settled here, including tolerances.
    pub convention: &'static str,
    pub check: Check,
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    pub holds: bool,
    /// The numbers behind the result.
    pub ours: String,
}

impl Checked {
    pub fn new(holds: bool, ours: impl Into<String>) -> anyhow::Result<Checked> {
        Ok(Checked { holds, ours: ours.into() })
    }
}

impl Finding for Checked {
    fn impossible(&self) -> Option<String> {
        self.ours.is_empty().then(|| "a check without numbers".into())
    }
}

/// The claims of these facts.
pub fn claims(facts: &[Fact]) -> Vec<Claim> {
    let claim = |fact: &Fact| Claim {
        primary: fact.primary,
        ..Claim::primary(fact.id, fact.statement, Test::Fact).paper(fact.paper).convention(fact.convention)
    };
    facts.iter().map(claim).collect()
}

/// The settings that determine the results of these facts.
pub fn protocol(facts: &[Fact]) -> Value {
    json!({"facts": facts.iter().map(|fact| json!([fact.id, fact.convention])).collect::<Vec<_>>()})
}

/// Checks all facts, each as a separate run.
fn check(execution: &Execution<'_>, facts: &'static [Fact]) -> anyhow::Result<Vec<(String, Evidence)>> {
    let jobs: Vec<Job<&Fact>> = facts.iter().map(|fact| Job { key: fact.id.into(), work: 1.0, what: fact }).collect();
    let found = execution.run_all(&jobs, |job, _| (job.what.check)(execution.session))?;
    let evidence = |(fact, found): (&Fact, Checked)| (fact.id.to_owned(), Evidence::fact(found.holds, found.ours));
    Ok(facts.iter().zip(found).map(evidence).collect())
}

/// Checks all facts and starts the report on them: evidence, main number and protocol.
///
/// `hold` is the verb phrase for true facts, as in "statements hold".
pub fn report(execution: &Execution<'_>, facts: &'static [Fact], hold: &str) -> anyhow::Result<Report> {
    let evidence = check(execution, facts)?;
    let [counted, others] = [true, false].map(|primary| count(facts, &evidence, primary));
    Ok(Report {
        main: format!("{counted} {hold}; of others, which the verdict does not count, {others}"),
        evidence,
        protocol: vec![
            "Every statement is computed, with the tolerance that its convention names; random numbers follow from the seed. No \
             data is read."
                .into(),
        ],
        ..Report::default()
    })
}

/// Number of facts that hold, as in "11 of 12", among those that count towards the verdict or among the others.
fn count(facts: &[Fact], evidence: &[(String, Evidence)], primary: bool) -> String {
    let asked: Vec<&Fact> = facts.iter().filter(|fact| fact.primary == primary).collect();
    let holds = |id: &str| {
        evidence.iter().any(|(known, found)| known == id && matches!(found, Evidence::Fact { holds: true, .. }))
    };
    format!("{} of {}", asked.iter().filter(|fact| holds(fact.id)).count(), asked.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_claims_and_are_counted() {
        let fact = |id, primary| Fact {
            id,
            primary,
            statement: "s",
            paper: "p",
            convention: "c",
            check: |_| Checked::new(true, "1"),
        };
        let facts = [fact("a", true), fact("b", false), fact("c", true)];
        let claims = claims(&facts);
        assert_eq!((claims[1].id.as_str(), claims[1].primary, claims[1].paper.as_str()), ("b", false, "p"));
        let evidence = vec![("a".to_owned(), Evidence::fact(true, "1")), ("c".to_owned(), Evidence::fact(false, "2"))];
        assert_eq!(count(&facts, &evidence, true), "1 of 2");
    }
}
