//! The floor: the rotation and the ceiling of the turn machine.

use std::sync::Arc;

use dirigent_core::{
    AgentKey, Config, Creation, Effect, Input, MessageId, Mode, Outcome, RunId, Settlement, Tail,
    Timestamp, TurnMachine, WakeCause,
};

use crate::machine::plan::{CastPlace, Plan};

/// A channel of the turn machine in which the seats are agents. Two characters alternate. Three or more speak once in
/// each round, in an order that is drawn anew. None speaks twice in a row, unless another entered or left in between.
#[derive(Clone, Debug)]
pub(super) struct Floor {
    channel: TurnMachine,
    /// The characters present, in ascending order.
    present: Vec<AgentKey>,
    granted: Option<AgentKey>,
    /// The number of grants so far.
    turns: u32,
    /// A buffer.
    effects: Vec<Effect>,
}

/// Returns the rules: only its speech ends a turn, and only the ceiling ends the rotation.
fn config(turns_max: u32) -> Arc<Config> {
    let config = Config::default().with(|config| {
        config.deadlines.start = None;
        config.deadlines.run = None;
        config.order.skip_last_speaker = false;
        config.ceilings.chat.cycles = None;
        config.ceilings.chat.turns = Some(turns_max.max(1));
    });
    Arc::new(config)
}

fn key(seat: CastPlace) -> AgentKey {
    AgentKey::new(u32::try_from(seat.index()).unwrap_or(u32::MAX))
}

fn seat(key: AgentKey) -> CastPlace {
    CastPlace::new(u8::try_from(key.get()).unwrap_or(u8::MAX))
}

impl Floor {
    pub(super) fn new(plan: &Plan) -> Self {
        let channel = TurnMachine::new(config(u32::MAX), plan.seed);
        Self { channel, present: Vec::new(), granted: None, turns: 0, effects: Vec::new() }
    }

    /// Gives the floor to the first in this order.
    pub(super) fn open(
        &mut self,
        now: Timestamp,
        order: &[CastPlace],
        turns: u32,
    ) -> Option<CastPlace> {
        let members: Vec<AgentKey> = order.iter().copied().map(key).collect();
        self.present.clone_from(&members);
        self.present.sort_unstable();
        self.set_ceiling(now, turns);
        self.tell(now, &Input::Create(Creation { mode: Mode::Chat, members, initiator: None }));
        self.tell(now, &Input::Wake { first: None, cause: WakeCause::Operator });
        self.granted.map(seat)
    }

    /// Returns the character that has the floor.
    pub(super) fn granted(&self) -> Option<CastPlace> {
        self.granted.map(seat)
    }

    /// Ends the speaker's turn. The next character has the floor, unless the ceiling is reached.
    pub(super) fn pass_on(&mut self, now: Timestamp) -> Option<CastPlace> {
        if let Some(agent) = self.granted.take() {
            let run = Some(RunId::new(u64::from(self.turns)));
            self.tell(now, &Input::Gate { agent: Some(agent), run, latest: None });
            self.tell(now, &Input::Replied { agent, run, next: None });
            // The turn machine does not need the words, because it delivers no text here.
            let outcome = Outcome::Spoke { tail: Tail::of("spoken") };
            self.tell(now, &Input::RunEnded { agent, run, outcome });
            let messages = vec![MessageId::new(u64::from(self.turns))];
            self.tell(now, &Input::Receipt { agent, run, messages });
        }
        self.granted.map(seat)
    }

    /// Gives the character turns, from the next round on.
    pub(super) fn join(&mut self, joining: CastPlace) {
        let agent = key(joining);
        if let Err(at) = self.present.binary_search(&agent) {
            self.present.insert(at, agent);
        }
    }

    /// Takes all further turns from the character. If it has the floor, the next character gets it.
    pub(super) fn leave(&mut self, now: Timestamp, leaving: CastPlace) {
        let agent = key(leaving);
        self.present.retain(|present| *present != agent);
        if self.granted == Some(agent) {
            self.granted = None;
        }
        // Its turn may have been the last under the old ceiling. The new ceiling is set once all have left.
        self.tell(now, &Input::Reconfigure(config(u32::MAX)));
        self.tell(now, &Input::MemberLeft(agent));
    }

    /// Sets the number of remaining turns, including the current one.
    pub(super) fn set_ceiling(&mut self, now: Timestamp, turns: u32) {
        let had = self.turns - u32::from(self.granted.is_some());
        self.tell(now, &Input::Reconfigure(config(had.saturating_add(turns))));
    }

    /// Gives the turn machine an input, and answers all its effects.
    fn tell(&mut self, now: Timestamp, input: &Input) {
        let mut effects = std::mem::take(&mut self.effects);
        let mut answers = Vec::new();
        self.say(now, input, &mut effects);
        loop {
            for effect in effects.drain(..) {
                match effect {
                    Effect::FetchMembers { ticket } => {
                        let agents = self.present.clone();
                        answers.push(Input::Members { ticket, agents });
                    }
                    Effect::Trigger { ticket, agent, .. } => {
                        self.granted = Some(agent);
                        self.turns += 1;
                        let settlement = Settlement::Done { message: None };
                        answers.push(Input::Settled { ticket, settlement });
                    }
                    Effect::Transition(_)
                    | Effect::Inject { .. }
                    | Effect::Deliver { .. }
                    | Effect::CancelRun { .. } => {}
                    // Effects that only a channel of a chat needs.
                    Effect::Delete { ticket, .. }
                    | Effect::Consult { ticket, .. }
                    | Effect::Poll { ticket, .. }
                    | Effect::Notice { ticket, .. }
                    | Effect::Reminder { ticket, .. } => {
                        let settlement = Settlement::Dropped;
                        answers.push(Input::Settled { ticket, settlement });
                    }
                }
            }
            if answers.is_empty() {
                break;
            }
            for answer in answers.drain(..) {
                self.say(now, &answer, &mut effects);
            }
        }
        self.effects = effects;
    }

    fn say(&mut self, now: Timestamp, input: &Input, effects: &mut Vec<Effect>) {
        let answer = self.channel.handle(now, input, effects);
        debug_assert!(answer.is_ok(), "{input:?}: {answer:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::CastRole;
    use crate::slug::Slug;

    fn floor(count: u8, turns: u32) -> (Floor, Option<CastPlace>) {
        let roles = (0..count).map(|at| CastRole::new(Slug::new(&format!("c{at}")).unwrap(), "C"));
        let plan = Plan::new(roles);
        let mut floor = Floor::new(&plan);
        let order: Vec<CastPlace> = plan.seats().collect();
        let first = floor.open(Timestamp::from_millis(5), &order, turns);
        (floor, first)
    }

    /// R215, R226
    #[test]
    fn two_alternate_up_to_the_ceiling() {
        let (mut floor, mut next) = floor(2, 7);
        let mut order = Vec::new();
        while let Some(seat) = next {
            order.push(seat.index());
            next = floor.pass_on(Timestamp::from_millis(5));
        }
        assert_eq!(order, [0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn three_or_more_speak_once_a_round_and_never_twice_in_a_row() {
        for count in [3, 5, 64] {
            let (mut floor, mut next) = floor(count, u32::from(count) * 20);
            let mut order = Vec::new();
            while let Some(seat) = next {
                order.push(seat.index());
                next = floor.pass_on(Timestamp::from_millis(5));
            }
            assert_eq!(order.len(), usize::from(count) * 20);
            for round in order.chunks(usize::from(count)) {
                let mut round = round.to_vec();
                round.sort_unstable();
                assert!(round.iter().copied().eq(0..usize::from(count)));
            }
            assert!(order.windows(2).all(|pair| pair.first() != pair.last()));
        }
    }
}
