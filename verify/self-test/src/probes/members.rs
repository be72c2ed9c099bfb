//! What is said of members.

use serde_json::Value;

use super::{Probe, differs, judge, probe};
use crate::account::id_in;
use crate::evidence::{Evidence, MEMBERS_GRANTED};
use crate::report::Seen;

pub(crate) const MEMBERS: [Probe; 2] = [
    probe(
        "sight 4",
        "one member needs no intent; another account gets 404, not 10003 or 10004",
        member,
    ),
    probe("sight 5", "the list of members needs the Server Members Intent", list),
];

/// Discord's codes of an unknown channel and of an unknown guild.
const UNKNOWN_PLACES: [u64; 2] = [10_003, 10_004];

fn member(evidence: &Evidence) -> Option<Seen> {
    let (own, non_member) = (evidence.members.own.as_ref()?, evidence.members.non_member.as_ref()?);
    let user = own.body.get("user").and_then(id_in);
    if !own.is_success() || user != Some(evidence.first) {
        return Some(differs(format!("the bot's own member: {}", own.shown())));
    }
    let code = non_member.code();
    let is_so =
        non_member.status == 404 && code.is_some_and(|code| !UNKNOWN_PLACES.contains(&code));
    let seen = format!("a non-member: {}", non_member.shown());
    Some(judge(is_so, seen.clone(), seen))
}

fn list(evidence: &Evidence) -> Option<Seen> {
    let list = evidence.members.list.as_ref()?;
    let is_granted = evidence.is_granted(MEMBERS_GRANTED)?;
    let count = list.body.as_array().map(Vec::<Value>::len);
    let shown = count.map_or_else(|| list.shown(), |count| format!("a page of {count}"));
    if is_granted {
        let seen = format!("the intent is on: {shown}");
        return Some(judge(list.is_success() && count == Some(1), seen.clone(), seen));
    }
    let seen = format!("the intent is off: {shown}");
    Some(judge(list.status == 403, seen.clone(), seen))
}
