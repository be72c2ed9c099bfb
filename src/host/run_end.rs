//! The end of a run, told by a host that hears of it elsewhere than where it asked.

use dirigent_core::{AgentKey, Input, Outcome, Refusal, RunId};
use tokio::sync::oneshot;

use crate::host::permit::RunReport;
use crate::host::storing::{NotKept, Storing};
use crate::runtime::cell::{Awaited, CellState};
use crate::runtime::room_table::RoomRef;
use crate::{AgentId, CallError, Channel};

/// When the end of a run was taken. Either way what the run said may be posted.
///
/// ```
/// use dirigent::hooks::EndTaken;
/// assert_ne!(EndTaken::Now, EndTaken::Before);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an end counts once")]
pub enum EndTaken {
    /// By this call.
    Now,
    /// By an earlier call: this one changed nothing.
    Before,
}

/// An end that is in force, and what tells that it is stored.
type Taken = (EndTaken, oneshot::Receiver<()>);

impl Channel<'_> {
    /// An agent's run ended. For hosts that hear of it elsewhere than where they asked; they call
    /// [`Permit::keep`](crate::Permit::keep) there. It returns when the end is stored: where it was taken, a process that goes on with the
    /// channel after this one knows of it.
    ///
    /// Telling the end of a run with an id again changes nothing, also in the next process and after a restart while the
    /// run's reply is still to be seen in the channel. Later than that, these answer as for any run that is over.
    ///
    /// A host without run ids must not report the end of a run that was denied or cancelled: nothing
    /// tells it from the end of the run that holds the floor.
    ///
    /// Where no turns are kept, and agents may speak unasked, it means nothing: also in a channel that was never
    /// given a mode.
    ///
    /// # Errors
    ///
    /// [`Refusal::StaleRun`](crate::operate::Refusal::StaleRun) when the run does not hold the floor, which
    /// is no fault: denied runs end too. [`CallError::Elsewhere`] also when this process's lease of the channel has lapsed, or another took
    /// the channel before the end was stored: nothing may be posted; tell it again. [`CallError::NotStored`] when the store is late: tell it
    /// again before anything is posted.
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
                let stored = Storing { runtime }.outcome(stored).await;
                stored.map(|()| taken).map_err(|why| match why {
                    // The store says so, and the leases may say it only later.
                    NotKept::TakenOver => CallError::Elsewhere,
                    // Where the driver has ended, the next process may find it stored, or take it.
                    NotKept::Late(_) | NotKept::Ended => CallError::NotStored,
                })
            }
            // The machine need not know of it.
            Err(CallError::UnknownChannel | CallError::Refused(Refusal::NotManaged)) => {
                Ok(EndTaken::Now)
            }
            Err(error) => Err(error),
        }
    }
}

/// Has the room take it, unless this process may no longer act for the channel.
fn take_end(
    channel: Channel<'_>,
    room: &RoomRef,
    (agent, run): (AgentKey, Option<RunId>),
    (outcome, text): (Outcome, Option<&str>),
) -> Result<Taken, CallError> {
    let runtime = &channel.dirigent.runtime;
    let is_lapsed = !runtime.owned(channel.id).acts();
    runtime.update_cell(room, None, |state, cx, now| {
        if is_lapsed {
            return Err(CallError::Elsewhere);
        }
        if run.is_some_and(|run| was_taken(state, agent, run)) {
            let newest = state.room.look().commit().newest();
            return Ok((EndTaken::Before, state.wait_for(Awaited::Stored(newest))));
        }
        let outcome = state.room.guards().recognised(cx, agent, (outcome, text));
        let ended = Input::RunEnded { agent, run, outcome };
        let (answer, stamp) = state.room.input(cx, now, &ended, false);
        answer?;
        if let Some(run) = run {
            state.remember_end(agent, run);
        }
        Ok((EndTaken::Now, state.wait_for(Awaited::Stored(stamp))))
    })
}

/// Whether the end of this run was taken already: as the channel's record says, by whatever process, or as this process
/// remembers. A host may give a later run the same id.
fn was_taken(state: &CellState, agent: AgentKey, run: RunId) -> bool {
    let view = state.room.look().machine().view();
    let may_run = view.speaker() == Some(agent) || view.permit() == Some(agent);
    if may_run && view.run() == Some(run) {
        return view.ended_run() == Some(run);
    }
    state.remembers_end(agent, run)
}
