//! The short name of a character in files and events.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use deunicode::deunicode_char;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A character's short name, for example `maria-stern`. It has 1 to 64 lower-case ASCII letters, digits and single
/// hyphens between them. It names the character in the event log, and is the name of its folder. It is never
/// `coordinator`.
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
    /// Returns [`BadSlug`] if the text is no slug.
    pub fn new(text: &str) -> Result<Self, BadSlug> {
        let is_part = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        let fits = text.len() <= Self::MAX && text != COORDINATOR;
        if fits && text.split('-').all(is_part) { Ok(Self(text.into())) } else { Err(BadSlug) }
    }

    /// Derives a slug from a display name in any script. ASCII letters (in lower case) and digits stay. Other letters
    /// are spelled with ASCII ones, so `Zoë` becomes `zoe` and `张伟` becomes `zhang-wei`; a letter without a known
    /// spelling becomes its number, for example `u1e900`. Everything else becomes a single hyphen. A slug longer than
    /// [`Slug::MAX`] is cut.
    ///
    /// Two names can have one slug. A scene refuses both, so name one slug yourself.
    ///
    /// # Errors
    ///
    /// Returns [`BadSlug`] if the name has neither letters nor digits, or is `coordinator`.
    pub fn of_name(name: &str) -> Result<Self, BadSlug> {
        let mut spelled = String::with_capacity(name.len());
        for c in name.chars() {
            match deunicode_char(c).filter(|it| it.contains(|c: char| c.is_ascii_alphanumeric())) {
                Some(letters) => spelled.push_str(letters),
                // A separate accent belongs to the letter before it.
                None if ('\u{300}'..='\u{36f}').contains(&c) => {}
                None if c.is_alphanumeric() => {
                    let _ = write!(spelled, "u{:x} ", u32::from(c));
                }
                None => spelled.push(' '),
            }
        }
        let lower = spelled.to_ascii_lowercase();
        let parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
        let mut slug = String::new();
        for part in parts.filter(|part| !part.is_empty()) {
            if !slug.is_empty() {
                slug.push('-');
            }
            slug.push_str(part);
        }
        slug.truncate(Self::MAX);
        Self::new(slug.trim_end_matches('-'))
    }

    /// Returns the slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The coordinator's name in the event log. No character has it.
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
