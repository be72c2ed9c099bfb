//! Steps that fit what is going on.

use super::super::step::{Act, Step};
use super::words;

/// One fitting step; `kind` is below 128.
pub(super) fn act(kind: u8, after: i64, details: [u8; 5]) -> Step {
    let [a, b, c, d, _] = details;
    let act = match kind {
        0..=15 => Act::GateAnew,
        16..=23 => Act::Gate { run: words::run(a) },
        24..=43 => Act::End {
            outcome: words::outcome(a, b),
        },
        44..=47 => Act::Receipt { count: a % 4 },
        48..=63 => Act::SpeakerSays {
            tail: Box::new(words::tail(a)),
        },
        64..=83 => Act::Say {
            author: words::author(a),
            kind: words::kind(b),
            tail: Box::new(words::tail(c)),
        },
        84..=87 => Act::Edit {
            back: a % 4,
            tail: Box::new(words::tail(b)),
        },
        88..=103 => Act::Members {
            agents: words::agents(a | d, b),
        },
        _ => Act::Settle {
            nth: a % 4,
            settlement: words::settlement(b, c),
        },
    };
    Step::act(after, act)
}
