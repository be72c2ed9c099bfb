//! The end of a run, reported by a host that learns of it elsewhere than where it asked.

use dirigent_core::{AgentKey, Input, Outcome, Refusal, RunId};
use tokio::sync::oneshot;

use crate::host::permit::RunReport;
use crate::host::storing::NotKept;
use crate::runtime::cell::{Awaited, CellState};
use crate::runtime::room_table::RoomRef;
use crate::{AgentId, CallError, Channel};

/// Says which call recorded the end of a run. In both cases the text of the run may be posted.
///
/// ```
/// use dirigent::hooks::EndTaken;
/// assert_ne!(EndTaken::Now, EndTaken::Before);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an end counts once")]
pub enum EndTaken {
    /// This call recorded the end.
    Now,
    /// An earlier call recorded the end, so this call has no effect.
    Before,
}

/// An end that is in force, with a receiver that says when it is stored.
type Taken = (EndTaken, oneshot::Receiver<()>);

impl Channel<'_> {
    /// Reports the end of an agent's run. It is for hosts that learn of the end elsewhere than where they asked, and
    /// that called [`Permit::keep`](crate::Permit::keep) there. The call returns when the end is stored, so that a
    /// process that takes over the channel after this one knows the end.
    ///
    /// If the run has an id, you can report its end again without any effect. This also holds in the next process, and
    /// after a restart, while the reply of the run still stands in the channel. Later such a report gets the same
    /// answer as any run that is over.
    ///
    /// If your runs have no ids, do not report the end of a run that was denied or cancelled. The library cannot
    /// distinguish it from the end of the run that holds the floor.
    ///
    /// In a channel without turns, where agents may speak without being asked, the call has no effect. This includes
    /// channels that were never given a mode.
    ///
    /// # Errors
    ///
    /// Fails with [`Refusal::StaleRun`](crate::operate::Refusal::StaleRun) if the run does not hold the floor. This is
    /// not a fault, because denied runs end, too.
    ///
    /// Fails with [`CallError::Elsewhere`] also if this process's lease of the channel has lapsed, or if another
    /// process took the channel before the end was stored. In that case post no text, and report the end again.
    ///
    /// Fails with [`CallError::NotStored`] if the store is late. In that case report the end again before you post any
    /// text.
    pub async fn turn_ended(
        self,
        agent: &AgentId,
        run: Option<RunId>,
        report: RunReport<'_>,
    ) -> Result<EndTaken, CallError> {
        let runtime = &self.dirigent.runtime;
        let (outcome, text) = (report.outcome(&runtime.settings), report.text());
        self.dirigent.live().await?;
        let agent = self.dirigent.key(agent)?;
        runtime.presence.sign_of_life(agent);
        let told = match self.known_room().await {
            Ok(room) => take_end(self, &room, (agent, run), (outcome, text.as_deref())),
            Err(error) => Err(error),
        };
        match told {
            Ok((taken, stored)) => {
                let stored = runtime.stored_or_not(stored).await;
                stored.map(|()| taken).map_err(|why| match why {
                    // The store knows it first, and the leases may report it later.
                    NotKept::TakenOver => CallError::Elsewhere,
                    // If the driver has ended, the next process may find the end stored, or record it itself.
                    NotKept::Late(_) | NotKept::Ended => CallError::NotStored,
                })
            }
            // A channel without turns need not know of the end.
            Err(CallError::UnknownChannel | CallError::Refused(Refusal::NotManaged)) => {
                Ok(EndTaken::Now)
            }
            Err(error) => Err(error),
        }
    }
}

/// Records the end in the room, unless this process may no longer act for the channel.
fn take_end(
    channel: Channel<'_>,
    room: &RoomRef,
    (agent, run): (AgentKey, Option<RunId>),
    (outcome, text): (Outcome, Option<&str>),
) -> Result<Taken, CallError> {
    let runtime = &channel.dirigent.runtime;
    let is_lapsed = !runtime.owned(channel.id).acts();
    runtime.update_cell(room, None, |state, cx, now| {
        // The successor may have ended the run and given the floor to another agent. An end that is accepted here would
        // let both post.
        if is_lapsed {
            return Err(CallError::Elsewhere);
        }
        if run.is_some_and(|run| was_taken(state, agent, run)) {
            // The first report may not be stored yet, and its text may be posted only then.
            let newest = state.room.look().commit().newest();
            return Ok((EndTaken::Before, state.wait_for(Awaited::Stored(newest))));
        }
        let outcome = state.room.guards().recognised(cx, agent, (outcome, text));
        let ended = Input::RunEnded { agent, run, outcome };
        let (answer, stamp) = state.room.input(cx, now, &ended, false);
        answer?;
        // The machine forgets ended runs, and the answer to this report may be lost on its way.
        if let Some(run) = run {
            state.remember_end(agent, run);
        }
        Ok((EndTaken::Now, state.wait_for(Awaited::Stored(stamp))))
    })
}

/// Returns whether the end of this run was recorded already. Either the record of the channel says so, whichever
/// process wrote it, or this process remembers it. The check looks at the current turn first, because a host may give a
/// later run the same id.
fn was_taken(state: &CellState, agent: AgentKey, run: RunId) -> bool {
    let view = state.room.look().machine().view();
    let may_run = view.speaker() == Some(agent) || view.permit() == Some(agent);
    if may_run && view.run() == Some(run) {
        return view.ended_run() == Some(run);
    }
    state.remembers_end(agent, run)
}
