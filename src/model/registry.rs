//! The models that can be trained, by name: one row each.

use super::{Activation, Architecture};
use crate::error::{Error, Result};
use crate::suggest::nearest;

/// A kind of model.
#[derive(Debug)]
pub struct ModelKind {
    /// Its name, as in `--model mlp`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    build: fn(&ModelSettings<'_>) -> Architecture,
}

/// The settings of all kinds of models. Each kind takes those that it has.
#[derive(Debug, Clone, Copy)]
pub struct ModelSettings<'a> {
    /// The number of units of each hidden layer.
    pub hidden: &'a [usize],
    /// The function of the hidden units.
    pub activation: Activation,
}

/// All kinds of models.
pub const MODELS: &[ModelKind] = &[
    ModelKind { name: "linear", help: "one weight per feature", build: |_| Architecture::Linear },
    ModelKind {
        name: "mlp",
        help: "a net with hidden layers",
        build: |settings| Architecture::Mlp { hidden: settings.hidden.to_vec(), activation: settings.activation },
    },
];

impl ModelKind {
    /// The kind of this name.
    ///
    /// ```
    /// use burnrank::model::ModelKind;
    /// assert_eq!(ModelKind::parse("linear")?.help, "one weight per feature");
    /// let error = ModelKind::parse("liner").unwrap_err();
    /// assert_eq!(error.to_string(), "unknown model 'liner': did you mean 'linear'?");
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is none, with the one that was likely meant, or all of them.
    pub fn parse(name: &str) -> Result<&'static ModelKind> {
        if let Some(kind) = MODELS.iter().find(|kind| kind.name == name) {
            return Ok(kind);
        }
        let names = || MODELS.iter().map(|kind| kind.name);
        Err(Error::Config(match nearest(name, names()) {
            Some(meant) => format!("unknown model '{name}': did you mean '{meant}'?"),
            None => format!("unknown model '{name}': known are {}", names().collect::<Vec<_>>().join(", ")),
        }))
    }

    /// A model of this kind.
    ///
    /// # Errors
    /// When the settings make no sense for it.
    pub fn architecture(&self, settings: &ModelSettings<'_>) -> Result<Architecture> {
        let architecture = (self.build)(settings);
        architecture.check()?;
        Ok(architecture)
    }

    /// All kinds in one sentence, as in "linear (one weight per feature), mlp (a net with hidden layers)".
    pub fn list() -> String {
        let rows: Vec<String> = MODELS.iter().map(|kind| format!("{} ({})", kind.name, kind.help)).collect();
        rows.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_models_are_saved_with() {
        let settings = ModelSettings { hidden: &[4, 2], activation: Activation::Relu };
        for kind in MODELS {
            let architecture = kind.architecture(&settings).unwrap();
            assert_eq!(serde_json::to_value(&architecture).unwrap()["kind"], kind.name);
            assert_eq!(ModelKind::parse(kind.name).unwrap().name, kind.name);
            assert!(ModelKind::list().contains(&format!("{} ({})", kind.name, kind.help)));
        }
        let mlp = ModelKind::parse("mlp").unwrap();
        assert_eq!(mlp.architecture(&settings).unwrap().hidden(), [4, 2]);
        assert!(mlp.architecture(&ModelSettings { hidden: &[4, 0], ..settings }).is_err());
        let message = ModelKind::parse("forest").unwrap_err().to_string();
        assert_eq!(message, "unknown model 'forest': known are linear, mlp");
    }
}
