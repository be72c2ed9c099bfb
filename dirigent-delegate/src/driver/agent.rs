//! An agent that takes turns, as an agent that is delegated to.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::hooks::TurnId;
use dirigent::ports::AuthorKind;
use dirigent::{Agent, AgentId, ChannelId, ChatMessage, MessageId, Reply, Turn, UserId};

use crate::delegate::{Delegate, Task, TaskOutcome};

/// A [`dirigent::Agent`] as a [`Delegate`]: the embedded agent of a host that has one. It is given a turn in which a person said the task,
/// and its reply is the result; embeds are left out. The channel is the session, where that is a number.
///
/// ```
/// use dirigent::{Reply, Turn, agent_fn};
/// use dirigent_delegate::AgentDelegate;
///
/// let usual = agent_fn(|turn: Turn| async move { Ok(Reply::from(&*turn.missed()[0].content)) });
/// let embedded = AgentDelegate::new("poet", usual);
/// # let _: Box<dyn dirigent_delegate::Delegate> = Box::new(embedded);
/// ```
#[derive(Clone)]
pub struct AgentDelegate {
    name: AgentId,
    agent: Arc<dyn Agent>,
}

impl AgentDelegate {
    /// Creates an agent to delegate to. `name` is who the agent is in its turn.
    pub fn new(name: impl Into<AgentId>, agent: impl Agent) -> Self {
        Self { name: name.into(), agent: Arc::new(agent) }
    }
}

#[async_trait]
impl Delegate for AgentDelegate {
    async fn run(&self, task: Task) -> TaskOutcome {
        let channel = ChannelId::new(task.session_id().parse().unwrap_or(0));
        let said = ChatMessage {
            author_kind: AuthorKind::Human,
            ..ChatMessage::new(MessageId::new(1), channel, UserId::new(0), task.prompt().as_ref())
        };
        let said = vec![Arc::new(said)];
        let turn = Turn::new(channel, self.name.clone(), TurnId::new(1))
            .with_history(said.clone())
            .with_missed(said);
        match self.agent.speak(turn).await {
            Ok(Reply::Say(text) | Reply::Rich(text, _)) if !text.trim().is_empty() => {
                TaskOutcome::success(text)
            }
            Ok(_) => TaskOutcome::partial("", "The agent had nothing to say."),
            Err(error) => TaskOutcome::error(error.to_string()),
        }
    }
}

impl std::fmt::Debug for AgentDelegate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentDelegate").field("name", &self.name).finish_non_exhaustive()
    }
}
