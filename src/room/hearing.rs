//! The messages of the channel, pushed or read, for the turn machine, and for agents that miss them.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::config::MentionRule;
use dirigent_core::{
    AgentKey, Author, Input, Message, MessageId, MessageKind, PhaseKind, Refusal, Tail, Timestamp,
};

use super::addressing::{addressed, is_for_another};
use super::commands::{Commands, DELETED_MAX};
use super::context::Context;
use super::marks::CLOCKS_APART;
use super::step::Step;
use super::turns::Turns;
use crate::ChatMessage;
use crate::values::message::{AuthorKind, ChatKind};

/// The age of a person's message above which an edit no longer makes it a stop word.
const EDIT_STOPS_FOR: Duration = Duration::from_secs(300);
impl Step<'_> {
    /// Handles a message of the channel, for the machine and for agents that have to get it. Returns a person's message
    /// that comes late, and that must not be left behind when the channel becomes dormant.
    pub(super) fn hear(
        &mut self,
        message: ChatMessage,
        backfilled: bool,
        is_known: bool,
    ) -> Option<MessageId> {
        let cx = self.cx;
        let mut author = cx.directory.author(&message);
        self.see_stray(&message, author);
        let mut digest = digest(cx, &message, author, backfilled);
        // A bridge that mirrors both ways would let agents talk to themselves for ever. A stop always counts.
        if message.author_kind == AuthorKind::Bridged
            && digest.kind != MessageKind::StopWord
            && self.lanes.commands.bridged_too_often(self.now)
        {
            author = Author::Bot;
            digest.author = author;
        }
        if author == Author::Human && self.resumes_nothing(&digest) {
            digest.kind = MessageKind::Conversation;
        }
        // Before the machine, because the first sign of an observed agent begins its run.
        self.observe_message(&message, &mut digest);
        let is_hidden = author == Author::Human && message.hides_all();
        let is_aside = author == Author::Human && self.is_aside(&message, &digest);
        let may_copy =
            message.author_kind == AuthorKind::Bridged && digest.kind == MessageKind::Conversation;
        // The copy of a deleted message must not ask the same question again.
        if let Some(original) =
            may_copy.then(|| self.lanes.commands.copied(&message, self.now)).flatten()
        {
            self.take_copy(original, message, &digest);
            return None;
        }
        if is_hidden || is_aside || self.is_echo(&message, author) {
            // It wakes, requests and counts nothing, because agents could only guess what they cannot see.
            digest.kind = MessageKind::System;
        }
        let agents = self.note_addressed(&message, author);
        self.note_stop(&digest);
        if author == Author::Human && self.cx.settings.reading.skip_repetitions {
            self.lanes.inbox.talk.begin(&message.content, self.cx.directory.name_words());
        }
        // With a stop or a resume word a person asks no agent for anything.
        let is_command = is_word(digest.kind) && author == Author::Human;
        if is_command {
            // Events may come out of order. An older word must not undo a newer one or an operator's command.
            if self.comes_late(&digest) {
                self.note(&digest);
                return None;
            }
            self.lanes.commands.word = Some(digest.id);
        }
        let input = if agents.is_empty() {
            Input::Message(digest)
        } else {
            Input::Addressed { message: digest, agents }
        };
        let answer = self.turns.submit(cx, self.now, &input);
        let is_new = answer.is_ok();
        // A lower id than those that were read proves nothing: our clock may be ahead, or the event may be late.
        let is_known = is_known && answer == Err(Refusal::RepeatedMessage);
        let is_said =
            !is_hidden && (digest.kind != MessageKind::System || author != Author::Moderator);
        if !is_known && !is_command && is_said {
            self.remember(message, author);
        }
        let is_talk = author == Author::Human && digest.kind == MessageKind::Conversation;
        if is_new && is_talk { self.comes_behind(digest.id) } else { None }
    }

    /// Returns whether a person's word would resume the channel, but it is not paused. It is then an ordinary message.
    /// An older stop word that comes later still has no effect.
    fn resumes_nothing(&mut self, word: &Message) -> bool {
        let resumes_nothing =
            word.kind == MessageKind::ResumeWord && self.turns.view().pause().is_none();
        if resumes_nothing {
            self.lanes.commands.word = self.lanes.commands.word.max(Some(word.id));
        }
        resumes_nothing
    }

    /// Returns whether people talk to each other, and the host wants agents to stay out of it.
    fn is_aside(&self, message: &ChatMessage, digest: &Message) -> bool {
        let Context { directory, settings, .. } = self.cx;
        settings.reading.skip_talk_of_people
            && digest.kind == MessageKind::Conversation
            && is_for_another(directory, message)
    }

    /// Returns whether an agent of another gateway, without the floor, repeats what was said before.
    fn is_echo(&mut self, message: &ChatMessage, author: Author) -> bool {
        let Author::Agent(agent) = author else {
            return false;
        };
        // The reply of these agents is compared when it is delivered, or when its run ends.
        let is_other =
            self.cx.directory.is_hosted(agent) || self.cx.directory.observed(agent).is_some();
        if !self.cx.settings.reading.skip_repetitions || is_other {
            return false;
        }
        // Nothing is compared while the agents are silent, so that a first message always counts.
        let view = self.turns.view();
        let talks = view.speaker().is_some() || view.phase() == PhaseKind::Refreshing;
        let has_floor = [view.speaker(), view.permit()].contains(&Some(agent));
        let is_text = !message.shows_more();
        if !talks || has_floor || !is_text || message.kind == ChatKind::System {
            return false;
        }
        let said = (&*message.content, None);
        self.lanes.inbox.talk.echoes(agent, said, self.cx.directory.name_words())
    }

    /// Returns a person's message if it comes after newer ones, because the current turn may end without it.
    fn comes_behind(&self, id: MessageId) -> Option<MessageId> {
        let is_late = self.turns.keeps_turns() && Some(id) < self.turns.view().newest();
        is_late.then_some(id)
    }

    /// Returns whether a person's stop or resume word was pushed after a newer word, or, for a resume word, after an
    /// operator's command. The chat's clock may differ from ours, so a stop word that is only behind a command still
    /// acts.
    fn comes_late(&self, word: &Message) -> bool {
        let resumed = (word.kind == MessageKind::ResumeWord).then(|| self.cx.chat.sent_at(word.id));
        let is_undone = |commanded| resumed.is_some_and(|sent| sent + CLOCKS_APART < commanded);
        let Commands { word: newest, commanded_at, .. } = self.lanes.commands;
        // The newest word wins, whichever arrives first.
        newest > Some(word.id) || commanded_at.is_some_and(is_undone)
    }

    /// Deletes a trigger that was withdrawn in doubt and did arrive.
    fn see_stray(&mut self, message: &ChatMessage, author: Author) {
        // The author is compared, because anyone can copy a nonce.
        if let (Author::Moderator, Some(nonce)) = (author, message.nonce) {
            self.turns.restored.see(nonce, message.id);
            if let Some(cleanup) = &mut self.lanes.cleanup {
                cleanup.see(nonce, message.id, self.turns.commit.newest());
            }
        }
    }

    /// Returns the agents that the message asks to speak first.
    fn note_addressed(&mut self, message: &ChatMessage, author: Author) -> Vec<AgentKey> {
        let mentions = self.turns.machine.config().people.mentions;
        if author != Author::Human || mentions == MentionRule::Ignored {
            return Vec::new();
        }
        let Some(addressed) = addressed(self.cx.directory, message) else {
            return Vec::new();
        };
        let agents = addressed.agents.clone();
        self.lanes.commands.addressed = Some(Box::new(addressed));
        agents
    }

    /// Handles a message that is read after it was written. A person's recent word, and the speaker's text while its
    /// turn is being confirmed, count as if they came now. With `acts`, it is the newest of its page among the words
    /// with which people stop and resume. Returns what to hand over, like [`Step::hear`].
    pub(super) fn hear_late(&mut self, message: ChatMessage, acts: bool) -> Option<MessageId> {
        let cx = self.cx;
        let author = cx.directory.author(&message);
        self.see_stray(&message, author);
        let is_human = author == Author::Human;
        let digest = digest(cx, &message, author, true);
        if is_human && is_word(digest.kind) && !self.resumes_nothing(&digest) {
            self.take_word(&digest, acts);
            return None;
        }
        let is_recent = self.is_recent(cx.chat.sent_at(message.id));
        let view = self.turns.view();
        // A text of the speaker is a piece of its reply, whether it was pushed or read.
        let speaks = view.speaker().filter(|_| view.phase() != PhaseKind::Granted);
        let speaks = speaks.or(view.permit()).map(Author::Agent) == Some(author);
        let is_awaited = match author {
            // A text from before its turn is no piece of it.
            Author::Agent(agent) if self.is_watched(agent) => {
                self.is_of_its_turn(agent, message.id)
            }
            Author::Agent(_) | Author::Human | Author::Bot | Author::Moderator | _ => speaks,
        };
        // Only these change the turn. Everything else from before is for the agents' context.
        if is_awaited || (is_human && is_recent) {
            return self.hear(message, true, false);
        }
        let is_of_no_turn = self.is_of_no_turn(&message, &digest);
        if digest.kind != MessageKind::System && !message.hides_all() {
            if is_human {
                // Otherwise an operator looks in vain for the reason why a question got no answer.
                let channel = self.turns.channel;
                tracing::info!(%channel, "a message was missed and is too old to wake");
            }
            self.remember(message, author);
        }
        if is_of_no_turn {
            let digest = Message { kind: MessageKind::OutOfTurn, ..digest };
            // It may have been pushed in the meantime.
            let _ = self.turns.submit(cx, self.now, &Input::Message(digest));
        } else {
            self.note(&digest);
        }
        None
    }

    /// Returns whether a person's missed word with this time still wakes the channel. If this process was up and did
    /// not hear it, the person waits for an answer, as in any other outage.
    fn is_recent(&self, sent: Timestamp) -> bool {
        let wake_max = self.cx.settings.time_limits.missed_wake_max;
        let outage_max = self.turns.machine.config().deadlines.outage_max;
        // The shorter limit is for a process that was down, because people do not wait for a bot that is off.
        let most = if sent >= self.cx.up_since.at() { wake_max.max(outage_max) } else { wake_max };
        self.now.since(sent) < most
    }

    /// Handles a person's stop or resume word that was read. Of those of a page the newest acts, unless a newer word or
    /// an operator has acted. The others are only remembered.
    fn take_word(&mut self, word: &Message, is_newest: bool) {
        self.note_stop(word);
        let sent = self.cx.chat.sent_at(word.id);
        let Commands { word: newest, commanded_at, .. } = self.lanes.commands;
        let is_overtaken =
            newest > Some(word.id) || commanded_at.is_some_and(|commanded| sent < commanded);
        if is_overtaken || !is_newest {
            return self.note(word);
        }
        self.lanes.commands.word = Some(word.id);
        let _ = self.turns.submit(self.cx, self.now, &Input::Message(*word));
    }

    fn note_stop(&mut self, message: &Message) {
        if message.kind == MessageKind::StopWord && message.author == Author::Human {
            self.lanes.commands.is_new_stop(message.id);
        }
    }

    /// Handles an edit. If it makes a person's message a stop word, the channel stops, because a person who sees agents
    /// go on after a typing mistake corrects the message. The chat also reports an edit with an unchanged text when a
    /// link is unfurled or the message is pinned. Such an edit does not stop the channel, and neither does that of an
    /// old message.
    pub(super) fn hear_edit(&mut self, message: &Message) {
        let is_stop = message.author == Author::Human && message.kind == MessageKind::StopWord;
        // An edit back to an ordinary message makes the next edit to a stop word a new one.
        if !is_stop {
            self.lanes.commands.stops.retain(|known| *known != message.id);
            return;
        }
        let is_recent = self.now.since(self.cx.chat.sent_at(message.id)) <= EDIT_STOPS_FOR;
        if self.lanes.commands.is_new_stop(message.id) && is_recent {
            // It is refused if the channel is already stopped.
            let _ = self.turns.submit(self.cx, self.now, &Input::EditedToStop(message.id));
        }
    }

    /// Handles a deletion, if the host lets people take a question back.
    pub(super) fn hear_deletion(&mut self, id: MessageId) {
        let is_owed = |turns: &Turns| {
            let view = turns.view();
            view.is_wake_pending() || view.is_wake_unserved()
        };
        let was_owed = is_owed(self.turns);
        let _ = self.turns.submit(self.cx, self.now, &Input::Deleted(id));
        // If it was taken back because all agents failed with it, a repetition is a question of its own.
        let is_withdrawn = was_owed && !is_owed(self.turns);
        let inbox = &mut self.lanes.inbox;
        // Only agents that got the original could answer a copy of it again.
        let is_brought = !is_withdrawn && inbox.was_brought(id);
        let known = inbox.texts().get(id).filter(|it| is_brought && it.is_by_person());
        if let Some(message) = known.cloned() {
            if self.lanes.commands.deleted.len() >= DELETED_MAX {
                self.lanes.commands.deleted.pop_front();
            }
            self.lanes.commands.deleted.push_back((self.now, message));
        }
        inbox.deleted(id);
    }

    /// Handles a message that repeats a deleted one that agents got. It takes the place of that message and wakes no
    /// agent, because the question is being answered or was.
    fn take_copy(&mut self, original: MessageId, mut message: ChatMessage, digest: &Message) {
        // An agent that spoke last need not see the moderator's messages as news.
        let noted = Message { author: Author::Moderator, kind: MessageKind::System, ..*digest };
        if self.turns.submit(self.cx, self.now, &Input::Message(noted)).is_ok() {
            self.cx.directory.name_author(&mut message, Author::Human);
            self.lanes.inbox.remember_copy(original, Arc::new(message));
        }
    }

    /// Tells the machine only that the message exists.
    fn note(&mut self, message: &Message) {
        let noted = Message { kind: MessageKind::System, ..*message };
        // It may have been pushed in the meantime.
        let _ = self.turns.submit(self.cx, self.now, &Input::Message(noted));
    }
}

const fn is_word(kind: MessageKind) -> bool {
    matches!(kind, MessageKind::StopWord | MessageKind::ResumeWord)
}

pub(super) fn is_word_of_person(cx: &Context<'_>, message: &ChatMessage) -> bool {
    let author = cx.directory.author(message);
    author == Author::Human && is_word(digest(cx, message, author, true).kind)
}

/// Returns whether agents get this message. They do not get stop words, or posts of the moderator. (Whether the channel
/// was paused when a person wrote a resume word is no longer known.)
pub(super) fn is_handed(cx: &Context<'_>, message: &ChatMessage, author: Author) -> bool {
    let stops = || digest(cx, message, author, true).kind == MessageKind::StopWord;
    author != Author::Moderator
        && message.kind != ChatKind::System
        && !message.hides_all()
        && !(author == Author::Human && stops())
}

/// Returns the properties of a message that the machine needs.
pub(super) fn digest(
    cx: &Context<'_>,
    message: &ChatMessage,
    author: Author,
    backfilled: bool,
) -> Message {
    let (text, moderator) = (&message.content, cx.directory.moderator());
    let says_nothing = |text| {
        let by_agent = matches!(author, Author::Agent(_)) && message.attachments.is_empty();
        let reading = &cx.settings.reading;
        by_agent && (reading.completion.is_only_signal(text) || reading.silence.is_notice(text))
    };
    let kind = match message.kind {
        ChatKind::System => MessageKind::System,
        // A host that posts the signal may post it after the reply was recognised. Its notice of a failed run is no
        // text of the agent's.
        _ if says_nothing(text) => MessageKind::System,
        _ if cx.settings.reading.is_stop_word(text, moderator) => MessageKind::StopWord,
        _ if cx.settings.reading.is_resume_word(text, moderator) => MessageKind::ResumeWord,
        ChatKind::Default | ChatKind::Reply => MessageKind::Conversation,
    };
    Message { id: message.id, author, kind, tail: tail_of(cx, message), backfilled }
}

/// Returns the tail of the message. Files count as text, too. Embeds count if there are no words, because beside words
/// they may be previews of links.
pub(super) fn tail_of(cx: &Context<'_>, message: &ChatMessage) -> Tail {
    let tail = cx.settings.reading.tail(&message.content);
    // A reply that is shown as an embed alone once made its turn wait 15 s, because it had no words to compare.
    let shows = message.embeds > 0 && message.content.trim().is_empty();
    if shows || !message.attachments.is_empty() { tail.with_attachment() } else { tail }
}
