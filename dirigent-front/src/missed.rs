//! Messages in a channel since an agent spoke there last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::hooks::TurnId;
use dirigent::ports::{ApiError, AuthorKind, ChatKind, ErrorKind, HistoryRequest, Identity};
use dirigent::{AgentId, ChannelId, ChatMessage, DiscordApi, MessageId, Turn};
use serde::Serialize;
use utoipa::ToSchema;

/// The messages in a page of the history.
const PAGE: u8 = 100;
/// The most pages that are read after an agent's last words.
const PAGES: usize = 5;
/// The number of messages for an agent without a known last turn.
const FIRST: u8 = 50;
/// The most pairs of an agent and a channel that are remembered.
const KNOWN_MAX: usize = 10_000;

/// A message as an agent reads it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Missed {
    id: String,
    /// The account that wrote it.
    author: String,
    /// Its name for people.
    name: String,
    is_person: bool,
    /// The message in one piece for a prompt. It has the name, the words and the message that it answers. Files are named only.
    line: String,
    /// The time of the message, in milliseconds of Unix time.
    at: u64,
}

/// Converts the messages, in their order, with the names that the turn knows.
pub(crate) fn missed(
    turn: &Turn,
    messages: impl IntoIterator<Item = Arc<ChatMessage>>,
) -> Vec<Missed> {
    let mut lines = turn.lines();
    let shown = |message: Arc<ChatMessage>| Missed {
        id: message.id.get().to_string(),
        author: message.author.to_string(),
        name: lines.name(&message).to_owned(),
        is_person: matches!(message.author_kind, AuthorKind::Human | AuthorKind::Bridged),
        line: lines.line(&message),
        at: message.sent_at.as_millis(),
    };
    messages.into_iter().map(shown).collect()
}

/// The newest message that each agent got in each channel.
#[derive(Debug, Default)]
pub(crate) struct Given(Mutex<HashMap<(AgentId, ChannelId), Marks>>);

#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    /// Given in a run that ended.
    done: Option<MessageId>,
    /// Given in the run that goes on. It is given again if the run asks again, or fails.
    open: Option<MessageId>,
}

impl Given {
    fn marks<T>(&self, key: (AgentId, ChannelId), with: impl FnOnce(&mut Marks) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KNOWN_MAX && !all.contains_key(&key) {
            all.clear();
        }
        with(all.entry(key).or_default())
    }

    /// Marks the messages of the run as read.
    pub(crate) fn read(&self, agent: &AgentId, channel: ChannelId) {
        self.marks((agent.clone(), channel), |marks| marks.done = marks.open.or(marks.done));
    }

    /// Reads what the agent missed. `turn` knows the names of the others.
    pub(crate) async fn of(
        &self,
        chat: &dyn DiscordApi,
        (me, channel): (&Identity, ChannelId),
        turn: &Turn,
    ) -> Result<Vec<Missed>, ApiError> {
        let key = (me.agent_id.clone(), channel);
        let mut after = self.marks(key.clone(), |marks| marks.done);
        let limit = after.map_or(FIRST, |_| PAGE);
        let mut all = Vec::new();
        for _ in 0..PAGES {
            let page = chat.history(HistoryRequest { channel, after, limit }).await?;
            let (newest, is_last) =
                (page.iter().map(|it| it.id).max(), page.len() < usize::from(PAGE));
            all.extend(page);
            if is_last || newest <= after {
                break;
            }
            after = newest;
        }
        // An account without the permission gets an empty history, and may not be known to lack it.
        if all.is_empty() && chat.reads_history(channel) != Some(true) {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        all.sort_unstable_by_key(|message| message.id);
        if let Some(newest) = all.last() {
            self.marks(key, |marks| marks.open = Some(newest.id));
        }
        let others = all
            .into_iter()
            .filter(|it| it.author != me.discord_user_id && it.kind != ChatKind::System);
        Ok(missed(turn, others.map(Arc::new)))
    }
}

/// Creates the turn of an agent that the library does not call, because a turn has the words for the briefing.
pub(crate) fn described(
    channel: ChannelId,
    me: &Identity,
    present: Vec<Identity>,
    guide: Option<String>,
) -> Turn {
    let turn = Turn::new(channel, me.agent_id.clone(), TurnId::new(0)).with_agents(present);
    match guide {
        Some(guide) => turn.with_guide(guide),
        None => turn,
    }
}
