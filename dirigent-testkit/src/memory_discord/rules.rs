//! Discord's permission algorithm (topics/permissions), over roles, overwrites and time-outs.

use std::collections::{BTreeMap, BTreeSet};

use dirigent::UserId;
use dirigent::ports::GuildId;

use super::permissions::Permissions;
use super::role::{Role, RoleId};

/// For whom an overwrite is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Role(RoleId),
    Member(UserId),
}

/// What a channel changes for a role or a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overwrite {
    pub allow: Permissions,
    pub deny: Permissions,
}

impl Overwrite {
    /// What is left of these permissions.
    fn apply(self, permissions: Permissions) -> Permissions {
        permissions.without(self.deny).with(self.allow)
    }
}

/// What a channel changes, by whom it is for.
pub type Overwrites = BTreeMap<Target, Overwrite>;

/// What an account may do now, and while in a time-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    pub free: Permissions,
    pub(crate) timed_out: Permissions,
}

impl Allowed {
    pub(crate) const NOTHING: Self = Self { free: Permissions::NONE, timed_out: Permissions::NONE };

    /// Owners and administrators feel no time-out.
    const EVERYTHING: Self = Self { free: Permissions::ALL, timed_out: Permissions::ALL };

    /// What does not depend on a time-out; nothing where the channel is not seen.
    pub(crate) fn of_sight(permissions: Permissions) -> Self {
        if !permissions.contains(Permissions::VIEW_CHANNEL) {
            return Self::NOTHING;
        }
        let kept = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
        Self { free: permissions, timed_out: permissions.within(kept) }
    }
}

/// The overwrites of a channel that only these see.
pub(crate) fn private_for(guild: GuildId, members: impl IntoIterator<Item = UserId>) -> Overwrites {
    let everyone = Target::Role(RoleId::everyone(guild));
    let hidden = Overwrite { allow: Permissions::NONE, deny: Permissions::VIEW_CHANNEL };
    let open = Overwrite { allow: Permissions::TALK, deny: Permissions::NONE };
    let members = members.into_iter().map(|user| (Target::Member(user), open));
    members.chain([(everyone, hidden)]).collect()
}

/// What roles allow in the guild as a whole.
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

/// What a member with these permissions in the guild may do in a channel.
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
