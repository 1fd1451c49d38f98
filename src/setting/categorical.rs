//! Categorical features: their names or numbers in a configuration, and their columns in a data set.

use super::config::TrainConfig;
use crate::data::{Dataset, default_feature_names};
use crate::error::{Error, Result};
use crate::internal::suggest::nearest;

/// Splits a list of features at commas. Returns `None` if one is empty or listed twice.
pub(super) fn features(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let all: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).filter(|_| !text.is_empty()).collect();
    let is_new = |(place, name): (usize, &String)| !name.is_empty() && !all[..place].contains(name);
    all.iter().enumerate().all(is_new).then_some(all)
}

impl TrainConfig {
    /// Returns the columns, from 0, of the categorical features, in ascending order.
    ///
    /// ```
    /// use burnrank::{Dataset, TrainConfig};
    /// let data = Dataset::new(2, vec![3.0, 0.5], vec![1.0], vec![("a".into(), 1)])?;
    /// let config = TrainConfig { categorical: vec!["1".into()], ..TrainConfig::default() };
    /// assert_eq!(config.categorical_columns(&data)?, [0]);
    /// let names = vec!["color".into(), "price".into()];
    /// let config = TrainConfig { categorical: vec!["price".into()], ..TrainConfig::default() };
    /// assert_eq!(config.categorical_columns(&data.with_feature_names(names)?)?, [1]);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data has no such feature, or a feature is listed twice.
    pub fn categorical_columns(&self, data: &Dataset) -> Result<Vec<usize>> {
        let width = data.n_features();
        let defaults = || default_feature_names(1, width);
        let names = data.feature_names().map_or_else(defaults, <[String]>::to_vec);
        let column = |name: &String| {
            let number = || name.parse::<usize>().ok().filter(|number| (1..=width).contains(number));
            let column = names.iter().position(|other| other == name).or_else(|| number().map(|number| number - 1));
            column.ok_or_else(|| {
                let suggestion = nearest(name, names.iter().map(String::as_str));
                let suggestion = suggestion.map_or(String::new(), |near| format!(", or did you mean '{near}'?"));
                let expected = format!("the number of a feature, from 1 to {width}, or its name{suggestion}");
                Error::setting("categorical", name, expected)
            })
        };
        let mut columns = self.categorical.iter().map(column).collect::<Result<Vec<_>>>()?;
        columns.sort_unstable();
        if let Some(pair) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
            let text = self.categorical.join(",");
            return Err(Error::setting("categorical", text, format!("feature {} once", names[pair[0]])));
        }
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_found_by_name_then_by_number() {
        let data = Dataset::new(3, vec![0.0; 3], vec![1.0], vec![("a".into(), 1)]).unwrap();
        let named = data.clone().with_feature_names(["2", "color", "price"].map(str::to_owned).to_vec()).unwrap();
        let columns = |text: &str, data: &Dataset| {
            let config = TrainConfig { categorical: features(text).unwrap(), ..TrainConfig::default() };
            config.categorical_columns(data).map_err(|error| error.to_string())
        };
        assert_eq!(columns("", &data), Ok(vec![]));
        assert_eq!(columns("3, 1", &data), Ok(vec![0, 2]));
        assert_eq!(columns("f3", &data), Ok(vec![2]));
        assert_eq!(columns("2,price", &named), Ok(vec![0, 2]), "a name that looks like a number");
        let message = "categorical 4: expected the number of a feature, from 1 to 3, or its name";
        assert!(columns("4", &data).unwrap_err().starts_with(message));
        assert!(columns("colour", &named).unwrap_err().contains("did you mean 'color'?"));
        assert_eq!(columns("f2,2", &data), Err("categorical f2,2: expected feature f2 once".into()));
        for bad in [",", "1,,2", "1,2,1"] {
            assert_eq!(features(bad), None, "{bad}");
        }
    }
}
