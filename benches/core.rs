//! What one turn costs the machine alone, and that it costs the same at any age and size.
//!
//! `cargo bench --bench core`

use std::sync::Arc;

use dirigent_core::{
    AgentKey, Author, Config, Effect, Input, Message, MessageId, MessageKind, Mode, Outcome, RunId,
    Settlement, Tail, Timestamp, TurnMachine,
};
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// A chat after a given number of turns.
struct Room {
    channel: TurnMachine,
    effects: Vec<Effect>,
    members: Vec<AgentKey>,
    now: u64,
    message: u64,
    run: u64,
    reply: Tail,
}

impl Room {
    fn after(turns: usize, agents: u32) -> Self {
        let mut config = Config::default();
        (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None);
        let mut room = Self {
            channel: TurnMachine::new(Arc::new(config), 1),
            effects: Vec::new(),
            members: (0..agents).map(AgentKey::new).collect(),
            now: 1,
            message: 1,
            run: 1,
            reply: Tail::of("I have looked at the point above and agree with it."),
        };
        room.give(&Input::SetMode(Mode::Chat));
        room.settle();
        let kind = MessageKind::Conversation;
        let (id, author, tail) = (room.next_message(), Author::Human, Tail::of("begin"));
        room.give(&Input::Message(Message { id, author, kind, tail, backfilled: false }));
        room.settle();
        (0..turns).for_each(|_| room.turn());
        room
    }

    fn next_message(&mut self) -> MessageId {
        self.message += 1;
        MessageId::new(self.message)
    }

    fn give(&mut self, input: &Input) {
        self.now += 1;
        let _ = self.channel.handle(Timestamp::from_millis(self.now), input, &mut self.effects);
    }

    /// Answers what the machine asked for, as a driver would.
    fn settle(&mut self) {
        while let Some(effect) = self.effects.pop() {
            match (effect, effect.ticket()) {
                (Effect::FetchMembers { ticket }, _) => {
                    let agents = std::mem::take(&mut self.members);
                    let input = Input::Members { ticket, agents };
                    self.give(&input);
                    if let Input::Members { agents, .. } = input {
                        self.members = agents;
                    }
                }
                (_, Some(ticket)) => {
                    let settlement = Settlement::Done { message: None };
                    self.give(&Input::Settled { ticket, settlement });
                }
                (_, None) => {}
            }
        }
    }

    /// One full turn: gate, end, confirm by the message seen, advance, and all answers.
    fn turn(&mut self) {
        let speaker = self.channel.view().speaker();
        self.run += 1;
        let run = Some(RunId::new(self.run));
        self.give(&Input::Gate { agent: speaker, run, latest: None });
        let Some(agent) = speaker else { return };
        let tail = self.reply;
        self.give(&Input::RunEnded { agent, run, outcome: Outcome::Spoke { tail } });
        let id = self.next_message();
        let author = Author::Agent(agent);
        let kind = MessageKind::Conversation;
        self.give(&Input::Message(Message { id, author, kind, tail, backfilled: false }));
        self.settle();
    }
}

/// Turns a sample, so that a boundary's share is in it.
const TURNS: usize = 320;

#[divan::bench(args = [2, 8, 32])]
fn full_turn(bencher: divan::Bencher<'_, '_>, agents: u32) {
    let mut room = Room::after(1_000, agents);
    bencher.counter(ItemsCount::new(TURNS)).bench_local(|| (0..TURNS).for_each(|_| room.turn()));
}

#[divan::bench(args = [100, 1_000, 10_000])]
fn full_turn_at_age(bencher: divan::Bencher<'_, '_>, age: usize) {
    let mut room = Room::after(age, 8);
    bencher.counter(ItemsCount::new(TURNS)).bench_local(|| (0..TURNS).for_each(|_| room.turn()));
}

#[divan::bench]
fn denied_gate(bencher: divan::Bencher<'_, '_>) {
    let mut room = Room::after(1_000, 8);
    bencher.bench_local(|| {
        room.give(&Input::Gate { agent: Some(AgentKey::new(99)), run: None, latest: None });
    });
}
