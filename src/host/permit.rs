//! The answer to the question whether an agent may run: a permit, or a denial.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use dirigent_core::{Input, MessageId, Outcome, Reason, Refusal, TurnId};

use crate::host::deferral::Deferral;
use crate::room::calls::Guarded;
use crate::runtime::Runtime;
use crate::runtime::room_table::RoomRef;
use crate::text::transcript::{TranscriptMessage, final_text};
use crate::{AgentId, CallError, Settings};

/// The permission for a run. Its agent may speak now, and no other agent may until the run ends.
///
/// You end the run with [`Permit::end`]. If you drop the permit instead, the run counts as failed, so that a cancelled
/// task cannot stall the room. The log says so. If you learn of the end elsewhere, for example in another task,
/// [keep](Permit::keep) it.
#[derive(Debug)]
#[must_use = "dropping the permit ends the run as failed"]
pub struct Permit {
    reason: Reason,
    turn: Option<TurnId>,
    anchor: Option<MessageId>,
    was_running: bool,
    /// `None` in a channel without turns.
    hold: Option<Hold>,
}

impl Permit {
    pub(crate) const fn unmanaged() -> Self {
        Self { reason: Reason::Unmanaged, turn: None, anchor: None, was_running: false, hold: None }
    }

    pub(crate) const fn new(
        reason: Reason,
        turn: Option<TurnId>,
        anchor: Option<MessageId>,
        was_running: bool,
        hold: Option<Hold>,
    ) -> Self {
        Self { reason, turn, anchor, was_running, hold }
    }

    /// Returns the reason why the run is allowed.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// Returns the turn that the run belongs to. `None` in a channel without turns.
    pub const fn turn(&self) -> Option<TurnId> {
        self.turn
    }

    /// Returns the anchor of the reply. Only messages after it belong to the reply.
    pub const fn anchor(&self) -> Option<MessageId> {
        self.anchor
    }

    /// Returns whether the agent was already running when it asked. Either this run asked before, or another run of
    /// this turn was permitted and has not ended. In the second case this run replaces the other, and the text of the
    /// other run no longer counts as a reply. For example, this happens if one trigger is delivered twice.
    pub const fn was_running(&self) -> bool {
        self.was_running
    }

    /// Returns whether the run holds the floor. In a channel without turns it does not, because every agent may speak
    /// there.
    pub const fn holds_floor(&self) -> bool {
        self.hold.is_some()
    }

    /// Reports the end of the run.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::StaleRun`] if the floor was taken from the run before, or if another process has the
    /// channel.
    pub fn end(self, report: RunReport<'_>) -> Result<(), Refusal> {
        self.hold.map_or(Ok(()), |hold| hold.end(report))
    }

    /// Gives up the permit while the run goes on. Report the end of the run later with
    /// [`Channel::turn_ended`](crate::Channel::turn_ended).
    pub fn keep(self) {
        if let Some(mut hold) = self.hold {
            hold.armed = false;
        }
    }
}

/// The reason why an agent may not run now. The agent stays silent, and you call no model for it.
///
/// ```
/// # async fn model() -> String { String::new() }
/// # async fn example(dirigent: dirigent::Dirigent, channel: dirigent::ChannelId) {
/// use dirigent::hooks::RunReport;
/// use dirigent::settings::SilencePolicy;
///
/// match dirigent.channel(channel).may_speak(&"poet".into(), None).await {
///     Ok(permit) => {
///         let text = model().await;
///         // Refused where the turn was taken away meanwhile: then nothing is posted.
///         let silence = SilencePolicy::default();
///         if permit.end(RunReport::Text(&text)).is_ok() && !silence.is_silent(&text) {
///             println!("{}", silence.deliverable(&text));
///         }
///     }
///     Err(denial) => println!("the poet is silent: {denial}"),
/// }
/// # }
/// ```
///
/// The following does not compile, because the permit would be dropped before the model is called:
///
/// ```compile_fail,E0599
/// # async fn model() {}
/// # async fn example(dirigent: dirigent::Dirigent, channel: dirigent::ChannelId) -> Result<(), dirigent::Denial> {
/// if dirigent.channel(channel).may_speak(&"poet".into(), None).await?.is_allowed() {
///     model().await;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Denial {
    /// The agent must stay silent.
    #[error("{reason}")]
    Denied {
        /// The reason of the denial.
        reason: Reason,
        /// The agent that has the floor instead.
        speaker: Option<AgentId>,
        /// A model name for hosts that cannot skip a run. Send the run to this model.
        no_reply_model: String,
    },
    /// The agent must stay silent now, and is called back when its turn comes. Only
    /// [`Channel::may_speak_or_defer`](crate::Channel::may_speak_or_defer) returns it.
    #[error("{reason}; it is called back when its turn comes")]
    Deferred {
        /// The reason why the run may not start now.
        reason: Reason,
        /// The agent that has the floor instead.
        speaker: Option<AgentId>,
        /// The deferral, which calls back when the turn comes.
        deferral: Deferral,
    },
    /// The question got no answer, so the agent must not run.
    #[error(transparent)]
    Failed(#[from] CallError),
}

impl Denial {
    /// Returns the reason of the denial. `None` if there was no answer.
    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Self::Denied { reason, .. } | Self::Deferred { reason, .. } => Some(*reason),
            Self::Failed(_) => None,
        }
    }

    /// Returns the agent that has the floor instead, if it is known.
    pub const fn speaker(&self) -> Option<&AgentId> {
        match self {
            Self::Denied { speaker, .. } | Self::Deferred { speaker, .. } => speaker.as_ref(),
            Self::Failed(_) => None,
        }
    }

    /// Returns the deferral, if the run was deferred.
    pub fn into_deferral(self) -> Option<Deferral> {
        match self {
            Self::Deferred { deferral, .. } => Some(deferral),
            Self::Denied { .. } | Self::Failed(_) => None,
        }
    }
}

/// Holds the floor for a run.
pub(crate) struct Hold {
    runtime: Arc<Runtime>,
    room: RoomRef,
    guarded: Guarded,
    /// `true` if the run ends when this is dropped. It is set only in the first permit of a run.
    armed: bool,
}

impl Hold {
    pub(crate) const fn new(
        runtime: Arc<Runtime>,
        room: RoomRef,
        guarded: Guarded,
        armed: bool,
    ) -> Self {
        Self { runtime, room, guarded, armed }
    }

    fn end(mut self, report: RunReport<'_>) -> Result<(), Refusal> {
        self.armed = false;
        let text = report.text();
        self.tell(&report.outcome(&self.runtime.settings), text.as_deref())
    }

    /// Returns the hold, or the reason why the run must not begin, because the permission was taken away since it was
    /// given.
    pub(crate) fn still_permitted(mut self) -> Result<Self, Reason> {
        // The guard goes with the permission, so that a later run without an id gets one of its own.
        let withdrawn = self.room.lock().room.guards().give_up_withdrawn(self.guarded);
        match withdrawn {
            None => Ok(self),
            Some(reason) => {
                self.armed = false;
                Err(reason)
            }
        }
    }

    /// Withdraws the permission of a run that does not begin.
    pub(crate) fn never_begins(mut self) {
        self.armed = false;
        let _ = self.tell(&Outcome::Failed, None);
    }

    fn tell(&self, outcome: &Outcome, text: Option<&str>) -> Result<(), Refusal> {
        let Guarded { agent, run, .. } = self.guarded;
        // The end of a run shows that its agent lives.
        self.runtime.presence.sign_of_life(agent);
        // Another process may act for the channel by now. Then the run is over, and its text is not posted.
        let is_lapsed = !self.runtime.owned(self.room.id).acts();
        self.runtime.update(&self.room, |room, cx, now| {
            // First, because a run that ends in this call needs no guard, whatever the machine answers.
            room.guards().give_up(self.guarded);
            // A run without an id must not end another run.
            if !room.guards().is_newest(self.guarded) || room.look().commit().is_taken_over() {
                return Err(Refusal::StaleRun);
            }
            if is_lapsed {
                // The run is over here, because the channel would wait for it if the lease is renewed.
                let outcome = Outcome::Failed;
                let _ = room.input(cx, now, &Input::RunEnded { agent, run, outcome }, false);
                return Err(Refusal::StaleRun);
            }
            let outcome = room.guards().recognised(cx, agent, (*outcome, text));
            room.input(cx, now, &Input::RunEnded { agent, run, outcome }, false).0.map(|_| ())
        })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        // If the floor was taken from the run before, the run is already over.
        if self.tell(&Outcome::Failed, None).is_ok() {
            let (channel, agent) =
                (self.room.id, self.runtime.registry.log_name(self.guarded.agent));
            tracing::warn!(
                %channel,
                %agent,
                "a permit was dropped before its run was ended: the turn is over, and counts as failed. \
                 Hold the permit while the model runs, and call Permit::end"
            );
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("channel", &self.room.id)
            .field("agent", &self.guarded.agent)
            .field("run", &self.guarded.run)
            .finish_non_exhaustive()
    }
}

/// The end of a run, as a host knows it. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::hooks::{RunReport, Outcome};
/// use dirigent::Settings;
/// assert_eq!(RunReport::Text("NO_REPLY").outcome(&Settings::default()), Outcome::Pass);
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum RunReport<'a> {
    /// The run ended with this final text. The policies of silence and completion decide what it means.
    Text(&'a str),
    /// The run ended with these messages. The final text comes from the assistant's last message.
    Transcript(&'a [TranscriptMessage]),
    /// The agent has nothing to say, whatever its text was.
    Pass,
    /// This text is on its way into the channel, whatever it says, and the turn is over. A text that is only the
    /// [signal](crate::settings::ReadingRules::completion) counts as no text.
    Spoke(&'a str),
    /// This text is on its way into the channel, and more will follow, so the agent keeps the floor.
    Unfinished(&'a str),
    /// This text is on its way into the channel, and a person has to answer it before any agent does.
    AwaitsHuman(&'a str),
    /// The run failed without a text.
    Failed,
    /// The run ended with this outcome, which was determined elsewhere. For example, the process that called the agent
    /// determined it with its own settings.
    Outcome(&'a Outcome),
}

impl RunReport<'_> {
    /// Returns the text of the agent, if it is known.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        match *self {
            Self::Text(text) | Self::Spoke(text) => Some(Cow::Borrowed(text)),
            Self::Transcript(messages) => Some(final_text(messages)),
            Self::Pass
            | Self::Unfinished(_)
            | Self::AwaitsHuman(_)
            | Self::Failed
            | Self::Outcome(_) => None,
        }
    }

    /// Converts the report to the outcome that the machine knows.
    pub fn outcome(self, settings: &Settings) -> Outcome {
        match self {
            Self::Text(text) => settings.reading.outcome(text),
            Self::Transcript(messages) => settings.reading.outcome(&final_text(messages)),
            Self::Pass => Outcome::Pass,
            // A host that posts the signal alone has posted no text.
            Self::Spoke(text) if settings.reading.completion.is_only_signal(text) => Outcome::Pass,
            Self::Spoke(text) => Outcome::Spoke { tail: settings.reading.tail(text) },
            Self::Unfinished(text) => Outcome::Unfinished { tail: settings.reading.tail(text) },
            Self::AwaitsHuman(text) => Outcome::AwaitsHuman { tail: settings.reading.tail(text) },
            Self::Failed => Outcome::Failed,
            Self::Outcome(outcome) => *outcome,
        }
    }
}

impl fmt::Debug for RunReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text",
            Self::Transcript(_) => "Transcript",
            Self::Pass => "Pass",
            Self::Spoke(_) => "Spoke",
            Self::Unfinished(_) => "Unfinished",
            Self::AwaitsHuman(_) => "AwaitsHuman",
            Self::Failed => "Failed",
            Self::Outcome(_) => "Outcome",
        })
    }
}
