//! The host's side: what is pushed is told to the library, and agents that the host owns are run
//! when a trigger addresses them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use dirigent::hooks::{AgentWaker, RunId, RunReport, WakeCall, WakeOutcome};
use dirigent::ports::{ApiError, Nonce, Post};
use dirigent::{ChannelId, ChatMessage, Dirigent, DiscordApi, UserId};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::{Event, GatewayEvents};
use dirigent_testkit::scripted_agent::{Act, ScriptedAgent};

use super::executor::Spawner;
use super::points::Points;

/// What the host knows of its own agents.
#[derive(Clone)]
pub(crate) struct Hooks {
    pub(crate) agents: Arc<[ScriptedAgent]>,
    pub(crate) discord: MemoryDiscord,
    pub(crate) moderator: UserId,
    pub(crate) points: Points,
    pub(crate) spawner: Spawner,
    /// Names runs and posts; goes on over restarts.
    pub(crate) numbers: Arc<AtomicU64>,
    /// Whether a reply is posted before the run's end is told.
    pub(crate) post_first: bool,
    /// Whether the host tells which messages a reply became.
    pub(crate) receipts: bool,
    /// How long a reply is on its way after the run's end was told.
    pub(crate) post_delay: std::time::Duration,
    /// Whether agents see no trigger.
    pub(crate) agents_cut: Arc<AtomicBool>,
}

/// Tells the library what is pushed, one event after the other; nothing while the gateway is cut.
pub(crate) async fn pump(
    mut events: GatewayEvents,
    dirigent: Dirigent,
    hooks: Hooks,
    gateway_cut: Arc<AtomicBool>,
) {
    while let Some(event) = events.next().await {
        if let Event::MessageCreated(message) = &event {
            hooks.look_for_trigger(&dirigent, message);
        }
        if gateway_cut.load(Ordering::Acquire) {
            continue;
        }
        // The library says no to much that is pushed; that is its business.
        drop(event.tell(&dirigent).await);
    }
}

impl Hooks {
    fn look_for_trigger(&self, dirigent: &Dirigent, message: &ChatMessage) {
        if message.author != self.moderator || self.agents_cut.load(Ordering::Acquire) {
            return;
        }
        let addressed =
            |agent: &&ScriptedAgent| message.content.starts_with(&format!("<@{}>", agent.user()));
        if let Some(agent) = self.agents.iter().find(addressed) {
            self.start(dirigent.clone(), agent.clone(), message.channel);
        }
    }

    fn start(&self, dirigent: Dirigent, agent: ScriptedAgent, channel: ChannelId) {
        let run = Run {
            hooks: self.clone(),
            dirigent,
            agent,
            channel,
            number: self.numbers.fetch_add(1, Ordering::Relaxed),
        };
        self.spawner.spawn(run.go());
    }
}

/// One run of an agent that the host owns.
struct Run {
    hooks: Hooks,
    dirigent: Dirigent,
    agent: ScriptedAgent,
    channel: ChannelId,
    number: u64,
}

impl Run {
    async fn go(self) {
        let run = Some(RunId::new(self.number));
        let asked = self.dirigent.channel(self.channel).may_speak(self.agent.name(), run);
        let Ok(permit) = asked.await else {
            return;
        };
        self.agent.note(self.channel);
        let line = self.agent.next_line(self.channel);
        self.agent.think(line.takes).await;
        if !self.hooks.post_delay.is_zero() {
            self.agent.count_as_said(self.channel);
        }
        let text = match line.act {
            Act::Say(text) => text,
            Act::Conclude(text) => {
                self.agent.conclude(self.channel).await;
                text
            }
            Act::Pass => "NO_REPLY".to_owned(),
            // Dropping the permit ends the run as failed.
            Act::Fail | Act::Panic => return,
            Act::Hang | Act::Deaf => return std::future::pending().await,
            unknown @ (Act::Reply(_) | _) => panic!("no agent of this host does {unknown:?}"),
        };
        let end = |text: &str| permit.end(RunReport::Text(text));
        if text == "NO_REPLY" {
            let _ = end(&text);
        } else if self.hooks.post_first {
            self.post(&text).await;
            let _ = end(&text);
        } else {
            let _ = end(&text);
            self.agent.think(self.hooks.post_delay).await;
            self.post(&text).await;
        }
    }

    /// Posts with the agent's own account, as a host would: again, with the same nonce, when in
    /// doubt.
    async fn post(&self, text: &str) {
        let account = self.hooks.discord.account(self.agent.user());
        let nonce = Nonce::from_parts(self.channel.get(), 0, self.number);
        let post = Post::new(self.channel, text, nonce);
        for _ in 0..5 {
            self.hooks.points.pass("before an agent posts").await;
            let posted = account.post(post.clone()).await;
            self.hooks.points.pass("after an agent posted").await;
            let clock = self.agent.clock();
            match posted {
                Ok(posted) => {
                    if self.hooks.receipts {
                        let (name, run) = (self.agent.name(), Some(RunId::new(self.number)));
                        let messages = vec![posted.id];
                        let told =
                            self.dirigent.channel(self.channel).delivered(name, run, messages);
                        drop(told.await);
                    }
                    return;
                }
                Err(error) => {
                    let wait = error.retry_after().unwrap_or(std::time::Duration::from_secs(1));
                    clock.sleep_until(clock.now() + wait).await;
                }
            }
        }
    }
}

/// Calls the host's agents directly.
pub(crate) struct DirectWaker {
    pub(crate) hooks: Hooks,
    /// Whether they begin when they are called.
    pub(crate) starts: bool,
    /// What each call brought.
    pub(crate) calls: Arc<std::sync::Mutex<Vec<WakeCall>>>,
}

#[async_trait]
impl AgentWaker for DirectWaker {
    async fn wake(&self, call: WakeCall) -> Result<WakeOutcome, ApiError> {
        self.hooks.points.pass("before a direct call").await;
        let agent = self.hooks.agents.iter().find(|agent| *agent.name() == call.agent);
        let Some((agent, dirigent)) = agent.and_then(|agent| Some((agent, agent.attached()?)))
        else {
            return Ok(WakeOutcome::PostTrigger);
        };
        if self.starts {
            self.hooks.start(dirigent, agent.clone(), call.channel);
        }
        self.calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(call);
        self.hooks.points.pass("after a direct call").await;
        Ok(WakeOutcome::Delivered)
    }
}
