//! Steps that fit what is going on.

use super::super::step::{Act, Step};
use super::words;

/// One fitting step; `kind` is below 128.
pub(super) fn act(kind: u8, after: i64, details: [u8; 5]) -> Step {
    let [a, b, c, d, last] = details;
    let act = match kind {
        0..=49 => Act::Proceed {
            choice: a,
            ahead: words::ahead(last),
            tail: Box::new(words::tail(b)),
            agents: words::agents(c | d, b),
        },
        50 | 51 => Act::Address { agents: words::agents(a, b) },
        52 => Act::Choose { place: a },
        53 => Act::Crash { place: (b % 4 != 0).then_some(a) },
        54 | 55 => Act::Return { assigned: kind == 54, agent: words::agent(a) },
        56..=59 => Act::GateAnew,
        60 | 61 => Act::Answer { settlement: words::settlement(a, b) },
        62 | 63 => Act::Gate { run: words::run(a) },
        64 | 65 => Act::GateAgain,
        73..=75 => Act::Reply { next: (b % 2 == 0).then(|| words::agent(a)) },
        86 | 87 => Act::GiveUp { posted: a % 2 == 0 },
        99..=101 => {
            Act::SayLate { back: b % 16, author: words::author(a), tail: Box::new(words::tail(c)) }
        }
        66..=75 => Act::End { outcome: words::outcome(a, b) },
        76..=78 => Act::Receipt { count: if a >= 240 { a } else { a % 4 } },
        79..=87 => Act::SpeakerSays { ahead: words::ahead(b), tail: Box::new(words::tail(a)) },
        88..=101 => Act::Say {
            author: words::author(a),
            kind: words::kind(b),
            tail: Box::new(words::tail(c)),
        },
        104 | 105 => Act::Delete { back: a % 2 },
        102..=105 => Act::Edit { back: a % 4, tail: Box::new(words::tail(b)) },
        113 => Act::Forbid {
            place: (b % 4 != 0).then_some(a),
            millis: (c < 160).then_some(u16::from(d) * 16),
        },
        106..=112 => Act::Members { agents: words::agents(a | d, b) },
        _ => Act::Settle { nth: a % 4, settlement: words::settlement(b, c) },
    };
    Step::act(after, act)
}
