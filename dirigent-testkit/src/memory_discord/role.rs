//! Roles of a guild.

use std::fmt;

use dirigent::ports::GuildId;

use super::permissions::Permissions;

/// A role's id.
///
/// ```
/// use dirigent::ports::GuildId;
/// use dirigent_testkit::memory_discord::RoleId;
///
/// let guild = GuildId::new(123456789012345678);
/// assert_eq!(RoleId::everyone(guild).get(), guild.get());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleId(u64);

impl RoleId {
    /// Wraps the number.
    pub const fn new(id: u64) -> Self {
        Self(id)
    }

    /// The role that everybody in the guild has: it has the guild's id.
    pub const fn everyone(guild: GuildId) -> Self {
        Self(guild.get())
    }

    /// The number inside.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for RoleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    /// What it allows in the whole guild.
    pub permissions: Permissions,
    /// The higher, the more it outranks.
    pub position: u32,
}
