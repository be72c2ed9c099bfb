//! Announces the agents of this process, and runs their calls.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use dirigent::ports::Timestamp;
use dirigent_relay::HostId;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::HostedAgents;
use super::calls::Call;
use crate::remote::pace::ANNOUNCE_EVERY;
use crate::remote::rules::AnnouncedBefore;

/// What announces the agents of a [`Hosting`](super::Hosting) and runs their calls: the host runs it, once. Like a driver it polls
/// all agents on its own task: code that blocks the thread belongs elsewhere.
#[must_use = "no agent of this process is called until the link runs"]
pub struct HostingLink {
    pub(super) shared: Arc<HostedAgents>,
    pub(super) calls: mpsc::UnboundedReceiver<Call>,
}

impl HostingLink {
    /// Runs for ever.
    ///
    /// # Cancellation
    ///
    /// When dropped, the calls under way are dropped, and the other processes notice within 3 s.
    pub async fn run(mut self) {
        let mut tasks = FuturesUnordered::<BoxFuture<'static, ()>>::new();
        let clock = Arc::clone(self.shared.client.clock());
        let mut announce_at = clock.now();
        loop {
            let now = clock.now();
            // Before any agent is polled: the process may have been stopped for a while.
            self.shared.state().lapse(now);
            if now >= announce_at {
                announce_at = now + ANNOUNCE_EVERY;
                for host in self.shared.others(now) {
                    tasks.push(Box::pin(announce(Arc::clone(&self.shared), host)));
                }
            }
            let lapse = self.shared.state().next_lapse();
            let until = lapse.map_or(announce_at, |lapse| lapse.min(announce_at));
            tokio::select! {
                biased;
                () = clock.sleep_until(until) => {}
                () = self.shared.changed.notified() => announce_at = now,
                Some(call) = self.calls.recv() => tasks.push(Box::pin(call.run())),
                Some(()) = tasks.next(), if !tasks.is_empty() => {}
            }
        }
    }
}

impl HostedAgents {
    /// The other processes to which the agents are announced.
    fn others(&self, now: Timestamp) -> BTreeSet<HostId> {
        let named = self.owners.all();
        let mut all = self.state().callers(now, named);
        all.remove(self.client.me());
        all
    }
}

/// Announces the agents to one process.
async fn announce(shared: Arc<HostedAgents>, host: HostId) {
    let now = shared.client.clock().now();
    let announce = shared.state().announce(&host, shared.start, now);
    match shared.client.ask(&host, &announce).await {
        Ok(answer) => {
            for AnnouncedBefore { agent_id: agent, host: called } in &answer.refused {
                tracing::debug!(%agent, %called, %host, "another process announced the agent before");
            }
            let mut state = shared.state();
            state.prove(&host, announce.announced, shared.start);
            state.forget(&host, &answer.unknown);
        }
        Err(error) => tracing::debug!(%host, %error, "the agents are announced again"),
    }
}

impl fmt::Debug for HostingLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostingLink").finish_non_exhaustive()
    }
}
