//! Every kind of trouble at every moment of a turn: no word of a person is lost, two agents are never
//! allowed at once, and the room never sleeps for good.
//!
//! Moments are 25 ms apart. `DIRIGENT_SWEEP_STEP=1` hunts at every millisecond.

use std::fmt;
use std::time::Duration;

use dirigent::Clock;
use dirigent::snapshot::PhaseKind;
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::Line;
use dirigent_testkit::told;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MILLI, MINUTE, SECOND, allowed, is_heard, runs};

/// The story below has come to rest after this time.
const STORY: Duration = Duration::from_millis(2_400);
/// How long a gateway gap lasts.
const GAP: Duration = Duration::from_millis(700);
/// How long a room may need, after the end of the trouble, to have handed over every word.
const HEARD: Duration = Duration::from_secs(120);

/// What goes wrong.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    /// No events for a while; the host reports the reconnect.
    GapThenReconnected,
    /// No events for a while; the host reports which message is the newest.
    GapThenNewest,
    /// The host reports a gap in which nothing was lost.
    Reconnect,
    /// The process is killed, and started again a second later.
    Restart,
    /// Member lists cannot be read for this number of seconds, and the process may be killed meanwhile.
    NoMembers { seconds: u32, killed: bool },
}

const TROUBLES: [Trouble; 10] = [
    Trouble::GapThenReconnected,
    Trouble::GapThenNewest,
    Trouble::Reconnect,
    Trouble::Restart,
    Trouble::NoMembers { seconds: 1, killed: false },
    Trouble::NoMembers { seconds: 1, killed: true },
    Trouble::NoMembers { seconds: 10, killed: false },
    Trouble::NoMembers { seconds: 10, killed: true },
    Trouble::NoMembers { seconds: 60, killed: false },
    Trouble::NoMembers { seconds: 60, killed: true },
];

/// A room in trouble.
struct Sweep {
    stage: Stage,
    hosted: bool,
    /// The first thing that was seen and must not be.
    fault: Option<String>,
}

impl Sweep {
    /// Two agents with three lines; posts and member lists take their time, so that every phase lasts.
    fn new(hosted: bool) -> Self {
        let line = |text: &str| Line::from(text).taking(MILLI * 300);
        let (a, b) = ([line("a1"), line("a2")], [line("b1")]);
        let setup = Setup::new().config(|config| config.members.list_fresh = Duration::ZERO);
        let setup = if hosted {
            setup.hosted("a", a).hosted("b", b)
        } else {
            setup.hooked("a", a).hooked("b", b)
        };
        let stage = setup.post_delay(MILLI * 100).stage();
        let mut sweep = Self { stage, hosted, fault: None };
        sweep.slow_requests();
        sweep
    }

    fn slow_requests(&mut self) {
        let slow = Fault::SlowRequest { by: MILLI * 100 };
        let outage = Outage::failing(slow).only(Call::Post).only(Call::Members);
        self.stage.discord().begin_outage(outage);
    }

    fn breach(&mut self, what: impl fmt::Display) {
        self.fault.get_or_insert_with(|| what.to_string());
    }

    /// Lets time pass; after every event at most one agent may be allowed to speak.
    fn advance(&mut self, by: Duration) {
        let until = self.stage.clock().now() + by;
        self.look();
        while self.stage.step(until) {
            self.look();
        }
        self.stage.clock().set(until);
        self.stage.settle();
        self.look();
    }

    fn look(&mut self) {
        let channel = self.stage.channel();
        if allowed(&mut self.stage, channel).len() > 1 {
            self.breach("two agents were allowed at once");
        }
        if self.stage.agents().any(|agent| agent.running_max() > 1) {
            self.breach("an agent ran twice at once");
        }
    }

    fn begin(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::GapThenReconnected | Trouble::GapThenNewest => self.stage.cut_gateway(true),
            Trouble::NoMembers { .. } => {
                self.stage.discord().begin_outage(Outage::refused().only(Call::Members));
            }
            Trouble::Reconnect => self.reconnected(),
            Trouble::Restart => {}
        }
    }

    /// What happens between the beginning and the end of the trouble.
    fn endure(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::GapThenReconnected | Trouble::GapThenNewest => self.advance(GAP),
            Trouble::Reconnect => {}
            Trouble::Restart => self.restart(),
            Trouble::NoMembers { seconds, killed } => {
                let half = SECOND * seconds / 2;
                self.advance(half);
                if killed {
                    self.restart();
                }
                self.advance(half);
            }
        }
    }

    fn end(&mut self, trouble: Trouble) {
        self.stage.cut_gateway(false);
        self.stage.discord().end_outages();
        self.slow_requests();
        match trouble {
            Trouble::GapThenReconnected => self.reconnected(),
            Trouble::GapThenNewest => {
                let channel = self.stage.channel();
                let newest = self.stage.discord().messages(channel).last().map(|m| m.id);
                let newest = newest.expect("something was said");
                let told = move |d: dirigent::Dirigent| async move {
                    d.newest_message(channel, newest).await
                };
                self.stage.call(told).expect("the driver runs");
            }
            Trouble::Reconnect | Trouble::Restart | Trouble::NoMembers { .. } => {}
        }
    }

    fn reconnected(&mut self) {
        self.stage.call(|d| async move { d.reconnected().await }).expect("the driver runs");
    }

    fn restart(&mut self) {
        self.stage.crash();
        self.stage.clock().advance(SECOND);
        self.stage.restart();
    }

    /// Sees that this word was handed to an agent, or that an agent ran after it was said.
    fn expect_heard(&mut self, word: &str, runs_before: usize) {
        let is_heard =
            if self.hosted { is_heard(&self.stage, word) } else { runs(&self.stage) > runs_before };
        if !is_heard {
            self.breach(format_args!("the word {word:?} was lost"));
        }
    }

    /// One kind of trouble. It begins at this moment after a person spoke, or before the channel has its mode.
    fn run(hosted: bool, trouble: Trouble, moment: Option<Duration>) -> Option<String> {
        let mut sweep = Self::new(hosted);
        if moment.is_none() {
            sweep.begin(trouble);
        }
        sweep.stage.chat();
        sweep.stage.say("Hello");
        if let Some(moment) = moment {
            sweep.advance(moment);
            sweep.begin(trouble);
        }
        let before = runs(&sweep.stage);
        sweep.stage.say("A question");
        sweep.endure(trouble);
        sweep.end(trouble);
        sweep.advance(HEARD);
        sweep.expect_heard("Hello", 0);
        sweep.expect_heard("A question", before);
        let (before, phase) = (runs(&sweep.stage), sweep.stage.status().map(|status| status.phase));
        if phase != Some(PhaseKind::Dormant) {
            sweep.breach(format_args!("it never came to rest: {phase:?}"));
        }
        sweep.stage.say("Still there?");
        sweep.advance(MINUTE);
        if runs(&sweep.stage) == before {
            sweep.breach("it sleeps for good");
        }
        sweep.expect_heard("Still there?", before);
        if let Some(breach) = sweep.stage.points().breaches().first() {
            sweep.fault.get_or_insert_with(|| breach.clone());
        }
        sweep.fault
    }
}

/// Moments of the story, the one before the channel has its mode included.
fn moments() -> impl Iterator<Item = Option<Duration>> {
    let step = told("DIRIGENT_SWEEP_STEP").unwrap_or(25);
    let last = u32::try_from(STORY.as_millis()).expect("a short story");
    let during = (0..last).step_by(step).map(|moment| Some(MILLI * moment));
    [None].into_iter().chain(during)
}

/// Everything that goes wrong with these troubles.
fn sweep(hosted: bool, is_swept: impl Fn(Trouble) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    let troubles = TROUBLES.into_iter().filter(|trouble| is_swept(*trouble));
    for (trouble, moment) in troubles.flat_map(|t| moments().map(move |moment| (t, moment))) {
        if let Some(fault) = Sweep::run(hosted, trouble, moment) {
            let when = moment.map_or_else(
                || "from before the mode was given".to_owned(),
                |moment| format!("{} ms into a turn", moment.as_millis()),
            );
            faults.push(format!("{trouble:?} {when}: {fault}"));
        }
    }
    faults
}

#[track_caller]
fn none_of(faults: &[String]) {
    let shown = faults.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(faults.is_empty(), "{} faults, among them\n{shown}", faults.len());
}

const fn is_gap(trouble: Trouble) -> bool {
    matches!(trouble, Trouble::GapThenReconnected | Trouble::GapThenNewest)
}

const fn is_of_members(trouble: Trouble) -> bool {
    matches!(trouble, Trouble::NoMembers { .. })
}

/// P18
#[test]
fn a_gap_at_every_moment_of_a_hosted_turn_loses_no_word() {
    none_of(&sweep(true, is_gap));
}

/// P18
#[test]
fn a_gap_at_every_moment_of_a_hooked_turn_loses_no_word() {
    none_of(&sweep(false, is_gap));
}

/// P18
#[test]
fn a_reconnect_or_a_restart_at_every_moment_of_a_turn_loses_no_word() {
    for hosted in [true, false] {
        let is_swept = |t| matches!(t, Trouble::Reconnect | Trouble::Restart);
        none_of(&sweep(hosted, is_swept));
    }
}

/// P19
#[test]
fn unreadable_members_at_every_moment_of_a_hosted_turn_allow_nobody_and_lose_no_word() {
    none_of(&sweep(true, is_of_members));
}

/// P19
#[test]
fn unreadable_members_at_every_moment_of_a_hooked_turn_allow_nobody_and_lose_no_word() {
    none_of(&sweep(false, is_of_members));
}
