//! The name of a process.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The name of one process among those that talk to each other, for example `bot-2`. You choose it, and it stays the
/// same over restarts. No two processes may have one name at a time. It has between 1 and 64 of the characters `a` to
/// `z`, `0` to `9`, `-`, `_` and `.`.
///
/// ```
/// use dirigent_relay::HostId;
///
/// let host: HostId = "bot-2".parse()?;
/// assert_eq!(host.as_str(), "bot-2");
/// assert!("Bot 2".parse::<HostId>().is_err());
/// # Ok::<(), dirigent_relay::BadHostId>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(Arc<str>);

/// The error for a text that is not the name of a process. A name has between 1 and 64 of the characters `a` to `z`,
/// `0` to `9`, `-`, `_` and `.`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a process: expected 1 to 64 of a-z, 0-9, '-', '_' and '.'")]
#[non_exhaustive]
pub struct BadHostId;

impl HostId {
    /// The most bytes of a name.
    pub const MAX: usize = 64;

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for HostId {
    type Err = BadHostId;

    fn from_str(text: &str) -> Result<Self, BadHostId> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
        let is_name = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(is_allowed);
        is_name.then(|| Self(text.into())).ok_or(BadHostId)
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostId({})", self.0)
    }
}

impl Serialize for HostId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for HostId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
