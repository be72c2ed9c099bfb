//! Agents that ask a language model. A [`ChatAgent`] is a hosted [`dirigent::Agent`] for any endpoint that speaks
//! OpenAI's chat completions, for example a hosted service, OpenRouter, Ollama, llama.cpp or vLLM.
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
//! 1. **The prompt** begins with the persona and [`Turn::briefing`](dirigent::Turn::briefing) as the system message.
//!    The newest messages of the channel follow. The agent's own are the assistant's; those of others are lines with a
//!    name, for example `alice: hello`. [`Limits::messages`] and [`Limits::prompt_tokens`] bound it. If it is too long,
//!    people's words since the agent's last turn come before older messages, and the prompt says how many of them do
//!    not fit. A tool call always stays together with its answer.
//! 2. **The request** is streamed, so that an endpoint that has stopped does not look like a slow one. No word is
//!    posted before the answer is complete. If the turn is taken away, the request ends.
//! 3. **A failure** is a [`ChatError`]. If it may pass, the request is repeated after the time that the endpoint asks
//!    for, as long as the turn's deadline allows. Next the other endpoints are asked. If all fail, the turn fails and
//!    the next agent has the floor.
//! 4. **Tool calls** are performed one after the other. The model is then asked again, with the answers and with
//!    whatever people said in the meantime. If a call is wrong, the model reads why. Signatures and reasoning that came
//!    with a call go back unread to the same model.
//! 5. **The reply** is the answer without reasoning (in fields of its own, or as `<think>` in the text) and without
//!    leading names. [`ReadingRules::silence`](dirigent::settings::ReadingRules::silence) decides whether it is
//!    silence. Reasoning without an answer is an error, not silence.
//! 6. **The usage** is reported to the channel's budget after each answer, in tokens or by [`Prices`].
//!
//! Switch on [`Settings::typing`](dirigent::Settings::typing) if the channel should show that an agent thinks. Log
//! lines, errors and `Debug` contain no key and no word of a message; of an address they show the host.

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

/// Runs the code of the README.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
struct Readme;
