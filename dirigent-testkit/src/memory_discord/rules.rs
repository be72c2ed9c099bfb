//! Discord's permission algorithm (topics/permissions), with roles, overwrites and time-outs.

use std::collections::{BTreeMap, BTreeSet};

use dirigent::UserId;
use dirigent::ports::GuildId;

use super::permissions::Permissions;
use super::role::{Role, RoleId};

/// The role or member of an overwrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Role(RoleId),
    Member(UserId),
}

/// The permissions that a channel allows and denies a role or a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overwrite {
    pub allow: Permissions,
    pub deny: Permissions,
}

impl Overwrite {
    /// Returns these permissions after the overwrite.
    fn apply(self, permissions: Permissions) -> Permissions {
        permissions.without(self.deny).with(self.allow)
    }
}

/// All overwrites of a channel.
pub type Overwrites = BTreeMap<Target, Overwrite>;

/// The permissions of an account now, and during a time-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    pub free: Permissions,
    pub(crate) timed_out: Permissions,
}

impl Allowed {
    pub(crate) const NOTHING: Self = Self { free: Permissions::NONE, timed_out: Permissions::NONE };

    /// A time-out has no effect on owners and administrators.
    const EVERYTHING: Self = Self { free: Permissions::ALL, timed_out: Permissions::ALL };

    /// Returns the permissions that do not depend on a time-out. They are empty if the channel is
    /// hidden.
    pub(crate) fn of_sight(permissions: Permissions) -> Self {
        if !permissions.contains(Permissions::VIEW_CHANNEL) {
            return Self::NOTHING;
        }
        let kept = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
        Self { free: permissions, timed_out: permissions.within(kept) }
    }
}

/// Returns the overwrites of a channel that only these members see.
pub(crate) fn private_for(guild: GuildId, members: impl IntoIterator<Item = UserId>) -> Overwrites {
    let everyone = Target::Role(RoleId::everyone(guild));
    let hidden = Overwrite { allow: Permissions::NONE, deny: Permissions::VIEW_CHANNEL };
    let open = Overwrite { allow: Permissions::TALK, deny: Permissions::NONE };
    let members = members.into_iter().map(|user| (Target::Member(user), open));
    members.chain([(everyone, hidden)]).collect()
}

/// Returns the permissions that roles give in the whole guild.
pub fn in_guild(
    guild: GuildId,
    all: &BTreeMap<RoleId, Role>,
    held: &BTreeSet<RoleId>,
) -> Permissions {
    let everyone = RoleId::everyone(guild);
    let mut allowed = Permissions::NONE;
    for (id, role) in all {
        if *id == everyone || held.contains(id) {
            allowed = allowed.with(role.permissions);
        }
    }
    if allowed.contains(Permissions::ADMINISTRATOR) { Permissions::ALL } else { allowed }
}

/// Returns the permissions in a channel of a member with these permissions in the guild.
pub(crate) fn in_channel(
    guild: GuildId,
    base: Permissions,
    user: UserId,
    held: &BTreeSet<RoleId>,
    overwrites: &Overwrites,
) -> Allowed {
    if base.contains(Permissions::ADMINISTRATOR) {
        return Allowed::EVERYTHING;
    }
    let everyone = RoleId::everyone(guild);
    let mut of_everyone = Overwrite::default();
    let mut of_roles = Overwrite::default();
    let mut own = Overwrite::default();
    for (target, overwrite) in overwrites {
        match target {
            Target::Role(role) if *role == everyone => of_everyone = *overwrite,
            Target::Role(role) if held.contains(role) => {
                of_roles.allow = of_roles.allow.with(overwrite.allow);
                of_roles.deny = of_roles.deny.with(overwrite.deny);
            }
            Target::Member(member) if *member == user => own = *overwrite,
            Target::Role(_) | Target::Member(_) => {}
        }
    }
    Allowed::of_sight(own.apply(of_roles.apply(of_everyone.apply(base))))
}
