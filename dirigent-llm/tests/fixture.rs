//! An agent at a scripted model, without a room, and one in a room.

use std::sync::Arc;
use std::time::Duration;

use dirigent::hooks::TurnId;
use dirigent::ports::{AuthorKind, Identity};
use dirigent::{
    Agent, AgentError, ChannelId, ChatMessage, Clock, MessageId, Reply, SystemClock, Turn, UserId,
};
use dirigent_llm::script::LoopbackLlm;
use dirigent_llm::{ChatAgent, ChatError, Endpoint};
use dirigent_testkit::ManualClock;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// An agent whose time stands still, at a scripted model.
pub(crate) struct Fixture {
    pub(crate) model: LoopbackLlm,
    pub(crate) clock: ManualClock,
    pub(crate) agent: ChatAgent,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let (model, clock) = (LoopbackLlm::start().await.unwrap(), ManualClock::new());
        let agent = ChatAgent::new(endpoint(&model)).persona("You rhyme.").clock(clock.clone());
        // The model answers in real time, and the clock stands still or jumps.
        let agent = agent.limits(|limits| {
            (limits.first_byte, limits.between_bytes) = (SECOND * 3_600, SECOND * 3_600);
        });
        Self { model, clock, agent }
    }

    /// The same with a change of the agent.
    pub(crate) fn with(mut self, change: impl FnOnce(ChatAgent) -> ChatAgent) -> Self {
        self.agent = change(self.agent);
        self
    }

    /// Takes a turn after one message of a person.
    pub(crate) async fn speak(&self) -> Result<Reply, ChatError> {
        told(soon(self.agent.speak(turn())).await)
    }

    /// Takes a turn, and lets the time pass whenever the agent waits for it and not for the model.
    pub(crate) async fn speak_in_time(&self) -> Result<Reply, ChatError> {
        tokio::select! {
            reply = self.speak() => reply,
            () = self.pass_time() => unreachable!("time passes for ever"),
        }
    }

    /// Moves the clock to the next moment that is waited for, again and again, but not to one that is an hour away.
    pub(crate) async fn pass_time(&self) {
        loop {
            // What is under way on loopback comes first.
            pause().await;
            let soon = self.clock.now() + SECOND * 600;
            if self.clock.next_wake().is_some_and(|wake| wake < soon) {
                self.clock.advance_to_next_wake();
            }
        }
    }

    /// The texts that the model was told as this role, in its last request.
    pub(crate) fn last_told(&self, role: &str) -> Vec<String> {
        self.model.requests().last().unwrap().said_by(role)
    }
}

/// What comes of this, which comes soon: a test that waits for ever tells nothing.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    let clock = SystemClock::new();
    tokio::select! {
        biased;
        come = what => come,
        () = clock.sleep_until(clock.now() + SECOND * 30) => panic!("it does not come"),
    }
}

/// Lets loopback do what is under way.
pub(crate) async fn pause() {
    let clock = SystemClock::new();
    clock.sleep_until(clock.now() + Duration::from_millis(30)).await;
}

pub(crate) fn endpoint(model: &LoopbackLlm) -> Endpoint {
    Endpoint::new(model.url(), "small")
}

pub(crate) fn told(reply: Result<Reply, AgentError>) -> Result<Reply, ChatError> {
    reply.map_err(|error| error.downcast_ref::<ChatError>().unwrap().clone())
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with what an agent answers")]
pub(crate) fn say(text: &str) -> Result<Reply, ChatError> {
    Ok(Reply::from(text))
}

/// A turn of the poet's, in which Ann has said hello; the critic is here, too.
pub(crate) fn turn() -> Turn {
    let identity = |user, name: &str| Identity {
        discord_user_id: UserId::new(user),
        agent_id: name.into(),
        agent_name: name.to_owned(),
    };
    let hello = ChatMessage {
        author_name: Some("Ann".into()),
        author_kind: AuthorKind::Human,
        ..ChatMessage::new(MessageId::new(5), ChannelId::new(9), UserId::new(3), "Hello there")
    };
    Turn::new(ChannelId::new(9), "poet".into(), TurnId::new(1))
        .with_agents(vec![identity(1, "poet"), identity(2, "critic")])
        .with_history(vec![Arc::new(hello)])
}
