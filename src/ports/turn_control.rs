//! Both ends of a turn that is carried: what is seen of it where it was given, and what steers it where the agent lives.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::turn_link::TurnLink;
use crate::ChatMessage;
use crate::values::error::ApiError;

/// What an agent asks for during a turn that no driver of this process gave, as
/// [`Turn::controlled`](crate::Turn::controlled) takes it.
#[async_trait]
pub trait TurnSource: Send + Sync + 'static {
    /// Returns the newest messages of the channel, oldest first: at most `limit`, between 1 and 100.
    ///
    /// # Errors
    ///
    /// As the chat, or the way to it, fails.
    async fn transcript(&self, limit: usize) -> Result<Vec<Arc<ChatMessage>>, ApiError>;

    /// Returns what remains until the turn is taken away; `None` where it has no such end.
    fn time_left(&self) -> Option<Duration>;

    /// Takes what the agent cost, in the unit of the channel's budget.
    fn report_cost(&self, cost: u64);
}

/// Steers a turn that no driver of this process gave. Made by [`Turn::controlled`](crate::Turn::controlled). Clones steer the
/// same turn.
#[derive(Clone)]
pub struct TurnControl {
    link: Arc<TurnLink>,
}

impl TurnControl {
    pub(super) const fn new(link: Arc<TurnLink>) -> Self {
        Self { link }
    }

    /// Takes the turn away.
    pub fn cancel(&self) {
        if !self.link.is_cancelled() {
            self.link.cancel();
        }
    }

    /// The turn takes longer than it should.
    pub fn mark_slow(&self) {
        if !self.link.is_slow() {
            self.link.mark_slow();
        }
    }

    /// The turn waits, or goes on.
    pub fn set_paused(&self, paused: bool) {
        if self.link.is_paused() != paused {
            self.link.pause(paused);
        }
    }

    /// Hands the agent a message that came during the turn; `false` where it has answered, or has 100 to take.
    pub fn inject(&self, message: Arc<ChatMessage>) -> bool {
        self.link.inject(message)
    }

    /// The agent has answered: it is handed no message any more. Returns how many it took.
    pub fn close(&self) -> usize {
        self.link.close();
        self.link.taken()
    }
}

/// Tells of all that comes during a turn: that it is taken away, is slow, waits or goes on, and what people say. Made by
/// [`Turn::watch`](crate::Turn::watch), for an agent that passes its turn on.
///
/// ```
/// use dirigent::{ChannelId, Turn};
/// use dirigent::hooks::TurnId;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let turn = Turn::new(ChannelId::new(1), "poet".into(), TurnId::new(3));
/// let mut watch = turn.watch();
/// assert!(watch.waiting().is_empty());
/// tokio::select! {
///     biased;
///     () = watch.changed() => unreachable!("nothing happens in it"),
///     () = std::future::ready(()) => {}
/// }
/// # }
/// ```
pub struct TurnWatch {
    link: Arc<TurnLink>,
    seen: u64,
}

impl TurnWatch {
    pub(super) fn new(link: Arc<TurnLink>) -> Self {
        let seen = link.changes();
        Self { link, seen }
    }

    /// Waits until anything has changed since the last call, or since the watch was made.
    ///
    /// # Cancellation
    ///
    /// May be dropped and called again.
    pub async fn changed(&mut self) {
        self.link.changed_since(self.seen).await;
        self.seen = self.link.changes();
    }

    /// Returns the messages that wait to be taken, oldest first, without taking them.
    pub fn waiting(&self) -> Vec<Arc<ChatMessage>> {
        self.link.waiting()
    }
}

impl fmt::Debug for TurnControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnControl")
            .field("is_cancelled", &self.link.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TurnWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnWatch").field("seen", &self.seen).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::{ChannelId, MessageId, Turn, UserId};
    use dirigent_core::TurnId;

    struct Source;

    #[async_trait]
    impl TurnSource for Source {
        async fn transcript(&self, limit: usize) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
            Ok((1..=limit as u64).map(message).collect())
        }

        fn time_left(&self) -> Option<Duration> {
            Some(Duration::from_secs(7))
        }

        fn report_cost(&self, _cost: u64) {}
    }

    fn message(id: u64) -> Arc<ChatMessage> {
        let (id, channel) = (MessageId::new(id), ChannelId::new(1));
        Arc::new(ChatMessage::new(id, channel, UserId::new(5), "word"))
    }

    fn turn() -> (Turn, TurnControl) {
        let turn = Turn::new(ChannelId::new(1), "poet".into(), TurnId::new(4));
        turn.with_left_out(3, 4).controlled(Some(MessageId::new(9)), Arc::new(Source))
    }

    #[test]
    fn a_controlled_turn_is_told_all_that_a_driver_tells() {
        let (turn, control) = turn();
        assert_eq!(
            (turn.newest(), turn.left_out(), turn.others_left_out()),
            (Some(MessageId::new(9)), 3, 4)
        );
        assert_eq!(turn.time_left(), Some(Duration::from_secs(7)));
        assert_eq!(turn.transcript(2).now_or_never().unwrap().unwrap().len(), 2);
        control.set_paused(true);
        control.mark_slow();
        assert!(turn.is_paused() && turn.is_slow() && !turn.is_cancelled());
        assert!(control.inject(message(1)) && control.inject(message(2)));
        assert_eq!(turn.take_injected().unwrap().id, MessageId::new(1));
        assert_eq!(control.close(), 1);
        assert!(!control.inject(message(3)));
        control.cancel();
        assert_eq!((turn.is_cancelled(), turn.time_left()), (true, Some(Duration::ZERO)));
    }

    #[test]
    fn a_watch_sees_each_change_once_and_takes_nothing() {
        let (turn, control) = turn();
        let mut watch = turn.watch();
        let mut has_changed = || watch.changed().now_or_never().is_some();
        assert!(!has_changed());
        let changes: [&dyn Fn(); 5] = [
            &|| control.set_paused(true),
            &|| control.set_paused(false),
            &|| control.mark_slow(),
            &|| assert!(control.inject(message(1))),
            &|| control.cancel(),
        ];
        for change in changes {
            change();
            assert!(has_changed());
            assert!(!has_changed());
        }
        // What is so already is no change.
        control.cancel();
        control.mark_slow();
        control.set_paused(false);
        assert!(!has_changed());
        assert_eq!(watch.waiting().len(), 1);
        assert!(turn.take_injected().is_some());
    }
}
