//! One turn of each of two agents, in every order in which actions can end, with a kill at every action.
//!
//! A run of the world is a sequence of choices. The sequences are enumerated depth first: each run
//! follows a prefix, takes the first choice from there on, and leaves behind what else could be chosen.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
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
use crate::values::message::AuthorKind;
use crate::{AgentId, Settings};

/// Up to the end of this turn every order is tried.
const TURNS: u64 = 2;

/// What is chosen at each place of a run, and how much there is to choose from.
#[derive(Debug, Default)]
struct Path {
    choices: Vec<(usize, usize)>,
    at: usize,
    /// States in which everything that can follow was tried, or is being tried.
    seen: HashSet<u64>,
    /// Reused for the states.
    text: String,
}

impl Path {
    /// `None` where another sequence has led to the same state.
    fn choose(&mut self, options: usize, world: &World) -> Option<usize> {
        if self.at == self.choices.len() {
            if !self.seen.insert(fingerprint(world, &mut self.text)) {
                return None;
            }
            self.choices.push((0, options));
        }
        let (chosen, known) = self.choices[self.at];
        assert_eq!(known, options, "the same choices lead to another world");
        self.at += 1;
        Some(chosen)
    }

    /// Goes on to the next sequence. `false` when there is none.
    fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, options)) = self.choices.pop() {
            if chosen + 1 < options {
                self.choices.push((chosen + 1, options));
                return true;
            }
        }
        false
    }
}

/// Two agents, both called by the library or both run by the host.
fn two_agents(are_hosted: bool) -> Fixed {
    let known: Vec<AgentId> = ["agent-0", "agent-1"].map(AgentId::from).into();
    let users: HashMap<_, _> = known.iter().cloned().zip((0..2).map(user_of)).collect();
    let directory = Directory::new(MODERATOR, known, &users).with_hosted(|_| are_hosted);
    let settings = Settings { pacing: Pacing::off(), ..Settings::default() };
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
        up_since: Timestamp::default(),
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
        world.go_on(&mut Path::default(), May::default());
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
    fn go_on(&mut self, path: &mut Path, mut may: May) -> bool {
        let until = self.now + Duration::from_secs(3_600);
        while self.books.broken.is_none() {
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

/// Runs every sequence of choices. Returns how many there are, without those that join another one.
fn every_order(are_hosted: bool, may: May) -> usize {
    let mut path = Path::default();
    let run = |path: &mut Path, log: bool| {
        let mut world = World::quiet(are_hosted, log);
        world.write("word");
        let is_end = world.go_on(path, may);
        let checked = if is_end { check(&world) } else { Ok(()) };
        (checked.map(|()| is_end), world.log.take().unwrap_or_default())
    };
    let mut ends = 0;
    loop {
        match run(&mut path, false) {
            (Ok(is_end), _) => ends += usize::from(is_end),
            (Err(why), _) => {
                path.at = 0;
                let (_, log) = run(&mut path, true);
                panic!("{}\n{why} ({may:?})", log.join("\n"));
            }
        }
        if !path.advance() {
            let states = path.seen.len();
            eprintln!("hosted {are_hosted}, {may:?}: {ends} sequences through {states} states");
            return ends;
        }
    }
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
    assert!(every_order(false, May { kill: true, behind: 1, ..quiet }) >= 1_000);
}
