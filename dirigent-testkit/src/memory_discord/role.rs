//! Roles of a guild.

use super::permissions::Permissions;

pub use dirigent::ports::RoleId;

/// A role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    /// What it allows in the whole guild.
    pub permissions: Permissions,
    /// The higher, the more it outranks.
    pub position: u32,
}
