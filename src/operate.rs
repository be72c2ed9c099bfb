//! For people who run a bot: see what happens in its channels and why, and steer it.
//!
//! | to | see |
//! | --- | --- |
//! | learn why an agent may or may not speak | [`Channel::explain`](crate::Channel::explain), [`Explanation`], [`Reason`] |
//! | see how a channel stands | [`Channel::status`](crate::Channel::status), [`Status`] |
//! | see who takes turns, and who is missing | [`Channel::participants`](crate::Channel::participants), [`Participants`] |
//! | hear of all that happens | [`Dirigent::events`](crate::Dirigent::events), [`EventOrLag`] |
//! | count what happens, for metrics | [`Dirigent::tally`](crate::Dirigent::tally), [`Tally`] |
//! | steer a channel | [`Channel::stop`](crate::Channel::stop), [`Channel::speak_next`](crate::Channel::speak_next), [`Channel::mute`](crate::Channel::mute) and the like |
//! | let people steer it | [`command`](crate::command) |

pub use crate::host::discussion::{DiscussionState, DiscussionStatus};
pub use crate::host::explanation::{Explanation, OutageNote, UnpermittedPosts};
pub use crate::host::participants::{Missing, Participants};
pub use crate::host::status::Status;
pub use crate::ports::creation::{CreatedChannel, Opening};
pub use crate::ports::write_bar::ModeratorLacks;
pub use crate::room::addressing::AddressedBy;
pub use crate::room::outbox::entry::{OutboxEntry, PostState};
pub use crate::runtime::events::{
    AgentFailure, AgentFault, ChannelEvent, EventOrLag, Events, LostReply, Progress,
};
pub use crate::runtime::presence::FailedCalls;
pub use crate::runtime::tally::{PhaseTimes, Request, Tally};
pub use crate::runtime::twins::SecondProcess;
pub use crate::runtime::workers::Work;
pub use crate::values::call_error::DriverEnd;
pub use crate::values::summary::{ResultPost, Summary};
#[doc(no_inline)]
pub use dirigent_core::{Cause, Reason, Refusal, Transition, WakeCause};
