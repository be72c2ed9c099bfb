//! Agents that are bots of their own and ask before they run.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::{RunId, RunReport};
use dirigent::ports::{Nonce, Post};
use dirigent::{AgentId, ChannelId, Clock, Dirigent, DiscordApi, MessageId, UserId};
use dirigent_discord::{DiscordAccount, chat_message};
use dirigent_testkit::ManualClock;
use tokio::task::JoinSet;
use twilight_gateway::{Event, EventTypeFlags, Intents, Message, parse};

use crate::soak::line::Line;
use crate::soak::minutes::Minutes;

pub(crate) const INTENTS: Intents = Intents::GUILD_MESSAGES.union(Intents::MESSAGE_CONTENT);

pub(crate) struct Asking {
    pub(crate) agent: AgentId,
    pub(crate) me: UserId,
    pub(crate) account: Arc<DiscordAccount>,
    pub(crate) clock: ManualClock,
    pub(crate) dirigent: Dirigent,
    pub(crate) minutes: Minutes,
    /// The triggers that it runs for.
    pub(crate) running: Mutex<BTreeSet<MessageId>>,
}

impl Asking {
    /// Runs whenever it is mentioned. It listens while it runs: a line that nobody reads is closed.
    pub(crate) async fn listen(self, mut line: Line) {
        let me = Arc::new(self);
        let mut runs = JoinSet::new();
        let mention = format!("<@{}>", me.me);
        while let Some(heard) = line.next().await {
            let Ok(Message::Text(text)) = heard else { continue };
            let parsed = parse(text, EventTypeFlags::MESSAGE_CREATE).unwrap();
            let Some(Event::MessageCreate(message)) = parsed.map(Event::from) else { continue };
            let message = chat_message(&message);
            if message.author != me.me && message.content.contains(&mention) {
                let me = Arc::clone(&me);
                runs.spawn(async move { me.run_once(message.channel, message.id).await });
            }
        }
    }

    /// What is told twice is run for once at a time.
    async fn run_once(&self, channel: ChannelId, trigger: MessageId) {
        if self.running.lock().unwrap().insert(trigger) {
            self.run(channel, trigger).await;
            self.running.lock().unwrap().remove(&trigger);
        }
    }

    /// Posts before it ends, so that the next agent does not begin while the reply is on its way.
    async fn run(&self, channel: ChannelId, trigger: MessageId) {
        let run = Some(RunId::new(trigger.get()));
        let Ok(permit) = self.dirigent.channel(channel).may_speak(&self.agent, run).await else {
            return;
        };
        match self.minutes.take(channel, trigger.get(), self.agent.as_str()) {
            Some(text) => {
                self.deliver(channel, trigger, &text).await;
                let _ = permit.end(RunReport::Text(&text));
            }
            None => {
                let _ = permit.end(RunReport::Pass);
            }
        }
    }

    async fn deliver(&self, channel: ChannelId, trigger: MessageId, text: &str) {
        let nonce = Nonce::from_parts(channel.get(), trigger.get() >> 22, trigger.get());
        let post = Post::new(channel, text, nonce);
        while let Err(error) = self.account.post(post.clone()).await {
            assert!(error.kind().is_retryable(), "{error}");
            let wait = error.retry_after().unwrap_or(Duration::from_millis(500));
            self.clock.sleep_until(self.clock.now() + wait).await;
        }
    }
}
