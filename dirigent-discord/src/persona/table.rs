//! The known personas of an account and their webhooks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::hooks::RunId;
use dirigent::host::plain::folded;
use dirigent::ports::{AuthorKind, Timestamp, with_mentions};
use dirigent::{ChannelId, ChatMessage, UserId};

use crate::wire::is_short;
use crate::{SetupIssue, wire};

/// The most webhooks that Discord allows in a channel.
const WEBHOOKS_MAX: usize = 15;

/// The lifetime of the answer that a name is free.
const NAME_KEPT: Duration = Duration::from_secs(600);

/// The pause between two reads while a channel has no room for a persona's webhook.
const READ_AGAIN: Duration = Duration::from_secs(60);

/// The first number of personas. Discord's ids do not reach it before 2084.
const FIRST: u64 = 1 << 63;

/// Returns true if this is a persona's number, and not an account of Discord's.
pub(crate) const fn is_persona(user: UserId) -> bool {
    user.get() >= FIRST
}

/// A webhook of a persona. It has no `Debug`, because its token is a secret.
#[derive(Clone)]
pub(crate) struct Webhook {
    pub(crate) id: UserId,
    pub(crate) token: Arc<str>,
}

/// The place of webhooks that post in a channel. Those of a thread are in its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    pub(crate) channel: u64,
    pub(crate) guild: u64,
}

impl Home {
    /// Returns the thread, if the channel is one.
    pub(crate) fn thread(&self, channel: ChannelId) -> Option<u64> {
        (channel.get() != self.channel).then_some(channel.get())
    }
}

#[derive(Default)]
pub(crate) struct Personas(Mutex<Table>);

#[derive(Default)]
struct Table {
    all: Vec<NamedPersona>,
    /// The channels with known webhooks.
    channels: HashMap<u64, Listed>,
    /// The places of channels and threads, if no gateway reported them.
    homes: HashMap<ChannelId, Home>,
    /// The persona and the channel of each webhook, including deleted ones.
    authors: HashMap<UserId, (UserId, u64)>,
    /// Whether a persona's name is free in a guild, because no member has it, and when that was checked.
    names: HashMap<(u64, UserId), (bool, Timestamp)>,
}

struct NamedPersona {
    user: UserId,
    name: Arc<str>,
    folded: String,
}

#[derive(Default)]
struct Listed {
    webhooks: HashMap<UserId, Webhook>,
    /// The number of all webhooks there, or `None` if this account may not read them.
    used: Option<usize>,
    at: Timestamp,
}

impl Personas {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a persona. Returns its number, or the name of one that looks like it.
    pub(super) fn add(&self, name: &str, folded: &str) -> Result<UserId, String> {
        let user = UserId::new(FIRST | (RunId::from_text(folded).get() >> 1));
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

    /// Returns the persona's name, and its form for comparison with similar names.
    pub(crate) fn name(&self, persona: UserId) -> Option<(Arc<str>, String)> {
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

    /// Stores the personas' webhooks of a channel, which are among `used` in all.
    pub(super) fn list(
        &self,
        home: u64,
        found: Vec<(UserId, Webhook)>,
        used: usize,
        at: Timestamp,
    ) {
        let mut table = self.table();
        let authors = found.iter().map(|(persona, webhook)| (webhook.id, (*persona, home)));
        table.authors.extend(authors);
        let (webhooks, used) = (found.into_iter().collect(), Some(used));
        table.channels.insert(home, Listed { webhooks, used, at });
    }

    /// Records that this account may not read the channel's webhooks, and so cannot create any. Known ones can be used.
    pub(super) fn bar(&self, home: u64, at: Timestamp) {
        let mut table = self.table();
        let listed = table.channels.entry(home).or_default();
        (listed.used, listed.at) = (None, at);
    }

    pub(super) fn made(&self, home: u64, persona: UserId, webhook: Webhook) {
        let mut table = self.table();
        table.authors.insert(webhook.id, (persona, home));
        let listed = table.channels.entry(home).or_default();
        listed.used = listed.used.map(|used| used + 1);
        listed.webhooks.insert(persona, webhook);
    }

    pub(super) fn webhook(&self, home: u64, persona: UserId) -> Option<Webhook> {
        self.table().channels.get(&home)?.webhooks.get(&persona).cloned()
    }

    /// Forgets a persona's webhook that no longer exists. Its messages still belong to the persona.
    pub(super) fn forget(&self, home: u64, persona: UserId, webhook: UserId) {
        if let Some(listed) = self.table().channels.get_mut(&home)
            && listed.webhooks.get(&persona).is_some_and(|known| known.id == webhook)
        {
            listed.webhooks.remove(&persona);
            listed.used = listed.used.map(|used| used.saturating_sub(1));
        }
    }

    pub(crate) fn forget_channel(&self, gone: u64) {
        let mut table = self.table();
        table.channels.remove(&gone);
        table.homes.retain(|channel, home| channel.get() != gone && home.channel != gone);
        table.authors.retain(|_, (_, home)| *home != gone);
    }

    /// Returns true if the channel's webhooks must be read again. They could not be read, or a persona has no place
    /// among them, and people may have changed that.
    pub(super) fn is_stale(&self, home: u64, now: Timestamp) -> bool {
        let lacks = self.shortage(home).is_some();
        let is_old = |it: &Listed| (lacks || it.used.is_none()) && now.since(it.at) >= READ_AGAIN;
        self.table().channels.get(&home).is_some_and(is_old)
    }

    /// Returns true if this is, or was, the webhook of a persona.
    pub(crate) fn is_their_webhook(&self, author: UserId) -> bool {
        self.table().authors.contains_key(&author)
    }

    /// Reads webhooks again that could not be read, because permissions may have changed.
    pub(crate) fn ask_again_in(&self, channels: &[ChannelId]) {
        let mut table = self.table();
        for channel in channels {
            if let Some(listed) = table.channels.get_mut(&channel.get())
                && listed.used.is_none()
            {
                listed.at = Timestamp::default();
            }
        }
    }

    /// Returns the personas that can post in the channel. These are the ones with a webhook there, and as many others
    /// as Discord allows, in the order of their setup.
    pub(super) fn with_place(&self, home: u64, may_make: bool) -> Vec<UserId> {
        let table = self.table();
        let Some(listed) = table.channels.get(&home) else {
            return Vec::new();
        };
        let used = listed.used.filter(|_| may_make).unwrap_or(WEBHOOKS_MAX);
        let mut free = WEBHOOKS_MAX.saturating_sub(used);
        let mut has_place = |known: &&NamedPersona| {
            let has_webhook = listed.webhooks.contains_key(&known.user);
            let takes = !has_webhook && free > 0;
            free -= usize::from(takes);
            has_webhook || takes
        };
        table.all.iter().filter(|known| has_place(known)).map(|known| known.user).collect()
    }

    /// Returns how many personas cannot have a webhook in the channel, because Discord allows no more.
    pub(crate) fn shortage(&self, home: u64) -> Option<SetupIssue> {
        let table = self.table();
        let listed = table.channels.get(&home)?;
        let wanted = table.all.iter().filter(|it| !listed.webhooks.contains_key(&it.user));
        let missing = (listed.used? + wanted.count()).saturating_sub(WEBHOOKS_MAX);
        (missing > 0).then_some(SetupIssue::TooManyWebhooks(ChannelId::new(home), missing))
    }

    /// Returns true if no member of the guild has the persona's name, as far as that was checked lately.
    pub(super) fn is_name_free(&self, guild: u64, persona: UserId, now: Timestamp) -> Option<bool> {
        let (is_free, at) = self.table().names.get(&(guild, persona)).copied()?;
        (now.since(at) < NAME_KEPT).then_some(is_free)
    }

    pub(super) fn set_name_free(&self, guild: u64, persona: UserId, is_free: bool, now: Timestamp) {
        let names = &mut self.table().names;
        names.retain(|_, (_, at)| now.since(*at) < NAME_KEPT);
        names.insert((guild, persona), (is_free, now));
    }

    /// Returns the personas with the name of a new or changed member.
    pub(crate) fn named_like(
        &self,
        guild: u64,
        member: &wire::Member,
        now: Timestamp,
    ) -> Vec<UserId> {
        if self.is_empty() {
            return Vec::new();
        }
        let names: Vec<_> = member.names().map(folded).collect();
        let has = |known: &&NamedPersona| names.contains(&known.folded);
        let found: Vec<_> = self.table().all.iter().filter(has).map(|known| known.user).collect();
        for persona in &found {
            self.set_name_free(guild, *persona, false, now);
        }
        found
    }

    /// Returns true if the author of a webhook's message is still unknown, because this channel's webhooks were not
    /// read.
    pub(crate) fn is_unclear(&self, home: ChannelId) -> bool {
        let table = self.table();
        !table.all.is_empty() && !table.channels.contains_key(&home.get())
    }

    /// Returns the message with its author as the library knows it. A post of a persona's webhook belongs to the
    /// persona, and an answer to it answers the persona. If a person writes a persona's name after an `@`, that
    /// mentions it; an agent's text stays as it was posted.
    pub(crate) fn told(&self, mut message: ChatMessage) -> ChatMessage {
        let by_person = matches!(message.author_kind, AuthorKind::Human | AuthorKind::Bridged);
        let may_mention = by_person && message.content.contains('@');
        let by_webhook = message.author_kind == AuthorKind::Webhook;
        if !may_mention && !by_webhook && message.quoted.is_none() {
            return message;
        }
        let table = self.table();
        if table.all.is_empty() {
            return message;
        }
        let author = |user: UserId, kind: Option<AuthorKind>| {
            let (persona, _) =
                table.authors.get(&user).filter(|_| kind == Some(AuthorKind::Webhook))?;
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
        if may_mention {
            let named: Vec<_> = table.all.iter().map(|it| (&*it.name, it.user)).collect();
            if let Cow::Owned(content) = with_mentions(&message.content, &named) {
                message.content = content.into();
            }
        }
        message
    }

    /// Returns the text as it is posted. A persona has no account that could be mentioned, so its name stands there, if
    /// it fits.
    pub(crate) fn posted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        if text.contains("<@") {
            for known in &self.table().all {
                let mention = format!("<@{}>", known.user);
                if shown.contains(&mention) {
                    shown = shown.replace(&mention, &format!("@{}", known.name)).into();
                }
            }
        }
        if is_short(&shown) { shown } else { Cow::Borrowed(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    /// It is not known how many there are, which is not the same as too many.
    #[test]
    fn webhooks_that_could_not_be_read_are_not_fifteen() {
        let personas = Personas::default();
        let critic = personas.add("Critic", "critic").unwrap();
        personas.bar(7, NOW);
        assert_eq!(personas.shortage(7), None);
        assert!(personas.with_place(7, true).is_empty());
        assert!(!personas.is_stale(7, NOW) && personas.is_stale(7, NOW + READ_AGAIN));
        personas.ask_again_in(&[ChannelId::new(7)]);
        assert!(personas.is_stale(7, NOW));
        personas.list(7, Vec::new(), 14, NOW);
        assert_eq!(personas.with_place(7, true), [critic]);
    }
}
