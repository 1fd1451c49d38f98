//! Claims as data: statements of a paper with their tests, fixed in the source before anything runs. `verdict` decides them.

use burnrank::internal::text::signed;
use serde::{Deserialize, Serialize};

/// A statement that one test decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Unique name within the experiment; evidence and headline claims refer to it.
    pub id: String,
    /// The paper's claim, as in "NDCG-Loss2 is above LambdaRank".
    pub statement: String,
    /// The paper's numbers or words for it.
    pub paper: String,
    /// The paper's effect sizes on the scale of the test, one per data set; empty if it prints no numbers.
    pub effects: Vec<f64>,
    /// Choices that the paper leaves open (pairs, gains, label shares, truncation, ties), and how they are made here.
    pub convention: String,
    /// Unit of inference: a random function, a data set, a fold. Seeds and queries are nested in it.
    pub unit: String,
    pub test: Test,
}

/// A claim that counts towards the verdict: confirmed if all of its parts are.
#[derive(Debug, Clone, Copy)]
pub struct Headline {
    pub statement: &'static str,
    /// Ids of the claims that decide it; a final `*` matches any ending.
    pub parts: &'static [&'static str],
}

/// How a claim is tested. The evidence is one number per unit, or a fact.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// The mean of the paired differences is above 0.
    Above,
    /// The paper reports a difference above 0 that is not significant: the mean has the same sign.
    SameDirection,
    /// Equivalence: the mean difference is within ± the margin.
    Equivalent { margin: f64 },
    /// The mean is at least this.
    AtLeast { bound: f64 },
    /// The mean is at most this.
    AtMost { bound: f64 },
    /// Every single unit is at most this.
    EachAtMost { bound: f64 },
    /// The paper's number is a draw from the distribution of the numbers.
    Number { paper: f64 },
    /// Deterministic: an equation, an inequality or a count, checked up to rounding.
    Fact,
}

impl Test {
    /// Criteria for the outcomes, as text.
    pub fn words(self) -> String {
        let against = |side: &str, bound: f64| {
            format!(
                "95% interval of the mean: confirmed if at or {side} {bound}, contradicted if on the other side, else too \
                 small to see"
            )
        };
        match self {
            Test::Above => {
                "95% interval of the mean (Student's t over the units): confirmed if above 0, contradicted if below \
                            0; otherwise smaller if it excludes the paper's effect, else too small to see"
                    .into()
            }
            Test::SameDirection => {
                "the paper reports no significant difference: confirmed if the mean has the same sign, \
                                    contradicted if the 95% interval is on the other side, else too small to see"
                    .into()
            }
            Test::Equivalent { margin } => format!(
                "95% interval of the mean: confirmed if within ±{margin}, contradicted if entirely outside, else too small to \
                 see"
            ),
            Test::AtLeast { bound } => against("above", bound),
            Test::AtMost { bound } => against("below", bound),
            Test::EachAtMost { bound } => {
                format!(
                    "confirmed if every single unit is at most {bound}, else contradicted: no mean over units is tested"
                )
            }
            Test::Number { .. } => {
                "confirmed if z of the paper's number is between -2 and 2, else number differs".into()
            }
            Test::Fact => "computed: confirmed if true up to rounding, else contradicted".into(),
        }
    }
}

impl Claim {
    /// A claim that the paper states in words.
    pub fn new(id: impl Into<String>, statement: impl Into<String>, test: Test) -> Claim {
        Claim {
            id: id.into(),
            statement: statement.into(),
            paper: "yes".into(),
            effects: vec![],
            convention: String::new(),
            unit: if test == Test::Fact { "none: deterministic".into() } else { String::new() },
            test,
        }
    }

    /// Sets the paper's numbers or words.
    pub fn paper(self, paper: impl Into<String>) -> Claim {
        Claim { paper: paper.into(), ..self }
    }

    /// Sets the paper's effect sizes.
    pub fn effects(self, effects: impl IntoIterator<Item = f64>) -> Claim {
        // Without the rounding errors of differences between printed numbers.
        Claim { effects: effects.into_iter().map(|effect| (effect * 1e6).round() / 1e6).collect(), ..self }
    }

    /// Sets the paper's effect sizes, and its words to the same numbers.
    pub fn gaps(self, gaps: impl IntoIterator<Item = f64>, decimals: usize) -> Claim {
        let gaps: Vec<f64> = gaps.into_iter().collect();
        let words: Vec<String> = gaps.iter().map(|gap| signed(*gap, decimals)).collect();
        self.paper(words.join(", ")).effects(gaps)
    }

    /// Sets the unit of inference.
    pub fn unit(self, unit: impl Into<String>) -> Claim {
        Claim { unit: unit.into(), ..self }
    }

    /// Sets how open choices are made.
    pub fn convention(self, convention: impl Into<String>) -> Claim {
        Claim { convention: convention.into(), ..self }
    }

    /// Sets the unit and convention of a test over units that states none.
    pub fn with_defaults(mut self, unit: &str, convention: &str) -> Claim {
        if self.test != Test::Fact {
            let fill = |text: &mut String, default: &str| {
                if text.is_empty() {
                    *text = default.into()
                }
            };
            fill(&mut self.unit, unit);
            fill(&mut self.convention, convention);
        }
        self
    }

    /// Whether both claims belong to one family of similar claims: the same unit, test and conventions.
    pub fn is_similar(&self, other: &Claim) -> bool {
        (&self.unit, self.test, &self.convention) == (&other.unit, other.test, &other.convention)
    }
}

impl Headline {
    pub const fn new(statement: &'static str, parts: &'static [&'static str]) -> Headline {
        Headline { statement, parts }
    }

    /// Whether a claim with this id is a part.
    pub fn has(&self, id: &str) -> bool {
        self.parts.iter().any(|part| part.strip_suffix('*').map_or(*part == id, |start| id.starts_with(start)))
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
