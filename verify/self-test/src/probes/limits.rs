//! What the first request shows.

use super::{Probe, judge, probe};
use crate::evidence::Evidence;
use crate::report::Seen;

pub(crate) const IDENTITY: [Probe; 1] =
    [probe("limit 9", "a request with the bot's user agent is accepted", user_agent)];

/// Discord's code for a user agent that it does not accept.
pub(crate) const BAD_AGENT: u64 = 40_333;

fn user_agent(evidence: &Evidence) -> Option<Seen> {
    let answer = evidence.user_agent.as_ref()?;
    if answer.code() != Some(BAD_AGENT) && !answer.is_success() {
        return None;
    }
    Some(judge(answer.is_success(), answer.shown(), answer.shown()))
}
