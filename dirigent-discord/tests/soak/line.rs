//! A shard that connects again by the room's time.
//!
//! Twilight's own pauses between attempts are of the machine's time, and grow to four minutes.

use std::time::Duration;

use dirigent::Clock;
use dirigent_testkit::ManualClock;
use futures_util::StreamExt;
use tokio::sync::{oneshot, watch};
use twilight_gateway::error::{ReceiveMessageError, ReceiveMessageErrorType};
use twilight_gateway::queue::Queue;
use twilight_gateway::{ConfigBuilder, Message, Shard};

/// The pause after an attempt to connect that failed.
pub(crate) const PAUSE: Duration = Duration::from_secs(2);

/// Lets every shard identify at once: nothing is to wait.
#[derive(Clone, Debug)]
pub(crate) struct NoQueue;

impl Queue for NoQueue {
    fn enqueue(&self, _: u32) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let _ = sender.send(());
        receiver
    }
}

pub(crate) struct Line {
    shard: Shard<NoQueue>,
    clock: ManualClock,
    /// Whether it may connect again. It waits until it may.
    may_connect: watch::Receiver<bool>,
    /// Whether it could not connect.
    is_refused: bool,
}

impl Line {
    pub(crate) fn new(
        shard: Shard<NoQueue>,
        clock: ManualClock,
        may_connect: watch::Receiver<bool>,
    ) -> Self {
        Self { shard, clock, may_connect, is_refused: false }
    }

    /// What comes next; none when the shard is closed for good.
    pub(crate) async fn next(&mut self) -> Option<Result<Message, ReceiveMessageError>> {
        if self.is_refused {
            self.clock.sleep_until(self.clock.now() + PAUSE).await;
            // The fixture is there as long as its lines.
            let _ = self.may_connect.wait_for(|may| *may).await;
            self.connect_anew();
        }
        let next = self.shard.next().await;
        let refused = |error: &ReceiveMessageError| {
            matches!(error.kind(), ReceiveMessageErrorType::Reconnect)
        };
        self.is_refused = matches!(&next, Some(Err(error)) if refused(error));
        next
    }

    fn connect_anew(&mut self) {
        let mut config = ConfigBuilder::from(self.shard.config().clone());
        if let Some(session) = self.shard.session() {
            config = config.session(session.clone());
        }
        self.shard = Shard::with_config(self.shard.id(), config.build());
    }
}
