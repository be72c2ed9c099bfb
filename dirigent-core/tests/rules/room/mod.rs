//! A room of agents around one channel: the language in which the stories of these tests are told.
//!
//! A [`Room`] gives the channel its inputs, keeps the clock and counts ids, and hands back what the
//! channel did as a [`Step`]. Around every single input it also checks what must always hold: the
//! channel's own invariants, that at most one agent may speak, that a refused input changed nothing,
//! and that a copy restored from the snapshot before the input reacts in exactly the same way.
#![cfg(test)]
#![allow(dead_code, reason = "each file of tests uses its own part of the language")]

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{
    AgentKey, Answer, Author, Cause, Channel, Config, Creation, Effect, Input, Message, MessageId,
    MessageKind, Mode, Notice, Outcome, PhaseData, PhaseKind, Reason, Refusal, ReminderPlace,
    RunId, Seat, SeatTurn, Settlement, Snapshot, Tail, Ticket, Timestamp, Transition, TurnState,
    Verdict,
};

pub(crate) const A: AgentKey = AgentKey::new(1);
pub(crate) const B: AgentKey = AgentKey::new(2);
pub(crate) const C: AgentKey = AgentKey::new(3);
pub(crate) const D: AgentKey = AgentKey::new(4);
/// An agent of the registry that is in no channel.
pub(crate) const STRANGER: AgentKey = AgentKey::new(99);

/// When every story begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// The seed of chance of most stories.
pub(crate) const SEED: u64 = 7;

/// More inputs than any story needs: a room that never comes to rest fails instead of hanging.
const INPUTS_MAX: usize = 20_000;

/// So many seconds.
pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// So many milliseconds.
pub(crate) const fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The first `count` agents: A, B, C and so on.
pub(crate) fn agents(count: usize) -> Vec<AgentKey> {
    (1..).map(AgentKey::new).take(count).collect()
}

/// A, B, C … for the first agents, the number for others.
pub(crate) fn name(agent: AgentKey) -> String {
    match agent.get() {
        number @ 1..=26 => char::from(b'A' + u8::try_from(number - 1).unwrap()).to_string(),
        number => format!("#{number}"),
    }
}

/// A reply that says something.
pub(crate) fn spoke(text: &str) -> Outcome {
    Outcome::Spoke { tail: Tail::of(text) }
}

/// What the channel did with one input.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Its answer.
    pub(crate) answer: Result<Answer, Refusal>,
    /// All effects, in order.
    pub(crate) effects: Vec<Effect>,
}

impl Step {
    /// Every effect in words, in order.
    pub(crate) fn all(&self) -> Vec<String> {
        self.effects.iter().map(words).collect()
    }

    /// What the host is asked to do, in words: every effect but the transitions.
    pub(crate) fn asks(&self) -> Vec<String> {
        let asked = |effect: &&Effect| !matches!(effect, Effect::Transition(_));
        self.effects.iter().filter(asked).map(words).collect()
    }

    /// The transitions.
    pub(crate) fn transitions(&self) -> Vec<Transition> {
        self.effects.iter().filter_map(Effect::transition).collect()
    }

    /// Why it did what it did.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        self.transitions().iter().map(|it| it.cause).collect()
    }

    /// The tickets of the effects, in order.
    pub(crate) fn tickets(&self) -> Vec<Ticket> {
        self.effects.iter().filter_map(Effect::ticket).collect()
    }

    /// The answer to a gate call.
    #[track_caller]
    pub(crate) fn verdict(&self) -> Verdict {
        self.answer
            .expect("the gate answers")
            .verdict()
            .expect("a gate call is answered with a verdict")
    }

    /// The reason in the answer to a gate call.
    #[track_caller]
    pub(crate) fn reason(&self) -> Reason {
        self.verdict().reason()
    }

    /// Whether the channel did nothing at all.
    pub(crate) fn is_silent(&self) -> bool {
        self.effects.is_empty()
    }
}

/// An effect in words.
fn words(effect: &Effect) -> String {
    match *effect {
        Effect::FetchMembers { .. } => "fetch members".to_owned(),
        Effect::Trigger { agent, attempt, .. } => match attempt {
            0 => format!("trigger {}", name(agent)),
            again => format!("trigger {} again, {again}", name(agent)),
        },
        Effect::Delete { message, .. } => format!("delete {}", message.get()),
        Effect::Poll { after, .. } => match after {
            Some(message) => format!("poll after {}", message.get()),
            None => "poll from the beginning".to_owned(),
        },
        Effect::Notice { notice, .. } => match notice {
            Notice::Archived => "notice archived".to_owned(),
            Notice::Closed => "notice closed".to_owned(),
            Notice::Ceiling => "notice ceiling".to_owned(),
            Notice::Stopped { message } => format!("notice stopped, to {}", message.get()),
            Notice::Resumed { message } => format!("notice resumed, to {}", message.get()),
            Notice::TimedOut { .. } | Notice::Disconnected { .. } | Notice::Budget | _ => {
                format!("{notice:?}")
            }
        },
        Effect::Reminder { initiator, place, .. } => match place {
            ReminderPlace::Discussion => format!("remind {}", name(initiator)),
            ReminderPlace::Callback => {
                format!("remind {} in the callback channel", name(initiator))
            }
        },
        Effect::Inject { agent, message, .. } => {
            format!("inject {} to {}", message.get(), name(agent))
        }
        Effect::Deliver { agent, first, last, .. } => {
            format!("deliver {} to {} to {}", first.get(), last.get(), name(agent))
        }
        Effect::Consult { agent, first, last, .. } => {
            format!("consult about {} to {} for {}", first.get(), last.get(), name(agent))
        }
        Effect::CancelRun { agent, turn, .. } => match turn {
            Some(_) => format!("cancel the run of {}", name(agent)),
            None => format!("cancel the permitted run of {}", name(agent)),
        },
        Effect::Transition(it) => {
            let who = it.agent.map(|agent| format!(" {}", name(agent)));
            let (from, to, cause) = (it.from.as_str(), it.to.as_str(), it.cause.as_str());
            format!("{from} > {to}{}: {cause}", who.unwrap_or_default())
        }
    }
}

/// The snapshot before, with everything of the snapshot after that a host may lose: what it reads
/// again from the channel after a restart. That is which messages were seen, counted and collected,
/// when the next poll is due, and what a run was answered.
fn forgettable(before: &Snapshot, after: &Snapshot) -> Snapshot {
    let polls_only = match (before.phase, after.phase) {
        (
            PhaseData::Confirming { since, poll, .. },
            PhaseData::Confirming { since: since_after, poll: poll_after, .. },
        ) => (since, poll) == (since_after, poll_after),
        _ => false,
    };
    Snapshot {
        now: after.now,
        turns: after.turns,
        delivery: after.delivery.clone(),
        newest: after.newest,
        horizon: after.horizon,
        messages: after.messages.clone(),
        runs: after.runs.clone(),
        last_activity_at: after.last_activity_at,
        phase: if polls_only { after.phase } else { before.phase },
        ..before.clone()
    }
}

/// One channel, its clock, and whoever is in it.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// The channel under test.
    pub(crate) channel: Channel,
    /// The time.
    pub(crate) now: Timestamp,
    /// Who is found when the members are fetched.
    pub(crate) present: Vec<AgentKey>,
    /// The newest message id.
    pub(crate) message: u64,
    /// The newest run id.
    run: u64,
    /// Inputs given so far.
    inputs: usize,
    /// The newest run of each agent that was allowed or denied.
    runs: Vec<(AgentKey, RunId)>,
    /// The member fetch that waits for an answer.
    pub(crate) fetch: Option<Ticket>,
    /// The trigger asked for last.
    pub(crate) trigger: Option<Ticket>,
    /// The poll asked for last.
    pub(crate) poll: Option<Ticket>,
    /// The consultation asked for last.
    pub(crate) consult: Option<Ticket>,
    /// Effects since the room was opened.
    pub(crate) log: Vec<Effect>,
}

impl Room {
    /// A channel never seen before.
    pub(crate) fn unknown() -> Self {
        Self::with(Config::default(), SEED)
    }

    /// A channel never seen before with these rules and this seed of chance.
    pub(crate) fn with(config: Config, seed: u64) -> Self {
        Self {
            channel: Channel::new(Arc::new(config), seed),
            now: START,
            present: Vec::new(),
            message: 1_000,
            run: 0,
            inputs: 0,
            runs: Vec::new(),
            fetch: None,
            trigger: None,
            poll: None,
            consult: None,
            log: Vec::new(),
        }
    }

    /// A chat of so many agents that just was created: dormant from two on.
    pub(crate) fn chat(count: usize) -> Self {
        Self::chat_with(count, |_| ())
    }

    /// A chat of so many agents under other rules.
    pub(crate) fn chat_with(count: usize, change: impl FnOnce(&mut Config)) -> Self {
        Self::created(Mode::Chat, count, None, change)
    }

    /// A discussion of so many agents, opened by A, before its guide.
    pub(crate) fn discussion(count: usize) -> Self {
        Self::discussion_with(count, |_| ())
    }

    /// A discussion of so many agents under other rules.
    pub(crate) fn discussion_with(count: usize, change: impl FnOnce(&mut Config)) -> Self {
        Self::created(Mode::Discussion, count, Some(A), change)
    }

    fn created(
        mode: Mode,
        count: usize,
        initiator: Option<AgentKey>,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = Config::default();
        change(&mut config);
        config.validate().unwrap();
        let mut room = Self::with(config, SEED);
        room.present = agents(count);
        let members = room.present.clone();
        room.tell(Input::Create(Creation { mode, members, initiator }));
        room
    }

    /// Gives one input, and checks everything that must always hold.
    #[track_caller]
    pub(crate) fn give(&mut self, input: impl Into<Input>) -> Step {
        let input = input.into();
        self.inputs += 1;
        assert!(self.inputs < INPUTS_MAX, "a story without an end");
        let before = self.snapshot();
        let mut twin = Channel::restore(self.channel.config().clone(), &before)
            .expect("every state can be restored");
        let (mut effects, mut echoes) = (Vec::new(), Vec::new());
        let nothing_due = self.channel.next_deadline().is_none_or(|due| due.at > self.now);
        let answer = self.channel.handle(self.now, &input, &mut effects);
        let echo = twin.handle(self.now, &input, &mut echoes);
        let after = self.snapshot();
        assert_eq!((&answer, &effects), (&echo, &echoes), "a restored twin reacts alike");
        let mut twin_after = Snapshot::default();
        twin.snapshot_into(&mut twin_after);
        assert_eq!(after, twin_after, "a restored twin changes alike");
        if answer.is_err() && nothing_due && before.now == self.now {
            assert_eq!(before, after, "a refusal changes nothing");
            assert!(effects.is_empty(), "a refusal has no effect: {effects:?}");
        }
        let forwards = before.now <= after.now;
        if forwards && forgettable(&before, &after) != after {
            assert_ne!(before.revision, after.revision, "a change is worth storing: {input:?}");
        }
        self.check();
        self.remember(&effects);
        Step { answer, effects }
    }

    /// Gives one input that is accepted.
    #[track_caller]
    pub(crate) fn tell(&mut self, input: impl Into<Input> + Debug) -> Step {
        let step = self.give(input);
        if let Err(refusal) = step.answer {
            panic!("refused: {refusal}");
        }
        step
    }

    /// Gives one input that is refused, and says why.
    #[track_caller]
    pub(crate) fn refusal(&mut self, input: impl Into<Input>) -> Refusal {
        self.give(input).answer.expect_err("must be refused")
    }

    /// What holds at every moment.
    #[track_caller]
    fn check(&self) {
        if let Err(breach) = self.channel.audit() {
            panic!("broken invariant: {breach}");
        }
        let view = self.channel.view();
        let managed = !matches!(self.phase(), PhaseKind::Disabled);
        let everybody = agents(30).into_iter().chain([STRANGER]);
        let allowed = everybody.filter(|agent| self.channel.explain(*agent).allows());
        assert!(!managed || allowed.count() <= 1, "two agents may speak");
        let rests = matches!(
            view.phase(),
            PhaseKind::Dormant
                | PhaseKind::Disabled
                | PhaseKind::Dead
                | PhaseKind::Archived
                | PhaseKind::Delivering
        );
        let switched_off = self.config().start_deadline.is_none()
            || self.config().run_deadline.is_none()
            || view.pause().is_some();
        assert!(
            rests || switched_off || self.channel.next_deadline().is_some(),
            "a channel under way always has a deadline"
        );
        let ahead = self.channel.next_deadline().is_none_or(|due| due.at > self.now);
        assert!(ahead, "the next deadline lies ahead");
    }

    fn remember(&mut self, effects: &[Effect]) {
        for effect in effects {
            match *effect {
                Effect::FetchMembers { ticket } => self.fetch = Some(ticket),
                Effect::Trigger { ticket, .. } => self.trigger = Some(ticket),
                Effect::Poll { ticket, .. } => self.poll = Some(ticket),
                Effect::Consult { ticket, .. } => self.consult = Some(ticket),
                Effect::Delete { .. }
                | Effect::Notice { .. }
                | Effect::Reminder { .. }
                | Effect::Inject { .. }
                | Effect::Deliver { .. }
                | Effect::CancelRun { .. }
                | Effect::Transition(_) => {}
            }
        }
        self.log.extend_from_slice(effects);
    }

    // ---- looking ----

    /// Everything the channel knows.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        self.channel.snapshot_into(&mut snapshot);
        snapshot
    }

    /// The rules.
    pub(crate) fn config(&self) -> &Config {
        self.channel.config()
    }

    /// Where the channel stands.
    pub(crate) fn phase(&self) -> PhaseKind {
        self.channel.view().phase()
    }

    /// How turns are kept.
    pub(crate) fn state(&self) -> TurnState {
        self.channel.view().turn_state()
    }

    /// Who has the floor.
    pub(crate) fn speaker(&self) -> Option<AgentKey> {
        self.channel.view().speaker()
    }

    /// The list in speaking order.
    pub(crate) fn order(&self) -> Vec<AgentKey> {
        self.channel.view().list().map(|seat| seat.agent).collect()
    }

    /// An agent's place in the list.
    #[track_caller]
    pub(crate) fn seat(&self, agent: AgentKey) -> Seat {
        let mut seats = self.channel.view().list();
        seats.find(|seat| seat.agent == agent).expect("listed")
    }

    /// What became of each turn of this cycle, in speaking order.
    pub(crate) fn turns(&self) -> Vec<SeatTurn> {
        self.channel.view().list().map(|seat| seat.turn).collect()
    }

    /// Why an agent may or may not speak.
    pub(crate) fn explain(&self, agent: AgentKey) -> Reason {
        self.channel.explain(agent)
    }

    /// Triggers asked for since the room was opened.
    pub(crate) fn triggers(&self) -> usize {
        let trigger = |effect: &&Effect| matches!(effect, Effect::Trigger { .. });
        self.log.iter().filter(trigger).count()
    }

    /// Grants since the room was opened.
    pub(crate) fn grants(&self) -> u64 {
        self.channel.view().turn().get()
    }

    /// The newest message.
    pub(crate) fn newest(&self) -> MessageId {
        MessageId::new(self.message)
    }

    // ---- time ----

    /// Lets so much time pass, as a host does: every deadline is met on the dot.
    #[track_caller]
    pub(crate) fn wait(&mut self, by: Duration) -> Step {
        let until = self.now + by;
        let mut effects = Vec::new();
        while let Some(due) = self.channel.next_deadline().filter(|due| due.at <= until) {
            self.now = due.at;
            effects.append(&mut self.tell(Input::Tick).effects);
        }
        self.now = until;
        effects.append(&mut self.tell(Input::Tick).effects);
        Step { answer: Ok(Answer::Accepted), effects }
    }

    /// Lets so much time pass unnoticed; the next input sees it all at once.
    pub(crate) fn sleep(&mut self, by: Duration) {
        self.now = self.now + by;
    }

    // ---- people ----

    /// A message by anybody; its id is above all before.
    #[track_caller]
    pub(crate) fn post(&mut self, author: Author, kind: MessageKind, text: &str) -> Step {
        self.message += 1;
        let id = self.message;
        self.tell(message(id, author, kind, text))
    }

    /// A person writes.
    #[track_caller]
    pub(crate) fn human(&mut self, text: &str) -> Step {
        self.post(Author::Human, MessageKind::Conversation, text)
    }

    /// An agent's account writes.
    #[track_caller]
    pub(crate) fn says(&mut self, agent: AgentKey, text: &str) -> Step {
        self.post(Author::Agent(agent), MessageKind::Conversation, text)
    }

    /// An unregistered bot writes.
    #[track_caller]
    pub(crate) fn bot(&mut self, text: &str) -> Step {
        self.post(Author::Bot, MessageKind::Conversation, text)
    }

    /// The library's own account writes.
    #[track_caller]
    pub(crate) fn moderator(&mut self, text: &str) -> Step {
        self.post(Author::Moderator, MessageKind::Conversation, text)
    }

    /// A system message (somebody joined, pinned, boosted) in somebody's name.
    #[track_caller]
    pub(crate) fn system(&mut self, author: Author) -> Step {
        self.post(author, MessageKind::System, "")
    }

    /// An edit of a message.
    #[track_caller]
    pub(crate) fn edit(&mut self, id: u64, author: Author, text: &str) -> Step {
        self.tell(Input::MessageEdited { id: MessageId::new(id), author, tail: Tail::of(text) })
    }

    // ---- runs ----

    /// A run id never used before.
    pub(crate) fn fresh_run(&mut self) -> RunId {
        self.run += 1;
        RunId::new(self.run)
    }

    /// An agent asks whether a new run may start.
    #[track_caller]
    pub(crate) fn gate(&mut self, agent: AgentKey) -> Step {
        let run = self.fresh_run();
        self.gate_run(agent, run)
    }

    /// An agent asks whether this run may start.
    #[track_caller]
    pub(crate) fn gate_run(&mut self, agent: AgentKey, run: RunId) -> Step {
        self.runs.retain(|(whose, _)| *whose != agent);
        self.runs.push((agent, run));
        self.tell(gate(agent, Some(run)))
    }

    /// An agent that has the floor starts its run.
    #[track_caller]
    pub(crate) fn start(&mut self, agent: AgentKey) -> Step {
        let step = self.gate(agent);
        assert!(step.verdict().is_allowed(), "{:?}", step.reason());
        step
    }

    /// The agent's newest run.
    #[track_caller]
    pub(crate) fn run_of(&self, agent: AgentKey) -> RunId {
        let mut runs = self.runs.iter();
        runs.find(|(whose, _)| *whose == agent).expect("has a run").1
    }

    /// The agent's newest run ends.
    #[expect(clippy::large_types_passed_by_value, reason = "it reads better")]
    #[track_caller]
    pub(crate) fn ends(&mut self, agent: AgentKey, outcome: Outcome) -> Step {
        let run = Some(self.run_of(agent));
        self.tell(ended(agent, run, outcome))
    }

    /// A whole turn with nothing to say; gives the last step.
    #[track_caller]
    pub(crate) fn passes(&mut self, agent: AgentKey) -> Step {
        self.start(agent);
        self.ends(agent, Outcome::Pass)
    }

    /// A run that ends with a reply which has not arrived yet.
    #[track_caller]
    pub(crate) fn talks(&mut self, agent: AgentKey, text: &str) -> Step {
        self.start(agent);
        self.ends(agent, spoke(text))
    }

    /// A run that has started ends with a reply that arrives at once; gives the last step.
    #[track_caller]
    pub(crate) fn talks_on(&mut self, agent: AgentKey, text: &str) -> Step {
        self.ends(agent, spoke(text));
        self.says(agent, text)
    }

    /// A whole turn with a reply that arrives at once; gives the last step.
    #[track_caller]
    pub(crate) fn speaks(&mut self, agent: AgentKey) -> Step {
        let text = format!("this is reply number {} of {}", self.message, name(agent));
        self.talks(agent, &text);
        self.says(agent, &text)
    }

    /// A whole turn with a reply that does not arrive in time.
    #[track_caller]
    pub(crate) fn speaks_unconfirmed(&mut self, agent: AgentKey, text: &str) -> Step {
        self.talks(agent, text);
        self.wait(self.config().delivery_timeout)
    }

    // ---- the host's answers ----

    /// The members are read: those present.
    #[track_caller]
    pub(crate) fn members(&mut self) -> Step {
        let ticket = self.fetch.take().expect("the members are asked for");
        let agents = self.present.clone();
        self.tell(Input::Members { ticket, agents })
    }

    /// The members are read, if they were asked for.
    #[track_caller]
    pub(crate) fn members_or_nothing(&mut self) {
        if self.phase() == PhaseKind::Refreshing {
            self.members();
        }
    }

    /// The members cannot be read.
    #[track_caller]
    pub(crate) fn members_fail(&mut self) -> Step {
        let ticket = self.fetch.take().expect("the members are asked for");
        self.settle(ticket, Settlement::Failed { retry_at: None })
    }

    /// What became of an effect.
    #[track_caller]
    pub(crate) fn settle(&mut self, ticket: Ticket, settlement: Settlement) -> Step {
        self.tell(Input::Settled { ticket, settlement })
    }

    /// The last trigger was posted as a message; gives the message's id with the step.
    #[track_caller]
    pub(crate) fn trigger_posted(&mut self) -> (u64, Step) {
        self.message += 1;
        let ticket = self.trigger.take().expect("a trigger is asked for");
        let message = Some(self.newest());
        let step = self.settle(ticket, Settlement::Done { message });
        (self.message, step)
    }

    /// The last poll was answered, with nothing new.
    #[track_caller]
    pub(crate) fn polled(&mut self) -> Step {
        let ticket = self.poll.take().expect("a poll is asked for");
        self.settle(ticket, Settlement::Done { message: None })
    }

    /// An agent comes in.
    #[track_caller]
    pub(crate) fn joins(&mut self, agent: AgentKey) -> Step {
        if !self.present.contains(&agent) {
            self.present.push(agent);
        }
        self.tell(Input::MemberJoined(agent))
    }

    /// An agent leaves.
    #[track_caller]
    pub(crate) fn leaves(&mut self, agent: AgentKey) -> Step {
        self.present.retain(|other| *other != agent);
        self.tell(Input::MemberLeft(agent))
    }

    /// Everybody passes, in the order of the list, until the list is read again.
    #[track_caller]
    pub(crate) fn all_pass(&mut self) -> Step {
        let mut last = None;
        while let Some(agent) = self.speaker() {
            last = Some(self.passes(agent));
        }
        last.expect("somebody has the floor")
    }

    /// A whole cycle in which everybody speaks, up to the first grant of the next; gives the order.
    #[track_caller]
    pub(crate) fn cycle_of_replies(&mut self) -> Vec<AgentKey> {
        let mut order = Vec::new();
        while let Some(agent) = self.speaker() {
            order.push(agent);
            self.speaks(agent);
            self.wait(secs(31));
        }
        self.human("go on");
        self.members();
        order
    }
}

/// A message as an input.
pub(crate) fn message(id: u64, author: Author, kind: MessageKind, text: &str) -> Input {
    Input::Message(Message {
        id: MessageId::new(id),
        author,
        kind,
        tail: Tail::of(text),
        backfilled: false,
    })
}

/// A gate call as an input.
pub(crate) const fn gate(agent: AgentKey, run: Option<RunId>) -> Input {
    Input::Gate { agent: Some(agent), run, latest: None }
}

/// A run's end as an input.
#[expect(clippy::large_types_passed_by_value, reason = "it reads better")]
pub(crate) const fn ended(agent: AgentKey, run: Option<RunId>, outcome: Outcome) -> Input {
    Input::RunEnded { agent, run, outcome }
}
