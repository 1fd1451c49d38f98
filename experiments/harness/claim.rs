//! Claims of the papers, written down before anything is run: the statement, what it leaves open and how that is settled, what one
//! sample is, and the test.

use serde::{Deserialize, Serialize};

/// A statement of a paper that can be tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Unique name within the experiment; evidence refers to it.
    pub id: String,
    /// What the paper claims, as in "NDCG-Loss2 is above LambdaRank".
    pub statement: String,
    /// The paper's numbers or words for it.
    pub paper: String,
    /// Whether it counts towards the verdict.
    pub primary: bool,
    /// What the paper leaves open (pairs, gains, label shares, truncation, ties) and how it is settled here.
    pub convention: String,
    /// What one sample is: a random function, a data set, a fold. Seeds and queries are nested in it.
    pub unit: String,
    pub test: Test,
}

/// How a statement is tested. The evidence is one number per unit, or a fact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The mean of the paired differences is above 0.
    Above,
    /// Equivalence: the mean difference is within ± the margin.
    Equivalent { margin: f64 },
    /// The mean is at least this.
    AtLeast { bound: f64 },
    /// The mean is at most this.
    AtMost { bound: f64 },
    /// The paper's number is a draw from the distribution of the numbers.
    Number { paper: f64 },
    /// Deterministic: an equation, an inequality or a count, checked up to rounding.
    Fact,
}

impl Test {
    /// When the claim holds, when it is reversed, and when it is undecided, as text.
    pub fn words(self) -> String {
        match self {
            Test::Above => {
                "two-sided t-test over the units against 0: holds when the mean is above 0 and p, corrected, below \
                            0.05; reversed when the mean is below 0 and p below 0.05; else undecided"
                    .into()
            }
            Test::Equivalent { margin } => format!(
                "holds when the 95% interval of the mean is within ±{margin}, reversed when it is wholly outside, else undecided"
            ),
            Test::AtLeast { bound } => format!(
                "holds when the 95% interval of the mean is at or above {bound}, reversed when it is below, else undecided"
            ),
            Test::AtMost { bound } => format!(
                "holds when the 95% interval of the mean is at or below {bound}, reversed when it is above, else undecided"
            ),
            Test::Number { .. } => {
                "holds when z of the paper's number is from -2 to 2, else reversed; never undecided".into()
            }
            Test::Fact => "computed: holds when it is so to rounding, else reversed; never undecided".into(),
        }
    }
}

impl Claim {
    /// A primary claim, which counts towards the verdict.
    pub fn primary(id: impl Into<String>, statement: impl Into<String>, test: Test) -> Claim {
        Claim {
            id: id.into(),
            statement: statement.into(),
            paper: "yes".into(),
            primary: true,
            convention: String::new(),
            unit: if test == Test::Fact { "none: no chance is in it".into() } else { String::new() },
            test,
        }
    }

    /// A secondary claim, which is tested and reported but does not count towards the verdict.
    pub fn secondary(id: impl Into<String>, statement: impl Into<String>, test: Test) -> Claim {
        Claim { primary: false, ..Claim::primary(id, statement, test) }
    }

    /// Sets the paper's numbers or words.
    pub fn paper(self, paper: impl Into<String>) -> Claim {
        Claim { paper: paper.into(), ..self }
    }

    /// Sets what one sample is.
    pub fn unit(self, unit: impl Into<String>) -> Claim {
        Claim { unit: unit.into(), ..self }
    }

    /// Sets how open choices are settled.
    pub fn convention(self, convention: impl Into<String>) -> Claim {
        Claim { convention: convention.into(), ..self }
    }
}

/// Evidence for a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// One number per unit, with the number of decimals to print.
    Units { values: Vec<f64>, decimals: usize },
    /// Whether a fact is true, and the numbers behind it.
    Fact { holds: bool, ours: String },
    /// Why it could not be tested here.
    Missing(String),
}

impl Evidence {
    /// One number per unit, printed with four decimals.
    pub fn units(values: impl IntoIterator<Item = f64>) -> Evidence {
        Evidence::Units { values: values.into_iter().collect(), decimals: 4 }
    }

    /// One number per unit, printed with the given number of decimals.
    pub fn rounded(values: impl IntoIterator<Item = f64>, decimals: usize) -> Evidence {
        Evidence::Units { values: values.into_iter().collect(), decimals }
    }

    /// Whether a fact is true, and the numbers behind it.
    pub fn fact(holds: bool, ours: impl Into<String>) -> Evidence {
        Evidence::Fact { holds, ours: ours.into() }
    }

    /// Why it could not be tested here.
    pub fn missing(why: impl Into<String>) -> Evidence {
        Evidence::Missing(why.into())
    }
}

/// A control: its outcome is known whether or not the paper is right, for example with shuffled labels, random weights, or two
/// names for the same thing. If it fails, the experiment itself is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    pub description: String,
    pub expected: String,
    pub ours: String,
    pub holds: bool,
}
