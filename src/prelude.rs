//! What nearly every bot names: `use dirigent::prelude::*;`.

pub use crate::operate::EventOrLag;
pub use crate::ports::Embed;
pub use crate::snapshot::PhaseKind;
pub use crate::{
    Agent, AgentError, AgentId, CallError, Channel, ChannelId, ChatMessage, Clock, Config, Denial,
    Dirigent, DiscordApi, Driver, IdentityStore, MemoryIdentities, MessageId, Mode, Permit, Reply,
    Settings, SystemClock, Turn, UserId, agent_fn, async_trait,
};
