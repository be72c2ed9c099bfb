//! Which process acts for which channel.

use dirigent::ChannelId;

use crate::HostId;

/// Says which process acts for which channel, as far as this one knows. It is asked before each question, and answers at once,
/// from memory: what it says may be old, which the process that is asked says then.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent_relay::{HostId, Owners};
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
