//! Errors in a configuration: the file, the line, the key, and what to write instead.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

/// An example for each key that may be missing.
const EXAMPLES: [(&str, &str); 12] = [
    ("discord", "[discord] and token = { env = \"DISCORD_TOKEN\" } below it"),
    ("token", "token = { env = \"NAME\" } or token = { file = \"PATH\" }"),
    ("secret", "secret = { env = \"NAME\" } or secret = { file = \"PATH\" }"),
    ("listen", "listen = \"127.0.0.1:8130\""),
    ("operators", "operators = [{ name = \"ada\", token = { file = \"ada.token\" } }]"),
    ("hosts", "hosts = [{ name = \"desk\", secret = { env = \"NAME\" }, agents = [\"clerk\"] }]"),
    ("agents", "agents = [\"clerk\"]"),
    ("name", "name = \"critic\""),
    ("url", "url = \"http://127.0.0.1:11434/v1\""),
    ("process", "process = { env = \"NAME\" }, or for example { file = \"/etc/hostname\" }"),
    ("nats", "nats = \"nats://127.0.0.1:4222\""),
    ("id", "id = \"200000000000000009\""),
];

/// The text of a configuration, with the file that it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    path: PathBuf,
    text: String,
}

/// Everything that is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub(crate) struct BadConfig {
    path: PathBuf,
    /// The line, the key and the error of each.
    wrong: Vec<(Option<usize>, String, String)>,
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (line, key, what)) in self.wrong.iter().enumerate() {
            f.write_str(if at > 0 { "\n" } else { "" })?;
            write!(f, "{}:", self.path.display())?;
            line.map_or(Ok(()), |line| write!(f, "{line}:"))?;
            let colon = if key.is_empty() { "" } else { ": " };
            write!(f, " {key}{colon}{what}")?;
        }
        Ok(())
    }
}

impl Text {
    pub(crate) fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    pub(crate) fn read(path: &Path) -> Result<Self, BadConfig> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let what = format!("it cannot be read ({error}): `dirigent init` writes one, and --config names another");
            BadConfig { path: path.to_owned(), wrong: vec![(None, String::new(), what)] }
        })?;
        Ok(Self::new(path, text))
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, BadConfig> {
        let bad = |error: &toml::de::Error, key: String| {
            let span = error.span().map(|span| self.line_at(span.start));
            // Rules name their key in the sentence, and again in a second line.
            let message = error.message().lines().next().unwrap_or_default();
            let (key, what) = match message.split_once(": ") {
                Some((own, what)) if key.ends_with(own) => (key, what),
                Some((own, what)) if key.ends_with(".observed") => (format!("{key}.{own}"), what),
                _ => (key, message),
            };
            let what = instead(what);
            let wrong = (self.line_of(&key).or(span), key, what);
            BadConfig { path: self.path.clone(), wrong: vec![wrong] }
        };
        let from =
            toml::Deserializer::parse(&self.text).map_err(|error| bad(&error, String::new()))?;
        serde_path_to_error::deserialize(from).map_err(|error| {
            let key = error.path().to_string();
            bad(error.inner(), if key == "." { String::new() } else { key })
        })
    }

    /// Returns an error if anything is wrong at these keys.
    pub(crate) fn check(&self, wrong: Vec<(String, String)>) -> Result<(), BadConfig> {
        if wrong.is_empty() {
            return Ok(());
        }
        Err(self.bad(wrong))
    }

    pub(crate) fn bad(&self, wrong: impl IntoIterator<Item = (String, String)>) -> BadConfig {
        let wrong = wrong.into_iter().map(|(key, what)| (self.line_of(&key), key, what));
        BadConfig { path: self.path.clone(), wrong: wrong.collect() }
    }

    /// Returns whether a key such as `rules.order.auto_requeue` is written.
    pub(crate) fn has(&self, key: &str) -> bool {
        let root = toml::from_str(&self.text).ok().map(toml::Value::Table);
        key.split('.').fold(root, |table, part| table?.get(part).cloned()).is_some()
    }

    fn line_at(&self, offset: usize) -> usize {
        self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
    }

    /// Returns the line of a key such as `agents[1].persona`. If a part is missing, returns that of the part before.
    fn line_of(&self, key: &str) -> Option<usize> {
        let root = DeTable::parse(&self.text).ok()?;
        let mut table = Some(root.get_ref());
        let mut at = None;
        for part in key.split('.') {
            let (name, index) = part.split_once('[').unwrap_or((part, ""));
            let entry = table.and_then(|table| table.iter().find(|(key, _)| key.get_ref() == name));
            let Some((key, mut value)) = entry else { break };
            at = Some(key.span().start);
            if let (Ok(index), DeValue::Array(array)) =
                (index.trim_end_matches(']').parse::<usize>(), value.get_ref())
            {
                let Some(element) = array.get(index) else { break };
                (at, value) = (Some(element.span().start), element);
            }
            table = if let DeValue::Table(inner) = value.get_ref() { Some(inner) } else { None };
        }
        at.map(|at| self.line_at(at))
    }
}

/// Converts Serde's sentence into the words of this file, with what to write. It shows no value, because it may be
/// secret.
fn instead(message: &str) -> String {
    let message = message.trim().replace("field", "key");
    let missing = message.strip_prefix("missing key `").and_then(|rest| rest.split('`').next());
    if let Some(name) = missing {
        let example = EXAMPLES.iter().find(|(key, _)| *key == name).map_or(name, |it| it.1);
        return format!("the key {name} is missing: write {example}");
    }
    match message.split_once(", expected ") {
        Some((what, known)) if what.starts_with("unknown key") => format!("{what}: write {known}"),
        Some((_, expected)) => format!("write {expected}"),
        None if message.contains("socket address") => {
            format!("{message}: write an address with a port, for example \"127.0.0.1:8130\"")
        }
        None => message,
    }
}
