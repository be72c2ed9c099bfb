//! The answer to "may this agent run?", and the permission that it holds.

use std::fmt;
use std::sync::Arc;

use dirigent_core::{Input, MessageId, Outcome, Reason, Refusal, TurnId};

use crate::room::calls::Guarded;
use crate::runtime::Runtime;
use crate::runtime::room_table::RoomRef;
use crate::text::transcript::{TranscriptMessage, final_text};
use crate::{AgentId, Deferral, Settings};

/// Whether an agent may run now, and why.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "dropping the guard of an allowed run ends it"]
pub enum Decision {
    /// It may run, with the model it is configured with.
    Allowed {
        /// Why.
        reason: Reason,
        /// The turn it belongs to, where turns are kept.
        turn: Option<TurnId>,
        /// Only later messages belong to its reply.
        anchor: Option<MessageId>,
        /// Holds the permission, where there is one to be held.
        guard: Option<RunGuard>,
    },
    /// It must stay silent.
    Denied {
        /// Why.
        reason: Reason,
        /// Who has the floor instead.
        speaker: Option<AgentId>,
        /// The model to send the run to where the host cannot skip it.
        no_reply_model: String,
    },
    /// It must stay silent now, and is called back when its turn comes. Only from
    /// [`Dirigent::may_speak_or_defer`](crate::Dirigent::may_speak_or_defer).
    Deferred {
        /// Why not now.
        reason: Reason,
        /// Who has the floor instead.
        speaker: Option<AgentId>,
        /// The call that will come.
        deferral: Deferral,
    },
}

impl Decision {
    pub(crate) const fn unmanaged() -> Self {
        Self::Allowed { reason: Reason::Unmanaged, turn: None, anchor: None, guard: None }
    }

    pub(crate) const fn allowed(
        reason: Reason,
        turn: Option<TurnId>,
        anchor: Option<MessageId>,
        guard: Option<RunGuard>,
    ) -> Self {
        Self::Allowed { reason, turn, anchor, guard }
    }

    pub(crate) fn denied(reason: Reason, speaker: Option<AgentId>, no_reply_model: &str) -> Self {
        Self::Denied { reason, speaker, no_reply_model: no_reply_model.to_owned() }
    }

    /// Whether it may run.
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed { .. })
    }

    /// Why.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Allowed { reason, .. }
            | Self::Denied { reason, .. }
            | Self::Deferred { reason, .. } => *reason,
        }
    }

    /// The guard of an allowed run that holds the floor.
    pub fn into_guard(self) -> Option<RunGuard> {
        match self {
            Self::Allowed { guard, .. } => guard,
            Self::Denied { .. } | Self::Deferred { .. } => None,
        }
    }
}

/// Holds a run's permission. Dropped without a word, the run counts as failed.
#[must_use = "dropping the guard ends the run as failed"]
pub struct RunGuard {
    runtime: Arc<Runtime>,
    room: RoomRef,
    guarded: Guarded,
    /// Whether dropping it ends the run: the first of a run's guards does.
    armed: bool,
}

impl RunGuard {
    pub(crate) const fn new(
        runtime: Arc<Runtime>,
        room: RoomRef,
        guarded: Guarded,
        armed: bool,
    ) -> Self {
        Self { runtime, room, guarded, armed }
    }

    /// The run ended.
    ///
    /// # Errors
    ///
    /// [`Refusal::StaleRun`] when the floor was taken from it meanwhile, or another process has the channel.
    pub fn end(mut self, ending: Ending<'_>) -> Result<(), Refusal> {
        self.armed = false;
        self.tell(&ending.outcome(&self.runtime.settings))
    }

    /// Keeps the permission without a guard: the host tells of the run's end by
    /// [`Dirigent::turn_ended`](crate::Dirigent::turn_ended).
    pub fn keep(mut self) {
        self.armed = false;
    }

    /// The same guard, unless the permission was taken away since it was given: then why the run must not begin.
    pub(crate) fn still_permitted(mut self) -> Result<Self, Reason> {
        let withdrawn = self.room.lock().room.guards().give_up_withdrawn(self.guarded);
        match withdrawn {
            None => Ok(self),
            Some(reason) => {
                self.armed = false;
                Err(reason)
            }
        }
    }

    fn tell(&self, outcome: &Outcome) -> Result<(), Refusal> {
        let Guarded { agent, run, .. } = self.guarded;
        self.runtime.presence.sign_of_life(agent);
        let input = Input::RunEnded { agent, run, outcome: *outcome };
        self.runtime.update(&self.room, |room, cx, now| {
            room.guards().give_up(self.guarded);
            // A run without an id may end no other.
            if !room.guards().is_newest(self.guarded) || room.commit().is_taken_over() {
                return Err(Refusal::StaleRun);
            }
            room.input(cx, now, &input, false).0.map(|_| ())
        })
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        if self.armed {
            // If the floor was taken from it meanwhile, there is nothing left to end.
            let _ = self.tell(&Outcome::Failed);
        }
    }
}

impl fmt::Debug for RunGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunGuard")
            .field("channel", &self.room.id)
            .field("agent", &self.guarded.agent)
            .field("run", &self.guarded.run)
            .finish_non_exhaustive()
    }
}

/// How a run ended, as a host knows it. `Debug` shows no text.
///
/// ```
/// use dirigent::{Ending, Outcome, Settings};
/// assert_eq!(Ending::Text("NO_REPLY").outcome(&Settings::default()), Outcome::Pass);
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Ending<'a> {
    /// With this final text; the policies of silence and completion say what it means.
    Text(&'a str),
    /// With these messages; the final text is taken from the last of the assistant's.
    Transcript(&'a [TranscriptMessage]),
    /// With nothing to say, whatever the text.
    Pass,
    /// With this text on its way into the channel, whatever it says; the turn is over. A text of
    /// nothing but the [signal](crate::Settings::completion) says nothing.
    Spoke(&'a str),
    /// With this text on its way into the channel, and more to come: the agent keeps the floor.
    Unfinished(&'a str),
    /// With this text on its way into the channel, which a person is to answer before any agent does.
    AwaitsHuman(&'a str),
    /// Without a text.
    Failed,
}

impl Ending<'_> {
    /// The same as the machine knows it.
    pub fn outcome(self, settings: &Settings) -> Outcome {
        match self {
            Self::Text(text) => settings.outcome(text),
            Self::Transcript(messages) => settings.outcome(&final_text(messages)),
            Self::Pass => Outcome::Pass,
            Self::Spoke(text) if settings.completion.is_only_signal(text) => Outcome::Pass,
            Self::Spoke(text) => Outcome::Spoke { tail: settings.tail(text) },
            Self::Unfinished(text) => Outcome::Unfinished { tail: settings.tail(text) },
            Self::AwaitsHuman(text) => Outcome::AwaitsHuman { tail: settings.tail(text) },
            Self::Failed => Outcome::Failed,
        }
    }
}

impl fmt::Debug for Ending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text",
            Self::Transcript(_) => "Transcript",
            Self::Pass => "Pass",
            Self::Spoke(_) => "Spoke",
            Self::Unfinished(_) => "Unfinished",
            Self::AwaitsHuman(_) => "AwaitsHuman",
            Self::Failed => "Failed",
        })
    }
}
