//! Tells the library which agents there are, and gives up processes that are not heard of.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{AgentId, CallError, Dirigent};

use crate::remote::account::RemoteAccount;
use crate::remote::agent::RemoteAgent;
use crate::remote::directory::{Directory, News, Presence};

/// How soon an agent's presence is reported again that the library did not take.
const TELL_AGAIN: Duration = Duration::from_secs(1);

/// What keeps the library up to date about the agents of other processes: the host runs it, once.
#[must_use = "no agent of another process is known until the link runs"]
pub struct GuestsLink {
    pub(super) directory: Arc<Directory>,
}

impl GuestsLink {
    /// Runs for ever: hosts the agents that live elsewhere, and reports which of them are online.
    ///
    /// # Cancellation
    ///
    /// When dropped, lost processes are noticed no more.
    pub async fn run(self, dirigent: Dirigent) {
        let clock = self.directory.client.clock();
        loop {
            let now = clock.now();
            self.directory.state().lapse(now);
            let news = self.directory.state().news(now);
            let is_told = self.tell(&dirigent, news).await;
            // What was due since the look, while the library was told, is due at once.
            let lapse = self.directory.state().next_lapse(now);
            let again = (!is_told).then(|| clock.now() + TELL_AGAIN);
            let until = lapse.into_iter().chain(again).min();
            let wait = async {
                match until {
                    Some(until) => clock.sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.directory.changed.notified() => {}
                () = wait => {}
            }
        }
    }

    /// Returns whether the library took it.
    async fn tell(&self, dirigent: &Dirigent, news: Vec<News>) -> bool {
        let mut is_new = false;
        for News { agent, .. } in news.iter().filter(|news| !news.is_hosted) {
            let directory = || Arc::clone(&self.directory);
            let speaks = RemoteAgent { directory: directory(), agent: agent.clone() };
            dirigent.host(agent.clone(), speaks, RemoteAccount::new(directory(), agent.clone()));
            is_new = true;
        }
        if is_new && let Err(error) = dirigent.identities_changed().await {
            tracing::debug!(%error, "the registry is not read again");
        }
        let mut is_told = true;
        for News { agent, presence, .. } in news {
            let taken = tell_presence(dirigent, &agent, presence).await;
            match taken {
                Ok(()) => self.directory.state().told(&agent, presence),
                Err(error) => {
                    tracing::debug!(%agent, %error, "the library does not take an agent's presence");
                    is_told = false;
                }
            }
        }
        is_told
    }
}

async fn tell_presence(
    dirigent: &Dirigent,
    agent: &AgentId,
    presence: Presence,
) -> Result<(), CallError> {
    match presence {
        Presence::Online => dirigent.agent_online(agent).await,
        Presence::Offline => dirigent.agent_offline(agent).await,
    }
}

impl fmt::Debug for GuestsLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuestsLink").finish_non_exhaustive()
    }
}
