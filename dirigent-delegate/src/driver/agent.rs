//! Turns an agent of a channel into one that gets work.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::hooks::TurnId;
use dirigent::ports::AuthorKind;
use dirigent::{Agent, AgentId, ChannelId, ChatMessage, MessageId, Reply, Turn, UserId};

use crate::delegate::{Delegate, Task, TaskOutcome};

/// Makes a [`Delegate`] from a [`dirigent::Agent`], for example to use the agent that you already have as the embedded
/// one. The agent gets a turn in which a person said the task, and its reply is the result. Embeds are left out. The
/// session becomes the channel if it is a number.
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
    /// Creates a delegate. `name` is the agent's id in its turn.
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
