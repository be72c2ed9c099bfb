//! Parts of the server that are away.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::LoopbackDiscord;

/// A part of Discord that is away, from [`LoopbackDiscord::begin_outage`] until you end it. Several parts may be away
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
    /// No server listens at [`LoopbackDiscord::address`]. Current requests are closed, and new connections are refused.
    /// Existing gateway connections go on, but new ones are refused, because the gateway has the same port. If a client
    /// should be able to reconnect while REST is away, use [`RestHanging`](Self::RestHanging).
    RestRefused,
    /// Connections are accepted and requests are read, but they are never answered, not even after the outage. A client
    /// runs into its own timeout.
    RestHanging {
        /// True if the requests are performed nevertheless.
        is_applied: bool,
    },
    /// Every gateway connection is closed without a close frame, and new ones are closed without an answer. Requests
    /// are answered. A client that resumes its session in time gets the events of that time, as after every cut.
    GatewayCut,
}

/// The current outages, as every connection sees them.
pub(super) struct Outages(watch::Sender<Away>);

#[derive(Default)]
struct Away {
    /// The outages with their numbers. A timer recognises its own outage by the number, even if the same part is away
    /// again.
    parts: BTreeMap<ServerOutage, u64>,
    /// The number of outages so far.
    begun: u64,
}

impl Outages {
    pub(super) fn none() -> Self {
        Self(watch::Sender::new(Away::default()))
    }

    pub(super) fn has(&self, outage: ServerOutage) -> bool {
        self.0.borrow().parts.contains_key(&outage)
    }

    /// Returns `None` unless requests hang. Otherwise returns whether they are performed.
    pub(super) fn hanging(&self) -> Option<bool> {
        let is_hanging = |is_applied| self.has(ServerOutage::RestHanging { is_applied });
        if is_hanging(true) { Some(true) } else { is_hanging(false).then_some(false) }
    }

    /// Waits until this part is away.
    pub(super) async fn begins(&self, outage: ServerOutage) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|away| away.parts.contains_key(&outage)).await;
    }
}

impl LoopbackDiscord {
    /// Takes a part of the server away until you end the outage, for example to see what your bot does while Discord is
    /// down. If it would have ended by itself, it no longer does.
    pub fn begin_outage(&self, outage: ServerOutage) {
        self.state.begin_outage(outage);
    }

    /// Takes a part of the server away for this long by the clock of the Discord, or until you end the outage.
    ///
    /// If the same part goes away again before that, the new outage replaces this one and has its own end.
    pub fn begin_outage_for(&self, outage: ServerOutage, duration: Duration) {
        let number = self.state.begin_outage(outage);
        let state = Arc::clone(&self.state);
        let until = state.discord.clock().now() + duration;
        self.state.run(async move {
            state.discord.clock().sleep_until(until).await;
            state.end_outage(outage, Some(number));
        });
    }

    /// Brings one part of the server back. If it is not away, this has no effect.
    pub fn end_outage(&self, outage: ServerOutage) {
        self.state.end_outage(outage, None);
    }

    /// Brings every part back.
    pub fn end_outages(&self) {
        for outage in self.outages() {
            self.state.end_outage(outage, None);
        }
    }

    /// Returns the parts that are away now.
    pub fn outages(&self) -> Vec<ServerOutage> {
        self.state.outages.0.borrow().parts.keys().copied().collect()
    }
}

impl super::state::ServerContext {
    /// Begins an outage. Returns its number.
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

    /// Ends an outage. With a number, it ends only the outage of this number.
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
