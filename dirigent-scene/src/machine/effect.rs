//! What the machine hears and what it asks for.

use crate::actor::Output;
use crate::cue::Cue;
use crate::director::{Audience, BadDirection, Direction, Moment};
use crate::event::Event;
use crate::judge::{Judgement, Line};
use crate::machine::plan::Seat;
use std::sync::Arc;

/// Something that happened: mostly the answer to the last effect.
///
/// ```
/// use dirigent_scene::Output;
/// use dirigent_scene::machine::Input;
/// assert_ne!(Input::Done, Input::Answered(Output::speech("Hello.")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The scene begins. The first input, and given once.
    Start,
    /// [`Effect::Spawn`], [`Effect::Brief`] or [`Effect::Show`] was carried out.
    Done,
    /// Answers [`Effect::Direct`].
    Directed(Vec<Direction>),
    /// Answers [`Effect::Ask`].
    Answered(Output),
    /// Answers [`Effect::Hear`].
    Heard(Audience),
    /// Answers [`Effect::Judge`].
    Judged(Judgement),
    /// What was asked for cannot be had. A journal entry is then missing; with anything else the scene is aborted.
    Failed,
    /// The host stops the scene, whatever is waited for.
    Stop,
}

/// Something to be done, in order. What says that it is answered is the last one of its list, and the scene stands until
/// it is answered with [`Machine::handle`](crate::machine::Machine::handle) (with what is written there, with
/// [`Input::Failed`] or with [`Input::Stop`]).
///
/// ```
/// use dirigent_scene::machine::Effect;
/// assert!(!Effect::Finish.is_answered());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a driver that skips an effect would stall a scene; it must not compile then"
)]
pub enum Effect {
    /// Append this event to the log.
    Record(Event),
    /// Create the actor of a character. Answered by [`Input::Done`].
    Spawn(Seat),
    /// Give the actor its briefing. Answered by [`Input::Done`].
    Brief(Seat),
    /// Ask the host who comes and goes. Answered by [`Input::Directed`].
    Direct(Moment),
    /// Give the actor this cue: for a turn, a correction or a journal entry. Answered by [`Input::Answered`].
    Ask {
        /// Whose actor.
        seat: Seat,
        /// What it is given.
        cue: Cue,
    },
    /// Ask the host who hears this speech. Answered by [`Input::Heard`].
    Hear {
        /// The speech.
        line: Line,
        /// The moment in which it is spoken.
        moment: Moment,
    },
    /// Show the speech outside, where the scene is shown. Answered by [`Input::Done`].
    Show(Line),
    /// Ask the judge, where there is one. Answered by [`Input::Judged`].
    Judge(Line),
    /// Append a journal entry to the character's journal.
    Journal {
        /// The character's place.
        seat: Seat,
        /// The entry.
        entry: Arc<str>,
    },
    /// Tell the host that this character's journal entry will not come.
    NoEntry {
        /// The character's place.
        seat: Seat,
    },
    /// Tell the host that a direction cannot be carried out.
    Refused {
        /// Which one.
        direction: Direction,
        /// Why it cannot be carried out.
        why: BadDirection,
    },
    /// Finalise the files; nothing follows.
    Finish,
}

impl Effect {
    /// Returns whether the scene waits for an answer to it.
    pub const fn is_answered(&self) -> bool {
        match self {
            Self::Spawn(_)
            | Self::Brief(_)
            | Self::Direct(_)
            | Self::Ask { .. }
            | Self::Hear { .. }
            | Self::Show(_)
            | Self::Judge(_) => true,
            Self::Record(_)
            | Self::Journal { .. }
            | Self::NoEntry { .. }
            | Self::Refused { .. }
            | Self::Finish => false,
        }
    }
}

/// The input is not what the scene waits for. Nothing has changed.
///
/// ```
/// assert!(dirigent_scene::machine::Refusal.to_string().contains("waits"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scene waits for another input")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct Refusal;

/// What aborted a scene.
///
/// ```
/// assert!(dirigent_scene::machine::AbortCause::Protocol(dirigent_scene::machine::Seat::new(0)).to_string().contains("protocol"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AbortCause {
    /// An actor did not bring its output into the protocol's form, however often it was asked.
    #[error("an actor did not keep to the protocol")]
    Protocol(Seat),
    /// An actor could not be created or briefed, or did not answer; or a speech could not be shown.
    #[error("an actor failed")]
    Failed,
    /// The host stopped it.
    #[error("the host stopped the scene")]
    Stopped,
}
