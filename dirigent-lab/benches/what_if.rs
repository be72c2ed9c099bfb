//! How long an evening of 10,000 turns takes under four rule sets: `cargo bench -p dirigent-lab`.

#![expect(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "this is a measurement")]

use std::sync::Arc;

use dirigent::Config;
use dirigent::replay::RecordedChannel;
use dirigent_core::{
    AgentKey, Author, Creation, Effect, Input, Message, MessageId, MessageKind, Mode, Outcome,
    PhaseKind, RunId, Settlement, Snapshot, Tail, Timestamp, TurnMachine,
};
use dirigent_lab::{Assumption, Evening};

const RULES: [&str; 4] = [
    "order.skip_passed=true",
    "ceilings.chat.turns=8",
    "people.human_interrupt=queue",
    "order.skip_last_speaker=false",
];

fn main() {
    divan::main();
}

/// A room of four whose agents speak in three turns of four.
struct Room {
    machine: TurnMachine,
    recorded: RecordedChannel,
    now: u64,
    effects: Vec<Effect>,
}

impl Room {
    fn give(&mut self, input: Input) {
        self.effects.clear();
        let at = Timestamp::from_millis(self.now);
        let _ = self.machine.handle(at, &input, &mut self.effects);
        self.recorded.inputs.push((at, input));
        for effect in self.effects.clone() {
            if let Some(ticket) = effect.ticket() {
                let settlement = Settlement::Done { message: None };
                let input = match effect {
                    Effect::FetchMembers { .. } => {
                        Input::Members { ticket, agents: (0..4).map(AgentKey::new).collect() }
                    }
                    _ => Input::Settled { ticket, settlement },
                };
                self.give(input);
            }
        }
    }

    fn message(&mut self, id: u64, author: Author) {
        let id = MessageId::new(id);
        let (kind, tail) = (MessageKind::Conversation, Tail::of("words"));
        self.give(Input::Message(Message { id, author, kind, tail, backfilled: false }));
    }
}

fn long_evening(turns: u64) -> RecordedChannel {
    let config = Arc::new(Config::default());
    let recorded = RecordedChannel::new(Arc::clone(&config), Snapshot::default());
    let machine = TurnMachine::new(config, 0);
    let mut room = Room { machine, recorded, now: 1, effects: Vec::new() };
    let members = (0..4).map(AgentKey::new).collect();
    room.give(Input::Create(Creation { mode: Mode::Chat, members, initiator: None }));
    for turn in 1..=turns {
        room.now += 1_000;
        if room.machine.view().phase() == PhaseKind::Dormant {
            room.message(turn * 10, Author::Human);
        }
        let Some(agent) = room.machine.view().speaker() else { continue };
        let run = Some(RunId::new(turn));
        room.give(Input::Gate { agent: Some(agent), run, latest: None });
        if turn % 40 < 30 {
            room.give(Input::Replied { agent, run, next: None });
            let id = MessageId::new(turn * 10 + 1);
            room.give(Input::Receipt { agent, run, messages: vec![id] });
            let outcome = Outcome::Spoke { tail: Tail::of("words") };
            room.give(Input::RunEnded { agent, run, outcome });
            room.message(turn * 10 + 1, Author::Agent(agent));
        } else {
            room.give(Input::RunEnded { agent, run, outcome: Outcome::Pass });
        }
    }
    room.recorded
}

#[divan::bench(sample_count = 5)]
fn ten_thousand_turns_under_four_rule_sets(bencher: divan::Bencher<'_, '_>) {
    let recorded = long_evening(10_000);
    bencher.bench_local(|| {
        let evening = Evening::of(&recorded).unwrap();
        RULES.map(|rules| {
            let played = evening.under(&rules.parse().unwrap(), Assumption::Passes).unwrap();
            assert!(played.taken > 1_000);
            played.figures.calls
        })
    });
}
