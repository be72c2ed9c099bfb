//! Agents that ask a language model: a [`ChatAgent`] is a hosted [`dirigent::Agent`] on any endpoint that speaks OpenAI's chat
//! completions: hosted services, OpenRouter, Ollama, llama.cpp, vLLM.
//!
//! ```no_run
//! use std::sync::Arc;
//! use dirigent::{Dirigent, DiscordApi};
//! use dirigent_llm::{ChatAgent, Endpoint};
//!
//! # fn with(moderator: Arc<dyn DiscordApi>, poet: Arc<dyn DiscordApi>, critic: Arc<dyn DiscordApi>) -> Result<(), Box<dyn std::error::Error>> {
//! let model = Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2");
//! let (dirigent, driver) = Dirigent::builder(moderator)
//!     .host("poet", ChatAgent::new(model.clone()).persona("You are a poet."), poet)
//!     .host("critic", ChatAgent::new(model).persona("You are a critic, and brief."), critic)
//!     .build()?;
//! # drop((dirigent, driver));
//! # Ok(())
//! # }
//! ```
//!
//! # Start here
//!
//! | you | start with |
//! | --- | --- |
//! | have a model at an address | [`Endpoint::new`], [`ChatAgent::new`] |
//! | need a key, a header, a temperature, a limit of tokens | [`Endpoint::key`], [`Endpoint::header`], [`Endpoint::field`] |
//! | want a second model for when the first fails | [`ChatAgent::fall_back_on`] |
//! | let the model create channels and open discussions | [`DirigentTools`] |
//! | let it call tools of your own | [`Toolbox`] |
//! | pay for tokens | [`Prices`], [`ChatAgent::on_usage`], [`BudgetRules::cost`](dirigent::settings::BudgetRules::cost) |
//! | have a slow model, or one with a small context | [`Limits`] |
//! | want to know why an agent failed | [`ChatError`], [`ChatAgent::on_refusal`] |
//! | ask a model outside a turn | [`Chat`], [`Question`] |
//! | want to know whether a text holds a model's reasoning | [`has_reasoning`] |
//! | test without a model | `script::LoopbackLlm`, with the feature `script` |
//!
//! # What happens in a turn
//!
//! ```text
//! Turn ──► Prompt ──► Request ──► Endpoint, or the next ──► Answer ──► Reply::Say
//!            ▲                                                │
//!            │  what people said meanwhile                    │ calls
//!            └───────────── Toolbox::call ◄───────────────────┘
//! ```
//!
//! 1. **The prompt** is the persona and [`Turn::briefing`](dirigent::Turn::briefing) as the system's message, then the newest
//!    messages of the channel: the agent's own as the assistant's, others' as lines with their names, `alice: hello`. It is
//!    bounded by [`Limits::messages`] and [`Limits::prompt_tokens`]. What people said since the agent's last turn comes before
//!    older messages, and the prompt says how much of it does not fit. A call of a tool is never parted from its answer.
//! 2. **The request** is streamed, so that an endpoint that has stopped does not look like a slow one. Nothing is posted before the
//!    answer is complete. When the turn is taken away, the request is given up.
//! 3. **A failure** is a [`ChatError`]. One that may pass is repeated after the time that the endpoint asks for, as long as the
//!    turn's deadline allows; then the next endpoint is asked; then the turn fails, and the next agent has the floor.
//! 4. **Calls of tools** are carried out one after the other, and the model is asked again with the answers and with what people
//!    said meanwhile. The model reads what is wrong with a call. What came with a call goes back with it to the same model, unread:
//!    signatures and reasoning.
//! 5. **The reply** is the answer without reasoning (fields of its own, `<think>` in the text) and without names before it.
//!    Whether it is silence is decided by [`ReadingRules::silence`](dirigent::settings::ReadingRules::silence). Reasoning without an answer is an
//!    error and no silence.
//! 6. **What it used** is reported to the channel's budget after each answer, in tokens or by [`Prices`].
//!
//! Switch on [`Settings::typing`](dirigent::Settings::typing) to show that an agent thinks. No key and no word of a message is in a
//! log line, an error or a `Debug`; of an address the host is shown.

#![cfg_attr(
    not(feature = "client"),
    expect(dead_code, reason = "what reads and writes the vocabulary is the client")
)]

mod calls;
#[cfg(feature = "client")]
mod client;
mod code;
mod error;
mod message;
mod question;
mod reasoning;
#[cfg(feature = "client")]
mod refusal;
#[cfg(feature = "script")]
pub mod script;
mod toolbox;
mod usage;

pub use calls::ModelToolCall;
#[cfg(feature = "client")]
pub use client::{Chat, ChatAgent, Endpoint, Limits};
pub use error::ChatError;
pub use message::{Image, ModelMessage};
pub use question::{ChatAnswer, Question, Thinking};
pub use reasoning::has_reasoning;
#[cfg(feature = "client")]
pub use refusal::RefusedRequest;
pub use toolbox::{DirigentTools, Tool, Toolbox};
pub use usage::{Price, Prices, Usage};

/// The code of the README runs.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
struct Readme;
