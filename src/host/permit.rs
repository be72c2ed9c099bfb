//! The answer to "may this agent run?": a permission, or why not.

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

/// The permission of a run: its agent may speak now, and no other agent may until the run ends.
///
/// It is ended by [`Permit::end`]. Dropped without that, the run counts as failed, so that a cancelled task cannot stall
/// the room; the log says so. A host that learns of the end elsewhere [keeps](Permit::keep) it.
#[derive(Debug)]
#[must_use = "dropping the permit ends the run as failed"]
pub struct Permit {
    reason: Reason,
    turn: Option<TurnId>,
    anchor: Option<MessageId>,
    was_running: bool,
    /// `None` where no turns are kept.
    hold: Option<Hold>,
}

impl Permit {
    /// Where no turns are kept.
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

    /// Why it may run.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The turn it belongs to, where turns are kept.
    pub const fn turn(&self) -> Option<TurnId> {
        self.turn
    }

    /// Only later messages belong to its reply.
    pub const fn anchor(&self) -> Option<MessageId> {
        self.anchor
    }

    /// Whether the agent was running already when it asked: this run had asked before, or another run of this turn was
    /// permitted and has not ended. In the second case this run has taken the place of the other, whose text is no reply any
    /// more. One trigger that is delivered twice looks like this.
    pub const fn was_running(&self) -> bool {
        self.was_running
    }

    /// Whether it holds the floor. Not where no turns are kept: there everybody may speak.
    pub const fn holds_floor(&self) -> bool {
        self.hold.is_some()
    }

    /// The run ended.
    ///
    /// # Errors
    ///
    /// [`Refusal::StaleRun`] when the floor was taken from it meanwhile, or another process has the channel.
    pub fn end(self, report: RunReport<'_>) -> Result<(), Refusal> {
        self.hold.map_or(Ok(()), |hold| hold.end(report))
    }

    /// The run goes on without the permit: the host tells of its end by
    /// [`Channel::turn_ended`](crate::Channel::turn_ended).
    pub fn keep(self) {
        if let Some(mut hold) = self.hold {
            hold.armed = false;
        }
    }
}

/// Why an agent may not run now. It stays silent, and no model is called for it.
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
/// This does not compile, since the permit would be dropped before the model is called:
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
    /// It must stay silent.
    #[error("{reason}")]
    Denied {
        /// Why the run is denied.
        reason: Reason,
        /// Who has the floor instead.
        speaker: Option<AgentId>,
        /// The model to send the run to where the host cannot skip it.
        no_reply_model: String,
    },
    /// It must stay silent now, and is called back when its turn comes. Only from
    /// [`Channel::may_speak_or_defer`](crate::Channel::may_speak_or_defer).
    #[error("{reason}; it is called back when its turn comes")]
    Deferred {
        /// Why not now.
        reason: Reason,
        /// Who has the floor instead.
        speaker: Option<AgentId>,
        /// The call that will come.
        deferral: Deferral,
    },
    /// There was no answer, which is none to run on.
    #[error(transparent)]
    Failed(#[from] CallError),
}

impl Denial {
    /// Why; `None` where there was no answer.
    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Self::Denied { reason, .. } | Self::Deferred { reason, .. } => Some(*reason),
            Self::Failed(_) => None,
        }
    }

    /// Who has the floor instead, where that is known.
    pub const fn speaker(&self) -> Option<&AgentId> {
        match self {
            Self::Denied { speaker, .. } | Self::Deferred { speaker, .. } => speaker.as_ref(),
            Self::Failed(_) => None,
        }
    }

    /// The call that will come, where the run was put off.
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
    /// Whether dropping it ends the run: the first of a run's permits does.
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

    /// The same, unless the permission was taken away since it was given: then why the run must not begin.
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

    /// The run does not begin: withdraws the permission.
    pub(crate) fn never_begins(mut self) {
        self.armed = false;
        let _ = self.tell(&Outcome::Failed, None);
    }

    fn tell(&self, outcome: &Outcome, text: Option<&str>) -> Result<(), Refusal> {
        let Guarded { agent, run, .. } = self.guarded;
        self.runtime.presence.sign_of_life(agent);
        // Another process may act for the channel by now: the run is over, and nothing of it is posted.
        let is_lapsed = !self.runtime.owned(self.room.id).acts();
        self.runtime.update(&self.room, |room, cx, now| {
            room.guards().give_up(self.guarded);
            // A run without an id may end no other.
            if !room.guards().is_newest(self.guarded) || room.look().commit().is_taken_over() {
                return Err(Refusal::StaleRun);
            }
            if is_lapsed {
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
        // If the floor was taken from it meanwhile, there is nothing left to end.
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

/// How a run ended, as a host knows it. `Debug` shows no text.
///
/// ```
/// use dirigent::hooks::{RunReport, Outcome};
/// use dirigent::Settings;
/// assert_eq!(RunReport::Text("NO_REPLY").outcome(&Settings::default()), Outcome::Pass);
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum RunReport<'a> {
    /// With this final text; the policies of silence and completion say what it means.
    Text(&'a str),
    /// With these messages; the final text is taken from the last of the assistant's.
    Transcript(&'a [TranscriptMessage]),
    /// With nothing to say, whatever the text.
    Pass,
    /// With this text on its way into the channel, whatever it says; the turn is over. A text of
    /// nothing but the [signal](crate::settings::ReadingRules::completion) says nothing.
    Spoke(&'a str),
    /// With this text on its way into the channel, and more to come: the agent keeps the floor.
    Unfinished(&'a str),
    /// With this text on its way into the channel, which a person is to answer before any agent does.
    AwaitsHuman(&'a str),
    /// Without a text.
    Failed,
    /// As it was judged elsewhere, for example in the process that called the agent, by its own settings.
    Outcome(&'a Outcome),
}

impl RunReport<'_> {
    /// What the agent said, where it is known.
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

    /// The same as the machine knows it.
    pub fn outcome(self, settings: &Settings) -> Outcome {
        match self {
            Self::Text(text) => settings.reading.outcome(text),
            Self::Transcript(messages) => settings.reading.outcome(&final_text(messages)),
            Self::Pass => Outcome::Pass,
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
