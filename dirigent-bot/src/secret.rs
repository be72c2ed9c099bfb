//! A secret, which is read from the environment or from a file of its own, and never stands in the configuration.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A secret. `Debug` shows its place, and not its value.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(
    expecting = "{ env = \"NAME\" } or { file = \"PATH\" }: a secret never stands in this file"
)]
pub(crate) struct Secret {
    env: Option<String>,
    file: Option<PathBuf>,
    /// Empty until it is read.
    #[serde(skip)]
    pub(crate) value: String,
}

impl Secret {
    /// Reads the value from its place. A relative path begins in this folder.
    pub(crate) fn read(&mut self, folder: &Path) -> Result<(), String> {
        let value = match (&self.env, &self.file) {
            (Some(name), None) => std::env::var(name).map_err(|_| {
                format!(
                    "the environment variable {name} is not set: export it, or name another one"
                )
            })?,
            (None, Some(path)) => {
                let path = folder.join(path);
                let read = std::fs::read_to_string(&path).map(|text| text.trim().to_owned());
                let path = path.display();
                read.map_err(|error| {
                    format!("the file {path} cannot be read ({error}): write the secret into it")
                })?
            }
            _ => return Err("write { env = \"NAME\" } or { file = \"PATH\" }".to_owned()),
        };
        if value.is_empty() {
            return Err("the secret is empty: write it into the variable or the file".to_owned());
        }
        self.value = value;
        Ok(())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret from {:?}{:?}", self.env, self.file)
    }
}

pub(crate) fn drawn() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}
