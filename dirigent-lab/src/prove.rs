//! Looks for something that can happen under your rules and should not. In a small room it explores every order of events, and in
//! a large one it draws worlds by chance.

// `claim` has the claims. `world` is a room with the real machine and the watchers of the claims. `search` explores all worlds, the
// shortest first; `draw` draws long ones, and shrinks the counterexamples.

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

/// A question about rules: the claims, and the bounds of the search.
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
    /// The rules to explore.
    pub config: Arc<Config>,
    /// The number of agents in the room, 2 to 64. With up to 4 agents, every order of events is explored.
    pub agents: u32,
    /// The claims to break.
    pub claims: Vec<Claim>,
    /// The most messages of people. Default 2.
    pub words: u32,
    /// The most turns. By default this is twice the number of agents plus one, for example 7 for three agents.
    pub turns: u64,
    /// The most failures: turns that break off, and turns of an agent that never answers. In worlds drawn by chance this limits failures
    /// in a row. Default 1.
    pub failures: u32,
    /// The most special replies. Such a reply names the next speaker, asks people, or takes so long to arrive that a person can write
    /// before. Worlds drawn by chance have any number of them, unless you set 0. Default 1.
    pub special_replies: u32,
    /// The number of shuffle sequences, because the order of agents depends on them. Default 4.
    pub shuffles: u64,
    /// The most states to explore. They stay in memory, so more of them need more. Default 200,000.
    pub states: usize,
    /// The number of worlds drawn by chance after that. Default 300.
    pub worlds: u64,
    /// True if an agent can leave its turn unfinished. Without a completion signal it cannot, because each run then ends its turn.
    pub goes_on: bool,
    /// True if an agent can ask people. By default this follows [`human_marker`](dirigent::settings::ReadingRules::human_marker).
    pub asks_people: bool,
}

/// The progress of a search.
///
/// ```
/// let told = |progress: dirigent_lab::Explored| println!("{} states", progress.states);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explored {
    /// The number of states explored so far.
    pub states: usize,
    /// The number of states that are known and still to explore.
    pub ahead: usize,
    /// The number of steps from the beginning to the newest state.
    pub depth: usize,
    /// The number of worlds drawn by chance so far.
    pub worlds: u64,
    /// True if the search draws worlds by chance now.
    pub is_drawing: bool,
}

/// The answer to an [`Inquiry`].
///
/// ```
/// fn holds(told: &dirigent_lab::Told) -> bool {
///     told.broken.is_empty() && told.is_whole
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Told {
    /// The claims that break, each with a counterexample.
    pub broken: Vec<Broken>,
    /// The extent of the search.
    pub explored: Explored,
    /// True if every order of events within the bounds was explored. Only then does an unbroken claim hold within them.
    pub is_whole: bool,
    /// True if the caller ended the search early.
    pub is_ended: bool,
}

/// A claim that breaks, with a counterexample.
///
/// ```
/// fn tell(broken: &dirigent_lab::Broken) {
///     println!("{}: {}", broken.claim, broken.steps.join(", "));
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Broken {
    /// The claim that breaks.
    pub claim: Claim,
    /// The steps of the counterexample in words, for example `agent-0 speaks`.
    pub steps: Vec<String>,
    /// The counterexample as a recording, so that you can replay and draw it.
    pub recording: RecordedChannel,
    /// True if no shorter counterexample exists within the bounds.
    pub is_shortest: bool,
    way: Vec<Step>,
}

impl Broken {
    /// Returns the steps with the names of the agents.
    pub(crate) fn told(&self, name: &dyn Fn(AgentKey) -> String) -> Vec<String> {
        let steps = self.way.iter().map(|step| step.words(name));
        steps.chain([self.claim.complaint()]).collect()
    }
}

impl Inquiry {
    /// Creates a question about a room with this number of agents, 2 to 64, and the default bounds.
    pub fn new(rules: &Rules, agents: u32, claims: Vec<Claim>) -> Self {
        Self {
            config: Arc::new(rules.config.clone()),
            agents: agents.clamp(2, 64),
            claims,
            words: 2,
            turns: 2 * u64::from(agents.clamp(2, 64)) + 1,
            failures: 1,
            special_replies: 1,
            shuffles: 4,
            states: 200_000,
            worlds: 300,
            goes_on: rules.settings.reading.completion != CompletionPolicy::RunEnd,
            asks_people: rules.settings.reading.human_marker.is_some(),
        }
    }

    /// Looks for a counterexample to each claim. It explores a small room first, and then draws worlds by chance.
    ///
    /// `goes_on` is called now and then. You can show the progress there, and end the current part, for example after some seconds.
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
        let Self { agents, words, failures, special_replies, goes_on, asks_people, .. } = *self;
        let (config, agents) = (Arc::clone(&self.config), agents.clamp(2, 64));
        Room { config, agents, words, failures, special_replies, goes_on, asks_people }
    }

    /// Returns the claims that are not broken yet.
    fn open<'a>(&'a self, told: &'a Told) -> impl Iterator<Item = Claim> + 'a {
        let is_open = |claim: &&Claim| told.broken.iter().all(|broken| broken.claim != **claim);
        self.claims.iter().filter(is_open).copied()
    }

    /// Returns true if the claim breaks on these acts of a drawn world. Impossible acts are skipped.
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

    /// Plays the acts again, and returns them as a recording and in words. `is_long` means that the world was drawn by chance.
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
        // A claim about the future breaks after many further acts, so its counterexample is not the shortest.
        let is_shortest = !is_long && claim != Claim::Rests;
        let mut broken = Broken { claim, steps: Vec::new(), recording, is_shortest, way };
        broken.steps = broken.told(&|agent| agent.to_string());
        broken
    }
}
