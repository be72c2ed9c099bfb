//! One turn of each of two agents, in every order in which actions can end, with a kill at every action.
//!
//! A run of the world is a sequence of choices. A run follows a prefix, takes the first choice from there on, and
//! leaves behind the prefixes of what else could be chosen. All processors take prefixes from one stack.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use dirigent_core::{AgentKey, Config, Outcome as RunOutcome, PhaseKind, RunId, Tail, Timestamp};

use super::super::action::{AgentAnswer, Outcome};
use super::super::directory::Directory;
use super::chat::{Facts, MODERATOR, PERSON, user_of};
use super::dice::Dice;
use super::fingerprint::fingerprint;
use super::world::{Fixed, Plan, World};
use crate::ports::turn::Said;
use crate::record::channel::ReplyEnd;
use crate::settings::Pacing;
use crate::values::message::{AuthorKind, Began};
use crate::{AgentId, Settings};

/// Up to the end of this turn every order is tried.
const TURNS: u64 = 2;

/// The sequences that are still to be tried, for all threads.
#[derive(Debug, Default)]
struct Work {
    state: Mutex<WorkState>,
    /// A prefix was left behind, or the last run has ended.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WorkState {
    /// The first choices of sequences that no run has followed yet; the newest is taken first.
    prefixes: Vec<Vec<usize>>,
    /// How many runs are under way: each may leave prefixes behind.
    running: usize,
    /// States in which everything that can follow was tried, or is to be tried.
    seen: HashSet<u64>,
    /// How many sequences came to their end.
    ends: usize,
    /// What is wrong, and the choices that lead there.
    failed: Option<(String, Vec<usize>)>,
}

impl Work {
    fn state(&self) -> MutexGuard<'_, WorkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next prefix; `None` when every sequence was tried, or one has failed.
    fn take(&self) -> Option<Vec<usize>> {
        let mut state = self.state();
        loop {
            if state.failed.is_some() {
                return None;
            }
            if let Some(prefix) = state.prefixes.pop() {
                state.running += 1;
                return Some(prefix);
            }
            if state.running == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A run with these choices has ended.
    fn ended(&self, result: Result<bool, String>, choices: Vec<usize>) {
        let mut state = self.state();
        state.running -= 1;
        match result {
            Ok(is_end) => state.ends += usize::from(is_end),
            Err(why) => state.failed = Some((why, choices)),
        }
        drop(state);
        self.changed.notify_all();
    }

    /// What else could be chosen after these choices. `false` where another sequence has led to the same state.
    fn branch(&self, fingerprint: u64, choices: &[usize], options: usize) -> bool {
        let mut state = self.state();
        if !state.seen.insert(fingerprint) {
            return false;
        }
        let others = (1..options).rev().map(|other| [choices, &[other]].concat());
        state.prefixes.extend(others);
        drop(state);
        self.changed.notify_all();
        true
    }
}

/// What is chosen at each place of a run.
struct Path<'w> {
    /// Where what else could be chosen is left; nowhere in a run that is repeated.
    work: Option<&'w Work>,
    choices: Vec<usize>,
    at: usize,
    /// Reused for the states.
    text: String,
}

impl<'w> Path<'w> {
    const fn new(work: Option<&'w Work>, choices: Vec<usize>) -> Self {
        Self { work, choices, at: 0, text: String::new() }
    }

    /// `None` where another sequence has led to the same state.
    fn choose(&mut self, options: usize, world: &World) -> Option<usize> {
        if self.at == self.choices.len() {
            let fingerprint = fingerprint(world, &mut self.text);
            if self.work.is_some_and(|work| !work.branch(fingerprint, &self.choices, options)) {
                return None;
            }
            self.choices.push(0);
        }
        let chosen = self.choices[self.at];
        assert!(chosen < options, "the same choices lead to another world");
        self.at += 1;
        Some(chosen)
    }
}

/// Two agents, both called by the library or both run by the host.
fn two_agents(are_hosted: bool) -> Fixed {
    let known: Vec<AgentId> = ["agent-0", "agent-1"].map(AgentId::from).into();
    let users: HashMap<_, _> = known.iter().cloned().zip((0..2).map(user_of)).collect();
    let directory = Directory::new(MODERATOR, known, &users).with_hosted(|_| are_hosted);
    let settings = Settings::default().with(|settings| settings.limits.pacing = Pacing::off());
    let config = Config::default();
    Fixed {
        settings,
        config: Arc::new(config),
        directory,
        facts: Facts { reads_history: Some(true) },
        has_waker: false,
        has_orchestrator: false,
        agents: 2,
        is_discussion: false,
        up_since: Began::new(Timestamp::default()),
    }
}

/// What else can happen once, at any moment, and how late messages are told.
#[derive(Clone, Copy, Debug, Default)]
struct May {
    /// A person writes once more.
    word: bool,
    /// The process is killed.
    kill: bool,
    /// By how many messages the gateway is behind at most.
    behind: usize,
}

/// What can happen next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// The action under way at this place ends.
    End(usize),
    /// The gateway tells of the oldest message.
    Event,
    /// An agent of the host's does what it had in mind.
    Plan(usize),
    /// A person writes once more.
    Word,
    /// The process is killed. The bits say which of the posts and commits under way took effect.
    Kill(usize),
}

impl World {
    /// A channel in which nothing is said yet.
    fn quiet(are_hosted: bool, log: bool) -> Self {
        let fixed = two_agents(are_hosted);
        let mut world = Self::with(fixed, Dice::new(1), 1, Duration::from_secs(300), log);
        world.is_exact = true;
        world.go_on(&mut Path::new(None, Vec::new()), May::default());
        world
    }

    /// Everything that can happen next. A kill comes last, so that the first choice goes on.
    fn nexts(&self, may: May) -> Vec<Next> {
        let mut nexts: Vec<_> = (0..self.flights.len()).map(Next::End).collect();
        if !self.chat.events.is_empty() {
            nexts.push(Next::Event);
        }
        // What an agent says, it says in order.
        let says = |plan: &(Timestamp, Plan)| matches!(plan.1, Plan::Say { .. });
        let first = self.plans.iter().position(says);
        let plans = self.plans.iter().enumerate();
        let ready = plans.filter(|(at, plan)| !says(plan) || Some(*at) == first);
        nexts.extend(ready.map(|(at, _)| Next::Plan(at)));
        if self.room.look().machine().view().turn().get() > TURNS {
            // What follows is the same again.
            nexts.truncate(1);
            return nexts;
        }
        if self.chat.events.len() > may.behind {
            nexts = vec![Next::Event];
        }
        if may.word && !nexts.is_empty() {
            nexts.push(Next::Word);
        }
        if may.kill && !nexts.is_empty() {
            let open = self.flights.iter().filter(|flight| flight.may_take_effect()).count();
            nexts.extend((0..1 << open).map(Next::Kill));
        }
        nexts
    }

    /// Lets things happen, as the path says, until nothing does any more and no deadline is left.
    fn go_on(&mut self, path: &mut Path<'_>, mut may: May) -> bool {
        let until = self.now + Duration::from_secs(3_600);
        while self.books.broken.is_none() {
            self.move_lines();
            while self.ready {
                self.serve();
            }
            let nexts = self.nexts(may);
            if nexts.is_empty() {
                if !self.go_to_next_moment(until) {
                    return true;
                }
                continue;
            }
            let chosen = if nexts.len() == 1 { Some(0) } else { path.choose(nexts.len(), self) };
            let Some(chosen) = chosen else {
                return false;
            };
            match nexts[chosen] {
                Next::End(at) => self.finish(at),
                Next::Event => {
                    if let Some(message) = self.chat.events.pop_front() {
                        self.push(message);
                    }
                }
                Next::Plan(at) => {
                    let (_, plan) = self.plans.remove(at);
                    self.perform_plan(plan);
                }
                Next::Word => {
                    may.word = false;
                    self.write("more");
                }
                Next::Kill(landed) => {
                    may.kill = false;
                    self.kill_exactly(landed);
                }
            }
        }
        true
    }

    fn write(&mut self, text: &str) {
        let id = self.chat.say(self.now, (PERSON, AuthorKind::Human), text.to_owned(), false);
        self.books.spoken(id, self.now);
        self.ledger.spoken(id);
    }

    /// Time goes on when nothing else does. `false` when the room waits for nothing.
    fn go_to_next_moment(&mut self, until: Timestamp) -> bool {
        let due = [self.due, self.admission.next_deadline()].into_iter().flatten().min();
        let Some(due) = due else {
            return false;
        };
        if due > until {
            self.books.fail(format!("the room does not come to rest: due {due:?}"));
            return false;
        }
        self.now = due.max(self.now);
        self.keep_time();
        true
    }

    fn kill_exactly(&mut self, landed: usize) {
        let mut number = 0;
        for mut flight in std::mem::take(&mut self.flights) {
            if flight.may_take_effect() {
                if landed & (1 << number) != 0 {
                    self.take_effect(&mut flight);
                }
                number += 1;
            }
        }
        self.kill();
    }

    /// Whether an agent has said something, or what it said is stored.
    fn has_said(&self) -> bool {
        let stored = self.store.record.as_ref().is_some_and(|record| record.outgoing.is_some());
        let is_planned = self.plans.iter().any(|(_, plan)| matches!(plan, Plan::Say { .. }));
        stored || is_planned || self.texts().next().is_some()
    }

    /// What agents said, as it stands in the channel.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let said = self.chat.said.iter().filter(|message| message.author >= user_of(0));
        said.map(|message| message.content.split(' ').next().unwrap_or_default())
    }

    /// The first agent to be called says something in two parts, and the others have nothing to say.
    pub(super) fn answer_exactly(&mut self) -> Outcome {
        let answer = if self.has_said() {
            AgentAnswer::Pass
        } else {
            let part = |name: &str| format!("{name} {}", "x".repeat(1_980));
            let words = format!("{}\n\n{}", part("first"), part("second"));
            AgentAnswer::Say { said: Said::words(&words), end: ReplyEnd::Finished }
        };
        Outcome::Answered { answer, took_all: true }
    }

    /// The same, for an agent that the host runs: it posts by itself.
    pub(super) fn run_exactly(&mut self, agent: AgentKey, run: RunId) {
        let now = self.now;
        if self.has_said() {
            let outcome = RunOutcome::Pass;
            return self.plans.push((now, Plan::End { agent, run, outcome }));
        }
        let texts = ["first", "second"];
        let tail = Tail::of(&texts.concat());
        let outcome = RunOutcome::Spoke { tail };
        let says = texts.map(|text| (now, Plan::Say { agent, text: text.to_owned() }));
        self.plans.extend(says);
        self.plans.push((now, Plan::End { agent, run, outcome }));
    }
}

/// Checks what must hold when everything is over.
fn check(world: &World) -> Result<(), String> {
    if let Some(why) = &world.books.broken {
        return Err(why.clone());
    }
    let phase = world.room.look().machine().view().phase();
    if phase != PhaseKind::Dormant
        || !world.room.look().commit().is_clean()
        || !world.room.look().is_at_rest()
    {
        return Err(format!("the room does not rest: {phase:?}"));
    }
    let texts: Vec<_> = world.texts().collect();
    if texts != ["first", "second"] {
        return Err(format!("the reply stands in the channel as {texts:?}"));
    }
    if let Some(word) = world.books.words.first() {
        return Err(format!("{word:?} is handed to no agent"));
    }
    if let Some(left) = world.chat.said.iter().find(|message| message.author == MODERATOR) {
        return Err(format!("{left:?} is left"));
    }
    Ok(())
}

/// Runs one sequence of choices. Returns whether it came to its end, and what happened, if that is written down.
fn run(
    are_hosted: bool,
    may: May,
    path: &mut Path<'_>,
    log: bool,
) -> (Result<bool, String>, Vec<String>) {
    let mut world = World::quiet(are_hosted, log);
    world.write("word");
    let is_end = world.go_on(path, may);
    let checked = if is_end { check(&world) } else { Ok(()) };
    (checked.map(|()| is_end), world.log.take().unwrap_or_default())
}

/// Runs every sequence of choices. Returns how many there are, without those that join another one.
fn every_order(are_hosted: bool, may: May) -> usize {
    let work = Work::default();
    work.state().prefixes.push(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(prefix) = work.take() {
                    let mut path = Path::new(Some(&work), prefix);
                    let (result, _) = run(are_hosted, may, &mut path, false);
                    work.ended(result, path.choices);
                }
            });
        }
    });
    let state = work.state();
    if let Some((why, choices)) = &state.failed {
        let (_, log) = run(are_hosted, may, &mut Path::new(None, choices.clone()), true);
        panic!("{}\n{why} ({may:?})", log.join("\n"));
    }
    let (ends, states) = (state.ends, state.seen.len());
    eprintln!("hosted {are_hosted}, {may:?}: {ends} sequences through {states} states");
    ends
}

#[test]
fn every_order_and_a_kill_at_every_action_of_called_agents() {
    let quiet = May { behind: 2, ..May::default() };
    assert!(every_order(true, quiet) >= 10);
    assert!(every_order(true, May { word: true, ..quiet }) >= 100);
    assert!(every_order(true, May { kill: true, ..quiet }) >= 70);
    assert!(every_order(true, May { word: true, kill: true, behind: 2 }) >= 1_000);
}

#[test]
fn every_order_and_a_kill_at_every_action_of_triggered_agents() {
    let quiet = May { behind: 2, ..May::default() };
    assert!(every_order(false, quiet) >= 80);
    // With a message behind these orders take a minute of two processors: CI goes through them.
    let behind = dirigent_testkit::told("DIRIGENT_ROOM_BEHIND").unwrap_or(0);
    assert!(every_order(false, May { kill: true, behind, ..quiet }) >= 100);
}
