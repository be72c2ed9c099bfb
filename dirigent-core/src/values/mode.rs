//! The modes of a channel, and how each keeps turns.

use core::fmt;
use core::str::FromStr;

/// The purpose of a channel. A channel that was never seen before is [`Mode::None`].
///
/// ```
/// use dirigent_core::Mode;
/// assert_eq!("chat".parse(), Ok(Mode::Chat));
/// assert_eq!(Mode::Report.to_string(), "report");
/// assert!("Chat".parse::<Mode>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "the seed names exactly five modes")]
pub enum Mode {
    /// No turns are kept. An agent with a gateway connection of its own answers as it likes, and an agent that the
    /// library calls is not called.
    #[default]
    None,
    /// An agent's work channel. It is set at creation, for good.
    Work,
    /// Agents post by their own tools, and messages do not wake them.
    Report,
    /// A structured discussion with an initiator and an end. It is set at creation, for good.
    Discussion,
    /// An ongoing conversation of several agents.
    Chat,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 5] = [Self::None, Self::Work, Self::Report, Self::Discussion, Self::Chat];

    /// Returns the mode's name in lower case, as commands and files spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Work => "work",
            Self::Report => "report",
            Self::Discussion => "discussion",
            Self::Chat => "chat",
        }
    }

    /// Returns true if the mode can only be given at creation, and never changed again.
    pub const fn is_locked(self) -> bool {
        matches!(self, Self::Work | Self::Discussion)
    }

    /// Returns true if this mode keeps turns when enough agents are present.
    pub const fn keeps_turns(self) -> bool {
        matches!(self, Self::Discussion | Self::Chat)
    }

    /// Returns the turn state for this number of present agents.
    ///
    /// ```
    /// use dirigent_core::{Mode, TurnState};
    /// assert_eq!(Mode::Chat.turn_state(2), TurnState::Normal);
    /// assert_eq!(Mode::Chat.turn_state(1), TurnState::Disabled);
    /// ```
    pub const fn turn_state(self, agents: usize) -> TurnState {
        match self {
            Self::None | Self::Work => TurnState::Disabled,
            Self::Report => TurnState::Dead,
            Self::Discussion | Self::Chat => match agents {
                0 | 1 => TurnState::Disabled,
                2 => TurnState::Normal,
                _ => TurnState::Shuffle,
            },
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a text that is not the name of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownMode;

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such channel mode; the modes are none, work, report, discussion and chat")
    }
}

impl core::error::Error for UnknownMode {}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or(UnknownMode)
    }
}

/// The state of turn keeping in a channel right now. It follows from the mode, the present agents, and archiving.
///
/// ```
/// use dirigent_core::TurnState;
/// assert_eq!(TurnState::Shuffle.as_str(), "shuffle");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the seed names exactly five states")]
pub enum TurnState {
    /// The library stays out of the way, and every agent may answer.
    Disabled,
    /// No agent is woken, and none may answer. This can be reversed.
    Dead,
    /// The list rotates in a fixed order.
    Normal,
    /// The list is reshuffled after every cycle.
    Shuffle,
    /// The channel is closed for good.
    Archived,
}

impl TurnState {
    /// Returns the state's name in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Dead => "dead",
            Self::Normal => "normal",
            Self::Shuffle => "shuffle",
            Self::Archived => "archived",
        }
    }
}
