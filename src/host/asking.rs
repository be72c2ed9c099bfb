//! Asks whether an agent may run. You ask before you call its model.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dirigent_core::{AgentKey, Answer, Input, PhaseKind, Reason, Refusal, RunId, Verdict};
use tokio::sync::oneshot;

use crate::host::deferral::Deferral;
use crate::host::permit::{Denial, Hold, Permit};
use crate::host::status::reason_of;
use crate::host::storing::NotKept;
use crate::ports::ownership::Standing;
use crate::room::Room;
use crate::room::calls::Guarded;
use crate::runtime::Runtime;
use crate::runtime::cell::{Awaited, RoomCell};
use crate::runtime::room_table::RoomRef;
use crate::values::deferral_key::DeferralKey;
use crate::values::load_error::Barred;
use crate::{AgentId, CallError, Channel};

impl Channel<'_> {
    /// Asks whether this agent may run now. Ask before you call the model, and hold the permit while the agent runs.
    /// [`run_if_allowed`](Self::run_if_allowed) does both for you.
    ///
    /// You report the end of the run through the permit. If you drop the permit instead, the run ends as failed, so
    /// that a cancelled task cannot stall the room. If the same run asks again, the first permit keeps the floor, and
    /// dropping the other permit has no effect.
    ///
    /// # Errors
    ///
    /// Returns the reason why the agent must be silent. You also get an error if the driver does not run, or if the
    /// store does not answer.
    pub async fn may_speak(self, agent: &AgentId, run: Option<RunId>) -> Result<Permit, Denial> {
        match self.gate(agent).await? {
            Some((room, key)) => self.decide(room, key, run).await,
            None => Ok(Permit::unmanaged()),
        }
    }

    /// Runs the agent if it may run now. The function calls `work` with the permit, and `work` calls the model and ends
    /// the run.
    ///
    /// ```
    /// # async fn model() -> String { String::new() }
    /// # async fn example(dirigent: dirigent::Dirigent, channel: dirigent::ChannelId) -> Result<(), dirigent::Denial> {
    /// use dirigent::hooks::RunReport;
    /// use dirigent::settings::SilencePolicy;
    ///
    /// let to_post = dirigent
    ///     .channel(channel)
    ///     .run_if_allowed(&"poet".into(), None, async |permit| {
    ///         let text = model().await;
    ///         // Refused where the turn was taken away meanwhile: then nothing is posted.
    ///         permit.end(RunReport::Text(&text)).ok()?;
    ///         // Nor is a reply that only says that there is nothing to say; the policy is that of the settings.
    ///         let silence = SilencePolicy::default();
    ///         (!silence.is_silent(&text)).then(|| silence.deliverable(&text).to_string())
    ///     })
    ///     .await?;
    /// # let _ = to_post;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`may_speak`](Self::may_speak). In that case `work` was not called.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, you drop the permit, and the run counts as failed.
    pub async fn run_if_allowed<T>(
        self,
        agent: &AgentId,
        run: Option<RunId>,
        work: impl AsyncFnOnce(Permit) -> T,
    ) -> Result<T, Denial> {
        let permit = self.may_speak(agent, run).await?;
        Ok(work(permit).await)
    }

    /// Returns the room to ask for this agent. `None` if the channel never kept turns.
    async fn gate(self, agent: &AgentId) -> Result<Option<(RoomRef, Option<AgentKey>)>, Denial> {
        self.dirigent.live().await?;
        let barred = match self.dirigent.runtime.room(self.id).await {
            // A damaged record denies every run, because two agents might otherwise speak as in a channel without
            // turns.
            Ok(Some(room)) if room.lock().room.look().is_damaged() => Barred::Damaged,
            // No run is permitted in a channel that may soon belong to another process.
            Ok(Some(room)) if self.dirigent.runtime.standing(room.id) != Standing::Held => {
                return Err(CallError::Elsewhere.into());
            }
            Ok(Some(room)) => {
                let key = self.dirigent.runtime.registry.key(agent);
                if let Some(agent) = key {
                    // Asking shows that the agent lives. A refusal below must not make it count as silent.
                    self.dirigent.runtime.presence.sign_of_life(agent);
                }
                return Ok(Some((room, key)));
            }
            Ok(None) => return Ok(None),
            Err(CallError::Barred(barred)) => barred,
            Err(error) => return Err(error.into()),
        };
        Err(denied(&self.dirigent.runtime, reason_of(barred)))
    }

    /// Asks like [`may_speak`](Self::may_speak), but defers the run if it was denied for a reason that time may change.
    /// Keep the task that the agent was to work on, because you are called back when its turn comes. A deferred run
    /// does not count as denied, so it asks again with the same id. Each agent waits at most once in each channel.
    ///
    /// # Errors
    ///
    /// Fails like [`may_speak`](Self::may_speak), and with [`Denial::Deferred`] if the run was deferred.
    pub async fn may_speak_or_defer(
        self,
        agent: &AgentId,
        run: Option<RunId>,
    ) -> Result<Permit, Denial> {
        let Some((room, key)) = self.gate(agent).await? else {
            return Ok(Permit::unmanaged());
        };
        // The deferral comes first, because a run that was denied with this id could not ask with it again.
        if let Some((reason, deferral)) =
            key.and_then(|agent| defer(&self.dirigent.runtime, &room, agent))
        {
            let speaker = speaker_of(&self.dirigent.runtime, reason);
            return Err(Denial::Deferred { reason, speaker, deferral });
        }
        self.decide(room, key, run).await
    }

    async fn decide(
        &self,
        room: RoomRef,
        key: Option<AgentKey>,
        run: Option<RunId>,
    ) -> Result<Permit, Denial> {
        let gate = Input::Gate { agent: key, run, latest: None };
        let (was_running, answer, permitted) =
            self.dirigent.runtime.update_cell(&room, None, |state, cx, now| {
                // Looked at before the gate call, which replaces a run that was not ended.
                let was_running = is_running(&state.room, key);
                let (answer, stamp) = state.room.input(cx, now, &gate, false);
                let guarded = guard(&mut state.room, key, run, &answer);
                let permitted = guarded.map(|run| (run, state.wait_for(Awaited::Stored(stamp))));
                (was_running, answer, permitted)
            });
        match (answer.map_err(CallError::from)?.verdict(), permitted) {
            (Some(Verdict::Allow { reason, turn, anchor }), Some(((guarded, armed), stored))) => {
                let hold = Hold::new(Arc::clone(&self.dirigent.runtime), room, guarded, armed);
                if let Err(why) = self.dirigent.runtime.stored_or_not(stored).await {
                    // The machine has the run as begun, and its agent must not keep the floor.
                    hold.never_begins();
                    let error = match why {
                        NotKept::Late(error) => CallError::from(error),
                        // The host may ask that process for the same run.
                        NotKept::TakenOver => CallError::Elsewhere,
                        NotKept::Ended => CallError::Ended(self.dirigent.runtime.life.end()),
                    };
                    return Err(error.into());
                }
                // Much may have happened until then, for example a stop, a mute, or the turn of another agent. With a
                // slow store a run was once allowed after a stop.
                let hold = hold
                    .still_permitted()
                    .map_err(|reason| denied(&self.dirigent.runtime, reason))?;
                Ok(Permit::new(reason, turn, anchor, was_running, Some(hold)))
            }
            (Some(Verdict::Allow { reason, turn, anchor }), None) => {
                Ok(Permit::new(reason, turn, anchor, was_running, None))
            }
            (Some(Verdict::Deny { reason }), _) => Err(denied(&self.dirigent.runtime, reason)),
            (None, _) => Ok(Permit::unmanaged()),
        }
    }
}

/// Defers the agent's run if the run may not start now and that may change. An earlier deferral of the agent is then
/// dropped without a callback.
fn defer(runtime: &Runtime, cell: &Arc<RoomCell>, agent: AgentKey) -> Option<(Reason, Deferral)> {
    let fresh = DeferralKey::new(runtime.deferrals.fetch_add(1, Ordering::Relaxed));
    let (tell, turn) = oneshot::channel();
    // Both happen under one lock, because the turn may come as soon as the room knows the key.
    let (reason, key) = runtime.update_cell(cell, None, |state, cx, now| {
        let (reason, key) = state.room.defer(cx, now, agent, fresh)?;
        if let Some(key) = key {
            // An earlier deferral of the agent has the same key, and its caller is dropped.
            state.deferrals.retain(|(known, _)| *known != key);
            state.deferrals.push((key, tell));
        }
        Some((reason, key.unwrap_or(fresh)))
    })?;
    Some((reason, Deferral::new(key, turn)))
}

fn speaker_of(runtime: &Runtime, reason: Reason) -> Option<AgentId> {
    let Reason::NotYourTurn { speaker } = reason else {
        return None;
    };
    runtime.registry.name(speaker)
}

fn denied(runtime: &Runtime, reason: Reason) -> Denial {
    let speaker = speaker_of(runtime, reason);
    let no_reply_model = runtime.settings.hooks.no_reply_model.clone();
    Denial::Denied { reason, speaker, no_reply_model }
}

fn is_running(room: &Room, agent: Option<AgentKey>) -> bool {
    let view = room.look().machine().view();
    let runs = matches!(view.phase(), PhaseKind::Running | PhaseKind::Waiting);
    let is_permitted = view.permit() == agent && view.run().is_some();
    agent.is_some() && ((runs && view.speaker() == agent) || is_permitted)
}

/// Guards the run that this answer permits, if there is one, like
/// [`Guards::guard`](crate::room::guards::Guards::guard).
fn guard(
    room: &mut Room,
    agent: Option<AgentKey>,
    run: Option<RunId>,
    answer: &Result<Answer, Refusal>,
) -> Option<(Guarded, bool)> {
    // A run in a channel without turns holds nothing, so it needs no guard.
    let answer = answer.as_ref().ok().filter(|answer| holds_permission(**answer))?;
    let Some(Verdict::Allow { turn, .. }) = answer.verdict() else {
        return None;
    };
    Some(room.guards().guard(agent?, turn, run))
}

/// Returns whether the answer allows a run that must end later, in a turn or after a reminder.
const fn holds_permission(answer: Answer) -> bool {
    match answer.verdict() {
        Some(verdict) => {
            matches!(verdict.reason(), Reason::YourTurn | Reason::InitiatorPermit)
        }
        None => false,
    }
}
