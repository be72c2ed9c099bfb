//! The inputs and effects of the machine.

use crate::actor::Output;
use crate::cue::Cue;
use crate::director::{Audience, BadDirection, Direction, Moment};
use crate::event::SceneEvent;
use crate::judge::{Judgement, SpokenLine};
use crate::machine::plan::CastPlace;
use std::sync::Arc;

/// An event for the machine, which is usually the answer to the last effect.
///
/// ```
/// use dirigent_scene::Output;
/// use dirigent_scene::machine::SceneInput;
/// assert_ne!(SceneInput::Done, SceneInput::Answered(Output::speech("Hello.")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SceneInput {
    /// Begins the scene. Give it first, and only once.
    Start,
    /// The effect [`SceneEffect::Spawn`], [`SceneEffect::Brief`] or [`SceneEffect::Show`] was performed.
    Done,
    /// The answer to [`SceneEffect::Direct`].
    Directed(Vec<Direction>),
    /// The answer to [`SceneEffect::Ask`].
    Answered(Output),
    /// The answer to [`SceneEffect::Hear`].
    Heard(Audience),
    /// The answer to [`SceneEffect::Judge`].
    Judged(Judgement),
    /// The effect failed. A journal entry is then missing. In all other cases the scene is aborted.
    Failed,
    /// The effect did not finish in time. If the judge was asked, the scene goes on. If a journal entry was asked for,
    /// it is missing. In all other cases the scene ends as timed out.
    TimedOut,
    /// Stops the scene, whatever it waits for.
    Stop,
}

/// An effect to perform, in order. Only the last effect of a list can need an answer. The scene stands still until you
/// give it to [`Machine::handle`](crate::machine::Machine::handle). Each variant names its answer;
/// [`SceneInput::Failed`], [`SceneInput::TimedOut`] and [`SceneInput::Stop`] are always possible.
///
/// ```
/// use dirigent_scene::machine::SceneEffect;
/// assert!(!SceneEffect::Finish.is_answered());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a driver that skips an effect would stall a scene; it must not compile then"
)]
pub enum SceneEffect {
    /// Append this event to the log.
    Record(SceneEvent),
    /// Create the actor of a character. Answer with [`SceneInput::Done`].
    Spawn(CastPlace),
    /// Brief the actor. Answer with [`SceneInput::Done`].
    Brief(CastPlace),
    /// Ask the director who enters and leaves. Answer with [`SceneInput::Directed`].
    Direct(Moment),
    /// Give the actor this cue for a turn, a correction or a journal entry. Answer with [`SceneInput::Answered`].
    Ask {
        /// The character's place.
        seat: CastPlace,
        /// The cue for its actor.
        cue: Cue,
    },
    /// Ask the director who hears this speech. Answer with [`SceneInput::Heard`].
    Hear {
        /// The speech.
        line: SpokenLine,
        /// The moment at which it is spoken.
        moment: Moment,
    },
    /// Show the speech to the outside, if the scene has an outlet. Answer with [`SceneInput::Done`].
    Show(SpokenLine),
    /// Ask the judge, if there is one. Answer with [`SceneInput::Judged`].
    Judge(SpokenLine),
    /// Append an entry to the character's journal.
    Journal {
        /// The character's place.
        seat: CastPlace,
        /// The entry.
        entry: Arc<str>,
    },
    /// Report that this character's journal entry will not come.
    NoEntry {
        /// The character's place.
        seat: CastPlace,
    },
    /// Report that a direction cannot be performed.
    Refused {
        /// The direction.
        direction: Direction,
        /// Why it cannot be performed.
        why: BadDirection,
    },
    /// Make the files final. This is the last effect.
    Finish,
}

impl SceneEffect {
    /// Returns true if the scene waits for an answer to this effect.
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

/// The scene waits for another input. It is unchanged.
///
/// ```
/// assert!(dirigent_scene::machine::UnexpectedInput.to_string().contains("waits"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scene waits for another input")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct UnexpectedInput;

/// Why a scene was aborted.
///
/// ```
/// assert!(dirigent_scene::machine::AbortCause::Protocol(dirigent_scene::machine::CastPlace::new(0)).to_string().contains("protocol"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AbortCause {
    /// An actor never followed the protocol, however often it was corrected.
    #[error("an actor did not keep to the protocol")]
    Protocol(CastPlace),
    /// An actor could not be created or briefed, or did not answer, or a speech could not be shown.
    #[error("an actor failed")]
    Failed,
    /// An actor did not answer in time, or a speech could not be shown in time.
    #[error("an actor did not answer in time")]
    TimedOut,
    /// The director stopped it.
    #[error("the host stopped the scene")]
    Stopped,
}
