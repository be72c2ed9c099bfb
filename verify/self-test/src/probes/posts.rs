//! What posts show: nonces, limits, the history, and who hears of them.

use serde_json::Value;
use twilight_model::util::Timestamp;

use super::{NO_HISTORY, NO_SECOND, Probe, differs, expected, judge, not_tried, probe};
use crate::account::{Answer, id_in};
use crate::evidence::{Evidence, Purpose};
use crate::report::Seen;
use crate::session::Event;

pub(crate) const TWICE: [Probe; 2] = [
    probe("limit 1", "a post's answer has bucket, limit, remaining and reset-after", limit_headers),
    probe("history 3", "the time in an id is at most 5 s away from this machine's", clocks),
];

/// Two that are judged when it is known whether the bot may read the history.
pub(crate) const HISTORY_AT_ONCE: Probe = probe(
    "history 5",
    "the history has a message as soon as its post was answered",
    history_at_once,
);
pub(crate) const SAME_NONCE: Probe =
    probe("post 1", "a second post with the same nonce makes no message", same_nonce);

pub(crate) const BURST: [Probe; 7] = [
    probe("limit 4", "a 429 says for whom, and how long to wait; then there is none", too_many),
    probe("history 1", "`after` gives the page next to that id, newest first", page_after),
    probe("history 2", "ids follow the time, to the millisecond", ids_follow_time),
    probe("post 5", "only the author's own event has the nonce", nonce_of_event),
    probe("post 6", "2,000 emoji are one message", longest),
    probe("post 7", "an account that may not be pinged is not among the mentions", mentions),
    probe("gateway 4", "a new session replays nothing, and has last_message_id", new_session),
];

pub(crate) const BY_SECOND: [Probe; 4] = [
    probe("post 3", "another account's equal nonce makes a message of its own", others_nonce),
    probe("limit 2", "a second account has its own bucket in the channel", own_bucket),
    probe("gateway 1", "own posts and other bots' posts are pushed", posts_are_pushed),
    probe("gateway 6", "without the Message Content Intent others' text is empty", content),
];

pub(crate) const LATE: [Probe; 1] =
    [probe("post 2", "a nonce is remembered for 105 s at least", late_nonce)];

/// Discord's clock and this machine's, in milliseconds.
const CLOCKS_APART: u64 = 5_000;

/// The time in an id, in Unix milliseconds.
const fn time_of(id: u64) -> u64 {
    (id >> 22) + 1_420_070_400_000
}

fn limit_headers(evidence: &Evidence) -> Option<Seen> {
    let answer = evidence.nonce.first.as_ref()?;
    let names = ["bucket", "limit", "remaining", "reset-after"];
    let is_missing = |name: &&str| answer.header(&format!("x-ratelimit-{name}")).is_none();
    let missing: Vec<_> = names.into_iter().filter(is_missing).collect();
    let said = |name: &str| answer.header(name).unwrap_or("?").to_owned();
    let (limit, reset) = (said("x-ratelimit-limit"), said("x-ratelimit-reset-after"));
    let all = format!("all four: {limit} requests, reset after {reset} s");
    Some(judge(missing.is_empty(), all, format!("missing: {}", missing.join(", "))))
}

fn clocks(evidence: &Evidence) -> Option<Seen> {
    let answer = evidence.nonce.first.as_ref()?;
    let made = time_of(answer.id()?);
    let (sent, answered) = (answer.sent_at.as_millis(), answer.answered_at.as_millis());
    // The message was made at some time between the two.
    let apart = sent.saturating_sub(made).max(made.saturating_sub(answered));
    let seen = format!("{apart} ms");
    Some(judge(apart <= CLOCKS_APART, seen.clone(), seen))
}

fn history_at_once(evidence: &Evidence) -> Option<Seen> {
    let nonce = &evidence.nonce;
    let (page, id) = (nonce.history.as_ref()?, nonce.first.as_ref()?.id()?);
    if !evidence.reads_history() {
        return Some(not_tried(NO_HISTORY));
    }
    let has_it = Evidence::has_message(page, id);
    let otherwise = format!("{}: {} messages without it", page.shown(), page.list().len());
    Some(judge(has_it, "it is there", otherwise))
}

fn same_nonce(evidence: &Evidence) -> Option<Seen> {
    let (first, again) = (evidence.nonce.first.as_ref()?, evidence.nonce.again.as_ref()?);
    if first.id() != again.id() {
        return Some(differs(format!("{}, and another message", again.shown())));
    }
    let count = |page: &Answer| page.list().iter().filter(|it| is_like(it, first)).count();
    match evidence.nonce.history_after.as_ref().map(count) {
        None | Some(0 | 1) => Some(expected("the first message, again")),
        Some(count) => Some(differs(format!("the channel has {count} messages of it"))),
    }
}

/// Whether a message has the author and the text of the one that a post made.
fn is_like(message: &Value, posted: &Answer) -> bool {
    let author = |message: &Value| message.get("author").and_then(id_in);
    let is_same_text = message.get("content") == posted.body.get("content");
    is_same_text && author(message) == author(&posted.body)
}

fn late_nonce(evidence: &Evidence) -> Option<Seen> {
    let nonce = &evidence.nonce;
    let (first, late) = (nonce.first.as_ref()?, nonce.late.as_ref()?);
    if nonce.again.as_ref()?.id() != first.id() {
        return Some(not_tried("a nonce does not even hold for a second post at once"));
    }
    let age = late.sent_at.since(first.sent_at).as_secs();
    let seen = format!("{}, after {age} s", late.shown());
    Some(judge(late.id() == first.id(), format!("the first message, after {age} s"), seen))
}

fn too_many(evidence: &Evidence) -> Option<Seen> {
    let burst = &evidence.burst;
    let Some(refused) = &burst.refused else {
        let count = burst.posts.len();
        return Some(not_tried(format!("{count} posts without a pause reached no limit")));
    };
    let scope = refused.header("x-ratelimit-scope");
    let Some(scope) = scope.filter(|it| matches!(*it, "user" | "shared" | "global")) else {
        return Some(differs("no X-RateLimit-Scope, or one with another word"));
    };
    let Some(wait) = refused.wait() else {
        return Some(differs("neither Retry-After nor retry_after"));
    };
    let (wait, after) = (wait.as_millis(), burst.after_wait?);
    let seen = format!("scope {scope}, wait {wait} ms, then status {after}");
    Some(judge(after != 429, seen.clone(), seen))
}

fn page_after(evidence: &Evidence) -> Option<Seen> {
    let page = evidence.page.as_ref()?;
    if !evidence.reads_history() {
        return Some(not_tried(NO_HISTORY));
    }
    let mut ids = evidence.burst_ids();
    ids.sort_unstable();
    let mut expected: Vec<u64> = ids.get(1..3)?.to_vec();
    expected.reverse();
    let seen: Vec<u64> = page.list().iter().filter_map(id_in).collect();
    let place = |id: &u64| ids.iter().position(|known| known == id);
    let shown: Vec<_> = seen
        .iter()
        .map(|id| place(id).map_or_else(|| "another".to_owned(), |at| at.to_string()))
        .collect();
    let otherwise = format!("{}: messages {} after the id", page.shown(), shown.join(", "));
    Some(judge(seen == expected, "messages 2 and 1 after the id", otherwise))
}

fn ids_follow_time(evidence: &Evidence) -> Option<Seen> {
    let ids = evidence.burst_ids();
    let posted = evidence.burst.posts.iter().filter(|sent| sent.answer.is_success());
    for sent in posted {
        let (id, written) = (sent.answer.id()?, sent.answer.body.get("timestamp")?.as_str()?);
        let written = Timestamp::parse(written).ok()?.as_micros() / 1_000;
        let apart = written.abs_diff(i64::try_from(time_of(id)).ok()?);
        if apart > 0 {
            return Some(differs(format!("an id and its timestamp differ by {apart} ms")));
        }
    }
    let fallen = ids.windows(2).filter(|pair| pair.first() > pair.last()).count();
    let count = ids.len();
    Some(judge(
        fallen == 0,
        format!("{count} ids rise"),
        format!("{fallen} of {count} ids are lower than the one before"),
    ))
}

fn nonce_of_event(evidence: &Evidence) -> Option<Seen> {
    let posted = evidence.posted(Purpose::Plain)?;
    let id = posted.answer.id()?;
    let nonce = |event: &Event| event.data.get("nonce").and_then(Value::as_str).map(str::to_owned);
    let own = evidence.first_event("MESSAGE_CREATE", id)?;
    if nonce(own).as_deref() != Some(posted.nonce.as_str()) {
        let has_none = nonce(own).is_none();
        let said = if has_none { "the author's event has none" } else { "another nonce" };
        return Some(differs(said));
    }
    match evidence.second_event("MESSAGE_CREATE", id).map(nonce) {
        Some(Some(_)) => Some(differs("another account's event has it, too")),
        Some(None) => Some(expected("25 characters come back; another account has none")),
        None => Some(expected("25 characters come back (no second bot to compare)")),
    }
}

fn longest(evidence: &Evidence) -> Option<Seen> {
    let sent = evidence.tried(Purpose::Long).filter(|sent| sent.answer.status != 429)?;
    Some(judge(sent.answer.is_success(), sent.answer.shown(), sent.answer.shown()))
}

fn mentions(evidence: &Evidence) -> Option<Seen> {
    let count = |purpose| {
        let answer = &evidence.posted(purpose)?.answer;
        Some(answer.body.get("mentions")?.as_array()?.len())
    };
    let silent = count(Purpose::Silent)?;
    let pinged = evidence.second.and_then(|_| count(Purpose::Ping));
    if pinged == Some(0) {
        return Some(differs("not even an account that may be pinged is among them"));
    }
    Some(judge(silent == 0, "no mentions", format!("{silent} mentions")))
}

fn new_session(evidence: &Evidence) -> Option<Seen> {
    let nonce = &evidence.nonce;
    let before = [nonce.first.as_ref()?.id(), nonce.again.as_ref()?.id()];
    let before: Vec<u64> = before.into_iter().flatten().collect();
    if before.iter().any(|id| evidence.first_event("MESSAGE_CREATE", *id).is_some()) {
        return Some(differs("a message from before the session was pushed"));
    }
    let guild = evidence.first_event("GUILD_CREATE", evidence.guild)?;
    let places = ["channels", "threads"].into_iter();
    let mut rooms = places.filter_map(|name| guild.data.get(name)?.as_array()).flatten();
    let room = rooms.find(|room| id_in(room) == Some(evidence.channel))?;
    let last = room.get("last_message_id").and_then(Value::as_str);
    let last: Option<u64> = last.and_then(|last| last.parse().ok());
    let seen = if last.is_some() { "last_message_id is older" } else { "no last_message_id" };
    Some(judge(
        last == before.iter().max().copied(),
        "nothing replayed; the newest message is named",
        seen,
    ))
}

fn content(evidence: &Evidence) -> Option<Seen> {
    if evidence.second.is_none() {
        return Some(not_tried(NO_SECOND));
    }
    let text = |event: &Event| event.data.get("content").and_then(Value::as_str).map(str::to_owned);
    let plain = evidence.posted(Purpose::Plain)?;
    let without = text(evidence.second_event("MESSAGE_CREATE", plain.answer.id()?)?)?;
    if !without.is_empty() {
        return Some(differs("a session that did not ask for the intent got the text"));
    }
    let pinged = evidence.posted(Purpose::Ping)?;
    if text(evidence.second_event("MESSAGE_CREATE", pinged.answer.id()?)?)? != pinged.text {
        return Some(differs("a message that mentions the bot has not its text"));
    }
    if text(evidence.first_event("MESSAGE_CREATE", plain.answer.id()?)?)? != plain.text {
        return Some(differs("an own message has not its text"));
    }
    if !evidence.connection.as_ref()?.has_content {
        return Some(expected("empty, but for messages that mention the bot (the intent is off)"));
    }
    let others = evidence.first_event("MESSAGE_CREATE", evidence.by_second.as_ref()?.id()?)?;
    let is_there = text(others).is_some_and(|text| !text.is_empty());
    Some(judge(is_there, "empty without it, there with it", "empty, although the intent is on"))
}

fn others_nonce(evidence: &Evidence) -> Option<Seen> {
    if evidence.second.is_none() {
        return Some(not_tried(NO_SECOND));
    }
    let (first, other) = (evidence.nonce.first.as_ref()?, evidence.nonce_of_first.as_ref()?);
    let is_own = other.is_success() && other.id() != first.id();
    Some(judge(
        is_own,
        "another message",
        format!("{}, the first account's message", other.shown()),
    ))
}

fn own_bucket(evidence: &Evidence) -> Option<Seen> {
    if evidence.second.is_none() {
        return Some(not_tried(NO_SECOND));
    }
    let answer = evidence.by_second.as_ref()?;
    let said = |name: &str| answer.number(&format!("x-ratelimit-{name}"));
    let (Some(limit), Some(remaining)) = (said("limit"), said("remaining")) else {
        return Some(not_tried("the answer says nothing of limits"));
    };
    let seen = format!("{remaining} of {limit} left after its first post");
    Some(judge((limit - remaining - 1.0).abs() < 0.5, seen.clone(), seen))
}

fn posts_are_pushed(evidence: &Evidence) -> Option<Seen> {
    let own = evidence.posted(Purpose::Plain)?.answer.id()?;
    let Some(_) = evidence.first_event("MESSAGE_CREATE", own) else {
        return Some(differs("an own post was not pushed"));
    };
    let Some(_) = evidence.second else {
        return Some(expected("own posts are pushed (no second bot to compare)"));
    };
    let others = evidence.by_second.as_ref()?.id()?;
    let is_pushed = evidence.first_event("MESSAGE_CREATE", others).is_some();
    Some(judge(is_pushed, "both are pushed", "another bot's post was not pushed"))
}
