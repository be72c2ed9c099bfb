//! A room with the real turn machine, and the watchers that notice a broken claim.

use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use dirigent::replay::RecordedChannel;
use dirigent_core::{
    AgentKey, Answer, Author, Config, Creation, Effect, Input, Message, MessageId, MessageKind,
    Mode, Outcome, PhaseKind, RunId, Settlement, Tail, Timestamp, TurnId, TurnMachine, WakeCause,
};

use super::claim::Claim;

/// The time at which each world begins, the first moment of 2026.
const BEGIN: u64 = 1_767_225_600_000;

/// The number of turns after which a channel must be dormant, whatever its agents do.
const TURNS: u64 = 1_000;

/// The most steps of one turn. Each time that its agent is asked again allows one more.
const STEPS: usize = 1_000;

/// An event that can come next. Except for a person's word, it is about the agent that has the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    /// A person writes to all agents, or to one.
    Says(Option<AgentKey>),
    Begins,
    /// The agent replies, and the reply is in the channel at once.
    Speaks(Reply),
    /// The agent has replied, but the reply is not in the channel yet. So a person can write before it arrives.
    Delivers(Reply),
    /// The reply arrives in the channel.
    Arrives,
    Passes,
    Fails,
    /// The agent never answers.
    Hangs,
    /// Time passes until the next deadline.
    TimePasses,
}

/// A kind of reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reply {
    Plain,
    GoesOn,
    /// The reply names the next speaker.
    Names(AgentKey),
    /// The reply asks people to answer.
    AsksPeople,
}

/// An act together with its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    act: Act,
    agent: Option<AgentKey>,
}

impl Step {
    /// Returns the step in words.
    pub(crate) fn words(self, name: &dyn Fn(AgentKey) -> String) -> String {
        let agent = self.agent.map_or_else(|| "no agent".to_owned(), name);
        match self.act {
            Act::Says(None) => "a person writes".to_owned(),
            Act::Says(Some(to)) => format!("a person writes to {}", name(to)),
            Act::Begins => format!("{agent} begins"),
            Act::Speaks(reply) => format!("{agent} speaks{}", reply.words(name)),
            Act::Delivers(reply) => {
                format!("{agent} has replied{}, and the reply is on its way", reply.words(name))
            }
            Act::Arrives => format!("the reply of {agent} arrives"),
            Act::Passes => format!("{agent} passes"),
            Act::Fails => format!("{agent} breaks off"),
            Act::Hangs => format!("{agent} does not answer"),
            Act::TimePasses => "time passes".to_owned(),
        }
    }
}

impl Reply {
    /// Returns true if the reply names the next speaker or asks people.
    const fn is_special(self) -> bool {
        matches!(self, Self::Names(_) | Self::AsksPeople)
    }

    fn words(self, name: &dyn Fn(AgentKey) -> String) -> String {
        match self {
            Self::Plain => String::new(),
            Self::GoesOn => " and goes on".to_owned(),
            Self::Names(next) => format!(" and names {}", name(next)),
            Self::AsksPeople => " and asks people".to_owned(),
        }
    }
}

/// The room and the bounds within which it is explored.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) config: Arc<Config>,
    pub(super) agents: u32,
    pub(super) words: u32,
    pub(super) failures: u32,
    pub(super) special_replies: u32,
    pub(super) goes_on: bool,
    pub(super) asks_people: bool,
}

/// A message of a person that the watchers follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    id: MessageId,
    /// The agents that it reached, one bit each.
    reached: u64,
    /// The number of turns that began after it.
    turns: u32,
    /// True if an agent got it during its turn. The driver then keeps it until a turn takes it.
    is_kept: bool,
    is_taken: bool,
}

/// An agent that must have the next turn, because a person addressed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Addressed {
    agent: AgentKey,
    word: MessageId,
    since: TurnId,
}

/// The state of a room at one moment.
#[derive(Clone, Debug)]
pub(crate) struct World {
    machine: TurnMachine,
    now: Timestamp,
    agents: u32,
    words_left: u32,
    failures_left: u32,
    /// The most failures in a row. `None` unless the world is drawn by chance.
    failures_in_a_row: Option<u32>,
    special_replies_left: u32,
    goes_on: bool,
    asks_people: bool,
    ids: u64,
    runs: u64,
    /// The newest word that made the driver wake the channel by itself.
    woken_for: Option<MessageId>,
    /// The agent that was asked and has not begun yet.
    woken: Option<AgentKey>,
    running: Option<(AgentKey, RunId)>,
    /// The reply that is not in the channel yet.
    delivering: Option<(AgentKey, RunId, Reply)>,
    /// The number of calls since the newest word of a person.
    calls: u32,
    words: Vec<Word>,
    /// For each agent the number of turns of others since its own.
    waits: Vec<u32>,
    next: Option<Addressed>,
    turn: TurnId,
    seen: Seen,
    /// Every input so far. `None` in a search, because only a counterexample needs them.
    log: Option<Vec<(Timestamp, Input)>>,
}

/// The observations of the watchers since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    unheard: bool,
    passed_over: bool,
    /// The largest numbers so far.
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
            special_replies_left: room.special_replies,
            goes_on: room.goes_on,
            asks_people: room.asks_people,
            ids: 0,
            runs: 0,
            woken_for: None,
            woken: None,
            running: None,
            delivering: None,
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

    /// Creates a world that logs every input.
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

    /// Sets the bounds of a world that is drawn by chance, which is longer than an explored one.
    pub(super) const fn allow(&mut self, words: u32, failures_in_a_row: u32) {
        (self.words_left, self.failures_left) = (words, failures_in_a_row);
        self.failures_in_a_row = Some(failures_in_a_row);
        // If the caller allows no special replies, drawn worlds have none, either.
        if self.special_replies_left > 0 {
            self.special_replies_left = u32::MAX;
        }
    }

    pub(super) fn turns(&self) -> u64 {
        self.machine.view().turn().get()
    }

    fn is_at_rest(&self) -> bool {
        self.machine.view().phase() == PhaseKind::Dormant && !self.is_due()
    }

    /// Returns true if the channel is awake or will wake by itself.
    fn is_due(&self) -> bool {
        let view = self.machine.view();
        view.phase() != PhaseKind::Dormant || view.goes_on_at().is_some()
    }

    pub(super) fn is_possible(&self, act: Act) -> bool {
        match act {
            Act::Says(_) => self.words_left > 0,
            Act::Begins => self.woken.is_some(),
            Act::Passes => self.running.is_some(),
            Act::Speaks(reply) => {
                self.can_reply(reply) && (!reply.is_special() || self.special_replies_left > 0)
            }
            // Unless a person can still write, this is the same as a reply that arrives at once.
            Act::Delivers(reply) => {
                reply != Reply::GoesOn
                    && self.can_reply(reply)
                    && self.special_replies_left > 0
                    && self.words_left > 0
            }
            Act::Arrives => self.delivering.is_some(),
            Act::Fails => self.running.is_some() && self.failures_left > 0,
            Act::Hangs => {
                (self.woken.is_some() || self.running.is_some()) && self.failures_left > 0
            }
            Act::TimePasses => {
                self.woken.is_none()
                    && self.running.is_none()
                    && self.delivering.is_none()
                    && self.is_due()
                    && self.machine.next_deadline().is_some()
            }
        }
    }

    fn can_reply(&self, reply: Reply) -> bool {
        self.running.is_some_and(|(agent, _)| match reply {
            Reply::Plain => true,
            Reply::GoesOn => self.goes_on,
            Reply::Names(next) => next != agent && next.get() < self.agents,
            Reply::AsksPeople => self.asks_people,
        })
    }

    /// Returns all acts that are possible now. Special replies come last, so that of two ways of equal length the plainer one is found.
    pub(super) fn acts(&self) -> Vec<Act> {
        let agents = || (0..self.agents).map(AgentKey::new);
        let others = [
            Act::Begins,
            Act::Speaks(Reply::Plain),
            Act::Passes,
            Act::Speaks(Reply::GoesOn),
            Act::Arrives,
            Act::Fails,
            Act::Hangs,
            Act::TimePasses,
            Act::Says(None),
        ];
        let addressed = agents().map(|agent| Act::Says(Some(agent)));
        let special = || agents().map(Reply::Names).chain([Reply::AsksPeople]);
        let delivered = special().chain([Reply::Plain]).map(Act::Delivers);
        let all = others.into_iter().chain(addressed);
        let all = all.chain(special().map(Act::Speaks)).chain(delivered);
        all.filter(|act| self.is_possible(*act)).collect()
    }

    pub(super) fn apply(&mut self, act: Act) {
        match act {
            Act::Says(to) => self.says(to),
            Act::Begins => self.begins(),
            Act::Speaks(reply) => {
                let left = u32::from(reply.is_special());
                self.special_replies_left = self.special_replies_left.saturating_sub(left);
                self.replies(reply);
                self.arrives();
            }
            Act::Delivers(reply) => {
                self.special_replies_left = self.special_replies_left.saturating_sub(1);
                self.replies(reply);
            }
            Act::Arrives => self.arrives(),
            Act::Passes => {
                if let Some((agent, run)) = self.running.take() {
                    self.takes(agent);
                    let outcome = Outcome::Pass;
                    self.give(Input::RunEnded { agent, run: Some(run), outcome });
                }
            }
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
        // By rule 62 a word to another agent replaces it, and a plain word does not.
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

    /// Gives the machine a whole reply, which the library delivers from now on.
    fn replies(&mut self, reply: Reply) {
        let Some((agent, run)) = self.running.take() else { return };
        self.delivering = Some((agent, run, reply));
        let next = if let Reply::Names(next) = reply { Some(next) } else { None };
        self.give(Input::Replied { agent, run: Some(run), next });
    }

    /// Puts the reply into the channel and ends the run.
    fn arrives(&mut self) {
        let Some((agent, run, reply)) = self.delivering.take() else { return };
        self.takes(agent);
        let run = Some(run);
        self.ids += 1;
        let (id, tail) = (MessageId::new(self.ids), Tail::of("reply"));
        self.give(Input::Receipt { agent, run, messages: vec![id] });
        let outcome = match reply {
            Reply::Plain | Reply::Names(_) => Outcome::Spoke { tail },
            Reply::GoesOn => Outcome::Unfinished { tail },
            Reply::AsksPeople => Outcome::AwaitsHuman { tail },
        };
        self.give(Input::RunEnded { agent, run, outcome });
        let (author, kind) = (Author::Agent(agent), MessageKind::Conversation);
        self.give(Input::Message(Message { id, author, kind, tail, backfilled: false }));
    }

    /// Marks the words that reached this agent as taken, because its turn ends well.
    fn takes(&mut self, agent: AgentKey) {
        self.failures_left = self.failures_in_a_row.unwrap_or(self.failures_left);
        for word in self.words.iter_mut().filter(|word| !word.is_taken) {
            word.is_taken = word.reached & bit(agent) != 0;
            // Progress allows another wake for the words that remain.
            self.woken_for = self.woken_for.filter(|_| !word.is_taken);
        }
    }

    /// Marks all words so far as reached by this agent.
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
                self.delivering = self.delivering.filter(|(speaker, ..)| *speaker != agent);
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

    /// Wakes a dormant channel once for a word that an agent got during its turn and that no turn took.
    ///
    /// This is the only rule of the driver that this crate imitates, because the driver's own (`wake_for_pending` in
    /// `src/room/settling.rs`) needs the texts of the messages, and a world has none. DESIGN.md says why.
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

    /// Lets the watchers look at the room. It is called after each act.
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

    /// Returns true if the claim broke on the way to this state.
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

    /// Returns the further acts that break a claim about the future. `None` if it holds, or if it is no such claim.
    pub(super) fn breaches_from_here(&self, claim: Claim) -> Option<Vec<Act>> {
        if claim != Claim::Rests || self.is_at_rest() {
            return None;
        }
        let passes = |_: &Self| Act::Passes;
        let speaks = |_: &Self| Act::Speaks(Reply::Plain);
        let hands_over = |world: &Self| {
            let speaker = world.running.map_or(0, |(agent, _)| agent.get());
            Act::Speaks(Reply::Names(AgentKey::new((speaker + 1) % world.agents)))
        };
        let has_begun = self.calls > 0;
        let can_name = self.special_replies_left > 0;
        self.stays_awake(passes)
            .or_else(|| self.stays_awake(|_| Act::Hangs))
            .or_else(|| (!has_begun).then(|| self.stays_awake(speaks)).flatten())
            .or_else(|| (!has_begun && can_name).then(|| self.stays_awake(hands_over)).flatten())
    }

    /// Returns the acts of the channel if it stays awake while its agents always do this. `None` if it becomes dormant.
    fn stays_awake(&self, does: impl Fn(&Self) -> Act) -> Option<Vec<Act>> {
        let (mut world, mut acts) = (self.clone(), Vec::new());
        world.allow(0, u32::MAX);
        let steps_max = STEPS + usize::from(self.machine.config().deadlines.retriggers);
        let (mut turn, mut steps) = (self.turns(), 0);
        let last = turn + TURNS;
        while turn <= last && steps <= steps_max {
            if world.is_at_rest() {
                return None;
            }
            let act = world.usual(&does);
            if !world.is_possible(act) {
                // If no event is possible, the channel stays awake for ever.
                break;
            }
            world.apply(act);
            acts.push(act);
            steps = if world.turns() > turn { 0 } else { steps + 1 };
            turn = world.turns();
        }
        (!world.is_at_rest()).then_some(acts)
    }

    /// Returns the next act if the agents do this in each of their turns.
    fn usual(&self, does: impl Fn(&Self) -> Act) -> Act {
        let act = does(self);
        if self.delivering.is_some() {
            Act::Arrives
        } else if self.running.is_some() || self.woken.is_some() && act == Act::Hangs {
            act
        } else if self.woken.is_some() {
            Act::Begins
        } else {
            Act::TimePasses
        }
    }

    /// Returns the act together with its agent.
    pub(super) fn step(&self, act: Act) -> Step {
        let running = self.running.map(|(agent, _)| agent);
        let speaks = self.delivering.map(|(agent, ..)| agent);
        Step { act, agent: self.woken.or(running).or(speaks) }
    }

    /// Returns a hash of everything that these claims and the future depend on. Worlds with the same hash are explored once.
    pub(super) fn fingerprint(&self, claims: &[Claim]) -> u64 {
        struct Into(DefaultHasher);

        impl fmt::Write for Into {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.write(text.as_bytes());
                Ok(())
            }
        }

        let mut into = Into(DefaultHasher::new());
        let left = (self.words_left, self.failures_left, self.special_replies_left);
        let bounds = (left, self.now, self.woken_for);
        let floor = (self.woken, self.running, self.delivering, self.turn);
        let kept = self.words.iter().filter(|word| word.is_kept && !word.is_taken);
        let kept = kept.map(|word| word.id).max();
        // Writing to a hasher cannot fail.
        let _ = write!(into, "{bounds:?} {floor:?} {kept:?} {:?}", self.machine.snapshot());
        for claim in claims {
            // Observations for other claims do not distinguish worlds.
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
                // Talkative agents are only checked before the first call.
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
    use dirigent_core::config::HumanInterrupt;

    use super::*;

    fn room(change: impl Fn(&mut Config)) -> Room {
        let mut config = Config::default();
        change(&mut config);
        Room {
            config: Arc::new(config),
            agents: 2,
            words: 9,
            failures: 9,
            special_replies: 0,
            goes_on: false,
            asks_people: false,
        }
    }

    #[test]
    fn a_channel_that_waits_for_the_end_of_a_cap_is_not_at_rest_and_time_wakes_it() {
        let mut world =
            World::begin(&room(|config| config.budget.agent_turns_per_hour = Some(1)), 0);
        world.apply(Act::Says(None));
        for _ in 0..2 {
            world.apply(Act::Begins);
            world.apply(Act::Speaks(Reply::Plain));
        }
        world.apply(Act::Says(None));
        assert!(world.woken.is_none() && world.machine.view().phase() == PhaseKind::Dormant);
        assert!(world.is_possible(Act::TimePasses) && !world.is_at_rest());
        while world.is_possible(Act::TimePasses) {
            world.apply(Act::TimePasses);
        }
        assert!(world.woken.is_some() && world.now.as_millis() >= BEGIN + 3_600_000);
    }

    /// Three turns break off. The agent got the second word during the first of them, so the driver wakes the channel for it.
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
    fn agents_that_stop_answering_after_a_reply_on_its_way_let_the_channel_rest() {
        let mut world = World::begin(&Room { special_replies: 1, ..room(|_| {}) }, 0);
        world.allow(9, 1);
        world.apply(Act::Says(None));
        world.apply(Act::Begins);
        world.apply(Act::Delivers(Reply::Plain));
        assert_eq!(world.breaches_from_here(Claim::Rests), None);
    }

    #[test]
    fn a_word_that_comes_while_a_reply_is_on_its_way_belongs_to_the_next_turn() {
        let two = AgentKey::new(2);
        let mut world = World::begin(&Room { agents: 3, special_replies: 1, ..room(|_| {}) }, 0);
        world.apply(Act::Says(None));
        world.apply(Act::Begins);
        assert!(world.acts().contains(&Act::Delivers(Reply::Names(AgentKey::new(1)))));
        world.apply(Act::Delivers(Reply::Names(AgentKey::new(1))));
        assert_eq!(world.machine.view().phase(), PhaseKind::Delivering);
        assert!(world.is_possible(Act::Arrives) && !world.is_possible(Act::TimePasses));
        world.apply(Act::Says(Some(two)));
        world.apply(Act::Arrives);
        // The word of a person comes before the agent that the reply names, and no turn has taken it.
        assert_eq!((world.woken, world.seen.passed_over), (Some(two), false));
        assert_eq!(world.words.iter().filter(|word| !word.is_taken).count(), 1);
        // That was the one special reply.
        world.apply(Act::Begins);
        assert!(world.acts().iter().all(|act| {
            !matches!(act, Act::Delivers(_) | Act::Speaks(Reply::Names(_) | Reply::AsksPeople))
        }));
    }

    #[test]
    fn a_reply_that_names_an_agent_gives_it_the_next_turn() {
        for named in [1, 2].map(AgentKey::new) {
            let mut world =
                World::begin(&Room { agents: 3, special_replies: 1, ..room(|_| {}) }, 0);
            world.apply(Act::Says(None));
            world.apply(Act::Begins);
            world.apply(Act::Speaks(Reply::Names(named)));
            assert_eq!(world.woken, Some(named));
        }
    }

    #[test]
    fn a_reply_that_asks_people_lets_the_channel_sleep_and_needs_a_marker() {
        let asks = |asks_people| {
            let room = Room { special_replies: 1, asks_people, ..room(|_| {}) };
            let mut world = World::begin(&room, 0);
            world.apply(Act::Says(None));
            world.apply(Act::Begins);
            world
        };
        let mut world = asks(true);
        world.apply(Act::Speaks(Reply::AsksPeople));
        assert!(world.is_at_rest() && world.machine.view().awaits_human());
        assert!(world.seen.unheard && !world.seen.unanswered);
        assert!(!asks(false).is_possible(Act::Speaks(Reply::AsksPeople)));
    }

    /// Of this `dirigent lint` warns.
    #[test]
    fn a_queued_word_to_the_speaker_is_forgotten_for_the_next_agent_that_is_addressed() {
        let (zero, one) = (AgentKey::new(0), AgentKey::new(1));
        for (interrupt, is_reached) in
            [(HumanInterrupt::Inject, true), (HumanInterrupt::Queue, false)]
        {
            let room = room(|config| config.people.human_interrupt = interrupt);
            let mut world = World::begin(&Room { agents: 3, ..room }, 0);
            world.apply(Act::Says(Some(zero)));
            world.apply(Act::Begins);
            world.apply(Act::Says(Some(zero)));
            let has_it = world.words.last().is_some_and(|word| word.reached & bit(zero) != 0);
            assert_eq!(has_it, is_reached);
            world.apply(Act::Says(Some(one)));
            world.apply(Act::Speaks(Reply::Plain));
            assert_eq!(world.woken, Some(one));
        }
    }

    #[test]
    fn a_later_plain_word_forgives_no_turn_of_another_and_another_agents_word_does() {
        let after = |later: Option<AgentKey>| {
            let mut world = World::begin(&Room { agents: 3, ..room(|_| {}) }, 0);
            world.apply(Act::Says(None));
            world.apply(Act::Begins);
            world.apply(Act::Says(Some(AgentKey::new(2))));
            world.apply(Act::Says(later));
            // This skips the agent that the machine would grant the turn.
            world.begin_turn(AgentKey::new(1), TurnId::new(2));
            world.seen.passed_over
        };
        assert!(after(None) && !after(Some(AgentKey::new(1))));
    }
}
