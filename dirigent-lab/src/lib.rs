//! A laboratory for people who choose the rules of a [`dirigent`] channel: what would have happened, and can it ever happen?
//!
//! | You want to | Start here |
//! | --- | --- |
//! | play a recorded evening again under other rules | [`Evening`], [`Evening::under`], [`Played`] |
//! | know whether something can ever happen under your rules | [`Inquiry`], [`Claim`], [`Told`] |
//! | know which settings deserve a second look | [`lint()`] |
//! | change rules by the names that they have in a file | [`RuleChoices`] |
//!
//! Everything here asks the turn machine of [`dirigent_core`]: no rule about who speaks stands in this crate. One rule of the driver is
//! imitated: a channel that sleeps over a word that an agent was handed in its turn is woken for it once.

mod choices;
mod lint;
#[cfg(feature = "program")]
pub mod program;
mod prove;
mod what_if;

pub use choices::{BadChoice, RuleChoices};
pub use lint::{Advice, AdviceKind, lint};
pub use prove::claim::{BadClaim, Claim};
pub use prove::{Broken, Explored, Inquiry, Told};
pub use what_if::evening::Evening;
pub use what_if::figures::{AgentFigures, Answered, EveningFigures};
pub use what_if::played::{Assumption, Other, OtherWay, Played};

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
