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
    let claim =
        |fact: &Fact| Claim::new(fact.id, fact.statement, Test::Fact).paper(fact.paper).convention(fact.convention);
    facts.iter().map(claim).collect()
}

/// The settings that determine the results of these facts.
pub fn protocol(facts: &[Fact]) -> Value {
    facts.iter().map(|fact| json!([fact.id, fact.convention])).collect()
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
    let holds = evidence.iter().filter(|(_, found)| matches!(found, Evidence::Fact { holds: true, .. })).count();
    Ok(Report {
        main: format!("{holds} of {} {hold}", facts.len()),
        evidence,
        protocol: vec![
            "Every statement is computed, with the tolerance that its convention names; random numbers depend on the seed only. \
             No data is read."
                .into(),
        ],
        ..Report::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_claims() {
        let check = |_: &Session| Checked::new(true, "1");
        let facts = [Fact { id: "a", statement: "s", paper: "p", convention: "c", check }];
        let claims = claims(&facts);
        assert_eq!((claims[0].id.as_str(), claims[0].test, claims[0].paper.as_str()), ("a", Test::Fact, "p"));
    }
}
