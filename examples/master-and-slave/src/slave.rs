//! An agent in a process of its own, which asks the master before it speaks; README.md says how to run it.
use std::{collections::HashMap, env, sync::Arc, time::Duration};

use dirigent::hooks::{RunId, RunReport};
use dirigent::host::split_reply;
use dirigent::ports::{ApiError, AuthorKind, Nonce, Post};
use dirigent::prelude::*;
use dirigent_cluster::Nats;
use dirigent_discord::{DiscordAccount, chat_message};
use dirigent_relay::{Client, Keyring, Secret, Slave};
use tokio::sync::mpsc;
use twilight_gateway::{
    ConfigBuilder, Event, EventTypeFlags, Intents, Shard, ShardId, StreamExt as _,
};

fn set(name: &str) -> Result<String, AgentError> {
    Ok(env::var(name).map_err(|_| format!("{name} is not set"))?)
}

/// Ask your model here. The prompt is yours, too: `heard` is what this agent has not answered yet.
#[expect(clippy::unused_async, reason = "a model is awaited here")]
async fn answer(agent: &str, heard: &[ChatMessage]) -> String {
    // Dirigent does not know whether an agent that asks has something new to say. One that always answers speaks in each of its
    // turns, until the channel's ceiling: 60 turns after a person's last message.
    if heard.iter().all(|message| message.author_kind != AuthorKind::Human) {
        return "NO_REPLY".to_owned();
    }
    format!("I am the {agent}, and I heard {} messages.", heard.len())
}

struct Bot {
    agent: AgentId,
    account: DiscordAccount,
    me: UserId,
    slave: Slave,
    heard: HashMap<ChannelId, Vec<ChatMessage>>,
}

impl Bot {
    async fn hear(&mut self, message: ChatMessage) -> Result<(), AgentError> {
        let (channel, cause) = (message.channel, message.id);
        if message.author == self.me {
            return Ok(());
        }
        let is_mentioned = message.content.contains(&format!("<@{}>", self.me));
        let heard = self.heard.entry(channel).or_default();
        // What the master posts to trigger an agent is no part of the conversation, and is deleted again.
        let trigger = Settings::default().texts.trigger_identifier;
        let is_trigger =
            message.author_kind == AuthorKind::Bot && message.content.ends_with(&trigger);
        if !is_trigger {
            heard.push(message);
            let surplus = heard.len().saturating_sub(50);
            heard.drain(..surplus);
        }
        if !is_mentioned {
            return Ok(()); // the master mentions an agent that has its turn
        }
        // The run is named by what caused it: a message that is heard twice is one run.
        let run = RunId::new(cause.get());
        let permission = match self.slave.may_speak(channel, &self.agent, Some(run)).await {
            Ok(permission) => permission,
            Err(denied) => {
                eprintln!("{} is silent: {denied}", self.agent); // no model is called
                return Ok(());
            }
        };
        let text = answer(self.agent.as_str(), heard).await;
        // Tell the end of each run, and before you post, because the channel waits until then.
        let end = permission.end(RunReport::Text(&text)).await?;
        if !end.accepted {
            return Ok(()); // a person stopped the channel meanwhile, for example
        }
        heard.clear();
        let text = Settings::default().reading.silence.deliverable(&text).to_owned();
        self.post(channel, cause, &text).await
    }

    /// Posts a text, and nothing if it was silence.
    async fn post(&self, channel: ChannelId, at: MessageId, text: &str) -> Result<(), AgentError> {
        for (number, part) in (0..).zip(split_reply(text)) {
            let nonce = Nonce::from_parts(channel.get(), at.get(), number);
            self.post_once(Post::new(channel, part, nonce)).await?;
        }
        Ok(())
    }

    /// Posts again with the same nonce if no answer came, so that the message stands there once.
    async fn post_once(&self, post: Post) -> Result<(), ApiError> {
        let (clock, mut attempts) = (SystemClock::new(), 5);
        while let Err(error) = self.account.post(post.clone()).await {
            attempts -= 1;
            if attempts == 0 || !error.kind().is_retryable() {
                return Err(error);
            }
            let wait = error.retry_after().unwrap_or(Duration::from_secs(1));
            clock.sleep_until(clock.now() + wait).await;
        }
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let agent = env::args().nth(1).ok_or("say which agent: `slave developer`")?;
    let name = agent.to_uppercase();
    let token = set(&format!("{name}_TOKEN"))?;
    let account = DiscordAccount::builder(token.clone(), SystemClock::new());
    let proxy = env::var("DISCORD_PROXY_URL");
    let account = if let Ok(url) = proxy { account.proxy(url) } else { account }.build();
    let account = account.map_err(|error| format!("{name}_TOKEN: {error}"))?;

    let nats = env::var("NATS_URL").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    let nats = async_nats::connect(&nats).await.map_err(|error| format!("{nats}: {error}"))?;
    let nats = Nats::new(nats, &"example".parse()?);
    let keys =
        Keyring::new(agent.parse()?, Secret::new(set(&format!("{name}_SECRET"))?.as_bytes())?);
    let client = Client::new(keys, Arc::new(nats), Arc::new(SystemClock::new()));
    let slave = Slave::new(client, "master".parse()?, Settings::default());
    let me = account.me().await?;
    let mut bot = Bot { agent: agent.as_str().into(), account, me, slave, heard: HashMap::new() };

    let intents = Intents::GUILD_MESSAGES | Intents::MESSAGE_CONTENT;
    let config = ConfigBuilder::new(token, intents);
    let config = env::var("DISCORD_GATEWAY_URL").into_iter().fold(config, ConfigBuilder::proxy_url);
    let mut shard = Shard::with_config(ShardId::ONE, config.build());
    // In a task of its own, because the shard must be polled while the model thinks, or Discord closes the connection.
    let (events, mut queue) = mpsc::unbounded_channel();
    let mut bot = tokio::spawn(async move {
        while let Some(message) = queue.recv().await {
            if let Err(error) = bot.hear(message).await {
                eprintln!("a run of {} came to nothing: {error}", bot.agent);
            }
        }
    });
    loop {
        let event = tokio::select! {
            event = shard.next_event(EventTypeFlags::MESSAGE_CREATE) => event,
            _ = tokio::signal::ctrl_c() => return Ok(()),
            ended = &mut bot => return Ok(ended?),
        };
        match event {
            Some(Ok(Event::MessageCreate(message))) => events.send(chat_message(&message))?,
            Some(_) => {} // the shard connects again by itself
            None => return Err("Discord closed the gateway for good: is the token right?".into()),
        }
    }
}
