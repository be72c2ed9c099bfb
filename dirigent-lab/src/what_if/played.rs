//! An evening as it would have been.

use std::fmt;

use dirigent::replay::RecordedChannel;
use dirigent_core::{AgentKey, Timestamp, Transition};

use super::figures::EveningFigures;

/// How an evening goes on if an agent is asked on an occasion on which it was not asked.
///
/// ```
/// use dirigent_lab::Assumption;
/// assert_eq!(Assumption::default(), Assumption::Passes);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "hosts choose between them")]
pub enum Assumption {
    /// The agent has nothing to say.
    #[default]
    Passes,
    /// The agent says what it said on its next turn with words that was not taken yet; it passes if there is none.
    AnswersAsNext,
}

/// What was assumed at a point at which the evening took another way.
///
/// ```
/// use dirigent_lab::Other;
/// assert_eq!(Other::Passes.to_string(), "is asked, as it was not then: it is assumed to pass");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Other {
    /// The agent was not asked then, and is assumed to pass.
    Passes,
    /// The agent was not asked then, and is assumed to say what it said next.
    AnswersAsNext,
    /// The agent was interrupted then before it answered, and is not now. It is assumed to pass.
    PassesUninterrupted,
    /// The agent ran out of time then, and has more now. It is assumed to pass at that point.
    PassesInTime,
    /// The agent was not asked once more then, and this is assumed to change nothing.
    AskedAgain,
    /// The orchestrator was not asked then, and is assumed to answer at once.
    Consulted,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passes => "is asked, as it was not then: it is assumed to pass",
            Self::AnswersAsNext => {
                "is asked, as it was not then: it is assumed to say what it said next"
            }
            Self::PassesUninterrupted => {
                "is not interrupted, as it was then: it is assumed to pass"
            }
            Self::PassesInTime => "has more time than it ran out of then: it is assumed to pass",
            Self::AskedAgain => {
                "is asked once more, as it was not then: this is assumed to change nothing"
            }
            Self::Consulted => {
                "waits for the orchestrator, as it did not then: this is assumed to answer at once"
            }
        })
    }
}

/// A point at which an evening takes another way than the recorded one.
///
/// ```
/// fn tell(way: &dirigent_lab::OtherWay) -> String {
///     format!("{} {}", way.agent, way.what)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherWay {
    /// The moment at which the evening goes another way.
    pub at: Timestamp,
    /// The agent that it is about.
    pub agent: AgentKey,
    /// What is assumed.
    pub what: Other,
}

/// An evening, played under some rules.
///
/// ```
/// use dirigent_lab::Played;
/// fn compare(then: &Played, now: &Played) {
///     println!("{} calls, {} calls", then.figures.calls, now.figures.calls);
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Played {
    /// All of it as a recording, so that you can draw it, trace it and replay it.
    pub recording: RecordedChannel,
    /// What can be counted.
    pub figures: EveningFigures,
    /// The points at which it takes another way, in order.
    pub other_ways: Vec<OtherWay>,
    /// Turns that are taken as recorded.
    pub taken: usize,
    /// Of these, turns before which something else was said than in the recording.
    pub taken_after_other_words: usize,
    /// Turns with words in the recording that do not come: when, and whose.
    pub unsaid: Vec<(Timestamp, AgentKey)>,
    /// True if it was ended because it would have gone on for longer than a day after the recording, or for too many steps.
    pub is_cut: bool,
    pub(super) departs_at: Option<Timestamp>,
    pub(super) transitions: Vec<Transition>,
}

impl Played {
    /// True if each change of the channel is the recorded one, up to the end of the recording.
    pub const fn is_as_recorded(&self) -> bool {
        self.departs_at.is_none()
    }

    /// The moment of the first change of the channel that is not the recorded one.
    pub const fn departs_at(&self) -> Option<Timestamp> {
        self.departs_at
    }

    /// Every change of the channel, in order.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }
}
