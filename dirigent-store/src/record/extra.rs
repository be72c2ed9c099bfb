//! Fields that this version does not know. They are written back as they were.

use std::collections::BTreeMap;
use std::fmt;

use crate::record::fields::Fields;

/// The unknown fields of one object, as they were written. `Debug` hides them.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct Extra(BTreeMap<String, String>);

impl Extra {
    /// Returns the fields of an object that have none of these names.
    pub(crate) fn of(object: &str, known: &[&str]) -> Self {
        let fields = Fields::of(object).ok();
        let fields = fields.iter().flat_map(Fields::iter);
        let unknown = fields.filter(|(name, _)| !known.contains(name));
        Self(unknown.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} unknown fields", self.0.len())
    }
}
