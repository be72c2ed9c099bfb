//! The personas of an account and their webhooks, as far as they are known.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::ports::{AuthorKind, Timestamp, with_mentions};
use dirigent::{ChannelId, ChatMessage, UserId};

use crate::SetupIssue;

/// How many webhooks Discord allows in a channel.
const WEBHOOKS_MAX: usize = 15;

/// How long nothing is asked where a channel has no room for a persona's webhook.
const READ_AGAIN: Duration = Duration::from_secs(60);

/// The personas have numbers that are no snowflakes until 2084.
const FIRST: u64 = 1 << 63;

/// Whether this is a persona's number, and no account of Discord's.
pub(crate) const fn is_persona(user: UserId) -> bool {
    user.get() >= FIRST
}

/// A webhook's token. `Debug` does not show it.
#[derive(Clone)]
pub(crate) struct WebhookToken(Arc<str>);

impl WebhookToken {
    pub(super) fn new(token: &str) -> Self {
        Self(token.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for WebhookToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookToken")
    }
}

/// A webhook of a persona.
#[derive(Clone, Debug)]
pub(crate) struct Webhook {
    pub(crate) id: UserId,
    pub(crate) token: WebhookToken,
}

/// Where webhooks stand that post in a channel: those of a thread stand in its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    pub(crate) channel: u64,
    pub(crate) guild: u64,
}

impl Home {
    /// The thread that the channel is, if it is one.
    pub(crate) fn thread(&self, channel: ChannelId) -> Option<u64> {
        (channel.get() != self.channel).then_some(channel.get())
    }
}

/// All personas of an account.
#[derive(Debug, Default)]
pub(crate) struct Personas(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    all: Vec<NamedPersona>,
    /// The channels whose webhooks were read.
    channels: HashMap<u64, Listed>,
    /// Where channels and threads have their webhooks, if no gateway told it.
    homes: HashMap<ChannelId, Home>,
    /// The persona for which each webhook posts, or posted until it was deleted.
    authors: HashMap<UserId, UserId>,
    /// Whether a persona's name is free in a guild: no member has it.
    names: HashMap<(u64, UserId), bool>,
}

#[derive(Debug)]
struct NamedPersona {
    user: UserId,
    name: Arc<str>,
    folded: String,
}

/// The webhooks of a channel.
#[derive(Debug, Default)]
struct Listed {
    /// By persona.
    webhooks: HashMap<UserId, Webhook>,
    /// How many there are, with those of others.
    used: usize,
    /// When they were read.
    at: Timestamp,
}

impl Personas {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a persona, and returns its number; or the name of one that looks like it.
    pub(super) fn add(&self, name: &str, folded: &str) -> Result<UserId, String> {
        let user = UserId::new(FIRST | (digest([folded.as_bytes()]) >> 1));
        let mut table = self.table();
        if let Some(like) = table.all.iter().find(|it| it.folded == folded || it.user == user) {
            return Err((*like.name).to_owned());
        }
        table.all.push(NamedPersona { user, name: name.into(), folded: folded.to_owned() });
        Ok(user)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table().all.is_empty()
    }

    /// The persona's name, and what names that look like it have in common.
    pub(super) fn name(&self, persona: UserId) -> Option<(Arc<str>, String)> {
        let table = self.table();
        let known = table.all.iter().find(|known| known.user == persona)?;
        Some((Arc::clone(&known.name), known.folded.clone()))
    }

    pub(super) fn users(&self) -> Vec<UserId> {
        self.table().all.iter().map(|known| known.user).collect()
    }

    pub(super) fn home(&self, channel: ChannelId) -> Option<Home> {
        self.table().homes.get(&channel).copied()
    }

    pub(super) fn set_home(&self, channel: ChannelId, home: Home) {
        self.table().homes.insert(channel, home);
    }

    pub(super) fn is_listed(&self, home: u64) -> bool {
        self.table().channels.contains_key(&home)
    }

    /// These webhooks of personas stand in the channel, among `used` in all.
    pub(super) fn list(
        &self,
        home: u64,
        found: Vec<(UserId, Webhook)>,
        used: usize,
        at: Timestamp,
    ) {
        let mut table = self.table();
        table.authors.extend(found.iter().map(|(persona, webhook)| (webhook.id, *persona)));
        table.channels.insert(home, Listed { webhooks: found.into_iter().collect(), used, at });
    }

    /// This account may not read the channel's webhooks, and so not make any. Those that are known can be used.
    pub(super) fn bar(&self, home: u64, at: Timestamp) {
        let mut table = self.table();
        let listed = table.channels.entry(home).or_default();
        (listed.used, listed.at) = (WEBHOOKS_MAX, at);
    }

    /// A webhook was made for the persona.
    pub(super) fn made(&self, home: u64, persona: UserId, webhook: Webhook) {
        let mut table = self.table();
        table.authors.insert(webhook.id, persona);
        let listed = table.channels.entry(home).or_default();
        listed.used += 1;
        listed.webhooks.insert(persona, webhook);
    }

    pub(super) fn webhook(&self, home: u64, persona: UserId) -> Option<Webhook> {
        self.table().channels.get(&home)?.webhooks.get(&persona).cloned()
    }

    /// The persona's webhook is not there any more. What it wrote stays the persona's.
    pub(super) fn forget(&self, home: u64, persona: UserId) {
        if let Some(listed) = self.table().channels.get_mut(&home) {
            listed.webhooks.remove(&persona);
            listed.used = listed.used.saturating_sub(1);
        }
    }

    /// Whether the channel's webhooks are to be read again: a persona has no place among them, and a person may have
    /// deleted some.
    pub(super) fn is_stale(&self, home: u64, now: Timestamp) -> bool {
        let is_old = |listed: &Listed| now.since(listed.at) >= READ_AGAIN;
        self.shortage(home).is_some() && self.table().channels.get(&home).is_some_and(is_old)
    }

    /// Whether this is, or was, the webhook of a persona.
    pub(crate) fn is_their_webhook(&self, author: UserId) -> bool {
        self.table().authors.contains_key(&author)
    }

    /// Permissions may have changed there: webhooks that could not be read are read again.
    pub(crate) fn ask_again_in(&self, channels: &[ChannelId]) {
        let mut table = self.table();
        for channel in channels {
            let is_bare = |listed: &Listed| listed.webhooks.is_empty();
            if table.channels.get(&channel.get()).is_some_and(is_bare) {
                table.channels.remove(&channel.get());
            }
        }
    }

    /// The personas that can post in the channel: those that have a webhook there, and as many others, in the order in
    /// which they were set up, as Discord allows webhooks.
    pub(super) fn with_place(&self, home: u64, may_make: bool) -> Vec<UserId> {
        let table = self.table();
        let Some(listed) = table.channels.get(&home) else {
            return Vec::new();
        };
        let mut free = if may_make { WEBHOOKS_MAX.saturating_sub(listed.used) } else { 0 };
        let mut has_place = |known: &&NamedPersona| {
            let has_webhook = listed.webhooks.contains_key(&known.user);
            let takes = !has_webhook && free > 0;
            free -= usize::from(takes);
            has_webhook || takes
        };
        table.all.iter().filter(|known| has_place(known)).map(|known| known.user).collect()
    }

    /// How many personas cannot have a webhook in the channel, since Discord allows no more of them.
    pub(crate) fn shortage(&self, home: u64) -> Option<SetupIssue> {
        let table = self.table();
        let listed = table.channels.get(&home)?;
        let wanted = table.all.iter().filter(|it| !listed.webhooks.contains_key(&it.user));
        let missing = (listed.used + wanted.count()).saturating_sub(WEBHOOKS_MAX);
        (missing > 0).then_some(SetupIssue::TooManyWebhooks(ChannelId::new(home), missing))
    }

    /// Whether no member of the guild has the persona's name, as far as that was looked at.
    pub(super) fn is_name_free(&self, guild: u64, persona: UserId) -> Option<bool> {
        self.table().names.get(&(guild, persona)).copied()
    }

    pub(super) fn set_name_free(&self, guild: u64, persona: UserId, is_free: bool) {
        self.table().names.insert((guild, persona), is_free);
    }

    /// Whether it is not known yet whose message this is: that of a webhook in a channel whose webhooks were not read.
    pub(crate) fn is_unclear(&self, message: &ChatMessage, parent: Option<ChannelId>) -> bool {
        let home = parent.unwrap_or(message.channel).get();
        let table = self.table();
        let is_listed = table.all.is_empty() || table.channels.contains_key(&home);
        message.author_kind == AuthorKind::Webhook && !is_listed
    }

    /// The message as the library knows its author: what a persona's webhook posts is the persona's, and so is what
    /// answers it. A persona's name behind an `@` mentions it.
    pub(crate) fn told(&self, mut message: ChatMessage) -> ChatMessage {
        let table = self.table();
        if table.all.is_empty() {
            return message;
        }
        let author = |user: UserId, kind: Option<AuthorKind>| {
            let persona = table.authors.get(&user).filter(|_| kind == Some(AuthorKind::Webhook))?;
            table.all.iter().find(|known| known.user == *persona)
        };
        if let Some(persona) = author(message.author, Some(message.author_kind)) {
            message.author = persona.user;
            message.author_kind = AuthorKind::Bot;
            message.author_name = Some(Arc::clone(&persona.name));
        }
        if let Some(quoted) = message.quoted.as_deref_mut() {
            let persona = quoted.author.and_then(|user| author(user, quoted.author_kind));
            if let Some(persona) = persona {
                quoted.author = Some(persona.user);
                quoted.author_kind = Some(AuthorKind::Bot);
                quoted.author_name = Some(Arc::clone(&persona.name));
            }
        }
        if message.content.contains('@') {
            let named: Vec<_> = table.all.iter().map(|it| (&*it.name, it.user)).collect();
            if let Cow::Owned(content) = with_mentions(&message.content, &named) {
                message.content = content.into();
            }
        }
        message
    }

    /// The text as Discord shows it: there is no account behind a persona that could be mentioned.
    pub(crate) fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        if text.contains("<@") {
            for known in &self.table().all {
                let mention = format!("<@{}>", known.user);
                if shown.contains(&mention) {
                    shown = shown.replace(&mention, &format!("@{}", known.name)).into();
                }
            }
        }
        shown
    }
}

/// A number for some bytes, the same in each process (FNV-1a).
pub(super) fn digest<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> u64 {
    let bytes = parts.into_iter().flat_map(|part| part.iter().chain(&[0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
