//! After a restart: taking up what was left, and what was missed meanwhile (F19).

use std::sync::Arc;

use dirigent_core::{Author, Input, MessageKind, Timestamp};

use crate::room::{Room, Work};
use crate::settings::LostRuns;
use crate::shared::Shared;
use crate::store::Outgoing;
use crate::{ChannelId, ChatMessage, HistoryRequest};

/// How many pages of missed messages are read for a channel.
const PAGES_MAX: usize = 5;
/// Messages on a page.
const PAGE: u8 = 100;

impl Shared {
    /// Brings every channel up to date that keeps turns, one after the other.
    pub(crate) async fn reconcile(self: &Arc<Self>) {
        for channel in self.known() {
            match self.room(channel).await {
                Ok(Some(room)) => self.reconcile_room(&room).await,
                Ok(None) => {}
                Err(error) => tracing::error!(%channel, %error, "a channel could not be read"),
            }
        }
    }

    async fn reconcile_room(self: &Arc<Self>, room: &Arc<Room>) {
        let (keeps_turns, newest) = {
            let state = room.lock();
            let view = state.channel.view();
            (view.mode().keeps_turns(), view.newest())
        };
        if !keeps_turns {
            return self.resume_debts(room);
        }
        let missed = match newest {
            Some(newest) => self.read_missed(room.id, newest).await,
            None => Vec::new(),
        };
        self.resume_reply(room, &missed);
        self.resume_debts(room);
        let mut reported = 0_usize;
        for message in missed {
            reported += usize::from(self.take_missed(room, message));
        }
        if reported > 0 {
            tracing::info!(channel = %room.id, reported, "messages were missed and are too old to wake");
        }
        self.park(room);
    }

    /// A reply that was being posted goes on; any other run that was open is gone.
    fn resume_reply(&self, room: &Arc<Room>, missed: &[ChatMessage]) {
        let mut state = room.lock();
        let outgoing = state.active.as_ref().and_then(|active| active.outgoing.clone());
        if let Some(outgoing) = outgoing {
            let user = self.registry.user(outgoing.agent);
            let mut outgoing = Outgoing::clone(&outgoing);
            let theirs: Vec<_> = missed.iter().filter(|m| Some(m.author) == user).collect();
            let mut found = theirs.iter();
            for part in outgoing.parts.iter_mut().filter(|part| part.posted.is_none()) {
                part.posted = found.find(|m| m.content.trim() == part.content.trim()).map(|m| m.id);
                if part.posted.is_none() {
                    break;
                }
            }
            state.active().outgoing = Some(Arc::new(outgoing));
            state.stored_machine = None;
            state.work.push_back(Work::Post);
            return room.settle_down(self, &mut state);
        }
        drop(state);
        let rerun = self.settings.lost_runs == LostRuns::Rerun;
        let _ = room.submit(self, &Input::RunsLost { rerun });
    }

    /// What was owed is done again, with the same nonces.
    fn resume_debts(&self, room: &Arc<Room>) {
        let mut state = room.lock();
        let owed: Vec<_> = state.channel.debts().iter().map(|debt| debt.effect).collect();
        // What was asked for since the restart is queued already.
        let queued: Vec<_> = state
            .work
            .iter()
            .filter_map(|work| match work {
                Work::Effect(effect) => effect.ticket(),
                Work::Tell(_) | Work::Call { .. } | Work::Post => None,
            })
            .collect();
        let lost = owed.into_iter().filter(|e| e.ticket().is_some_and(|t| !queued.contains(&t)));
        let lost: Vec<_> = lost.map(Work::Effect).collect();
        for work in lost.into_iter().rev() {
            state.work.push_front(work);
        }
        room.settle_down(self, &mut state);
    }

    async fn read_missed(
        &self,
        channel: ChannelId,
        newest: dirigent_core::MessageId,
    ) -> Vec<ChatMessage> {
        let mut missed: Vec<ChatMessage> = Vec::new();
        for _ in 0..PAGES_MAX {
            let after = missed.last().map_or(newest, |message| message.id);
            let request = HistoryRequest { channel, after: Some(after), limit: PAGE };
            match self.repeat(|| self.discord.history(request)).await {
                Ok(mut page) => {
                    let full = page.len() >= usize::from(PAGE);
                    page.retain(|message| message.id > after);
                    page.sort_unstable_by_key(|message| message.id);
                    missed.append(&mut page);
                    if !full {
                        break;
                    }
                }
                Err(error) => {
                    tracing::warn!(%channel, %error, "missed messages could not be read");
                    break;
                }
            }
        }
        missed
    }

    /// A recent human's message counts as if it came now; everything else is only remembered and
    /// handed over with the next turn. Returns whether it was an old human's message.
    fn take_missed(&self, room: &Arc<Room>, message: ChatMessage) -> bool {
        let author = self.registry.author(&message);
        let human = author == Author::Human;
        let sent: Timestamp = self.discord.sent_at(message.id);
        let recent = self.clock.now().since(sent) < self.settings.missed_wake_max;
        if human && recent {
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
        let _ = room.submit(self, &Input::Message(digest));
        human && talk
    }
}
