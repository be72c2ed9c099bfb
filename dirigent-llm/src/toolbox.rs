//! Tools that a model may call during its turn.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use dirigent::Turn;
use dirigent::ports::GuildId;
use dirigent::tools::{Caller, Tools, definitions};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A tool as a model knows it. `Serialize` writes it as chat endpoints read it, as a `function`.
///
/// ```
/// use dirigent_llm::Tool;
/// use serde_json::json;
///
/// let roll = Tool::new("roll", "Rolls a die.").parameters(json!({
///     "type": "object",
///     "properties": { "sides": { "type": "integer" } },
/// }));
/// assert_eq!(roll.name, "roll");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The name: 1 to 64 letters, digits, hyphens and underscores. If two tools have one name, the first is called.
    pub name: String,
    /// What the tool does, and when the model should use it.
    pub description: String,
    /// The JSON schema of the arguments, which is an object. By default there are no arguments.
    pub parameters: Value,
}

impl Tool {
    /// Creates a tool without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let parameters = json!({ "type": "object", "properties": {} });
        Self { name: name.into(), description: description.into(), parameters }
    }

    /// Sets the JSON schema of the arguments, which is an object.
    #[must_use]
    pub fn parameters(mut self, schema: Value) -> Self {
        self.parameters = schema;
        self
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Declaration<'a> {
            r#type: &'static str,
            function: Function<'a>,
        }

        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            description: &'a str,
            parameters: &'a Value,
        }

        let Self { name, description, parameters } = self;
        let function = Function { name, description, parameters };
        Declaration { r#type: "function", function }.serialize(serializer)
    }
}

/// Tools of your own, which you add to an agent with [`ChatAgent::tools`](crate::ChatAgent::tools).
///
/// ```
/// use dirigent::Turn;
/// use dirigent_llm::{Tool, Toolbox};
/// use serde_json::{Value, json};
///
/// struct Dice;
///
/// #[dirigent::async_trait]
/// impl Toolbox for Dice {
///     fn tools(&self) -> Vec<Tool> {
///         vec![Tool::new("roll", "Rolls a die with six sides.")]
///     }
///
///     async fn call(&self, _turn: &Turn, _tool: &str, _arguments: Value) -> Value {
///         json!({ "rolled": 4 })
///     }
/// }
/// ```
#[async_trait]
pub trait Toolbox: Send + Sync + 'static {
    /// Returns the tools that may be called now. It is asked once in each turn.
    fn tools(&self) -> Vec<Tool>;

    /// Calls a tool that [`tools`](Self::tools) named. The arguments are a JSON object; check yourself that they fit
    /// the schema. The model reads your answer. If the call fails, say why in the answer, for example as
    /// `{"error": …}`, because the model can then call again. Leave out whatever the model must not know.
    ///
    /// # Cancellation
    ///
    /// The future is dropped when the turn is taken away. Run work that must not stop halfway in a task of its own.
    async fn call(&self, turn: &Turn, tool: &str, arguments: Value) -> Value;
}

/// The library's own tools ([`dirigent::tools`]), with which an agent creates channels, opens and concludes
/// discussions, and registers.
///
/// They act through a [`Dirigent`](dirigent::Dirigent), which exists only after its agents. Therefore build the library
/// first, then [`connect`](Self::connect) them; until then none is offered. All clones are connected together.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::ports::{GuildApi, GuildId};
/// use dirigent::{Dirigent, DiscordApi};
/// use dirigent_llm::{ChatAgent, DirigentTools, Endpoint};
///
/// # fn with<A: DiscordApi + GuildApi>(moderator: Arc<A>, poet: Arc<dyn DiscordApi>) -> Result<(), Box<dyn std::error::Error>> {
/// let tools = DirigentTools::new(GuildId::new(7));
/// let agent = ChatAgent::new(Endpoint::new("http://127.0.0.1:11434/v1", "qwen3")).tools(tools.clone());
/// let (dirigent, driver) = Dirigent::builder(moderator.clone()).host("poet", agent, poet).build()?;
/// tools.connect(dirigent::tools::Tools::new(dirigent, moderator));
/// # drop(driver);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct DirigentTools {
    guild: GuildId,
    workspace: Option<PathBuf>,
    only: Option<Vec<String>>,
    connected: Arc<RwLock<Option<Tools>>>,
}

impl DirigentTools {
    /// Creates the tools of agents in this guild. New channels are created there.
    pub fn new(guild: GuildId) -> Self {
        Self { guild, workspace: None, only: None, connected: Arc::default() }
    }

    /// Sets the folder of the agents' files, as an absolute path. `discussion-complete` looks there for a summary.
    /// Without a folder, which is the default, the agent passes the summary as text.
    #[must_use]
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Offers only these tools. All six are offered by default, but a small model does better with few.
    #[must_use]
    pub fn only<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Lets the tools act. From then on they keep the library alive, as the library does its agents. If your program
    /// ends the library and runs on, [disconnect](Self::disconnect) them, because otherwise its memory and its store
    /// are never released.
    pub fn connect(&self, tools: Tools) {
        *self.connected.write().unwrap_or_else(PoisonError::into_inner) = Some(tools);
    }

    /// Stops offering tools, and releases the library.
    pub fn disconnect(&self) {
        *self.connected.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Describes the agent that calls, and its channel.
    fn caller(&self, turn: &Turn) -> Caller {
        Caller {
            guild: Some(self.guild),
            channel: Some(turn.channel()),
            workspace: self.workspace.clone(),
            ..Caller::new(turn.agent().clone())
        }
    }

    fn connected(&self) -> Option<Tools> {
        self.connected.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Toolbox for DirigentTools {
    fn tools(&self) -> Vec<Tool> {
        if self.connected().is_none() {
            return Vec::new();
        }
        let is_offered = |name: &str| {
            self.only.as_ref().is_none_or(|only| only.iter().any(|offered| offered == name))
        };
        let offered = definitions().into_iter().filter(|tool| is_offered(tool.name));
        let tool = |tool: dirigent::tools::ToolDefinition| {
            Tool::new(tool.name, tool.description).parameters(tool.parameters)
        };
        offered.map(tool).collect()
    }

    async fn call(&self, turn: &Turn, tool: &str, arguments: Value) -> Value {
        let Some(tools) = self.connected() else {
            return json!({ "error": "unavailable" });
        };
        match tools.call(&self.caller(turn), tool, &arguments).await {
            Ok(answer) => answer,
            Err(error) => json!(error),
        }
    }
}

impl fmt::Debug for DirigentTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirigentTools")
            .field("guild", &self.guild)
            .field("is_connected", &self.connected().is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use dirigent::ChannelId;
    use dirigent::hooks::TurnId;

    use super::*;

    #[test]
    fn a_tool_is_called_in_the_turns_channel_the_hosts_guild_and_its_workspace() {
        let tools = DirigentTools::new(GuildId::new(7)).workspace("/srv/poet");
        let turn = Turn::new(ChannelId::new(9), "poet".into(), TurnId::new(1));
        let caller = tools.caller(&turn);
        assert_eq!((caller.guild, caller.channel), (Some(GuildId::new(7)), Some(turn.channel())));
        assert_eq!(caller.workspace, Some(PathBuf::from("/srv/poet")));
    }
}
