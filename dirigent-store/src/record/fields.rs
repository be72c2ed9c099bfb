//! JSON in the form in which it was written.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::BadFile;

/// The fields of an object in the order of the file, with each value as it was written. A name can
/// occur twice.
#[derive(Debug)]
pub(crate) struct Fields<'a>(Vec<(String, &'a RawValue)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    Missing,
    /// There are several fields with this name, so the right one is unclear.
    Repeated,
    /// The value of the field, as it was written.
    Found(&'a str),
}

/// The value is not an object, or not a readable one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAnObject;

impl<'a> Fields<'a> {
    /// Returns the fields of a value that is known to be JSON.
    pub(crate) fn of(value: &'a str) -> Result<Self, NotAnObject> {
        serde_json::from_str(value).map_err(|_| NotAnObject)
    }

    /// Returns the only field with this name.
    pub(crate) fn field(&self, name: &str) -> Field<'a> {
        let mut found = self.0.iter().filter(|(found, _)| found == name);
        match (found.next(), found.next()) {
            (None, _) => Field::Missing,
            (Some((_, value)), None) => Field::Found(value.get()),
            (Some(_), Some(_)) => Field::Repeated,
        }
    }

    /// Returns all fields: names, and values as they were written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.get()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder).map(Self)
    }
}

/// Reads the fields of an object in their order.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}

/// A file that is JSON up to its end.
#[derive(Debug)]
pub(crate) enum Whole<'a> {
    /// An array with its values as they were written.
    Array(Vec<&'a RawValue>),
    Object(Fields<'a>),
    Other,
}

impl<'a> Whole<'a> {
    /// Parses a file of at most this size. It skips a byte order mark, which some editors write.
    pub(crate) fn read(content: &'a [u8], limit: usize) -> Result<Self, BadFile> {
        if content.len() > limit {
            return Err(BadFile::TooLarge { limit });
        }
        let text = std::str::from_utf8(content).map_err(|_| BadFile::NotText)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match text.trim_start().as_bytes().first() {
            Some(b'[') => serde_json::from_str(text).map(Self::Array),
            Some(b'{') => serde_json::from_str(text).map(Self::Object),
            _ => serde_json::from_str(text).map(|IgnoredAny| Self::Other),
        }
        .map_err(|error| BadFile::not_json(&error))
    }
}

/// Returns the text of a value that is a string.
pub(crate) fn string(value: &str) -> Option<String> {
    serde_json::from_str(value).ok()
}

/// Returns a string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
