//! The probes: what each assumption expects, and a judge of what was seen.

pub(crate) mod commands;
pub(crate) mod gateway;
pub(crate) mod limits;
pub(crate) mod members;
pub(crate) mod messages;
pub(crate) mod posts;

use super::evidence::Evidence;
use super::report::{Row, Seen};

/// One assumption of `verify/assumptions.md`, and how to see whether it holds.
pub(crate) struct Probe {
    /// Its number in the page.
    pub(crate) assumption: &'static str,
    /// What Discord is assumed to do.
    pub(crate) expected: &'static str,
    /// Judges the evidence; none where some of it is missing.
    pub(crate) see: fn(&Evidence) -> Option<Seen>,
}

impl Probe {
    pub(crate) const fn row(&self, seen: Seen) -> Row {
        Row { assumption: self.assumption, expected: self.expected, seen }
    }
}

const fn probe(
    assumption: &'static str,
    expected: &'static str,
    see: fn(&Evidence) -> Option<Seen>,
) -> Probe {
    Probe { assumption, expected, see }
}

/// The topics of the page, in their order.
const TOPICS: [&str; 6] = ["post", "history", "limit", "sight", "gateway", "command"];

/// Where a row stands in the page.
pub(crate) fn place_in_page(assumption: &str) -> (usize, u32) {
    let (topic, number) = assumption.split_once(' ').unwrap_or((assumption, ""));
    let topic = TOPICS.iter().position(|known| *known == topic).unwrap_or(TOPICS.len());
    (topic, number.parse().unwrap_or(0))
}

fn expected(text: impl Into<String>) -> Seen {
    Seen::Expected(text.into())
}

fn differs(text: impl Into<String>) -> Seen {
    Seen::Differs(text.into())
}

fn not_tried(why: impl Into<String>) -> Seen {
    Seen::NotTried(why.into())
}

/// What is expected if it is so, else what differs.
fn judge(is_so: bool, seen: impl Into<String>, otherwise: impl Into<String>) -> Seen {
    if is_so { expected(seen) } else { differs(otherwise) }
}

/// What is said where the history is needed.
const NO_HISTORY: &str = "the bot may not read the history (Read Message History)";

/// What is said where a second account is needed.
const NO_SECOND: &str =
    "no second bot: set OPTIMIST_TOKEN to the token of one that sees the channel";
