//! The agents of the simulated world, and what they are like.

use dirigent_core::{AgentKey, RunId};
use dirigent_testkit::Random;

/// What an agent tends to do, each in a million.
#[derive(Clone, Copy, Debug)]
pub(super) struct Character {
    /// Says something when it runs, and does not pass.
    pub(super) speaks: u32,
    /// Starts when it is woken.
    pub(super) starts: u32,
    /// Ends what it began.
    pub(super) ends: u32,
    /// Breaks off.
    pub(super) crashes: u32,
    /// Posts by its own tools while it runs.
    pub(super) tools: u32,
    /// Posts a draft first and finishes it by an edit.
    pub(super) edits: u32,
    /// Its host says which messages a run posted.
    pub(super) receipts: u32,
    /// Ends a run with a text that does not complete the turn.
    pub(super) forgets: u32,
    /// Asks for a person with its reply.
    pub(super) asks: u32,
    /// Crashes for a while instead of ending what it began.
    pub(super) dies: u32,
    /// Its host has names for runs.
    pub(super) names: u32,
    /// Goes on after its run was cancelled, or asks again after a denial.
    pub(super) stubborn: u32,
    /// The longest that it thinks, in milliseconds.
    pub(super) thinks_ms: u64,
    /// The longest that its reply takes to arrive, in milliseconds.
    pub(super) posts_ms: u64,
}

const ALWAYS: u32 = 1_000_000;

const TALKER: Character = Character {
    speaks: 900_000,
    starts: 990_000,
    ends: 995_000,
    crashes: 5_000,
    tools: 50_000,
    edits: 20_000,
    receipts: 0,
    forgets: 30_000,
    asks: 5_000,
    dies: 5_000,
    names: ALWAYS,
    stubborn: 20_000,
    thinks_ms: 20_000,
    posts_ms: 3_000,
};

/// Talker, passer, slow, never starts, never ends, crashes, tool poster, stale runs, edits,
/// receipts, nameless runs, forgets the signal, asks for people, goes offline.
const CHARACTERS: [Character; 14] = [
    TALKER,
    Character { speaks: 100_000, ..TALKER },
    Character { thinks_ms: 900_000, posts_ms: 25_000, speaks: 400_000, ..TALKER },
    Character { starts: 200_000, ..TALKER },
    Character { ends: 300_000, ..TALKER },
    Character { crashes: 600_000, ..TALKER },
    Character { tools: 800_000, speaks: 300_000, ..TALKER },
    Character { stubborn: 700_000, speaks: 300_000, ..TALKER },
    Character { edits: 800_000, speaks: 500_000, ..TALKER },
    Character { receipts: 900_000, speaks: 500_000, ..TALKER },
    Character { names: 0, speaks: 300_000, ..TALKER },
    Character { forgets: 600_000, ..TALKER },
    Character { asks: 200_000, ..TALKER },
    Character { dies: 200_000, speaks: 400_000, ..TALKER },
];

/// One agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agent {
    pub(super) key: AgentKey,
    pub(super) character: Character,
    /// Whether it is in the channel, as the fake Discord sees it.
    pub(super) present: bool,
    /// Whether an operator has muted it.
    pub(super) muted: bool,
    /// Whether it crashed and is not back.
    pub(super) offline: bool,
    /// Its run that is under way in the host, and whether the channel allowed it a turn.
    pub(super) run: Option<(RunId, bool)>,
}

impl Agent {
    pub(super) fn new(number: u64, dice: &mut Random) -> Self {
        let key = AgentKey::new(u32::try_from(number + 1).unwrap_or(1));
        let character = dice.pick(&CHARACTERS).unwrap_or(TALKER);
        let present = dice.hits(900_000);
        Self { key, character, present, muted: false, offline: false, run: None }
    }

    /// Becomes reliable and quiet, for the time after all faults.
    pub(super) const fn reform(&mut self) {
        self.character = Character {
            speaks: 300_000,
            starts: ALWAYS,
            ends: ALWAYS,
            crashes: 0,
            tools: 0,
            edits: 0,
            stubborn: 0,
            forgets: 0,
            asks: 0,
            dies: 0,
            thinks_ms: 5_000,
            ..TALKER
        };
    }
}
