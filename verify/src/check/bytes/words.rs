//! The small vocabulary: few agents, runs, messages and texts, so that all of them meet again.

use dirigent_core::{AgentKey, Author, MessageId, MessageKind, RunId, Settlement, Tail, Timestamp};

use super::super::step::EndOutcome;

/// Agents that exist.
const AGENTS: u8 = 5;
/// What is said: pieces of each other, fences, nothing.
const TEXTS: [&str; 8] =
    ["left right", "left", "right", "t", "", "```\n```", "ght left", "\u{fc}\u{1f3bc}"];
/// Near the checks' beginning, in milliseconds.
const ABOUT_NOW: u64 = 1_750_000_000_000;

/// A moment within some minutes from the checks' beginning.
pub(super) fn moment(unit: u8, amount: u8) -> Timestamp {
    Timestamp::from_millis(ABOUT_NOW + u64::from(unit) * u64::from(amount) * 10)
}

/// Milliseconds between two steps, most of them few, some of them negative.
pub(super) fn delay(unit: u8, amount: u8) -> i64 {
    let amount = i64::from(amount);
    match unit % 16 {
        4 | 5 => amount,
        6 | 7 => amount * 10,
        8 | 9 => amount * 100,
        10 => amount * 1_000,
        11 if unit >= 128 => amount * 20_000,
        12 if unit >= 128 => -amount * 10,
        13 if unit >= 192 => -amount * 1_000,
        14 => 1,
        _ => 0,
    }
}

pub(super) fn agent(byte: u8) -> AgentKey {
    AgentKey::new(u32::from(byte % AGENTS) + 1)
}

pub(super) fn run(byte: u8) -> Option<RunId> {
    (byte % 8 != 0).then(|| RunId::new(u64::from(byte % 8)))
}

/// An id that may have been used; seldom one far off.
pub(super) fn message_id(byte: u8) -> MessageId {
    MessageId::new(u64::from(byte % 64) + if byte >= 248 { 500 } else { 0 })
}

/// How far a new message's id is above the newest: mostly next, sometimes with a gap or late.
pub(super) fn ahead(byte: u8) -> i8 {
    match byte % 8 {
        4 => 9,
        5 => -2,
        6 => -11,
        7 => -13,
        _ => 1,
    }
}

pub(super) fn author(byte: u8) -> Author {
    match byte % 16 {
        0..=5 => Author::Human,
        6 => Author::Bot,
        7 => Author::Moderator,
        _ => Author::Agent(agent(byte / 16)),
    }
}

pub(super) fn kind(byte: u8) -> MessageKind {
    match byte % 16 {
        0 => MessageKind::System,
        1 => MessageKind::StopWord,
        2 | 3 => MessageKind::ResumeWord,
        4 => MessageKind::Unasked,
        5 => MessageKind::OutOfTurn,
        _ => MessageKind::Conversation,
    }
}

pub(super) fn tail(byte: u8) -> Tail {
    let text = TEXTS.get(usize::from(byte) % TEXTS.len()).copied().unwrap_or_default();
    match byte / 8 {
        28 | 29 => Tail::of(text).with_attachment(),
        30 => Tail::from_parts(Tail::of(text).as_str(), None, false), // as older files have it
        31 => Tail::from_parts(Tail::of(text).as_str(), Some(u32::from(byte)), false),
        _ => Tail::of(text),
    }
}

pub(super) fn outcome(how: u8, text: u8) -> EndOutcome {
    match how % 8 {
        0..=2 => EndOutcome::Spoke(Box::new(tail(text))),
        3 if how < 64 => EndOutcome::AwaitsHuman(Box::new(tail(text))),
        3 | 4 => EndOutcome::Unfinished(Box::new(tail(text))),
        6 if how >= 128 => EndOutcome::Repeated,
        5 | 6 => EndOutcome::Pass,
        _ => EndOutcome::Failed,
    }
}

pub(super) fn settlement(how: u8, what: u8) -> Settlement {
    match how % 8 {
        0..=2 => Settlement::Done { message: Some(message_id(what)) },
        3 => Settlement::Done { message: None },
        4 => Settlement::Failed { retry_at: None },
        5 => Settlement::Failed {
            retry_at: Some(Timestamp::from_millis(ABOUT_NOW + u64::from(what) * 200)),
        },
        6 => Settlement::Doubtful,
        _ => Settlement::Dropped,
    }
}

/// A handful of agents: who is in `mask`, in an order that depends on `how`, seldom some twice,
/// very seldom too many.
pub(super) fn agents(mask: u8, how: u8) -> Vec<AgentKey> {
    if how >= 254 {
        let count = 60 + u32::from(mask % 8); // about as many as fit
        return (0..count).map(AgentKey::new).collect();
    }
    let all = (0..AGENTS).filter(|at| mask & (1 << at) != 0);
    let mut listed: Vec<AgentKey> = all.map(agent).collect();
    if how % 4 == 1 {
        listed.reverse();
    }
    if how % 8 == 2 {
        let twice = listed.clone();
        listed.extend(twice);
    }
    listed
}
