//! Draws the history of a [`dirigent`] channel, for people who would rather look than read.
//!
//! * [`Score`] draws turns like a musical score. Each agent has a stave. Speech is a bar, silence is a rest with its
//!   reason, a denied run is hollow, and the messages of people are marks. The result is an SVG that needs no other
//!   file.
//! * [`Ring`] draws a speaker list. It shows which agent has the floor, and which ones have spoken, passed or gone
//!   away.
//! * [`Replay`] runs a recording through the turn machine again and keeps its answer at every step: the state, the
//!   agents that were asked, and the agents that were denied, with the reasons. [`Replay::html`] is one HTML file with
//!   all of it, which you can browse without a network.
//! * [`WhatIf`] shows a recorded evening above the same evening under other rules, which a laboratory played.
//!
//! None of them contains text of the conversation. Names are escaped.
//!
//! ```
//! use dirigent::replay::RecordedChannel;
//! use dirigent::snapshot::Snapshot;
//! use dirigent_control::drawing::Replay;
//!
//! let recorded = RecordedChannel::new(Default::default(), Snapshot::default());
//! let replay = Replay::of(&recorded, |_| None)?;
//! assert!(replay.html("nothing happened").starts_with("<!doctype html>"));
//! # Ok::<(), dirigent::snapshot::RestoreError>(())
//! ```

mod axis;
mod draw;
mod html;
mod replay;
mod ring;
mod score;
mod style;
mod svg;
mod what_if;
mod when;

pub use replay::{Frame, FrameAgent, FrameEvent, FrameState, Replay};
pub use ring::{Ring, RingSeat, SeatMark};
pub use score::{AgentLine, Barline, Note, NoteKind, Score};
pub use style::{SCRIPT, STYLE, TOKENS};
pub use what_if::{WhatIf, WhatIfAsked, WhatIfEvening, WhatIfFigure};
