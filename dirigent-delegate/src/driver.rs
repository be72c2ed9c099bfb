//! Connects the router to Dirigent in both directions. `orchestrator` and `agent` put the router into a channel,
//! `hosted` lets one side's agents work for the other, and `progress` reports what runs.

mod agent;
mod hosted;
mod orchestrator;
mod progress;

use std::sync::Arc;

use dirigent::ChatMessage;

pub use agent::AgentDelegate;
pub use hosted::DelegateAgent;
pub use orchestrator::{RouterAgent, RouterOrchestrator};
pub use progress::show_progress;

/// Joins messages into one text. A single message stays as it is; several become lines with their authors' names.
fn text_of(messages: &[Arc<ChatMessage>]) -> String {
    match messages {
        [one] => one.content.to_string(),
        several => {
            let lines: Vec<String> = several.iter().map(ToString::to_string).collect();
            lines.join("\n")
        }
    }
}
