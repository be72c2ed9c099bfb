//! An agent with a gateway connection of its own: it is woken by the moderator's message, and asks the process in which it lives, which
//! asks the one that acts for the channel.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::hooks::RunReport;
use dirigent::ports::{HistoryRequest, Nonce, Post};
use dirigent::prelude::*;
use dirigent_cluster::Instance;
use dirigent_discord::DiscordAccount;
use dirigent_relay::Permission;
use twilight_gateway::{Event, EventTypeFlags, Shard, StreamExt as _};
use twilight_model::gateway::payload::incoming::MessageCreate;

use crate::agents::{Thinking, now, pause, say};

/// How often, and how soon, the end of a run is reported again where the other process does not answer.
const TOLD_AGAIN: (u32, Duration) = (20, Duration::from_millis(500));
/// How often, and how soon, is asked again whether the agent may speak.
const ASKED_AGAIN: (u32, Duration) = (15, Duration::from_secs(1));

pub(crate) struct Asking {
    pub(crate) agent: AgentId,
    pub(crate) me: UserId,
    pub(crate) moderator: UserId,
    pub(crate) account: Arc<DiscordAccount>,
    pub(crate) instance: Instance,
    pub(crate) thinking: Thinking,
    pub(crate) turns: Mutex<Turns>,
}

/// The turns of an agent that asks.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Where one is under way, and whether the agent was called again meanwhile.
    under_way: BTreeMap<ChannelId, bool>,
    /// None begins any more.
    is_ending: bool,
}

impl Turns {
    /// Whether one is to begin now. One at a time in each channel: a second one would take the permission of the first.
    fn begin(&mut self, channel: ChannelId) -> bool {
        if let Some(again) = self.under_way.get_mut(&channel) {
            *again = true;
            return false;
        }
        !self.is_ending && self.under_way.insert(channel, false).is_none()
    }

    /// One has ended. Whether the next one is to begin now.
    fn end(&mut self, channel: ChannelId) -> bool {
        let again = self.under_way.remove(&channel);
        again == Some(true) && self.begin(channel)
    }
}

impl Asking {
    /// Listens until the connection ends.
    pub(crate) async fn run(self: Arc<Self>, mut shard: Shard, channels: Vec<ChannelId>) {
        let wanted = EventTypeFlags::READY | EventTypeFlags::MESSAGE_CREATE;
        while let Some(event) = shard.next_event(wanted).await {
            match event {
                Ok(Event::MessageCreate(message)) if self.is_called_by(&message) => {
                    self.begin(ChannelId::new(message.channel_id.get()));
                }
                // It may have missed that it was called.
                Ok(Event::Ready(_)) => channels.iter().for_each(|channel| self.begin(*channel)),
                // It connects again by itself.
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn is_called_by(&self, message: &MessageCreate) -> bool {
        let is_named = message.mentions.iter().any(|user| user.id.get() == self.me.get());
        is_named && message.author.id.get() == self.moderator.get()
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(self: &Arc<Self>, channel: ChannelId) {
        if self.turns().begin(channel) {
            tokio::spawn(Arc::clone(self).take_turns(channel));
        }
    }

    async fn take_turns(self: Arc<Self>, channel: ChannelId) {
        loop {
            if let Some(permission) = self.permission(channel).await {
                let words = self.missed(channel).await;
                self.speak(channel, &words, &permission).await;
            }
            if !self.turns().end(channel) {
                return;
            }
        }
    }

    /// The permission, if it is this agent's turn. Where the process that acts for the channel does not answer it is asked again: the
    /// trigger is repeated only when the agent's time to start has run out.
    async fn permission(&self, channel: ChannelId) -> Option<Permission> {
        // An earlier answer that did not arrive may have been the permission.
        let asked = now();
        for _ in 0..ASKED_AGAIN.0 {
            match self.instance.may_speak(channel, &self.agent, None).await {
                Ok(permission) => {
                    let run = permission.run().get();
                    say(&format!("allowed {channel} {run} {asked} {}", now()));
                    return Some(permission);
                }
                Err(denied) if denied.is_unavailable() => pause(ASKED_AGAIN.1).await,
                Err(_) => return None,
            }
        }
        None
    }

    /// What people said since this agent spoke.
    async fn missed(&self, channel: ChannelId) -> Vec<String> {
        let newest = HistoryRequest { channel, after: None, limit: 50 };
        let mut messages = self.account.history(newest).await.unwrap_or_default();
        messages.sort_by_key(|message| message.id);
        let mine = messages.iter().rposition(|message| message.author == self.me);
        let missed = messages.iter().skip(mine.map_or(0, |mine| mine + 1));
        let words = missed.filter(|message| message.is_by_person());
        words.map(|message| message.content.to_string()).collect()
    }

    async fn speak(&self, channel: ChannelId, words: &[String], permission: &Permission) {
        let run = permission.run().get();
        self.thinking.think(run).await;
        let text = format!("run {run} heard {}", words.join(" "));
        let report = if words.is_empty() { RunReport::Pass } else { RunReport::Text(&text) };
        let told = now();
        match self.tell_end(permission, report).await {
            None => {}
            Some(false) => say(&format!("refused {channel} {run}")),
            Some(true) if words.is_empty() => say(&format!("passed {channel} {run} {told}")),
            Some(true) => {
                say(&format!("accepted {channel} {run} {told}"));
                let nonce = Nonce::from_parts(channel.get(), told, run);
                if let Err(error) = self.account.post(Post::new(channel, text, nonce)).await {
                    eprintln!("{}: {error}", self.agent);
                }
            }
        }
    }

    /// Whether the end of a run was accepted; none if no process answers.
    async fn tell_end(&self, permission: &Permission, report: RunReport<'_>) -> Option<bool> {
        for _ in 0..TOLD_AGAIN.0 {
            match permission.end(report).await {
                Ok(answer) => return Some(answer.accepted),
                Err(_) => pause(TOLD_AGAIN.1).await,
            }
        }
        None
    }

    /// Begins no turn any more, and waits until none is under way. What called the agent meanwhile is looked into when it is back.
    pub(crate) async fn drain(&self) {
        self.turns().is_ending = true;
        while !self.turns().under_way.is_empty() {
            pause(Duration::from_millis(10)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANNEL: ChannelId = ChannelId::new(1);

    #[test]
    fn a_turn_for_which_the_agent_was_called_meanwhile_follows_the_one_under_way() {
        let mut turns = Turns::default();
        assert!(turns.begin(CHANNEL));
        assert!(!turns.begin(CHANNEL));
        assert!(turns.begin(ChannelId::new(2)));
        assert!(turns.end(CHANNEL));
        assert!(!turns.end(CHANNEL));
        assert!(turns.begin(CHANNEL));
    }

    /// The process would be over before it could report the end.
    #[test]
    fn no_turn_begins_in_a_process_that_ends() {
        let mut turns = Turns::default();
        assert!(turns.begin(CHANNEL));
        assert!(!turns.begin(CHANNEL));
        turns.is_ending = true;
        assert!(!turns.begin(ChannelId::new(2)));
        assert!(!turns.end(CHANNEL));
        assert!(turns.under_way.is_empty());
    }
}
