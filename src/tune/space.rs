//! The space of settings that a search draws from.

use super::choices::Choices;
use super::setting::{Section, Setting};
use super::settings::SETTINGS;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::setting::{GROWS_TREES, ModelChoice, TrainConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// What settings are drawn from. What is not set stays as `burnrank train` has it.
///
/// ```
/// use burnrank::tune::{Choices, Range, Section, Space};
/// use burnrank::setting::ModelChoice;
/// let mut space = Space::new();
/// space.set(Section::Nets, "lr", Choices::Range(Range { low: 0.001, high: 0.1, log: true, zero: 0.0 }))?;
/// space.check()?;
/// let default = "mlp".parse::<ModelChoice>()?.config();
/// let drawn = space.draw(1, 7)?;
/// assert!((0.001..=0.1).contains(&drawn.learning_rate) && drawn.architecture == default.architecture);
/// assert_eq!(space.draw(1, 7)?.learning_rate, drawn.learning_rate);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Space {
    choices: BTreeMap<(Section, usize), Choices>,
    sections: [bool; 2],
}

impl Space {
    /// A space of one point: the defaults of `burnrank train`.
    pub fn new() -> Self {
        Space::default()
    }

    /// What is searched unless told otherwise: nets, and trees where this build grows them.
    pub fn standard() -> Self {
        let mut space = Space { choices: BTreeMap::new(), sections: [true, GROWS_TREES] };
        for (place, setting) in SETTINGS.iter().enumerate() {
            let is_used = setting.section != Section::Trees || GROWS_TREES;
            if let Some(choices) = setting.standard().filter(|_| is_used) {
                space.choices.insert((setting.section, place), choices);
            }
        }
        space
    }

    /// Searches nets or trees, also where none of their settings is set; without any, nets are searched.
    pub fn include(&mut self, section: Section) {
        match section {
            Section::Objective => {}
            Section::Nets => self.sections[0] = true,
            Section::Trees => self.sections[1] = true,
        }
    }

    /// Searches a setting.
    ///
    /// # Errors
    /// An unknown setting, or values that it cannot have.
    pub fn set(&mut self, section: Section, key: &str, choices: Choices) -> Result<()> {
        let setting = Setting::of(section, key)?;
        choices.check(setting)?;
        if key != "objective" {
            for value in choices.extremes(setting) {
                let mut config = start(section)?;
                let checked = setting.apply(&mut config, &value).and_then(|()| config.check());
                checked.map_err(|error| Error::Config(format!("{key}: {error}")))?;
            }
        }
        self.include(section);
        let place = SETTINGS.iter().position(|other| std::ptr::eq(other, setting)).unwrap_or_default();
        self.choices.insert((section, place), choices);
        Ok(())
    }

    /// All that is searched.
    pub fn settings(&self) -> impl Iterator<Item = (&'static Setting, &Choices)> {
        self.choices.iter().map(|((_, place), choices)| (&SETTINGS[*place], choices))
    }

    /// What a setting is drawn from.
    pub fn get(&self, section: Section, key: &str) -> Option<&Choices> {
        let mut all = self.settings().filter(|(setting, _)| setting.section == section && setting.key == key);
        all.next().map(|(_, choices)| choices)
    }

    /// Nets, trees, or both.
    pub fn models(&self) -> Vec<Section> {
        match self.sections {
            [true, true] => vec![Section::Nets, Section::Trees],
            [false, true] => vec![Section::Trees],
            _ => vec![Section::Nets],
        }
    }

    /// Refuses objectives that there are not, whatever fills their braces, and models that this build does not train.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self) -> Result<()> {
        for section in self.models() {
            start(section)?.check_build()?;
        }
        let Some(Choices::List(names)) = self.get(Section::Objective, "objective") else { return Ok(()) };
        for name in names {
            let mut open = vec![name.clone()];
            for setting in Section::Objective.settings().filter(|setting| setting.fills_braces()) {
                let brace = format!("{{{}}}", setting.key);
                if !name.contains(&brace) {
                    continue;
                }
                let Some(choices) = self.get(Section::Objective, setting.key) else {
                    let key = setting.key;
                    return Err(Error::Config(format!("'{name}' needs {key}: add a line as in '{key} = [1, 5]'")));
                };
                let values = choices.extremes(setting);
                open = open.iter().flat_map(|open| values.iter().map(|v| open.replace(&brace, v))).collect();
            }
            for full in open {
                if let Some((_, rest)) = full.split_once('{') {
                    let word = rest.split('}').next().unwrap_or_default();
                    let known = Section::Objective.settings().filter(|setting| setting.fills_braces());
                    let known: Vec<String> = known.map(|setting| format!("{{{}}}", setting.key)).collect();
                    let known = known.join(", ");
                    return Err(Error::Config(format!("'{name}': unknown {{{word}}}: known are {known}")));
                }
                Objective::parse(&full)?;
            }
        }
        Ok(())
    }

    /// The configuration of a number: drawn from seed and number alone, whatever was drawn before.
    ///
    /// # Errors
    /// When the space was not checked and holds what it should not.
    pub fn draw(&self, seed: u64, number: u64) -> Result<TrainConfig> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        let models = self.models();
        let section = models[random.random_range(0..models.len())];
        let mut config = start(section)?;
        let (mut objective, mut braces) = (None, Vec::new());
        for (setting, choices) in self.settings() {
            let value = choices.draw(setting, &mut random);
            if setting.fills_braces() {
                braces.push((format!("{{{}}}", setting.key), value));
            } else if setting.section == Section::Objective {
                objective = Some(value);
            } else if setting.section == section {
                setting.apply(&mut config, &value)?;
            }
        }
        if let Some(name) = objective {
            let full = braces.iter().fold(name, |name, (brace, value)| name.replace(brace, value));
            config.objective = Objective::parse(&full)?;
        }
        Ok(config)
    }

    /// What `burnrank train` does unless told otherwise; with the first objective of a list of other ones.
    ///
    /// # Errors
    /// When the space was not checked and holds what it should not.
    pub fn default_config(&self) -> Result<TrainConfig> {
        let mut config = start(self.models()[0])?;
        if let Some(Choices::List(names)) = self.get(Section::Objective, "objective")
            && let Some(first) = names.first()
            && !names.iter().any(|name| name.contains('{') || *name == config.objective.name())
        {
            config.objective = Objective::parse(first)?;
        }
        Ok(config)
    }
}

/// What is trained unless told otherwise.
fn start(section: Section) -> Result<TrainConfig> {
    let name = if section == Section::Trees { "trees" } else { "mlp" };
    Ok(name.parse::<ModelChoice>()?.config())
}

/// As in `{"objective": [...], "nets.lr": {...}}`: what tells spaces apart.
impl Serialize for Space {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let name = |setting: &Setting| match setting.section.name() {
            "" => setting.key.to_owned(),
            section => format!("{section}.{}", setting.key),
        };
        let models = serde_json::json!(self.models().iter().map(|section| section.name()).collect::<Vec<_>>());
        let all = self.settings().map(|(setting, choices)| (name(setting), serde_json::json!(choices)));
        serializer.collect_map(std::iter::once(("models".to_owned(), models)).chain(all))
    }
}

#[cfg(test)]
mod tests {
    use super::super::choices::Range;
    use super::*;
    use crate::model::Architecture;

    fn list(values: &[&str]) -> Choices {
        Choices::List(values.iter().map(|&value| value.to_owned()).collect())
    }

    #[test]
    fn the_standard_space_is_valid_and_draws_what_can_be_trained() {
        let space = Space::standard();
        space.check().unwrap();
        let mut linear = 0;
        for number in 0..200 {
            let config = space.draw(3, number).unwrap();
            config.check().unwrap();
            let (config, again) =
                [config, space.draw(3, number).unwrap()].map(|c| serde_json::to_string(&c).unwrap()).into();
            assert_eq!(config, again);
            linear += usize::from(space.draw(3, number).unwrap().architecture == Architecture::Linear);
        }
        assert!((10..90).contains(&linear), "{linear}");
        let objectives = |seed| (0..20).map(|n| space.draw(seed, n).unwrap().objective.name()).collect::<Vec<_>>();
        assert_ne!(objectives(1), objectives(2));
        // Every value that is set alone is also accepted.
        let mut copy = Space::new();
        space
            .settings()
            .for_each(|(setting, choices)| copy.set(setting.section, setting.key, choices.clone()).unwrap());
        assert_eq!(copy, space);
    }

    #[test]
    fn braces_are_filled_in() {
        let mut space = Space::new();
        space.set(Section::Objective, "objective", list(&["ndcg-loss2++@{k}:mu={mu}"])).unwrap();
        let message = space.check().unwrap_err().to_string();
        assert!(message.contains("needs mu: add a line"), "{message}");
        space
            .set(Section::Objective, "mu", Choices::Range(Range { low: 2.0, high: 4.0, log: true, zero: 0.0 }))
            .unwrap();
        space.set(Section::Objective, "k", list(&["7"])).unwrap();
        space.check().unwrap();
        let name = space.draw(1, 1).unwrap().objective.name();
        let mu: f64 = name.strip_prefix("ndcg-loss2++@7:mu=").unwrap().parse().unwrap();
        assert!((2.0..=4.0).contains(&mu), "{name}");
        assert_eq!(space.default_config().unwrap().objective.name(), Objective::default().name());
        let mut default = |names: &[&str]| {
            space.set(Section::Objective, "objective", list(names)).unwrap();
            space.default_config().unwrap().objective.name()
        };
        assert_eq!(
            [default(&["arp-loss2", "ranknet"]), default(&["ranknet", "lambdarank:ndcg"])],
            ["arp-loss2", "lambdarank:ndcg"]
        );
    }

    #[test]
    fn nonsense_is_named() {
        let set = |section, key: &str, choices| Space::new().set(section, key, choices).unwrap_err().to_string();
        assert!(set(Section::Nets, "scale", list(&["huge"])).contains("scale: "));
        assert!(set(Section::Nets, "lr", list(&["0"])).contains("lr: learning rate"));
        assert!(set(Section::Nets, "lr", list(&["fast"])).contains("lr: 'fast'"));
        assert!(set(Section::Trees, "subsample", list(&["0.5", "2"])).contains("subsample 2"));
        let check = |name: &str| {
            let mut space = Space::new();
            space.set(Section::Objective, "objective", list(&[name])).unwrap();
            space.check().unwrap_err().to_string()
        };
        assert!(check("lamdarank:ndcg").contains("did you mean 'lambdarank:ndcg'?"));
        assert!(check("ranknet:sigma={slope}").contains("unknown {slope}: known are {mu}, {sigma}, {k}, {alpha}"));
    }

    #[test]
    fn trees_are_searched_where_they_grow() {
        let mut space = Space::new();
        space.set(Section::Trees, "leaves", list(&["7"])).unwrap();
        assert_eq!((space.models(), space.check().is_ok()), (vec![Section::Trees], GROWS_TREES));
        assert!(matches!(space.draw(1, 1).unwrap().architecture, Architecture::Trees { leaves: 7, .. }));
        space.include(Section::Nets);
        let is_net = |number| space.draw(1, number).unwrap().architecture.is_net();
        assert!((20..80).contains(&(0..100).filter(|&number| is_net(number)).count()));
    }
}
