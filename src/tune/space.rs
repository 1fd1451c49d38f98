//! The search space: the distribution of configurations.

use super::choices::Choices;
use super::dimension::{Dimension, Part, dimensions};
use crate::error::{Error, Result};
use crate::model::ExportTarget;
use crate::objective::Objective;
use crate::setting::{GROWS_TREES, Given, ModelChoice, Setting, TrainConfig, resolve};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Distribution of configurations. Settings that are not searched keep the defaults of `burnrank train`.
///
/// ```
/// use burnrank::tune::{Choices, Part, Range, Space};
/// use burnrank::setting::ModelChoice;
/// let mut space = Space::new();
/// space.set(Part::Nets, "lr", Choices::Range(Range { low: 0.001, high: 0.1, log: true, zero: 0.0 }))?;
/// space.check()?;
/// let default = "mlp".parse::<ModelChoice>()?.config();
/// let drawn = space.draw(1, 7)?;
/// assert!((0.001..=0.1).contains(&drawn.learning_rate) && drawn.architecture == default.architecture);
/// assert_eq!(space.draw(1, 7)?.learning_rate, drawn.learning_rate);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Space {
    choices: BTreeMap<(Part, usize), Choices>,
    sections: [bool; 2],
    target: ExportTarget,
}

impl Space {
    /// A space with a single point: the defaults of `burnrank train`.
    pub fn new() -> Self {
        Space::default()
    }

    /// The default search space: nets, and trees if this build trains them.
    pub fn standard() -> Self {
        let mut space = Space { choices: BTreeMap::new(), sections: [true, GROWS_TREES], ..Space::new() };
        for (place, dimension) in dimensions().iter().enumerate() {
            let is_used = dimension.part != Part::Trees || GROWS_TREES;
            if let Some(choices) = dimension.standard.clone().filter(|_| is_used) {
                space.choices.insert((dimension.part, place), choices);
            }
        }
        space
    }

    /// Includes nets or trees even if none of their settings is searched. If neither is included, nets are searched.
    pub fn include(&mut self, part: Part) {
        match part {
            Part::Objective => {}
            Part::Nets => self.sections[0] = true,
            Part::Trees => self.sections[1] = true,
        }
    }

    /// Sets the choices of a setting.
    ///
    /// # Errors
    /// If the setting is unknown or a value is invalid.
    pub fn set(&mut self, part: Part, key: &str, choices: Choices) -> Result<()> {
        let dimension = Dimension::of(part, key)?;
        choices.check(dimension)?;
        choices.extremes(dimension).iter().try_for_each(|value| dimension.check(value))?;
        self.include(part);
        let place = dimensions().iter().position(|other| std::ptr::eq(other, dimension)).unwrap_or_default();
        self.choices.insert((part, place), choices);
        Ok(())
    }

    /// Restricts the search to scalings and activation functions that a target supports.
    ///
    /// # Errors
    /// If no value of a list remains.
    pub fn restrict(&mut self, target: ExportTarget) -> Result<()> {
        self.target = target;
        for ((part, place), choices) in &mut self.choices {
            let (model, dimension) = (part.model(), &dimensions()[*place]);
            let Choices::List(values) = choices else { continue };
            if *part == Part::Objective {
                continue;
            }
            let check = |value: &String| -> Result<()> {
                if dimension.is_linear(value) {
                    return Ok(());
                }
                let mut given = Given::new();
                given.state("for", target)?;
                let mut config = resolve(&model, &given, None)?;
                Setting::of(dimension.key)?.set(&mut config, value)?;
                config.check_target()
            };
            let supported: Vec<String> = values.iter().filter(|value| check(value).is_ok()).cloned().collect();
            if supported.is_empty() {
                values.iter().try_for_each(check)?;
            }
            *values = supported;
        }
        Ok(())
    }

    /// All settings that are searched.
    pub fn searched(&self) -> impl Iterator<Item = (&'static Dimension, &Choices)> {
        self.choices.iter().map(|((_, place), choices)| (&dimensions()[*place], choices))
    }

    /// The choices of a setting.
    pub fn get(&self, part: Part, key: &str) -> Option<&Choices> {
        let mut all = self.searched().filter(|(dimension, _)| dimension.part == part && dimension.key == key);
        all.next().map(|(_, choices)| choices)
    }

    /// The parts that are searched: nets, trees, or both.
    pub fn models(&self) -> Vec<Part> {
        match self.sections {
            [true, true] => vec![Part::Nets, Part::Trees],
            [false, true] => vec![Part::Trees],
            _ => vec![Part::Nets],
        }
    }

    /// Rejects invalid objectives, with any values of their placeholders, and models that this build does not train.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self) -> Result<()> {
        self.check_models()?;
        self.check_objectives()
    }

    /// Rejects models that this build does not train.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_models(&self) -> Result<()> {
        self.models().into_iter().try_for_each(|part| part.model().config().check_build())
    }

    /// Rejects invalid objectives, with any values of their placeholders.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_objectives(&self) -> Result<()> {
        let Some(Choices::List(names)) = self.get(Part::Objective, "objective") else { return Ok(()) };
        for name in names {
            let mut all = vec![name.clone()];
            for dimension in Part::Objective.dimensions().filter(|dimension| dimension.is_placeholder()) {
                let placeholder = format!("{{{}}}", dimension.key);
                if !name.contains(&placeholder) {
                    continue;
                }
                let Some(choices) = self.get(Part::Objective, dimension.key) else {
                    let key = dimension.key;
                    return Err(Error::Config(format!("'{name}' needs {key}: add a line such as '{key} = [1, 5]'")));
                };
                let values = choices.extremes(dimension);
                all = all.iter().flat_map(|name| values.iter().map(|v| name.replace(&placeholder, v))).collect();
            }
            for full in all {
                if let Some((_, rest)) = full.split_once('{') {
                    let word = rest.split('}').next().unwrap_or_default();
                    let expected = Part::Objective.dimensions().filter(|dimension| dimension.is_placeholder());
                    let expected: Vec<String> = expected.map(|dimension| format!("{{{}}}", dimension.key)).collect();
                    let expected = expected.join(", ");
                    return Err(Error::Config(format!("'{name}': unknown {{{word}}}: expected {expected}")));
                }
                Objective::parse(&full)?;
            }
        }
        Ok(())
    }

    /// Returns the configuration with this number. It depends on seed and number only, not on previous draws.
    ///
    /// # Errors
    /// If the space is invalid; see [`Space::check`].
    pub fn draw(&self, seed: u64, number: u64) -> Result<TrainConfig> {
        let (model, given) = self.draw_given(seed, number)?;
        resolve(&model, &given, None)
    }

    /// The model of this number and the settings drawn for it.
    pub(super) fn draw_given(&self, seed: u64, number: u64) -> Result<(ModelChoice, Given)> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        let models = self.models();
        let part = models[random.random_range(0..models.len())];
        let (mut model, mut given) = (part.model(), Given::new());
        let (mut objective, mut placeholders) = (None, Vec::new());
        for (dimension, choices) in self.searched() {
            let value = choices.draw(dimension, &mut random);
            if dimension.is_placeholder() {
                placeholders.push((format!("{{{}}}", dimension.key), value));
            } else if dimension.part == Part::Objective {
                objective = Some(value);
            } else if dimension.part == part && dimension.is_linear(&value) {
                model = "linear".parse()?;
            } else if dimension.part == part {
                given.state(dimension.key, value)?;
            }
        }
        given.retain(model.kind.kinds);
        self.state_target(&mut given)?;
        if let Some(name) = objective {
            given.state("objective", placeholders.iter().fold(name, |name, (key, value)| name.replace(key, value)))?;
        }
        Ok((model, given))
    }

    /// The default of `burnrank train`, with the first objective of a list that does not contain the default objective.
    ///
    /// # Errors
    /// If the space is invalid; see [`Space::check`].
    pub(super) fn default_given(&self) -> Result<(ModelChoice, Given)> {
        let (model, mut given) = (self.models()[0].model(), Given::new());
        if let Some(Choices::List(names)) = self.get(Part::Objective, "objective")
            && let Some(first) = names.first()
            && !names.iter().any(|name| name.contains('{') || *name == Objective::default().name())
        {
            given.state("objective", first)?;
        }
        self.state_target(&mut given)?;
        Ok((model, given))
    }

    fn state_target(&self, given: &mut Given) -> Result<()> {
        if self.target == ExportTarget::Any { Ok(()) } else { given.state("for", self.target) }
    }
}

/// `{"objective": [...], "nets.lr": {...}}`: identifies the space.
impl Serialize for Space {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let name = |dimension: &Dimension| match dimension.part.name() {
            "" => dimension.key.to_owned(),
            part => format!("{part}.{}", dimension.key),
        };
        let models = serde_json::json!(self.models().iter().map(|part| part.name()).collect::<Vec<_>>());
        let all = self.searched().map(|(dimension, choices)| (name(dimension), serde_json::json!(choices)));
        let target = (self.target != ExportTarget::Any).then(|| ("for".to_owned(), serde_json::json!(self.target)));
        serializer.collect_map(std::iter::once(("models".to_owned(), models)).chain(all).chain(target))
    }
}

#[cfg(test)]
mod tests {
    use super::super::choices::Range;
    use super::*;
    use crate::model::Architecture;

    fn default_objective(space: &Space) -> String {
        let (model, given) = space.default_given().unwrap();
        resolve(&model, &given, None).unwrap().objective.name()
    }

    fn list(values: &[&str]) -> Choices {
        Choices::List(values.iter().map(|&value| value.to_owned()).collect())
    }

    #[test]
    fn the_default_space_is_valid_and_draws_valid_configurations() {
        let space = Space::standard();
        space.check().unwrap();
        let mut linear = 0;
        for number in 0..200 {
            let config = space.draw(3, number).unwrap();
            config.check().unwrap();
            let (config, repeated) =
                [config, space.draw(3, number).unwrap()].map(|c| serde_json::to_string(&c).unwrap()).into();
            assert_eq!(config, repeated);
            linear += usize::from(space.draw(3, number).unwrap().architecture == Architecture::Linear);
        }
        assert!((10..90).contains(&linear), "{linear}");
        let objectives = |seed| (0..20).map(|n| space.draw(seed, n).unwrap().objective.name()).collect::<Vec<_>>();
        assert_ne!(objectives(1), objectives(2));
        // Choices can be set one by one.
        let mut copy = Space::new();
        space
            .searched()
            .for_each(|(dimension, choices)| copy.set(dimension.part, dimension.key, choices.clone()).unwrap());
        assert_eq!(copy, space);
    }

    #[test]
    fn placeholders_are_replaced() {
        let mut space = Space::new();
        space.set(Part::Objective, "objective", list(&["ndcg-loss2++@{k}:mu={mu}"])).unwrap();
        let message = space.check().unwrap_err().to_string();
        assert!(message.contains("needs mu: add a line"), "{message}");
        space.set(Part::Objective, "mu", Choices::Range(Range { low: 2.0, high: 4.0, log: true, zero: 0.0 })).unwrap();
        space.set(Part::Objective, "k", list(&["7"])).unwrap();
        space.check().unwrap();
        let name = space.draw(1, 1).unwrap().objective.name();
        let mu: f64 = name.strip_prefix("ndcg-loss2++@7:mu=").unwrap().parse().unwrap();
        assert!((2.0..=4.0).contains(&mu), "{name}");
        assert_eq!(default_objective(&space), Objective::default().name());
        let mut default = |names: &[&str]| {
            space.set(Part::Objective, "objective", list(names)).unwrap();
            default_objective(&space)
        };
        assert_eq!(
            [default(&["arp-loss2", "ranknet"]), default(&["ranknet", "lambdarank:ndcg"])],
            ["arp-loss2", "lambdarank:ndcg"]
        );
    }

    #[test]
    fn invalid_choices_are_rejected() {
        let set = |part, key: &str, choices| Space::new().set(part, key, choices).unwrap_err().to_string();
        assert!(set(Part::Nets, "scale", list(&["huge"])).contains("unknown scaling 'huge'"));
        assert!(set(Part::Nets, "lr", list(&["0"])).contains("lr 0: expected a number above 0"));
        assert!(set(Part::Nets, "lr", list(&["fast"])).contains("lr fast: expected a number above 0"));
        assert!(set(Part::Trees, "subsample", list(&["0.5", "2"])).contains("subsample 2"));
        let check = |name: &str| {
            let mut space = Space::new();
            space.set(Part::Objective, "objective", list(&[name])).unwrap();
            space.check().unwrap_err().to_string()
        };
        assert!(check("lamdarank:ndcg").contains("did you mean 'lambdarank:ndcg'?"));
        assert!(check("ranknet:sigma={slope}").contains("unknown {slope}: expected {mu}, {sigma}, {k}, {alpha}"));
    }

    #[test]
    fn a_target_restricts_lists() {
        let mut space = Space::standard();
        space.restrict(ExportTarget::Elasticsearch).unwrap();
        assert_eq!(space.get(Part::Nets, "scale"), Some(&list(&["zscore", "log1p-zscore", "quantile"])));
        assert_eq!(space.get(Part::Nets, "activation"), Some(&list(&["tanh"])));
        assert_eq!(space.get(Part::Nets, "hidden"), Space::standard().get(Part::Nets, "hidden"));
        for number in 0..50 {
            let config = space.draw(2, number).unwrap();
            assert_eq!(config.target, ExportTarget::Elasticsearch);
        }
        assert_eq!(space.default_given().unwrap().1.get("for"), Some("elasticsearch"));
        let mut any = Space::standard();
        any.restrict(ExportTarget::Any).unwrap();
        assert_eq!(any, Space::standard());
        let mut space = Space::new();
        space.set(Part::Nets, "scale", list(&["query-zscore", "query-minmax"])).unwrap();
        let message = space.restrict(ExportTarget::Solr).unwrap_err().to_string();
        assert_eq!(
            message,
            "scale query-zscore: expected none, log1p, zscore, minmax, log1p-zscore or quantile with `for` solr"
        );
    }

    #[test]
    fn trees_are_searched_in_builds_that_train_them() {
        let mut space = Space::new();
        space.set(Part::Trees, "leaves", list(&["7"])).unwrap();
        assert_eq!((space.models(), space.check().is_ok()), (vec![Part::Trees], GROWS_TREES));
        assert!(matches!(space.draw(1, 1).unwrap().architecture, Architecture::Trees { leaves: 7, .. }));
        space.include(Part::Nets);
        let is_net = |number| space.draw(1, number).unwrap().architecture.is_net();
        assert!((20..80).contains(&(0..100).filter(|&number| is_net(number)).count()));
    }
}
