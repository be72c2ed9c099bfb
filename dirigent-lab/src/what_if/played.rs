//! The result of an evening that was played under some rules.

use std::fmt;

use dirigent::replay::RecordedChannel;
use dirigent_core::{AgentKey, Timestamp, Transition};

use super::figures::EveningFigures;

/// The assumption about an agent that is asked as it was not then.
///
/// ```
/// use dirigent_lab::Assumption;
/// assert_eq!(Assumption::default(), Assumption::Passes);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "hosts choose between them")]
pub enum Assumption {
    /// The agent passes.
    #[default]
    Passes,
    /// The agent says the words of its next recorded turn that is still unused. If it has none, it passes.
    AnswersAsNext,
}

/// The assumption at a point at which an evening takes another way.
///
/// ```
/// use dirigent_lab::Other;
/// assert_eq!(Other::Passes.to_string(), "is asked, as it was not then: it is assumed to pass");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Other {
    /// The agent was not asked then. It is assumed to pass.
    Passes,
    /// The agent was not asked then. It is assumed to say what it said next.
    AnswersAsNext,
    /// The agent was interrupted then before it answered, and is not interrupted now. It is assumed to pass.
    PassesUninterrupted,
    /// The agent ran out of time then, and has more time now. It is assumed to pass at the moment at which it was cut off.
    PassesInTime,
    /// The agent was not asked a second time then. The second question is assumed to change its acts in no way.
    AskedAgain,
    /// The orchestrator was not asked then. It is assumed to answer at once.
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

/// A point at which an evening takes another way than in the recording.
///
/// ```
/// fn tell(way: &dirigent_lab::OtherWay) -> String {
///     format!("{} {}", way.agent, way.what)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherWay {
    /// The time of the point.
    pub at: Timestamp,
    /// The agent that is asked.
    pub agent: AgentKey,
    /// The assumption with which the evening goes on.
    pub what: Other,
}

/// An evening that was played under some rules.
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
    /// The evening as a recording, so that you can draw, trace and replay it.
    pub recording: RecordedChannel,
    /// The figures of the evening.
    pub figures: EveningFigures,
    /// The points at which the evening takes another way, in order.
    pub other_ways: Vec<OtherWay>,
    /// The number of turns that are as recorded.
    pub taken: usize,
    /// The number of these turns before which other words were said than in the recording. The agent might have answered differently.
    pub taken_after_other_words: usize,
    /// The recorded turns with words that do not come, each with its time and agent.
    pub unsaid: Vec<(Timestamp, AgentKey)>,
    /// True if the evening was ended early, because it went on for a day after the recording, or for too many steps.
    pub is_cut: bool,
    pub(super) departs_at: Option<Timestamp>,
    pub(super) transitions: Vec<Transition>,
}

impl Played {
    /// Returns true if all changes of the channel are as recorded, up to the end of the recording.
    pub const fn is_as_recorded(&self) -> bool {
        self.departs_at.is_none()
    }

    /// Returns the time of the first change of the channel that differs from the recording.
    pub const fn departs_at(&self) -> Option<Timestamp> {
        self.departs_at
    }

    /// Returns all changes of the channel, in order.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }
}
