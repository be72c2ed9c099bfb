//! Looks up which process owns a channel.

use std::sync::Arc;

use dirigent::ChannelId;
use dirigent::ports::Ownership;
use dirigent_relay::HostId;

/// Says which process owns which channel, as far as this one knows. Every [`Ownership`] that knows the names of
/// processes implements it, for example a `PostgresStore` opened with a [`HostId`] as the name of its process.
///
/// It is called before each question, so answer at once, from memory. An old answer does no harm, because the asked
/// process says if it is not the owner.
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
    /// Returns the channel's owner, or `None` if none is known, for example during a take-over.
    fn owner(&self, channel: ChannelId) -> Option<HostId>;

    /// Returns all processes that own channels, including this one.
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

/// Reads a process's name. `None` if it is no [`HostId`], because such a process cannot be asked.
fn host(name: &Arc<str>) -> Option<HostId> {
    name.parse().ok()
}
