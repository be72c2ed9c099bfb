//! The data that agents can look at during their turns, as the runtime has it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent_core::{Author, Input, PhaseKind};

use super::Runtime;
use super::startup::persona_of;
use crate::ports::discord::HistoryRequest;
use crate::ports::identity::Identity;
use crate::ports::surroundings::{Surroundings, TRANSCRIPT_MAX};
use crate::room::directory::Directory;
use crate::values::error::ApiError;
use crate::values::message::Attachment;
use crate::{AgentId, ChannelId, ChatMessage, Settings};

#[async_trait]
impl Surroundings for Runtime {
    fn identity(&self, agent: &AgentId) -> Option<Identity> {
        let directory = self.registry.directory();
        directory.key(agent).and_then(|key| directory.identity(key))
    }

    fn is_mentionable(&self, agent: &AgentId) -> bool {
        let directory = self.registry.directory();
        let key = directory.key(agent).filter(|key| directory.is_hosted(*key));
        let account = key.and_then(|key| self.registry.account(key));
        account.is_some_and(|account| persona_of(&*account).is_none())
    }

    fn present(&self, channel: ChannelId) -> Vec<Identity> {
        let Some(room) = self.rooms.awake(channel) else {
            return Vec::new();
        };
        let directory = self.registry.directory();
        let state = room.lock();
        let listed = state.room.look().machine().view().list();
        listed.filter_map(|seat| directory.identity(seat.agent)).collect()
    }

    fn guide(&self, channel: ChannelId) -> Option<String> {
        let room = self.rooms.awake(channel)?;
        let state = room.lock();
        let terms = state.room.look().discussion()?;
        Some(terms.guide.clone())
    }

    async fn transcript(
        &self,
        channel: ChannelId,
        limit: usize,
    ) -> Result<Vec<Arc<ChatMessage>>, ApiError> {
        let remembered = || {
            let room = self.rooms.awake(channel)?;
            let mut state = room.lock();
            // While events may be missing, memory is not up to date. A transcript was once given from it.
            if state.room.look().may_miss_messages() {
                return None;
            }
            let inbox = state.room.inbox()?;
            Some((inbox.texts().transcript(limit), inbox.texts().changes()))
        };
        let before = match remembered() {
            Some((Some(mut known), _)) => {
                self.pastes.read_into(&mut known).await;
                return Ok(known);
            }
            Some((None, changes)) => Some(changes),
            None => None,
        };
        // A whole page costs as much as a part of it, and serves a later, longer transcript, too.
        let most = u8::try_from(TRANSCRIPT_MAX).unwrap_or(u8::MAX);
        let request = HistoryRequest { channel, after: None, limit: most };
        let reading = self.discord.history(request);
        let page = self.within(self.settings.time_limits.request, reading).await??;
        let mut said = said_of(&self.registry.directory(), &self.settings, page);
        // A page that is older than a change is not kept. One once hid what had been said since.
        if let Some((changes, room)) = before.zip(self.rooms.awake(channel)) {
            if let Some(inbox) = room.lock().room.inbox() {
                inbox.texts_mut().recall(&said, changes);
                said = inbox.texts().transcript(limit).unwrap_or(said);
            }
        }
        let first = said.len().saturating_sub(limit);
        let mut said = said.split_off(first);
        self.pastes.read_into(&mut said).await;
        Ok(said)
    }

    async fn file(&self, file: Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        let reading = self.discord.file(file, max);
        self.within(self.settings.time_limits.request, reading).await?
    }

    fn time_left(&self, channel: ChannelId, agent: &AgentId) -> Option<Duration> {
        let room = self.rooms.awake(channel)?;
        let (key, now) = (self.registry.key(agent), self.clock.now());
        let state = room.lock();
        let view = state.room.look().machine().view();
        if view.phase() == PhaseKind::Dormant {
            // The one run after a reminder has no end of its own.
            return None;
        }
        if view.speaker() != key || view.phase() != PhaseKind::Running {
            return Some(Duration::ZERO);
        }
        view.turn_ends_at().map(|end| end.since(now))
    }

    fn report_cost(&self, channel: ChannelId, cost: u64) {
        if let Some(room) = self.rooms.awake(channel) {
            // An archived channel has no budget any more.
            let _ = self.submit(&room, &Input::Spent { cost });
        }
    }
}

/// Returns the conversation on a page, oldest first, with the names of agents. It has no stop and resume words.
fn said_of(
    directory: &Directory,
    settings: &Settings,
    page: Vec<ChatMessage>,
) -> Vec<Arc<ChatMessage>> {
    let moderator = directory.moderator();
    let is_word = |text: &str| {
        settings.reading.is_stop_word(text, moderator)
            || settings.reading.is_resume_word(text, moderator)
    };
    let talk = |mut message: ChatMessage| {
        let author = directory.author(&message);
        directory.name_author(&mut message, author);
        let is_talk = message.is_told()
            && !message.hides_all()
            && author != Author::Moderator
            && !(author == Author::Human && is_word(&message.content));
        is_talk.then(|| Arc::new(message))
    };
    let mut said: Vec<_> = page.into_iter().filter_map(talk).collect();
    said.sort_unstable_by_key(|message| message.id);
    said
}
