//! Letting an orchestrator answer people while an agent's turn rests.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use dirigent_core::{AgentKey, Effect, MessageId, Settlement, Ticket, Timestamp, TurnId};
use futures_util::FutureExt;

use crate::agent::TurnLink;
use crate::attempt::Known;
use crate::room::Room;
use crate::shared::{RoomRef, Shared};
use crate::split::split_reply;
use crate::{
    AgentError, AgentId, ApiError, AuthorKind, ChannelId, ChatKind, ChatMessage, ErrorKind,
    Mentions, Nonce, Post, Reply,
};

/// Answers people who speak during an agent's turn, in the agent's place (seed "Message flow",
/// section 4, `interrupt`). Asked where [`HumanInterrupt::Interrupt`](crate::HumanInterrupt) is
/// chosen.
///
/// ```
/// use dirigent::{AgentError, Consultation, Orchestrator, Reply};
///
/// struct FrontDesk;
///
/// #[async_trait::async_trait]
/// impl Orchestrator for FrontDesk {
///     async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError> {
///         Ok(Reply::from(format!("{} is at it; your question comes next.", asked.agent)))
///     }
/// }
/// ```
#[async_trait]
pub trait Orchestrator: Send + Sync + 'static {
    /// Answers these messages. What it says is posted by the moderator, as a reply to the last of
    /// them that pings nobody; with [`Reply::Pass`] nothing is posted, and the messages count as
    /// answered all the same.
    ///
    /// The future is dropped when nobody waits for the answer any more: after
    /// [`Config::consult_deadline`](crate::Config::consult_deadline), at a stop, at the turn's end.
    ///
    /// # Errors
    ///
    /// Any; the messages are then handed to the agent, as if there were no orchestrator. The error's
    /// text is not logged, since it may hold a secret.
    async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError>;
}

/// What an orchestrator is asked. `Debug` shows no text.
#[derive(Clone)]
#[non_exhaustive]
pub struct Consultation {
    /// Where.
    pub channel: ChannelId,
    /// Whose turn rests meanwhile.
    pub agent: AgentId,
    /// Which turn.
    pub turn: TurnId,
    /// What people said, oldest first.
    pub messages: Vec<Arc<ChatMessage>>,
}

impl fmt::Debug for Consultation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consultation")
            .field("channel", &self.channel)
            .field("agent", &self.agent)
            .field("turn", &self.turn)
            .field("messages", &self.messages.len())
            .finish()
    }
}

/// A question to the orchestrator that is owed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) ticket: Ticket,
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) first: MessageId,
    pub(crate) last: MessageId,
}

impl Question {
    const fn effect(&self) -> Effect {
        let Self { ticket, agent, turn, first, last } = *self;
        Effect::Consult { ticket, agent, turn, first, last }
    }
}

/// A question that is about to be put.
struct Asking {
    room: Arc<Room>,
    /// Lets the channel leave memory when it is answered.
    held: Option<RoomRef>,
    orchestrator: Arc<dyn Orchestrator>,
    question: Question,
    asked: Consultation,
    link: Arc<TurnLink>,
}

impl Shared {
    /// Puts the question beside the room's worker, which goes on. Where nobody can be asked, the
    /// turn goes on at once.
    pub(crate) async fn consult(self: &Arc<Self>, room: &Arc<Room>, question: Question) {
        let orchestrator = self.orchestrator.read().unwrap_or_else(PoisonError::into_inner).clone();
        let (Some(orchestrator), Some(agent)) = (orchestrator, self.registry.name(question.agent))
        else {
            return self.settle(room, question.ticket, Settlement::Failed { retry_at: None });
        };
        let messages = self.said_between(room, question.first, question.last).await;
        let asked = Consultation { channel: room.id, agent, turn: question.turn, messages };
        let link = Arc::<TurnLink>::default();
        let older = room.lock().active().consulting.replace(Arc::clone(&link));
        if let Some(older) = older {
            older.cancel();
        }
        let held = self.awake(room.id);
        let room = Arc::clone(room);
        let asking = Asking { room, held, orchestrator, question, asked, link };
        self.run_beside(Box::pin(Arc::clone(self).ask(asking)));
    }

    async fn ask(self: Arc<Self>, asking: Asking) {
        let Asking { room, held: _held, orchestrator, question, asked, link } = asking;
        let answering = AssertUnwindSafe(async { orchestrator.answer(asked).await });
        let answer = tokio::select! {
            biased;
            // Nothing is owed any more.
            () = link.cancelled() => return,
            answer = answering.catch_unwind() => answer,
        };
        let settlement = match answer {
            Ok(Ok(Reply::Say(text))) => self.post_answer(&room, &question, &text).await,
            Ok(Ok(Reply::Pass)) => Settlement::Done { message: None },
            Ok(Err(_)) | Err(_) => {
                tracing::warn!(channel = %room.id, "the orchestrator failed");
                Settlement::Failed { retry_at: None }
            }
        };
        self.settle(&room, question.ticket, settlement);
    }

    /// Posts the answer, in as many messages as it takes.
    async fn post_answer(&self, room: &Room, question: &Question, text: &str) -> Settlement {
        let words = self.settings.silence.deliverable(text);
        let mut first = None;
        for (content, part) in split_reply(words).into_iter().zip(0_u64..) {
            match self.post_answer_part(room, question, content, part).await {
                Ok(id) => first = first.or(Some(id)),
                Err(error) => {
                    tracing::warn!(channel = %room.id, %error, "an answer was not posted");
                    if first.is_none() {
                        return self.settlement(&error);
                    }
                    break;
                }
            }
        }
        Settlement::Done { message: first }
    }

    async fn post_answer_part(
        &self,
        room: &Room,
        question: &Question,
        content: String,
        part: u64,
    ) -> Result<MessageId, ApiError> {
        let (now, effect) = (self.clock.now(), question.effect());
        let since = |room: &Room| -> Option<Timestamp> {
            let state = room.lock();
            let debt = state.channel.debts().iter().find(|debt| debt.effect == effect)?;
            Some(debt.since)
        };
        let at = self.pacer.reserve(now, room.id, None);
        if at > now {
            self.clock.sleep_until(at).await;
        }
        let since = since(room).filter(|_| room.lock().channel.wants(&effect));
        let Some(since) = since else {
            return Err(ApiError::new(ErrorKind::Gone).with_source("nobody waits for it any more"));
        };
        // The first part has the debt's own name, and the others are told apart by what is beyond it.
        let number = question.ticket.get() | part << 24;
        let post = Post {
            channel: room.id,
            content: content.clone(),
            nonce: Nonce::from_parts(room.id.get(), since.as_millis(), number),
            mentions: Mentions::Nobody,
            reply_to: (part == 0).then_some(question.last),
        };
        let posted = self.post(self.discord.as_ref(), post, Known::default()).await?;
        self.remember_answer(room, posted.id, content);
        Ok(posted.id)
    }

    /// Agents shall see what people were answered.
    fn remember_answer(&self, room: &Room, id: MessageId, content: String) {
        let Some(author) = self.registry.moderator() else {
            return;
        };
        let (author_kind, kind, channel) = (AuthorKind::Bot, ChatKind::Reply, room.id);
        let message = ChatMessage { id, channel, author, author_kind, kind, content, nonce: None };
        room.lock().active().remember(Arc::new(message), self.settings.missed_max);
    }
}
