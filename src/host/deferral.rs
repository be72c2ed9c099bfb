//! Calling a host back when the turn of an agent comes that was denied.

use dirigent_core::TurnId;
use tokio::sync::oneshot;

use crate::values::deferral_key::DeferralKey;

/// A run that was not denied but put off: from
/// [`Channel::may_speak_or_defer`](crate::Channel::may_speak_or_defer).
///
/// [`turn`](Self::turn) returns when the turn comes; the library then neither posts a trigger message nor
/// calls a waker. Once the deferral is dropped, the agent is woken as usual, and a
/// [`WakeCall`](crate::hooks::WakeCall) carries the [`key`](Self::key).
///
/// ```
/// # async fn example(dirigent: dirigent::Dirigent, channel: dirigent::ChannelId) {
/// use dirigent::Denial;
///
/// let asked = dirigent.channel(channel).may_speak_or_defer(&"poet".into(), None).await;
/// if let Err(Denial::Deferred { deferral, .. }) = asked {
///     // Keep the message that the agent was to answer, and go on with it then.
///     if let Some(turn) = deferral.turn().await {
///         println!("turn {turn:?} is the poet's; now it may ask again");
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a deferral that is dropped does not report the turn"]
pub struct Deferral {
    key: DeferralKey,
    turn: oneshot::Receiver<TurnId>,
}

impl Deferral {
    pub(crate) const fn new(key: DeferralKey, turn: oneshot::Receiver<TurnId>) -> Self {
        Self { key, turn }
    }

    /// Under which a host is called back that wakes its agents itself.
    pub const fn key(&self) -> DeferralKey {
        self.key
    }

    /// Waits until the agent's turn comes; the run then asks again, and may use the same run id. `None`
    /// when it never will: the agent asked anew, or no message came for
    /// [`MemberRules::forget_after`](crate::settings::MemberRules::forget_after) and the channel forgot the deferral.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives the wait up.
    pub async fn turn(self) -> Option<TurnId> {
        self.turn.await.ok()
    }
}
