//! Whether it was as it should be: what the chat has seen beside what `dirigent` told.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use check_contract::{CORRECTIONS, Document};
use dirigent::ChatMessage;
use dirigent_testkit::memory_discord::Event;

use crate::evening::Played;
use crate::floor::{Turn, turns};
use crate::stage::{HELPERS, PERSONAS, Table};
use crate::told::Told;
use crate::{Flags, Result};

/// A stop silences the table within this time.
const STOPPED_WITHIN: Duration = Duration::from_secs(1);

/// How far the chat's clock may be from Dirigent's.
const CLOCKS_APART: Duration = Duration::from_secs(5);

const PASS: &str = "[[pass]]";
/// The setting `confirmation.late_grace` of the table.
const LATE_GRACE: Duration = Duration::from_secs(2);

/// What the chat has seen, by what it is.
#[derive(Default)]
struct Seen {
    /// What agents wrote, each with its agent.
    said: Vec<(String, ChatMessage)>,
    /// The moderator's triggers, each with the agent that it mentions.
    triggers: Vec<(String, ChatMessage)>,
    notices: Vec<ChatMessage>,
}

impl Seen {
    fn of(table: &mut Table) -> Self {
        let mut seen = Self::default();
        while let Ok(event) = table.seen.try_recv() {
            let Event::MessageCreated(message) = event else { continue };
            let mut accounts = table.accounts.iter();
            let mentioned = |user| message.content.starts_with(&format!("<@{user}>"));
            let persona = message.author_name.as_deref().filter(|name| PERSONAS.contains(name));
            if message.author == table.moderator {
                match accounts.find(|(_, user)| mentioned(*user)) {
                    Some((name, _)) => seen.triggers.push(((*name).to_owned(), message)),
                    None => seen.notices.push(message),
                }
            } else if let Some((name, _)) = accounts.find(|(_, user)| *user == message.author) {
                seen.said.push(((*name).to_owned(), message));
            } else if let Some(name) = persona.map(str::to_owned) {
                seen.said.push((name, message));
            }
        }
        seen
    }
}

/// Everything that is wrong, one by one.
#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    fn unless(&mut self, is_right: bool, what: impl FnOnce() -> String) {
        if !is_right {
            self.0.push(what());
        }
    }
}

/// Judges the evening, and prints the figures.
pub(crate) async fn judge(table: &mut Table, flags: &Flags, played: &Played) -> Result {
    let (seen, told) = (Seen::of(table), table.log().told(0));
    let turns = turns(&told)?;
    let mut found = Found::default();
    let unpermitted = one_permit(&mut found, &seen, &turns, &told);
    told_of(&mut found, table, &told, played).await?;
    nothing_twice(&mut found, &seen, &turns);
    silent_when_stopped(&mut found, &seen, &told, played);
    at_rest(&mut found, table, &seen, &told, played).await?;
    let violations = violations(table, flags, &mut found)?;

    let spoken = seen.said.len();
    println!(
        "{} turns of {} agents, {spoken} messages; {} killed",
        turns.len(),
        speakers(&seen).len(),
        played.kills.len()
    );
    println!("{unpermitted} messages without a permit, each counted");
    println!("trigger to run: {}", waits(&seen, &turns));
    let requests = table.recorder.exchanges().len();
    let hundredths = requests * 100 / turns.len().max(1);
    println!(
        "{requests} requests to Discord, {}.{:02} a turn; {violations}",
        hundredths / 100,
        hundredths % 100
    );
    if found.0.is_empty() { Ok(()) } else { Err(found.0.join("\n").into()) }
}

fn speakers(seen: &Seen) -> HashSet<&str> {
    seen.said.iter().map(|(agent, _)| agent.as_str()).collect()
}

/// Each message was written by the agent that had the floor, or is told as unpermitted. Returns how many those are.
///
/// Of what is read late nobody knows on which side of a turn's beginning it stood, because clocks differ. It may count for a turn
/// that begins within [`CLOCKS_APART`] after it. What comes within [`LATE_GRACE`] after a turn is a late piece of it.
fn one_permit(found: &mut Found, seen: &Seen, turns: &[Turn], told: &[Told]) -> usize {
    let mut outside: BTreeMap<&str, Vec<&ChatMessage>> = BTreeMap::new();
    // A pass word is no part of the conversation.
    let words = seen.said.iter().filter(|(_, message)| &*message.content != PASS);
    for (agent, message) in words {
        let has_floor =
            turns.iter().any(|turn| turn.agent == *agent && turn.is_at(message.sent_at));
        if !has_floor {
            outside.entry(agent).or_default().push(message);
        }
    }
    let mut all = 0;
    for agent in speakers(seen) {
        let posts = outside.get(agent).map_or(&[][..], |posts| posts);
        let told = told.iter().filter(|told| told.cause == "unpermitted");
        let told = told.filter(|told| told.agent.as_deref() == Some(agent)).count();
        all += told;
        let is_near = |message: &&&ChatMessage| {
            let sent = message.sent_at;
            let is_near = |turn: &Turn| {
                (sent..sent + CLOCKS_APART).contains(&turn.from)
                    || turn.until.is_some_and(|over| (over..over + LATE_GRACE).contains(&sent))
            };
            turns.iter().any(|turn| turn.agent == agent && is_near(turn))
        };
        let unsure = posts.iter().filter(is_near).count();
        found.unless(told <= posts.len() && told + unsure >= posts.len(), || {
            format!("{agent} wrote {posts:?} outside of its turns, and {told} are told")
        });
        found.unless(told == 0 || HELPERS.contains(&agent), || {
            format!("{agent} wrote without a permit")
        });
    }
    all
}

/// `/why` tells how often a bot wrote without a permit, since `dirigent` was started last.
async fn told_of(found: &mut Found, table: &Table, told: &[Told], played: &Played) -> Result {
    let started = played.kills.iter().find(|(name, _)| *name == "dirigent").map(|(_, at)| *at);
    for name in HELPERS {
        let posts = told.iter().filter(|told| {
            let is_its = told.agent.as_deref() == Some(name) && told.cause == "unpermitted";
            is_its && Some(told.at) > started
        });
        let words = match posts.count() {
            0 => String::new(),
            1 => "It wrote a message outside of its turn. Let this bot answer only".to_owned(),
            posts => {
                format!("It wrote {posts} messages outside of its turn. Let this bot answer only")
            }
        };
        let why = table.asks(&format!("/v1/why?agent={name}&channel={}", table.channel)).await?;
        let is_told =
            if words.is_empty() { !why.contains("It wrote") } else { why.contains(&words) };
        found.unless(is_told, || format!("of {name} is not said {words:?}: {why}"));
    }
    Ok(())
}

/// Nothing is posted twice by Dirigent, by a persona or by a bot that asks, and each turn has one trigger.
fn nothing_twice(found: &mut Found, seen: &Seen, turns: &[Turn]) {
    let mut once = HashSet::new();
    for (agent, message) in seen.said.iter().filter(|(_, message)| &*message.content != PASS) {
        found.unless(once.insert(&message.content), || format!("{agent} says it twice: {message}"));
    }
    let mut triggers: BTreeMap<u64, usize> = BTreeMap::new();
    for (agent, message) in &seen.triggers {
        match turns.iter().rfind(|turn| turn.is_at(message.sent_at)) {
            Some(turn) if turn.agent == *agent => *triggers.entry(turn.number).or_default() += 1,
            turn => found.unless(false, || format!("{agent} is triggered in {turn:?}")),
        }
    }
    for turn in turns {
        let posted = triggers.get(&turn.number).copied().unwrap_or_default();
        found.unless(posted <= 1 + turn.woken, || format!("{posted} triggers in {turn:?}"));
    }
    for notice in seen.notices.windows(2) {
        if let [first, second] = notice {
            found.unless(first.content != second.content, || format!("it is said twice: {first}"));
        }
    }
}

fn silent_when_stopped(found: &mut Found, seen: &Seen, told: &[Told], played: &Played) {
    let silent = played.stop + STOPPED_WITHIN;
    let stopped = told.iter().find(|told| told.cause == "stopped" && told.at >= played.stop);
    found.unless(stopped.is_some_and(|told| told.at <= silent), || {
        format!("the stop came late: {stopped:?}")
    });
    for (agent, message) in seen.said.iter().chain(&seen.triggers) {
        let is_stopped = message.sent_at > silent && message.sent_at < played.resume;
        found.unless(!is_stopped, || format!("{agent} after the stop: {message}"));
    }
}

async fn at_rest(
    found: &mut Found,
    table: &Table,
    seen: &Seen,
    told: &[Told],
    played: &Played,
) -> Result {
    let last = told.iter().rev().find(|told| told.is.is_some());
    found.unless(last.is_some_and(|told| told.is.as_deref() == Some("dormant")), || {
        format!("no rest: {last:?}")
    });
    let state = table.asks(&format!("/v1/state?channel={}", table.channel)).await?;
    found.unless(!state.contains("speaker"), || format!("somebody has the floor: {state}"));
    for (agent, message) in seen.said.iter().chain(&seen.triggers) {
        found.unless(message.sent_at <= played.rest, || {
            format!("{agent} after the rest: {message}")
        });
    }
    Ok(())
}

/// Holds every request of `dirigent`, and its answer, against Discord's document. Returns what came of it.
fn violations(table: &Table, flags: &Flags, found: &mut Found) -> Result<String> {
    let Some(path) = flags.document.as_ref().filter(|path| path.exists()) else {
        return Ok(
            "not held against Discord's document, as there is none (DISCORD_OPENAPI)".to_owned()
        );
    };
    let document = Document::read(&std::fs::read_to_string(path)?, CORRECTIONS)?;
    for exchange in table.recorder.exchanges() {
        let findings = document.check(&exchange.request).into_iter();
        for finding in findings.chain(document.check_answer(&exchange)) {
            found.unless(false, || format!("against Discord's document: {finding}"));
        }
    }
    Ok("each as Discord's document has it".to_owned())
}

/// How long it takes from a trigger until the agent runs, of turns in which it heard the first one.
fn waits(seen: &Seen, turns: &[Turn]) -> String {
    let mut waits: Vec<u64> = Vec::new();
    for turn in turns.iter().filter(|turn| turn.woken == 0) {
        let mut triggers = seen.triggers.iter().filter(|(agent, _)| *agent == turn.agent);
        let trigger = triggers.find(|(_, message)| turn.is_at(message.sent_at));
        let times = turn.run.zip(trigger.map(|(_, message)| message.sent_at));
        waits.extend(times.map(|(run, trigger)| run.max(trigger).since(trigger)).map(millis));
    }
    waits.sort_unstable();
    let part =
        |hundredths: usize| waits.get(waits.len() * hundredths / 100).copied().unwrap_or_default();
    format!("median {} ms, 95 % within {} ms ({} turns)", part(50), part(95), waits.len())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use dirigent::ports::Timestamp;
    use dirigent::{ChannelId, MessageId, UserId};

    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn message(sent: u64, text: &str) -> ChatMessage {
        let mut message =
            ChatMessage::new(MessageId::new(sent), ChannelId::new(1), UserId::new(2), text);
        message.sent_at = at(sent);
        message
    }

    fn said(agent: &str, sent: u64) -> Seen {
        let said = vec![(agent.to_owned(), message(sent, "a word"))];
        Seen { said, ..Seen::default() }
    }

    fn told(cause: &str, millis: u64) -> Told {
        let agent = Some("anna".to_owned());
        Told { at: at(millis), cause: cause.to_owned(), agent, turn: None, is: None }
    }

    /// The turn of an agent, for ten seconds.
    fn turn(agent: &str, from: u64) -> Turn {
        let (number, from, until) = (1, at(from), Some(at(from + 10_000)));
        Turn { number, agent: agent.to_owned(), from, until, run: None, woken: 0 }
    }

    fn played() -> Played {
        Played { stop: at(50_000), resume: at(60_000), rest: at(70_000), kills: Vec::new() }
    }

    fn found(judge: impl FnOnce(&mut Found)) -> usize {
        let mut found = Found::default();
        judge(&mut found);
        found.0.len()
    }

    #[test]
    fn a_message_without_the_floor_is_found_unless_it_is_told() {
        let turns = [turn("anna", 10_000)];
        let judged = |seen: &Seen, told: &[Told]| {
            found(|found| {
                one_permit(found, seen, &turns, told);
            })
        };
        assert_eq!(judged(&said("anna", 15_000), &[]), 0);
        assert_eq!(judged(&said("anna", 30_000), &[]), 1);
        assert_eq!(judged(&said("anna", 1_000), &[]), 1);
        assert_eq!(judged(&said("anna", 6_000), &[]), 0, "of its turn, as far as one can know");
        let unpermitted = told("unpermitted", 30_100);
        assert_eq!(judged(&said("anna", 30_000), std::slice::from_ref(&unpermitted)), 0);
        assert_eq!(judged(&said("anna", 15_000), &[unpermitted]), 1, "it is told in vain");
        assert_eq!(judged(&said("optimist", 15_000), &[]), 1, "it is the turn of another");
    }

    #[test]
    fn what_is_said_or_triggered_twice_is_found() {
        let turns = [turn("anna", 10_000)];
        let judged = |seen: &Seen| found(|found| nothing_twice(found, seen, &turns));
        let trigger = |sent| ("anna".to_owned(), message(sent, "<@2>"));
        let once = Seen { triggers: vec![trigger(10_100)], ..said("anna", 15_000) };
        assert_eq!(judged(&once), 0);
        let twice = Seen { triggers: vec![trigger(10_100), trigger(10_200)], ..Seen::default() };
        assert_eq!(judged(&twice), 1);
        let late = Seen { triggers: vec![trigger(30_000)], ..Seen::default() };
        assert_eq!(judged(&late), 1, "it has no turn");
        let mut again = said("anna", 15_000);
        again.said.extend(said("anna", 16_000).said);
        assert_eq!(judged(&again), 1);
        let notices = vec![message(1, "stopped"), message(2, "stopped")];
        assert_eq!(judged(&Seen { notices, ..Seen::default() }), 1);
    }

    #[test]
    fn a_late_stop_and_what_is_said_after_it_are_found() {
        let judged = |seen: &Seen, told: &[Told]| {
            found(|found| silent_when_stopped(found, seen, told, &played()))
        };
        let stopped = [told("stopped", 50_100)];
        assert_eq!(judged(&said("anna", 50_900), &stopped), 0);
        assert_eq!(judged(&said("anna", 51_500), &stopped), 1);
        assert_eq!(judged(&said("anna", 60_100), &stopped), 0);
        assert_eq!(judged(&Seen::default(), &[told("stopped", 51_500)]), 1);
        assert_eq!(judged(&Seen::default(), &[]), 1);
    }
}
