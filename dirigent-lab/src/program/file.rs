//! The moderator's file, as far as its rules and its agents go.

use std::path::Path;

use dirigent::settings::Rules;
use serde::Deserialize;

/// An error for people: its text names the file or the setting.
pub(super) type Error = Box<dyn std::error::Error + Send + Sync>;

/// What is read of the moderator's file; `dirigent check` looks at the rest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct File {
    pub(super) rules: Rules,
    pub(super) agents: Vec<Named>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}

impl File {
    /// How many agents it has, 2 to 64.
    pub(super) fn agents(&self) -> u32 {
        u32::try_from(self.agents.len()).unwrap_or(u32::MAX).clamp(2, 64)
    }

    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
        Ok(toml::from_str(&text).map_err(|error| named(&error))?)
    }
}
