//! Calls a host back when the turn of a denied agent comes.

use dirigent_core::TurnId;
use tokio::sync::oneshot;

use crate::values::deferral_key::DeferralKey;

/// A run that was deferred instead of denied. You get it from
/// [`Channel::may_speak_or_defer`](crate::Channel::may_speak_or_defer).
///
/// [`turn`](Self::turn) returns when the turn comes. The library then posts no trigger message and calls no waker.
/// After you drop the deferral, the agent is woken as usual, and the [`WakeCall`](crate::hooks::WakeCall) carries the
/// [`key`](Self::key).
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

    /// Returns the key of this deferral. You need it if you wake your agents yourself, because a wake names it.
    pub const fn key(&self) -> DeferralKey {
        self.key
    }

    /// Waits until the agent's turn comes. Then ask again for the run. It may have the same run id.
    ///
    /// Returns `None` if the turn will never come, because the agent asked again, or because the channel forgot the
    /// deferral. A channel forgets it after [`MemberRules::forget_after`](crate::settings::MemberRules::forget_after)
    /// without a message.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, the wait ends.
    pub async fn turn(self) -> Option<TurnId> {
        self.turn.await.ok()
    }
}
