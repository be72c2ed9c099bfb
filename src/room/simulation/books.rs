//! What is known from outside, and what must always hold.

use std::collections::HashMap;
use std::time::Duration;

use dirigent_core::{AgentKey, MessageId, Timestamp};

use super::super::action::ActionId;
use crate::record::channel::OutgoingPart;

/// What a person said and no agent was handed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) id: MessageId,
    pub(super) at: Timestamp,
    /// An event told the room of it in this process.
    pub(super) heard: bool,
}

/// A reply that the room has taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenReply {
    pub(super) agent: AgentKey,
    /// Its name: see [`delivery`].
    pub(super) name: u64,
    pub(super) parts: usize,
}

/// The name of what these parts are: that of the first one.
pub(super) fn delivery(parts: &[OutgoingPart]) -> u64 {
    let first = parts.first().map_or("", |part| part.nonce.as_str());
    first.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) broken: Option<String>,
    pub(super) words: Vec<Word>,
    /// Where each part of a reply or outbox message belongs: by nonce, the delivery and the part's place.
    parts: HashMap<String, (u64, usize)>,
    /// How many parts of each delivery are in their channel.
    landed: HashMap<u64, usize>,
    pub(super) reply: Option<OpenReply>,
    /// Ids of actions that this process has started.
    started: Vec<bool>,
    dropped: Vec<ActionId>,
    /// Since when a grant waits although everything is stored.
    pub(super) grant_waits: Option<Timestamp>,
    /// How many events were looked at.
    pub(super) looks: u64,
    /// Until when the chat wants no history to be read.
    pub(super) reads_limited_until: Timestamp,
}

impl Books {
    pub(super) fn fail(&mut self, why: String) {
        self.broken.get_or_insert(why);
    }

    pub(super) fn spoken(&mut self, id: MessageId, at: Timestamp) {
        self.words.push(Word { id, at, heard: false });
    }

    pub(super) fn heard(&mut self, id: MessageId) {
        if let Some(word) = self.words.iter_mut().find(|word| word.id == id) {
            word.heard = true;
        }
    }

    /// A page had this message. One that is too old by then wakes nothing, and comes with the next turn.
    pub(super) fn read(&mut self, id: MessageId, is_recent: impl Fn(Timestamp) -> bool) {
        if let Some(word) = self.words.iter_mut().find(|word| word.id == id) {
            word.heard |= is_recent(word.at);
        }
    }

    /// An agent was given these messages.
    pub(super) fn handed(&mut self, ids: impl IntoIterator<Item = MessageId>) {
        if self.words.is_empty() {
            return;
        }
        for id in ids {
            self.words.retain(|word| word.id != id);
        }
    }

    /// An agent that reads the channel runs: it sees everything.
    pub(super) fn all_seen(&mut self) {
        self.words.clear();
    }

    /// No action has a name that another one had.
    pub(super) fn begun(&mut self, id: ActionId) {
        let at = usize::try_from(id.0).unwrap_or(usize::MAX);
        if self.started.len() <= at {
            self.started.resize(at + 1, false);
        }
        if std::mem::replace(&mut self.started[at], true) {
            self.fail(format!("two actions have the name {id:?}"));
        }
    }

    /// A part is about to be posted.
    pub(super) fn part_leaves(&mut self, nonce: &str, delivery: u64, place: usize) {
        self.parts.entry(nonce.to_owned()).or_insert((delivery, place));
    }

    /// A new message stands in a channel.
    pub(super) fn part_landed(&mut self, nonce: &str) {
        let Some((delivery, place)) = self.parts.get(nonce).copied() else {
            return;
        };
        let landed = self.landed.entry(delivery).or_default();
        if place < *landed {
            return self.fail(format!("part {place} of delivery {delivery:#x} is posted twice"));
        }
        if place > *landed {
            return self.fail(format!("part {place} of delivery {delivery:#x} comes too early"));
        }
        *landed += 1;
    }

    pub(super) fn parts_landed(&self, delivery: u64) -> usize {
        self.landed.get(&delivery).copied().unwrap_or(0)
    }

    pub(super) fn dropped(&mut self, id: ActionId) {
        self.dropped.push(id);
    }

    pub(super) fn is_dropped(&self, id: ActionId) -> bool {
        self.dropped.contains(&id)
    }

    /// The process was killed: what it heard and did not hand over is handed over by the next one.
    pub(super) fn killed(&mut self) {
        self.words.iter_mut().for_each(|word| word.heard = false);
    }

    pub(super) fn loaded(&mut self) {
        self.reply = None;
        self.started.clear();
        self.dropped.clear();
        self.grant_waits = None;
    }

    /// What was said before does not have to be handed over any more.
    pub(super) fn forget_words(&mut self) {
        self.words.clear();
    }

    /// A reply that is gone is whole, or its rest is kept for its agent.
    pub(super) fn replies(&mut self, now: Option<OpenReply>, is_kept: impl Fn(AgentKey) -> bool) {
        let Some(was) = self.reply.filter(|was| Some(was.name) != now.map(|now| now.name)) else {
            self.reply = now;
            return;
        };
        self.reply = now;
        let landed = self.parts_landed(was.name);
        if landed < was.parts && !is_kept(was.agent) {
            self.fail(format!("{landed} of {} parts are posted, and the rest is lost", was.parts));
        }
    }

    /// A cancelled call is over, or dropped, ten seconds later.
    pub(super) fn cancelled(&mut self, id: ActionId, at: Timestamp, now: Timestamp) {
        if now.since(at) > Duration::from_secs(10) && !self.is_dropped(id) {
            self.fail(format!("call {id:?} was cancelled at {at:?} and is not dropped at {now:?}"));
        }
    }
}
