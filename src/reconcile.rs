//! After a restart: taking up what was left, and what was missed meanwhile (F19).

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{Author, Input, MessageId, MessageKind, PhaseKind, Timestamp};

use crate::attempt::{Known, is_forgotten};
use crate::room::{MissedFrom, Room, RoomState, Work};
use crate::settings::LostRuns;
use crate::shared::Shared;
use crate::store::Outgoing;
use crate::{ChannelId, ChatKind, ChatMessage, HistoryRequest};

/// How many pages of missed messages are read for a channel.
const PAGES_MAX: usize = 5;
/// Messages on a page.
const PAGE: u8 = 100;
/// How far the chat's clock and ours may be apart.
const CLOCKS_APART: Duration = Duration::from_secs(5);

impl Shared {
    /// A channel was read from the store, and nobody else has it yet. What it owed is done again,
    /// with the same nonces; a reply that was being posted goes on; any other run is gone with the
    /// process that ran it.
    pub(crate) fn take_up(self: &Arc<Self>, room: &Arc<Room>) {
        let mut state = room.lock();
        let owed: Vec<_> = state.channel.debts().iter().map(|debt| debt.effect).collect();
        state.work.extend(owed.into_iter().map(Work::Effect));
        if state.active.as_ref().is_some_and(|active| active.outgoing.is_some()) {
            // What was missed began when something was last stored.
            let missed_from = state.active().missed_from;
            let stored = missed_from.map_or_else(|| self.clock.now(), |missed| missed.at);
            state.work.push_back(Work::TakeUpReply { stored });
            return room.settle_down(self, &mut state);
        }
        drop(state);
        let rerun = self.settings.lost_runs == LostRuns::Rerun;
        // There may have been no run; then nothing changed.
        let _ = room.submit(self, &Input::RunsLost { rerun });
    }

    /// Goes on with a reply that a restart cut off: what of it is in the channel is not posted
    /// again, even if its nonce was forgotten meanwhile. If nobody can tell, the rest is not posted.
    pub(crate) async fn take_up_reply(&self, room: &Arc<Room>, stored: Timestamp) {
        let (outgoing, anchor) = {
            let mut state = room.lock();
            (state.active().outgoing.clone(), state.channel.view().anchor())
        };
        let Some(outgoing) = outgoing else {
            return;
        };
        let after = anchor.max(outgoing.newest_posted());
        let own = self.registry.user(outgoing.agent).map(|user| (user, after));
        let known = Known { own, ..Known::default() };
        let (since, whole) = self.read_after(room.id, after).await;
        let mut outgoing = Outgoing::clone(&outgoing);
        let mut arrived = since.iter();
        for part in outgoing.parts.iter_mut().filter(|part| part.posted.is_none()) {
            let is_it = |m: &&ChatMessage| known.is_in(m, &part.content, part.nonce.as_str());
            match arrived.find(is_it) {
                Some(message) => part.posted = Some(message.id),
                None => break,
            }
        }
        if !whole && is_forgotten(stored, self.clock.now()) {
            return self.finish_reply(room, &outgoing);
        }
        let mut state = room.lock();
        state.active().outgoing = Some(Arc::new(outgoing));
        state.stored_machine = None;
        state.work.push_back(Work::Post { in_doubt: (!whole).then_some(stored) });
    }

    /// Reads again what was said of late, if that was forgotten since, so that the agent that is
    /// called now is handed it.
    pub(crate) async fn recall(&self, room: &Room) {
        if !room.lock().forgot {
            return;
        }
        let most = self.settings.missed_max;
        let limit = u8::try_from(most).unwrap_or(PAGE).clamp(1, PAGE);
        let request = HistoryRequest { channel: room.id, after: None, limit };
        match self.repeat(|| self.discord.history(request)).await {
            Ok(page) => {
                let mut state = room.lock();
                state.forgot = false;
                for message in page {
                    let author = self.registry.author(&message);
                    if message.kind != ChatKind::System && author != Author::Moderator {
                        state.active().remember(Arc::new(message), most);
                    }
                }
            }
            Err(error) => {
                tracing::warn!(channel = %room.id, %error, "what was said of late could not be read");
            }
        }
    }

    /// Brings every channel up to date that keeps turns, one after the other.
    pub(crate) async fn reconcile(self: &Arc<Self>) {
        for channel in self.known() {
            match self.room(channel).await {
                Ok(Some(room)) => self.catch_up(&room).await,
                Ok(None) => {}
                Err(error) => tracing::error!(%channel, %error, "a channel could not be read"),
            }
        }
    }

    async fn catch_up(self: &Arc<Self>, room: &Arc<Room>) {
        let missed_from = room.lock().missed_from();
        let Some(MissedFrom { newest, at }) = missed_from else {
            return;
        };
        let (mut missed, _) = self.read_after(room.id, newest).await;
        if newest.is_none() {
            // Nothing had been said, so what counts is what was said since it was last stored.
            missed.retain(|message| self.discord.sent_at(message.id) + CLOCKS_APART > at);
        }
        let mut reported = 0_usize;
        for message in missed {
            reported += usize::from(self.take_missed(room, message));
        }
        if reported > 0 {
            tracing::info!(channel = %room.id, reported, "messages were missed and are too old to wake");
        }
    }

    /// The messages after this one, oldest first; the newest ones when there is none to begin from.
    /// Says whether none is left out because the chat failed.
    async fn read_after(
        &self,
        channel: ChannelId,
        after: Option<MessageId>,
    ) -> (Vec<ChatMessage>, bool) {
        let mut read: Vec<ChatMessage> = Vec::new();
        let mut whole = true;
        for _ in 0..PAGES_MAX {
            let from = read.last().map(|message| message.id).or(after);
            let request = HistoryRequest { channel, after: from, limit: PAGE };
            let mut page = match self.repeat(|| self.discord.history(request)).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%channel, %error, "missed messages could not be read");
                    whole = false;
                    break;
                }
            };
            let full = page.len() >= usize::from(PAGE) && from.is_some();
            page.retain(|message| Some(message.id) > from);
            page.sort_unstable_by_key(|message| message.id);
            read.append(&mut page);
            if !full {
                break;
            }
        }
        (read, whole)
    }

    /// A recent human's message counts as if it came now, as does what confirms a turn; everything
    /// else is only remembered and handed over with the next turn. Returns whether it was an old
    /// human's message.
    fn take_missed(&self, room: &Arc<Room>, message: ChatMessage) -> bool {
        let author = self.registry.author(&message);
        let human = author == Author::Human;
        let sent = self.discord.sent_at(message.id);
        let recent = self.clock.now().since(sent) < self.settings.missed_wake_max;
        // What the speaker posted while nobody listened confirms its turn as if it came now.
        let awaited = {
            let state = room.lock();
            let view = state.channel.view();
            let speaker = view.speaker().map(Author::Agent);
            view.phase() == PhaseKind::Confirming && speaker == Some(author)
        };
        if awaited || (human && recent) {
            self.take_message(room, message);
            return false;
        }
        let mut digest = self.digest(&message, author);
        let talk = digest.kind != MessageKind::System;
        digest.kind = MessageKind::System;
        let most = self.settings.missed_max;
        if talk && author != Author::Moderator {
            room.lock().active().remember(Arc::new(message), most);
        }
        // Seen before, perhaps, by a push that was quicker.
        let _ = room.submit(self, &Input::Message(digest));
        human && talk
    }
}

impl RoomState {
    /// From where messages were missed while the process was down; once, and only where turns are
    /// kept.
    fn missed_from(&mut self) -> Option<MissedFrom> {
        let keeps_turns = self.channel.view().mode().keeps_turns();
        let from = self.active.as_mut().and_then(|active| active.missed_from.take());
        from.filter(|_| keeps_turns)
    }
}
