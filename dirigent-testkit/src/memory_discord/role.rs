//! Roles of a guild.

use super::permissions::Permissions;

pub use dirigent::ports::RoleId;

/// A role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub name: String,
    /// The permissions in the whole guild.
    pub permissions: Permissions,
    /// The rank of the role. A higher one outranks a lower one.
    pub position: u32,
}
