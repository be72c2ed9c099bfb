//! The parts of Discord's answers that are read. No other parts are, so that a new field cannot break reading.
//! `pushed` reads events of the gateway.

pub(crate) mod pushed;

use std::fmt;
use std::sync::Arc;

use dirigent::UserId;
use dirigent::ports::{self, Timestamp};
use serde::de::{Error, IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use twilight_model::guild::Permissions;

use crate::permission::{self, GuildRules, Target};

/// The number of a private thread among the kinds of channels.
pub(crate) const PRIVATE_THREAD: u8 = 12;

/// Returns true if a channel of this kind belongs to another one.
pub(crate) const fn is_thread(kind: u8) -> bool {
    matches!(kind, 10 | 11 | PRIVATE_THREAD)
}

/// The longest content that Discord accepts, in characters.
const CONTENT_CHARS_MAX: usize = 2_000;

/// Returns true if Discord accepts a text of this length.
pub(crate) fn is_short(text: &str) -> bool {
    text.chars().count() <= CONTENT_CHARS_MAX
}

/// A number that Discord writes as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;

        impl Visitor<'_> for Digits {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, as a string or as itself")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                text.parse().map(Number).map_err(|_| E::custom("not a number"))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number))
            }
        }

        deserializer.deserialize_any(Digits)
    }
}

impl Number {
    pub(crate) const fn user(self) -> UserId {
        UserId::new(self.0)
    }

    /// Returns the permissions, including those that twilight does not know yet.
    const fn permissions(self) -> Permissions {
        Permissions::from_bits_retain(self.0)
    }
}

/// Anything with an id.
#[derive(Debug, Deserialize)]
pub(crate) struct WithId {
    pub(crate) id: Number,
}

/// The id and the channel of a posted message.
#[derive(Debug, Deserialize)]
pub(crate) struct Placed {
    pub(crate) id: Number,
    pub(crate) channel_id: Number,
}

/// The parts of a webhook that are read. It has no `Debug`, because its token is a secret.
#[derive(Deserialize)]
pub(crate) struct Webhook {
    pub(crate) id: Number,
    pub(crate) name: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) application_id: Option<Number>,
}

/// The parts of an application that are read.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Application {
    pub(crate) id: Number,
    pub(crate) flags: Option<u64>,
}

/// The parts of the gateway's limits that are read.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct GatewayBot {
    pub(crate) session_start_limit: Option<SessionStarts>,
}

/// The sessions that may still begin.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct SessionStarts {
    pub(crate) remaining: u32,
    /// The time until the reset, in milliseconds.
    #[serde(default)]
    pub(crate) reset_after: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refused {
    pub(crate) code: Option<u64>,
}

impl Refused {
    /// Returns Discord's error code in the body of a refusal, or `None` if the answer is not Discord's own.
    pub(crate) fn code_in(body: &[u8]) -> Option<u64> {
        serde_json::from_slice::<Self>(body).ok()?.code
    }
}

/// A message, whole or in part.
#[derive(Deserialize)]
pub(crate) struct Message {
    pub(crate) id: Number,
    pub(crate) channel_id: Number,
    pub(crate) author: Option<User>,
    pub(crate) webhook_id: Option<Number>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<u8>,
    pub(crate) content: Option<String>,
    #[serde(default)]
    pub(crate) mentions: Value,
    pub(crate) member: Option<PartialMember>,
    #[serde(rename = "message_reference")]
    pub(crate) reference: Option<MessageReference>,
    pub(crate) attachments: Option<Vec<Attachment>>,
    /// These parts are read leniently by `message`, because the words must not be lost.
    #[serde(default)]
    pub(crate) embeds: Value,
    #[serde(default)]
    pub(crate) components: Value,
    #[serde(default)]
    pub(crate) sticker_items: Value,
    #[serde(default)]
    pub(crate) poll: Value,
    #[serde(default, rename = "message_snapshots")]
    pub(crate) snapshots: Value,
    #[serde(default, rename = "referenced_message")]
    pub(crate) referenced: Value,
    pub(crate) nonce: Option<Nonce>,
    pub(crate) interaction_metadata: Option<IgnoredAny>,
    pub(crate) interaction: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct User {
    pub(crate) id: Number,
    pub(crate) username: Option<String>,
    pub(crate) global_name: Option<String>,
    /// Discord leaves it out for people.
    pub(crate) bot: Option<bool>,
    pub(crate) system: Option<bool>,
}

/// The parts of an author's membership that are read.
#[derive(Deserialize)]
pub(crate) struct PartialMember {
    pub(crate) nick: Option<String>,
}

impl Message {
    /// Returns the author's name as people see it.
    pub(crate) fn shown_name(&self) -> Option<Arc<str>> {
        let author = self.author.as_ref()?;
        let nick = self.member.as_ref().and_then(|member| member.nick.as_deref());
        let name = nick.or(author.global_name.as_deref()).or(author.username.as_deref());
        name.map(Arc::from)
    }
}

#[derive(Default, Deserialize)]
pub(crate) struct MessageReference {
    #[serde(rename = "type")]
    pub(crate) kind: Option<u8>,
    pub(crate) message_id: Option<Number>,
}

#[derive(Deserialize)]
pub(crate) struct Attachment {
    pub(crate) filename: String,
    pub(crate) url: String,
    pub(crate) size: u64,
    pub(crate) content_type: Option<String>,
    pub(crate) description: Option<String>,
}

/// A nonce. It comes back as it was given, as a string or as a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Nonce {
    Text(String),
    Number(i64),
    /// Not a nonce of ours. The message must be readable nevertheless.
    Odd(IgnoredAny),
}

impl Nonce {
    /// Returns the nonce, if it has the library's form.
    pub(crate) fn ours(self) -> Option<ports::Nonce> {
        match self {
            Self::Text(text) => text.parse().ok(),
            Self::Number(number) => number.to_string().parse().ok(),
            Self::Odd(_) => None,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Channel {
    pub(crate) id: Number,
    #[serde(rename = "type")]
    pub(crate) kind: u8,
    pub(crate) guild_id: Option<Number>,
    pub(crate) parent_id: Option<Number>,
    pub(crate) name: Option<String>,
    pub(crate) topic: Option<String>,
    permission_overwrites: Option<Vec<Overwrite>>,
    pub(crate) recipients: Option<Vec<User>>,
    pub(crate) last_message_id: Option<Number>,
    thread_metadata: Option<ThreadMetadata>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct ThreadMetadata {
    #[serde(default)]
    locked: bool,
}

impl Channel {
    /// Returns true if only accounts that manage threads may write in it.
    pub(crate) fn is_locked(&self) -> bool {
        self.thread_metadata.is_some_and(|thread| thread.locked)
    }

    pub(crate) fn overwrites(&self) -> Vec<permission::Overwrite> {
        self.permission_overwrites.iter().flatten().filter_map(Overwrite::read).collect()
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Overwrite {
    id: Number,
    #[serde(rename = "type")]
    kind: Number,
    allow: Number,
    deny: Number,
}

impl Overwrite {
    /// Reads an overwrite. One of an unknown kind applies to no known role or member.
    fn read(&self) -> Option<permission::Overwrite> {
        let target = match self.kind.0 {
            0 => Target::Role(self.id.0),
            1 => Target::Member(self.id.user()),
            _ => return None,
        };
        let (allow, deny) = (self.allow.permissions(), self.deny.permissions());
        Some(permission::Overwrite { target, allow, deny })
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Guild {
    pub(crate) id: Number,
    pub(crate) name: Option<String>,
    owner_id: Number,
    pub(crate) roles: Vec<Role>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Role {
    pub(crate) id: Number,
    #[serde(default)]
    pub(crate) name: String,
    permissions: Number,
    tags: Option<RoleTags>,
}

/// The owner of a role.
#[derive(Clone, Copy, Debug, Deserialize)]
struct RoleTags {
    bot_id: Option<Number>,
}

impl Role {
    pub(crate) const fn allowed(&self) -> Permissions {
        self.permissions.permissions()
    }

    /// Returns the bot that owns the role. A mention of the role is one of the bot.
    pub(crate) fn bot(&self) -> Option<UserId> {
        Some(self.tags?.bot_id?.user())
    }
}

impl Guild {
    pub(crate) fn rules(&self) -> GuildRules {
        rules(self.id, self.owner_id, &self.roles)
    }
}

fn rules(guild: Number, owner: Number, roles: &[Role]) -> GuildRules {
    let bots = roles.iter().filter_map(|role| Some((role.id.0, role.bot()?)));
    GuildRules {
        guild: guild.0,
        owner: owner.user(),
        roles: roles.iter().map(|role| (role.id.0, role.allowed())).collect(),
        bots: bots.collect(),
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Member {
    user: User,
    nick: Option<String>,
    #[serde(default)]
    roles: Vec<Number>,
    communication_disabled_until: Option<String>,
}

impl Member {
    pub(crate) const fn user(&self) -> UserId {
        self.user.id.user()
    }

    /// Returns its name as people see it.
    pub(crate) fn into_name(self) -> Option<String> {
        self.nick.or(self.user.global_name).or(self.user.username)
    }

    /// Returns all its names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let names = [&self.nick, &self.user.global_name, &self.user.username];
        names.into_iter().filter_map(Option::as_deref)
    }

    pub(crate) fn is_bot(&self) -> bool {
        self.user.bot.unwrap_or(false)
    }

    /// Returns the end of its time-out.
    pub(crate) fn timed_out_until(&self) -> Option<Timestamp> {
        self.communication_disabled_until.as_deref().and_then(moment)
    }

    pub(crate) fn read(&self, now: Timestamp) -> permission::Member {
        let until = self.timed_out_until();
        permission::Member {
            user: self.user.id.user(),
            roles: self.roles.iter().map(|role| role.0).collect(),
            timed_out: until.is_some_and(|until| now < until),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct ThreadMember {
    pub(crate) user_id: Option<Number>,
}

/// Reads a time in Discord's form.
fn moment(text: &str) -> Option<Timestamp> {
    // twilight does not read the short form of "UTC".
    let text = text.strip_suffix('Z').map_or_else(|| text.to_owned(), |at| format!("{at}+00:00"));
    let micros = twilight_model::util::Timestamp::parse(&text).ok()?.as_micros();
    u64::try_from(micros / 1_000).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R077: a time-out that is over is none.
    #[test]
    fn a_time_out_ends() {
        let member = |until: &str| -> permission::Member {
            let json = format!(
                r#"{{"user":{{"id":"5"}},"roles":["7"],"communication_disabled_until":{until}}}"#
            );
            let member: Member = serde_json::from_str(&json).unwrap();
            member.read(Timestamp::from_millis(1_750_000_000_000))
        };
        assert!(!member("null").timed_out);
        for (moment, timed_out) in [
            ("\"2025-06-15T15:06:41.000000+00:00\"", true),
            ("\"2025-06-15T15:06:40.001000+00:00\"", true),
            ("\"2025-06-15T15:06:40.000000+00:00\"", false),
            ("\"2025-06-15T15:06:39.000000+00:00\"", false),
            ("\"2025-06-15T15:06:41.000000Z\"", true),
            ("\"soon\"", false),
        ] {
            assert_eq!(member(moment).timed_out, timed_out, "{moment}");
        }
    }
}
