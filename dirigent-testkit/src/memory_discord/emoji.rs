//! Emoji: Unicode's, and those of a guild.

use std::fmt;

/// An emoji, as messages are reacted to with it.
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
    /// One of Unicode's, by its text.
    Unicode(String),
    /// One of a guild.
    Custom {
        /// Its id.
        id: u64,
        /// What it is called.
        name: String,
    },
}

impl Emoji {
    /// Reads an emoji as a path names it: the emoji itself, or `name:id`. `None` where the text is
    /// neither. A table of Unicode's emoji is not kept: any text without white space and letters that
    /// has a sign beyond ASCII passes for one.
    pub fn read(text: &str) -> Option<Self> {
        if let Some((name, id)) = text.rsplit_once(':') {
            let name = name.strip_prefix("a:").unwrap_or(name);
            return Some(Self::Custom { id: id.parse().ok()?, name: name.to_owned() });
        }
        let is_plain = |it: char| it.is_alphabetic() || it.is_whitespace() || it.is_control();
        let is_emoji = !text.is_ascii() && text.chars().count() <= 16 && !text.contains(is_plain);
        is_emoji.then(|| Self::Unicode(text.to_owned()))
    }

    /// The id of a guild's emoji.
    pub const fn id(&self) -> Option<u64> {
        match self {
            Self::Unicode(_) => None,
            Self::Custom { id, .. } => Some(*id),
        }
    }

    /// The name of a guild's emoji, or the text of one of Unicode's.
    pub fn name(&self) -> &str {
        match self {
            Self::Unicode(name) | Self::Custom { name, .. } => name,
        }
    }

    /// Whether it is the same emoji: a guild's is known by its id alone, whatever it is called.
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
