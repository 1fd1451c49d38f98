//! The dimensions of a search space: settings of nets and trees, objectives, and parameters of objectives.

use super::choices::{Choices, Range};
use crate::error::{Error, Result};
use crate::internal::suggest::nearest;
use crate::model::Architecture;
use crate::setting::{Kinds, ModelChoice, SETTINGS, SearchSpace, Setting, TrainConfig, Value};
use std::sync::OnceLock;

/// A part of a search space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Objectives, shared by nets and trees.
    Objective,
    /// Nets, including linear ones.
    Nets,
    /// Boosted trees.
    Trees,
}

impl Part {
    /// All parts.
    pub const ALL: [Part; 3] = [Part::Objective, Part::Nets, Part::Trees];

    /// Name in a file; empty for objectives, which come before all parts.
    pub fn name(self) -> &'static str {
        match self {
            Part::Objective => "",
            Part::Nets => "nets",
            Part::Trees => "trees",
        }
    }

    /// The model of the part's settings; a draw may make a net linear.
    pub(super) fn model(self) -> ModelChoice {
        if self == Part::Trees { ModelChoice::trees() } else { ModelChoice::mlp() }
    }

    /// The dimensions of this part.
    pub fn dimensions(self) -> impl Iterator<Item = &'static Dimension> {
        dimensions().iter().filter(move |dimension| dimension.part == self)
    }
}

/// Kind of the values drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drawn {
    /// One of a list of words.
    Word,
    /// A number from a list or a range.
    Number,
    /// A whole number from a list or a range.
    Whole,
}

/// A dimension of the search space.
pub struct Dimension {
    /// The part it belongs to.
    pub part: Part,
    /// Key of the setting, or name of a placeholder in objectives.
    pub key: &'static str,
    /// Short description.
    pub help: String,
    pub(super) drawn: Drawn,
    /// Default choices; `None` if the setting keeps its default.
    pub(super) standard: Option<Choices>,
    row: Option<&'static Setting>,
}

/// Value of `hidden` for a linear net.
const LINEAR: &str = "linear";

/// Objectives searched by default.
const OBJECTIVES: SearchSpace = SearchSpace::List(&[
    "lambdarank:ndcg:sigma={sigma}",
    "lambdarank:ndcg@{k}",
    "ndcg-loss2++:mu={mu}",
    "ndcg-loss2",
    "ranknet",
    "arp-loss2",
    "listnet",
    "approx-ndcg:alpha={alpha}",
]);

/// Placeholders in objectives.
const PLACEHOLDERS: [(&str, Drawn, SearchSpace); 4] = [
    ("mu", Drawn::Number, SearchSpace::Log(1.0, 20.0)),
    ("sigma", Drawn::Number, SearchSpace::Log(0.5, 4.0)),
    ("k", Drawn::Whole, SearchSpace::List(&["3", "5", "10", "20"])),
    ("alpha", Drawn::Number, SearchSpace::Log(1.0, 20.0)),
];

/// Returns all dimensions, in the order in which they are drawn.
pub fn dimensions() -> &'static [Dimension] {
    static ALL: OnceLock<Vec<Dimension>> = OnceLock::new();
    ALL.get_or_init(|| {
        let (part, standard) = (Part::Objective, choices(&OBJECTIVES));
        let help = "objectives; {mu}, {sigma}, {k} and {alpha} are replaced with the values below".to_owned();
        let objective = Dimension { part, key: "objective", help, drawn: Drawn::Word, standard, row: None };
        let placeholder = |(key, drawn, space): &(&'static str, Drawn, SearchSpace)| {
            let help = format!("values of {{{key}}} in objectives");
            Dimension { part, key, help, drawn: *drawn, standard: choices(space), row: None }
        };
        let rows = [(Part::Nets, Kinds::NETS), (Part::Trees, Kinds::TREES)];
        let rows = rows.into_iter().flat_map(|(part, kinds)| {
            SETTINGS.iter().filter_map(move |row| Some(Dimension::new(part, row, row.search_of(kinds)?)))
        });
        std::iter::once(objective).chain(PLACEHOLDERS.iter().map(placeholder)).chain(rows).collect()
    })
}

fn choices(space: &SearchSpace) -> Option<Choices> {
    let range = |low: f64, high: f64, zero| Some(Choices::Range(Range { low, high, log: true, zero }));
    match *space {
        SearchSpace::Default => None,
        SearchSpace::List(words) => Some(Choices::List(words.iter().map(|&word| word.to_owned()).collect())),
        SearchSpace::Log(low, high) => range(low, high, 0.0),
        SearchSpace::ZeroOrLog(low, high) => range(low, high, 0.5),
    }
}

impl Dimension {
    fn new(part: Part, row: &'static Setting, space: &SearchSpace) -> Self {
        let drawn = match row.value {
            Value::Whole(..) => Drawn::Whole,
            Value::Number(_) => Drawn::Number,
            _ => Drawn::Word,
        };
        let note = if row.key == "hidden" { "; [] is a linear net" } else { "" };
        let help = format!("{}{note}", row.help);
        Dimension { part, key: row.key, help, drawn, standard: choices(space), row: Some(row) }
    }

    /// Returns the dimension of this key.
    ///
    /// # Errors
    /// If the key is unknown, with the closest key and all keys of the part.
    pub fn of(part: Part, key: &str) -> Result<&'static Dimension> {
        let keys = || part.dimensions().map(|dimension| dimension.key);
        part.dimensions().find(|dimension| dimension.key == key).ok_or_else(|| {
            let meant = meant(part, key).or_else(|| nearest(key, keys()));
            let suggestion = meant.map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
            let all = keys().collect::<Vec<_>>().join(", ");
            Error::Config(format!("unknown key '{key}': {suggestion}known keys: {all}"))
        })
    }

    /// Returns whether its values are numbers, which may be drawn from a range.
    pub fn is_number(&self) -> bool {
        self.drawn != Drawn::Word
    }

    /// Returns whether it is a placeholder in objectives.
    pub fn is_placeholder(&self) -> bool {
        self.part == Part::Objective && self.key != "objective"
    }

    /// Returns whether a value stands for a net without hidden units.
    pub(super) fn is_linear(&self, value: &str) -> bool {
        self.key == "hidden" && (value.is_empty() || value == LINEAR)
    }

    /// Rejects invalid values of the setting.
    pub(super) fn check(&self, value: &str) -> Result<()> {
        match self.row {
            Some(row) if !self.is_linear(value) => row.check(value),
            _ => Ok(()),
        }
    }

    /// Returns the value in a configuration as text; `None` if the model of the configuration does not have the setting.
    pub fn show(&self, config: &TrainConfig) -> Option<String> {
        let kind = ModelChoice::of(config).ok()?.kind;
        match (self.row, self.part) {
            (None, _) => (self.key == "objective").then(|| config.objective.name()),
            (_, Part::Trees) if kind.kinds != Kinds::TREES => None,
            (_, Part::Nets) if !Kinds::NETS.has(kind.kinds) => None,
            (Some(_), _) if self.key == "hidden" && config.architecture == Architecture::Linear => Some(LINEAR.into()),
            (Some(row), _) => row.is_of(kind).then(|| row.get(config)),
        }
    }
}

/// The key for a name used by other libraries or in the other part.
fn meant(part: Part, key: &str) -> Option<&'static str> {
    let key = key.replace('_', "-");
    match (part, key.as_str()) {
        (Part::Trees, "lr" | "learning-rate" | "step" | "eta") => Some("shrinkage"),
        (Part::Trees, "num-leaves" | "max-leaves") => Some("leaves"),
        (Part::Trees, "min-data-in-leaf" | "min-child-samples") => Some("min-data"),
        (Part::Nets, "shrinkage" | "learning-rate" | "step" | "eta") => Some("lr"),
        _ => None,
    }
}

/// Returns the dimensions of a configuration with their values as text.
pub fn values_of(config: &TrainConfig) -> impl Iterator<Item = (&'static Dimension, String)> {
    dimensions().iter().filter_map(|dimension| Some((dimension, dimension.show(config)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_shows_the_values_of_its_own_part() {
        for (part, config) in [(Part::Nets, ModelChoice::mlp().config()), (Part::Trees, ModelChoice::trees().config())]
        {
            for (dimension, value) in values_of(&config) {
                assert!([part, Part::Objective].contains(&dimension.part), "{}", dimension.key);
                dimension.check(&value).unwrap();
            }
            assert!(part.dimensions().all(|dimension| dimension.show(&config).is_some()));
            assert!(part.dimensions().all(|dimension| !dimension.is_number() || dimension.check("many").is_err()));
        }
        let linear = TrainConfig { architecture: Architecture::Linear, ..TrainConfig::default() };
        let shown = |key: &str| Dimension::of(Part::Nets, key).unwrap().show(&linear);
        assert_eq!((shown("hidden"), shown("activation")), (Some("linear".into()), None));
    }

    #[test]
    fn unknown_keys_get_a_suggestion() {
        let message = Dimension::of(Part::Nets, "hiden").err().unwrap().to_string();
        let expected = "unknown key 'hiden': did you mean 'hidden'? known keys: hidden, acti";
        assert!(message.starts_with(expected), "{message}");
        let message = Dimension::of(Part::Trees, "depth").err().unwrap().to_string();
        assert!(message.starts_with("unknown key 'depth': known keys: leaves, shrinkage"), "{message}");
        for (part, key, meant) in [
            (Part::Trees, "lr", "shrinkage"),
            (Part::Trees, "learning-rate", "shrinkage"),
            (Part::Trees, "num_leaves", "leaves"),
            (Part::Nets, "shrinkage", "lr"),
            (Part::Nets, "learning_rate", "lr"),
        ] {
            let message = Dimension::of(part, key).err().unwrap().to_string();
            assert!(message.contains(&format!("did you mean '{meant}'? ")), "{message}");
        }
    }
}
