//! After a restart or a gap: taking up what was left, and what was missed meanwhile (F19).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{Author, Input, MessageId, MessageKind, PhaseKind, Timestamp};
use futures_util::StreamExt;

use crate::attempt::{Known, is_forgotten};
use crate::life::Stage;
use crate::room::{MissedFrom, Room, RoomState, Work};
use crate::settings::LostRuns;
use crate::shared::Shared;
use crate::store::Outgoing;
use crate::{ApiError, ChannelId, ChatKind, ChatMessage, HistoryRequest};

/// How many pages are read in search of the parts of a reply.
const PAGES_MAX: usize = 5;
/// How many pages of missed messages are read for a channel; when there are more, only the newest
/// page counts beside them.
const MISSED_PAGES_MAX: usize = 50;
/// How many missed messages are kept at a time, and the newest human's.
const MISSED_KEPT: usize = 500;
/// The wait before a channel that could not be brought up to date is tried again; doubles.
const TRY_AGAIN: Duration = Duration::from_secs(10);
/// The longest wait before that.
const TRY_AGAIN_MAX: Duration = Duration::from_secs(600);
/// How many channels are brought up to date at once: what each waits for is the store and the chat.
const AT_ONCE: usize = 16;
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
        let RoomState { active, work, .. } = &mut *state;
        let letters = active.iter().flat_map(|active| active.outbox.letters());
        work.extend(letters.map(|letter| Work::Letter(letter.kind)));
        if active.as_ref().is_some_and(|active| active.outgoing.is_some()) {
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

    /// Brings those of these channels up to date that keep turns, a few at a time. Those that could not
    /// be read are tried again: where it is only the chat, as long as a message that was missed may
    /// wake.
    pub(crate) async fn reconcile(self: &Arc<Self>, mut behind: Vec<ChannelId>) {
        let give_up = self.clock.now() + self.settings.missed_wake_max;
        let mut wait = TRY_AGAIN;
        loop {
            let tried = behind.into_iter().map(|channel| async move {
                (!self.bring_up_to_date(channel).await).then_some(channel)
            });
            let tried = futures_util::stream::iter(tried).buffered(AT_ONCE);
            let mut failed: Vec<_> = tried.filter_map(std::future::ready).collect().await;
            let next = self.clock.now() + wait;
            if next >= give_up {
                self.leave_behind(&mut failed);
            }
            if failed.is_empty() {
                return;
            }
            tokio::select! {
                () = self.clock.sleep_until(next) => {}
                () = self.life.until(Stage::Stopping) => return,
            }
            (behind, wait) = (failed, TRY_AGAIN_MAX.min(wait * 2));
        }
    }

    async fn bring_up_to_date(self: &Arc<Self>, channel: ChannelId) -> bool {
        let is_done = match self.room(channel).await {
            Ok(Some(room)) => self.catch_up(&room).await,
            Ok(None) => true,
            Err(error) => {
                tracing::error!(%channel, %error, "a channel could not be read");
                false
            }
        };
        if is_done {
            self.lookouts.done(channel);
        }
        is_done
    }

    /// What was missed there stays unread; the channels may leave memory again. Those that the store
    /// did not give yet are tried on: what they owe would wait for ever.
    fn leave_behind(self: &Arc<Self>, channels: &mut Vec<ChannelId>) {
        channels.retain(|channel| {
            let Some(room) = self.awake(*channel) else {
                return self.is_unread(*channel);
            };
            tracing::error!(%channel, "what was missed could not be read");
            let _ = room.lock().missed_from();
            self.lookouts.done(*channel);
            false
        });
    }

    /// Reads what was missed; `false` when that is to be tried again.
    async fn catch_up(self: &Arc<Self>, room: &Arc<Room>) -> bool {
        let missed_from = room.lock().missed_from();
        let Some(MissedFrom { newest, at }) = missed_from else {
            return true;
        };
        if self.take_all_missed(room, MissedFrom { newest, at }).await.is_err() {
            room.lock().active().missed_from = missed_from;
            return false;
        }
        true
    }

    /// Reads what was said since then, and takes in what of it was not heard.
    pub(crate) async fn take_all_missed(
        &self,
        room: &Arc<Room>,
        from: MissedFrom,
    ) -> Result<(), ApiError> {
        let MissedFrom { newest, at } = from;
        let mut missed = self.read_missed(room.id, newest).await?;
        if newest.is_none() {
            // Nothing had been said, so what counts is what was said since it was last stored.
            missed.retain(|message| self.discord.sent_at(message.id) + CLOCKS_APART > at);
        }
        let up_to = missed.back().map(|message| message.id);
        let mut reported = 0_usize;
        for message in missed {
            reported += usize::from(self.take_missed(room, message));
        }
        if reported > 0 {
            tracing::info!(channel = %room.id, reported, "messages were missed and are too old to wake");
        }
        let mut state = room.lock();
        state.heard.newest = state.heard.newest.max(up_to);
        Ok(())
    }

    /// What was said after this message, oldest first: the newest of it, with the newest human's
    /// message however much others said since.
    async fn read_missed(
        &self,
        channel: ChannelId,
        after: Option<MessageId>,
    ) -> Result<VecDeque<ChatMessage>, ApiError> {
        let mut kept: VecDeque<ChatMessage> = VecDeque::new();
        let mut human: Option<ChatMessage> = None;
        let (mut from, mut pages) = (after, 0);
        loop {
            let (page, full) = self.read_page(channel, from).await?;
            from = page.last().map(|message| message.id).or(from);
            kept.extend(page);
            let too_many = kept.len().saturating_sub(MISSED_KEPT);
            let dropped = kept.drain(..too_many);
            human = dropped.filter(|m| self.registry.author(m) == Author::Human).last().or(human);
            pages += 1;
            if !full || from.is_none() {
                break;
            }
            if pages == MISSED_PAGES_MAX {
                let (newest, _) = self.read_page(channel, None).await?;
                kept.extend(newest.into_iter().filter(|message| Some(message.id) > from));
                break;
            }
        }
        let known = kept.iter().any(|message| self.registry.author(message) == Author::Human);
        if let Some(human) = human.filter(|_| !known) {
            kept.push_front(human);
        }
        Ok(kept)
    }

    /// A page of the messages after this one, oldest first, and whether there may be more; the
    /// newest ones when there is none to begin from.
    pub(crate) async fn read_page(
        &self,
        channel: ChannelId,
        after: Option<MessageId>,
    ) -> Result<(Vec<ChatMessage>, bool), ApiError> {
        let request = HistoryRequest { channel, after, limit: PAGE };
        let mut page =
            self.repeat(|| self.discord.history(request)).await.inspect_err(|error| {
                tracing::warn!(%channel, %error, "missed messages could not be read");
            })?;
        let full = page.len() >= usize::from(PAGE);
        page.retain(|message| Some(message.id) > after);
        page.sort_unstable_by_key(|message| message.id);
        Ok((page, full))
    }

    /// The messages after this one, oldest first; the newest ones when there is none to begin from.
    /// Says whether none is left out.
    pub(crate) async fn read_after(
        &self,
        channel: ChannelId,
        after: Option<MessageId>,
    ) -> (Vec<ChatMessage>, bool) {
        let mut read: Vec<ChatMessage> = Vec::new();
        for _ in 0..PAGES_MAX {
            let from = read.last().map(|message| message.id).or(after);
            let Ok((mut page, full)) = self.read_page(channel, from).await else {
                return (read, false);
            };
            read.append(&mut page);
            if !full {
                return (read, true);
            }
            if from.is_none() {
                break;
            }
        }
        (read, false)
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
