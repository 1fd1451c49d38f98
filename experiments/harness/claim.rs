//! What a paper says, written down before anything is run: the statement, what it leaves open and how that is settled, what
//! one sample is, and the test.

use serde::{Deserialize, Serialize};

/// One statement of a paper that can hold or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// A name that is unique in its experiment: evidence is given under it.
    pub id: String,
    /// What the paper says, as in "NDCG-Loss2 is above LambdaRank".
    pub statement: String,
    /// The paper's numbers or words for it.
    pub paper: String,
    /// Whether the verdict counts it.
    pub primary: bool,
    /// What the paper leaves open (pairs, gains, label shares, truncation, ties) and how it is settled here.
    pub convention: String,
    /// What one sample is: a random function, a data set, a fold. Seeds and queries are nested in it.
    pub unit: String,
    pub test: Test,
}

/// How a statement is tested. A number per unit is given as evidence, or a fact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The numbers are paired differences, above 0 on average.
    Above,
    /// The numbers are differences that do not matter: on average within ± the margin.
    Equivalent { margin: f64 },
    /// The numbers are on average at least this.
    AtLeast { bound: f64 },
    /// The numbers are on average at most this.
    AtMost { bound: f64 },
    /// The paper's number is one draw of what the numbers are draws of.
    Number { paper: f64 },
    /// No chance is in it: an equation, an inequality, a count, checked to rounding.
    Fact,
}

impl Test {
    /// When the claim holds, when it is reversed and when neither, in words.
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
    /// A statement that the verdict counts.
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

    /// A statement that is tested and told, but that the verdict does not count.
    pub fn secondary(id: impl Into<String>, statement: impl Into<String>, test: Test) -> Claim {
        Claim { primary: false, ..Claim::primary(id, statement, test) }
    }

    /// The paper's numbers or words.
    pub fn paper(self, paper: impl Into<String>) -> Claim {
        Claim { paper: paper.into(), ..self }
    }

    /// What one sample is.
    pub fn unit(self, unit: impl Into<String>) -> Claim {
        Claim { unit: unit.into(), ..self }
    }

    /// How open choices are settled.
    pub fn convention(self, convention: impl Into<String>) -> Claim {
        Claim { convention: convention.into(), ..self }
    }
}

/// What was found about a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// One number per unit, with the decimals to print.
    Units { values: Vec<f64>, decimals: usize },
    /// Whether it is so, and the numbers that say it.
    Fact { holds: bool, ours: String },
    /// Why it could not be tested here.
    Missing(String),
}

impl Evidence {
    /// One number per unit, printed with four decimals.
    pub fn units(values: impl IntoIterator<Item = f64>) -> Evidence {
        Evidence::Units { values: values.into_iter().collect(), decimals: 4 }
    }

    /// One number per unit, printed with so many decimals.
    pub fn rounded(values: impl IntoIterator<Item = f64>, decimals: usize) -> Evidence {
        Evidence::Units { values: values.into_iter().collect(), decimals }
    }

    /// Whether it is so, and the numbers that say it.
    pub fn fact(holds: bool, ours: impl Into<String>) -> Evidence {
        Evidence::Fact { holds, ours: ours.into() }
    }

    /// Why it could not be tested here.
    pub fn missing(why: impl Into<String>) -> Evidence {
        Evidence::Missing(why.into())
    }
}

/// Something that must come out in a known way whether the paper is right or not: shuffled labels, random weights, two names
/// for the same thing. When it does not, the experiment itself is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    pub description: String,
    pub expected: String,
    pub ours: String,
    pub holds: bool,
}
