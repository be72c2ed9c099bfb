//! A Discord server on this machine, over the same memory as [`MemoryDiscord`].
//!
//! Bots connect to it as they are: point their HTTP client and their gateway at it.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use dirigent::UserId;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::memory_discord::MemoryDiscord;

mod commands;
mod endpoint;
mod faults;
pub(crate) mod gateway;
mod limits;
mod rest;
mod server;
pub(crate) mod state;
mod token;
mod traffic;
pub(crate) mod wire;

pub use commands::{CommandAnswer, CommandError, InteractionId};
pub use endpoint::Endpoint;
pub use faults::{RestFault, RestFaults};
pub use gateway::{GatewayFault, GatewayFaults, SessionInfo};
pub use limits::{Limit, Limits, Scope};
pub use traffic::{Request, Traffic};

use state::State;

/// A running Discord on 127.0.0.1. Dropping it ends it with all its connections.
pub struct LoopbackDiscord {
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl LoopbackDiscord {
    /// Starts on a free port.
    ///
    /// # Errors
    ///
    /// When the port cannot be opened.
    pub async fn start(discord: MemoryDiscord) -> io::Result<Self> {
        Self::start_on(discord, 0).await
    }

    /// Starts on this port; 0 takes a free one. It must be called within a tokio runtime with I/O,
    /// on which it then runs.
    ///
    /// # Errors
    ///
    /// When the port cannot be opened.
    pub async fn start_on(discord: MemoryDiscord, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let (tasks, started) = mpsc::unbounded_channel();
        let state = Arc::new(State::new(discord, address, tasks));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server::serve(listener, Arc::clone(&state), started, stopped));
        Ok(Self { state, stop: Some(stop), serving: Some(serving) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.state.address
    }

    /// The chat behind it.
    pub fn discord(&self) -> &MemoryDiscord {
        &self.state.discord
    }

    /// A bot's token.
    pub fn token(&self, bot: UserId) -> String {
        token::of(bot)
    }

    /// Sets other limits; what was counted so far is forgotten. Unless told,
    /// [`Limits::default`] holds.
    pub fn set_limits(&self, limits: Limits) {
        self.state.counters().set(limits);
    }

    /// Lets things go wrong by another plan from now on.
    pub fn set_faults(&self, faults: RestFaults) {
        *self.state.faults() = faults;
    }

    /// Lets the next request for this route go wrong, or the one after those already planned.
    pub fn next(&self, endpoint: Endpoint, fault: RestFault) {
        self.state.faults().next(endpoint, fault);
    }

    /// Changes the plan of what goes wrong.
    pub fn inject(&self, change: impl FnOnce(&mut RestFaults)) {
        change(&mut self.state.faults());
    }

    /// What was asked since it started, and how that was answered.
    pub fn traffic(&self) -> Traffic {
        self.state.traffic().clone()
    }

    /// Ends it, and waits until nothing of it runs any more.
    pub async fn shutdown(mut self) {
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            // A panic in it has been shown already.
            let _ = serving.await;
        }
    }
}

impl Drop for LoopbackDiscord {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

impl fmt::Debug for LoopbackDiscord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackDiscord").field("address", &self.address()).finish_non_exhaustive()
    }
}
