//! How much a channel allocates and owns, and how long it computes.

use std::sync::Arc;
use std::time::Duration;

use crate::room::{agents, spoke};
use allocation_counter::measure;
use cpu_time::ThreadTime;
use dirigent_core::{
    AgentKey, Author, Config, Creation, Effect, Input, Message, MessageId, MessageKind, Mode,
    Outcome, PhaseKind, RunId, Settlement, Snapshot, Tail, Ticket, Timestamp, TurnMachine,
};

/// A channel without any test harness, which would allocate itself.
struct Bare {
    channel: TurnMachine,
    effects: Vec<Effect>,
    now: u64,
    message: u64,
    run: u64,
    /// Allocations made inside `handle`.
    allocations: u64,
    /// The longest time that one `handle` computed.
    slowest: Duration,
}

impl Bare {
    fn chat(count: usize) -> Self {
        let mut config = Config::default();
        config.ceilings.chat.turns = None;
        config.ceilings.chat.cycles = None;
        let mut bare = Self {
            channel: TurnMachine::new(Arc::new(config), 5),
            effects: Vec::with_capacity(64),
            now: 1_000_000,
            message: 0,
            run: 0,
            allocations: 0,
            slowest: Duration::ZERO,
        };
        let members = agents(count);
        bare.give(&Input::Create(Creation { mode: Mode::Chat, members, initiator: None }));
        bare
    }

    fn give(&mut self, input: &Input) {
        self.effects.clear();
        let now = Timestamp::from_millis(self.now);
        let cost = measure(|| {
            let began = ThreadTime::now();
            let _ = self.channel.handle(now, input, &mut self.effects);
            self.slowest = self.slowest.max(began.elapsed());
        });
        self.allocations += cost.count_total;
    }

    fn post(&mut self, author: Author, text: &str) {
        self.message += 1;
        let id = MessageId::new(self.message);
        let kind = MessageKind::Conversation;
        self.give(&Input::Message(Message {
            id,
            author,
            kind,
            tail: Tail::of(text),
            backfilled: false,
        }));
    }

    fn ticket(&self) -> Option<Ticket> {
        self.effects.iter().find_map(Effect::ticket)
    }

    /// A trigger is posted and deleted, others try, the agent runs, is interrupted in nothing,
    /// replies in two pieces, is polled for and confirmed; at a boundary the members are read.
    fn turn(&mut self, everybody: &[AgentKey]) {
        self.now += 100;
        let agent = self.channel.view().speaker().expect("somebody has the floor");
        self.settle(true);
        self.settle(false);
        self.run += 10;
        for (at, other) in (1..).zip(everybody.iter().take(3)) {
            let run = Some(RunId::new(self.run + at));
            self.give(&Input::Gate { agent: Some(*other), run, latest: None });
        }
        let run = Some(RunId::new(self.run));
        self.give(&Input::Gate { agent: Some(agent), run, latest: None });
        self.post(Author::Agent(agent), "first half, ");
        self.post(Author::Human, "go on");
        let run = Some(RunId::new(self.run));
        let outcome = spoke("first half, second half");
        self.give(&Input::RunEnded { agent, run, outcome });
        self.now += 400;
        self.give(&Input::Tick);
        self.settle(false);
        self.post(Author::Agent(agent), "second half");
        if let Some(ticket) = self.ticket() {
            if self.channel.view().phase() == PhaseKind::Refreshing {
                self.give(&Input::Members { ticket, agents: everybody.to_vec() });
            }
        }
    }

    /// Everybody passes, four are left at the boundary, and the channel rests until it has
    /// forgotten. Two hundred rounds are more than that takes.
    fn fall_asleep(&mut self) {
        for _ in 0..200 {
            self.settle(false);
            if let Some(agent) = self.channel.view().speaker() {
                self.run += 1;
                let run = Some(RunId::new(self.run));
                self.give(&Input::Gate { agent: Some(agent), run, latest: None });
                self.give(&Input::RunEnded { agent, run, outcome: Outcome::Pass });
            }
            if let Some(ticket) = self.ticket() {
                if self.channel.view().phase() == PhaseKind::Refreshing {
                    self.give(&Input::Members { ticket, agents: agents(4) });
                }
            }
        }
        self.now += 600_000;
        self.give(&Input::Tick);
        assert!(self.channel.next_deadline().is_none(), "it has nothing left to do");
    }

    fn settle(&mut self, posted: bool) {
        if let Some(ticket) = self.ticket() {
            self.message += u64::from(posted);
            let message = posted.then(|| MessageId::new(self.message));
            self.give(&Input::Settled { ticket, settlement: Settlement::Done { message } });
        }
    }
}

/// R282: every decision of 130 turns with as many agents as a channel takes. Far less than 100 ms, even where
/// nothing is optimised; the benches say how many microseconds it is.
#[test]
fn no_decision_computes_for_more_than_ten_milliseconds() {
    let everybody = agents(64);
    let mut bare = Bare::chat(64);
    bare.post(Author::Human, "hello");
    for _ in 0..130 {
        bare.turn(&everybody);
    }
    assert!(bare.channel.view().turn().get() >= 130, "turns were given");
    assert!(bare.slowest < Duration::from_millis(10), "{:?}", bare.slowest);
}

/// I13
#[test]
fn a_warm_channel_does_not_allocate() {
    for count in [2, 3, 8, 64] {
        let everybody = agents(count);
        let mut bare = Bare::chat(count);
        bare.post(Author::Human, "hello");
        for _ in 0..400 {
            bare.turn(&everybody);
        }
        bare.allocations = 0;
        for _ in 0..2 * count {
            bare.turn(&everybody);
        }
        assert_eq!(bare.allocations, 0, "{count} agents, two cycles");
    }
}

/// I13
#[test]
fn asking_and_looking_never_allocate() {
    let mut bare = Bare::chat(4);
    bare.post(Author::Human, "hello");
    let cost = measure(|| {
        let view = bare.channel.view();
        assert_eq!(view.list().len(), 4);
        assert!(view.deadline().is_some());
        assert!(bare.channel.explain(AgentKey::new(1)).allows());
        assert!(bare.channel.audit().is_ok());
        assert!(!bare.channel.pending().is_empty());
    });
    assert_eq!(cost.count_total, 0);
}

/// I13
#[test]
fn a_copy_into_a_used_snapshot_does_not_allocate() {
    let everybody = agents(4);
    let mut bare = Bare::chat(4);
    bare.post(Author::Human, "hello");
    for _ in 0..100 {
        bare.turn(&everybody);
    }
    let mut buffer = Snapshot::default();
    buffer.clone_from(bare.channel.snapshot());
    let cost = measure(|| buffer.clone_from(bare.channel.snapshot()));
    assert_eq!(cost.count_total, 0);
}

/// Bytes that a channel owns after this life: the value itself and what it holds on the heap.
fn owned_after(life: impl FnOnce() -> TurnMachine) -> u64 {
    let mut kept = None;
    let cost = measure(|| kept = Some(life()));
    assert!(kept.is_some());
    u64::try_from(cost.bytes_current).unwrap() + size_of::<TurnMachine>() as u64
}

/// D78, I13
#[test]
fn an_idle_channel_of_four_owns_at_most_480_bytes() {
    let config = Arc::new(Config::default());
    let owned = owned_after(|| {
        let mut bare = Bare::chat(4);
        bare.channel = TurnMachine::restore(config.clone(), bare.channel.snapshot()).unwrap();
        let everybody = agents(4);
        bare.post(Author::Human, "hello");
        for _ in 0..16 {
            bare.turn(&everybody);
        }
        bare.fall_asleep();
        bare.channel
    });
    assert!(owned <= 480, "{owned} bytes, of which {} are the value", size_of::<TurnMachine>());
}

/// D78, I13
#[test]
fn what_a_crowd_needed_is_given_back_when_it_has_gone() {
    let mut config = Config::default();
    config.ceilings.chat.turns = None;
    let config = Arc::new(config);
    let owned = owned_after(|| {
        let mut bare = Bare::chat(64);
        bare.channel = TurnMachine::restore(config.clone(), bare.channel.snapshot()).unwrap();
        bare.post(Author::Human, "hello");
        bare.fall_asleep();
        assert_eq!(bare.channel.view().list().len(), 4);
        bare.channel
    });
    assert!(owned <= 480, "{owned} bytes for the four who stayed");
}

/// D78, I13
#[test]
fn a_channel_never_owns_more_than_eight_kilobytes() {
    let config = Arc::new(Config::default());
    let owned = [2, 16, 64].map(|count| {
        owned_after(|| {
            let mut bare = Bare::chat(count);
            bare.channel = TurnMachine::restore(config.clone(), bare.channel.snapshot()).unwrap();
            for number in 1_000..1_064 {
                bare.give(&Input::Mute(AgentKey::new(number)));
            }
            bare.post(Author::Human, "hello");
            // Many messages, many runs, many unsettled effects, a reply of many pieces.
            for round in 0..400 {
                bare.post(Author::Human, "and another thing");
                let agent = bare.channel.view().speaker();
                if let Some(agent) = agent {
                    bare.run += 1;
                    let run = Some(RunId::new(bare.run));
                    bare.give(&Input::Gate { agent: Some(agent), run, latest: None });
                    for _ in 0..12 {
                        bare.post(Author::Agent(agent), "漢字漢字漢字漢字漢字漢字漢字漢字");
                    }
                    if round < 399 {
                        bare.give(&Input::RunEnded { agent, run, outcome: spoke("gone") });
                        bare.now += 15_000;
                        bare.give(&Input::Tick);
                    }
                } else {
                    bare.now += 10_000;
                    bare.give(&Input::Tick);
                }
            }
            bare.channel
        })
    });
    let size = size_of::<TurnMachine>();
    let small = owned.iter().all(|bytes| *bytes <= 8 * 1024);
    assert!(small, "{owned:?} bytes with 2, 16, 64 agents, of which {size} are the value");
}

/// I13
#[test]
fn the_ten_thousandth_turn_costs_what_the_hundredth_did() {
    let everybody = agents(3);
    let mut bare = Bare::chat(3);
    bare.post(Author::Human, "hello");
    let size = |bare: &Bare| {
        let Snapshot { state, pending, .. } = bare.channel.snapshot();
        let recent = state.seen.recent.as_ref().unwrap();
        let stale = pending.stale.get().map_or(0, Vec::len);
        let (listed, pending) = (state.roster.list.slots.len(), pending.effects.len());
        (listed, recent.messages.len(), recent.runs.as_slice().len(), pending, stale)
    };
    for _ in 0..300 {
        bare.turn(&everybody);
    }
    let early = size(&bare);
    let hundredth = bare.allocations;
    for _ in 300..10_000 {
        bare.turn(&everybody);
    }
    assert_eq!(early, size(&bare), "the state is as long as it was");
    assert_eq!(bare.allocations, hundredth, "and nothing was allocated since");
    assert!(bare.channel.view().turn().get() > 9_999);
}
