//! Outbox messages against a small chat, a small store and kills.

mod bench;
mod chat;
mod delivery;
mod doubt;
mod kills;
mod world;

use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use self::bench::{Bench, OutboxAction};
use self::chat::Fault;
use self::world::World;
use super::*;
use crate::record::channel::OutgoingPart;
use crate::values::error::{Certainty, ErrorKind};
use crate::values::message::Nonce;
use crate::{ChannelId, UserId};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const OWN: ChannelId = ChannelId::new(1);
const CALLBACK: ChannelId = ChannelId::new(2);
const MODERATOR: UserId = UserId::new(3);
const PERSON: UserId = UserId::new(4);
const FACTS: ChannelFacts = ChannelFacts { may_be_hidden: true, newest: None, is_heard: true };

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000_000 + millis)
}

fn guide(parts: u32) -> OutboxMessage {
    message(OutboxKind::Guide, OWN, parts)
}

fn result(parts: u32) -> OutboxMessage {
    message(OutboxKind::Result, CALLBACK, parts)
}

/// A message of `parts` parts with short words, as it is when it was just written.
fn message(kind: OutboxKind, to: ChannelId, parts: u32) -> OutboxMessage {
    let written = OutboxMessage::new(kind, OWN, to, at(0), ("", 2_000));
    let part = |number: u32| OutgoingPart {
        content: format!("{kind:?} {number}").into(),
        nonce: Nonce::from_parts(to.get(), 7, number.into()),
        posted: None,
    };
    OutboxMessage { parts: (0..parts).map(part).collect(), ..written }
}
