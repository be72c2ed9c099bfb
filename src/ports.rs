//! For authors of adapters. These are the traits through which the library reaches a chat, the registry of agents and
//! the time, and the values that pass through them. Stores have their own module, [`store`](crate::store).
//!
//! | to reach | implement | check it with |
//! | --- | --- | --- |
//! | a chat | [`DiscordApi`](crate::DiscordApi), for the tools also [`GuildApi`] | the contract suite of `dirigent-testkit` |
//! | the registry of agents | [`IdentityStore`](crate::IdentityStore) | the contract suite of `dirigent-testkit` |
//! | time | [`Clock`](crate::Clock) | |
//!
//! The parts of an agent's [`Reply`](crate::Reply) besides its text are here, too, for example [`Embed`] and
//! [`AllowedMentions`].

pub(crate) mod agent;
pub(crate) mod agent_fn;
pub(crate) mod clock;
pub(crate) mod creation;
pub(crate) mod discord;
pub(crate) mod identity;
pub(crate) mod into_shared;
pub(crate) mod neighbours;
pub(crate) mod orchestrator;
pub(crate) mod ownership;
pub(crate) mod recorder;
pub(crate) mod request;
pub(crate) mod store;
pub(crate) mod surroundings;
pub(crate) mod turn;
pub(crate) mod turn_link;
pub(crate) mod waker;
pub(crate) mod write_bar;

pub use crate::values::embed::{Embed, EmbedAuthor, EmbedField, EmbedFooter};
pub use crate::values::error::{ApiError, Certainty, ErrorKind, PostFailure};
pub use crate::values::extras::{AllowedMentions, Extras};
pub use crate::values::id::{BadSnowflake, GuildId, RoleId};
pub use crate::values::lines::Lines;
pub use crate::values::message::{
    Attachment, AuthorKind, BadNonce, ChatKind, Nonce, snowflake_time,
};
pub use crate::values::reply_error::ReplyError;
pub use crate::values::reply_file::ReplyFile;
pub use crate::values::shown::{Quoted, QuotedAs, Shown};
#[doc(no_inline)]
pub use dirigent_core::Timestamp;
pub use discord::{
    Access, ChannelInfo, ChannelKind, GuildApi, HistoryRequest, Mentions, NewChannel, Post, Posted,
    Reader,
};
pub use identity::{Identity, RegisterError};
pub use ownership::Standing;
pub use write_bar::WriteBar;

// Only several processes on one store need these. `dirigent-cluster` documents them.
#[doc(hidden)]
pub use crate::ports::request::{
    ChannelAnswer, ChannelRequest, ChannelState, CheckAnswer, CompleteAnswer, ExplainAnswer,
};
#[doc(hidden)]
pub use crate::values::carried::Carried;
#[doc(hidden)]
pub use crate::values::mentions::with_mentions;
#[doc(hidden)]
pub use crate::values::message::is_post;
#[doc(hidden)]
pub use neighbours::{GatewayEvent, OtherProcesses};
#[doc(hidden)]
pub use ownership::Ownership;
