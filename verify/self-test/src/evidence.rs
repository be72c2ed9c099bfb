//! Everything that a self-test saw, as plain data: what the probes judge.

use serde_json::Value;

use super::account::{Answer, id_in};
use super::rights::{READ_MESSAGE_HISTORY, rights};
use super::session::Event;

/// What was seen so far. What is missing was not tried, or failed.
#[derive(Default)]
pub(crate) struct Evidence {
    /// The channel in which it is tried, and its guild.
    pub(crate) channel: u64,
    pub(crate) guild: u64,
    /// The account that tries, and another one if there is a token for it.
    pub(crate) first: u64,
    pub(crate) second: Option<u64>,
    pub(crate) user_agent: Option<Answer>,
    pub(crate) application: Option<Answer>,
    pub(crate) nonce: Nonce,
    pub(crate) connection: Option<Connection>,
    /// The events of the two accounts, oldest first.
    pub(crate) first_events: Vec<Event>,
    pub(crate) second_events: Vec<Event>,
    pub(crate) burst: Burst,
    /// The two messages next to the first of the burst, as the history gives them.
    pub(crate) page: Option<Answer>,
    /// A post of the second account, and one with the nonce that the first account has used.
    pub(crate) by_second: Option<Answer>,
    pub(crate) nonce_of_first: Option<Answer>,
    pub(crate) edit: Option<Edit>,
    pub(crate) deletion: Option<Deletion>,
    /// The deletion of the first account's message by the second.
    pub(crate) foreign_deletion: Option<Answer>,
    pub(crate) typing: Option<Answer>,
    pub(crate) members: Members,
    pub(crate) resume: Option<Resume>,
    pub(crate) command: Command,
}

/// One nonce, posted with `enforce_nonce` again and again.
#[derive(Default)]
pub(crate) struct Nonce {
    pub(crate) first: Option<Answer>,
    /// The history right after the first post, and after the second.
    pub(crate) history: Option<Answer>,
    pub(crate) again: Option<Answer>,
    pub(crate) history_after: Option<Answer>,
    /// The post at the end.
    pub(crate) late: Option<Answer>,
}

/// The first account's connection to the gateway.
pub(crate) struct Connection {
    /// The code with which a connection that asked for the Message Content Intent was closed for good.
    pub(crate) closed: Option<u16>,
    /// Whether a session began that has the Message Content Intent.
    pub(crate) has_content: bool,
}

/// Several posts without a pause.
#[derive(Default)]
pub(crate) struct Burst {
    pub(crate) posts: Vec<Sent>,
    /// A post that was refused with 429, and the status of the same post after the wait.
    pub(crate) refused: Option<Answer>,
    pub(crate) after_wait: Option<u16>,
}

/// What a post of the burst is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Plain,
    /// It names an account that it may not ping.
    Silent,
    /// It pings the second account.
    Ping,
    /// It is as long as a message may be.
    Long,
}

/// A post and its answer.
pub(crate) struct Sent {
    pub(crate) purpose: Purpose,
    pub(crate) text: String,
    pub(crate) nonce: String,
    pub(crate) answer: Answer,
}

/// A message that was changed.
pub(crate) struct Edit {
    pub(crate) message: u64,
    pub(crate) text: String,
    pub(crate) answer: Answer,
}

/// A message that was deleted twice and then answered.
pub(crate) struct Deletion {
    pub(crate) message: u64,
    pub(crate) first: Answer,
    pub(crate) again: Option<Answer>,
    pub(crate) reply: Option<Answer>,
}

/// What is said of members.
#[derive(Default)]
pub(crate) struct Members {
    pub(crate) own: Option<Answer>,
    /// An id that is no member's.
    pub(crate) non_member: Option<Answer>,
    pub(crate) list: Option<Answer>,
}

/// A connection that was lost and taken up again.
pub(crate) struct Resume {
    /// The message that was posted meanwhile.
    pub(crate) missed: Option<u64>,
    /// The events since the connection was lost.
    pub(crate) events: Vec<Event>,
}

/// A slash command.
#[derive(Default)]
pub(crate) struct Command {
    /// The commands that the application had.
    pub(crate) before: Option<Answer>,
    /// The command as it was sent.
    pub(crate) sent: Option<Value>,
    /// All commands, replaced and read back; not where the application had commands.
    pub(crate) written: Option<Answer>,
    pub(crate) read_back: Option<Answer>,
    pub(crate) used: Option<Event>,
    pub(crate) answered: Option<Answer>,
    pub(crate) answered_again: Option<Answer>,
}

impl Evidence {
    /// The event of this name about this id that the first account got.
    pub(crate) fn first_event(&self, name: &str, id: u64) -> Option<&Event> {
        self.first_events.iter().find(|event| event.is(name, id))
    }

    pub(crate) fn second_event(&self, name: &str, id: u64) -> Option<&Event> {
        self.second_events.iter().find(|event| event.is(name, id))
    }

    /// The ids of the burst's messages, in the order in which they were posted.
    pub(crate) fn burst_ids(&self) -> Vec<u64> {
        let posted = self.burst.posts.iter().filter(|sent| sent.answer.is_success());
        posted.filter_map(|sent| sent.answer.id()).collect()
    }

    /// A post of the burst that made a message.
    pub(crate) fn posted(&self, purpose: Purpose) -> Option<&Sent> {
        let mut posts = self.burst.posts.iter();
        posts.find(|sent| sent.purpose == purpose && sent.answer.is_success())
    }

    /// The post for this purpose, made or refused.
    pub(crate) fn tried(&self, purpose: Purpose) -> Option<&Sent> {
        self.burst.posts.iter().find(|sent| sent.purpose == purpose)
    }

    /// Whether the application's flags say that an intent is switched on.
    pub(crate) fn is_granted(&self, flags: u64) -> Option<bool> {
        let found = self.application.as_ref().filter(|answer| answer.is_success())?;
        Some(found.body.get("flags")?.as_u64()? & flags != 0)
    }

    /// Whether the first account may read the channel's history; where that cannot be said, whether it did.
    pub(crate) fn reads_history(&self) -> bool {
        let guild = self.first_event("GUILD_CREATE", self.guild);
        let rights = guild.and_then(|it| rights(&it.data, self.channel, self.first));
        let pages = [&self.nonce.history, &self.nonce.history_after].into_iter().flatten();
        rights.is_some_and(|rights| rights & READ_MESSAGE_HISTORY != 0)
            || pages.into_iter().any(|page| !page.list().is_empty())
    }

    /// Whether the page of the history has a message.
    pub(crate) fn has_message(page: &Answer, id: u64) -> bool {
        page.list().iter().any(|message| id_in(message) == Some(id))
    }
}

/// The flags of an application whose Server Members Intent is switched on, in many guilds or in few.
pub(crate) const MEMBERS_GRANTED: u64 = 1 << 14 | 1 << 15;

/// The same of the Message Content Intent.
pub(crate) const CONTENT_GRANTED: u64 = 1 << 18 | 1 << 19;
