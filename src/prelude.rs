//! The names that nearly every bot needs: `use dirigent::prelude::*;`.

#[doc(no_inline)]
pub use crate::operate::EventOrLag;
#[doc(no_inline)]
pub use crate::ports::Embed;
#[doc(no_inline)]
pub use crate::snapshot::PhaseKind;
#[doc(no_inline)]
pub use crate::{
    Agent, AgentError, AgentId, CallError, Channel, ChannelId, ChatMessage, Clock, Config, Denial,
    Dirigent, DiscordApi, Driver, IdentityStore, MemoryIdentities, MessageId, Mode, Permit, Reply,
    Settings, SystemClock, Turn, UserId, agent_fn, async_trait,
};
