//! Fields that this version does not know. They are written back as they were.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::record::fields::Fields;

/// The unknown fields of one object. Reading finds their names, and [`Extra::fill`] adds their
/// values.
#[derive(Clone, Default)]
pub(crate) struct Extra(BTreeMap<String, Box<RawValue>>);

impl Extra {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the values from the object as it was written.
    pub(crate) fn fill(&mut self, object: &str) {
        let Ok(fields) = Fields::of(object) else {
            return;
        };
        for (name, value) in fields.iter() {
            if let (Some(slot), Ok(raw)) =
                (self.0.get_mut(name), RawValue::from_string(value.to_owned()))
            {
                *slot = raw;
            }
        }
    }

    /// Returns the names, and the values as they will be written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.get()))
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} unknown fields", self.0.len())
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(&self.0)
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Names).map(Self)
    }
}

struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = BTreeMap<String, Box<RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut names = BTreeMap::new();
        while let Some((name, IgnoredAny)) = map.next_entry::<String, _>()? {
            names.insert(name, RawValue::NULL.to_owned());
        }
        Ok(names)
    }
}
