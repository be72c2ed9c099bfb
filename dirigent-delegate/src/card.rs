//! Describes an agent to the routing model.

use dirigent_llm::Tool;
use serde_json::{Value, json};

use crate::result::AgentKind;

/// An agent's description for the routing model, and the name under which its results are shown.
///
/// ```
/// use dirigent_delegate::AgentCard;
///
/// let card = AgentCard::new("translator", "Translator")
///     .uses("translations between any two languages")
///     .capabilities("Glossaries, formal and informal address")
///     .when("User asks for a translation");
/// assert_eq!(card.tool(), "delegate_to_translator");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCard {
    kind: AgentKind,
    name: String,
    tool: String,
    uses: String,
    capabilities: String,
    when: String,
    parameters: Value,
}

impl AgentCard {
    /// Creates the card of one of your own agents. The kind appears in results and in the configuration. It also makes
    /// the name of the agent's tool: `delegate_to_`, followed by the kind's letters, digits, hyphens and underscores.
    pub fn new(kind: &str, name: impl Into<String>) -> Self {
        Self {
            kind: AgentKind::from(kind),
            name: name.into(),
            tool: tool_name(kind),
            uses: String::new(),
            capabilities: String::new(),
            when: String::new(),
            parameters: parameters("What the agent is to do, with all that it needs to know."),
        }
    }

    /// Sets the tasks that the agent is for.
    #[must_use]
    pub fn uses(mut self, text: impl Into<String>) -> Self {
        self.uses = text.into();
        self
    }

    /// Sets the agent's abilities.
    #[must_use]
    pub fn capabilities(mut self, text: impl Into<String>) -> Self {
        self.capabilities = text.into();
        self
    }

    /// Sets the messages that the agent should get.
    #[must_use]
    pub fn when(mut self, text: impl Into<String>) -> Self {
        self.when = text.into();
        self
    }

    /// Sets the JSON schema of the tool's arguments. It is an object with at least the text `message`, which is also
    /// the default.
    #[must_use]
    pub fn parameters(mut self, schema: Value) -> Self {
        self.parameters = schema;
        self
    }

    /// Returns the card of the coding agent.
    pub fn open_code() -> Self {
        Self::new("opencode", "OpenCode")
            .uses("coding tasks, file modifications, debugging, shell commands, git operations")
            .capabilities("Full IDE-like agent with bash, file editing, LSP, code search")
            .when("User asks to write code, modify files, run commands, debug issues")
    }

    /// Returns the card of the search agent.
    pub fn research() -> Self {
        Self::new("research", "Research")
            .uses("web searches, information retrieval, fact-checking")
            .capabilities("Web search, URL fetching, documentation lookup")
            .when("User needs current information, documentation, or research")
    }

    /// Returns the card of your product's own agent. Both the agent and its tool have the product's name.
    pub fn embedded(product: &str) -> Self {
        let card = Self::new("embedded", product)
            .uses(format!("general queries, {product}-specific features, messaging, scheduling"))
            .capabilities(format!("All {product} tools (message, cron, browser, canvas, etc.)"))
            .when(format!("User asks about {product}, messaging, or general assistance"));
        Self { tool: tool_name(&product.to_lowercase()), ..card }
    }

    /// Returns the kind of the agent.
    pub const fn kind(&self) -> &AgentKind {
        &self.kind
    }

    /// Returns the agent's name, as people see it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the agent's tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the JSON schema of the tool's arguments.
    pub const fn schema(&self) -> &Value {
        &self.parameters
    }

    /// Returns the tool as the routing model gets it.
    ///
    /// ```
    /// assert_eq!(dirigent_delegate::AgentCard::research().offer().name, "delegate_to_research");
    /// ```
    pub fn offer(&self) -> Tool {
        Tool::new(&self.tool, self.description()).parameters(self.parameters.clone())
    }

    /// Returns one line that says what the tool is for.
    pub fn description(&self) -> String {
        format!("Delegates to the {} agent. Use for: {}.", self.name, self.uses)
    }

    /// Returns the agent's lines in the system prompt.
    pub(crate) fn lines(&self) -> String {
        let Self { name, tool, uses, capabilities, when, .. } = self;
        format!(
            "\n**{name} Agent** (tool: {tool})\n- Use for: {uses}\n- Capabilities: {capabilities}\n- When to use: {when}"
        )
    }
}

fn tool_name(kind: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    // A tool's name may have at most 64 letters.
    let kind: String = kind.chars().map(letter).take(50).collect();
    format!("delegate_to_{kind}")
}

fn parameters(description: &str) -> Value {
    json!({
        "type": "object",
        "properties": { "message": { "type": "string", "description": description } },
        "required": ["message"],
    })
}
