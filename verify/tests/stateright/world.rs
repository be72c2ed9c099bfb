//! The small room: the real core, what was stored, and what is on its way.

use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use dirigent_core::{
    AgentKey, Author, Config, Creation, Effect, Input, Message, MessageId, MessageKind, Mode,
    Outcome, RunId, Settlement, Snapshot, Tail, Ticket, Timestamp, TurnMachine,
};

/// What bounds the room.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) agents: u32,
    pub(super) config: Arc<Config>,
    pub(super) turns_max: u64,
    pub(super) crashes_max: u8,
    pub(super) repeats_max: u8,
    pub(super) retriggers: u64,
    /// How many words the person says.
    pub(super) words: u64,
    /// Whether agents leave their turns unfinished.
    pub(super) unfinished: bool,
    /// How often an agent crashes and comes back.
    pub(super) absences_max: u8,
}

/// Everything in the world: the channel, what was stored, and what is on its way.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) channel: TurnMachine,
    pub(super) stored: Arc<Snapshot>,
    /// Messages that were posted and not pushed yet, with their authors.
    pub(super) flying: Vec<(u64, Author)>,
    /// Agents that were woken and have not asked yet.
    pub(super) woken: Vec<AgentKey>,
    /// Runs under way, and whether they may still speak.
    pub(super) runs: Vec<(AgentKey, RunId, bool)>,
    pub(super) posted: u64,
    pub(super) asked: u64,
    pub(super) crashes: u8,
    pub(super) repeats: u8,
    pub(super) triggers: u64,
    pub(super) redriven: u64,
    /// How often the orchestrator was asked.
    pub(super) consults: u64,
    pub(super) absences: u8,
    /// A word of the person was taken in.
    pub(super) heard: bool,
    pub(super) archived: bool,
    /// Something was asked for after the channel was archived.
    pub(super) stirred: bool,
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
            && self.channel.snapshot() == other.channel.snapshot()
            && self.stored == other.stored
    }
}

impl Eq for World {}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut writer = Into(state);
        let written = write!(
            writer,
            "{:?} {:?} {:?}",
            self.key(),
            self.channel.snapshot(),
            self.stored.revision
        );
        assert!(written.is_ok());
    }
}

/// Debug text that goes straight into a hasher.
struct Into<'a, H>(&'a mut H);

impl<H: Hasher> Write for Into<'_, H> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Push(u64, Author),
    PushAgain(u64, Author),
    Lose(u64),
    Members(Ticket),
    MembersFail(Ticket),
    Ask(AgentKey),
    NeverAsks(AgentKey),
    Pass(AgentKey, RunId),
    Speak(AgentKey, RunId),
    Unfinished(AgentKey, RunId),
    Answer(Ticket),
    AnswerFails(Ticket),
    Vanish(AgentKey),
    Return(AgentKey),
    TimePasses,
    Archive,
    Crash,
    /// The process dies after it stored what this led to, and before it did anything of it.
    CrashAfter(Box<Event>),
}

impl Room {
    pub(super) fn keys(&self) -> impl Iterator<Item = AgentKey> + use<> {
        (1..=self.agents).map(AgentKey::new)
    }
}

impl World {
    fn key(&self) -> impl Eq + fmt::Debug + '_ {
        (
            &self.flying,
            &self.woken,
            &self.runs,
            (self.posted, self.asked, self.crashes, self.repeats),
            (self.triggers, self.redriven, self.heard, self.archived, self.stirred),
            (self.consults, self.absences),
        )
    }

    pub(super) fn begin(room: &Room) -> Self {
        let mut world = Self {
            channel: TurnMachine::new(Arc::clone(&room.config), 1),
            stored: Arc::default(),
            flying: (1..=room.words).map(|id| (id, Author::Human)).collect(),
            woken: Vec::new(),
            runs: Vec::new(),
            posted: room.words,
            asked: 0,
            crashes: 0,
            repeats: 0,
            triggers: 0,
            redriven: 0,
            consults: 0,
            absences: 0,
            heard: false,
            archived: false,
            stirred: false,
        };
        let members = room.keys().collect();
        let creation = Creation { mode: Mode::Chat, members, initiator: None };
        world.feed(Timestamp::from_millis(1_000_000), &Input::Create(creation), true);
        world
    }

    fn feed(&mut self, now: Timestamp, input: &Input, perform: bool) {
        let mut effects = Vec::new();
        let revision = self.channel.revision();
        // A refusal is as good an answer as any other here.
        let _ = self.channel.handle(now, input, &mut effects);
        if self.channel.revision() != revision {
            Arc::make_mut(&mut self.stored).clone_from(self.channel.snapshot());
        }
        if perform {
            for effect in &effects {
                self.perform(effect);
            }
        }
    }

    fn perform(&mut self, effect: &Effect) {
        match *effect {
            Effect::Deliver { .. } | Effect::FetchMembers { .. } => self.stirred |= self.archived,
            Effect::Consult { .. } => {
                self.consults += 1;
                self.stirred |= self.archived;
            }
            Effect::Trigger { ticket, agent, .. } => {
                self.triggers += 1;
                self.stirred |= self.archived;
                if !self.woken.contains(&agent) {
                    self.woken.push(agent);
                    self.woken.sort_unstable();
                }
                self.settle(ticket);
            }
            Effect::CancelRun { agent, .. } => {
                for run in self.runs.iter_mut().filter(|run| run.0 == agent) {
                    run.2 = false;
                }
            }
            Effect::Delete { ticket, .. }
            | Effect::Poll { ticket, .. }
            | Effect::Notice { ticket, .. }
            | Effect::Reminder { ticket, .. } => self.settle(ticket),
            Effect::Inject { .. } | Effect::Transition(_) => {}
        }
    }

    fn settle(&mut self, ticket: Ticket) {
        let settlement = Settlement::Done { message: None };
        self.feed(self.channel.snapshot().now, &Input::Settled { ticket, settlement }, true);
    }

    /// The process dies: its runs are gone, what is pending and wanted is done again.
    fn crash(&mut self, room: &Room) {
        self.crashes += 1;
        self.runs.clear();
        self.woken.clear();
        self.channel = TurnMachine::restore(Arc::clone(&room.config), &self.stored)
            .expect("the machine accepts what it wrote");
        for effect in self.channel.pending().to_vec() {
            if self.channel.wants(&effect.effect) {
                self.redriven += 1;
                self.perform(&effect.effect);
            } else if let Some(ticket) = effect.effect.ticket() {
                self.settle(ticket);
            }
        }
    }

    pub(super) fn apply(&mut self, event: &Event, room: &Room, perform: bool) {
        let now = self.channel.snapshot().now;
        match event {
            Event::Push(id, author) => {
                self.flying.retain(|(known, _)| known != id);
                self.push(now, *id, *author, perform);
            }
            Event::PushAgain(id, author) => {
                self.repeats += 1;
                self.push(now, *id, *author, perform);
            }
            Event::Lose(id) => self.flying.retain(|(known, _)| known != id),
            Event::Members(ticket) => {
                let agents = room.keys().collect();
                self.feed(now, &Input::Members { ticket: *ticket, agents }, perform);
            }
            Event::MembersFail(ticket) | Event::AnswerFails(ticket) => {
                let settlement = Settlement::Failed { retry_at: None };
                self.feed(now, &Input::Settled { ticket: *ticket, settlement }, perform);
            }
            Event::Ask(agent) => self.ask(now, *agent, perform),
            Event::NeverAsks(agent) => self.woken.retain(|known| known != agent),
            Event::Pass(agent, run) => self.end(now, *agent, *run, &Outcome::Pass, perform),
            Event::Speak(agent, run) => {
                self.posted += 1;
                self.flying.push((self.posted, Author::Agent(*agent)));
                let outcome = Outcome::Spoke { tail: Tail::of("words") };
                self.end(now, *agent, *run, &outcome, perform);
            }
            Event::Unfinished(agent, run) => {
                let outcome = Outcome::Unfinished { tail: Tail::of("words") };
                self.end(now, *agent, *run, &outcome, perform);
            }
            Event::Answer(ticket) => {
                let settlement = Settlement::Done { message: None };
                self.feed(now, &Input::Settled { ticket: *ticket, settlement }, perform);
            }
            Event::Vanish(agent) => {
                self.absences += 1;
                self.runs.retain(|run| run.0 != *agent);
                self.feed(now, &Input::Offline(*agent), perform);
            }
            Event::Return(agent) => self.feed(now, &Input::Online(*agent), perform),
            Event::TimePasses => {
                if let Some(deadline) = self.channel.next_deadline() {
                    self.feed(deadline.at, &Input::Tick, perform);
                }
            }
            Event::Archive => {
                self.feed(now, &Input::Archive, perform);
                self.archived = true;
            }
            Event::Crash => self.crash(room),
            Event::CrashAfter(event) => {
                self.apply(event, room, false);
                self.crash(room);
            }
        }
    }

    fn push(&mut self, now: Timestamp, id: u64, author: Author, perform: bool) {
        self.heard |= author == Author::Human;
        let message = Message {
            id: MessageId::new(id),
            author,
            kind: MessageKind::Conversation,
            tail: Tail::of("words"),
            backfilled: false,
        };
        self.feed(now, &Input::Message(message), perform);
    }

    fn ask(&mut self, now: Timestamp, agent: AgentKey, perform: bool) {
        self.woken.retain(|known| *known != agent);
        self.asked += 1;
        let run = RunId::new(self.asked);
        let mut effects = Vec::new();
        let gate = Input::Gate { agent: Some(agent), run: Some(run), latest: None };
        let allowed = self
            .channel
            .clone()
            .handle(now, &gate, &mut effects)
            .is_ok_and(|answer| answer.verdict().is_some_and(|verdict| verdict.is_allowed()));
        self.feed(now, &gate, perform);
        if allowed {
            self.runs.push((agent, run, true));
        }
    }

    fn end(
        &mut self,
        now: Timestamp,
        agent: AgentKey,
        run: RunId,
        outcome: &Outcome,
        perform: bool,
    ) {
        self.runs.retain(|known| known.1 != run);
        self.feed(now, &Input::RunEnded { agent, run: Some(run), outcome: *outcome }, perform);
    }

    fn absent_events(&self, events: &mut Vec<Event>, room: &Room) {
        if self.absences < room.absences_max {
            events.extend(room.keys().map(Event::Vanish));
        }
        let away = self.channel.view().away().iter();
        events.extend(away.map(|away| Event::Return(away.agent)));
    }

    pub(super) fn plain_events(&self, events: &mut Vec<Event>, room: &Room) {
        for (id, author) in &self.flying {
            events.push(Event::Push(*id, *author));
            events.push(Event::Lose(*id));
            if self.repeats < room.repeats_max {
                events.push(Event::PushAgain(*id, *author));
            }
        }
        for effect in self.channel.pending() {
            if let Effect::FetchMembers { ticket } = effect.effect {
                events.push(Event::Members(ticket));
                events.push(Event::MembersFail(ticket));
            }
            if let Effect::Consult { ticket, .. } = effect.effect {
                events.push(Event::Answer(ticket));
                events.push(Event::AnswerFails(ticket));
            }
        }
        self.absent_events(events, room);
        for agent in &self.woken {
            events.push(Event::Ask(*agent));
            events.push(Event::NeverAsks(*agent));
        }
        for (agent, run, _) in &self.runs {
            events.push(Event::Pass(*agent, *run));
            events.push(Event::Speak(*agent, *run));
            if room.unfinished {
                events.push(Event::Unfinished(*agent, *run));
            }
        }
        if self.channel.next_deadline().is_some() {
            events.push(Event::TimePasses);
        }
        if !self.archived {
            events.push(Event::Archive);
        }
    }
}
