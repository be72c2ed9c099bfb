//! What connections show.

use serde_json::Value;

use super::posts;
use super::{Probe, differs, expected, judge, not_tried, probe};
use crate::account::id_in;
use crate::evidence::{CONTENT_GRANTED, Evidence};
use crate::report::Seen;

pub(crate) const CONNECTION: [Probe; 4] = [
    probe("gateway 7", "the application's flags say which intents are switched on", flags),
    probe("sight 7", "GUILD_CREATE has channels, roles, threads and the bot's member", guild),
    posts::HISTORY_AT_ONCE,
    posts::SAME_NONCE,
];

pub(crate) const RESUME: [Probe; 1] =
    [probe("gateway 3", "a resumed session replays what was missed, then RESUMED", resume)];

fn flags(evidence: &Evidence) -> Option<Seen> {
    let connection = evidence.connection.as_ref()?;
    let is_granted = evidence.is_granted(CONTENT_GRANTED)?;
    match (is_granted, connection.closed) {
        (true, None) => Some(judge(
            connection.has_content,
            "set, and the intent is accepted",
            "set, and no session began",
        )),
        (false, Some(4014)) => Some(expected("not set, and the intent is refused with 4014")),
        (true, Some(code)) => Some(differs(format!("set, and closed with {code}"))),
        (false, None) => Some(differs("not set, and the intent is accepted")),
        (false, Some(code)) => Some(differs(format!("not set, and closed with {code}"))),
    }
}

fn guild(evidence: &Evidence) -> Option<Seen> {
    let data = &evidence.first_event("GUILD_CREATE", evidence.guild)?.data;
    let list = |name: &str| data.get(name).and_then(Value::as_array);
    let has_room = ["channels", "threads"]
        .into_iter()
        .filter_map(list)
        .flatten()
        .any(|room| id_in(room) == Some(evidence.channel));
    let mut members = list("members").into_iter().flatten();
    let has_me = members.any(|member| member.get("user").and_then(id_in) == Some(evidence.first));
    let has_roles = list("roles").is_some_and(|roles| !roles.is_empty());
    let missing: Vec<_> = [
        (has_room, "the channel"),
        (has_roles, "roles"),
        (list("threads").is_some(), "threads"),
        (has_me, "the bot's member"),
    ]
    .into_iter()
    .filter_map(|(is_there, name)| (!is_there).then_some(name))
    .collect();
    Some(judge(missing.is_empty(), "all four", format!("missing: {}", missing.join(", "))))
}

fn resume(evidence: &Evidence) -> Option<Seen> {
    let resume = evidence.resume.as_ref()?;
    let missed = resume.missed?;
    let place = |is_it: &dyn Fn(&str, Option<u64>) -> bool| {
        resume.events.iter().position(|event| is_it(&event.name, id_in(&event.data)))
    };
    let replayed = place(&|name, id| name == "MESSAGE_CREATE" && id == Some(missed));
    let resumed = place(&|name, _| name == "RESUMED");
    let is_new = place(&|name, _| name == "READY").is_some();
    match (replayed, resumed) {
        _ if is_new => Some(differs("a new session began instead")),
        (Some(replayed), Some(resumed)) if replayed < resumed => {
            Some(expected("the missed message, then RESUMED"))
        }
        (Some(_), Some(_)) => Some(not_tried("the connection was back before anything was missed")),
        (None, Some(_)) => Some(differs("RESUMED without the missed message")),
        (_, None) => Some(differs("no RESUMED")),
    }
}
