//! Fields anywhere in a record that this version does not know. They are found when the record is read, and put back
//! when it is written again.

use std::collections::HashMap;
use std::fmt;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use crate::record::fields::Fields;

/// The fields that identify an item of an array. The first one that the item has is used.
const IDENTITIES: [&str; 7] = ["agent", "ticket", "nonce", "effect", "message", "id", "kind"];

/// The unknown fields of one value. `Debug` hides them.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Unknown {
    /// Its own unknown fields, as they were written.
    fields: Vec<(String, String)>,
    /// The unknown fields in the values of its known fields.
    known: Vec<(String, Self)>,
    /// The unknown fields of its items, each with the text that identifies the item.
    items: Vec<(String, Self)>,
}

impl Unknown {
    /// Returns the fields of a text that this version does not know. `known` is the same value as this version writes
    /// it.
    pub(super) fn of(written: &str, known: &str) -> Self {
        let mut unknown = Self::default();
        if written == known {
            return unknown;
        }
        if let (Ok(written), Ok(known)) = (Fields::of(written), Fields::of(known)) {
            for (name, value) in written.iter() {
                match known.iter().find(|(ours, _)| *ours == name) {
                    Some((_, ours)) => {
                        let inner = Self::of(value, ours);
                        if !inner.is_empty() {
                            unknown.known.push((name.to_owned(), inner));
                        }
                    }
                    None => unknown.fields.push((name.to_owned(), value.to_owned())),
                }
            }
        } else if let (Some(written), Some(known)) = (items(written), items(known))
            && written.len() == known.len()
        {
            for ((item, ours), identity) in written.into_iter().zip(&known).zip(identities(&known))
            {
                let inner = Self::of(item.get(), ours.get());
                if !inner.is_empty() {
                    unknown.items.push((identity, inner));
                }
            }
        }
        unknown
    }

    /// Returns true if there are no unknown fields.
    pub(crate) const fn is_empty(&self) -> bool {
        let Self { fields, known, items } = self;
        fields.is_empty() && known.is_empty() && items.is_empty()
    }
}

impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fields, known, items } = self;
        let inner = known.len() + items.len();
        write!(f, "{} unknown fields, more in {inner} values", fields.len())
    }
}

fn items(array: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(array).ok()
}

/// Returns the texts that identify the items of an array. Items that are alike are counted in their order.
fn identities(items: &[&RawValue]) -> Vec<String> {
    let mut seen = HashMap::<String, usize>::new();
    let identities = items.iter().map(|item| {
        let identity = identity(item.get());
        let before = seen.entry(identity.clone()).or_default();
        *before += 1;
        format!("{before} {identity}")
    });
    identities.collect()
}

/// Returns the text that identifies an item of an array. If no field does, it is the whole item.
fn identity(item: &str) -> String {
    let fields = Fields::of(item);
    let find = |name: &&str| {
        let (_, value) = fields.as_ref().ok()?.iter().find(|(known, _)| known == name)?;
        Some(format!("{name} {value}"))
    };
    IDENTITIES.iter().find_map(find).unwrap_or_else(|| item.to_owned())
}

/// A value as it is written, with its unknown fields.
pub(super) struct Merged<'a> {
    pub(super) known: &'a str,
    pub(super) unknown: &'a Unknown,
}

impl Serialize for Merged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { known, unknown } = self;
        if let Ok(fields) = Fields::of(known) {
            let mut map = serializer.serialize_map(None)?;
            for (name, known) in fields.iter() {
                match unknown.known.iter().find(|(inner, _)| inner == name) {
                    Some((_, unknown)) => map.serialize_entry(name, &Merged { known, unknown })?,
                    None => map.serialize_entry(name, &raw(known)?)?,
                }
            }
            // If this version has the field by now, its own value wins.
            let is_free = |name: &str| !fields.iter().any(|(ours, _)| ours == name);
            for (name, value) in unknown.fields.iter().filter(|(name, _)| is_free(name)) {
                map.serialize_entry(name, &raw(value)?)?;
            }
            return map.end();
        }
        let Some(all) = items(known) else {
            return raw(known)?.serialize(serializer);
        };
        let mut sequence = serializer.serialize_seq(Some(all.len()))?;
        for (item, identity) in all.iter().zip(identities(&all)) {
            match unknown.items.iter().find(|(inner, _)| *inner == identity) {
                Some((_, unknown)) => {
                    sequence.serialize_element(&Merged { known: item.get(), unknown })?;
                }
                None => sequence.serialize_element(item)?,
            }
        }
        sequence.end()
    }
}

fn raw<E: serde::ser::Error>(value: &str) -> Result<&RawValue, E> {
    serde_json::from_str(value).map_err(|_| E::custom("not a value"))
}
