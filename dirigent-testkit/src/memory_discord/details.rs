//! What a message has besides what the driver is told of it.

use dirigent::{Mentions, MessageId, Timestamp, UserId};

use super::pings::AllowedMentions;

/// What a message has besides.
#[derive(Clone, Debug)]
pub(crate) struct Details {
    /// Whom its text may ping.
    pub(crate) allowed: Allowed,
    /// What only few messages have.
    pub(crate) rare: Option<Box<Rare>>,
}

/// Whom a text may ping.
#[derive(Clone, Debug)]
pub(crate) enum Allowed {
    /// Every account that it names.
    Named,
    /// No account.
    Nobody,
    /// One account, if it names it.
    User(UserId),
    /// As its poster listed.
    Listed(Box<AllowedMentions>),
}

/// What only few messages have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rare {
    /// The message that it answers.
    pub(crate) reply_to: Option<MessageId>,
    /// When its text was last changed.
    pub(crate) edited_at: Option<Timestamp>,
    /// Discord's flags.
    pub(crate) flags: u64,
    /// Whether its nonce was given as a number, and so is told as one.
    pub(crate) has_number_nonce: bool,
    /// The command that it answers.
    pub(crate) command: Option<UsedCommand>,
    /// Discord's number for its kind, where that is neither a message nor a reply.
    pub(crate) kind: Option<u8>,
}

/// A command that was used.
#[derive(Clone, Debug)]
pub(crate) struct UsedCommand {
    /// The interaction's id.
    pub(crate) interaction: u64,
    pub(crate) name: String,
    pub(crate) user: UserId,
}

impl Details {
    /// Of a message that may ping whomever it names.
    pub(crate) const fn plain() -> Self {
        Self { allowed: Allowed::Named, rare: None }
    }

    /// Of a post.
    pub(crate) fn of_post(mentions: Mentions, reply_to: Option<MessageId>) -> Self {
        let allowed = match mentions {
            Mentions::User(user) => Allowed::User(user),
            Mentions::Nobody | _ => Allowed::Nobody,
        };
        let mut details = Self { allowed, rare: None };
        if reply_to.is_some() {
            details.rare_mut().reply_to = reply_to;
        }
        details
    }

    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}
