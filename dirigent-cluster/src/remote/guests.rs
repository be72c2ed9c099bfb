//! The agents that live in other processes, for the process that calls them.

mod link;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::AgentId;
use dirigent_relay::parts::{read, write};
use dirigent_relay::{Asker, Client, ProcessRole, Refused, RelayQuestion, Service};

use super::account::RemoteAccount;
use super::agent::RemoteAgent;
use super::directory::{AgentConflict, Directory, GuestStatus};
use super::rules::{Announce, CallMissed, CallTranscript, EndCall};

pub use link::GuestsLink;

/// Knows the agents that live in other processes, and lets this one call them: each process that acts for channels has one,
/// given to its [`Server`](dirigent_relay::Server), and runs its [link](GuestsLink) beside the driver. Clones share it.
///
/// An agent is [hosted](dirigent::Dirigent::host) here when its process announces it. Agents that are known before are better named
/// while the library is put together, as below: a channel that wakes before the announcement comes waits for it then, and does not take the
/// agent for one that is called by a message.
///
/// A process that was not heard of for 3 s is lost: its agents are [offline](dirigent::Dirigent::agent_offline), and its calls have
/// failed. When it is back they are online; with [`OrderRules::auto_requeue`](dirigent::settings::OrderRules::auto_requeue), which is to
/// be chosen here, they have turns again at once.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::{Dirigent, DiscordApi};
/// use dirigent_cluster::Guests;
/// use dirigent_relay::{Client, Keyring, Secret, Server};
///
/// # fn example(discord: Arc<dyn DiscordApi>, client: Client, keys: Keyring, start: Secret) -> Result<(), Box<dyn std::error::Error>> {
/// let (guests, link) = Guests::new(client);
/// let (dirigent, driver) = Dirigent::builder(discord)
///     .host("poet", guests.agent("poet"), guests.account("poet"))
///     .build()?;
/// let server = Server::new(keys, start).with(Arc::new(guests));
/// tokio::spawn(link.run(dirigent.clone()));
/// tokio::spawn(driver.run());
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Guests {
    directory: Arc<Directory>,
}

impl Guests {
    /// Calls agents by this client, of which the process has one.
    pub fn new(client: Client) -> (Self, GuestsLink) {
        let directory = Arc::new(Directory::new(client));
        (Self { directory: Arc::clone(&directory) }, GuestsLink { directory })
    }

    /// Returns the agent of this name, wherever it lives, to be [hosted](dirigent::host::Builder::host) before it is announced.
    pub fn agent(&self, agent: impl Into<AgentId>) -> RemoteAgent {
        let agent = agent.into();
        self.directory.state().expect(&agent);
        RemoteAgent { directory: Arc::clone(&self.directory), agent }
    }

    /// Returns the account of this agent.
    pub fn account(&self, agent: impl Into<AgentId>) -> RemoteAccount {
        RemoteAccount::new(Arc::clone(&self.directory), agent.into())
    }

    /// Returns the processes that announced agents since the start, lost ones included.
    pub fn processes(&self) -> Vec<GuestStatus> {
        self.directory.state().status()
    }

    /// Returns the agents that two processes announce at once.
    pub fn conflicts(&self) -> Vec<AgentConflict> {
        self.directory.state().conflicts()
    }
}

#[async_trait]
impl Service for Guests {
    fn rules(&self) -> &'static [&'static str] {
        &[Announce::RULE, EndCall::RULE, CallMissed::RULE, CallTranscript::RULE]
    }

    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        if asker.role != ProcessRole::Peer {
            return Err(Refused::OnlyPeers);
        }
        let (directory, host) = (&self.directory, &asker.host);
        match rule {
            Announce::RULE => Ok(write(&directory.heard(host, read(question)?))),
            EndCall::RULE => Ok(write(&directory.end(host, read(question)?))),
            CallMissed::RULE => Ok(write(&directory.missed(host, read(question)?))),
            CallTranscript::RULE => Ok(write(&directory.transcript(host, read(question)?).await)),
            _ => Err(Refused::UnknownRule),
        }
    }
}

impl fmt::Debug for Guests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guests").field("host", self.directory.client.me()).finish_non_exhaustive()
    }
}
