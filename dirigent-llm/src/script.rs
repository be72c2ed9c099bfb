//! A scripted language model on 127.0.0.1, for tests of agents that ask a model. It speaks OpenAI's chat completions,
//! and gives your answers whole or streamed. It can also be slow, broken or overloaded, or stop in the middle.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! use dirigent_llm::script::{ScriptedAnswer, LoopbackLlm};
//!
//! let model = LoopbackLlm::start().await?;
//! model.script([
//!     ScriptedAnswer { status: 429, headers: vec![("retry-after".into(), "7".into())], ..ScriptedAnswer::default() },
//!     ScriptedAnswer::text("Good morning."),
//! ]);
//! assert!(model.url().starts_with("http://127.0.0.1:"));
//! assert_eq!(model.requests().len(), 0);
//! # Ok(())
//! # }
//! ```
//!
//! | to see | set |
//! | --- | --- |
//! | a reply | [`ScriptedAnswer::text`] |
//! | a call of a tool | [`ScriptedAnswer::call`], [`ScriptedAnswer::deltas`] for odd ones |
//! | reasoning | [`ScriptedAnswer::reasoning`], or `<think>` in the text |
//! | a refusal, a rate limit, an outage | [`ScriptedAnswer::status`], [`ScriptedAnswer::headers`], [`ScriptedAnswer::body`] |
//! | an endpoint that never begins | [`ScriptedAnswer::is_mute`] |
//! | one that stops, or whose connection breaks | [`ScriptedAnswer::stalls_after`], [`ScriptedAnswer::breaks_after`] |
//! | a slow one | [`ScriptedAnswer::pause_ms`] |
//!
//! The program `loopback-llm` gives you the same model on the command line:
//! `cargo run -p dirigent-llm --features program -- --help`.

mod answer;
mod serve;
mod server;

pub use answer::{ScriptedAnswer, ScriptedCall};
pub use server::{LoopbackLlm, Received};
