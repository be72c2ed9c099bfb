//! For agents that are called elsewhere, for example with a gateway of their own. They ask here before they call a
//! model, and report here how their runs end.
//!
//! | to | see |
//! | --- | --- |
//! | run a model only while its agent has the floor | [`Channel::run_if_allowed`](crate::Channel::run_if_allowed) |
//! | ask, and hold the answer | [`Channel::may_speak`](crate::Channel::may_speak), [`Permit`](crate::Permit), [`Denial`](crate::Denial) |
//! | say how a run ended | [`Permit::end`](crate::Permit::end), [`RunReport`]; from elsewhere [`Channel::turn_ended`](crate::Channel::turn_ended), [`EndTaken`] |
//! | be called back when the turn comes | [`Channel::may_speak_or_defer`](crate::Channel::may_speak_or_defer), [`Deferral`] |
//! | start an agent without a message in the channel | [`AgentWaker`] |

pub use crate::host::deferral::Deferral;
pub use crate::host::permit::RunReport;
pub use crate::host::run_end::EndTaken;
pub use crate::ports::waker::{AgentWaker, WakeCall, WakeOutcome};
pub use crate::values::deferral_key::DeferralKey;
#[doc(no_inline)]
pub use dirigent_core::text::Signal;
#[doc(no_inline)]
pub use dirigent_core::{Outcome, RunId, TurnId};
