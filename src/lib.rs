//! Decides who speaks when among several AI agents in one channel, and carries it out.
//!
//! A bot embeds it: tells it what happens in a channel ([`Dirigent::message_created`] and its
//! like), and either asks before a model is called ([`Channel::may_speak`]) or lets it call the
//! agents itself ([`Agent`]). The decisions are those of `dirigent-core`; this crate keeps the time,
//! stores, posts and wakes.
//!
//! ```no_run
//! use std::sync::Arc;
//! use dirigent::{Dirigent, DiscordApi, MemoryIdentities, Mode, SystemClock};
//!
//! # async fn bot(moderator: Arc<dyn DiscordApi>, channel: dirigent::ChannelId) -> Result<(), Box<dyn std::error::Error>> {
//! let (dirigent, driver) =
//!     Dirigent::builder(moderator, MemoryIdentities::new(), SystemClock::new()).build()?;
//! tokio::spawn(driver.run());
//! dirigent.channel(channel).set_mode(Mode::Chat).await?;
//! match dirigent.channel(channel).may_speak(&"poet".into(), None).await {
//!     Ok(permit) => println!("it may speak: {}", permit.reason()),
//!     Err(denial) => println!("it may not speak: {denial}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Agents act through the six [`tools`]; people through the slash [`command`].
//!
//! What a host implements: [`DiscordApi`] for its chat; and, unless the in-memory ones will do,
//! [`IdentityStore`] and [`ChannelStore`]. What it may choose: [`Config`] for the rules, [`Settings`]
//! for how they are carried out.

mod host;
mod memory;
mod ports;
mod record;
mod replay;
mod room;
mod runtime;
mod settings;
mod text;
pub mod tools;
mod values;

pub use async_trait::async_trait;
pub use dirigent_core::{
    AgentKey, AgentState, Cause, CompletionPolicy, Config, ConfigError, Deadline, DeadlineReason,
    HumanInterrupt, HumanMarker, Input, InterruptPolicy, MessageId, Mode, Outcome, Pause,
    PhaseKind, Reason, Refusal, RestoreError, RunId, Seat, SeatTurn, Signal, SilencePolicy,
    Snapshot, Timestamp, Transition, TriggerCleanup, TurnId, TurnState, WakeCause, WakeRule,
};
pub use host::builder::{BuildError, Builder};
pub use host::channel::Channel;
pub use host::command;
pub use host::deferral::Deferral;
pub use host::discussion::{DiscussionState, DiscussionStatus};
pub use host::explanation::{Explanation, OutageNote};
pub use host::handle::Dirigent;
pub use host::identity_line::{IdentityLine, UnknownField};
pub use host::operate::{CreatedChannel, Opening, ResultPost};
pub use host::permit::{Denial, Ending, Permit};
pub use host::status::Status;
pub use memory::{MemoryChannels, MemoryIdentities};
pub use ports::agent::{Agent, AgentError, Reply, Turn};
pub use ports::clock::{Clock, SystemClock};
pub use ports::discord::{
    Access, ChannelInfo, ChannelKind, DiscordApi, GuildApi, HistoryRequest, Mentions, NewChannel,
    Post, Posted,
};
pub use ports::identity::{Identity, IdentityStore, RegisterError};
pub use ports::into_shared::IntoShared;
pub use ports::orchestrator::{Consultation, Orchestrator};
pub use ports::store::{ChannelStore, Commit, CommitError, Durability};
pub use ports::waker::{AgentWaker, WakeCall, Woken};
pub use record::channel::{
    ChannelRecord, GapFrom, Outgoing, OutgoingPart, ReplyEnd, Revision, StoredChannel, Writer,
};
pub use record::discussion::Discussion;
pub use record::held::Held;
pub use record::letter::{Letter, LetterKind};
pub use replay::recorder::{RecordedChannel, Recorder, Recording, ReplayedStep};
pub use replay::trace::{Told, Trace, TraceEntry};
pub use runtime::driver::Driver;
pub use runtime::events::{AgentFailure, AgentFault, ChannelEvent, Events, Heard, LostReply};
pub use runtime::run_error::RunError;
pub use settings::heartbeat::Heartbeat;
pub use settings::profile::{FlowConfig, InterruptMode, Profile, TurnBehavior};
pub use settings::{CreationLimits, Lookout, LostRuns, Pace, Pacing, Settings};
pub use text::plain;
pub use text::split::split_reply;
pub use text::transcript::{Content, Part, Role, TranscriptMessage, final_text};
pub use values::call_error::{CallError, DriverEnd};
pub use values::deferral_key::DeferralKey;
pub use values::error::{ApiError, Certainty, ErrorKind};
pub use values::id::{AgentId, BadSnowflake, ChannelId, GuildId, UserId};
pub use values::load_error::{Barred, LoadError};
pub use values::message::{AuthorKind, BadNonce, ChatKind, ChatMessage, Nonce};

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
