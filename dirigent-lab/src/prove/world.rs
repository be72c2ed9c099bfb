//! A room with the real machine, and what is watched in it.

use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use dirigent::replay::RecordedChannel;
use dirigent_core::{
    AgentKey, Answer, Author, Config, Creation, Effect, Input, Message, MessageId, MessageKind,
    Mode, Outcome, PhaseKind, RunId, Settlement, Tail, Timestamp, TurnId, TurnMachine, WakeCause,
};

use super::claim::Claim;

/// When each world begins: the first moment of 2026.
const BEGIN: u64 = 1_767_225_600_000;

/// The most turns after which a channel must rest, whatever its agents do.
const TURNS: u64 = 1_000;

/// The most steps of one turn, beside those in which its agent is asked again.
const STEPS: usize = 1_000;

/// What can happen next. The agent that it is about is the one that has the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    /// A person writes, to all or to one.
    Says(Option<AgentKey>),
    Begins,
    Speaks,
    GoesOn,
    Passes,
    Fails,
    /// It never answers.
    Hangs,
    /// Nothing happens until something is due.
    TimePasses,
}

/// An act, and the agent that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    act: Act,
    agent: Option<AgentKey>,
}

impl Step {
    /// What it is, in words.
    pub(crate) fn words(self, name: &dyn Fn(AgentKey) -> String) -> String {
        let agent = self.agent.map_or_else(|| "no agent".to_owned(), name);
        match self.act {
            Act::Says(None) => "a person writes".to_owned(),
            Act::Says(Some(to)) => format!("a person writes to {}", name(to)),
            Act::Begins => format!("{agent} begins"),
            Act::Speaks => format!("{agent} speaks"),
            Act::GoesOn => format!("{agent} speaks and goes on"),
            Act::Passes => format!("{agent} passes"),
            Act::Fails => format!("{agent} breaks off"),
            Act::Hangs => format!("{agent} does not answer"),
            Act::TimePasses => "time passes".to_owned(),
        }
    }
}

/// The room in which it happens.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) config: Arc<Config>,
    pub(super) agents: u32,
    pub(super) words: u32,
    pub(super) failures: u32,
    pub(super) goes_on: bool,
}

/// A word that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    id: MessageId,
    /// Agents that it reached, a bit each.
    reached: u64,
    /// Turns that began after it.
    turns: u32,
    /// An agent was handed it in its turn: the host keeps it until a turn took it.
    is_kept: bool,
    is_taken: bool,
}

/// An agent that must be next, the word by which it was addressed, and the turn that was under way then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Addressed {
    agent: AgentKey,
    word: MessageId,
    since: TurnId,
}

/// A room at one moment.
#[derive(Clone, Debug)]
pub(crate) struct World {
    machine: TurnMachine,
    now: Timestamp,
    agents: u32,
    words_left: u32,
    failures_left: u32,
    /// In a long world: failures in a row.
    failures_in_a_row: Option<u32>,
    goes_on: bool,
    ids: u64,
    runs: u64,
    /// The word for which the host woke the channel itself.
    woken_for: Option<MessageId>,
    /// The agent that was asked and has not begun.
    woken: Option<AgentKey>,
    running: Option<(AgentKey, RunId)>,
    /// Calls since a person's word.
    calls: u32,
    words: Vec<Word>,
    /// Turns of others since each agent's own.
    waits: Vec<u32>,
    next: Option<Addressed>,
    turn: TurnId,
    seen: Seen,
    /// Every input, if it is wanted.
    log: Option<Vec<(Timestamp, Input)>>,
}

/// What the watchers saw since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    unheard: bool,
    passed_over: bool,
    /// The largest numbers.
    calls: u32,
    waits: u32,
    turns_to_answer: u32,
    unanswered: bool,
}

impl World {
    pub(super) fn begin(room: &Room, shuffle: u64) -> Self {
        let mut world = Self {
            machine: TurnMachine::new(Arc::clone(&room.config), shuffle),
            now: Timestamp::from_millis(BEGIN),
            agents: room.agents,
            words_left: room.words,
            failures_left: room.failures,
            failures_in_a_row: None,
            goes_on: room.goes_on,
            ids: 0,
            runs: 0,
            woken_for: None,
            woken: None,
            running: None,
            calls: 0,
            words: Vec::new(),
            waits: vec![0; room.agents as usize],
            next: None,
            turn: TurnId::default(),
            seen: Seen::default(),
            log: None,
        };
        world.create();
        world
    }

    fn create(&mut self) {
        let members = (0..self.agents).map(AgentKey::new).collect();
        self.give(Input::Create(Creation { mode: Mode::Chat, members, initiator: None }));
    }

    /// The same beginning, of which everything is written down.
    pub(super) fn logged(room: &Room, shuffle: u64) -> Self {
        let mut world = Self::begin(room, shuffle);
        world.machine = TurnMachine::new(Arc::clone(&room.config), shuffle);
        world.log = Some(Vec::new());
        world.create();
        world
    }

    pub(super) fn recording(self, room: &Room, shuffle: u64) -> RecordedChannel {
        let start = TurnMachine::new(Arc::clone(&room.config), shuffle);
        let start = start.snapshot().clone();
        let mut recording = RecordedChannel::new(Arc::clone(&room.config), start);
        recording.inputs = self.log.unwrap_or_default();
        recording
    }

    /// Lets a world of chance go on for longer.
    pub(super) const fn allow(&mut self, words: u32, failures_in_a_row: u32) {
        (self.words_left, self.failures_left) = (words, failures_in_a_row);
        self.failures_in_a_row = Some(failures_in_a_row);
    }

    pub(super) fn turns(&self) -> u64 {
        self.machine.view().turn().get()
    }

    fn is_at_rest(&self) -> bool {
        self.machine.view().phase() == PhaseKind::Dormant && !self.is_due()
    }

    /// Whether the channel is awake, or wakes by itself.
    fn is_due(&self) -> bool {
        let view = self.machine.view();
        view.phase() != PhaseKind::Dormant || view.goes_on_at().is_some()
    }

    pub(super) fn is_possible(&self, act: Act) -> bool {
        match act {
            Act::Says(_) => self.words_left > 0,
            Act::Begins => self.woken.is_some(),
            Act::Speaks | Act::Passes => self.running.is_some(),
            Act::GoesOn => self.goes_on && self.running.is_some(),
            Act::Fails => self.running.is_some() && self.failures_left > 0,
            Act::Hangs => {
                (self.woken.is_some() || self.running.is_some()) && self.failures_left > 0
            }
            Act::TimePasses => {
                self.woken.is_none()
                    && self.running.is_none()
                    && self.is_due()
                    && self.machine.next_deadline().is_some()
            }
        }
    }

    /// Everything that can happen next.
    pub(super) fn acts(&self) -> Vec<Act> {
        let addressed = (0..self.agents).map(|agent| Act::Says(Some(AgentKey::new(agent))));
        let others = [
            Act::Begins,
            Act::Speaks,
            Act::Passes,
            Act::GoesOn,
            Act::Fails,
            Act::Hangs,
            Act::TimePasses,
        ];
        let all = others.into_iter().chain([Act::Says(None)]).chain(addressed);
        all.filter(|act| self.is_possible(*act)).collect()
    }

    pub(super) fn apply(&mut self, act: Act) {
        match act {
            Act::Says(to) => self.says(to),
            Act::Begins => self.begins(),
            Act::Speaks => self.ends(true, false),
            Act::GoesOn => self.ends(true, true),
            Act::Passes => self.ends(false, false),
            Act::Fails => {
                self.failures_left = self.failures_left.saturating_sub(1);
                if let Some((agent, run)) = self.running.take() {
                    let outcome = Outcome::Failed;
                    self.give(Input::RunEnded { agent, run: Some(run), outcome });
                }
            }
            Act::Hangs => {
                self.failures_left = self.failures_left.saturating_sub(1);
                if let Some(agent) = self.woken.take() {
                    self.reach(agent);
                }
                self.running = None;
            }
            Act::TimePasses => {
                if let Some(deadline) = self.machine.next_deadline() {
                    self.now = self.now.max(deadline.at);
                    self.give(Input::Tick);
                }
            }
        }
        self.look();
    }

    fn says(&mut self, to: Option<AgentKey>) {
        self.words_left = self.words_left.saturating_sub(1);
        self.ids += 1;
        self.calls = 0;
        let id = MessageId::new(self.ids);
        self.words.push(Word { id, reached: 0, turns: 0, is_kept: false, is_taken: false });
        let (author, kind, tail) = (Author::Human, MessageKind::Conversation, Tail::of("word"));
        let message = Message { id, author, kind, tail, backfilled: false };
        let since = self.machine.view().turn();
        // A plain word leaves it as it was; by rule 62 another agent's replaces it.
        self.next = to.map(|agent| Addressed { agent, word: id, since }).or(self.next);
        self.give(match to {
            Some(agent) => Input::Addressed { message, agents: vec![agent] },
            None => Input::Message(message),
        });
    }

    fn begins(&mut self) {
        let Some(agent) = self.woken.take() else { return };
        self.runs += 1;
        let run = RunId::new(self.runs);
        let gate = Input::Gate { agent: Some(agent), run: Some(run), latest: None };
        let verdict = self.give(gate).and_then(Answer::verdict);
        if verdict.is_some_and(|verdict| verdict.is_allowed()) {
            self.running = Some((agent, run));
            self.calls += 1;
            self.seen.calls = self.seen.calls.max(self.calls);
            self.reach(agent);
        }
    }

    fn ends(&mut self, speaks: bool, goes_on: bool) {
        let Some((agent, run)) = self.running.take() else { return };
        let run = Some(run);
        self.failures_left = self.failures_in_a_row.unwrap_or(self.failures_left);
        for word in self.words.iter_mut().filter(|word| !word.is_taken) {
            word.is_taken = word.reached & bit(agent) != 0;
            // What is left is a reason to wake again.
            self.woken_for = self.woken_for.filter(|_| !word.is_taken);
        }
        if !speaks {
            self.give(Input::RunEnded { agent, run, outcome: Outcome::Pass });
            return;
        }
        self.ids += 1;
        let (id, tail) = (MessageId::new(self.ids), Tail::of("reply"));
        self.give(Input::Replied { agent, run, next: None });
        self.give(Input::Receipt { agent, run, messages: vec![id] });
        let outcome = if goes_on { Outcome::Unfinished { tail } } else { Outcome::Spoke { tail } };
        self.give(Input::RunEnded { agent, run, outcome });
        let (author, kind) = (Author::Agent(agent), MessageKind::Conversation);
        self.give(Input::Message(Message { id, author, kind, tail, backfilled: false }));
    }

    /// The words so far reach an agent.
    fn reach(&mut self, agent: AgentKey) {
        for word in &mut self.words {
            word.reached |= bit(agent);
        }
        self.next = self.next.filter(|next| next.agent != agent);
    }

    fn give(&mut self, input: Input) -> Option<Answer> {
        let mut effects = Vec::new();
        let answer = self.machine.handle(self.now, &input, &mut effects).ok();
        if let Some(log) = &mut self.log {
            log.push((self.now, input));
        }
        for effect in effects {
            self.perform(effect);
        }
        answer
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Trigger { agent, turn, .. } => {
                self.woken = Some(agent);
                if turn > self.turn {
                    self.turn = turn;
                    self.begin_turn(agent, turn);
                }
            }
            Effect::Inject { agent, message, .. } => self.hand(agent, message, message),
            Effect::Deliver { agent, first, last, .. } => self.hand(agent, first, last),
            Effect::CancelRun { agent, .. } => {
                self.running = self.running.filter(|(running, _)| *running != agent);
                self.woken = self.woken.filter(|woken| *woken != agent);
            }
            _ => {}
        }
        if let Effect::FetchMembers { ticket } = effect {
            let agents = (0..self.agents).map(AgentKey::new).collect();
            self.give(Input::Members { ticket, agents });
        } else if let Some(ticket) = effect.ticket() {
            let settlement = Settlement::Done { message: None };
            self.give(Input::Settled { ticket, settlement });
        }
    }

    fn hand(&mut self, agent: AgentKey, first: MessageId, last: MessageId) {
        let is_handed = |id: &MessageId| (first..=last).contains(id);
        for word in self.words.iter_mut().filter(|word| is_handed(&word.id)) {
            word.reached |= bit(agent);
            word.is_kept = true;
        }
        self.next = self.next.filter(|next| next.agent != agent || !is_handed(&next.word));
    }

    fn begin_turn(&mut self, agent: AgentKey, turn: TurnId) {
        if let Some(next) = self.next.take() {
            self.seen.passed_over |= turn > next.since && next.agent != agent;
        }
        for word in self.words.iter_mut().filter(|word| !word.is_taken) {
            self.seen.turns_to_answer = self.seen.turns_to_answer.max(word.turns);
            word.turns += 1;
        }
        for (at, waits) in self.waits.iter_mut().enumerate() {
            *waits = if at == agent.get() as usize { 0 } else { *waits + 1 };
            self.seen.waits = self.seen.waits.max(*waits);
        }
    }

    /// The one rule of the driver that stands here: a channel that became dormant over a word that an agent was handed in its turn, and
    /// that no turn took, is woken for it, once. The driver's own is in `src/room/settling.rs`.
    fn wake(&mut self) {
        let view = self.machine.view();
        let waits = view.is_budget_spent() || view.run().is_some();
        let kept = self.words.iter().filter(|word| word.is_kept && !word.is_taken);
        let last = kept.map(|word| word.id).max();
        if view.phase() == PhaseKind::Dormant && !waits && last > self.woken_for {
            self.woken_for = last;
            self.give(Input::Wake { first: None, cause: WakeCause::Unheard });
        }
    }

    /// What can be seen once nothing is under way inside the machine.
    fn look(&mut self) {
        self.wake();
        let speaker = self.machine.view().speaker();
        self.woken = self.woken.filter(|woken| speaker == Some(*woken));
        let all = u64::MAX >> (64 - self.agents);
        if self.is_at_rest() {
            self.seen.unheard |= self.words.iter().any(|word| word.reached != all);
            self.seen.unanswered |= self.words.iter().any(|word| !word.is_taken);
            self.seen.passed_over |= self.next.is_some();
            self.words.clear();
            self.next = None;
        }
        if self.machine.view().phase() == PhaseKind::Dormant {
            self.waits.iter_mut().for_each(|waits| *waits = 0);
        }
        self.words.retain(|word| word.reached != all || !word.is_taken);
    }

    /// Whether the claim was broken on the way here.
    pub(super) const fn breaches(&self, claim: Claim) -> bool {
        match claim {
            Claim::Heard => self.seen.unheard,
            Claim::AddressedNext => self.seen.passed_over,
            Claim::CallsWithoutPerson(calls) => self.seen.calls > calls,
            Claim::Waits(turns) => self.seen.waits > turns,
            Claim::Rests => false,
            Claim::AnsweredWithin(turns) => {
                self.seen.unanswered || self.seen.turns_to_answer >= turns
            }
        }
    }

    /// How the claim breaks from here on, if it is about that and does.
    pub(super) fn breaches_from_here(&self, claim: Claim) -> Option<Vec<Act>> {
        if claim != Claim::Rests || self.is_at_rest() {
            return None;
        }
        let passes = |world: &Self| if world.running.is_some() { Act::Passes } else { Act::Begins };
        let speaks = |world: &Self| if world.running.is_some() { Act::Speaks } else { Act::Begins };
        self.stays_awake(passes)
            .or_else(|| self.stays_awake(|_| Act::Hangs))
            .or_else(|| (self.calls == 0).then(|| self.stays_awake(speaks)).flatten())
    }

    /// The steps on which the channel stays awake if its agents do this.
    fn stays_awake(&self, does: impl Fn(&Self) -> Act) -> Option<Vec<Act>> {
        let (mut world, mut acts) = (self.clone(), Vec::new());
        world.failures_left = u32::MAX;
        let steps_max = STEPS + usize::from(self.machine.config().deadlines.retriggers);
        let (mut turn, mut steps) = (self.turns(), 0);
        let last = turn + TURNS;
        while turn <= last && steps <= steps_max {
            if world.is_at_rest() {
                return None;
            }
            let has_agent = world.woken.is_some() || world.running.is_some();
            let act = if has_agent { does(&world) } else { Act::TimePasses };
            if !world.is_possible(act) {
                // A channel that nothing moves any more is awake for ever: a few steps show it.
                break;
            }
            world.apply(act);
            acts.push(act);
            steps = if world.turns() > turn { 0 } else { steps + 1 };
            turn = world.turns();
        }
        (!world.is_at_rest()).then_some(acts)
    }

    /// An act, and the agent that it is about now.
    pub(super) fn step(&self, act: Act) -> Step {
        Step { act, agent: self.woken.or(self.running.map(|(agent, _)| agent)) }
    }

    /// A number by which a world is recognised.
    pub(super) fn fingerprint(&self, claims: &[Claim]) -> u64 {
        struct Into(DefaultHasher);

        impl fmt::Write for Into {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.write(text.as_bytes());
                Ok(())
            }
        }

        let mut into = Into(DefaultHasher::new());
        let bounds = (self.words_left, self.failures_left, self.now, self.woken_for);
        let floor = (self.woken, self.running, self.turn);
        let kept = self.words.iter().filter(|word| word.is_kept && !word.is_taken);
        let kept = kept.map(|word| word.id).max();
        // A hasher takes everything.
        let _ = write!(into, "{bounds:?} {floor:?} {kept:?} {:?}", self.machine.snapshot());
        for claim in claims {
            // What only other claims look at makes no other world.
            let _ = write!(into, "; {claim}: ");
            let _ = match claim {
                Claim::CallsWithoutPerson(_) => write!(into, "{} {}", self.calls, self.seen.calls),
                Claim::Waits(_) => write!(into, "{:?} {}", self.waits, self.seen.waits),
                Claim::Heard => write!(into, "{:?} {}", self.words, self.seen.unheard),
                Claim::AnsweredWithin(_) => {
                    let Seen { turns_to_answer, unanswered, .. } = self.seen;
                    write!(into, "{:?} {turns_to_answer} {unanswered}", self.words)
                }
                Claim::AddressedNext => {
                    write!(into, "{:?} {}", self.next, self.seen.passed_over)
                }
                // Talkative agents are looked at before the first call.
                Claim::Rests => write!(into, "{}", self.calls == 0),
            };
        }
        into.0.finish()
    }
}

const fn bit(agent: AgentKey) -> u64 {
    1_u64.wrapping_shl(agent.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(change: impl Fn(&mut Config)) -> Room {
        let mut config = Config::default();
        change(&mut config);
        Room { config: Arc::new(config), agents: 2, words: 9, failures: 9, goes_on: false }
    }

    #[test]
    fn a_channel_that_waits_for_the_end_of_a_cap_is_not_at_rest_and_time_wakes_it() {
        let mut world =
            World::begin(&room(|config| config.budget.agent_turns_per_hour = Some(1)), 0);
        world.apply(Act::Says(None));
        for _ in 0..2 {
            world.apply(Act::Begins);
            world.apply(Act::Speaks);
        }
        world.apply(Act::Says(None));
        assert!(world.woken.is_none() && world.machine.view().phase() == PhaseKind::Dormant);
        assert!(world.is_possible(Act::TimePasses) && !world.is_at_rest());
        while world.is_possible(Act::TimePasses) {
            world.apply(Act::TimePasses);
        }
        assert!(world.woken.is_some() && world.now.as_millis() >= BEGIN + 3_600_000);
    }

    /// Three turns break off. The second word was handed over in the first, so the host wakes the channel for it.
    #[test]
    fn the_host_wakes_a_channel_once_for_a_word_that_was_handed_over_and_not_taken() {
        let room = room(|_| {});
        let mut world = World::logged(&room, 0);
        world.apply(Act::Says(None));
        world.apply(Act::Begins);
        world.apply(Act::Says(None));
        let mut turns = 0;
        while world.running.is_some() && turns < 9 {
            world.apply(Act::Fails);
            world.apply(Act::Begins);
            turns += 1;
        }
        assert!(world.is_at_rest() && world.seen.unanswered);
        let is_wake =
            |input: &Input| matches!(input, Input::Wake { cause: WakeCause::Unheard, .. });
        let recording = world.recording(&room, 0);
        assert_eq!(recording.inputs.iter().filter(|(_, input)| is_wake(input)).count(), 1);
        recording.replay().unwrap();
    }

    #[test]
    fn a_later_plain_word_forgives_no_turn_of_another_and_another_agents_word_does() {
        let after = |later: Option<AgentKey>| {
            let mut world = World::begin(&Room { agents: 3, ..room(|_| {}) }, 0);
            world.apply(Act::Says(None));
            world.apply(Act::Begins);
            world.apply(Act::Says(Some(AgentKey::new(2))));
            world.apply(Act::Says(later));
            // The machine would let the addressed agent be next.
            world.begin_turn(AgentKey::new(1), TurnId::new(2));
            world.seen.passed_over
        };
        assert!(after(None) && !after(Some(AgentKey::new(1))));
    }
}
