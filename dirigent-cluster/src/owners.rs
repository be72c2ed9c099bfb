//! Which process acts for which channel.

use std::sync::Arc;

use dirigent::ChannelId;
use dirigent::ports::Ownership;
use dirigent_relay::HostId;

/// Says which process acts for which channel, as far as this one knows. Every [`Ownership`] that knows the names of processes
/// does: a `PostgresStore` that was opened with a [`HostId`] as the name of its process. It is asked before each question, and answers at once,
/// from memory: what it says may be old, which the process that is asked says then.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent_cluster::Owners;
/// use dirigent_relay::HostId;
///
/// /// Two processes, by the channel's number.
/// struct EvenAndOdd([HostId; 2]);
///
/// impl Owners for EvenAndOdd {
///     fn owner(&self, channel: ChannelId) -> Option<HostId> {
///         self.0.get(usize::from(channel.get() % 2 == 1)).cloned()
///     }
///
///     fn all(&self) -> Vec<HostId> {
///         self.0.to_vec()
///     }
/// }
/// ```
pub trait Owners: Send + Sync + 'static {
    /// Which process acts for the channel; `None` where none is known to, as while it is taken over.
    fn owner(&self, channel: ChannelId) -> Option<HostId>;

    /// The processes that act for channels, this one included.
    fn all(&self) -> Vec<HostId>;
}

impl<O: Ownership> Owners for O {
    fn owner(&self, channel: ChannelId) -> Option<HostId> {
        host(&Ownership::owner(self, channel)?)
    }

    fn all(&self) -> Vec<HostId> {
        self.processes().iter().filter_map(host).collect()
    }
}

/// A process whose name cannot be a host's is none that can be asked.
fn host(name: &Arc<str>) -> Option<HostId> {
    name.parse().ok()
}
