//! Discord's permission rules on plain data, which decide who can see a channel.

use std::collections::{HashMap, HashSet};

use dirigent::UserId;
use twilight_model::guild::Permissions;

/// The permissions that a member keeps during a time-out.
const IN_TIME_OUT: Permissions = Permissions::VIEW_CHANNEL.union(Permissions::READ_MESSAGE_HISTORY);

#[derive(Clone, Debug)]
pub(crate) struct GuildRules {
    /// The guild's id, which is also the id of its everyone role.
    pub(crate) guild: u64,
    pub(crate) owner: UserId,
    /// The permissions of each role in the whole guild, including the everyone role.
    pub(crate) roles: HashMap<u64, Permissions>,
    /// The bots of the roles that Discord manages, by role.
    pub(crate) bots: HashMap<u64, UserId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) user: UserId,
    pub(crate) roles: Vec<u64>,
    /// True if it is in a time-out now.
    pub(crate) timed_out: bool,
}

/// The permissions that a channel allows and denies a role or a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overwrite {
    pub(crate) target: Target,
    pub(crate) allow: Permissions,
    pub(crate) deny: Permissions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Role(u64),
    Member(UserId),
}

impl GuildRules {
    /// Returns a member's permissions in the guild, before any channel. Unknown roles allow nothing.
    pub(crate) fn base(&self, member: &Member) -> Permissions {
        let whole = self.roles_of(member).fold(Permissions::empty(), Permissions::union);
        if member.user == self.owner || whole.contains(Permissions::ADMINISTRATOR) {
            return Permissions::all();
        }
        whole
    }

    /// Returns true if the member owns the guild or is an administrator.
    pub(crate) fn is_administrator(&self, member: &Member) -> bool {
        self.base(member).contains(Permissions::ADMINISTRATOR)
    }

    /// Returns a member's permissions in a channel with these overwrites. Everyone's overwrite comes
    /// first, then those of all its roles together, then its own. In each step what is denied comes
    /// before what is allowed.
    pub(crate) fn in_channel(&self, overwrites: &[Overwrite], member: &Member) -> Permissions {
        let base = self.base(member);
        if base.contains(Permissions::ADMINISTRATOR) {
            return Permissions::all();
        }
        let everyone = sum(overwrites, |target| target == Target::Role(self.guild));
        let roles = sum(overwrites, |target| match target {
            Target::Role(role) => role != self.guild && member.roles.contains(&role),
            Target::Member(_) => false,
        });
        let own = sum(overwrites, |target| target == Target::Member(member.user));
        let allowed = [everyone, roles, own]
            .into_iter()
            .fold(base, |allowed, (allow, deny)| allowed.difference(deny).union(allow));
        if !allowed.contains(Permissions::VIEW_CHANNEL) {
            Permissions::empty()
        } else if member.timed_out {
            allowed.intersection(IN_TIME_OUT)
        } else {
            allowed
        }
    }

    /// Returns true if a member with only the everyone role sees a channel with these overwrites.
    pub(crate) fn is_open(&self, overwrites: &[Overwrite]) -> bool {
        let plain = Member { user: UserId::new(0), roles: Vec::new(), timed_out: false };
        self.in_channel(overwrites, &plain).contains(Permissions::VIEW_CHANNEL)
    }

    /// Returns which of these members see the channel. For a private thread the overwrites are its
    /// parent's, and `thread` holds the accounts that were added to it.
    pub(crate) fn audience(
        &self,
        overwrites: &[Overwrite],
        thread: Option<&HashSet<UserId>>,
        members: &[Member],
    ) -> Vec<UserId> {
        let sees = |member: &&Member| {
            let allowed = self.in_channel(overwrites, member);
            allowed.contains(Permissions::VIEW_CHANNEL)
                && thread.is_none_or(|added| {
                    added.contains(&member.user) || allowed.contains(Permissions::MANAGE_THREADS)
                })
        };
        members.iter().filter(sees).map(|member| member.user).collect()
    }

    fn roles_of(&self, member: &Member) -> impl Iterator<Item = Permissions> {
        let ids = std::iter::once(self.guild).chain(member.roles.iter().copied());
        ids.filter_map(|role| self.roles.get(&role).copied())
    }
}

/// Returns everything that the overwrites of these targets allow, and everything that they deny.
fn sum(overwrites: &[Overwrite], is_meant: impl Fn(Target) -> bool) -> (Permissions, Permissions) {
    let meant = overwrites.iter().filter(|overwrite| is_meant(overwrite.target));
    meant.fold((Permissions::empty(), Permissions::empty()), |(allow, deny), overwrite| {
        (allow.union(overwrite.allow), deny.union(overwrite.deny))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUILD: u64 = 1;
    const OWNER: UserId = UserId::new(10);
    const USER: UserId = UserId::new(11);
    const ADMIN: u64 = 20;
    const TALKER: u64 = 21;
    const KEEPER: u64 = 22;
    const NONE: Permissions = Permissions::empty();
    const VIEW: Permissions = Permissions::VIEW_CHANNEL;
    const SEND: Permissions = Permissions::SEND_MESSAGES;

    /// A guild whose everyone role has these permissions.
    fn guild(everyone: Permissions) -> GuildRules {
        let roles = [
            (GUILD, everyone),
            (ADMIN, Permissions::ADMINISTRATOR),
            (TALKER, SEND),
            (KEEPER, Permissions::MANAGE_THREADS),
        ];
        let (roles, bots) = (roles.into_iter().collect(), HashMap::new());
        GuildRules { guild: GUILD, owner: OWNER, roles, bots }
    }

    fn member(user: UserId, roles: &[u64]) -> Member {
        Member { user, roles: roles.to_vec(), timed_out: false }
    }

    fn role(role: u64, allow: Permissions, deny: Permissions) -> Overwrite {
        Overwrite { target: Target::Role(role), allow, deny }
    }

    fn own(allow: Permissions, deny: Permissions) -> Overwrite {
        Overwrite { target: Target::Member(USER), allow, deny }
    }

    /// What is tried, everyone's permissions, the member, its roles, the overwrites, and whether it sees.
    type Case<'a> = (&'a str, Permissions, UserId, &'a [u64], &'a [Overwrite], bool);

    /// R077: the table of who sees what.
    #[test]
    fn sight_follows_owner_administrators_roles_and_overwrites() {
        let hidden = role(GUILD, NONE, VIEW);
        let cases: [Case<'_>; 18] = [
            ("open guild", VIEW, USER, &[], &[], true),
            ("closed guild", NONE, USER, &[], &[], false),
            ("the owner sees all", NONE, OWNER, &[], &[hidden], true),
            ("an administrator sees all", NONE, USER, &[ADMIN], &[hidden, own(NONE, VIEW)], true),
            ("hidden from everyone", VIEW, USER, &[TALKER], &[hidden], false),
            ("opened for everyone", NONE, USER, &[], &[role(GUILD, VIEW, NONE)], true),
            ("a role opens", VIEW, USER, &[TALKER], &[hidden, role(TALKER, VIEW, NONE)], true),
            ("not for others", VIEW, USER, &[], &[hidden, role(TALKER, VIEW, NONE)], false),
            ("a role closes", VIEW, USER, &[TALKER], &[role(TALKER, NONE, VIEW)], false),
            (
                "one role opens though another closes",
                VIEW,
                USER,
                &[TALKER, KEEPER],
                &[role(KEEPER, VIEW, NONE), role(TALKER, NONE, VIEW)],
                true,
            ),
            (
                "in whichever order",
                VIEW,
                USER,
                &[TALKER, KEEPER],
                &[role(TALKER, NONE, VIEW), role(KEEPER, VIEW, NONE)],
                true,
            ),
            (
                "everyone's overwrite is none of a role's, though a member may list that role",
                NONE,
                USER,
                &[GUILD, TALKER],
                &[role(GUILD, VIEW, NONE), role(TALKER, NONE, VIEW)],
                false,
            ),
            ("the own one opens", VIEW, USER, &[], &[hidden, own(VIEW, NONE)], true),
            (
                "the own one closes last",
                VIEW,
                USER,
                &[TALKER],
                &[own(NONE, VIEW), role(TALKER, VIEW, NONE)],
                false,
            ),
            ("another's own one", VIEW, UserId::new(12), &[], &[hidden, own(VIEW, NONE)], false),
            ("allowed and denied at once", NONE, USER, &[], &[own(VIEW, VIEW)], true),
            ("a role that is gone", NONE, USER, &[99], &[role(99, VIEW, NONE)], true),
            (
                "a member and a role of the same id are two",
                VIEW,
                USER,
                &[],
                &[hidden, role(USER.get(), VIEW, NONE)],
                false,
            ),
        ];
        for (what, everyone, user, roles, overwrites, sees) in cases {
            let allowed = guild(everyone).in_channel(overwrites, &member(user, roles));
            assert_eq!(allowed.contains(VIEW), sees, "{what}");
        }
    }

    /// R077: nothing is allowed in a channel that is not seen.
    #[test]
    fn without_sight_nothing_is_allowed() {
        let overwrites = [role(GUILD, NONE, VIEW), own(SEND, NONE)];
        assert_eq!(guild(VIEW | SEND).in_channel(&overwrites, &member(USER, &[])), NONE);
    }

    /// R077: who is in a time-out still sees and reads, and does nothing else; the owner and
    /// administrators do not feel it.
    #[test]
    fn a_time_out_leaves_sight() {
        let history = Permissions::READ_MESSAGE_HISTORY;
        let timed_out = |user, roles: &[u64]| Member { timed_out: true, ..member(user, roles) };
        let rules = guild(VIEW | SEND | history);
        assert_eq!(rules.in_channel(&[], &timed_out(USER, &[])), VIEW | history);
        assert_eq!(rules.in_channel(&[], &timed_out(OWNER, &[])), Permissions::all());
        assert_eq!(rules.in_channel(&[], &timed_out(USER, &[ADMIN])), Permissions::all());
    }

    /// R077: a private thread is seen by those added and by its keepers, if they see the parent.
    #[test]
    fn a_private_thread_is_for_those_added_and_its_keepers() {
        let rules = guild(NONE);
        let overwrites = [role(TALKER, VIEW, NONE), role(KEEPER, VIEW, NONE)];
        let (added, outside, keeper, lost, admin) =
            (UserId::new(31), UserId::new(32), UserId::new(33), UserId::new(34), UserId::new(35));
        let late = UserId::new(36);
        let members = [
            member(added, &[TALKER]),
            member(outside, &[TALKER]),
            member(keeper, &[KEEPER]),
            member(lost, &[]),
            member(admin, &[ADMIN]),
            Member { timed_out: true, ..member(late, &[KEEPER]) },
        ];
        let thread = HashSet::from([added, lost]);
        let audience = rules.audience(&overwrites, Some(&thread), &members);
        assert_eq!(audience, [added, keeper, admin], "one lost the parent, one is timed out");
        let public = rules.audience(&overwrites, None, &members);
        assert_eq!(public, [added, outside, keeper, admin, late]);
    }

    /// R052, D94: private is what the everyone role cannot see.
    #[test]
    fn open_is_what_everyone_sees() {
        let hidden = role(GUILD, NONE, VIEW);
        assert!(guild(VIEW).is_open(&[]));
        assert!(!guild(NONE).is_open(&[]));
        assert!(!guild(VIEW).is_open(&[hidden]));
        assert!(guild(NONE).is_open(&[role(GUILD, VIEW, NONE)]));
        assert!(guild(Permissions::ADMINISTRATOR).is_open(&[hidden]));
        assert!(!guild(NONE).is_open(&[role(TALKER, VIEW, NONE), own(VIEW, NONE)]));
    }
}
