//! Accounts and guilds in the file.

use dirigent::UserId;
use dirigent::ports::Timestamp;
use dirigent::ports::{AuthorKind, GuildId};
use dirigent_testkit::memory_discord::accounts::Account;
use dirigent_testkit::memory_discord::places::{Guild, Member};
use dirigent_testkit::memory_discord::role::Role;
use dirigent_testkit::memory_discord::world::World;
use dirigent_testkit::memory_discord::{Permissions, RoleId};
use serde::{Deserialize, Serialize};

/// The kind of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Human,
    Bot,
    Webhook,
}

/// An account.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedAccount {
    pub(super) id: u64,
    name: String,
    kind: Kind,
    revoked: bool,
    content_hidden: bool,
    members_hidden: bool,
}

impl SavedAccount {
    pub(super) fn of(id: UserId, account: &Account) -> Self {
        let kind = match account.kind {
            AuthorKind::Human => Kind::Human,
            AuthorKind::Webhook => Kind::Webhook,
            AuthorKind::Bot | _ => Kind::Bot,
        };
        Self {
            id: id.get(),
            name: account.name.to_string(),
            kind,
            revoked: account.revoked,
            content_hidden: account.content_hidden,
            members_hidden: account.members_hidden,
        }
    }

    pub(super) fn restore(self, world: &mut World) {
        let kind = match self.kind {
            Kind::Human => AuthorKind::Human,
            Kind::Bot => AuthorKind::Bot,
            Kind::Webhook => AuthorKind::Webhook,
        };
        let account = Account {
            name: self.name.into(),
            kind,
            revoked: self.revoked,
            content_hidden: self.content_hidden,
            members_hidden: self.members_hidden,
            rights_known: false,
        };
        world.accounts.restore(UserId::new(self.id), account);
    }
}

/// A guild. Its channels name it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedGuild {
    id: u64,
    name: String,
    owner: u64,
    roles: Vec<SavedRole>,
    members: Vec<SavedMember>,
    #[serde(default)]
    emojis: Vec<(u64, String)>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedRole {
    id: u64,
    name: String,
    permissions: u64,
    position: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedMember {
    id: u64,
    roles: Vec<u64>,
    timed_out_until: Option<u64>,
    joined_at: u64,
}

impl SavedGuild {
    pub(super) fn of(id: GuildId, guild: &Guild) -> Self {
        let roles = guild.roles.iter().map(|(id, role)| SavedRole {
            id: id.get(),
            name: role.name.clone(),
            permissions: role.permissions.bits(),
            position: role.position,
        });
        let members = guild.members.iter().map(|(id, member)| SavedMember {
            id: id.get(),
            roles: member.roles.iter().map(|role| role.get()).collect(),
            timed_out_until: member.timed_out_until.map(Timestamp::as_millis),
            joined_at: member.joined_at.as_millis(),
        });
        Self {
            id: id.get(),
            name: guild.name.clone(),
            owner: guild.owner.get(),
            roles: roles.collect(),
            members: members.collect(),
            emojis: guild.emojis.iter().map(|(id, name)| (*id, name.clone())).collect(),
        }
    }

    pub(super) fn restore(self, world: &mut World) {
        let roles = self.roles.into_iter().map(|role| {
            let permissions = Permissions::from_bits(role.permissions);
            let restored = Role { name: role.name, permissions, position: role.position };
            (RoleId::new(role.id), restored)
        });
        let members = self.members.into_iter().map(|member| {
            let restored = Member {
                roles: member.roles.into_iter().map(RoleId::new).collect(),
                timed_out_until: member.timed_out_until.map(Timestamp::from_millis),
                joined_at: Timestamp::from_millis(member.joined_at),
            };
            (UserId::new(member.id), restored)
        });
        let guild = Guild {
            name: self.name,
            owner: UserId::new(self.owner),
            roles: roles.collect(),
            members: members.collect(),
            channels: std::collections::BTreeSet::new(),
            emojis: self.emojis.into_iter().collect(),
        };
        world.places.guilds.insert(GuildId::new(self.id), guild);
    }
}
