//! An agent that the library does not call: a bot with a gateway connection of its own, which asks whether
//! it may run when it is mentioned.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dirigent::hooks::{RunId, RunReport};
use dirigent::ports::{Nonce, Post};
use dirigent::{AgentId, ChannelId, ChatMessage, Clock, Dirigent, DiscordApi, MessageId, UserId};
use dirigent_discord::{DiscordAccount, chat_message};
use practice::{Result, Spoken};
use twilight_gateway::{Config, Event, EventTypeFlags, Intents, Shard, ShardId, StreamExt};

/// What an agent needs of the gateway: what is said.
pub(crate) const INTENTS: Intents = Intents::GUILD_MESSAGES.union(Intents::MESSAGE_CONTENT);

/// How often a reply is posted that was not answered.
const ATTEMPTS: u32 = 5;

/// An agent with its account, and what it has heard.
pub(crate) struct Asking {
    agent: AgentId,
    me: UserId,
    spoken: Spoken,
    account: Arc<DiscordAccount>,
    /// What was said since its last turn.
    missed: HashMap<ChannelId, Vec<ChatMessage>>,
}

impl Asking {
    pub(crate) fn new(
        name: &str,
        me: UserId,
        spoken: Spoken,
        account: Arc<DiscordAccount>,
    ) -> Self {
        Self { agent: name.into(), me, spoken, account, missed: HashMap::new() }
    }

    /// A trigger mentions the agent; anything else it keeps in mind.
    async fn hear(&mut self, dirigent: &Dirigent, message: ChatMessage) -> Result {
        if message.author == self.me {
            return Ok(());
        }
        if message.content.contains(&format!("<@{}>", self.me)) {
            return self.run(dirigent, message.channel, message.id).await;
        }
        self.missed.entry(message.channel).or_default().push(message);
        Ok(())
    }

    /// Asks, thinks, says that it is over, and posts. No two runs of a channel have the same number, whichever
    /// agent's they are: the trigger's is taken, so that a trigger that is heard twice is one run.
    async fn run(&mut self, dirigent: &Dirigent, channel: ChannelId, cause: MessageId) -> Result {
        let run = RunId::new(cause.get());
        let Ok(permit) = dirigent.channel(channel).may_speak(&self.agent, Some(run)).await else {
            return Ok(()); // The model is not called: nothing was spent.
        };
        self.spoken.think().await;
        let missed = self.missed.remove(&channel).unwrap_or_default();
        let text = self.spoken.answer(missed.iter());
        if permit.end(text.map_or(RunReport::Pass, RunReport::Text)).is_err() {
            return Ok(()); // The floor was taken away meanwhile: what was said is stale.
        }
        match text {
            Some(text) => self.deliver(channel, cause, text).await,
            None => Ok(()),
        }
    }

    /// Posts a reply with the agent's own account; again with the same nonce, where no answer came. The
    /// library recognises it when it is pushed.
    async fn deliver(&self, channel: ChannelId, cause: MessageId, text: &str) -> Result {
        let clock = self.spoken.clock();
        let nonce = Nonce::from_parts(channel.get(), cause.get() >> 22, cause.get());
        let post = Post::new(channel, text, nonce);
        let mut attempt = 1;
        while let Err(error) = self.account.post(post.clone()).await {
            if attempt == ATTEMPTS || !error.kind().is_retryable() {
                return Err(error.into());
            }
            attempt += 1;
            let wait = error.retry_after().unwrap_or(Duration::from_secs(1));
            clock.sleep_until(clock.now() + wait).await;
        }
        Ok(())
    }
}

/// Connects an agent, so that it hears what is said from now on.
pub(crate) async fn connect(config: Config) -> Result<Shard> {
    let mut shard = Shard::with_config(ShardId::ONE, config);
    while let Some(event) = shard.next_event(EventTypeFlags::READY).await {
        if let Ok(Event::Ready(_)) = event {
            return Ok(shard);
        }
    }
    Err("Discord does not let an agent connect: are its intents switched on?".into())
}

/// Gives the agent the events of its shard.
pub(crate) async fn run(mut shard: Shard, mut agent: Asking, dirigent: Dirigent) {
    while let Some(event) = shard.next_event(EventTypeFlags::MESSAGE_CREATE).await {
        let Ok(Event::MessageCreate(message)) = event else { continue };
        if let Err(error) = agent.hear(&dirigent, chat_message(&message)).await {
            tracing::warn!(agent = %agent.agent, %error, "a run came to nothing");
        }
    }
}
