//! Changes of rules, written with the names that the rules have in a file.

use std::fmt;
use std::str::FromStr;

use dirigent::Config;
use dirigent::settings::{Rules, config_form};
use serde_json::{Map, Value};

/// Changes of rules by their names in a file, for example `people.mentions=only`.
///
/// You write a value as in TOML, but without quotation marks: for example `only`, `3`, `true`, `45s` or `none`. If you have several
/// changes, separate them by commas.
///
/// ```
/// use dirigent::Config;
/// use dirigent_lab::RuleChoices;
///
/// let choices: RuleChoices = "people.mentions=only,ceilings.chat.cycles=3".parse()?;
/// assert_eq!(choices.over(&Config::default())?.ceilings.chat.cycles, Some(3));
///
/// let misspelt: RuleChoices = "people.mentoins=only".parse()?;
/// let error = misspelt.over(&Config::default()).unwrap_err();
/// assert!(error.to_string().starts_with("people.mentoins: unknown field"));
/// # Ok::<(), dirigent_lab::BadChoice>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleChoices(Vec<(String, Value)>);

/// The reason why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadChoice {
    /// The text lacks a `=` after the name.
    #[error("{text:?} is no choice: write it as people.mentions=only")]
    NoValue {
        /// The text that was given.
        text: String,
    },
    /// The setting belongs to the driver, for example a stop word. It cannot be played again, because a recording holds no texts.
    #[error(
        "{key} is not played again: a recording holds no texts, and only the rules of turns are asked"
    )]
    NoRuleOfTurns {
        /// The name of the setting.
        key: String,
    },
    /// The setting does not exist, or it cannot have this value. The text begins with its whole name.
    #[error("{0}")]
    Refused(String),
}

impl RuleChoices {
    /// Returns the rules with these changes.
    ///
    /// # Errors
    ///
    /// Returns a [`BadChoice`] that names the setting, if you misspelt it or if it cannot have the value.
    pub fn over(&self, config: &Config) -> Result<Config, BadChoice> {
        let refused = |error: serde_json::Error| BadChoice::Refused(error.to_string());
        let mut table =
            config_form::serialize(config, serde_json::value::Serializer).map_err(refused)?;
        let all = serde_json::to_value(Rules::default()).map_err(refused)?;
        for (key, value) in &self.0 {
            let group = key.split('.').next().unwrap_or_default();
            if table.get(group).is_none() && all.get(group).is_some() {
                return Err(BadChoice::NoRuleOfTurns { key: key.clone() });
            }
            set(&mut table, key, value.clone());
        }
        let rules: Rules = serde_json::from_value(table).map_err(refused)?;
        Ok(rules.config)
    }

    /// Returns all settings with these changes, including those of the driver.
    #[cfg(feature = "program")]
    pub(crate) fn over_all(&self, rules: &Rules) -> Result<Rules, BadChoice> {
        let refused = |error: serde_json::Error| BadChoice::Refused(error.to_string());
        let mut table = serde_json::to_value(rules).map_err(refused)?;
        for (key, value) in &self.0 {
            set(&mut table, key, value.clone());
        }
        serde_json::from_value(table).map_err(refused)
    }

    /// Returns true if a change concerns this setting or this group of settings, for example `people`.
    pub fn touches(&self, name: &str) -> bool {
        let is_within = |key: &str| {
            key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.0.iter().any(|(key, _)| is_within(key))
    }
}

/// Sets the value of a dotted key, and creates the tables on the way to it.
fn set(place: &mut Value, key: &str, value: Value) {
    let Some((first, rest)) = key.split_once('.') else {
        if let Value::Object(table) = place {
            table.insert(key.to_owned(), value);
        }
        return;
    };
    if !place.is_object() {
        *place = Value::Object(Map::new());
    }
    if let Value::Object(table) = place {
        let inner = table.entry(first).or_insert_with(|| Value::Object(Map::new()));
        if !inner.is_object() {
            *inner = Value::Object(Map::new());
        }
        set(inner, rest, value);
    }
}

impl FromStr for RuleChoices {
    type Err = BadChoice;

    fn from_str(text: &str) -> Result<Self, BadChoice> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let choices = parts.map(|part| {
            let named = part.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            let (key, value) = named
                .filter(|(key, value)| !key.is_empty() && !value.is_empty())
                .ok_or_else(|| BadChoice::NoValue { text: part.to_owned() })?;
            let number = value.parse::<u64>().map(Value::from);
            let value = number.or_else(|_| value.parse::<bool>().map(Value::from));
            Ok((key.to_owned(), value.unwrap_or_else(|_| part_value(part))))
        });
        Ok(Self(choices.collect::<Result<_, _>>()?))
    }
}

fn part_value(part: &str) -> Value {
    let value = part.split_once('=').map_or("", |(_, value)| value.trim());
    Value::from(value.trim_matches('"'))
}

impl Extend<Self> for RuleChoices {
    fn extend<I: IntoIterator<Item = Self>>(&mut self, more: I) {
        self.0.extend(more.into_iter().flat_map(|choices| choices.0));
    }
}

impl fmt::Display for RuleChoices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (key, value)) in self.0.iter().enumerate() {
            let between = if at == 0 { "" } else { ", " };
            match value.as_str() {
                Some(text) => write!(f, "{between}{key}={text}")?,
                None => write!(f, "{between}{key}={value}")?,
            }
        }
        Ok(())
    }
}
