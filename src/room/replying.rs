//! A hosted reply: it is begun, posted part by part, looked for, finished, withdrawn or given up.

use std::sync::Arc;

use dirigent_core::view::Pause;
use dirigent_core::{Input, MessageId, Outcome as Run, Tail, Timestamp};

use super::action::{Account, Action, ActionId, Lost, Outcome, Purpose, Signal};
use super::attempts::{Failure, Trouble};
use super::calls::Call;
use super::delivery::Todo;
use super::doorway::{Doorway, Offer};
use super::recollection::own_message;
use super::reply::{
    AfterFailure, ReplyDelivery, SearchFacts, WithdrawnReply, compose, cut_notice, messages_of,
};
use super::step::Step;
use super::turns::Turns;
use super::voice::PostItem;
use crate::ChatMessage;
use crate::ports::discord::HistoryRequest;
use crate::ports::turn::Said;
use crate::record::channel::{Outgoing, ReplyEnd};
use crate::values::error::{ErrorKind, PostFailure};
use crate::values::extras::Extras;

impl Step<'_> {
    /// Begins to post what the agent said. Returns the outcome of the run if there is nothing to post.
    pub(super) fn begin_reply(&mut self, call: &Call, said: Said, end: ReplyEnd) -> Option<Run> {
        let &Call { agent, turn, run, .. } = call;
        let of = (agent, turn.unwrap_or_default(), run);
        let newest = self.turns.view().newest();
        let Said { words, extras } = said;
        let next = extras.as_ref().and_then(|extras| extras.next.as_ref());
        let next = next.and_then(|next| self.cx.directory.key(next));
        let skips = self.cx.settings.reading.skip_repetitions;
        // It includes the bytes of the files, which are not in the record.
        let shown = extras.as_deref().filter(|_| skips).and_then(|extras| extras.told(&words));
        let (extras, files) = extras.map_or_else(Default::default, Extras::split);
        let (messages, rest) =
            messages_of(&words, self.cx.settings, self.cx.chat.longest_message());
        let channel = self.turns.channel;
        let outgoing =
            compose(channel, of, messages, extras, end, (newest, self.now, self.cx.up_since));
        // An agent that says nothing passes. What was beyond the limit comes back to it.
        if outgoing.parts.is_empty() {
            if !rest.is_empty() {
                self.lanes.inbox.keep_late(agent, Said::words(rest));
            }
            return Some(Run::Pass);
        }
        let compared = shown.as_ref().map_or((&*words, None), |(text, hash)| (text, Some(*hash)));
        let names = self.cx.directory.name_words();
        // Agents in an empty list once counted on for 26 turns, until the ceiling ended it.
        if skips && self.lanes.inbox.talk.repeats(agent, compared, names) {
            return Some(Run::Repeated);
        }
        let replied = Input::Replied { agent, run: Some(run), next };
        if self.turns.submit(self.cx, self.now, &replied).is_err() {
            // The machine has taken the turn away. The agent gets its words with its next turn.
            let extras = outgoing.extras;
            self.lanes.inbox.keep_late(agent, Said { words, extras });
            return None;
        }
        self.turns.commit.change();
        let stamp = self.turns.commit.newest();
        self.lanes.reply = Some(ReplyDelivery::new(outgoing, files, rest, stamp));
        self.lanes.voice.push(PostItem::Reply);
        None
    }

    /// Posts the next part, or looks for it in the history, once the state is stored and while the turn goes on.
    pub(super) fn offer_reply(&mut self, door: &mut Doorway<'_>) -> Offer {
        let (cx, now, room) = (self.cx, self.now, self.turns.channel);
        let is_blocked = !self.turns.reply_may_go() || self.marks.is_holding(now);
        let is_busy = self.lanes.voice.is_busy() || !self.lanes.voice.is_due(now);
        let Some(reply) = self.lanes.reply.as_mut() else {
            return Offer::Nothing;
        };
        if is_blocked || is_busy || !self.turns.commit.is_committed(reply.stamp()) {
            return Offer::Nothing;
        }
        let agent = reply.stored().agent;
        match reply.todo(now) {
            None => Offer::Nothing,
            Some(Todo::Read { after, limit }) => {
                let request = HistoryRequest { channel: room, after, limit };
                let action = Action::History { account: Account::Moderator, request };
                let purpose = Purpose::FindPart;
                let started = self.lanes.requests.read(cx, (room, now), door, purpose, action);
                if let Some(id) = started {
                    self.lanes.voice.begin(id, now);
                }
                started.into()
            }
            Some(Todo::Post { not_after }) => {
                let Some(post) = reply.next_post(room, now) else {
                    return Offer::Nothing;
                };
                if post.content.is_empty() && post.embeds.is_empty() && post.files.is_empty() {
                    // After a restart the bytes are gone, so nothing is left of a reply of files alone.
                    self.give_reply_up(None);
                    return Offer::Over;
                }
                let account = Account::Agent(agent);
                match self.offer_post(account, post, None, door) {
                    Some(Offer::Started) => {
                        door.not_after(not_after);
                        Offer::Started
                    }
                    Some(offer) => offer,
                    None => {
                        self.give_reply_up(Some(PostFailure {
                            kind: ErrorKind::RateLimited,
                            code: None,
                        }));
                        Offer::Over
                    }
                }
            }
        }
    }

    fn is_reply_current(&self, reply: &ReplyDelivery) -> bool {
        let (view, stored) = (self.turns.view(), reply.stored());
        let holds = view.speaker().or(view.permit()) == Some(stored.agent);
        holds
            && view.run() == Some(stored.run)
            // A hold only delays the reply, but after a stop it must not leave.
            && !matches!(view.pause(), Some(Pause::Stopped | Pause::Finished))
    }

    /// Returns a reply to its agent if its turn was taken away, or if it cannot be delivered.
    pub(super) fn withdraw_reply(&mut self) -> bool {
        let Some(reply) = self.lanes.reply.as_ref() else {
            return self.end_lost_reply();
        };
        if !self.is_reply_current(reply) {
            self.hand_reply_back(None);
            return true;
        }
        let is_over = given_up_at(self.turns, reply).is_some_and(|at| at <= self.now);
        // The agent has no account any more, so nothing could post its reply.
        let is_lost = !self.cx.directory.is_hosted(reply.stored().agent);
        if (is_lost || is_over) && self.turns.reply_may_go() {
            self.give_reply_up(None);
            return true;
        }
        false
    }

    /// Gives up a reply that the machine waits for and that no lane delivers, because nothing else would end it.
    fn end_lost_reply(&mut self) -> bool {
        let lost = self.turns.view().pending_reply().filter(|reply| !reply.waits);
        lost.is_some_and(|lost| {
            let undelivered =
                Input::Undelivered { agent: lost.agent, run: lost.run, posted: false };
            self.turns.submit(self.cx, self.now, &undelivered).is_ok()
        })
    }

    /// Makes the unposted part of the reply the agent's late answer. A part on its way is not known yet.
    fn hand_reply_back(&mut self, failure: Option<PostFailure>) -> Option<ReplyDelivery> {
        let reply = self.lanes.reply.take()?;
        let is_head = self.lanes.voice.head() == Some(PostItem::Reply);
        let under_way = self.lanes.voice.under_way().filter(|_| is_head);
        // An event may have told of the part whose answer is missing.
        let arrived = if is_head { self.lanes.voice.take_arrived() } else { None };
        self.lanes.voice.withdraw(PostItem::Reply);
        if let Some(request) = under_way {
            // The part on its way may arrive, and must not be handed back as unposted.
            self.lanes.withdrawn = Some(Box::new(WithdrawnReply::new(request, &reply, arrived)));
        } else {
            self.keep_rest(reply.stored(), reply.rest(), failure);
        }
        self.turns.commit.change();
        Some(reply)
    }

    /// Handles the end of a voice request after its post was withdrawn. If the post arrived, it counts.
    pub(super) fn lingering_ended(&mut self, id: ActionId, arrived: Option<MessageId>) {
        if let Some(message) = arrived {
            self.note_own(message);
            if let Some(cleanup) = &mut self.lanes.cleanup {
                cleanup.landed(id, message, self.turns.commit.newest());
            }
        }
        if let Some(withdrawn) = self.lanes.withdrawn.take_if(|withdrawn| withdrawn.is_request(id))
        {
            let (reply, rest) = withdrawn.ended(arrived);
            self.keep_rest(&reply, &rest, None);
        }
    }

    /// Keeps the part of a reply that is not in the channel for its agent's next turn.
    fn keep_rest(&mut self, reply: &Outgoing, rest: &str, failure: Option<PostFailure>) {
        let notice = cut_notice(self.cx.settings, self.cx.chat.longest_message());
        self.lanes.inbox.keep_late_reply(reply, (rest, notice.as_deref()), failure);
    }

    /// Gives up the reply, because it cannot be delivered. Its turn is over, and its agent gets the rest back.
    fn give_reply_up(&mut self, failure: Option<PostFailure>) {
        let Some(reply) = self.hand_reply_back(failure) else {
            return;
        };
        let (agent, run) = (reply.stored().agent, reply.stored().run);
        let (posted, parts) = (reply.posted_messages().count(), reply.stored().parts.len());
        self.lanes.signals.push_back(Signal::ReplyLost(Lost {
            agent,
            run,
            posted,
            parts,
            failure,
        }));
        let undelivered = Input::Undelivered { agent, run: Some(run), posted: reply.is_posted() };
        let _ = self.turns.submit(self.cx, self.now, &undelivered);
    }

    /// Confirms the turn, because every part is in the channel.
    fn finish_reply(&mut self) {
        let Some(reply) = self.lanes.reply.take_if(|reply| reply.is_whole()) else {
            return;
        };
        self.lanes.voice.withdraw(PostItem::Reply);
        let stored = reply.stored();
        let (agent, run) = (stored.agent, Some(stored.run));
        self.lanes.inbox.reply_taken(agent);
        let mut messages = std::mem::take(&mut self.lanes.receipt);
        messages.clear();
        messages.extend(reply.posted_messages());
        let files = reply.lost_files();
        if !files.is_empty() {
            let (channel, files) = (self.turns.channel, files.len());
            tracing::warn!(%channel, files, "a reply was posted without some of its files; its agent learns their names");
        }
        // The agent learns what people did not see.
        if !reply.rest().is_empty() || !files.is_empty() {
            let extras = Some(Extras { files, ..Extras::default() });
            let extras = extras.filter(|extras| !extras.is_empty()).map(Arc::new);
            self.lanes.inbox.keep_late(agent, Said { words: Arc::clone(reply.rest()), extras });
        }
        // The receipt confirms the turn, so no text is compared.
        let tail = Tail::EMPTY;
        let outcome = match stored.end {
            ReplyEnd::Finished => Run::Spoke { tail },
            ReplyEnd::Unfinished => Run::Unfinished { tail },
            ReplyEnd::AwaitsHuman => Run::AwaitsHuman { tail },
        };
        // The receipt comes first, because the end alone would make the machine look for the text.
        let receipt = Input::Receipt { agent, run, messages };
        let _ = self.turns.submit(self.cx, self.now, &receipt);
        let _ = self.turns.submit(self.cx, self.now, &Input::RunEnded { agent, run, outcome });
        if let Input::Receipt { messages, .. } = receipt {
            self.lanes.receipt = messages;
        }
        self.turns.commit.change();
    }

    pub(super) fn part_posted(&mut self, message: MessageId) {
        let posted = self.lanes.reply.as_mut().and_then(|reply| reply.posted(message));
        if let Some(content) = posted {
            self.remember_part(message, content);
            self.part_known();
        }
    }

    /// Records that one more part is known to be in the channel. This is stored before the next part leaves.
    fn part_known(&mut self) {
        if self.lanes.reply.as_ref().is_some_and(ReplyDelivery::is_whole) {
            return self.finish_reply();
        }
        self.turns.commit.change();
        if let Some(reply) = self.lanes.reply.as_mut() {
            reply.needs(self.turns.commit.newest());
        }
    }

    fn remember_part(&mut self, id: MessageId, content: Arc<str>) {
        let Some(agent) = self.lanes.reply.as_ref().map(|reply| reply.stored().agent) else {
            return;
        };
        if let Some(user) = self.cx.directory.user(agent) {
            // Other agents must get it even if its event is lost.
            let (place, author) = ((self.turns.channel, id), (user, Some(agent)));
            let beside =
                self.lanes.reply.as_ref().and_then(|reply| reply.beside(id)).unwrap_or_default();
            let own = own_message(self.cx, place, author, &beside, content);
            self.remember_own(own);
        }
    }

    pub(super) fn part_failed(&mut self, failure: &Failure) {
        let Some(reply) = self.lanes.reply.as_mut() else {
            return;
        };
        let was = reply.stored().waiting_since;
        let after = reply.failed(self.now, failure);
        let (channel, failure) = (self.turns.channel, failure.post_failure());
        if after == AfterFailure::WithoutFiles {
            tracing::warn!(%channel, why = %failure, "the files of a reply were not posted");
        }
        if after == AfterFailure::GiveUp {
            tracing::warn!(%channel, why = %failure, "a reply was not posted");
            return self.give_reply_up(Some(failure));
        }
        self.keep_wait(was);
    }

    /// Stores since when the reply waits, if that has changed, so that a restart does not begin the hour anew.
    fn keep_wait(&mut self, was: Option<Timestamp>) {
        if self.lanes.reply.as_ref().is_some_and(|reply| reply.stored().waiting_since != was) {
            self.turns.commit.change();
        }
    }

    pub(super) fn parts_searched(&mut self, id: ActionId, outcome: Outcome) {
        if !self.lanes.voice.end(id) {
            return self.lingering_ended(id, None);
        }
        match outcome.into_page() {
            Some(Ok(page)) => self.look_for_parts(page),
            Some(Err(failure)) if failure.trouble() == Trouble::Definite => self.parts_unreadable(),
            Some(Err(failure)) => self.part_failed(&failure),
            None => {}
        }
    }

    fn look_for_parts(&mut self, page: Vec<ChatMessage>) {
        let (channel, newest) = (self.turns.channel, self.turns.view().newest());
        let Some(reply) = self.lanes.reply.as_mut() else {
            return;
        };
        let account = self.cx.directory.user(reply.stored().agent);
        let was = reply.stored().waiting_since;
        let facts = SearchFacts { chat: self.cx.chat, channel, account, newest };
        let Some(found) = reply.searched(self.now, page, &facts) else {
            return self.parts_unreadable();
        };
        if found.is_empty() {
            return self.keep_wait(was);
        }
        // An event of the same part may still come, and must not count as the next one.
        self.lanes.voice.has_landed();
        for (id, part) in found {
            self.remember_part(id, part);
        }
        self.part_known();
    }

    fn parts_unreadable(&mut self) {
        let may_repeat = self.lanes.reply.as_mut().is_none_or(|reply| reply.unreadable(self.now));
        if !may_repeat {
            // Posting now could double it, so it is given up and handed back.
            let channel = self.turns.channel;
            tracing::warn!(%channel, "whether a reply was posted is unknown");
            self.give_reply_up(None);
        }
    }
}

/// Returns when the room gives up the reply, while it waits for a chat that is away.
pub(super) fn given_up_at(turns: &Turns, reply: &ReplyDelivery) -> Option<Timestamp> {
    let since = reply.stored().waiting_since?;
    // The machine counts from its own outage. Before its end it would grant the next turn beside this reply.
    let away = turns.view().chat_away_since().unwrap_or(since);
    Some(since.max(away) + turns.machine.config().deadlines.outage_max)
}
