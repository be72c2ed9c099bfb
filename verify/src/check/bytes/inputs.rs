//! Steps that fit or do not.

use std::sync::Arc;

use dirigent_core::{Creation, Input, Message, MessageKind, Mode, Ticket, WakeCause};

use super::super::step::{late_message, message};
use super::words;

/// One input; `kind` is below 91.
pub(super) fn input(kind: u8, details: [u8; 5]) -> Input {
    match kind {
        0..=44 => about_runs_and_messages(kind, details),
        _ => about_people_and_modes(kind, details),
    }
}

/// Gate calls, ends, messages and answers.
fn about_runs_and_messages(kind: u8, details: [u8; 5]) -> Input {
    let [a, b, c, d, last] = details;
    match kind {
        0..=11 => Input::Gate {
            agent: (a % 16 != 0).then(|| words::agent(a / 16)),
            run: words::run(b),
            latest: (c % 4 == 0).then(|| words::message_id(d)),
        },
        17 if d < 96 => Input::Replied {
            agent: words::agent(a),
            run: words::run(b),
            next: (c % 4 == 0).then(|| words::agent(c / 4)),
        },
        20 if d < 96 => {
            let (agent, run) = (words::agent(a), words::run(b));
            Input::Undelivered { agent, run, posted: c % 2 == 0 }
        }
        12..=17 => Input::RunEnded {
            agent: words::agent(a),
            run: words::run(b),
            outcome: words::outcome(c, d).outcome(),
        },
        18..=20 => Input::Receipt {
            agent: words::agent(a),
            run: words::run(b),
            messages: (0..c % 4).map(|i| words::message_id(d.wrapping_add(i))).collect(),
        },
        21..=32 => {
            let id = words::message_id(a).get();
            let message = if last >= 200 { late_message } else { message };
            message(id, words::author(b), words::kind(c), &words::tail(d))
        }
        33..=36 => Input::MessageEdited {
            id: words::message_id(a),
            author: words::author(b),
            tail: words::tail(c),
        },
        37..=39 => {
            Input::Members { ticket: Ticket::new(u64::from(a)), agents: words::agents(b, c) }
        }
        40..=43 => Input::Settled {
            ticket: Ticket::new(u64::from(a)),
            settlement: words::settlement(b, c),
        },
        _ => {
            let id = u64::from(a) * 64 + u64::from(b);
            message(id, words::author(c), MessageKind::Conversation, &words::tail(last))
        }
    }
}

/// Comings and goings, orders, modes.
fn about_people_and_modes(kind: u8, details: [u8; 5]) -> Input {
    let [a, b, c, d, last] = details;
    match kind {
        45 | 46 => Input::MemberJoined(words::agent(a)),
        47..=53 | 58 | 59 | 87..=89 => about_absence_and_choices(kind, details),
        54..=57 => Input::Wake {
            first: (a % 4 != 0).then(|| words::agent(a / 4)),
            cause: match b % 6 {
                0 | 1 => WakeCause::Operator,
                2 => WakeCause::Guide,
                3 => WakeCause::Result,
                _ => WakeCause::Unheard,
            },
        },
        63 | 90 => Input::Chat { away: b < 112 },
        65 => Input::Chat { away: b < 24 },
        60 if b < 64 => Input::Conclude { by: words::agent(a) },
        61 if b < 48 => Input::Archive,
        62 if (128..192).contains(&a) => Input::Deleted(words::message_id(b)),
        62 if a >= 192 => Input::EditedToStop(words::message_id(b)),
        62 => Input::Stop,
        64 => Input::Hold,
        66..=69 => Input::Resume,
        70 if d < 128 => {
            let until = (b < 160).then(|| words::moment(b, c));
            Input::MayNotWrite { agent: words::agent(a), until }
        }
        70 => Input::MayWrite(words::agent(a)),
        71 | 72 => Input::Mute(words::agent(a)),
        73..=75 => Input::Unmute(words::agent(a)),
        76..=78 => Input::RunsLost { rerun: a % 2 == 0 },
        79 | 80 => {
            let mut config = super::config_from_bytes([a, b, c, d, last, a, b, c]);
            if a == b {
                config.ceilings.chat.turns = Some(0);
            }
            Input::Reconfigure(Arc::new(config))
        }
        81..=83 if last < 128 => Input::SetMode(mode(a)),
        84..=86 => Input::Create(Creation {
            mode: mode(a),
            members: words::agents(b, c),
            initiator: (mode(a) == Mode::Discussion || d % 16 == 0).then(|| words::agent(last)),
        }),
        _ => Input::Tick,
    }
}

/// Crashes and returns, choices, budgets, and what a human says to some.
fn about_absence_and_choices(kind: u8, details: [u8; 5]) -> Input {
    let [a, b, c, d, _] = details;
    match kind {
        47 => Input::Assign(words::agent(a)),
        48 => Input::SpeakNext(words::agent(a)),
        49 | 50 => Input::MemberLeft(words::agent(a)),
        51 | 88 => Input::Offline(words::agent(a)),
        52 | 53 => Input::Online(words::agent(a)),
        58 => Input::Spent { cost: u64::from(a % 8) },
        59 if a >= 128 => Input::Removed(words::agent(b)),
        59 => Input::Finish,
        87 if a < 128 => Input::ResetBudget,
        89 if a < 128 => Input::TriggerAgain,
        _ => {
            let message = Message {
                id: words::message_id(a),
                author: words::author(b),
                kind: words::kind(c),
                tail: words::tail(d),
                backfilled: a ^ d >= 160,
            };
            Input::Addressed { message, agents: words::agents(b ^ d, c) }
        }
    }
}

/// A mode, more often one that keeps turns.
fn mode(byte: u8) -> Mode {
    match byte % 8 {
        0..=2 => Mode::Chat,
        3 | 4 => Mode::Discussion,
        5 => Mode::None,
        6 => Mode::Report,
        _ => Mode::Work,
    }
}
