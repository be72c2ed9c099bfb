//! Tools for agents that live in a slave. The master carries them out.

use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::GuildId;
use dirigent::tools::{Caller, Tools};
use dirigent::{AgentId, ChannelId};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::rule::{read, write};
use crate::{Asker, Refused, RelayError, RelayQuestion, Service, Slave};

/// The longest time that the master may take. It may have to create a channel, and to wait for the chat.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Asks to call a tool for this agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UseTool {
    agent_id: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guild_id: Option<GuildId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel_id: Option<ChannelId>,
    name: String,
    arguments: Value,
}

impl UseTool {
    /// Creates a request of this caller for the tool with this name.
    pub fn new(caller: &Caller, name: &str, arguments: Value) -> Self {
        let (agent_id, guild_id, channel_id) = (caller.agent.clone(), caller.guild, caller.channel);
        Self { agent_id, guild_id, channel_id, name: name.to_owned(), arguments }
    }
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "a tool answers or fails")]
pub enum ToolAnswer {
    /// The tool's result.
    Done(Value),
    /// The tool's error, in the form for a model.
    Error(Value),
}

impl RelayQuestion for UseTool {
    const RULE: &'static str = "use-tool";
    type Answer = ToolAnswer;
}

/// Carries out the tools of agents that live in slaves. Add it to the [`Server`](crate::Server) of a master. A slave
/// may call tools only for the agents that are [bound](crate::ProcessRole::slave) to it. The caller has no folder here,
/// so an agent must conclude a discussion with the text of its summary.
#[derive(Debug)]
pub struct SlaveTools {
    tools: Tools,
}

impl SlaveTools {
    /// Creates the service with these tools.
    pub const fn new(tools: Tools) -> Self {
        Self { tools }
    }
}

#[async_trait]
impl Service for SlaveTools {
    fn rules(&self) -> &'static [&'static str] {
        &[UseTool::RULE]
    }

    async fn serve(&self, asker: &Asker, _rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        let UseTool { agent_id, guild_id, channel_id, name, arguments } = read(question)?;
        if !asker.role.may_act_for(&agent_id) {
            return Err(Refused::NotBound { agent: agent_id });
        }
        let caller = Caller { guild: guild_id, channel: channel_id, ..Caller::new(agent_id) };
        let answer = match self.tools.call(&caller, &name, &arguments).await {
            Ok(value) => ToolAnswer::Done(value),
            Err(error) => ToolAnswer::Error(serde_json::to_value(error).unwrap_or_default()),
        };
        Ok(write(&answer))
    }
}

/// The reason why a tool was not carried out for an agent of a slave. Serialised, it is `{"error": code, "message":
/// text}` for the agent's model.
///
/// ```
/// use dirigent_relay::SlaveToolError;
/// let text = serde_json::to_string(&SlaveToolError::NotMaster)?;
/// assert!(text.starts_with(r#"{"error":"not-master""#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SlaveToolError {
    /// This process is a slave, and the master carries out no tools for it.
    #[error(
        "This tool works only in the bot's master process, which does not offer it here. Ask a person to call it there."
    )]
    NotMaster,
    /// The master's answer is an error of the tool itself, in its serialised form.
    #[error("{}", message(.0))]
    Tool(Value),
    /// There was no answer.
    #[error("{source}. {}", advice(source))]
    Relay {
        /// The reason why there is no answer.
        source: RelayError,
    },
}

fn message(error: &Value) -> &str {
    error.get("message").and_then(Value::as_str).unwrap_or("The tool failed.")
}

const fn advice(error: &RelayError) -> &'static str {
    if error.is_certain() {
        "Nothing was done; try again later."
    } else {
        "It may have been done: look before you try again."
    }
}

impl Serialize for SlaveToolError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let code = match self {
            Self::Tool(error) => return error.serialize(serializer),
            Self::NotMaster => "not-master",
            Self::Relay { .. } => "relay-unavailable",
        };
        json!({ "error": code, "message": self.to_string() }).serialize(serializer)
    }
}

impl Slave {
    /// Asks the master to carry out a tool, for an agent that is bound to this process. The caller's folder is not
    /// sent.
    ///
    /// # Errors
    ///
    /// Returns an error that you can serialise as the model's answer.
    pub async fn use_tool(
        &self,
        caller: &Caller,
        name: &str,
        arguments: &Value,
    ) -> Result<Value, SlaveToolError> {
        let question = UseTool::new(caller, name, arguments.clone());
        let (client, master) = self.way();
        match client.ask_within(master, &question, TIME_LIMIT).await {
            Ok(ToolAnswer::Done(value)) => Ok(value),
            Ok(ToolAnswer::Error(error)) => Err(SlaveToolError::Tool(error)),
            Err(error) if error.refused() == Some(&Refused::UnknownRule) => {
                Err(SlaveToolError::NotMaster)
            }
            Err(error) => Err(SlaveToolError::Relay { source: error }),
        }
    }
}
