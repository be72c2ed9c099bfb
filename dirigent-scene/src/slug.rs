//! The name by which files and events know a character.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A character's short name: 1 to 64 lower-case ASCII letters, digits and single hyphens between them. It names the
/// character in the event log and is the name of its folder, so it is never `coordinator`.
///
/// ```
/// use dirigent_scene::Slug;
///
/// let maria = Slug::of_name("Maria Stern")?;
/// assert_eq!(maria, Slug::new("maria-stern")?);
/// assert!(Slug::new("../secrets").is_err());
/// # Ok::<(), dirigent_scene::BadSlug>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(Arc<str>);

impl Slug {
    /// The longest slug, in bytes.
    pub const MAX: usize = 64;

    /// Checks a slug.
    ///
    /// # Errors
    ///
    /// [`BadSlug`], when the text is no slug.
    pub fn new(text: &str) -> Result<Self, BadSlug> {
        let is_part = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        let fits = text.len() <= Self::MAX && text != COORDINATOR;
        if fits && text.split('-').all(is_part) { Ok(Self(text.into())) } else { Err(BadSlug) }
    }

    /// Derives a slug from a display name: ASCII letters in lower case and digits stay, what stands between them
    /// becomes one hyphen.
    ///
    /// # Errors
    ///
    /// [`BadSlug`], when a letter of the name is not ASCII (two names could become one slug), when nothing is left, or
    /// when it is too long. Then name the slug yourself.
    pub fn of_name(name: &str) -> Result<Self, BadSlug> {
        if name.chars().any(|c| c.is_alphanumeric() && !c.is_ascii()) {
            return Err(BadSlug);
        }
        let lower = name.to_ascii_lowercase();
        let parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        Self::new(&parts.join("-"))
    }

    /// Returns the slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What the event log calls the coordinator; no character has this name.
pub(crate) const COORDINATOR: &str = "coordinator";

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Slug {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Slug {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(|error| de::Error::custom(error.to_string()))
    }
}

/// The text is no slug.
///
/// ```
/// let error = dirigent_scene::Slug::new("coordinator").unwrap_err();
/// assert!(error.to_string().contains("lower-case"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a slug: use 1 to 64 lower-case ASCII letters and digits with single hyphens between them, and not \"coordinator\""
)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct BadSlug;
