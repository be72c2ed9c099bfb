//! What a slash command shows.

use std::time::Duration;

use serde_json::Value;

use super::{Probe, differs, judge, not_tried, probe};
use crate::evidence::Evidence;
use crate::report::Seen;

pub(crate) const REGISTRATION: [Probe; 1] = [probe(
    "command 3",
    "commands of a server are there at once, as they were written",
    registered,
)];

pub(crate) const USE: [Probe; 4] = [
    probe("command 4", "a use has the member's permissions in the channel", permissions),
    probe("command 5", "an answer needs no token of the bot", no_token),
    probe("command 1", "an answer within 3 s is accepted", answered),
    probe("command 2", "a second first answer is refused with code 40060", answered_again),
];

/// Discord's codes for an interaction that is answered, and for one that is over.
const ANSWERED_BEFORE: u64 = 40_060;

/// How long an answer may take.
const IN_TIME: Duration = Duration::from_secs(3);

const UNUSED: &str = "no person used /dirigent-self-test in time";

fn registered(evidence: &Evidence) -> Option<Seen> {
    let command = &evidence.command;
    let before = command.before.as_ref()?;
    if !before.is_success() {
        return Some(not_tried(format!(
            "the commands cannot be read ({}): is the scope applications.commands missing?",
            before.shown()
        )));
    }
    if !before.list().is_empty() {
        return Some(not_tried(
            "the bot has commands in this server, which a replacement would remove",
        ));
    }
    let (written, read) = (command.written.as_ref()?, command.read_back.as_ref()?);
    if !written.is_success() {
        return Some(differs(format!("the replacement: {}", written.shown())));
    }
    let [found] = read.list() else {
        return Some(differs(format!("{} commands are read back", read.list().len())));
    };
    let expected = command.sent.as_ref()?;
    let differ = |name: &&str| !is_within(expected.get(*name), found.get(*name));
    let differing: Vec<_> =
        ["name", "type", "description", "options"].into_iter().filter(differ).collect();
    Some(judge(
        differing.is_empty(),
        "read back as written",
        format!("read back otherwise: {}", differing.join(", ")),
    ))
}

/// Whether everything that was written is in what was read; more may be there. A switch that is off may be left out.
fn is_within(written: Option<&Value>, read: Option<&Value>) -> bool {
    match (written, read) {
        (None | Some(Value::Bool(false)), None) => true,
        (Some(Value::Array(written)), Some(Value::Array(read))) => {
            written.len() == read.len()
                && written.iter().zip(read).all(|(one, other)| is_within(Some(one), Some(other)))
        }
        (Some(Value::Object(written)), Some(Value::Object(read))) => {
            written.iter().all(|(name, value)| is_within(Some(value), read.get(name)))
        }
        (written, read) => written == read,
    }
}

fn permissions(evidence: &Evidence) -> Option<Seen> {
    let Some(used) = &evidence.command.used else { return Some(not_tried(UNUSED)) };
    let bits = used.data.get("member")?.get("permissions").and_then(Value::as_str);
    let are_there = bits.is_some_and(|bits| bits.parse::<u64>().is_ok());
    Some(judge(are_there, "the permissions are there", "no permissions"))
}

fn no_token(evidence: &Evidence) -> Option<Seen> {
    let Some(_) = evidence.command.used else { return Some(not_tried(UNUSED)) };
    let answer = evidence.command.answered.as_ref()?;
    Some(judge(answer.status != 401, "accepted without one", answer.shown()))
}

fn answered(evidence: &Evidence) -> Option<Seen> {
    let Some(used) = &evidence.command.used else { return Some(not_tried(UNUSED)) };
    let answer = evidence.command.answered.as_ref()?;
    if answer.status == 401 {
        return Some(not_tried("the answer is refused without a token"));
    }
    if answer.answered_at.since(used.at) > IN_TIME {
        return Some(not_tried("the answer came later than 3 s after the use"));
    }
    Some(judge(answer.is_success(), answer.shown(), answer.shown()))
}

fn answered_again(evidence: &Evidence) -> Option<Seen> {
    let Some(_) = evidence.command.used else { return Some(not_tried(UNUSED)) };
    if !evidence.command.answered.as_ref()?.is_success() {
        return Some(not_tried("the first answer is refused"));
    }
    let again = evidence.command.answered_again.as_ref()?;
    Some(judge(again.code() == Some(ANSWERED_BEFORE), again.shown(), again.shown()))
}
