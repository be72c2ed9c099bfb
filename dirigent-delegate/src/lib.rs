//! Routes a person's message to specialised agents. A fast model, the routing model, answers the message or delegates
//! it. Agents run side by side, and their results come back together. You switch it on with
//! [`config::OrchestratorConfig::enabled`].
//!
//! ```
//! use dirigent_delegate::config::OrchestratorConfig;
//! use dirigent_delegate::{TaskOutcome, UserRequest, Router, Task, delegate_fn};
//! # use dirigent_delegate::model::{ChatAnswer, ModelError, Question, RoutingModel};
//! # struct Model;
//! # #[dirigent::async_trait]
//! # impl RoutingModel for Model {
//! #     async fn ask(&self, _: &str, question: &Question<'static>) -> Result<ChatAnswer, ModelError> {
//! #         let message = serde_json::json!({ "message": question.user_message() });
//! #         let mut both = ChatAnswer::call("delegate_to_research", message.clone());
//! #         both.calls.extend(ChatAnswer::call("delegate_to_opencode", message).calls);
//! #         Ok(both)
//! #     }
//! # }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let says = |words: &'static str| delegate_fn(move |_: Task| async move { TaskOutcome::success(words) });
//! let router = Router::builder(Model)
//!     .config(OrchestratorConfig::from_document(r#"{ "orchestrator": { "enabled": true } }"#)?)
//!     .research(says("Hooks, mostly."))
//!     .open_code(says("Done."))
//!     .build()?;
//! let response = router.answer(UserRequest::new("channel-7", "Research React and create a component")).await?;
//! assert_eq!(response.text(), "**Research:**\nHooks, mostly.\n\n**OpenCode:**\nDone.");
//! # Ok(())
//! # }
//! ```
//!
//! # Start here
//!
//! | you | start with |
//! | --- | --- |
//! | have a configuration file | [`config::OrchestratorConfig::from_document`] |
//! | have models at addresses | [`llm::Providers`] |
//! | have another client for models | [`model::RoutingModel`] |
//! | want coding tasks done | [`OpenCode`] |
//! | have another coding agent that speaks the Agent Client Protocol | `AcpDelegate`, with the feature `acp` |
//! | have another program | [`CliDelegate`] |
//! | have an agent in your own code | [`Delegate`], [`delegate_fn`], [`RouterBuilder::agent`] |
//! | want to see what happens | [`Router::events`], [`show_progress`] |
//! | let people be answered during an agent's turn | [`RouterOrchestrator`] |
//! | put the router in front of a channel | [`RouterAgent`] |
//! | fear what is left of killed processes | [`Guard`] |
//!
//! # What holds
//!
//! 1. A message always gets an answer, at most one second after its time is up. A failure is a payload that says so.
//! 2. A success is part of the answer, even if something else fails, is late or is cancelled. Results keep the order of
//!    the calls.
//! 3. At most [`config::OrchestratorConfig::max_parallel_agents`] agents run at once, counted over all messages.
//! 4. Programs start without a shell, and no message can be mistaken for an option.
//! 5. When a program ends, is late or is cancelled, no process of it remains. [`Guard`] says what happens if your own
//!    process is killed.
//! 6. Log lines, errors and `Debug` contain no word of a message. What an agent returns is the agent's own text.
//!
//! # Features
//!
//! | feature | default | what it brings |
//! | --- | --- | --- |
//! | `acp` | yes | coding agents that speak the Agent Client Protocol: `AcpDelegate`; it brings no dependency |
//! | `llm` | yes | models at chat endpoints, as routing models and as agents; without it the routing model is the host's own |
//! | `serve` | yes | opencode as a server; without it, mode `serve` is an error result |

// Before a message: `config`, `plan`, `prompt` and `card`. A message is the value `routing`. The places of all messages
// are `pool`, `router` is the driver of both, and `response` puts results together. `model` and `llm` are routing
// models. `delegate` is the trait of agents that run: `cli`, `opencode`, `acp`, and `driver` for agents of Dirigent.
// `process` is a child process that leaves nothing behind.

#[cfg(feature = "acp")]
mod acp;
mod card;
mod cli;
pub mod config;
mod delegate;
mod driver;
mod limits;
#[cfg(feature = "llm")]
pub mod llm;
pub mod model;
mod opencode;
#[cfg(any(feature = "acp", feature = "serve"))]
mod permission;
mod plan;
mod pool;
mod process;
mod prompt;
mod random;
mod request;
mod response;
mod result;
mod router;
mod routing;
mod terminal;

#[cfg(feature = "acp")]
pub use acp::AcpDelegate;
pub use card::AgentCard;
pub use cli::{CliDelegate, CliLimits};
pub use delegate::{Delegate, DelegateFn, Task, TaskOutcome, delegate_fn};
pub use driver::{AgentDelegate, DelegateAgent, RouterAgent, RouterOrchestrator, show_progress};
pub use limits::RouterLimits;
pub use opencode::OpenCode;
#[cfg(any(feature = "acp", feature = "serve"))]
pub use permission::{PermissionReply, PermissionRequest};
pub use process::{Guard, hide_process, serve_guard_if_asked};
pub use prompt::system_prompt;
pub use request::{Image, Thinking, UserRequest};
pub use response::{Meta, Payload, Response, Schedule};
pub use result::{AgentKind, AgentResult, DelegationStatus, TokenUsage};
pub use router::{
    Off, Router, RouterBuildError, RouterBuilder, RouterEvent, RouterEventKind, RouterEvents,
};

/// Runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
