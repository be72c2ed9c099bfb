//! The channels that this process acts for, if several processes share a store.

use std::sync::Arc;

use async_trait::async_trait;

use crate::ChannelId;

/// The relation of this process to a channel.
///
/// ```
/// use dirigent::ports::Standing;
/// assert!(Standing::Held < Standing::Elsewhere);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the driver must know what to do with each")]
pub enum Standing {
    /// This process acts for the channel.
    Held,
    /// This process acts for the channel, but must soon stop unless its lease is renewed. It starts no new work: no
    /// agent is granted a turn or called. Work in progress ends, and is posted and stored.
    Quiet,
    /// Another process may act for the channel, so this one starts no work and posts no message. It stores what it has
    /// decided, and the store refuses this if the channel belongs to another process. This process may hold the channel
    /// again without having lost it.
    Lapsed,
    /// Another process acts for the channel, or soon will. The state of the channel in this process is obsolete.
    Elsewhere,
}

impl Standing {
    /// Returns whether this process acts for the channel and no other process may. This is the case for
    /// [`Held`](Self::Held) and [`Quiet`](Self::Quiet).
    pub const fn acts(self) -> bool {
        matches!(self, Self::Held | Self::Quiet)
    }
}

/// Says which channels this process acts for, if several processes share a store. You pass it to
/// [`Builder::ownership`](crate::host::Builder::ownership). `dirigent-cluster` has one on PostgreSQL.
///
/// It saves work, and normally keeps two processes from acting at once. It does not guarantee that a turn happens only
/// once. The [store](crate::store::ChannelStore) guarantees that, because it refuses the commit of a process that no
/// longer acts for the channel, and no message is posted after a refused commit.
///
/// ```
/// use dirigent::ports::{Ownership, Standing};
/// use dirigent::{ChannelId, async_trait};
///
/// /// Channels with an even id are ours, for good.
/// struct Even;
///
/// #[async_trait]
/// impl Ownership for Even {
///     fn standing(&self, channel: ChannelId) -> Standing {
///         if channel.get() % 2 == 0 { Standing::Held } else { Standing::Elsewhere }
///     }
///
///     async fn changed(&self) -> Vec<ChannelId> {
///         std::future::pending().await
///     }
/// }
/// ```
#[async_trait]
pub trait Ownership: Send + Sync + 'static {
    /// Returns how this process stands to the channel now. The library calls it before each action, so answer at once,
    /// from memory. Trust a lease only for as long as it surely belongs to this process.
    fn standing(&self, channel: ChannelId) -> Standing;

    /// Returns the name of the process that acts for the channel, which may be this one. The answer comes from memory,
    /// so it may be old. The default returns `None`, because it knows no names.
    fn owner(&self, channel: ChannelId) -> Option<Arc<str>> {
        let _ = channel;
        None
    }

    /// Returns the names of all processes that act for channels, including this one. The default returns none.
    fn processes(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Waits until the standing of any channel has changed since the last call returned. Returns the channels with a
    /// record that came to this process since then. These channels become [`Standing::Held`] only at this moment, so
    /// that the driver has no older state of them. A channel that was lost and came back is among them.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, no change may be lost: the next call must return it.
    async fn changed(&self) -> Vec<ChannelId>;
}
