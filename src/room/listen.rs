//! What is said in the channel, pushed or read, and what may have been missed.

use std::sync::Arc;

use dirigent_core::{
    AgentKey, Answer, Author, Input, Message, MessageId, MessageKind, PhaseKind, Refusal, Tail,
    Timestamp,
};

use super::Room;
use super::commit::Stamp;
use super::context::Context;
use super::marks::CLOCKS_APART;
use super::reads::{Read, ReadKind};
use crate::{ChatKind, ChatMessage, Held};

impl Room {
    /// A message was pushed.
    pub(crate) fn pushed(&mut self, cx: &Context<'_>, now: Timestamp, message: ChatMessage) {
        self.reach(now);
        self.read_untold(now);
        self.hear(cx, now);
        if self.keeps_turns() {
            self.marks.pushed(message.id);
        }
        let (id, author) = (message.id, cx.directory.author(&message));
        let has_arrived = match (&message.nonce, &mut self.active) {
            (Some(nonce), Some(active)) => active.arrived(nonce, author, id),
            _ => false,
        };
        self.take_message(cx, now, message, false);
        if has_arrived {
            self.head_posted(cx, now, id);
        }
        self.settle(cx, now);
    }

    /// A message was edited.
    pub(crate) fn edited(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        message: ChatMessage,
    ) -> Result<Answer, Refusal> {
        let author = cx.directory.author(&message);
        let tail = tail_of(cx, &message);
        let edited = Input::MessageEdited { id: message.id, author, tail };
        if let Some(active) = &mut self.active {
            active.inbox.changed(message);
        }
        self.input(cx, now, &edited, false).0
    }

    /// A message was deleted: agents that missed it are not handed it.
    pub(crate) fn deleted(&mut self, message: MessageId) {
        if let Some(active) = &mut self.active {
            active.inbox.deleted(message);
        }
    }

    /// Events may have been lost. That says nothing about whether the gateway tells of the channel now.
    pub(crate) fn open_gap(&mut self, cx: &Context<'_>, now: Timestamp) {
        self.reach(now);
        self.miss(now);
        self.settle(cx, now);
    }

    /// The gateway tells of the channel again, and events may have been lost.
    pub(crate) fn reconnected(&mut self, cx: &Context<'_>, now: Timestamp) {
        self.reach(now);
        self.hear(cx, now);
        self.miss(now);
        self.settle(cx, now);
    }

    /// What may have been said unheard is read, where it matters.
    fn miss(&mut self, now: Timestamp) {
        self.newest_told();
        if self.keeps_turns() {
            self.marks.open_gap(now, None);
            self.want_gap();
        }
    }

    /// Something else is told where the newest message is waited for: it would have been told before, and what was
    /// missed is read instead.
    fn read_untold(&mut self, now: Timestamp) {
        if self.active.as_ref().is_some_and(|active| active.chat.awaits_newest()) {
            self.miss(now);
        }
    }

    fn newest_told(&mut self) {
        if let Some(active) = &mut self.active {
            active.chat.newest_told();
        }
    }

    /// The gateway tells of the channel again, and the chat says that no message of it is newer than this one.
    pub(crate) fn newest(&mut self, cx: &Context<'_>, now: Timestamp, newest: MessageId) {
        if !self.marks.covers(newest) {
            return self.reconnected(cx, now);
        }
        self.newest_told();
        self.heard_again(cx, now);
    }

    /// The connection to the gateway is lost: nothing that is said is heard.
    pub(crate) fn lose_gateway(&mut self, cx: &Context<'_>, now: Timestamp, since: Timestamp) {
        self.reach(now);
        if self.keeps_turns() {
            self.active().chat.lost_gateway(since.min(now));
        }
        self.settle(cx, now);
    }

    /// A connection to the gateway is back with a new session, and the host is to tell what the channel's newest
    /// message is. Else what was missed is read. `stands`: no other connection that tells of it is lost.
    pub(crate) fn await_newest(&mut self, cx: &Context<'_>, now: Timestamp, stands: bool) {
        self.reach(now);
        if self.keeps_turns() {
            self.active().chat.await_newest(now, stands);
        } else if stands {
            self.hear(cx, now);
        }
        self.settle(cx, now);
    }

    /// The gateway tells of the channel again, and has told what was missed since its session began.
    pub(crate) fn heard_again(&mut self, cx: &Context<'_>, now: Timestamp) {
        self.reach(now);
        self.read_untold(now);
        self.hear(cx, now);
        self.settle(cx, now);
    }

    /// While the gateway is lost, what is said in a channel whose agents talk is read from time to time.
    pub(super) fn look_while_deaf(&mut self, cx: &Context<'_>, now: Timestamp) {
        let talks = self.machine.view().speaker().is_some();
        let Some(active) = &mut self.active else {
            return;
        };
        if active.chat.misses_newest(now) {
            if active.chat.stands() {
                self.hear(cx, now);
            }
            self.miss(now);
        } else if active.chat.looks(now) && talks {
            self.backfill();
        }
    }

    fn hear(&mut self, cx: &Context<'_>, now: Timestamp) {
        let Some(active) = &mut self.active else {
            return;
        };
        let was_deaf = active.chat.hears().is_some();
        let view = self.machine.view();
        if was_deaf && view.chat_away_since().is_some() {
            // After a shorter loss the agents' own connections replay what they missed, and what the host's
            // waker called has heard.
            active.trigger_again = active.called != Some(view.turn());
            self.tell_chat(cx, now);
        }
    }

    /// Triggers the agent that is awaited once more, if it may not have heard its trigger: once the chat
    /// answers, what was said meanwhile was read, and no trigger is on its way.
    pub(super) fn ask_again(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let is_wanted = self.active.as_ref().is_some_and(|active| {
            active.trigger_again && active.voice.is_empty() && !self.marks.is_holding(now)
        });
        let view = self.machine.view();
        if !is_wanted || view.chat_away_since().is_some() {
            return false;
        }
        let is_hosted = view.speaker().is_some_and(|agent| cx.directory.is_hosted(agent));
        self.active().trigger_again = false;
        !is_hosted && self.submit(cx, now, &Input::TriggerAgain).is_ok()
    }

    /// Looks for messages that were lost without notice.
    pub(crate) fn backfill(&mut self) {
        let is_open = self.machine.view().phase() != PhaseKind::Archived;
        if !self.keeps_turns() || !is_open || self.marks.has_gap() {
            return;
        }
        let verified = self.marks.verified();
        let reads = &mut self.active().reads;
        if reads.wanted(ReadKind::Backfill).is_none() {
            reads.want(Read::Backfill(verified), Stamp::default());
        }
    }

    /// The turn machine forgets which messages it has seen, and the channel leaves memory. An event that was lost
    /// without notice could not be told from those that were heard any more: it is looked for now, once.
    pub(super) fn backfill_before_rest(&mut self, cx: &Context<'_>) {
        let looks = cx.settings.lookout.is_some_and(|lookout| lookout.channels > 0);
        if looks && self.marks.is_unverified() {
            self.backfill();
        }
    }

    pub(crate) const fn has_gap(&self) -> bool {
        self.marks.has_gap()
    }

    pub(super) const fn keeps_turns(&self) -> bool {
        self.machine.view().mode().keeps_turns()
    }

    /// A message that is new to the room: for the agents that missed it, and for the machine.
    pub(super) fn take_message(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        message: ChatMessage,
        backfilled: bool,
    ) {
        let author = cx.directory.author(&message);
        self.see_stray(&message, author);
        let digest = digest(cx, &message, author, backfilled);
        let agents = self.addressed(cx, &message, author);
        if digest.kind != MessageKind::System || author != Author::Moderator {
            self.remember(cx, message, author);
        }
        if is_word(digest.kind) && author == Author::Human {
            if self.comes_late(cx, &digest) {
                return self.note(cx, now, &digest);
            }
            self.active().word = Some(digest.id);
        }
        let input = if agents.is_empty() {
            Input::Message(digest)
        } else {
            Input::Addressed { message: digest, agents }
        };
        let is_new = self.submit(cx, now, &input).is_ok();
        if is_new && author == Author::Human && digest.kind == MessageKind::Conversation {
            self.hold_late(digest.id);
        }
    }

    /// A person's message that comes after newer ones is handed to the agent that is called next. From what
    /// was said since its own last words, which is what an agent is given that left memory, it would be
    /// missing.
    fn hold_late(&mut self, id: MessageId) {
        let view = self.machine.view();
        let is_late = self.keeps_turns() && Some(id) < view.newest();
        let any = view.speaker().or_else(|| view.list().next().map(|seat| seat.agent));
        if let Some(agent) = any.filter(|_| is_late) {
            let turn = view.turn();
            self.active().inbox.hold(Held { agent, turn, first: id, last: id });
            self.commit.change();
        }
    }

    /// Whether a person's stop or resume word was pushed behind what overtook it: a newer word, or, for a
    /// resume word, an operator's command. The chat's clock may differ from ours, so a stop word acts there.
    fn comes_late(&mut self, cx: &Context<'_>, word: &Message) -> bool {
        let resumed = (word.kind == MessageKind::ResumeWord).then(|| cx.chat.sent_at(word.id));
        let active = self.active();
        let is_undone = |commanded| resumed.is_some_and(|sent| sent + CLOCKS_APART < commanded);
        active.word > Some(word.id) || active.commanded_at.is_some_and(is_undone)
    }

    /// A trigger that was withdrawn in doubt did arrive: it is deleted.
    fn see_stray(&mut self, message: &ChatMessage, author: Author) {
        let newest = self.commit.newest();
        if let (Author::Moderator, Some(nonce), Some(active)) =
            (author, &message.nonce, &mut self.active)
        {
            active.cleanup.see(nonce, message.id, newest);
        }
    }

    fn addressed(&self, cx: &Context<'_>, message: &ChatMessage, author: Author) -> Vec<AgentKey> {
        if author == Author::Human && self.machine.config().mention_rounds {
            cx.directory.mentioned_in(&message.content)
        } else {
            Vec::new()
        }
    }

    /// Keeps what was said for agents that miss it.
    pub(super) fn remember(&mut self, cx: &Context<'_>, message: ChatMessage, author: Author) {
        if self.keeps_turns() && author != Author::Moderator {
            let most = cx.settings.missed_max;
            self.active().inbox.remember(Arc::new(message), most);
        }
    }

    /// A message that is read after it was said. A person's recent word, and what the speaker said while
    /// its turn is being confirmed, count as if they came now. Returns a person's stop or resume word:
    /// see [`Room::take_word`].
    pub(super) fn take_backfilled(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        message: ChatMessage,
    ) -> Option<Message> {
        let author = cx.directory.author(&message);
        self.see_stray(&message, author);
        let is_human = author == Author::Human;
        let digest = digest(cx, &message, author, true);
        if is_human && is_word(digest.kind) {
            self.remember(cx, message, author);
            return Some(digest);
        }
        let is_recent = self.is_recent(cx, now, cx.chat.sent_at(message.id));
        let view = self.machine.view();
        // What the speaker says is a piece of its reply, whether it was pushed or read.
        let speaks = view.speaker().filter(|_| view.phase() != PhaseKind::Granted);
        let is_awaited = speaks.or(view.permit()).map(Author::Agent) == Some(author);
        if is_awaited || (is_human && is_recent) {
            self.take_message(cx, now, message, true);
            return None;
        }
        if digest.kind != MessageKind::System {
            if is_human {
                tracing::info!(channel = %self.id, "a message was missed and is too old to wake");
            }
            self.remember(cx, message, author);
        }
        self.note(cx, now, &digest);
        None
    }

    /// Whether a person's word that was sent then and missed still wakes the channel. If this process was up and
    /// did not hear it, the person waits for an answer, as in any other outage.
    fn is_recent(&self, cx: &Context<'_>, now: Timestamp, sent: Timestamp) -> bool {
        let wake_max = cx.settings.missed_wake_max;
        let outage_max = self.machine.config().outage_max;
        let most = if sent >= cx.up_since { wake_max.max(outage_max) } else { wake_max };
        now.since(sent) < most
    }

    /// A person's stop or resume word was read. Of those of a page the newest acts, unless a newer word or an
    /// operator has acted. The others are only remembered.
    pub(super) fn take_word(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        word: &Message,
        is_newest: bool,
    ) {
        let sent = cx.chat.sent_at(word.id);
        let active = self.active();
        let is_overtaken = active.word > Some(word.id)
            || active.commanded_at.is_some_and(|commanded| sent < commanded);
        if is_overtaken || !is_newest {
            return self.note(cx, now, word);
        }
        active.word = Some(word.id);
        let _ = self.submit(cx, now, &Input::Message(*word));
    }

    /// The machine knows that the message exists, and makes nothing of it.
    fn note(&mut self, cx: &Context<'_>, now: Timestamp, message: &Message) {
        let noted = Message { kind: MessageKind::System, ..*message };
        // It may have been pushed meanwhile.
        let _ = self.submit(cx, now, &Input::Message(noted));
    }

    /// A post of ours is in the channel. Other agents are to see it even if no event tells of it.
    pub(super) fn remember_own(&mut self, cx: &Context<'_>, message: ChatMessage) {
        if self.keeps_turns() {
            self.marks.note(message.id);
            let most = cx.settings.missed_max;
            self.active().inbox.remember(Arc::new(message), most);
        }
    }
}

const fn is_word(kind: MessageKind) -> bool {
    matches!(kind, MessageKind::StopWord | MessageKind::ResumeWord)
}

/// Whether a person stops or resumes with this message.
pub(super) fn is_word_of_person(cx: &Context<'_>, message: &ChatMessage) -> bool {
    let author = cx.directory.author(message);
    author == Author::Human && is_word(digest(cx, message, author, true).kind)
}

/// What the machine needs to know of a message.
pub(super) fn digest(
    cx: &Context<'_>,
    message: &ChatMessage,
    author: Author,
    backfilled: bool,
) -> Message {
    let (text, moderator) = (&message.content, cx.directory.moderator());
    let says_nothing = |text| {
        let by_agent = matches!(author, Author::Agent(_)) && !message.has_attachments;
        by_agent && cx.settings.completion.is_only_signal(text)
    };
    let kind = match message.kind {
        ChatKind::System => MessageKind::System,
        // A host that posts the signal may post it after the reply has been recognised.
        _ if says_nothing(text) => MessageKind::System,
        _ if cx.settings.is_stop_word(text, moderator) => MessageKind::StopWord,
        _ if cx.settings.is_resume_word(text, moderator) => MessageKind::ResumeWord,
        ChatKind::Default | ChatKind::Reply => MessageKind::Conversation,
    };
    Message { id: message.id, author, kind, tail: tail_of(cx, message), backfilled }
}

/// The end of what the message says; files say something, too.
fn tail_of(cx: &Context<'_>, message: &ChatMessage) -> Tail {
    let tail = cx.settings.tail(&message.content);
    if message.has_attachments { tail.with_attachment() } else { tail }
}
