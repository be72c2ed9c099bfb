//! Shows which agent asked, which was denied, and why. A recording becomes a table or a sequence diagram.

use std::collections::BTreeMap;
use std::fmt;

use dirigent_core::snapshot::RestoreError;
use dirigent_core::{
    AgentKey, Answer, Author, Cause, Effect, Input, Message, MessageKind, Notice, Outcome, Reason,
    Refusal, Settlement, Timestamp, Transition, TurnId, Verdict,
};

use crate::AgentId;
use crate::replay::recorder::{RecordedChannel, ReplayedStep};

/// The replay of a recorded channel, for people. `Display` writes a table, and [`Trace::mermaid`] a sequence diagram.
/// It contains no text of the conversation.
///
/// ```
/// use dirigent::replay::{RecordedChannel, Trace};
/// use dirigent::snapshot::Snapshot;
///
/// let recorded = RecordedChannel::new(Default::default(), Snapshot::default());
/// let trace = Trace::of(&recorded, |_| None)?;
/// assert!(trace.mermaid().starts_with("sequenceDiagram\n"));
/// assert!(trace.entries().is_empty());
/// # Ok::<(), dirigent::snapshot::RestoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    begins: Timestamp,
    names: BTreeMap<AgentKey, String>,
    entries: Vec<TraceEntry>,
}

/// One line of a [`Trace`].
///
/// ```
/// fn is_denial(entry: &dirigent::replay::TraceEntry) -> bool {
///     matches!(entry.event, dirigent::replay::TraceEvent::Denied(_))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceEntry {
    /// The time of the event, by the recording's clock.
    pub at: Timestamp,
    /// The agent that the event is about.
    pub agent: Option<AgentKey>,
    /// The newest turn at that time, if there was one.
    pub turn: Option<TurnId>,
    /// The event.
    pub event: TraceEvent,
}

/// The events of a [`Trace`].
///
/// ```
/// use dirigent::operate::Reason;
/// use dirigent::replay::TraceEvent;
/// assert_ne!(TraceEvent::Denied(Reason::Dormant), TraceEvent::Allowed(Reason::YourTurn));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceEvent {
    /// A person wrote.
    PersonWrote,
    /// The agent wrote.
    AgentWrote,
    /// A bot that is not an agent wrote.
    BotWrote,
    /// The agent was woken, because its turn has come.
    Triggered {
        /// The number of the attempt. It is 0 for the first one in this turn.
        attempt: u8,
    },
    /// The agent got the messages of people that had waited.
    HandedOver,
    /// An orchestrator was asked to answer people in the agent's place.
    Consulted,
    /// The agent asked to run, and was allowed.
    Allowed(Reason),
    /// The agent asked to run, and was denied.
    Denied(Reason),
    /// The agent's run ended with this outcome.
    Ended(&'static str),
    /// The agent's run ended, and this had no effect.
    EndRefused(Refusal),
    /// The agent's run was taken away.
    Cancelled,
    /// The moderator posted this notice in the channel.
    Noticed(&'static str),
    /// An operator, or the host, gave this order.
    Ordered(&'static str),
    /// An operator, or the host, gave this order, and it was refused.
    OrderRefused(&'static str, Refusal),
    /// The channel changed.
    Changed(Transition),
}

impl Trace {
    /// Replays a recording. `name` returns the name of an agent. An agent without a name is shown with its key.
    ///
    /// # Errors
    ///
    /// Fails if the recording's beginning cannot be restored.
    pub fn of(
        recorded: &RecordedChannel,
        name: impl Fn(AgentKey) -> Option<AgentId>,
    ) -> Result<Self, RestoreError> {
        let mut entries = Vec::new();
        let mut turn =
            Some(recorded.start.state.floor.turn).filter(|turn| *turn != TurnId::default());
        for step in recorded.steps()? {
            tell_step(&step, &mut turn, &mut entries);
        }
        let begins = recorded.inputs.first().map_or(recorded.start.now, |(at, _)| *at);
        Ok(Self::told(begins, entries, name))
    }

    /// Makes a trace of transitions alone, as a store keeps them. It shows the changes of the channel, but no denied
    /// questions. `name` returns the name of an agent.
    ///
    /// ```
    /// let trace = dirigent::replay::Trace::of_transitions(&[], |_| None);
    /// assert!(trace.entries().is_empty());
    /// ```
    pub fn of_transitions(
        transitions: &[Transition],
        name: impl Fn(AgentKey) -> Option<AgentId>,
    ) -> Self {
        let entries = transitions.iter().map(|change| TraceEntry {
            at: change.at,
            agent: change.agent,
            turn: Some(change.turn).filter(|turn| *turn != TurnId::default()),
            event: TraceEvent::Changed(*change),
        });
        let begins = transitions.first().map_or(Timestamp::default(), |change| change.at);
        Self::told(begins, entries.collect(), name)
    }

    fn told(
        begins: Timestamp,
        entries: Vec<TraceEntry>,
        name: impl Fn(AgentKey) -> Option<AgentId>,
    ) -> Self {
        let mut names = BTreeMap::new();
        for key in entries.iter().filter_map(|entry| entry.agent) {
            names.entry(key).or_insert_with(|| match name(key) {
                Some(agent) => plain(agent.as_str()),
                None => format!("agent {}", key.get()),
            });
        }
        Self { begins, names, entries }
    }

    /// Returns all entries, in order.
    pub fn entries(&self) -> &[TraceEntry] {
        &self.entries
    }

    /// Writes a sequence diagram for Mermaid, with people, agents and Dirigent.
    pub fn mermaid(&self) -> String {
        let mut lines = vec!["sequenceDiagram".to_owned()];
        lines.push("    participant P as People".to_owned());
        lines.push("    participant D as Dirigent".to_owned());
        for (key, name) in &self.names {
            lines.push(format!("    participant A{} as {name}", key.get()));
        }
        lines.extend(self.entries.iter().filter_map(|entry| self.arrow(entry)));
        lines.push(String::new());
        lines.join("\n")
    }

    fn arrow(&self, entry: &TraceEntry) -> Option<String> {
        let agent = entry.agent.map(|key| format!("A{}", key.get()));
        let agent = agent.unwrap_or_else(|| "P".to_owned());
        let text = self.words(entry).replace("->", "→");
        let between = match entry.event {
            TraceEvent::AgentWrote => format!("{agent}->>P"),
            TraceEvent::Triggered { .. } | TraceEvent::HandedOver | TraceEvent::Cancelled => {
                format!("D->>{agent}")
            }
            TraceEvent::Allowed(_) => format!("D-->>{agent}"),
            TraceEvent::Denied(_) => format!("D--x{agent}"),
            TraceEvent::Ended(_) | TraceEvent::EndRefused(_) => format!("{agent}->>D"),
            TraceEvent::Noticed(_) => "D->>P".to_owned(),
            TraceEvent::Consulted => return Some(format!("    Note over D: {text}")),
            TraceEvent::PersonWrote | TraceEvent::Ordered(_) | TraceEvent::OrderRefused(..) => {
                "P->>D".to_owned()
            }
            // The note would only repeat what an arrow says.
            TraceEvent::Changed(change) if is_worth_a_note(&change) => match entry.agent {
                Some(_) => return Some(format!("    Note over {agent}: {text}")),
                None => return Some(format!("    Note over D: {text}")),
            },
            TraceEvent::BotWrote | TraceEvent::Changed(_) => return None,
        };
        Some(format!("    {between}: {text}"))
    }

    /// Describes the event in words, without its agent.
    fn words(&self, entry: &TraceEntry) -> String {
        entry.event.words(|key| self.names.get(&key).cloned())
    }
}

impl ReplayedStep {
    /// Returns the entries of this step. `turn` is the newest turn before the step. When this returns, it is the newest
    /// turn after the step.
    ///
    /// ```
    /// # use dirigent::replay::ReplayedStep;
    /// fn tell(steps: &[ReplayedStep]) {
    ///     let mut turn = None;
    ///     for step in steps {
    ///         for entry in step.trace(&mut turn) {
    ///             println!("{}", entry.event.words(|_| None));
    ///         }
    ///     }
    /// }
    /// ```
    pub fn trace(&self, turn: &mut Option<TurnId>) -> Vec<TraceEntry> {
        let mut entries = Vec::new();
        tell_step(self, turn, &mut entries);
        entries
    }
}

impl TraceEvent {
    /// Describes the event in words, without its agent. `name` returns the names of other agents.
    pub fn words(&self, name: impl Fn(AgentKey) -> Option<String>) -> String {
        match *self {
            TraceEvent::PersonWrote => "a person writes".to_owned(),
            TraceEvent::AgentWrote => "its message".to_owned(),
            TraceEvent::BotWrote => "a bot writes".to_owned(),
            TraceEvent::Triggered { attempt: 0 } => "your turn".to_owned(),
            TraceEvent::Triggered { attempt } => format!("your turn, reminded {attempt} times"),
            TraceEvent::HandedOver => "what people said meanwhile".to_owned(),
            TraceEvent::Consulted => "the orchestrator is asked".to_owned(),
            TraceEvent::Allowed(reason) => format!("may run - {}", reason.as_str()),
            TraceEvent::Denied(Reason::NotYourTurn { speaker }) => {
                let speaker = name(speaker);
                let speaker = speaker.unwrap_or_else(|| "another agent".to_owned());
                format!("denied - not-your-turn ({speaker})")
            }
            TraceEvent::Denied(reason) => format!("denied - {}", reason.as_str()),
            TraceEvent::Ended(how) => how.to_owned(),
            TraceEvent::EndRefused(refusal) => format!("end refused - {refusal:?}"),
            TraceEvent::Cancelled => "its run is cancelled".to_owned(),
            TraceEvent::Noticed(notice) => format!("notice - {notice}"),
            TraceEvent::Ordered(order) => order.to_owned(),
            TraceEvent::OrderRefused(order, refusal) => format!("{order} refused - {refusal:?}"),
            TraceEvent::Changed(Transition { from, to, cause, .. }) if from == to => {
                cause.as_str().to_owned()
            }
            TraceEvent::Changed(Transition { from, to, cause, .. }) => {
                format!("{} -> {} - {}", from.as_str(), to.as_str(), cause.as_str())
            }
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = self.names.values().map(|name| name.chars().count()).max().unwrap_or(0);
        let width = widest.max("agent".len());
        writeln!(f, "{:>10}  {:>4}  {:width$}  what", "seconds", "turn", "agent")?;
        for entry in &self.entries {
            let millis = entry.at.since(self.begins).as_millis();
            let (seconds, rest) = (millis / 1_000, millis % 1_000);
            let turn = entry.turn.map_or_else(String::new, |turn| turn.get().to_string());
            let name = entry.agent.and_then(|key| self.names.get(&key));
            let name = name.map_or("", String::as_str);
            let words = self.words(entry);
            writeln!(f, "{seconds:>6}.{rest:03}  {turn:>4}  {name:width$}  {words}")?;
        }
        Ok(())
    }
}

/// Returns whether a diagram has a note for this change. Skips, boundaries and rests get one, but the start and the end
/// of a run do not.
fn is_worth_a_note(change: &Transition) -> bool {
    !matches!(
        change.cause,
        Cause::RunStarted
            | Cause::Passed
            | Cause::Repeated
            | Cause::Spoke
            | Cause::Unfinished
            | Cause::NextInList
            | Cause::ReceiptGiven
            | Cause::TailMatched
            | Cause::Retriggered
            | Cause::HumanMessage
            | Cause::CycleBoundary
    )
}

/// Returns a name that is safe in a table and in a diagram.
fn plain(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
    let name: String = name.chars().map(kept).take(40).collect();
    if name.trim().is_empty() { "unnamed".to_owned() } else { name }
}

fn tell_step(step: &ReplayedStep, turn: &mut Option<TurnId>, entries: &mut Vec<TraceEntry>) {
    let mut tell = |turn: Option<TurnId>, agent: Option<AgentKey>, event: TraceEvent| {
        entries.push(TraceEntry { at: step.at, agent, turn, event });
    };
    if let Some((agent, what)) = told_input(&step.input, &step.answer) {
        tell(*turn, agent, what);
    }
    for effect in &step.effects {
        if let Effect::Transition(change) = effect {
            *turn = Some(change.turn).filter(|turn| *turn != TurnId::default());
        }
        if let Some((agent, what)) = told_effect(effect) {
            tell(*turn, agent, what);
        }
    }
}

fn told_effect(effect: &Effect) -> Option<(Option<AgentKey>, TraceEvent)> {
    Some(match *effect {
        Effect::Trigger { agent, attempt, .. } => (Some(agent), TraceEvent::Triggered { attempt }),
        Effect::Inject { agent, .. } | Effect::Deliver { agent, .. } => {
            (Some(agent), TraceEvent::HandedOver)
        }
        Effect::Consult { agent, .. } => (Some(agent), TraceEvent::Consulted),
        Effect::CancelRun { agent, .. } => (Some(agent), TraceEvent::Cancelled),
        Effect::Notice { notice, .. } => {
            let (about, name) = match notice {
                Notice::TimedOut { agent } => (Some(agent), "timed out"),
                Notice::Disconnected { agent } => (Some(agent), "disconnected"),
                Notice::Archived => (None, "archived"),
                Notice::Closed => (None, "closed"),
                Notice::Ceiling => (None, "ceiling reached"),
                Notice::Budget => (None, "budget spent"),
                Notice::Stopped { .. } => (None, "stopped"),
                Notice::Resumed { .. } | Notice::ResumedIdle { .. } => (None, "resumed"),
                _ => (None, "a newer one"),
            };
            (about, TraceEvent::Noticed(name))
        }
        Effect::Reminder { initiator, .. } => {
            (Some(initiator), TraceEvent::Noticed("idle reminder"))
        }
        Effect::Transition(change) => (change.agent, TraceEvent::Changed(change)),
        Effect::FetchMembers { .. } | Effect::Delete { .. } | Effect::Poll { .. } => return None,
    })
}

fn told_input(
    input: &Input,
    answer: &Result<Answer, Refusal>,
) -> Option<(Option<AgentKey>, TraceEvent)> {
    let order = |agent: Option<AgentKey>, order: &'static str| match answer {
        Ok(_) => Some((agent, TraceEvent::Ordered(order))),
        Err(refusal) => Some((agent, TraceEvent::OrderRefused(order, *refusal))),
    };
    match input {
        Input::Gate { agent, .. } => match answer {
            Ok(Answer::Verdict(Verdict::Allow { reason, .. })) => {
                Some((*agent, TraceEvent::Allowed(*reason)))
            }
            Ok(Answer::Verdict(Verdict::Deny { reason })) => {
                Some((*agent, TraceEvent::Denied(*reason)))
            }
            Ok(Answer::Accepted) | Err(_) => None,
        },
        Input::RunEnded { agent, outcome, .. } => Some((
            Some(*agent),
            answer.map_or_else(TraceEvent::EndRefused, |_| TraceEvent::Ended(ended(outcome))),
        )),
        // A repetition is refused, and is no new event.
        Input::Message(_) | Input::Addressed { .. } if answer.is_err() => None,
        Input::Message(message) | Input::Addressed { message, .. } => told_message(message),
        Input::Settled { settlement: Settlement::Done { .. } | Settlement::Dropped, .. } => None,
        Input::Settled { .. } => order(None, "an effect failed"),
        Input::Create(_) => order(None, "created"),
        Input::SetMode(mode) => order(None, mode_order(mode.as_str())),
        Input::MemberJoined(agent) => order(Some(*agent), "joined"),
        Input::MemberLeft(agent) => order(Some(*agent), "left"),
        Input::Wake { first, .. } => order(*first, "wake"),
        Input::Conclude { by } => order(Some(*by), "conclude"),
        Input::Archive => order(None, "archive"),
        Input::Stop | Input::EditedToStop(_) => order(None, "stop"),
        Input::Hold => order(None, "hold"),
        Input::Resume => order(None, "resume"),
        Input::Finish => order(None, "finish"),
        Input::Mute(agent) => order(Some(*agent), "mute"),
        Input::Unmute(agent) => order(Some(*agent), "unmute"),
        Input::MayNotWrite { agent, .. } => order(Some(*agent), "may not write"),
        Input::MayWrite(agent) => order(Some(*agent), "may write"),
        Input::SpeakNext(agent) => order(Some(*agent), "speak next"),
        Input::Offline(agent) => order(Some(*agent), "offline"),
        Input::Online(agent) => order(Some(*agent), "online"),
        Input::Assign(agent) => order(Some(*agent), "assign"),
        Input::ResetBudget => order(None, "reset the budget"),
        Input::RunsLost { .. } => order(None, "the process was restarted"),
        Input::Replied { agent, .. } => order(Some(*agent), "reply made"),
        Input::Undelivered { agent, .. } => order(Some(*agent), "reply given up"),
        Input::Chat { away: true } => order(None, "nothing can be said at the moment"),
        Input::Chat { away: false } => order(None, "messages can be posted again"),
        Input::TriggerAgain => order(None, "trigger again"),
        Input::Reconfigure(_) => order(None, "other rules"),
        Input::Receipt { .. }
        | Input::MessageEdited { .. }
        | Input::Deleted(_)
        | Input::Members { .. }
        | Input::Spent { .. }
        | Input::Tick
        | _ => None,
    }
}

fn told_message(message: &Message) -> Option<(Option<AgentKey>, TraceEvent)> {
    match message.author {
        _ if message.kind == MessageKind::System => None,
        Author::Human => Some((None, TraceEvent::PersonWrote)),
        Author::Agent(agent) => Some((Some(agent), TraceEvent::AgentWrote)),
        Author::Bot => Some((None, TraceEvent::BotWrote)),
        Author::Moderator | _ => None,
    }
}

fn mode_order(mode: &str) -> &'static str {
    match mode {
        "none" => "mode none",
        "chat" => "mode chat",
        "report" => "mode report",
        _ => "another mode",
    }
}

const fn ended(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "nothing to say",
        Outcome::Spoke { .. } => "spoke",
        Outcome::Unfinished { .. } => "spoke, and goes on",
        Outcome::AwaitsHuman { .. } => "spoke, and asks for a person",
        Outcome::Repeated => "said what was said before",
        Outcome::Failed => "failed",
        _ => "ended",
    }
}
