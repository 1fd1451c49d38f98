//! A setting that can be searched: its name, which is also the option of `burnrank train`, and how a configuration has it.

use super::choices::{Choices, Range};
use super::settings::{LINEAR, SETTINGS};
use crate::error::{Error, Result};
use crate::internal::suggest::nearest;
use crate::model::Architecture;
use crate::setting::{ModelChoice, TrainConfig};

/// What a setting belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Objectives, which nets and trees share.
    Objective,
    /// Nets, from linear to any depth.
    Nets,
    /// Boosted trees.
    Trees,
}

impl Section {
    /// All of them.
    pub const ALL: [Section; 3] = [Section::Objective, Section::Nets, Section::Trees];

    /// The name of its part of a file; objectives stand above all parts.
    pub fn name(self) -> &'static str {
        match self {
            Section::Objective => "",
            Section::Nets => "nets",
            Section::Trees => "trees",
        }
    }

    /// The settings that belong to it.
    pub fn settings(self) -> impl Iterator<Item = &'static Setting> {
        SETTINGS.iter().filter(move |setting| setting.section == self)
    }
}

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One of some words, listed.
    Word,
    /// A number, listed or out of a range.
    Number,
    /// A whole number, listed or out of a range.
    Whole,
}

/// A setting that can be searched.
pub struct Setting {
    /// What it belongs to.
    pub section: Section,
    /// Its name in a file; that of the option of `burnrank train`, or of what stands in braces in objectives.
    pub key: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    pub(super) kind: Kind,
    /// What is searched unless told otherwise; nothing where the default stays.
    pub(super) standard: Standard,
    pub(super) apply: fn(&mut TrainConfig, &str) -> Result<()>,
    pub(super) show: fn(&TrainConfig) -> Option<String>,
}

/// What is searched unless told otherwise.
pub(super) enum Standard {
    Default,
    List(&'static [&'static str]),
    Log(f64, f64),
    ZeroOrLog(f64, f64),
}

impl Setting {
    /// The setting of this name.
    ///
    /// # Errors
    /// When there is none, with the one that was likely meant, and all of them.
    pub fn of(section: Section, key: &str) -> Result<&'static Setting> {
        let known = || section.settings().map(|setting| setting.key);
        section.settings().find(|setting| setting.key == key).ok_or_else(|| {
            let meant = meant(section, key).or_else(|| nearest(key, known()));
            let meant = meant.map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
            let all = known().collect::<Vec<_>>().join(", ");
            Error::Config(format!("unknown key '{key}': {meant}known are {all}"))
        })
    }

    /// What is searched unless told otherwise; nothing where the default of `burnrank train` stays.
    pub fn standard(&self) -> Option<Choices> {
        let range = |low, high, zero| Some(Choices::Range(Range { low, high, log: true, zero }));
        match self.standard {
            Standard::Default => None,
            Standard::List(words) => Some(Choices::List(words.iter().map(|&word| word.to_owned()).collect())),
            Standard::Log(low, high) => range(low, high, 0.0),
            Standard::ZeroOrLog(low, high) => range(low, high, 0.5),
        }
    }

    /// Whether its values are numbers, which may be drawn from a range.
    pub fn is_number(&self) -> bool {
        self.kind != Kind::Word
    }

    /// Whether it is not an option of `burnrank train`, but fills the braces of objectives.
    pub fn fills_braces(&self) -> bool {
        self.section == Section::Objective && self.key != "objective"
    }

    /// Gives a configuration this value, as the option of `burnrank train` takes it.
    ///
    /// # Errors
    /// A value that is none of this setting.
    pub fn apply(&self, config: &mut TrainConfig, value: &str) -> Result<()> {
        (self.apply)(config, value)
    }

    /// The value of a configuration, as the option of `burnrank train` takes it; nothing where it has none.
    pub fn show(&self, config: &TrainConfig) -> Option<String> {
        (self.show)(config)
    }
}

/// What a name that others use, or that another part has, is called here.
fn meant(section: Section, key: &str) -> Option<&'static str> {
    let key = key.replace('_', "-");
    match (section, key.as_str()) {
        (Section::Trees, "lr" | "learning-rate" | "step" | "eta") => Some("shrinkage"),
        (Section::Trees, "num-leaves" | "max-leaves") => Some("leaves"),
        (Section::Trees, "min-data-in-leaf" | "min-child-samples") => Some("min-data"),
        (Section::Nets, "shrinkage" | "learning-rate" | "step" | "eta") => Some("lr"),
        _ => None,
    }
}

/// The configuration that `burnrank train --model ...` starts from for a model of this kind.
///
/// # Errors
/// For what is neither a net nor trees.
pub fn preset(config: &TrainConfig) -> Result<TrainConfig> {
    let name = match config.architecture {
        Architecture::Linear => LINEAR,
        Architecture::Mlp { .. } => "mlp",
        Architecture::Trees { .. } => "trees",
        Architecture::Kernel { .. } => return Err(Error::Config("kernels are not tuned".into())),
    };
    Ok(name.parse::<ModelChoice>()?.config())
}

/// The settings that a configuration has, with their values as the options of `burnrank train` take them.
pub fn settings_of(config: &TrainConfig) -> impl Iterator<Item = (&'static Setting, String)> {
    SETTINGS.iter().filter_map(|setting| Some((setting, setting.show(config)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_applied_is_shown() {
        for model in ["mlp", "trees"] {
            let section = if model == "mlp" { Section::Nets } else { Section::Trees };
            for setting in section.settings().chain(Section::Objective.settings().take(1)) {
                let mut config = model.parse::<ModelChoice>().unwrap().config();
                let before = setting.show(&config).unwrap();
                setting.apply(&mut config, &before).unwrap();
                assert_eq!(setting.show(&config).as_deref(), Some(before.as_str()), "{}", setting.key);
                for other in Section::ALL.into_iter().filter(|other| *other != section && *other != Section::Objective)
                {
                    assert!(other.settings().all(|setting| setting.show(&config).is_none()));
                }
                assert!(setting.kind == Kind::Word || setting.apply(&mut config, "many").is_err(), "{}", setting.key);
            }
        }
    }

    #[test]
    fn a_linear_net_is_one_without_hidden_units() {
        let (mut config, hidden) = (TrainConfig::default(), Setting::of(Section::Nets, "hidden").unwrap());
        hidden.apply(&mut config, "").unwrap();
        assert_eq!((&config.architecture, hidden.show(&config)), (&Architecture::Linear, Some("linear".into())));
        assert_eq!(config.learning_rate, 0.03);
        hidden.apply(&mut config, "32,16").unwrap();
        assert_eq!((config.architecture.hidden(), hidden.show(&config)), (&[32, 16][..], Some("32,16".into())));
        assert!(hidden.apply(&mut config, "32,x").is_err());
    }

    #[test]
    fn a_mistyped_key_is_answered() {
        let message = Setting::of(Section::Nets, "hiden").err().unwrap().to_string();
        assert!(message.starts_with("unknown key 'hiden': did you mean 'hidden'? known are hidden, acti"), "{message}");
        let message = Setting::of(Section::Trees, "depth").err().unwrap().to_string();
        assert!(message.starts_with("unknown key 'depth': known are leaves, shrinkage"), "{message}");
        for (section, key, meant) in [
            (Section::Trees, "lr", "shrinkage"),
            (Section::Trees, "learning-rate", "shrinkage"),
            (Section::Trees, "num_leaves", "leaves"),
            (Section::Nets, "shrinkage", "lr"),
            (Section::Nets, "learning_rate", "lr"),
        ] {
            let message = Setting::of(section, key).err().unwrap().to_string();
            assert!(message.contains(&format!("did you mean '{meant}'? ")), "{message}");
        }
    }
}
