//! Which channels this process acts for, where several processes share a store.

use std::sync::Arc;

use async_trait::async_trait;

use crate::ChannelId;

/// How this process stands to a channel.
///
/// ```
/// use dirigent::ports::Standing;
/// assert!(Standing::Held < Standing::Elsewhere);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the driver must know what to do with each")]
pub enum Standing {
    /// It acts for the channel.
    Held,
    /// It acts for the channel, but not for much longer unless its lease is renewed: it starts nothing new. No
    /// agent is granted or called; what is under way ends, is posted and is stored.
    Quiet,
    /// Another process may act for the channel: this one starts nothing and posts nothing. It stores what it has decided,
    /// which the store refuses if the channel is another's. It may hold the channel again without having lost it.
    Lapsed,
    /// Another process acts for the channel, or soon will. What this one knew of it is of no account any more.
    Elsewhere,
}

impl Standing {
    /// Returns whether this process acts for the channel and no other one may: [`Held`](Self::Held) or [`Quiet`](Self::Quiet).
    pub const fn acts(self) -> bool {
        matches!(self, Self::Held | Self::Quiet)
    }
}

/// Says which channels this process acts for, where several processes share a store; from
/// [`Builder::ownership`](crate::host::Builder::ownership). `dirigent-cluster` has one on PostgreSQL.
///
/// It saves work and keeps two processes from acting at once in the ordinary course of things. What makes a
/// turn happen once is the [store](crate::store::ChannelStore): it refuses the commit of a process that does not act for the
/// channel any more, and nothing is posted whose commit was refused.
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
    /// How this process stands to the channel now. Asked before each action: it must answer at once, from memory, and
    /// trust a lease no longer than it is surely this process's.
    fn standing(&self, channel: ChannelId) -> Standing;

    /// By what name the process is called that acts for the channel, this one included, as far as is known from memory: it may
    /// be old. The default knows none.
    fn owner(&self, channel: ChannelId) -> Option<Arc<str>> {
        let _ = channel;
        None
    }

    /// The names of all processes that act for channels, this one included. The default knows none.
    fn processes(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Waits until the standing of any channel has changed since the last call returned. Returns the channels with a
    /// record that came to this process since: only from then on are they [`Standing::Held`], so that the driver knows
    /// nothing of them from before. One that was lost and came back is among them.
    ///
    /// # Cancellation
    ///
    /// Dropping the future must lose no change: the next call returns it.
    async fn changed(&self) -> Vec<ChannelId>;
}
