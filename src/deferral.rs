//! Calling a host back when the turn of an agent comes that was denied (seed "Wake-up problem",
//! solution 4).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dirigent_core::{AgentKey, Reason, Timestamp, TurnId};
use tokio::sync::oneshot;

use crate::room::{Active, Room, RoomState};
use crate::shared::Shared;

/// Names a run that waits for its turn, within this process.
///
/// ```
/// fn log(key: dirigent::DeferralKey) -> String {
///     format!("called back as {key}")
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeferralKey(u64);

impl DeferralKey {
    /// The number inside.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for DeferralKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A run that was not denied but put off: from
/// [`Dirigent::may_speak_or_defer`](crate::Dirigent::may_speak_or_defer).
///
/// Whoever holds it is told when the turn comes, and nobody else is woken then: no trigger message is
/// posted. Once it is dropped, the agent is woken as ever, and a
/// [`WakeCall`](crate::WakeCall) carries the [`key`](Self::key).
///
/// ```
/// # async fn example(dirigent: dirigent::Dirigent, channel: dirigent::ChannelId) -> Result<(), dirigent::CallError> {
/// use dirigent::Decision;
///
/// let poet = "poet".into();
/// if let Decision::Deferred { deferral, .. } =
///     dirigent.may_speak_or_defer(channel, &poet, None).await?
/// {
///     // Keep the message that the agent was to answer, and go on with it then.
///     if let Some(turn) = deferral.turn().await {
///         println!("turn {turn:?} is the poet's; now it may ask again");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "whoever drops it is not told"]
pub struct Deferral {
    key: DeferralKey,
    turn: oneshot::Receiver<TurnId>,
}

impl Deferral {
    /// Under which a host is called back that wakes its agents itself.
    pub const fn key(&self) -> DeferralKey {
        self.key
    }

    /// Waits until the agent's turn comes; the run then asks again, and may use the same run id. `None`
    /// when it never will: the agent asked anew, or nobody has said anything for so long that the
    /// channel forgot ([`Config::forget_after`](crate::Config::forget_after)).
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives the wait up.
    pub async fn turn(self) -> Option<TurnId> {
        self.turn.await.ok()
    }
}

/// An agent that is to be called back: each at most once.
#[derive(Debug)]
pub(crate) struct Deferred {
    agent: AgentKey,
    pub(crate) key: DeferralKey,
    tell: oneshot::Sender<TurnId>,
}

impl Deferred {
    /// Tells whoever waits; `false` when nobody does.
    pub(crate) fn tell(self, turn: TurnId) -> bool {
        self.tell.send(turn).is_ok()
    }
}

impl Active {
    /// The agent is to be called back; whoever waited for it before waits in vain.
    fn defer(&mut self, agent: AgentKey, key: DeferralKey) -> Deferral {
        let known = self.deferred.iter().position(|known| known.agent == agent);
        let key = known.map_or(key, |at| self.deferred.swap_remove(at).key);
        let (tell, turn) = oneshot::channel();
        if self.deferred.len() < dirigent_core::AGENTS_MAX {
            self.deferred.push(Deferred { agent, key, tell });
        }
        Deferral { key, turn }
    }

    /// The agent's turn has come.
    pub(crate) fn take_deferred(&mut self, agent: AgentKey) -> Option<Deferred> {
        let at = self.deferred.iter().position(|known| known.agent == agent)?;
        let deferred = self.deferred.swap_remove(at);
        if self.deferred.is_empty() {
            self.deferred_until = None;
        }
        Some(deferred)
    }
}

impl Room {
    /// Puts the agent's run off until its turn comes, if it may not run now and that may change. The
    /// channel stays in memory for it, but not for ever.
    pub(crate) fn defer(
        self: &Arc<Self>,
        shared: &Shared,
        agent: AgentKey,
    ) -> Option<(Reason, Deferral)> {
        let number = shared.deferrals.fetch_add(1, Ordering::Relaxed);
        let until = shared.clock.now() + shared.config().forget_after;
        let mut state = self.lock();
        let reason = state.channel.explain(agent);
        if !can_pass(reason) {
            return None;
        }
        let active = state.active();
        active.deferred_until = Some(until);
        let deferral = active.defer(agent, DeferralKey(number));
        self.settle_down(shared, &mut state);
        Some((reason, deferral))
    }
}

impl RoomState {
    /// Where nothing has happened for long, nobody waits any more.
    pub(crate) fn expire_deferrals(&mut self, shared: &Shared, now: Timestamp) {
        let is_idle = self.channel.view().speaker().is_none();
        let Some(active) = &mut self.active else {
            return;
        };
        if active.deferred_until.is_none_or(|until| now < until) {
            return;
        }
        if is_idle {
            active.deferred.clear();
            active.deferred_until = None;
        } else {
            active.deferred_until = Some(now + shared.config().forget_after);
        }
    }
}

/// Whether an agent that is denied for this reason may be allowed later without anybody doing
/// something about the agent itself.
const fn can_pass(reason: Reason) -> bool {
    !reason.allows() && !matches!(reason, Reason::Dead | Reason::Archived | Reason::NotRegistered)
}
