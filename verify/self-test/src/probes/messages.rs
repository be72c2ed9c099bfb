//! What happens to messages.

use serde_json::Value;

use super::{NO_HISTORY, NO_SECOND, Probe, differs, judge, not_tried, probe};
use crate::evidence::Evidence;
use crate::report::Seen;
use crate::rights::{MANAGE_MESSAGES, rights};

pub(crate) const EDIT: [Probe; 1] =
    [probe("gateway 8", "a change is pushed with its new text", edit)];

pub(crate) const DELETION: [Probe; 4] = [
    probe("gateway 11", "a deletion is pushed with the ids of message and channel", deletion),
    probe("post 9", "a second deletion is refused with 404, code 10008", deleted_twice),
    probe("post 8", "an answer to a deleted message is posted without a reference", reply),
    probe("sight 1", "a right is what roles and overwrites say; else 403, code 50013", right),
];

pub(crate) const TYPING: [Probe; 1] =
    [probe("command 6", "\"is typing\" is accepted, and others see it", typing)];

/// Discord's codes of an unknown message, and of a missing permission.
const UNKNOWN_MESSAGE: u64 = 10_008;
const MISSING_PERMISSIONS: u64 = 50_013;

fn edit(evidence: &Evidence) -> Option<Seen> {
    let edit = evidence.edit.as_ref()?;
    if !edit.answer.is_success() {
        return Some(differs(edit.answer.shown()));
    }
    let updates = evidence.first_events.iter().filter(|it| it.is("MESSAGE_UPDATE", edit.message));
    let texts: Vec<_> =
        updates.map(|event| event.data.get("content").and_then(Value::as_str)).collect();
    let otherwise =
        if texts.is_empty() { "no MESSAGE_UPDATE" } else { "MESSAGE_UPDATE without the new text" };
    Some(judge(texts.contains(&Some(edit.text.as_str())), "MESSAGE_UPDATE has it", otherwise))
}

fn deletion(evidence: &Evidence) -> Option<Seen> {
    let deletion = evidence.deletion.as_ref()?;
    if !deletion.first.is_success() {
        return Some(differs(deletion.first.shown()));
    }
    let Some(event) = evidence.first_event("MESSAGE_DELETE", deletion.message) else {
        return Some(differs("no MESSAGE_DELETE"));
    };
    let channel = event.data.get("channel_id").and_then(Value::as_str);
    let is_here = channel == Some(evidence.channel.to_string().as_str());
    Some(judge(is_here, "MESSAGE_DELETE has both", "MESSAGE_DELETE without the channel"))
}

fn deleted_twice(evidence: &Evidence) -> Option<Seen> {
    let again = evidence.deletion.as_ref()?.again.as_ref()?;
    let is_so = again.status == 404 && again.code() == Some(UNKNOWN_MESSAGE);
    Some(judge(is_so, again.shown(), again.shown()))
}

fn reply(evidence: &Evidence) -> Option<Seen> {
    let reply = evidence.deletion.as_ref()?.reply.as_ref()?;
    if !evidence.reads_history() {
        return Some(not_tried(NO_HISTORY));
    }
    if !reply.is_success() {
        return Some(differs(reply.shown()));
    }
    let reference = reply.body.get("message_reference").filter(|it| !it.is_null());
    Some(judge(reference.is_none(), "posted, without a reference", "posted with a reference"))
}

fn right(evidence: &Evidence) -> Option<Seen> {
    let Some(second) = evidence.second else { return Some(not_tried(NO_SECOND)) };
    let answer = evidence.foreign_deletion.as_ref()?;
    let guild = &evidence.second_event("GUILD_CREATE", evidence.guild)?.data;
    let Some(rights) = rights(guild, evidence.channel, second) else {
        return Some(not_tried("GUILD_CREATE does not say what the second bot may do here"));
    };
    let may = rights & MANAGE_MESSAGES != 0;
    let is_so = if may {
        answer.is_success()
    } else {
        answer.status == 403 && answer.code() == Some(MISSING_PERMISSIONS)
    };
    let word = if may { "may" } else { "may not" };
    let seen = format!("the second bot {word} manage messages: {}", answer.shown());
    Some(judge(is_so, seen.clone(), seen))
}

fn typing(evidence: &Evidence) -> Option<Seen> {
    let answer = evidence.typing.as_ref()?;
    if !answer.is_success() {
        return Some(differs(answer.shown()));
    }
    if evidence.second.is_none() {
        return Some(not_tried(format!("{}; {NO_SECOND}", answer.shown())));
    }
    let is_seen = evidence.second_events.iter().any(|event| event.is_typing(evidence.first));
    Some(judge(is_seen, "TYPING_START reaches the second bot", "no TYPING_START"))
}
