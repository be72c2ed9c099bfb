//! Decides who speaks when among several AI agents in one channel, and carries it out.
//!
//! A bot embeds it: tells it what happens in a channel ([`Dirigent::message_created`] and its
//! like), and either asks before a model is called ([`Dirigent::may_speak`]) or lets it call the
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
//! dirigent.set_mode(channel, Mode::Chat).await?;
//! let decision = dirigent.may_speak(channel, &"poet".into(), None).await?;
//! println!("{}", decision.reason().as_str());
//! # Ok(())
//! # }
//! ```
//!
//! Agents act through the six [`tools`]; people through the slash [`command`].
//!
//! What a host implements: [`DiscordApi`] for its chat; and, unless the in-memory ones will do,
//! [`IdentityStore`] and [`ChannelStore`]. What it may choose: [`Config`] for the rules, [`Settings`]
//! for how they are carried out.

mod agent;
mod builder;
mod call_error;
mod clock;
pub mod command;
mod deferral;
mod discord;
mod discussion;
mod erasure;
mod error;
mod events;
mod explanation;
mod gateway;
mod guard;
mod handle;
mod held;
mod id;
mod identity;
mod identity_line;
mod into_shared;
mod letter;
mod lifecycle;
mod load_error;
mod memory;
mod mentions;
mod message;
mod operate;
mod orchestrator;
pub mod plain;
mod presence;
mod profile;
mod recorder;
mod room;
mod runtime;
mod settings;
mod split;
mod status;
mod store;
pub mod tools;
mod trace;
mod transcript;
mod waker;
mod words;

pub use agent::{Agent, AgentError, Reply, Turn};
pub use async_trait::async_trait;
pub use builder::{BuildError, Builder};
pub use call_error::CallError;
pub use clock::{Clock, SystemClock};
pub use deferral::{Deferral, DeferralKey};
pub use dirigent_core::{
    AgentKey, AgentState, Cause, CompletionPolicy, Config, ConfigError, Deadline, DeadlineReason,
    HumanInterrupt, HumanMarker, Input, InterruptPolicy, MessageId, Mode, Outcome, Pause,
    PhaseKind, Reason, Refusal, RestoreError, RunId, Seat, SeatTurn, Signal, SilencePolicy,
    Snapshot, Timestamp, Transition, TriggerCleanup, TurnId, TurnState, WakeCause, WakeRule,
};
pub use discord::{
    Access, ChannelInfo, ChannelKind, DiscordApi, GuildApi, HistoryRequest, Mentions, NewChannel,
    Post, Posted,
};
pub use discussion::{Discussion, DiscussionState, DiscussionStatus};
pub use error::{ApiError, Certainty, ErrorKind};
pub use events::{ChannelEvent, Heard, Transitions};
pub use explanation::{Explanation, OutageNote};
pub use guard::{Decision, Ending, RunGuard};
pub use handle::Dirigent;
pub use held::Held;
pub use id::{AgentId, BadSnowflake, ChannelId, GuildId, UserId};
pub use identity::{Identity, IdentityStore, RegisterError};
pub use identity_line::{IdentityLine, UnknownField};
pub use into_shared::IntoShared;
pub use letter::{Letter, LetterKind};
pub use load_error::{Barred, LoadError};
pub use memory::{MemoryChannels, MemoryIdentities};
pub use message::{AuthorKind, BadNonce, ChatKind, ChatMessage, Nonce};
pub use operate::{CreatedChannel, Opening, ResultPost};
pub use orchestrator::{Consultation, Orchestrator};
pub use presence::Heartbeat;
pub use profile::{FlowConfig, InterruptMode, Profile, TurnBehavior};
pub use recorder::{RecordedChannel, Recorder, Recording, ReplayedStep};
pub use runtime::driver::Driver;
pub use runtime::run_error::RunError;
pub use settings::{CreationLimits, Lookout, LostRuns, Pace, Pacing, Settings};
pub use split::split_reply;
pub use status::Status;
pub use store::{
    ChannelRecord, ChannelStore, Commit, CommitError, Durability, GapFrom, Outgoing, OutgoingPart,
    ReplyEnd, Revision, StoredChannel, Writer,
};
pub use trace::{Told, Trace, TraceEntry};
pub use transcript::{Content, Part, Role, TranscriptMessage, final_text};
pub use waker::{AgentWaker, WakeCall, Woken};

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
