//! What can happen under some rules: small rooms are explored in every order of events, large ones in worlds drawn by chance.

// `claim` is what may be claimed, `world` a room with the real machine and what is watched in it, `search` goes through all worlds in order
// of their length, `draw` through some that are long, and shrinks what it finds.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a room without operators sees few of the effects and changes"
)]

use std::ops::ControlFlow;
use std::sync::Arc;

use dirigent::replay::RecordedChannel;
use dirigent::settings::{CompletionPolicy, Rules};
use dirigent_core::{AgentKey, Config};

use claim::Claim;
use world::{Act, Room, Step, World};

pub(crate) mod claim;
mod draw;
mod search;
pub(crate) mod world;

/// The most agents of a room that is explored in every order of events.
const SMALL: u32 = 4;

/// What is to be shown, and how far it is looked for.
///
/// ```
/// use dirigent::settings::Rules;
/// use dirigent_lab::Inquiry;
/// use std::ops::ControlFlow;
///
/// let mut rules = Rules::default();
/// rules.config.ceilings.chat.turns = Some(1);
/// let question = Inquiry::new(&rules, 2, vec!["heard".parse()?]);
/// let told = question.ask(&mut |_| ControlFlow::Continue(()));
/// assert_eq!(told.broken[0].claim.to_string(), "heard");
/// # Ok::<(), dirigent_lab::BadClaim>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inquiry {
    /// The rules.
    pub config: Arc<Config>,
    /// Agents in the room, 2 to 64. Up to 4, every order of events is explored.
    pub agents: u32,
    /// What is claimed.
    pub claims: Vec<Claim>,
    /// Most messages of people. Default 2.
    pub words: u32,
    /// Most turns. Default twice as many as there are agents, and one.
    pub turns: u64,
    /// Most turns that break off, or whose agent never answers; in worlds drawn by chance, in a row. Default 1.
    pub failures: u32,
    /// Sequences of shuffles, and so of orders in which agents speak. Default 4.
    pub shuffles: u64,
    /// Most states that are explored and kept in memory. Default 200,000.
    pub states: usize,
    /// Worlds drawn by chance, after the small ones. Default 300.
    pub worlds: u64,
    /// True if an agent may leave its turn unfinished, which takes a signal.
    pub goes_on: bool,
}

/// How far it is.
///
/// ```
/// let told = |progress: dirigent_lab::Explored| println!("{} states", progress.states);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explored {
    /// States explored so far.
    pub states: usize,
    /// States known and not explored yet.
    pub ahead: usize,
    /// Steps from the beginning.
    pub depth: usize,
    /// Worlds drawn by chance so far.
    pub worlds: u64,
    /// True once worlds are drawn by chance.
    pub is_drawing: bool,
}

/// What was found.
///
/// ```
/// fn holds(told: &dirigent_lab::Told) -> bool {
///     told.broken.is_empty() && told.is_whole
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Told {
    /// Claims that do not hold, each with a way to that.
    pub broken: Vec<Broken>,
    /// What was explored.
    pub explored: Explored,
    /// True if every order of events within the bounds was explored.
    pub is_whole: bool,
    /// True if the caller ended it before.
    pub is_ended: bool,
}

/// A claim that does not hold.
///
/// ```
/// fn tell(broken: &dirigent_lab::Broken) {
///     println!("{}: {}", broken.claim, broken.steps.join(", "));
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Broken {
    /// Which one.
    pub claim: Claim,
    /// What happens, step by step, in words.
    pub steps: Vec<String>,
    /// The same as a recording.
    pub recording: RecordedChannel,
    /// True if there is no shorter way within the bounds.
    pub is_shortest: bool,
    way: Vec<Step>,
}

impl Broken {
    /// The steps, with the agents' names.
    pub(crate) fn told(&self, name: &dyn Fn(AgentKey) -> String) -> Vec<String> {
        let steps = self.way.iter().map(|step| step.words(name));
        steps.chain([self.claim.complaint()]).collect()
    }
}

impl Inquiry {
    /// Asks about a room under these rules; `agents` is its number of agents, 2 to 64.
    pub fn new(rules: &Rules, agents: u32, claims: Vec<Claim>) -> Self {
        Self {
            config: Arc::new(rules.config.clone()),
            agents: agents.clamp(2, 64),
            claims,
            words: 2,
            turns: 2 * u64::from(agents.clamp(2, 64)) + 1,
            failures: 1,
            shuffles: 4,
            states: 200_000,
            worlds: 300,
            goes_on: rules.settings.reading.completion != CompletionPolicy::RunEnd,
        }
    }

    /// Looks for a way on which a claim does not hold. `goes_on` is called now and then, and may end it, for example by time: first the
    /// orders of events in a small room, then the worlds drawn by chance.
    pub fn ask(&self, goes_on: &mut dyn FnMut(Explored) -> ControlFlow<()>) -> Told {
        let mut told = Told::default();
        if self.agents <= SMALL {
            search::search(self, &mut told, goes_on);
        }
        if told.broken.len() < self.claims.len() {
            told.explored.is_drawing = true;
            draw::draw(self, &mut told, goes_on);
        }
        told
    }

    fn room(&self) -> Room {
        let Self { agents, words, failures, goes_on, .. } = *self;
        let agents = agents.clamp(2, 64);
        Room { config: Arc::clone(&self.config), agents, words, failures, goes_on }
    }

    /// The claims that were not found broken so far.
    fn open<'a>(&'a self, told: &'a Told) -> impl Iterator<Item = Claim> + 'a {
        let is_open = |claim: &&Claim| told.broken.iter().all(|broken| broken.claim != **claim);
        self.claims.iter().filter(is_open).copied()
    }

    /// Plays some acts of a long world, leaves out those that are not possible, and says whether the claim breaks.
    fn breaks(&self, shuffle: u64, acts: &[Act], claim: Claim) -> bool {
        let mut world = World::begin(&self.room(), shuffle);
        world.allow(draw::WORDS, self.failures);
        for act in acts {
            if world.is_possible(*act) {
                world.apply(*act);
                if world.breaches(claim) {
                    return true;
                }
            }
        }
        world.breaches_from_here(claim).is_some()
    }

    /// A way to a broken claim as a recording and in words. `is_long`: it was found in a world drawn by chance.
    fn broken(&self, shuffle: u64, acts: &[Act], claim: Claim, is_long: bool) -> Broken {
        let mut world = World::logged(&self.room(), shuffle);
        if is_long {
            world.allow(draw::WORDS, self.failures);
        }
        let mut way = Vec::new();
        let mut play = |world: &mut World, acts: &[Act]| {
            for act in acts {
                if world.is_possible(*act) && !world.breaches(claim) {
                    way.push(world.step(*act));
                    world.apply(*act);
                }
            }
        };
        play(&mut world, acts);
        if let Some(rest) = world.breaches_from_here(claim) {
            world.allow(0, u32::MAX);
            play(&mut world, &rest);
        }
        let recording = world.recording(&self.room(), shuffle);
        // What follows the moment from which a channel does not rest is as long as it is.
        let is_shortest = !is_long && claim != Claim::Rests;
        let mut broken = Broken { claim, steps: Vec::new(), recording, is_shortest, way };
        broken.steps = broken.told(&|agent| agent.to_string());
        broken
    }
}
