//! A chat that remembers nonces for a while, loses answers and hides histories.

use std::sync::Arc;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::*;
use crate::ChatMessage;
use crate::room::reads::PAGE;
use crate::values::message::{AuthorKind, Nonce};

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is answered.
    None,
    /// It is done after this time, and no answer comes.
    Lost(Duration),
    /// It is not done, and no answer comes.
    NotDelivered,
    /// It is refused.
    Refused(ErrorKind),
    /// A rate limit of this length.
    Limited(Duration),
}

/// How a request ends.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// A page, and whether the chat says that the history may be read.
    Page(Vec<ChatMessage>, bool),
    Posted(MessageId),
    Failed(ErrorKind, Certainty, Option<Duration>),
    RoomWoken,
}

#[derive(Clone)]
struct Late {
    at: Timestamp,
    to: ChannelId,
    nonce: Nonce,
    content: Arc<str>,
}

pub(super) struct Chat {
    channels: BTreeMap<ChannelId, Vec<ChatMessage>>,
    newest: u64,
    nonces: HashMap<(ChannelId, Nonce), (MessageId, Timestamp)>,
    late: Vec<Late>,
    pub(super) nonce_memory: Duration,
    pub(super) shows_nonces: bool,
    pub(super) hidden: BTreeSet<ChannelId>,
    /// Whether the chat says that a history may be read.
    pub(super) says_what_is_readable: bool,
}

impl Chat {
    pub(super) fn new() -> Self {
        Self {
            channels: BTreeMap::new(),
            newest: 0,
            nonces: HashMap::new(),
            late: Vec::new(),
            nonce_memory: MINUTE * 2,
            shows_nonces: false,
            hidden: BTreeSet::new(),
            says_what_is_readable: false,
        }
    }

    pub(super) fn say(&mut self, to: ChannelId, author: UserId, content: &str) -> MessageId {
        self.add(to, author, content, None)
    }

    fn add(
        &mut self,
        to: ChannelId,
        author: UserId,
        content: &str,
        nonce: Option<Nonce>,
    ) -> MessageId {
        self.newest += 1;
        let id = MessageId::new(self.newest);
        self.channels.entry(to).or_default().push(ChatMessage {
            author_kind: AuthorKind::Bot,
            nonce,
            ..ChatMessage::new(id, to, author, content)
        });
        id
    }

    /// A post arrives: a known nonce gives the message that it made.
    fn land(&mut self, now: Timestamp, to: ChannelId, nonce: Nonce, content: &str) -> MessageId {
        let key = (to, nonce);
        if let Some((id, _)) = self.nonces.get(&key).filter(|(_, until)| now < *until) {
            return *id;
        }
        let shown = self.shows_nonces.then_some(nonce);
        let id = self.add(to, MODERATOR, content, shown);
        self.nonces.insert(key, (id, now + self.nonce_memory));
        id
    }

    /// Lets arrive what arrives late.
    pub(super) fn settle(&mut self, now: Timestamp) {
        self.late.sort_by_key(|late| late.at);
        while self.late.first().is_some_and(|late| late.at <= now) {
            let Late { at, to, nonce, content } = self.late.remove(0);
            self.land(at, to, nonce, &content);
        }
    }

    pub(super) fn request(
        &mut self,
        now: Timestamp,
        action: &OutboxAction,
        fault: Fault,
    ) -> Answer {
        let no_answer = Answer::Failed(ErrorKind::NoAnswer, Certainty::Unknown, None);
        match (fault, action) {
            (Fault::Limited(wait), _) => {
                Answer::Failed(ErrorKind::RateLimited, Certainty::NotDone, Some(wait))
            }
            (Fault::Refused(kind), _) => Answer::Failed(kind, Certainty::NotDone, None),
            (Fault::Lost(after), OutboxAction::Post { to, nonce, content, .. }) => {
                let (nonce, content) = (*nonce, content.clone());
                self.late.push(Late { at: now + after, to: *to, nonce, content });
                self.settle(now);
                no_answer
            }
            (Fault::Lost(_) | Fault::NotDelivered, _) => no_answer,
            (Fault::None, OutboxAction::Post { to, nonce, content, .. }) => {
                Answer::Posted(self.land(now, *to, *nonce, content))
            }
            (Fault::None, OutboxAction::NewestIn { to }) => {
                Answer::Page(self.visible(*to).last().cloned().into_iter().collect(), false)
            }
            (Fault::None, OutboxAction::FindPage { to, after }) => {
                let behind = self.visible(*to).iter().filter(|message| message.id > *after);
                let page = behind.take(usize::from(PAGE)).cloned().collect();
                Answer::Page(page, self.says_what_is_readable && !self.hidden.contains(to))
            }
            (Fault::None, OutboxAction::WakeRoom { .. }) => Answer::RoomWoken,
        }
    }

    fn visible(&self, channel: ChannelId) -> &[ChatMessage] {
        let messages = self.channels.get(&channel).map(Vec::as_slice).unwrap_or_default();
        if self.hidden.contains(&channel) { &[] } else { messages }
    }

    /// What the moderator posted in a channel.
    pub(super) fn posted(&self, channel: ChannelId) -> Vec<&str> {
        let messages = self.channels.get(&channel).map(Vec::as_slice).unwrap_or_default();
        let own = messages.iter().filter(|message| message.author == MODERATOR);
        own.map(|message| &*message.content).collect()
    }
}
