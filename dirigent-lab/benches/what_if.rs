//! Processor time of an evening of 10,000 turns under four rule sets: `cargo bench -p dirigent-lab`. It fails above two seconds.
//!
//! It counts the time of the thread, because that does not depend on what else the machine does.

#![expect(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "this is a measurement")]

use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;
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

/// The most that is promised.
const PROMISED: Duration = Duration::from_secs(2);

#[expect(clippy::print_stdout, reason = "this is what one came to see")]
fn main() {
    // `cargo test --benches` only looks whether it runs.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let turns = if is_test { 100 } else { 10_000 };
    let recorded = long_evening(turns);
    let mut times: Vec<Duration> = (0..5).map(|_| four_rule_sets(&recorded)).collect();
    times.sort_unstable();
    let [best, .., worst] = times.as_slice() else { return };
    println!("{turns} turns under four rule sets: {best:.2?} to {worst:.2?} of processor time");
    assert!(*best <= PROMISED, "promised are {PROMISED:?}");
}

/// The processor time from the recording to the figures under all rule sets.
fn four_rule_sets(recorded: &RecordedChannel) -> Duration {
    let began = ThreadTime::now();
    let evening = Evening::of(recorded).unwrap();
    for rules in RULES {
        let played = evening.under(&rules.parse().unwrap(), Assumption::Passes).unwrap();
        assert!(played.taken * 10 > recorded.inputs.len() / 10, "{rules}");
    }
    began.elapsed()
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
