//! Runs a recording through the turn machine again, and keeps its answer at every step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dirigent::operate::{ChannelEvent, Reason};
use dirigent::ports::Timestamp;
use dirigent::replay::{RecordedChannel, TraceEntry, TraceEvent};
use dirigent::snapshot::{AgentKey, Pause, RestoreError, Seat, SeatTurn};
use dirigent::{AgentId, ChannelId};
use dirigent_core::TurnMachine;
use serde::Serialize;

use crate::drawing::score::Score;
use crate::drawing::what_if::WhatIf;

/// A recording with the turn machine's answer at every step. It is plain data. [`html`](Self::html) shows it without a
/// network, and a page with [`SCRIPT`](crate::drawing::SCRIPT) shows it as JSON.
///
/// It contains names, states and reasons, and no text of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Replay {
    /// The start of the recording, in milliseconds of Unix time.
    pub begins: u64,
    /// The states that the channel was in, each once.
    pub states: Vec<FrameState>,
    /// The steps at which something happened, in order.
    pub frames: Vec<Frame>,
    /// The whole recording as a score, in SVG.
    pub score: String,
    /// The names of the score's lines, from top to bottom.
    pub names: Vec<String>,
    /// The number of inputs that are missing at the end, because the recording is too long. A replay has at most 20,000
    /// inputs, and at most 100,000 lines about agents in all states together.
    pub left_out: usize,
}

/// One step of a replay.
///
/// ```
/// use dirigent_control::drawing::Frame;
/// fn seconds(frame: &Frame, begins: u64) -> u64 {
///     frame.at.saturating_sub(begins) / 1_000
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Frame {
    /// The time of the step, in milliseconds of Unix time.
    pub at: u64,
    /// The place of the step in the score, from the left.
    pub x: f64,
    /// The state after the step, as an index into [`Replay::states`].
    pub state: usize,
    /// The events of the step.
    pub events: Vec<FrameEvent>,
}

/// An event in a step.
///
/// ```
/// fn is_denial(event: &dirigent_control::drawing::FrameEvent) -> bool {
///     event.kind == "denied"
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FrameEvent {
    /// The agent that the event is about.
    pub agent: Option<String>,
    /// The kind: `allowed`, `denied`, `person`, `agent`, `order`, `refused` or `change`.
    pub kind: &'static str,
    /// The event in words.
    pub words: String,
}

/// The state of the channel after a step.
///
/// ```
/// fn is_quiet(state: &dirigent_control::drawing::FrameState) -> bool {
///     state.speaker.is_none()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct FrameState {
    /// The phase of the turn.
    pub phase: &'static str,
    /// The state of turn management, for example `normal`.
    pub turns: &'static str,
    /// The agent that has the floor.
    pub speaker: Option<String>,
    /// The rest: `stopped`, `held` or `finished`. `None` if the channel does not rest.
    pub pause: Option<&'static str>,
    /// The reason why no agent may speak.
    pub silence: Option<String>,
    /// The agents in the order of the list.
    pub agents: Vec<FrameAgent>,
}

/// The state of an agent after a step.
///
/// ```
/// fn line(agent: &dirigent_control::drawing::FrameAgent) -> String {
///     format!("{}: {}", agent.name, agent.why)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct FrameAgent {
    /// The agent's name.
    pub name: String,
    /// The agent's turn: `to come`, `passed`, `spoke`, `skipped`, `left`, `muted` or `away`.
    pub seat: &'static str,
    /// True if the agent may speak.
    pub may_speak: bool,
    /// The reason why the agent may or may not speak.
    pub why: String,
}

impl Replay {
    /// Replays a recording. `name` returns the names of agents. An agent without a name is called by its key.
    ///
    /// # Errors
    ///
    /// Returns an error if the state at the start of the recording cannot be restored.
    pub fn of(
        recorded: &RecordedChannel,
        name: impl Fn(AgentKey) -> Option<AgentId>,
    ) -> Result<Self, RestoreError> {
        let mut shown = recorded.clone();
        shown.inputs.truncate(INPUTS_MAX);
        let mut channel = TurnMachine::restore(Arc::clone(&shown.config), &shown.start)?;
        let steps = shown.steps()?;
        let mut left_out = recorded.inputs.len().saturating_sub(INPUTS_MAX);
        let called =
            |key: AgentKey| name(key).map_or_else(|| format!("agent {}", key.get()), String::from);
        let mut states = States::default();
        let (mut trace, mut frames, mut effects) = (Vec::new(), Vec::new(), Vec::new());
        let mut turn = Some(recorded.start.state.floor.turn).filter(|turn| turn.get() > 0);
        let begins = steps.first().map_or(recorded.start.now, |step| step.at);
        let mut newest = states.place(state_of(&channel, &called));
        for (at, step) in steps.iter().enumerate() {
            if states.lines > LINES_MAX {
                left_out = recorded.inputs.len().saturating_sub(at);
                break;
            }
            // The steps contain the answers, and the state comes from the machine itself.
            let _ = channel.handle(step.at, &step.input, &mut effects);
            effects.clear();
            let entries = step.trace(&mut turn);
            let state = states.place(state_of(&channel, &called));
            if !entries.is_empty() || state != newest {
                let lines = entries.iter().map(|entry| line(entry, &called)).collect();
                frames.push(Frame { at: step.at.as_millis(), x: 0.0, state, events: lines });
            }
            newest = state;
            trace.extend(entries);
        }
        let score = Score::of(&trace, &name, None);
        let axis = score.axis();
        for frame in &mut frames {
            let place = crate::drawing::draw::MARGIN + axis.place(Timestamp::from_millis(frame.at));
            frame.x = (place * 10.0).round() / 10.0;
        }
        let names = score.names().map(str::to_owned).collect();
        let (begins, score) = (begins.as_millis(), score.svg());
        Ok(Self { begins, states: states.list, frames, score, names, left_out })
    }

    /// Returns one HTML file that shows the replay. It needs no network.
    pub fn html(&self, title: &str) -> String {
        crate::drawing::html::page(title, Some(self), None)
    }

    /// Returns one HTML file that shows the replay, and below it the evening under other rules. It needs no network.
    pub fn html_beside(&self, title: &str, what_if: &WhatIf) -> String {
        crate::drawing::html::page(title, Some(self), Some(what_if))
    }
}

/// The most inputs in a replay.
const INPUTS_MAX: usize = 20_000;
/// The most lines about agents in all states together. Once there are this many, no step is added.
const LINES_MAX: usize = 100_000;

/// All states, each once.
#[derive(Default)]
struct States {
    list: Vec<FrameState>,
    lines: usize,
    known: BTreeMap<FrameState, usize>,
}

impl States {
    fn place(&mut self, state: FrameState) -> usize {
        let next = self.list.len();
        *self.known.entry(state).or_insert_with_key(|state| {
            self.lines += state.agents.len();
            self.list.push(state.clone());
            next
        })
    }
}

fn state_of(channel: &TurnMachine, name: &impl Fn(AgentKey) -> String) -> FrameState {
    let view = channel.view();
    let listed: BTreeSet<AgentKey> = view.list().map(|seat| seat.agent).collect();
    let unlisted = view.away().iter().map(|away| away.agent).filter(|key| !listed.contains(key));
    let agent = |key: AgentKey, seat: &'static str| {
        let why = channel.explain(key);
        FrameAgent { name: name(key), seat, may_speak: why.allows(), why: why.to_string() }
    };
    let seats = view.list().map(|seat| agent(seat.agent, seat_of(seat)));
    FrameState {
        phase: view.phase().as_str(),
        turns: view.turn_state().as_str(),
        speaker: view.speaker().map(name),
        pause: view.pause().map(|pause| match pause {
            Pause::Held => "on hold",
            Pause::Stopped => "stopped",
            Pause::Finished => "finished",
            _ => "at rest",
        }),
        silence: view.silence().map(|reason| reason.to_string()),
        agents: seats.chain(unlisted.map(|key| agent(key, "away"))).collect(),
    }
}

const fn seat_of(seat: Seat) -> &'static str {
    if seat.left {
        return "left";
    }
    if seat.away {
        return "away";
    }
    if seat.muted {
        return "muted";
    }
    if seat.may_not_write {
        return "may not write";
    }
    match seat.turn {
        SeatTurn::Ahead => "to come",
        SeatTurn::Passed => "passed",
        SeatTurn::Spoke => "spoke",
        SeatTurn::Skipped => "skipped",
        _ => "unknown",
    }
}

fn line(entry: &TraceEntry, name: &impl Fn(AgentKey) -> String) -> FrameEvent {
    let kind = match entry.event {
        TraceEvent::Allowed(_) => "allowed",
        TraceEvent::Denied(_) => "denied",
        TraceEvent::PersonWrote | TraceEvent::BotWrote => "person",
        TraceEvent::AgentWrote
        | TraceEvent::Triggered { .. }
        | TraceEvent::HandedOver
        | TraceEvent::Ended(_) => "agent",
        TraceEvent::OrderRefused(..) | TraceEvent::EndRefused(_) => "refused",
        TraceEvent::Ordered(_) => "order",
        TraceEvent::Consulted
        | TraceEvent::Cancelled
        | TraceEvent::Noticed(_)
        | TraceEvent::Changed(_)
        | _ => "change",
    };
    if let TraceEvent::Changed(transition) = &entry.event {
        let (channel, agent) = (ChannelId::new(0), transition.agent.map(|key| name(key).into()));
        // The sentence already contains the name of the agent.
        let words = ChannelEvent { channel, agent, transition: *transition }.to_string();
        return FrameEvent { agent: None, kind, words };
    }
    let told = || entry.event.words(|key| Some(name(key))).replace("->", "→").replace(" - ", ": ");
    let words = if let TraceEvent::Triggered { .. } = entry.event {
        format!("is told: {}", told())
    } else if let TraceEvent::Ended(_) = entry.event {
        format!("is done: {}", told())
    } else if let TraceEvent::Allowed(reason) = entry.event {
        format!("may run: {reason}")
    } else if let TraceEvent::Denied(Reason::NotYourTurn { speaker }) = entry.event {
        format!("denied: {} has the floor", name(speaker))
    } else if let TraceEvent::Denied(reason) = entry.event {
        format!("denied: {reason}")
    } else {
        told()
    };
    FrameEvent { agent: entry.agent.map(name), kind, words }
}
