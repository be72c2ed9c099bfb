//! Decides who speaks when among several AI agents in one channel, and carries it out.

mod clock;
mod discord;
mod error;
mod id;
mod identity;
mod message;

pub use clock::{Clock, SystemClock};
pub use dirigent_core::{AgentKey, MessageId, Timestamp};
pub use discord::{
    Access, ChannelInfo, ChannelKind, DiscordApi, GuildApi, HistoryRequest, Mentions, NewChannel,
    Post, Posted,
};
pub use error::{ApiError, Certainty, ErrorKind};
pub use id::{AgentId, BadSnowflake, ChannelId, GuildId, UserId};
pub use identity::{Identity, IdentityStore, RegisterError};
pub use message::{AuthorKind, ChatKind, ChatMessage, Nonce};
