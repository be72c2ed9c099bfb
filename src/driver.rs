//! The loop that everything happens in.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use dirigent_core::Input;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;

use crate::ApiError;
use crate::hosted::HostedCall;
use crate::life::Stage;
use crate::room::Room;
use crate::shared::Shared;
use crate::worker::work_for;

/// Does what is decided: stores, posts, calls agents, keeps the time. The host runs it, once.
#[derive(Debug)]
#[must_use = "nothing happens until the driver runs"]
pub struct Driver {
    shared: Arc<Shared>,
    workers: mpsc::UnboundedReceiver<Arc<Room>>,
    calls: mpsc::UnboundedReceiver<Work>,
}

/// Why the driver could not start.
///
/// ```
/// use dirigent::{ApiError, ErrorKind, RunError};
/// let error = RunError::Discord(ApiError::new(ErrorKind::Unauthorized));
/// assert!(error.to_string().contains("token is not valid"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The chat did not say which account this is.
    #[error("the chat did not answer at the start: {0}")]
    Discord(#[source] ApiError),
    /// The registry could not be read.
    #[error("the registry could not be read: {0}")]
    Identities(#[source] ApiError),
    /// The channels could not be read.
    #[error("the channel store could not be read: {0}")]
    Channels(#[source] ApiError),
}

/// A piece of work that goes on beside all others.
pub(crate) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Driver {
    pub(crate) const fn new(
        shared: Arc<Shared>,
        workers: mpsc::UnboundedReceiver<Arc<Room>>,
        calls: mpsc::UnboundedReceiver<Work>,
    ) -> Self {
        Self { shared, workers, calls }
    }

    /// Runs until [`Dirigent::shutdown`](crate::Dirigent::shutdown). Reads the stores, catches up
    /// with what was missed, then works.
    ///
    /// # Errors
    ///
    /// When it cannot start: the chat refuses the account, or a store cannot be read.
    ///
    /// # Cancellation
    ///
    /// Dropping the future is like the end of the process: what was stored is taken up again by
    /// the next driver on the same stores.
    pub async fn run(self) -> Result<(), RunError> {
        let _end = EndOnDrop(Arc::clone(&self.shared));
        self.shared.life.reach(Stage::Starting);
        self.shared.start().await?;
        self.shared.life.reach(Stage::Running);
        self.work().await;
        Ok(())
    }

    async fn work(self) {
        let Self { shared, mut workers, mut calls } = self;
        let mut busy: FuturesUnordered<Work> = FuturesUnordered::new();
        let mut speaking: FuturesUnordered<Work> = FuturesUnordered::new();
        busy.push(Box::pin(reconcile(Arc::clone(&shared))));
        busy.push(Box::pin(look_out(Arc::clone(&shared))));
        loop {
            shared.tick();
            shared.miss_heartbeats();
            if shared.life.stage() >= Stage::Ending {
                break;
            }
            let stopping = shared.life.stage() >= Stage::Stopping;
            if stopping && busy.is_empty() && speaking.is_empty() && workers.is_empty() {
                break;
            }
            let room_to_speak = speaking.len() < shared.settings.calls_max.max(1);
            let due = [shared.timers.earliest(), shared.next_silence()];
            let deadline = due.into_iter().flatten().min();
            tokio::select! {
                biased;
                Some(room) = workers.recv() => {
                    busy.push(Box::pin(work_for(Arc::clone(&shared), room)));
                }
                Some(()) = busy.next() => {}
                Some(call) = calls.recv(), if room_to_speak && !stopping => {
                    speaking.push(call);
                }
                Some(()) = speaking.next() => {}
                () = shared.timers.nearer() => {}
                () = sleep_until(&shared, deadline) => {}
                () = shared.life.until(Stage::Stopping), if !stopping => {}
                () = shared.life.until(Stage::Ending), if stopping => break,
            }
        }
    }
}

async fn sleep_until(shared: &Shared, deadline: Option<dirigent_core::Timestamp>) {
    match deadline {
        Some(deadline) => shared.clock.sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn reconcile(shared: Arc<Shared>) {
    shared.reconcile(shared.known()).await;
}

async fn look_out(shared: Arc<Shared>) {
    shared.look_out().await;
}

impl Shared {
    /// Reads who is who and which channels there are.
    async fn start(&self) -> Result<(), RunError> {
        self.load_registry().await?;
        let known = self.in_time(self.store.channels()).await.map_err(RunError::Channels)?;
        self.know(known);
        Ok(())
    }

    /// Reads the registry; returns the agents that are gone.
    pub(crate) async fn load_registry(&self) -> Result<Vec<dirigent_core::AgentKey>, RunError> {
        let moderator = self.repeat(|| self.discord.me()).await.map_err(RunError::Discord)?;
        let identities = self.in_time(self.identities.all()).await.map_err(RunError::Identities)?;
        let loaded = self.registry.load(moderator, identities, self.store.as_ref());
        self.in_time(loaded).await.map_err(RunError::Channels)
    }

    /// A store that does not answer is a store that failed.
    async fn in_time<T>(
        &self,
        asked: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        self.within(self.settings.work_deadline, asked).await?
    }

    /// Tells every channel whose deadline has passed.
    fn tick(self: &Arc<Self>) {
        for channel in self.timers.overdue(self.clock.now()) {
            if let Some(room) = self.awake(channel) {
                let _ = room.submit(self, &Input::Tick);
            }
        }
    }
}

/// However `run` ends, nobody waits for it any more.
struct EndOnDrop(Arc<Shared>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.life.reach(Stage::Ended);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("stage", &self.life.stage()).finish_non_exhaustive()
    }
}

impl fmt::Debug for HostedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostedCall")
    }
}
