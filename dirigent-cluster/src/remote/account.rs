//! The account of an agent in another process: what is asked of it is done there, and its token stays there.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use dirigent::ports::{ApiError, Certainty, ErrorKind, HistoryRequest, Post, Posted};
use dirigent::{AgentId, ChannelId, ChatMessage, DiscordApi, MessageId, UserId};

use super::directory::Directory;
use super::fitting::unanswered;
use super::pace::CHAT_LIMIT;
use super::rules::{AccountAsk, AccountDone, UseAccount};

/// Of how many channels it is remembered whether the account may read them.
const CHANNELS_MAX: usize = 10_000;

/// The account of an agent that lives in another process. Requests are made there, one attempt each, so that its token never
/// leaves that process; errors keep their kind, what is certain, and when to ask again. Made by
/// [`Guests::account`](crate::Guests::account).
///
/// While no process announces the agent, requests fail as where the chat is out of order.
#[derive(Clone)]
pub struct RemoteAccount {
    directory: Arc<Directory>,
    agent: AgentId,
    /// As the answers about the history say.
    reads: Arc<Mutex<HashMap<ChannelId, bool>>>,
}

impl RemoteAccount {
    pub(super) fn new(directory: Arc<Directory>, agent: AgentId) -> Self {
        Self { directory, agent, reads: Arc::default() }
    }

    async fn ask(&self, ask: AccountAsk) -> Result<AccountDone, ApiError> {
        let away = || ApiError::new(ErrorKind::Unavailable).with_certainty(Certainty::NotDone);
        let host = self.directory.state().host_of(&self.agent).ok_or_else(away)?;
        let question = UseAccount { agent_id: self.agent.clone(), ask };
        let answer = self.directory.client.ask_within(&host, &question, CHAT_LIMIT).await;
        answer.map_err(unanswered)?
    }

    fn remember(&self, channel: ChannelId, reads: Option<bool>) {
        let mut known = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CHANNELS_MAX {
            known.clear();
        }
        match reads {
            Some(reads) => known.insert(channel, reads),
            None => known.remove(&channel),
        };
    }
}

/// The other process answered something else than what was asked.
fn strange() -> ApiError {
    ApiError::new(ErrorKind::NoAnswer)
}

#[async_trait]
impl DiscordApi for RemoteAccount {
    fn sent_at(&self, message: MessageId) -> dirigent::ports::Timestamp {
        dirigent::ports::snowflake_time(message)
    }

    async fn me(&self) -> Result<UserId, ApiError> {
        let AccountDone::Me(user) = self.ask(AccountAsk::Me).await? else {
            return Err(strange());
        };
        Ok(user)
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        let AccountDone::Posted(posted) = self.ask(AccountAsk::Post(post)).await? else {
            return Err(strange());
        };
        Ok(posted)
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        self.ask(AccountAsk::Delete { channel, message }).await.map(drop)
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        let answer = self.ask(AccountAsk::History(request)).await?;
        let AccountDone::History { messages, reads } = answer else {
            return Err(strange());
        };
        self.remember(request.channel, reads);
        Ok(messages)
    }

    fn reads_history(&self, channel: ChannelId) -> Option<bool> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).get(&channel).copied()
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        let answer = self.ask(AccountAsk::Members { channel, among }).await?;
        let AccountDone::Members(members) = answer else {
            return Err(strange());
        };
        Ok(members)
    }

    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        self.ask(AccountAsk::Typing { channel }).await.map(drop)
    }
}

impl fmt::Debug for RemoteAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAccount").field("agent", &self.agent).finish_non_exhaustive()
    }
}
