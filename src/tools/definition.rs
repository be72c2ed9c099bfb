//! The descriptions of the tools for a model.

use serde::Serialize;
use serde_json::Value;

use super::arguments::Arguments;
use super::schema::parameters;
use super::{
    CreateChatChannel, CreateDiscussionChannel, CreateReportChannel, CreateWorkChannel,
    DirigentRegister, DiscussionComplete,
};

/// The description of one tool for a model.
///
/// ```
/// let register = dirigent::tools::definitions().pop().unwrap();
/// assert_eq!(register.name, "dirigent-register");
/// assert_eq!(register.parameters["required"], serde_json::json!(["discordUserId"]));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name of the tool.
    pub name: &'static str,
    /// The text that says what the tool does and when to use it.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// Returns all six tools, in a fixed order.
pub fn definitions() -> Vec<ToolDefinition> {
    vec![
        definition::<CreateChatChannel>(
            "Creates a private Discord text channel for an ongoing conversation of several agents \
             and people, in the server in which you are now. Agents in it speak one after the \
             other; the moderator bot gives the turns. You become a member yourself if you are registered (dirigent-register). Answers with \
             the new channel's id.",
        ),
        definition::<CreateReportChannel>(
            "Creates a private Discord text channel for reports, in the server in which you are \
             now. Agents post there with their own message tools; messages in it wake no agent. \
             You become a member yourself if you are registered (dirigent-register). Answers with the new channel's id.",
        ),
        definition::<CreateWorkChannel>(
            "Creates a private Discord text channel as a place to work, in the server in which you \
             are now. The library gives no turns there: every agent in it answers as it likes, and this can \
             never be changed. You become a member yourself if you are registered (dirigent-register). Answers with the new channel's id.",
        ),
        definition::<CreateDiscussionChannel>(
            "Opens a discussion: creates a private Discord text channel, adds the participants and \
             you, posts your guide, and gives every agent its turns. Use it when a question needs \
             several agents and must come to an end. You stay responsible: when the discussion is \
             done or idle, call discussion-complete with a summary. You must be registered (dirigent-register). Answers with the \
             discussion channel's id, which you need for that.",
        ),
        definition::<DiscussionComplete>(
            "Ends a discussion that you opened with create-discussion-channel: the channel is \
             closed for good, and your summary is posted in the callback channel: its text \
             (summary-text), or the path of a file that you wrote first (summary).",
        ),
        definition::<DirigentRegister>(
            "Registers your Discord account, or changes it, so that you can be given turns in chats \
             and discussions. Call it once before you take part, and again when your account or \
             your name changes. It concerns only yourself.",
        ),
    ]
}

fn definition<T: Arguments + schemars::JsonSchema>(description: &'static str) -> ToolDefinition {
    ToolDefinition { name: T::TOOL, description, parameters: parameters::<T>() }
}
