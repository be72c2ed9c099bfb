//! Parts of the server that are away.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::LoopbackDiscord;

/// A part of Discord that is away, from [`LoopbackDiscord::begin_outage`] until it is lifted. Several may be away
/// at once.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::{LoopbackDiscord, ServerOutage};
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
/// use tokio::net::TcpStream;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = LoopbackDiscord::start(MemoryDiscord::new(Arc::new(ManualClock::new()))).await?;
/// server.begin_outage(ServerOutage::RestRefused);
/// assert!(TcpStream::connect(server.address()).await.is_err());
/// server.end_outages();
/// assert!(TcpStream::connect(server.address()).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ServerOutage {
    /// Nothing listens at [`LoopbackDiscord::address`]: requests under way are closed, and new connections are refused. Gateway
    /// connections that were there before go on. New ones are refused too, because the gateway has the same port; if a
    /// client should reconnect while REST is away, use [`RestHanging`](Self::RestHanging).
    RestRefused,
    /// Connections are accepted and requests are read, and none of these is ever answered, not even when the
    /// outage is over. A client sees its own time-out.
    RestHanging {
        /// Whether the requests are carried out all the same.
        is_applied: bool,
    },
    /// Every gateway connection is closed without a close frame, and new ones are closed without an answer; requests are
    /// answered. Events of that time reach those who resume their session in time, as after every cut.
    GatewayCut,
}

/// The outages that last, as every connection sees them.
pub(super) struct Outages(watch::Sender<Away>);

#[derive(Default)]
struct Away {
    /// Each with its number, by which a timer tells its own outage from a later one of the same part.
    parts: BTreeMap<ServerOutage, u64>,
    /// How many have begun.
    begun: u64,
}

impl Outages {
    pub(super) fn none() -> Self {
        Self(watch::Sender::new(Away::default()))
    }

    pub(super) fn has(&self, outage: ServerOutage) -> bool {
        self.0.borrow().parts.contains_key(&outage)
    }

    /// Whether requests hang, and if so, whether they are carried out.
    pub(super) fn hanging(&self) -> Option<bool> {
        let is_hanging = |is_applied| self.has(ServerOutage::RestHanging { is_applied });
        if is_hanging(true) { Some(true) } else { is_hanging(false).then_some(false) }
    }

    /// Waits until this is away.
    pub(super) async fn begins(&self, outage: ServerOutage) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|away| away.parts.contains_key(&outage)).await;
    }
}

impl LoopbackDiscord {
    /// Takes a part of the server away, until it is lifted. One that would have ended by itself no longer does.
    pub fn begin_outage(&self, outage: ServerOutage) {
        self.state.begin_outage(outage);
    }

    /// Takes a part of the server away for this long by the chat's clock, or until it is lifted before.
    ///
    /// An outage of the same part that begins meanwhile takes its place and keeps its own end.
    pub fn begin_outage_for(&self, outage: ServerOutage, duration: Duration) {
        let number = self.state.begin_outage(outage);
        let state = Arc::clone(&self.state);
        let until = state.discord.clock().now() + duration;
        self.state.run(async move {
            state.discord.clock().sleep_until(until).await;
            state.end_outage(outage, Some(number));
        });
    }

    /// Brings one part of the server back. Nothing happens if it was not away.
    pub fn end_outage(&self, outage: ServerOutage) {
        self.state.end_outage(outage, None);
    }

    /// Brings back everything that is away.
    pub fn end_outages(&self) {
        for outage in self.outages() {
            self.state.end_outage(outage, None);
        }
    }

    /// What is away at present.
    pub fn outages(&self) -> Vec<ServerOutage> {
        self.state.outages.0.borrow().parts.keys().copied().collect()
    }
}

impl super::state::ServerContext {
    /// Returns the number of the outage.
    fn begin_outage(&self, outage: ServerOutage) -> u64 {
        let mut number = 0;
        self.outages.0.send_modify(|away| {
            if outage == ServerOutage::RestRefused {
                self.door.close();
            }
            away.begun += 1;
            number = away.begun;
            away.parts.insert(outage, number);
        });
        number
    }

    /// Ends an outage; with a number, only if it is the one of this number.
    fn end_outage(&self, outage: ServerOutage, number: Option<u64>) {
        self.outages.0.send_if_modified(|away| {
            let lasting = away.parts.get(&outage).copied();
            if lasting.is_none() || number.is_some_and(|number| lasting != Some(number)) {
                return false;
            }
            away.parts.remove(&outage);
            if outage == ServerOutage::RestRefused {
                self.door.open();
            }
            true
        });
    }
}
