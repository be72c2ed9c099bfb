//! The accounts that a message pings.

use dirigent::{ChatMessage, UserId};

use super::details::{Allowed, Details};
use super::role::RoleId;

/// The accounts and roles that a message may ping, if its text names them.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches of one post")]
pub struct AllowedMentions {
    /// True if everyone may be pinged.
    pub everyone: bool,
    /// True if any user may be pinged.
    pub any_user: bool,
    /// True if any role may be pinged.
    pub any_role: bool,
    /// The users that may be pinged.
    pub users: Vec<UserId>,
    /// The roles that may be pinged.
    pub roles: Vec<RoleId>,
    /// True if the author of the answered message is pinged.
    pub replied_user: bool,
}

/// The accounts and roles that a message pings.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let (person, bot) = (discord.add_human(), discord.add_bot());
/// let channel = discord.add_channel(discord.add_guild(person), "round-table", &[bot]);
/// let id = discord.say(channel, person, format!("<@{bot}> are you there?"));
/// assert_eq!(discord.channel(channel).pings(id).unwrap().users, [bot]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pings {
    /// True if it pings everyone.
    pub everyone: bool,
    /// The users that it pings, in the order of their names in the text.
    pub users: Vec<UserId>,
    /// The roles that it pings, in the order of their names in the text.
    pub roles: Vec<RoleId>,
}

impl Pings {
    /// Returns the pings of a message. `answered` is the author of the answered message.
    pub fn of(message: &ChatMessage, details: &Details, answered: Option<UserId>) -> Self {
        let mut pings = Self::named(&message.content);
        match &details.allowed {
            Allowed::Named => pings.add(answered),
            Allowed::None => pings = Self::default(),
            Allowed::User(only) => {
                pings = Self {
                    users: pings.users.into_iter().filter(|user| user == only).collect(),
                    ..Self::default()
                };
            }
            Allowed::Listed(listed) => {
                pings.everyone &= listed.everyone;
                pings.users.retain(|user| listed.any_user || listed.users.contains(user));
                pings.roles.retain(|role| listed.any_role || listed.roles.contains(role));
                pings.add(answered.filter(|_| listed.replied_user));
            }
        }
        pings
    }

    fn add(&mut self, user: Option<UserId>) {
        self.users.extend(user.filter(|user| !self.users.contains(user)));
    }

    /// Returns the accounts and roles that a text names.
    pub(crate) fn named(text: &str) -> Self {
        if !text.contains('@') {
            return Self::default();
        }
        let mut named = Self {
            everyone: text.contains("@everyone") || text.contains("@here"),
            ..Self::default()
        };
        for (at, _) in text.match_indices("<@") {
            let Some(inside) = text.get(at + 2..).and_then(|rest| rest.split('>').next()) else {
                continue;
            };
            if let Some(role) = inside.strip_prefix('&').and_then(|id| id.parse().ok()) {
                let role = RoleId::new(role);
                if !named.roles.contains(&role) {
                    named.roles.push(role);
                }
            } else if let Ok(user) = inside.strip_prefix('!').unwrap_or(inside).parse() {
                named.add(Some(UserId::new(user)));
            }
        }
        named
    }
}
