//! Accounts, and the texts of others that each may read.

use std::sync::Arc;

use dirigent::ports::AuthorKind;
use dirigent::{ChatMessage, UserId};

use super::event::Event;
use super::hash::IdMap;
use super::pings::Pings;

/// An account.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts of one account")]
pub struct Account {
    /// The account's name.
    pub name: Arc<str>,
    /// The kind of account.
    pub kind: AuthorKind,
    /// True if its token is no longer valid.
    pub revoked: bool,
    /// True if it lacks the message-content intent.
    pub content_hidden: bool,
    /// True if it lacks the guild-members intent.
    pub members_hidden: bool,
    /// True if its adapter knows without a request who may write where.
    pub rights_known: bool,
}

impl Account {
    const fn new(name: Arc<str>, kind: AuthorKind) -> Self {
        let [revoked, content_hidden, members_hidden, rights_known] = [false; 4];
        Self { name, kind, revoked, content_hidden, members_hidden, rights_known }
    }
}

/// All accounts.
#[derive(Debug, Default)]
pub struct Accounts {
    by_id: IdMap<UserId, Account>,
}

impl Accounts {
    /// Adds an account with a name of its own, or changes its kind.
    pub fn add(&mut self, user: UserId, kind: AuthorKind) {
        let number = self.by_id.len() + 1;
        let name = match kind {
            AuthorKind::Human => format!("person-{number}"),
            AuthorKind::Webhook => format!("webhook-{number}"),
            AuthorKind::Bot | _ => format!("bot-{number}"),
        };
        self.by_id.insert(user, Account::new(name.into(), kind));
    }

    pub fn get(&self, user: UserId) -> Option<&Account> {
        self.by_id.get(&user)
    }

    /// Returns all accounts, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (UserId, &Account)> {
        self.by_id.iter().map(|(user, account)| (*user, account))
    }

    /// Restores an account.
    pub fn restore(&mut self, user: UserId, account: Account) {
        self.by_id.insert(user, account);
    }

    pub fn get_mut(&mut self, user: UserId) -> Option<&mut Account> {
        self.by_id.get_mut(&user)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns the kind of an account. An unknown one counts as a person.
    pub fn kind_of(&self, user: UserId) -> AuthorKind {
        self.get(user).map_or(AuthorKind::Human, |account| account.kind)
    }

    /// Returns the bots that a text mentions.
    pub fn bots_in(&self, text: &str) -> Box<[UserId]> {
        let named = Pings::named(text).users.into_iter();
        named.filter(|user| self.kind_of(*user) == AuthorKind::Bot).collect()
    }

    /// Returns true if an account has a valid token.
    pub(crate) fn has_token(&self, user: UserId) -> bool {
        self.get(user).is_some_and(|account| !account.revoked)
    }

    /// Returns a message as the account may read it. Without the message-content intent a bot reads only
    /// its own messages and those that mention it (events/gateway).
    pub fn as_shown_to(&self, account: UserId, message: &ChatMessage) -> ChatMessage {
        let mut shown = message.clone();
        self.hide_text(account, &mut shown);
        shown
    }

    /// Removes from an event what the account may not read.
    pub(crate) fn hide_content(&self, account: UserId, event: &mut Event) {
        if let Event::MessageCreated(message) | Event::MessageEdited(message) = event {
            self.hide_text(account, message);
        }
    }

    /// Returns true if the account may read a message. It returns false if the text is already hidden.
    pub fn reads(&self, account: UserId, message: &ChatMessage) -> bool {
        let is_hidden = self.get(account).is_some_and(|account| account.content_hidden);
        !is_hidden
            || message.author == account
            || message.content.contains(&format!("<@{account}>"))
    }

    fn hide_text(&self, account: UserId, message: &mut ChatMessage) {
        if !self.reads(account, message) {
            (message.content, message.mentioned_bots) = (Arc::default(), Box::default());
            (message.embeds, message.shown, message.attachments) = (0, Vec::new(), Vec::new());
            if let Some(quoted) = &mut message.quoted {
                quoted.content = Arc::default();
                (quoted.attachments, quoted.shown) = (Vec::new(), Vec::new());
            }
        }
    }
}
