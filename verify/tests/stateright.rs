//! Every order of events in a small room: three agents, one message of a person, a network that
//! loses, repeats and reorders, a process that dies at any step, an operator who archives.
//!
//! The model stands around the real core. `DIRIGENT_STATES` bounds how many states are generated.
use std::env;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{
    AgentKey, Author, Channel, Config, Creation, Effect, HumanInterrupt, Input, Message, MessageId,
    MessageKind, Mode, Outcome, PhaseKind, RunId, Settlement, Snapshot, Tail, Ticket, Timestamp,
    TurnId,
};
use stateright::{Checker, Model, Property};

/// What bounds the room.
#[derive(Clone, Debug)]
struct Room {
    agents: u32,
    config: Arc<Config>,
    turns_max: u64,
    crashes_max: u8,
    repeats_max: u8,
    retriggers: u64,
    /// How many words the person says.
    words: u64,
    /// Whether agents leave their turns unfinished.
    unfinished: bool,
    /// How often an agent crashes and comes back.
    absences_max: u8,
}

/// Everything in the world: the channel, what was stored, and what is on its way.
#[derive(Clone, Debug)]
struct World {
    channel: Channel,
    now: Snapshot,
    stored: Arc<Snapshot>,
    /// Messages that were posted and not pushed yet, with their authors.
    flying: Vec<(u64, Author)>,
    /// Agents that were woken and have not asked yet.
    woken: Vec<AgentKey>,
    /// Runs under way, and whether they may still speak.
    runs: Vec<(AgentKey, RunId, bool)>,
    posted: u64,
    asked: u64,
    crashes: u8,
    repeats: u8,
    triggers: u64,
    redriven: u64,
    /// How often the orchestrator was asked.
    consults: u64,
    absences: u8,
    /// A word of the person was taken in.
    heard: bool,
    archived: bool,
    /// Something was asked for after the channel was archived.
    stirred: bool,
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key() && self.now == other.now && self.stored == other.stored
    }
}

impl Eq for World {}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut writer = Into(state);
        let written = write!(writer, "{:?} {:?} {:?}", self.key(), self.now, self.stored.revision);
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
enum Event {
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
    fn keys(&self) -> impl Iterator<Item = AgentKey> + use<> {
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

    fn begin(room: &Room) -> Self {
        let mut world = Self {
            channel: Channel::new(Arc::clone(&room.config), 1),
            now: Snapshot::default(),
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
            self.channel.snapshot_into(Arc::make_mut(&mut self.stored));
        }
        if perform {
            for effect in &effects {
                self.perform(effect);
            }
        }
        self.channel.snapshot_into(&mut self.now);
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
        self.feed(self.now.now, &Input::Settled { ticket, settlement }, true);
    }

    /// The process dies: its runs are gone, what is owed and wanted is done again.
    fn crash(&mut self, room: &Room) {
        self.crashes += 1;
        self.runs.clear();
        self.woken.clear();
        self.channel = Channel::restore(Arc::clone(&room.config), &self.stored)
            .expect("the machine accepts what it wrote");
        self.channel.snapshot_into(&mut self.now);
        for debt in self.channel.pending().to_vec() {
            if self.channel.wants(&debt.effect) {
                self.redriven += 1;
                self.perform(&debt.effect);
            } else if let Some(ticket) = debt.effect.ticket() {
                self.settle(ticket);
            }
        }
    }

    fn apply(&mut self, event: &Event, room: &Room, perform: bool) {
        let now = self.now.now;
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

    fn plain_events(&self, events: &mut Vec<Event>, room: &Room) {
        for (id, author) in &self.flying {
            events.push(Event::Push(*id, *author));
            events.push(Event::Lose(*id));
            if self.repeats < room.repeats_max {
                events.push(Event::PushAgain(*id, *author));
            }
        }
        for debt in self.channel.pending() {
            if let Effect::FetchMembers { ticket } = debt.effect {
                events.push(Event::Members(ticket));
                events.push(Event::MembersFail(ticket));
            }
            if let Effect::Consult { ticket, .. } = debt.effect {
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

impl Model for Room {
    type State = World;
    type Action = Event;

    fn init_states(&self) -> Vec<World> {
        vec![World::begin(self)]
    }

    fn actions(&self, world: &World, events: &mut Vec<Event>) {
        world.plain_events(events, self);
        if world.crashes < self.crashes_max {
            let after = events.clone().into_iter().map(|event| Event::CrashAfter(Box::new(event)));
            events.extend(after.collect::<Vec<_>>());
            events.push(Event::Crash);
        }
    }

    fn next_state(&self, world: &World, event: Event) -> Option<World> {
        let mut next = world.clone();
        next.apply(&event, self, true);
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("I1: at most one run is allowed", |room: &Self, world: &World| {
                let may =
                    room.keys().filter(|agent| world.channel.explain(*agent).allows()).count();
                world.runs.iter().filter(|run| run.2).count() <= 1 && may <= 1
            }),
            Property::always("I3: nothing waits without a deadline", |_, world: &World| {
                let waits = !matches!(
                    world.channel.view().phase(),
                    PhaseKind::Dormant | PhaseKind::Archived
                );
                let ahead = |deadline: dirigent_core::Deadline| deadline.at > world.now.now;
                world.channel.next_deadline().map_or(!waits, ahead)
            }),
            Property::always("I6: archived is for ever", |_, world: &World| {
                let archived = world.channel.view().phase() == PhaseKind::Archived;
                archived == world.archived && !world.stirred
            }),
            Property::always("T1: triggers are counted", |room: &Self, world: &World| {
                let turns = world.channel.view().turn().get();
                let continued = u64::from(room.config.continuations);
                let once = 1 + room.retriggers + continued;
                world.triggers <= turns * once + world.redriven + world.consults
            }),
            Property::always("R1: the audit finds nothing", |_, world: &World| {
                world.channel.audit().is_ok()
            }),
            Property::always("H1: what is held is kept in mind", |_, world: &World| {
                let view = world.channel.view();
                let dormant = view.phase() == PhaseKind::Dormant;
                !dormant || view.held().is_none() || view.is_wake_pending()
            }),
            Property::always("A1: nobody speaks who is away", |_, world: &World| {
                let view = world.channel.view();
                view.away().iter().all(|away| Some(away.agent) != view.speaker())
            }),
            Property::always(
                "an archived or dormant channel has no turn that rests",
                |_, world: &World| {
                    let view = world.channel.view();
                    view.asked().is_none() || view.phase() == PhaseKind::Waiting
                },
            ),
            Property::sometimes("a whole round is lived through", |room: &Self, world: &World| {
                let view = world.channel.view();
                let dormant = view.phase() == PhaseKind::Dormant;
                view.turn() >= TurnId::new(u64::from(room.agents)) && dormant
            }),
            Property::sometimes("a reply is confirmed", |room: &Self, world: &World| {
                let spoke = |seat: dirigent_core::Seat| seat.turn == dirigent_core::SeatTurn::Spoke;
                let crashed = room.crashes_max == 0 || world.crashes > 0;
                crashed && world.channel.view().list().any(spoke)
            }),
        ]
    }

    fn within_boundary(&self, world: &World) -> bool {
        world.channel.view().turn().get() <= self.turns_max
    }
}

/// No polls, which would only repeat what a push does.
fn rules() -> Config {
    let mut config = Config::default();
    config.poll_first = Duration::from_secs(60);
    config.retriggers = 1;
    config
}

/// Goes through the room up to so many generated states.
fn explore(room: Room, states: usize, all: bool) -> (usize, bool) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let builder = room.checker().threads(threads).target_state_count(states);
    // Depth first keeps few states in memory; breadth first reaches each the shortest way.
    if all {
        finish(&builder.spawn_dfs().join(), states)
    } else {
        finish(&builder.spawn_bfs().join(), states)
    }
}

fn finish(checker: &impl Checker<Room>, states: usize) -> (usize, bool) {
    println!(
        "{} states generated, {} unique, depth {}",
        checker.state_count(),
        checker.unique_state_count(),
        checker.max_depth()
    );
    checker.assert_properties();
    (checker.state_count(), checker.state_count() < states)
}

#[test]
fn every_order_of_events_in_a_room_of_three() {
    let states = env::var("DIRIGENT_STATES").ok().and_then(|text| text.parse().ok());
    let room = Room {
        agents: 3,
        config: Arc::new(rules()),
        turns_max: 4,
        crashes_max: 1,
        repeats_max: 1,
        retriggers: 1,
        words: 1,
        unfinished: false,
        absences_max: 0,
    };
    let (generated, _) = explore(room, states.unwrap_or(600_000), false);
    assert!(generated >= 100_000);
}

#[test]
fn every_order_of_events_in_a_room_of_two_to_the_end() {
    let room = Room {
        agents: 2,
        config: Arc::new(rules()),
        turns_max: 3,
        crashes_max: 0,
        repeats_max: 1,
        retriggers: 1,
        words: 1,
        unfinished: false,
        absences_max: 0,
    };
    let (_, complete) = explore(room, 5_000_000, true);
    assert!(complete, "the room has become too large to go through it all");
}

/// R249-R252, R262-R271, M11, M12
#[test]
fn every_order_of_events_where_turns_rest_go_on_and_break_off() {
    let mut config = rules();
    config.human_interrupt = HumanInterrupt::Interrupt;
    config.continuations = 1;
    config.auto_requeue = true;
    config.turn_deadline = Some(Duration::from_secs(90));
    let room = Room {
        agents: 2,
        config: Arc::new(config),
        turns_max: 3,
        crashes_max: 1,
        repeats_max: 0,
        retriggers: 1,
        words: 2,
        unfinished: true,
        absences_max: 1,
    };
    let states = env::var("DIRIGENT_STATES").ok().and_then(|text| text.parse().ok());
    let (generated, _) = explore(room, states.unwrap_or(400_000), false);
    assert!(generated >= 100_000);
}

/// R264, R265, M11
#[test]
fn every_order_of_events_where_words_are_held() {
    let mut config = rules();
    config.human_interrupt = HumanInterrupt::Queue;
    config.skip_passed = true;
    let room = Room {
        agents: 2,
        config: Arc::new(config),
        turns_max: 3,
        crashes_max: 0,
        repeats_max: 0,
        retriggers: 1,
        words: 2,
        unfinished: true,
        absences_max: 2,
    };
    let states = env::var("DIRIGENT_STATES").ok().and_then(|text| text.parse().ok());
    let (generated, _) = explore(room, states.unwrap_or(400_000), false);
    assert!(generated >= 100_000);
}
