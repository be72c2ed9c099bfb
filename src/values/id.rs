//! Types for Discord's ids and the registry's.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The error of a text that is not a snowflake. A snowflake has 15 to 20 decimal digits, and does not begin with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a Discord id: expected 15 to 20 decimal digits that do not begin with zero")]
#[non_exhaustive]
pub struct BadSnowflake;

macro_rules! snowflake {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// It is written and read as a string of digits, because a JSON number would lose digits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// Creates an id with this number.
            pub const fn new(id: u64) -> Self {
                Self(id)
            }

            /// Returns the number.
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadSnowflake;

            fn from_str(text: &str) -> Result<Self, BadSnowflake> {
                parse_snowflake(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

snowflake! {
    /// A channel, or a thread. Discord numbers both in the same way.
    ///
    /// ```
    /// use dirigent::ChannelId;
    /// let id: ChannelId = "123456789012345678".parse().unwrap();
    /// assert_eq!(id.get(), 123456789012345678);
    /// assert!("12".parse::<ChannelId>().is_err());
    /// ```
    ChannelId
}

snowflake! {
    /// A guild. People call it a server.
    ///
    /// ```
    /// use dirigent::ports::GuildId;
    /// assert_eq!(GuildId::new(7).to_string(), "7");
    /// ```
    GuildId
}

snowflake! {
    /// An account, for example of a person, an agent or the moderator.
    ///
    /// ```
    /// use dirigent::UserId;
    /// assert!("0".parse::<UserId>().is_err());
    /// ```
    UserId
}

snowflake! {
    /// A role of a guild.
    ///
    /// ```
    /// use dirigent::ports::{GuildId, RoleId};
    /// let guild = GuildId::new(123456789012345678);
    /// assert_eq!(RoleId::everyone(guild).get(), guild.get());
    /// ```
    RoleId
}

impl RoleId {
    /// Returns the role of every member of the guild. It has the guild's id.
    pub const fn everyone(guild: GuildId) -> Self {
        Self(guild.0)
    }
}

/// Parses an id. It trims the text, and accepts 15 to 20 ASCII digits that fit an unsigned 64-bit number and do not
/// begin with zero. An id with leading zeros would be written without them, and could then not be read again.
fn parse_snowflake(text: &str) -> Result<u64, BadSnowflake> {
    let digits = text.trim();
    let plausible = (15..=20).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && !digits.starts_with('0');
    match digits.parse() {
        Ok(id) if plausible => Ok(id),
        _ => Err(BadSnowflake),
    }
}

/// An agent's name in the registry, for example `home-developer`. It is cheap to clone.
///
/// ```
/// use dirigent::AgentId;
/// let agent: AgentId = "home-developer".into();
/// assert_eq!(agent.as_str(), "home-developer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct AgentId(std::sync::Arc<str>);

impl AgentId {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for AgentId {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<String> for AgentId {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
