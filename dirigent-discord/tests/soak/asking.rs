//! Agents that are bots of their own and ask before they run.

use std::sync::Arc;
use std::time::Duration;

use dirigent::{
    AgentId, ChannelId, Clock, Dirigent, DiscordApi, Ending, Mentions, MessageId, Nonce, Post,
    RunId, UserId,
};
use dirigent_discord::{DiscordAccount, chat_message};
use dirigent_testkit::ManualClock;
use twilight_gateway::{Event, EventTypeFlags, Intents, Message, parse};

use crate::line::Line;
use crate::minutes::Minutes;

pub(crate) const INTENTS: Intents = Intents::GUILD_MESSAGES.union(Intents::MESSAGE_CONTENT);

pub(crate) struct Asking {
    pub(crate) agent: AgentId,
    pub(crate) me: UserId,
    pub(crate) account: Arc<DiscordAccount>,
    pub(crate) clock: ManualClock,
    pub(crate) dirigent: Dirigent,
    pub(crate) minutes: Minutes,
}

impl Asking {
    /// Runs whenever it is mentioned.
    pub(crate) async fn listen(self, mut line: Line) {
        let mention = format!("<@{}>", self.me);
        while let Some(heard) = line.next().await {
            let Ok(Message::Text(text)) = heard else { continue };
            let parsed = parse(text, EventTypeFlags::MESSAGE_CREATE).unwrap();
            let Some(Event::MessageCreate(message)) = parsed.map(Event::from) else { continue };
            let message = chat_message(&message);
            if message.author != self.me && message.content.contains(&mention) {
                self.run(message.channel, message.id).await;
            }
        }
    }

    /// Posts before it ends, so that the next agent does not begin while the reply is on its way.
    async fn run(&self, channel: ChannelId, trigger: MessageId) {
        let run = Some(RunId::new(trigger.get()));
        let Ok(decision) = self.dirigent.may_speak(channel, &self.agent, run).await else { return };
        if !decision.is_allowed() {
            return;
        }
        let guard = decision.into_guard().unwrap();
        match self.minutes.take(channel, trigger.get(), self.agent.as_str()) {
            Some(text) => {
                self.deliver(channel, trigger, &text).await;
                let _ = guard.end(Ending::Text(&text));
            }
            None => {
                let _ = guard.end(Ending::Pass);
            }
        }
    }

    async fn deliver(&self, channel: ChannelId, trigger: MessageId, text: &str) {
        let nonce = Nonce::from_parts(channel.get(), trigger.get() >> 22, trigger.get());
        let (content, mentions, reply_to) = (text.to_owned(), Mentions::Nobody, None);
        let post = Post { channel, content, nonce, mentions, reply_to };
        while let Err(error) = self.account.post(post.clone()).await {
            assert!(error.kind().is_retryable(), "{error}");
            let wait = error.retry_after().unwrap_or(Duration::from_millis(500));
            self.clock.sleep_until(self.clock.now() + wait).await;
        }
    }
}
