//! Lets you pass parts of the library as values, or shared.

use std::sync::Arc;

use crate::ports::neighbours::OtherProcesses;
use crate::ports::orchestrator::Orchestrator;
use crate::ports::ownership::Ownership;
use crate::ports::recorder::Recorder;
use crate::ports::store::ChannelStore;
use crate::ports::waker::AgentWaker;
use crate::{Agent, Clock, DiscordApi, IdentityStore};

/// A part that the [`Builder`](crate::host::Builder) takes. You pass a value of a type that implements the trait `P`.
/// If you want to keep using the value, or if several parts share it, pass it in an [`Arc`].
///
/// It is implemented for all of these types, so you need not implement it.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::{Clock, SystemClock};
/// use dirigent::host::IntoShared;
///
/// fn takes(clock: impl IntoShared<dyn Clock>) -> Arc<dyn Clock> {
///     clock.into_shared()
/// }
/// let shared: Arc<dyn Clock> = takes(SystemClock::new());
/// takes(Arc::new(SystemClock::new()));
/// takes(Arc::clone(&shared));
/// ```
pub trait IntoShared<P: ?Sized> {
    /// Converts the part to a shared one.
    fn into_shared(self) -> Arc<P>;
}

macro_rules! parts {
    ($($part:ident),+) => {$(
        impl<T: $part> IntoShared<dyn $part> for T {
            fn into_shared(self) -> Arc<dyn $part> {
                Arc::new(self)
            }
        }

        impl<T: $part> IntoShared<dyn $part> for Arc<T> {
            fn into_shared(self) -> Arc<dyn $part> {
                self
            }
        }

        impl IntoShared<dyn $part> for Arc<dyn $part> {
            fn into_shared(self) -> Self {
                self
            }
        }
    )+};
}

parts!(
    Agent,
    AgentWaker,
    ChannelStore,
    Clock,
    DiscordApi,
    IdentityStore,
    OtherProcesses,
    Orchestrator,
    Ownership,
    Recorder
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryChannels;
    use crate::runtime::fixture::Quiet;
    use crate::{Dirigent, MemoryIdentities, SystemClock};

    #[test]
    fn a_part_is_taken_as_a_value_or_shared() {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let store = Arc::new(MemoryChannels::default());
        for _ in 0..2 {
            let values = Dirigent::builder(Quiet::default());
            let _ = values.channels(MemoryChannels::default()).build().unwrap();
            let identities = Arc::new(MemoryIdentities::new());
            let shared = Dirigent::builder(Arc::new(Quiet::default()))
                .identities(identities)
                .clock(Arc::clone(&clock));
            let _ = shared.channels(Arc::clone(&store)).build().unwrap();
        }
    }
}
