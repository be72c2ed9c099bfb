//! Calling hosted agents, and posting what they answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use dirigent_core::{
    AgentKey, Answer, Author, Input, MessageId, Outcome, PhaseKind, RunId, Tail, Ticket, Timestamp,
    TurnId,
};
use futures_util::FutureExt;

use crate::attempt::Known;
use crate::mentions::mentioned;
use crate::room::{Active, Call, Room, Work};
use crate::shared::{Hosted, RoomRef, Shared};
use crate::split::split_reply;
use crate::store::{Outgoing, OutgoingPart};
use crate::{
    AgentError, AuthorKind, ChatKind, ChatMessage, Mentions, Nonce, Post, Reply, ReplyEnd, Turn,
    UserId,
};

/// A call that is ready to be made.
pub(crate) struct HostedCall {
    room: Arc<Room>,
    /// Lets the channel leave memory when the call is over.
    held: Option<RoomRef>,
    hosted: Hosted,
    call: Call,
    turn: Turn,
}

/// Runs of hosted agents are named by the debt that called for them, so that a turn that is given
/// again is another run; beyond the names that hosts give.
const HOSTED: u64 = 1 << 63;

impl Shared {
    /// Asks the gate for a hosted agent; if it may run, it is called once that is stored.
    pub(crate) fn ask_for_hosted(
        &self,
        room: &Arc<Room>,
        ticket: Ticket,
        agent: AgentKey,
        turn: Option<TurnId>,
        attempt: u8,
    ) {
        let run = RunId::new(HOSTED | ticket.get());
        let gate = Input::Gate { agent: Some(agent), run: Some(run), latest: None };
        let _ = room.submit_with(self, &gate, |state, answer| {
            if let Ok(Answer::Verdict(verdict)) = answer {
                if verdict.is_allowed() {
                    state.work.push_back(Work::Call { agent, turn, run, attempt });
                }
            }
        });
    }

    /// The permission is stored: the agent is called.
    pub(crate) async fn call(
        self: &Arc<Self>,
        room: &Arc<Room>,
        agent: AgentKey,
        turn: Option<TurnId>,
        run: RunId,
        attempt: u8,
    ) {
        let Some((name, hosted)) = self.hosted(agent) else {
            let outcome = Outcome::Failed;
            let _ = room.submit(self, &Input::RunEnded { agent, run: Some(run), outcome });
            return;
        };
        let number = turn.unwrap_or_default();
        let (newest, missed) = self.missed(room, agent, number).await;
        let mut state = room.lock();
        let late = state.active().take_late(agent);
        let given = Turn::new(room.id, name, number).with_attempt(attempt);
        let given = given.with_missed(newest, missed).with_late_answer(late);
        let given = if turn.is_none() { given.after_reminder() } else { given };
        if state.channel.view().phase() == PhaseKind::Waiting {
            given.link().pause(true);
        }
        let call = Call { agent, turn, run, link: Arc::clone(given.link()) };
        if let Some(older) = state.active().call.replace(call.clone()) {
            older.link.cancel();
        }
        drop(state);
        let held = self.awake(room.id);
        let ready = HostedCall { room: Arc::clone(room), held, hosted, call, turn: given };
        self.run_beside(Box::pin(Arc::clone(self).make_call(ready)));
    }

    /// Makes the call and takes in what comes of it.
    pub(crate) async fn make_call(self: Arc<Self>, ready: HostedCall) {
        let HostedCall { room, held: _held, hosted, call, turn } = ready;
        if call.link.is_cancelled() {
            return self.end_call(&room, &call, &Outcome::Pass);
        }
        let speaking = async { hosted.agent.speak(turn).await };
        let speaking = AssertUnwindSafe(speaking).catch_unwind();
        let answer = if self.settings.typing {
            self.while_typing(&room, &call, hosted.discord.as_ref(), speaking).await
        } else {
            speaking.await
        };
        if !call.link.close() {
            // It did not take all that people said: whoever is next is handed it.
            room.lock().active().is_held_given = false;
        }
        let reply = answer.unwrap_or_else(|_| Err(AgentError::from("the agent panicked")));
        let text = match reply {
            Ok(Reply::Say(text)) => Some(text),
            Ok(Reply::Pass) => None,
            Err(_) => {
                tracing::warn!(channel = %room.id, agent = %call.agent, "a hosted agent failed");
                return self.end_call(&room, &call, &Outcome::Failed);
            }
        };
        let Some((words, end)) = text.as_deref().and_then(|text| self.settings.reply(text)) else {
            return self.end_call(&room, &call, &Outcome::Pass);
        };
        // While a person is being answered, nobody else speaks.
        call.link.resumed().await;
        self.send_reply(&room, &call, words, end);
    }

    fn end_call(&self, room: &Arc<Room>, call: &Call, outcome: &Outcome) {
        let run = Some(call.run);
        let input = Input::RunEnded { agent: call.agent, run, outcome: *outcome };
        let _ = room.submit_with(self, &input, |state, _| {
            let active = state.active();
            if active.call.as_ref().is_some_and(|known| known.run == call.run) {
                active.call = None;
            }
        });
    }

    /// Writes the reply down, part by part; it is posted once that is stored. A reply whose turn
    /// was taken away is not posted at all.
    fn send_reply(&self, room: &Arc<Room>, call: &Call, words: &str, end: ReplyEnd) {
        let now = self.clock.now().as_millis();
        let parts = split_reply(words).into_iter().zip(0_u64..).map(|(content, number)| {
            let nonce = Nonce::from_parts(room.id.get(), now, call.run.get() << 8 | number);
            OutgoingPart { content, nonce, posted: None }
        });
        let turn = call.turn.unwrap_or_default();
        let parts = parts.collect();
        let outgoing = Outgoing { agent: call.agent, turn, run: call.run, end, parts };
        let mut state = room.lock();
        let current = state.active().call.as_ref().is_some_and(|known| known.run == call.run);
        if !current || call.link.is_cancelled() {
            state.active().keep_late(call.agent, words);
            drop(state);
            return self.end_call(room, call, &Outcome::Pass);
        }
        state.active().outgoing = Some(Arc::new(outgoing));
        state.stored_machine = None;
        state.work.push_back(Work::Post { in_doubt: None });
        room.settle_down(self, &mut state);
    }

    /// Posts the next part of a reply. What was posted is stored before the part after it, so that
    /// a restart goes on where it was; after the last one the machine is told.
    pub(crate) async fn post_outgoing(&self, room: &Arc<Room>, in_doubt: Option<Timestamp>) {
        let outgoing = room.lock().active().outgoing.clone();
        let Some(outgoing) = outgoing else {
            return;
        };
        let next = outgoing.parts.iter().position(|part| part.posted.is_none());
        let posted = match next.and_then(|at| outgoing.parts.get(at)) {
            Some(part) => self.post_part(room, &outgoing, part, in_doubt).await,
            None => None,
        };
        let (Some(at), Some(id)) = (next, posted) else {
            return self.finish_reply(room, &outgoing);
        };
        let mut outgoing = Outgoing::clone(&outgoing);
        if let Some(part) = outgoing.parts.get_mut(at) {
            part.posted = Some(id);
        }
        if at + 1 == outgoing.parts.len() {
            return self.finish_reply(room, &outgoing);
        }
        let mut state = room.lock();
        state.active().outgoing = Some(Arc::new(outgoing));
        state.stored_machine = None;
        state.work.push_back(Work::Post { in_doubt: None });
    }

    /// Posts one part; `None` when it was not posted or its turn was taken away.
    async fn post_part(
        &self,
        room: &Arc<Room>,
        outgoing: &Outgoing,
        part: &OutgoingPart,
        in_doubt: Option<Timestamp>,
    ) -> Option<MessageId> {
        let (_, hosted) = self.hosted(outgoing.agent)?;
        let user = self.registry.user(outgoing.agent)?;
        let now = self.clock.now();
        let at = self.pacer.reserve(now, room.id, None);
        if at > now {
            self.clock.sleep_until(at).await;
        }
        if !still_speaks(room, outgoing) {
            return None;
        }
        let post = Post {
            channel: room.id,
            content: part.content.clone(),
            nonce: part.nonce.clone(),
            mentions: Mentions::Nobody,
            reply_to: None,
        };
        let after = room.lock().channel.view().anchor().max(outgoing.newest_posted());
        let known = Known { in_doubt, own: Some((user, after)) };
        match self.post(hosted.discord.as_ref(), post, known).await {
            Ok(posted) => {
                self.remember_own(room, posted.id, part, user);
                Some(posted.id)
            }
            Err(error) => {
                tracing::warn!(channel = %room.id, %error, "a part of a reply was not posted");
                None
            }
        }
    }

    /// The other agents shall see what was said even if no event of it arrives.
    fn remember_own(&self, room: &Room, id: MessageId, part: &OutgoingPart, author: UserId) {
        let message = ChatMessage {
            id,
            channel: room.id,
            author,
            author_kind: AuthorKind::Bot,
            kind: ChatKind::Default,
            content: part.content.clone(),
            nonce: None,
        };
        let most = self.settings.missed_max;
        room.lock().active().remember(Arc::new(message), most);
    }

    /// The reply is in the channel, or as much of it as could be posted.
    pub(crate) fn finish_reply(&self, room: &Arc<Room>, outgoing: &Outgoing) {
        let (agent, run) = (outgoing.agent, Some(outgoing.run));
        let messages: Vec<_> = outgoing.parts.iter().filter_map(|part| part.posted).collect();
        let outcome = if messages.is_empty() {
            Outcome::Failed
        } else {
            let receipt = Input::Receipt { agent, run, messages };
            if let Err(refusal) = room.submit(self, &receipt) {
                tracing::debug!(channel = %room.id, %refusal, "a reply came after its turn");
            }
            // The receipt confirms; nothing is compared any more.
            let tail = Tail::EMPTY;
            match outgoing.end {
                ReplyEnd::Finished => Outcome::Spoke { tail },
                ReplyEnd::Unfinished => Outcome::Unfinished { tail },
                ReplyEnd::AwaitsHuman => Outcome::AwaitsHuman { tail },
            }
        };
        let _ = room.submit_with(self, &Input::RunEnded { agent, run, outcome }, |state, _| {
            let active = state.active();
            active.outgoing = None;
            active.call = None;
            state.stored_machine = None;
        });
    }
}

/// The longest late answer that is kept, in bytes.
const LATE_MAX: usize = 32 * 1024;

impl Active {
    /// Keeps what an agent said too late for its next turn; of each agent the newest.
    fn keep_late(&mut self, agent: AgentKey, words: &str) {
        self.take_late(agent);
        if words.len() <= LATE_MAX && self.late.len() < dirigent_core::AGENTS_MAX {
            self.late.push((agent, words.into()));
        }
    }

    fn take_late(&mut self, agent: AgentKey) -> Option<Arc<str>> {
        let at = self.late.iter().position(|(known, _)| *known == agent)?;
        Some(self.late.swap_remove(at).1)
    }
}

impl Outgoing {
    /// The newest of its messages that are known to be in the channel.
    pub(crate) fn newest_posted(&self) -> Option<MessageId> {
        self.parts.iter().filter_map(|part| part.posted).max()
    }
}

/// Whether the run that wrote the reply still holds the floor.
fn still_speaks(room: &Room, outgoing: &Outgoing) -> bool {
    let state = room.lock();
    let cancelled = state.active.as_ref().and_then(|active| active.call.as_ref());
    let cancelled = cancelled.is_some_and(|call| call.link.is_cancelled());
    let view = state.channel.view();
    let holds = view.speaker().or(view.permit()) == Some(outgoing.agent);
    let holds = holds && view.run() == Some(outgoing.run);
    !cancelled && holds && view.rest() != Some(dirigent_core::Rest::Stopped)
}

impl Shared {
    /// Takes a message in: who wrote it, what it is, and what the machine makes of it.
    pub(crate) fn take_message(&self, room: &Arc<Room>, message: ChatMessage) {
        let author = self.registry.author(&message);
        let digest = self.digest(&message, author);
        let addressed = match author {
            Author::Human if self.config().mention_rounds => {
                self.mentioned_agents(&message.content)
            }
            Author::Human | Author::Agent(_) | Author::Bot | Author::Moderator | _ => Vec::new(),
        };
        let most = self.settings.missed_max;
        let message = Arc::new(message);
        {
            let mut state = room.lock();
            let wanted = state.channel.view().mode().keeps_turns() && author != Author::Moderator;
            if wanted {
                state.active().remember(message, most);
            }
        }
        let input = if addressed.is_empty() {
            Input::Message(digest)
        } else {
            Input::Addressed { message: digest, agents: addressed }
        };
        let _ = room.submit(self, &input);
    }

    /// The registered agents that a text mentions, in the order in which it does.
    fn mentioned_agents(&self, text: &str) -> Vec<AgentKey> {
        mentioned(text).into_iter().filter_map(|user| self.registry.of_user(user)).collect()
    }

    /// What the machine needs to know of a message.
    pub(crate) fn digest(&self, message: &ChatMessage, author: Author) -> dirigent_core::Message {
        use dirigent_core::MessageKind;
        let text = &message.content;
        let kind = match message.kind {
            ChatKind::System => MessageKind::System,
            _ if crate::Settings::is_word(&self.settings.stop_words, text) => MessageKind::StopWord,
            _ if crate::Settings::is_word(&self.settings.resume_words, text) => {
                MessageKind::ResumeWord
            }
            ChatKind::Default | ChatKind::Reply => MessageKind::Conversation,
        };
        dirigent_core::Message { id: message.id, author, kind, tail: Tail::of(text) }
    }
}
