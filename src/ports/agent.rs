//! Agents that the library calls itself.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use dirigent_core::{MessageId, TurnId};
use tokio::sync::Notify;

use crate::{AgentId, ChannelId, ChatMessage};

/// A hosted agent: the host says what it answers, the library when.
///
/// ```
/// use dirigent::{Agent, AgentError, Reply, Turn};
///
/// struct Echo;
///
/// #[async_trait::async_trait]
/// impl Agent for Echo {
///     async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
///         Ok(match turn.missed().last() {
///             Some(message) => Reply::from(format!("You said: {}", message.content)),
///             None => Reply::Pass,
///         })
///     }
/// }
/// ```
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Takes a turn. The reply is posted by the library through the agent's own account.
    ///
    /// Should end soon after [`Turn::cancelled`]; what it answers then is not posted, and given back to it
    /// with its next turn in the channel ([`Turn::late_answer`]).
    ///
    /// A panic or an error ends this turn and nothing else: the agent stays online. A host that knows it
    /// to be gone says so ([`Dirigent::agent_offline`](crate::Dirigent::agent_offline)), or lets failures in a row
    /// say so ([`Settings::offline_after_failures`](crate::Settings::offline_after_failures)).
    ///
    /// # Errors
    ///
    /// Any; the turn counts as empty. The error's text is not logged, since it may hold a secret.
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError>;
}

/// Whatever went wrong inside an agent.
pub type AgentError = Box<dyn Error + Send + Sync>;

/// What an agent answers. `Debug` shows no text.
///
/// ```
/// use dirigent::Reply;
/// assert_eq!(Reply::from("hello"), Reply::Say("hello".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// This text, unless the silence policy takes it for silence.
    Say(String),
    /// Nothing to say.
    Pass,
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::Say(text.to_owned())
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::Say(text)
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Say(text) => write!(f, "Say({} bytes)", text.len()),
            Self::Pass => f.write_str("Pass"),
        }
    }
}

/// A turn that an agent is given.
///
/// ```
/// use dirigent::{ChannelId, Turn};
/// use dirigent::hooks::TurnId;
///
/// let turn = Turn::new(ChannelId::new(1), "poet".into(), TurnId::new(3));
/// assert!(turn.missed().is_empty());
/// assert!(!turn.is_cancelled());
/// ```
#[derive(Clone)]
pub struct Turn {
    channel: ChannelId,
    agent: AgentId,
    number: TurnId,
    reminded: bool,
    attempt: u8,
    newest: Option<MessageId>,
    missed: Vec<Arc<ChatMessage>>,
    late: Option<Arc<str>>,
    link: Arc<TurnLink>,
}

impl Turn {
    /// A turn as a test would make it: first attempt, nothing missed.
    pub fn new(channel: ChannelId, agent: AgentId, turn: TurnId) -> Self {
        Self::linked(channel, agent, Some(turn), Arc::default())
    }

    /// A turn with the driver's end of it; without a number the one run after a reminder.
    pub(crate) const fn linked(
        channel: ChannelId,
        agent: AgentId,
        turn: Option<TurnId>,
        link: Arc<TurnLink>,
    ) -> Self {
        let (number, reminded) = match turn {
            Some(number) => (number, false),
            None => (TurnId::new(0), true),
        };
        let missed = Vec::new();
        Self {
            channel,
            agent,
            number,
            reminded,
            attempt: 0,
            newest: None,
            missed,
            late: None,
            link,
        }
    }

    /// The same, as the one run that the initiator of an idle discussion has after the reminder.
    #[must_use]
    pub const fn after_reminder(mut self) -> Self {
        self.reminded = true;
        self
    }

    pub(crate) fn with_attempt(mut self, attempt: u8) -> Self {
        self.attempt = attempt;
        self
    }

    pub(crate) fn with_missed(
        mut self,
        newest: Option<MessageId>,
        missed: Vec<Arc<ChatMessage>>,
    ) -> Self {
        self.newest = newest;
        self.missed = missed;
        self
    }

    pub(crate) fn with_late_answer(mut self, late: Option<Arc<str>>) -> Self {
        self.late = late;
        self
    }

    /// Where.
    pub const fn channel(&self) -> ChannelId {
        self.channel
    }

    /// Who is asked.
    pub const fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// The turn's number in its channel.
    pub const fn turn(&self) -> TurnId {
        self.number
    }

    /// Whether this is the one run after an idle reminder: the agent opened the discussion, no agent
    /// has anything to add, and it is asked to summarise and to conclude.
    pub const fn is_after_reminder(&self) -> bool {
        self.reminded
    }

    /// 0 for the first call of this turn, then 1 for each repetition.
    pub const fn attempt(&self) -> u8 {
        self.attempt
    }

    /// The newest message of the channel when the turn began. An answer to an older one is stale.
    pub const fn newest(&self) -> Option<MessageId> {
        self.newest
    }

    /// What was said since this agent's last turn, oldest first, as far as it is remembered.
    pub fn missed(&self) -> &[Arc<ChatMessage>] {
        &self.missed
    }

    /// Takes a human's message that came during the turn, oldest first. At most 100 wait to be taken. What is
    /// not taken, and what comes while 100 wait, is handed to the next agent.
    pub fn take_injected(&self) -> Option<Arc<ChatMessage>> {
        let mut injected = self.link.injected.lock().unwrap_or_else(PoisonError::into_inner);
        injected.waiting.pop_front()
    }

    /// Whether the turn was taken away: by a stop, a deadline, a change of mode.
    pub fn is_cancelled(&self) -> bool {
        self.link.is_cancelled()
    }

    /// Waits until the turn is taken away.
    ///
    /// # Cancellation
    ///
    /// May be dropped and called again.
    pub async fn cancelled(&self) {
        self.link.cancelled().await;
    }

    /// Whether the turn takes longer than it should
    /// ([`Config::slow_after`](crate::Config::slow_after)): it goes on, and an agent may hurry.
    pub fn is_slow(&self) -> bool {
        self.link.slow.load(Ordering::Acquire)
    }

    /// Waits until the turn takes longer than it should, or is taken away.
    ///
    /// # Cancellation
    ///
    /// May be dropped and called again.
    pub async fn slow(&self) {
        self.link.until(|| self.is_slow() || self.is_cancelled()).await;
    }

    /// Whether the turn rests, since a person spoke and is being answered by the
    /// [`Orchestrator`](crate::host::Orchestrator). An agent that can, pauses; one that cannot goes on, and its
    /// reply is posted when the turn goes on.
    pub fn is_paused(&self) -> bool {
        self.link.paused.load(Ordering::Acquire)
    }

    /// Waits until the turn goes on, or is taken away; not at all if it does not rest.
    ///
    /// # Cancellation
    ///
    /// May be dropped and called again.
    pub async fn resumed(&self) {
        self.link.resumed().await;
    }

    /// What this agent answered in an earlier turn and what was not posted: the turn had been taken away from
    /// it by then, the chat could not be reached for too long, or it was beyond
    /// [`Settings::reply_parts_max`](crate::Settings::reply_parts_max). Given once, with the next turn. The agent
    /// may say it now, or what of it still holds. What is longer than 32 KiB is not kept.
    pub fn late_answer(&self) -> Option<&str> {
        self.late.as_deref()
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("channel", &self.channel)
            .field("agent", &self.agent)
            .field("turn", &self.number)
            .field("reminded", &self.reminded)
            .field("attempt", &self.attempt)
            .field("newest", &self.newest)
            .field("missed", &self.missed)
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// Most messages that wait until an agent takes them: an agent that never does costs no more memory.
const INJECTED_MAX: usize = 100;

/// The driver's end of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnLink {
    cancelled: AtomicBool,
    slow: AtomicBool,
    paused: AtomicBool,
    changed: Notify,
    injected: Mutex<Injected>,
}

/// What people said during the turn.
#[derive(Debug, Default)]
struct Injected {
    waiting: VecDeque<Arc<ChatMessage>>,
    is_closed: bool,
}

impl TurnLink {
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Waits until the turn is taken away.
    pub(crate) async fn cancelled(&self) {
        self.until(|| self.is_cancelled()).await;
    }

    /// Waits until the turn goes on, or is taken away.
    pub(crate) async fn resumed(&self) {
        self.until(|| !self.paused.load(Ordering::Acquire) || self.is_cancelled()).await;
    }

    /// The turn takes longer than it should.
    pub(crate) fn mark_slow(&self) {
        self.slow.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// The turn rests, or goes on.
    pub(crate) fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
        self.changed.notify_waiters();
    }

    async fn until(&self, is_so: impl Fn() -> bool) {
        let woken = self.changed.notified();
        tokio::pin!(woken);
        loop {
            woken.as_mut().enable();
            if is_so() {
                return;
            }
            woken.as_mut().await;
            woken.set(self.changed.notified());
        }
    }

    /// Hands a message over; `false` when the agent has answered and would not see it, or has too many to take.
    pub(crate) fn inject(&self, message: Arc<ChatMessage>) -> bool {
        let mut injected = self.injected.lock().unwrap_or_else(PoisonError::into_inner);
        if injected.is_closed || injected.waiting.len() >= INJECTED_MAX {
            return false;
        }
        injected.waiting.push_back(message);
        true
    }

    /// The agent has answered. Returns whether it took every message that it was handed.
    pub(crate) fn close(&self) -> bool {
        let mut injected = self.injected.lock().unwrap_or_else(PoisonError::into_inner);
        injected.is_closed = true;
        injected.waiting.is_empty()
    }
}
