//! What the machine hears and what it asks for.

use crate::actor::Output;
use crate::cue::Cue;
use crate::director::{Audience, BadDirection, Direction, Moment};
use crate::event::SceneEvent;
use crate::judge::{Judgement, SpokenLine};
use crate::machine::plan::CastPlace;
use std::sync::Arc;

/// Something that happened: mostly the answer to the last effect.
///
/// ```
/// use dirigent_scene::Output;
/// use dirigent_scene::machine::SceneInput;
/// assert_ne!(SceneInput::Done, SceneInput::Answered(Output::speech("Hello.")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SceneInput {
    /// The scene begins. The first input, and given once.
    Start,
    /// [`SceneEffect::Spawn`], [`SceneEffect::Brief`] or [`SceneEffect::Show`] was carried out.
    Done,
    /// Answers [`SceneEffect::Direct`].
    Directed(Vec<Direction>),
    /// Answers [`SceneEffect::Ask`].
    Answered(Output),
    /// Answers [`SceneEffect::Hear`].
    Heard(Audience),
    /// Answers [`SceneEffect::Judge`].
    Judged(Judgement),
    /// What was asked for cannot be had. A journal entry is then missing; with anything else the scene is aborted.
    Failed,
    /// What was asked for did not come in time. A judge's answer is then that the scene goes on, a journal entry is missing, and
    /// with anything else the scene ends as timed out.
    TimedOut,
    /// The host stops the scene, whatever is waited for.
    Stop,
}

/// Something to be done, in order. What says that it is answered is the last one of its list, and the scene stands until
/// it is answered with [`Machine::handle`](crate::machine::Machine::handle) (with what is written there, with
/// [`SceneInput::Failed`], [`SceneInput::TimedOut`] or [`SceneInput::Stop`]).
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
    /// Create the actor of a character. Answered by [`SceneInput::Done`].
    Spawn(CastPlace),
    /// Give the actor its briefing. Answered by [`SceneInput::Done`].
    Brief(CastPlace),
    /// Ask the host who comes and goes. Answered by [`SceneInput::Directed`].
    Direct(Moment),
    /// Give the actor this cue: for a turn, a correction or a journal entry. Answered by [`SceneInput::Answered`].
    Ask {
        /// Whose actor.
        seat: CastPlace,
        /// What it is given.
        cue: Cue,
    },
    /// Ask the host who hears this speech. Answered by [`SceneInput::Heard`].
    Hear {
        /// The speech.
        line: SpokenLine,
        /// The moment in which it is spoken.
        moment: Moment,
    },
    /// Show the speech outside, where the scene is shown. Answered by [`SceneInput::Done`].
    Show(SpokenLine),
    /// Ask the judge, where there is one. Answered by [`SceneInput::Judged`].
    Judge(SpokenLine),
    /// Append a journal entry to the character's journal.
    Journal {
        /// The character's place.
        seat: CastPlace,
        /// The entry.
        entry: Arc<str>,
    },
    /// Tell the host that this character's journal entry will not come.
    NoEntry {
        /// The character's place.
        seat: CastPlace,
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

impl SceneEffect {
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
/// assert!(dirigent_scene::machine::UnexpectedInput.to_string().contains("waits"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scene waits for another input")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct UnexpectedInput;

/// What aborted a scene.
///
/// ```
/// assert!(dirigent_scene::machine::AbortCause::Protocol(dirigent_scene::machine::CastPlace::new(0)).to_string().contains("protocol"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AbortCause {
    /// An actor did not bring its output into the protocol's form, however often it was asked.
    #[error("an actor did not keep to the protocol")]
    Protocol(CastPlace),
    /// An actor could not be created or briefed, or did not answer; or a speech could not be shown.
    #[error("an actor failed")]
    Failed,
    /// An actor did not answer in time, or a speech could not be shown in time.
    #[error("an actor did not answer in time")]
    TimedOut,
    /// The host stopped it.
    #[error("the host stopped the scene")]
    Stopped,
}
