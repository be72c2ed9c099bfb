//! Emoji of Unicode, and those of a guild.

use std::fmt;

/// An emoji in a reaction.
///
/// ```
/// use dirigent_testkit::memory_discord::Emoji;
///
/// assert_eq!(Emoji::read("👍").unwrap().to_string(), "👍");
/// assert_eq!(Emoji::read("party:123456789012345678").unwrap().id(), Some(123456789012345678));
/// assert_eq!(Emoji::read("thumbsup"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Emoji {
    /// An emoji of Unicode, by its text.
    Unicode(String),
    /// An emoji of a guild.
    Custom {
        /// The id of the emoji.
        id: u64,
        /// The name of the emoji.
        name: String,
    },
}

impl Emoji {
    /// Reads an emoji as it stands in a path: the emoji itself, or `name:id`. Returns `None` if the
    /// text is neither. There is no table of Unicode's emoji, so any text counts that has a character
    /// beyond ASCII, and no white space or letters.
    pub fn read(text: &str) -> Option<Self> {
        if let Some((name, id)) = text.rsplit_once(':') {
            let name = name.strip_prefix("a:").unwrap_or(name);
            return Some(Self::Custom { id: id.parse().ok()?, name: name.to_owned() });
        }
        let is_plain = |it: char| it.is_alphabetic() || it.is_whitespace() || it.is_control();
        let is_emoji = !text.is_ascii() && text.chars().count() <= 16 && !text.contains(is_plain);
        is_emoji.then(|| Self::Unicode(text.to_owned()))
    }

    /// Returns the id of a guild's emoji.
    pub const fn id(&self) -> Option<u64> {
        match self {
            Self::Unicode(_) => None,
            Self::Custom { id, .. } => Some(*id),
        }
    }

    /// Returns the name of a guild's emoji, or the text of one of Unicode's.
    pub fn name(&self) -> &str {
        match self {
            Self::Unicode(name) | Self::Custom { name, .. } => name,
        }
    }

    /// Returns true if it is the same emoji. A guild's emoji is recognised by its id alone, whatever
    /// its name is.
    pub fn is(&self, other: &Self) -> bool {
        match (self.id(), other.id()) {
            (None, None) => self.name() == other.name(),
            (id, other) => id == other,
        }
    }
}

impl fmt::Display for Emoji {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unicode(text) => f.write_str(text),
            Self::Custom { id, name } => write!(f, "{name}:{id}"),
        }
    }
}
