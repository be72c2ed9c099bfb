//! A transport within one process, for tests, and for several Dirigents in one program.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::{CarryError, HostId, Relay, Server};

/// Carries questions to servers in the same process. Clones share the servers.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_relay::{InProcess, Keyring, Secret, Server};
///
/// let relay = InProcess::new();
/// let secret = Secret::new(&[7; 32])?;
/// let keys = Keyring::of_cluster("bot-1".parse()?, &secret);
/// relay.connect(Arc::new(Server::new(keys)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct InProcess {
    servers: Arc<Mutex<HashMap<HostId, Arc<Server>>>>,
}

impl InProcess {
    /// Creates a transport that reaches no server yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Connects this server, which the transport then reaches by its name.
    pub fn connect(&self, server: Arc<Server>) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.insert(server.me().clone(), server);
    }

    /// Disconnects the server with this name. Questions to it fail as unreachable from then on, which is how a test can
    /// simulate a process that ended.
    pub fn disconnect(&self, host: &HostId) {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).remove(host);
    }

    fn server(&self, host: &HostId) -> Option<Arc<Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }
}

#[async_trait]
impl Relay for InProcess {
    async fn carry(
        &self,
        to: &HostId,
        rule: &str,
        question: Vec<u8>,
    ) -> Result<Vec<u8>, CarryError> {
        let server = self.server(to);
        let server = server.ok_or_else(|| CarryError::unreachable("it is not connected"))?;
        Ok(server.answer(rule, &question).await?)
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess").finish_non_exhaustive()
    }
}
