//! Draws what happened in a channel of [`dirigent`], for people who would rather look than read.
//!
//! * [`Score`] draws turns as music is written: one stave for each agent, speech as bars, silences as rests with their
//!   reason, denied runs hollow, the words of people as marks. It is an SVG that stands alone.
//! * [`Ring`] draws a speaker list: who has the floor, who spoke, passed, is away.
//! * [`Replay`] gives a recording to the turn machine again and keeps what it answered at every step: the state, who was
//!   asked, who was denied and why. [`Replay::html`] is one HTML file with all of it, to be scrubbed without a network.
//!
//! Neither holds a text of the conversation. Names are escaped.
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

pub use replay::{Frame, FrameAgent, FrameEvent, FrameState, Replay};
pub use ring::{Ring, RingSeat, SeatMark};
pub use score::{Barline, Note, NoteKind, Score, Stave};
pub use style::{SCRIPT, STYLE, TOKENS};
