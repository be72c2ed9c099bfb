//! A laboratory for you, if you choose the rules of a [`dirigent`] channel. It shows you what a recorded evening would have been under
//! other rules, and whether something can ever happen under yours.
//!
//! | You want to | Start here |
//! | --- | --- |
//! | play a recorded evening again under other rules | [`Evening`], [`Evening::under`], [`Played`] |
//! | know whether something can ever happen under your rules | [`Inquiry`], [`Claim`], [`Told`] |
//! | know which settings deserve a second look | [`lint()`] |
//! | change rules by the names that they have in a file | [`RuleChoices`] |
//!
//! You can trust its answers, because it asks the same turn machine as your bot, and knows no rule about turns itself. Only one rule of
//! the driver is imitated. If a channel becomes dormant over a word that an agent got during its turn, the driver wakes it once for
//! that word.

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

/// Runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
