//! What of the server is away.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::watch;

use super::LoopbackDiscord;

/// A part of Discord that is away, from [`LoopbackDiscord::begin_outage`] until it is lifted. Several may be away
/// at once.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_testkit::loopback::Outage;
/// use dirigent_testkit::{LoopbackDiscord, ManualClock, MemoryDiscord};
/// use tokio::net::TcpStream;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let server = LoopbackDiscord::start(MemoryDiscord::new(Arc::new(ManualClock::new()))).await?;
/// server.begin_outage(Outage::RestRefused);
/// assert!(TcpStream::connect(server.address()).await.is_err());
/// assert!(TcpStream::connect(server.gateway_address()).await.is_ok());
/// server.end_outages();
/// assert!(TcpStream::connect(server.address()).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Outage {
    /// Nothing listens at [`LoopbackDiscord::address`]: its connections are closed, and new ones are refused.
    /// Gateway connections go on; new ones are accepted at [`LoopbackDiscord::gateway_address`].
    RestRefused,
    /// Connections are accepted and requests are read, and none of these is ever answered, not even when the
    /// outage is over. A client sees its own time-out.
    RestHanging {
        /// Whether the requests are carried out all the same.
        is_applied: bool,
    },
    /// Every gateway connection is closed without a close frame. New ones are refused at
    /// [`LoopbackDiscord::gateway_address`], and closed without an answer at [`LoopbackDiscord::address`]. What is
    /// said meanwhile is told to those who resume their session in time, as after every cut.
    GatewayCut,
}

/// All that is away, as every connection sees it.
pub(super) struct Outages(watch::Sender<BTreeSet<Outage>>);

impl Outages {
    pub(super) fn none() -> Self {
        Self(watch::Sender::new(BTreeSet::new()))
    }

    pub(super) fn has(&self, outage: Outage) -> bool {
        self.0.borrow().contains(&outage)
    }

    /// Whether requests hang, and if so, whether they are carried out.
    pub(super) fn hanging(&self) -> Option<bool> {
        let is_hanging = |is_applied| self.has(Outage::RestHanging { is_applied });
        if is_hanging(true) { Some(true) } else { is_hanging(false).then_some(false) }
    }

    /// Waits until this is away.
    pub(super) async fn begins(&self, outage: Outage) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|away| away.contains(&outage)).await;
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<Outage>)) {
        self.0.send_modify(change);
    }
}

impl LoopbackDiscord {
    /// Takes a part of the server away, until it is lifted.
    pub fn begin_outage(&self, outage: Outage) {
        self.state.begin_outage(outage);
    }

    /// Takes a part of the server away for so long by the chat's clock, or until it is lifted before.
    pub fn begin_outage_for(&self, outage: Outage, duration: Duration) {
        self.state.begin_outage(outage);
        let state = std::sync::Arc::clone(&self.state);
        let until = state.discord.clock().now() + duration;
        self.state.run(async move {
            state.discord.clock().sleep_until(until).await;
            state.end_outage(outage);
        });
    }

    /// Brings one part of the server back. Nothing happens if it was not away.
    pub fn end_outage(&self, outage: Outage) {
        self.state.end_outage(outage);
    }

    /// Brings back everything that is away.
    pub fn end_outages(&self) {
        for outage in self.outages() {
            self.state.end_outage(outage);
        }
    }

    /// What is away at present.
    pub fn outages(&self) -> Vec<Outage> {
        self.state.outages.0.borrow().iter().copied().collect()
    }
}

impl super::state::State {
    fn begin_outage(&self, outage: Outage) {
        match outage {
            Outage::RestRefused => self.rest_door.close(),
            Outage::GatewayCut => self.gateway_door.close(),
            Outage::RestHanging { .. } => {}
        }
        self.outages.change(|away| {
            away.insert(outage);
        });
    }

    fn end_outage(&self, outage: Outage) {
        self.outages.change(|away| {
            away.remove(&outage);
        });
        match outage {
            Outage::RestRefused => self.rest_door.open(),
            Outage::GatewayCut => self.gateway_door.open(),
            Outage::RestHanging { .. } => {}
        }
    }
}
