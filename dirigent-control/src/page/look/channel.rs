//! The data of one channel.

use std::borrow::Cow;
use std::sync::Arc;

use crate::drawing::{Ring, RingSeat, SeatMark};
use dirigent::AgentId;
use dirigent::hooks::TurnId;
use dirigent::operate::{Cause, ChannelEvent, DiscussionStatus, Explanation, Reason, Status, Work};
use dirigent::snapshot::{AgentState, PhaseKind, Seat, SeatTurn};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::discussion::DiscussionLook;
use super::row::{Names, Row};
use super::words;
use crate::page::places::Places;

/// One channel, with the reasons for its state.
///
/// ```
/// fn silent(look: &dirigent_control::ChannelLook) -> Vec<&str> {
///     look.agents.iter().filter(|agent| !agent.may_speak).map(|agent| agent.why.as_str()).collect()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChannelLook {
    /// The channel in one line.
    pub channel: Row,
    /// The reason why the channel waits for a person, in a sentence, if the change is known.
    pub because: Option<String>,
    /// If no agent may speak, a sentence with advice for the operator.
    pub advice: Option<Cow<'static, str>>,
    /// The agents in speaking order.
    pub agents: Vec<AgentLook>,
    /// The agent that was chosen to speak next.
    pub chosen: Option<String>,
    /// True if a message of a person waits for an agent.
    pub has_word: bool,
    /// The number of turns since a person last spoke.
    pub turns_since_human: u32,
    /// The number of cycles since a person last spoke.
    pub cycles_since_human: u32,
    /// The budgets, each with its use. Empty if there are none.
    pub budgets: Vec<BudgetLook>,
    /// The discussion, if the channel is one.
    pub discussion: Option<DiscussionLook>,
    /// The workers that your program reported for the channel, by name.
    pub workers: Vec<WorkLook>,
    /// The newest changes, the newest one first.
    pub changes: Vec<ChangeLook>,
    /// The newest orders from pages, at most 10, the newest one first. They go back to the start of the channel's
    /// process, or further with an [`OrderStore`](crate::OrderStore).
    #[serde(default)]
    pub given: Vec<OrderLook>,
    /// The orders that the channel accepts now, by their names in [`Order`](crate::Order).
    pub orders: Vec<Cow<'static, str>>,
}

/// An order from a page to a channel.
///
/// ```
/// fn line(order: &dirigent_control::OrderLook) -> String {
///     format!("{} by {}", order.order, order.by)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OrderLook {
    /// The time, in milliseconds of Unix time.
    pub at: u64,
    /// The name in [`Order`](crate::Order), for example `stop`. A change of the registry is `add-agent`,
    /// `change-agent`, `remove-agent` or `scan-agents`.
    pub order: Cow<'static, str>,
    /// The agent that the order is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The mode that the order sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Cow<'static, str>>,
    /// The id of the channel that gets the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The new state of the registry, for people. For example, it is an agent's account and name, or the number of
    /// agents that a scan added and changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The name of the operator. If there are several processes, it contains the process, too, for example
    /// `anna at bot-1`.
    pub by: String,
    /// The reason in the operator's words, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The end of the problem's `type`, if the order was refused.
    pub refused: Option<String>,
}

/// An order and its channel. It can also be a change of the registry.
///
/// ```
/// let line = r#"{ "channel": "7", "at": 0, "order": "stop", "by": "anna", "refused": null }"#;
/// let logged: dirigent_control::LoggedOrder = serde_json::from_str(line)?;
/// assert_eq!(logged.order.by, "anna");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoggedOrder {
    /// The channel's id. Empty for a change of the registry.
    pub channel: String,
    /// The order.
    #[serde(flatten)]
    pub order: OrderLook,
}

impl LoggedOrder {
    pub(crate) const fn new(channel: String, order: OrderLook) -> Self {
        Self { channel, order }
    }
}

impl OrderLook {
    /// Returns the order with its subject.
    pub(crate) fn told(&self) -> String {
        let about = self.agent.as_deref().or(self.mode.as_deref());
        let about = about.map(|about| format!(" {about}")).unwrap_or_default();
        let to = self.to.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
        let entry = self.entry.as_ref().map(|entry| format!(": {entry}")).unwrap_or_default();
        format!("{}{about}{to}{entry}", self.order)
    }
}

/// One agent in a channel.
///
/// ```
/// fn line(agent: &dirigent_control::AgentLook) -> String {
///     format!("{}: {}", agent.name, agent.why)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[non_exhaustive]
pub struct AgentLook {
    /// The id of the agent.
    pub id: String,
    /// The agent's name for people.
    pub name: String,
    /// The agent's turn in this cycle: `has the floor`, `to come`, `spoke`, `passed`, `skipped`, `muted` or `away`.
    pub turn: Cow<'static, str>,
    /// The agent's activity here: `idle`, `queued`, `active`, `waiting` or `offline`.
    pub doing: Cow<'static, str>,
    /// True if the agent may speak now.
    pub may_speak: bool,
    /// The reason why the agent may or may not speak, and what you can do to change that.
    pub why: String,
    /// A sentence about the failure of the agent's newest calls, in any channel of its process. It contains the class
    /// of the failure.
    #[serde(default)]
    pub failing: Option<String>,
    /// True if the agent is muted here.
    pub is_muted: bool,
    /// True if the agent came back and waits to be assigned.
    pub is_unassigned: bool,
    /// True if the agent is in the speaker list.
    pub is_listed: bool,
}

impl AgentLook {
    /// Returns the agent as a part of an element's id, so that the focus stays with the agent if its row moves.
    pub(crate) fn key(&self) -> String {
        in_path(&self.id)
    }
}

/// Returns an id as a part of an address's path.
pub(crate) fn in_path(id: &str) -> String {
    form_urlencoded::byte_serialize(id.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The progress of something that works for a channel, for example an agent with a long answer, or a program that it uses.
///
/// ```
/// fn line(work: &dirigent_control::WorkLook) -> String {
///     format!("{}: {}", work.worker, work.so_far)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkLook {
    /// The worker's name.
    pub worker: String,
    /// The worker's activity or its newest words, at most 200 characters in one line.
    pub so_far: String,
    /// The time of your program's report, in milliseconds of Unix time.
    pub at: u64,
}

/// A budget and its use.
///
/// ```
/// fn is_spent(budget: &dirigent_control::BudgetLook) -> bool {
///     budget.used >= budget.limit
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BudgetLook {
    /// The kind: `turns`, `cycles` or `cost`.
    pub what: Cow<'static, str>,
    /// The part that was used.
    pub used: u64,
    /// The whole budget.
    pub limit: u64,
}

/// A change of a channel.
///
/// ```
/// fn line(change: &dirigent_control::ChangeLook) -> String {
///     format!("{}: {}", change.at, change.cause)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChangeLook {
    /// The time, in milliseconds of Unix time.
    pub at: u64,
    /// The agent that the change is about.
    pub agent: Option<String>,
    /// The change, in a sentence.
    pub sentence: String,
    /// The cause, with the name from the core.
    pub cause: String,
    /// True if something failed or was late.
    #[serde(default)]
    pub is_failure: bool,
    /// The class that the agent gave its failure. `None` if it gave none, or if the process was restarted since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The phase after the change.
    pub phase: Cow<'static, str>,
    /// The number of the turn.
    pub turn: u64,
}

/// An order, the text of its button, and an explanation.
type HelpEntry = (&'static str, &'static str, &'static str);

/// The help below the buttons, in its order. An order without an entry is explained beside its own field.
const HELP: [HelpEntry; 9] = [
    ("resume", "Resume", "ends a stop, a hold or a finish"),
    ("wake", "Wake", "begins a cycle without a message"),
    ("stop", "Stop", "takes the floor away at once, and denies every agent until it is resumed"),
    ("hold", "Hold", "pauses the channel until it is resumed; the order of the agents is kept"),
    ("finish", "Finish", "says that the work is done; a person’s message begins anew"),
    ("reset-budget", "Reset the budget", "lets what was used count from zero"),
    ("archive", "Archive", "closes the channel for good"),
    ("speak-next", "Speak next", "gives an agent the next turn"),
    ("mute", "Mute", "gives an agent no turns here"),
];

/// The driver's answers about a channel.
#[derive(Default)]
pub(crate) struct ChannelFacts {
    pub(crate) status: Option<Box<Status>>,
    pub(crate) explanations: Vec<Explanation>,
    pub(crate) discussion: Option<DiscussionStatus>,
    pub(crate) workers: Vec<Work>,
    pub(crate) history: Vec<ChannelEvent>,
    pub(crate) classes: Vec<(TurnId, Arc<str>)>,
    pub(crate) given: Vec<OrderLook>,
}

/// The most characters of a worker's words.
const WORK_CHARS: usize = 200;
/// The most changes on the page.
const CHANGES: usize = 40;
/// The most failures of an agent in one channel.
const FAILURES: usize = 10;

impl ChannelLook {
    pub(crate) fn of(channel: Row, facts: &ChannelFacts, names: &Names, places: &Places) -> Self {
        let status = facts.status.as_deref();
        let agents = status.map(|status| agents(status, &facts.explanations, names));
        let id = channel.id.parse().ok();
        let discussion = facts.discussion.as_ref();
        let discussion = discussion.map(|told| DiscussionLook::of(id, told, names, places));
        let orders = orders(&channel, status, discussion.as_ref());
        let orders = orders.into_iter().map(Cow::Borrowed).collect();
        let number = |of: fn(&Status) -> u32| status.map_or(0, of);
        Self {
            agents: agents.unwrap_or_default(),
            chosen: status.and_then(|status| status.chosen.as_ref()).map(|chosen| names.of(chosen)),
            has_word: status.is_some_and(|status| status.has_word),
            turns_since_human: number(|status| status.turns_since_human),
            cycles_since_human: number(|status| status.cycles_since_human),
            budgets: status.map(budgets).unwrap_or_default(),
            discussion,
            workers: facts.workers.iter().map(work).collect(),
            changes: changes(&facts.history, &facts.classes, names, CHANGES),
            given: facts.given.clone(),
            orders,
            because: status.and_then(|status| because(status, &facts.history, names)),
            advice: advice(&channel, status).map(Cow::Borrowed),
            channel,
        }
    }

    /// Returns true if there is a speaker list to draw.
    pub(crate) fn has_ring(&self) -> bool {
        self.channel.keeps_turns() && self.agents.iter().any(|agent| agent.is_listed)
    }

    /// Returns the speaker list as a picture.
    pub(crate) fn ring(&self) -> String {
        let mark = |agent: &AgentLook| match &*agent.turn {
            "has the floor" => SeatMark::Speaks,
            "spoke" => SeatMark::Spoke,
            "passed" => SeatMark::Passed,
            "skipped" => SeatMark::Skipped,
            "muted" => SeatMark::Muted,
            "away" => SeatMark::Away,
            _ => SeatMark::Ahead,
        };
        let listed = self.agents.iter().filter(|agent| agent.is_listed);
        let seats = listed.map(|agent| RingSeat { name: agent.name.clone(), mark: mark(agent) });
        let row = &self.channel;
        // The ring has room for the first part, for example of "has spoken; its message is on the way".
        let doing = row.doing.split("; ").next().unwrap_or_default();
        let doing = doing.split(" and ").next().unwrap_or_default();
        let (middle, below) = match (&row.speaker, row.pause.as_deref()) {
            (Some(speaker), None) => (speaker.clone(), doing),
            (_, Some(pause)) => (pause.to_owned(), "no agent speaks"),
            (None, None) if doing == "quiet" => ("quiet".to_owned(), "no agent speaks"),
            (None, None) => ("no agent speaks".to_owned(), doing),
        };
        Ring { seats: seats.collect(), middle, below: below.to_owned() }.svg()
    }

    /// Returns the order that made the channel rest, if it came from a page.
    pub(crate) fn rests_by(&self) -> Option<&OrderLook> {
        let rests = match self.channel.pause.as_deref()? {
            "stopped" => "stop",
            "on hold" => "hold",
            _ => "finish",
        };
        let carried_out = self.given.iter().find(|order| order.refused.is_none());
        carried_out.filter(|order| order.order == rests)
    }

    /// Returns the order that lets agents speak again, if there is one.
    pub(crate) fn main_order(&self) -> &'static str {
        let is_spent = self.budgets.iter().any(|budget| budget.used >= budget.limit);
        let orders = [("resume", true), ("reset-budget", is_spent), ("wake", true)];
        let orders = orders.into_iter().filter(|(order, helps)| *helps && self.can(order));
        orders.map(|(order, _)| order).next().unwrap_or_default()
    }

    /// Returns the help for the orders that you can give now.
    pub(crate) fn help(&self) -> Vec<HelpEntry> {
        HELP.into_iter().filter(|(order, ..)| self.can(order)).collect()
    }

    /// Returns true if you can give this order now.
    pub(crate) fn can(&self, order: &str) -> bool {
        self.orders.iter().any(|can| can == order)
    }
}

fn agents(status: &Status, explanations: &[Explanation], names: &Names) -> Vec<AgentLook> {
    let seat = |agent: &AgentId| {
        status.list.iter().find(|(listed, _)| listed == agent).map(|(_, seat)| *seat)
    };
    let look = |(agent, state): &(AgentId, AgentState)| {
        let seat = seat(agent);
        let why = explanations.iter().find(|why| why.agent == *agent);
        let failing = status.failing.iter().find(|(failing, _)| failing == agent);
        AgentLook {
            id: agent.as_str().to_owned(),
            name: names.of(agent),
            turn: turn_of(seat, status.speaker.as_ref() == Some(agent)).into(),
            doing: words::doing(*state).into(),
            may_speak: why.is_some_and(Explanation::allows),
            why: why.map(|why| told(why, names)).unwrap_or_default(),
            failing: failing.map(|(_, failed)| words::sentence(&failed.to_string())),
            is_muted: seat.is_some_and(|seat| seat.muted),
            is_unassigned: seat.is_none_or(|seat| seat.away) && *state != AgentState::Offline,
            is_listed: seat.is_some(),
        }
    };
    status.agents.iter().map(look).collect()
}

/// Returns the state of one agent in the channel.
pub(crate) fn agent_look(status: &Status, why: &Explanation, names: &Names) -> Option<AgentLook> {
    let all = agents(status, std::slice::from_ref(why), names);
    all.into_iter().find(|look| look.id == why.agent.as_str())
}

/// Returns the newest failures of an agent, the newest one first.
pub(crate) fn failures(
    history: &[ChannelEvent],
    classes: &[(TurnId, Arc<str>)],
    agent: &AgentId,
    names: &Names,
) -> Vec<ChangeLook> {
    let is_its = |event: &&ChannelEvent| {
        event.agent.as_ref() == Some(agent) && words::is_failure(event.transition.cause)
    };
    let failed: Vec<_> = history.iter().filter(is_its).cloned().collect();
    changes(&failed, classes, names, FAILURES)
}

fn turn_of(seat: Option<Seat>, speaks: bool) -> &'static str {
    let Some(seat) = seat else { return "away" };
    match seat.turn {
        _ if seat.left || seat.away => "away",
        _ if speaks => "has the floor",
        _ if seat.muted => "muted",
        _ if seat.may_not_write => "may not write",
        SeatTurn::Passed => "passed",
        SeatTurn::Spoke => "spoke",
        SeatTurn::Skipped => "skipped",
        SeatTurn::Ahead | _ => "to come",
    }
}

/// Returns the explanation with the names that people know.
fn told(why: &Explanation, names: &Names) -> String {
    let known = |agent: &AgentId| AgentId::from(names.of(agent));
    let mut why = why.clone();
    why.agent = known(&why.agent);
    // Failed calls have their own sentence, in red.
    why.failed_calls = None;
    why.speaker = why.speaker.as_ref().map(known);
    if let Some(outage) = &mut why.outage {
        outage.reply_of = outage.reply_of.as_ref().map(known);
    }
    why.to_string()
}

fn budgets(status: &Status) -> Vec<BudgetLook> {
    let (used, most) = (status.budget, status.rules.budget);
    let rows = [
        ("turns", u64::from(used.turns), most.turns.map(u64::from)),
        ("cycles", u64::from(used.cycles), most.cycles.map(u64::from)),
        ("cost", used.cost, most.cost),
    ];
    let look = |(what, used, limit): (&'static str, u64, Option<u64>)| {
        limit.map(|limit| BudgetLook { what: what.into(), used, limit })
    };
    rows.into_iter().filter_map(look).collect()
}

fn changes(
    history: &[ChannelEvent],
    classes: &[(TurnId, Arc<str>)],
    names: &Names,
    most: usize,
) -> Vec<ChangeLook> {
    let look = |event: &ChannelEvent| ChangeLook {
        at: event.transition.at.as_millis(),
        agent: event.agent.as_ref().map(|agent| names.of(agent)),
        sentence: sentence_of(event, names),
        cause: words::cause(event.transition.cause),
        is_failure: words::is_failure(event.transition.cause),
        class: class_of(event, classes),
        phase: event.transition.to.as_str().into(),
        turn: event.transition.turn.get(),
    };
    history.iter().rev().take(most).map(look).collect()
}

/// Returns the class that the agent gave its failure.
fn class_of(event: &ChannelEvent, classes: &[(TurnId, Arc<str>)]) -> Option<String> {
    let is_it = |known: &&(TurnId, Arc<str>)| known.0 == event.transition.turn;
    let failed = classes.iter().rfind(is_it).filter(|_| event.transition.cause == Cause::RunFailed);
    failed.map(|(_, class)| (**class).to_owned())
}

/// Returns the change as a sentence, with the names that people know.
fn sentence_of(event: &ChannelEvent, names: &Names) -> String {
    let mut event = event.clone();
    event.agent = event.agent.map(|agent| AgentId::from(names.of(&agent)));
    words::sentence(&event.to_string())
}

/// Returns the change that made the channel quiet, or the agent that asked for a person.
fn because(status: &Status, history: &[ChannelEvent], names: &Names) -> Option<String> {
    let fell = |event: &ChannelEvent| {
        event.transition.to == PhaseKind::Dormant && event.transition.from != PhaseKind::Dormant
    };
    let at = history.iter().rposition(fell)?;
    let event = history.get(at)?;
    let silence = status.silence?;
    if silence == Reason::Dormant {
        return Some(sentence_of(event, names));
    }
    // The change itself has no agent. The change before it ended the turn of the agent that asked.
    let turn = event.transition.turn;
    let mut before = history.iter().take(at).rev().filter(|it| it.transition.turn == turn);
    let asker = before.find_map(|it| it.agent.as_ref());
    let asker = asker.filter(|_| silence == Reason::AwaitingHuman);
    asker.map(|agent| format!("{} asked for a person.", names.of(agent)))
}

fn advice(row: &Row, status: Option<&Status>) -> Option<&'static str> {
    match status {
        Some(_) if row.is_locked && row.turns == "disabled" => None,
        Some(status) => words::advice(status.silence?),
        None if row.mode == "none" && !row.is_away => {
            Some("Give it the mode chat, and the agents in it take turns.")
        }
        None => None,
    }
}

fn work(work: &Work) -> WorkLook {
    let line = work.so_far.split_whitespace().collect::<Vec<_>>().join(" ");
    let longer = line.chars().count().saturating_sub(WORK_CHARS);
    let so_far = match longer {
        0 => line,
        // The newest words are at the end.
        longer => std::iter::once('…').chain(line.chars().skip(longer + 1)).collect(),
    };
    WorkLook { worker: work.worker.to_string(), so_far, at: work.at.as_millis() }
}

/// Returns the orders that the channel accepts now. This is only a hint for the page, because the turn machine decides.
fn orders(
    row: &Row,
    status: Option<&Status>,
    discussion: Option<&DiscussionLook>,
) -> Vec<&'static str> {
    if row.is_away {
        return Vec::new();
    }
    let is_over = row.turns == "archived";
    let mut orders = if is_over { Vec::new() } else { vec!["post"] };
    let undelivered = discussion.into_iter().flat_map(|told| &told.outbox);
    for post in undelivered.filter(|post| post.is_undelivered()) {
        orders.push("retry-posts");
        if post.what == "result" {
            orders.extend(["dismiss-result", "send-result"]);
        }
    }
    let is_managed = status.is_some_and(|status| status.list.len() > 1);
    if !row.is_locked && !is_over {
        orders.push("set-mode");
    }
    if is_over || status.is_none() {
        return orders;
    }
    let is_kept = matches!(&*row.turns, "normal" | "shuffle");
    match row.pause.as_deref() {
        Some(pause) => {
            orders.push("resume");
            if pause == "on hold" {
                orders.push("stop");
            }
        }
        None if is_kept => orders.extend(["stop", "hold", "finish", "speak-next"]),
        None => {}
    }
    if is_kept && row.pause.is_none() && row.phase == "dormant" {
        orders.push("wake");
    }
    if is_managed {
        orders.extend(["mute", "unmute", "assign"]);
    }
    let has_budget = status.is_some_and(|status| {
        status.rules.budget.turns.is_some()
            || status.rules.budget.cycles.is_some()
            || status.rules.budget.cost.is_some()
    });
    if has_budget {
        orders.push("reset-budget");
    }
    orders.push("archive");
    orders
}
