//! The system prompt of the routing model.

use crate::card::AgentCard;

/// Builds the routing model's system prompt. It lists the agents that the model may delegate to, in this order, then
/// the rules, the form of an answer, and examples. `product` is your product's name.
///
/// ```
/// use dirigent_delegate::{AgentCard, system_prompt};
///
/// let prompt = system_prompt("Moltbot", &[AgentCard::open_code()]);
/// assert!(prompt.starts_with("You are Moltbot's Orchestrator."));
/// assert!(prompt.contains("**OpenCode Agent** (tool: delegate_to_opencode)"));
/// ```
pub fn system_prompt(product: &str, agents: &[AgentCard]) -> String {
    let lines: Vec<String> = agents.iter().map(AgentCard::lines).collect();
    let agents = lines.join("\n");
    let embedded = AgentCard::embedded(product);
    let embedded = embedded.tool();
    format!(
        "You are {product}'s Orchestrator. Your role is to understand user requests and route them to the most appropriate specialized agent(s).

## Available Agents
{agents}

## Decision Rules

1. **Analyze the request**: Understand what the user is asking for
2. **Select agent(s)**: Choose the best agent(s) for the task
3. **Parallel execution**: You can call multiple agents simultaneously if the task benefits from it
4. **Direct response**: For simple greetings or trivial questions, respond directly without delegation

## Response Format

- If delegating: Call the appropriate delegation tool(s)
- If handling directly: Provide a brief, helpful response
- If multiple agents needed: Call multiple tools - they will run in parallel

## Examples

User: \"Write a Python script to parse JSON\"
Action: delegate_to_opencode

User: \"What's the weather in Tokyo?\"
Action: delegate_to_research

User: \"Send a message to John saying hello\"
Action: {embedded}

User: \"Research React best practices and create a component\"
Action: delegate_to_research AND delegate_to_opencode (parallel)

User: \"Hello!\"
Action: Respond directly with a greeting"
    )
}
