//! Decides who speaks when among several AI agents in one channel, and carries it out.

mod agent;
mod attempt;
mod builder;
mod call_error;
mod clock;
mod discord;
mod driver;
mod error;
mod events;
mod guard;
mod handle;
mod hosted;
mod id;
mod identity;
mod memory;
mod message;
mod pacing;
mod perform;
mod reconcile;
mod recorder;
mod registry;
mod room;
mod settings;
mod shared;
mod split;
mod store;
mod timers;
mod transcript;
mod waker;
mod worker;

pub use agent::{Agent, AgentError, Reply, Turn};
pub use async_trait::async_trait;
pub use builder::{BuildError, Builder};
pub use call_error::CallError;
pub use clock::{Clock, SystemClock};
pub use dirigent_core::{
    AgentKey, Cause, Config, ConfigError, Deadline, DeadlineReason, Input, InterruptPolicy,
    MessageId, Mode, Outcome, PhaseKind, Reason, Refusal, Rest, RestoreError, RunId, Seat,
    SeatTurn, SilencePolicy, Snapshot, Timestamp, Transition, TriggerCleanup, TurnId, TurnState,
    WakeCause,
};
pub use discord::{
    Access, ChannelInfo, ChannelKind, DiscordApi, GuildApi, HistoryRequest, Mentions, NewChannel,
    Post, Posted,
};
pub use driver::{Driver, RunError};
pub use error::{ApiError, Certainty, ErrorKind};
pub use events::{ChannelEvent, Heard, Transitions};
pub use guard::{Decision, Ending, RunGuard};
pub use handle::{CreatedChannel, Dirigent, Status};
pub use id::{AgentId, BadSnowflake, ChannelId, GuildId, UserId};
pub use identity::{Identity, IdentityStore, RegisterError};
pub use memory::{MemoryChannels, MemoryIdentities};
pub use message::{AuthorKind, ChatKind, ChatMessage, Nonce};
pub use recorder::{RecordedChannel, Recorder, Recording, ReplayedStep};
pub use settings::{LostRuns, Pace, Pacing, Settings};
pub use split::split_reply;
pub use store::{
    ChannelRecord, ChannelStore, Commit, CommitError, Durability, Outgoing, OutgoingPart, Revision,
    StoredChannel,
};
pub use transcript::{Content, Part, Role, TranscriptMessage, final_text};
pub use waker::{AgentWaker, WakeCall, Woken};
