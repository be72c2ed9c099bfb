//! What operators and tools tell a channel. All of it is stored for good before the call returns, but
//! for waking.

use std::sync::{Arc, PoisonError};

use dirigent_core::{Config, Creation, Input, Mode, WakeCause};

use crate::runtime::cell::Awaited;
use crate::{AgentId, CallError, ChannelId, Dirigent, Discussion, LetterKind, Orchestrator};

/// A channel that a tool has created.
///
/// ```
/// use dirigent::{CreatedChannel, Mode};
/// let chat = CreatedChannel { mode: Mode::Chat, ..CreatedChannel::default() };
/// assert!(chat.members.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a request that hosts build")]
pub struct CreatedChannel {
    /// What it is for.
    pub mode: Mode,
    /// The agents in it, in the order in which they speak first.
    pub members: Vec<AgentId>,
    /// How the discussion was opened: exactly for [`Mode::Discussion`].
    pub opening: Option<Opening>,
}

/// How a discussion was opened. `Debug` shows no text.
///
/// ```
/// use dirigent::Opening;
/// let opening = Opening { initiator: "poet".into(), terms: None };
/// assert_eq!(opening.initiator.as_str(), "poet");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a request that hosts build")]
pub struct Opening {
    /// Who opened it, and may conclude it.
    pub initiator: AgentId,
    /// The guide that is posted first, and where the result goes to. `None`: nothing is posted, and
    /// the host wakes the first speaker.
    pub terms: Option<Discussion>,
}

/// What became of a discussion's result when the call that concluded it returned.
///
/// ```
/// use dirigent::ResultPost;
/// assert_ne!(ResultPost::Posted, ResultPost::Queued);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultPost {
    /// It is in the callback channel.
    Posted,
    /// It is stored, and is posted as soon as that is possible, if need be after a restart.
    Queued,
    /// The discussion has no callback channel.
    Nowhere,
}

impl Dirigent {
    /// Gives a channel another mode: none, chat or report. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::ModeLocked`](crate::Refusal::ModeLocked),
    /// [`Refusal::CreationOnly`](crate::Refusal::CreationOnly), or as the store fails.
    pub async fn set_mode(&self, channel: ChannelId, mode: Mode) -> Result<(), CallError> {
        self.live().await?;
        let room = self.runtime.room_or_new(channel).await?;
        let stored = self.state_fact(&room, &Input::SetMode(mode)).await;
        self.runtime.tell_lost(&room);
        stored
    }

    /// Records a channel that was just created, with its mode. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::AlreadyCreated`](crate::Refusal::AlreadyCreated), an unknown agent, or as the
    /// store fails.
    pub async fn created(&self, channel: ChannelId, made: CreatedChannel) -> Result<(), CallError> {
        self.live().await?;
        let CreatedChannel { mode, members, opening } = made;
        let members = members.iter().map(|agent| self.key(agent)).collect::<Result<_, _>>()?;
        let initiator = opening.as_ref().map(|opening| self.key(&opening.initiator)).transpose()?;
        let terms = opening.and_then(|opening| opening.terms);
        let room = self.runtime.room_or_new(channel).await?;
        let input = Input::Create(Creation { mode, members, initiator });
        let stamp =
            self.runtime.update(&room, |room, cx, now| room.create(cx, now, &input, terms))?;
        self.runtime.tell_lost(&room);
        self.stored(room.wait_for(Awaited::Stored(stamp))).await
    }

    /// Takes back a channel that could not be stored in time and is deleted again. The attempts to
    /// store it may succeed later, or have succeeded unseen: what is stored in the end says nothing.
    pub(crate) fn take_back(&self, channel: ChannelId) {
        if let Some(room) = self.runtime.rooms.awake(channel) {
            let (config, seed) = (self.runtime.rules.config(), self.runtime.rules.seed_of(channel));
            self.runtime.update(&room, |room, _, _| room.forget_all(config, seed, false));
        }
    }

    /// Wakes a dormant channel without a message, as an operator.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stopped`](crate::Refusal::Stopped) and the like.
    pub async fn wake(&self, channel: ChannelId, first: Option<&AgentId>) -> Result<(), CallError> {
        self.wake_for(channel, first, WakeCause::Operator).await
    }

    /// Wakes a dormant channel without a message, for this reason.
    ///
    /// # Errors
    ///
    /// [`Refusal::CeilingReached`](crate::Refusal::CeilingReached) and the like.
    pub async fn wake_for(
        &self,
        channel: ChannelId,
        first: Option<&AgentId>,
        cause: WakeCause,
    ) -> Result<(), CallError> {
        self.live().await?;
        let first = first.map(|agent| self.key(agent)).transpose()?;
        self.tell(channel, &Input::Wake { first, cause }).await
    }

    /// Denies everybody at once, until resumed. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotManaged`](crate::Refusal::NotManaged) where agents answer freely.
    pub async fn stop(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Stop).await
    }

    /// Pauses the channel and keeps its order. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stopped`](crate::Refusal::Stopped) while it is stopped.
    pub async fn hold(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Hold).await
    }

    /// Ends a stop or a hold. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotResting`](crate::Refusal::NotResting).
    pub async fn resume(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Resume).await
    }

    /// The work in this channel is done: no agent is active until it is resumed, by an operator or by a
    /// person's resume word. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stopped`](crate::Refusal::Stopped) while it is stopped.
    pub async fn finish(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Finish).await
    }

    /// Chooses who speaks next, as an operator: at once where no agent has the floor, else when the turn
    /// under way ends. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotListed`](crate::Refusal::NotListed), [`Refusal::Muted`](crate::Refusal::Muted),
    /// [`Refusal::HasTheFloor`](crate::Refusal::HasTheFloor) and the like.
    pub async fn speak_next(&self, channel: ChannelId, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.fact(channel, &Input::SpeakNext(agent)).await
    }

    /// Reports what agents cost in this channel, in the unit of
    /// [`Config::budget_cost`](crate::Config::budget_cost).
    ///
    /// # Errors
    ///
    /// An unknown or archived channel.
    pub async fn spent(&self, channel: ChannelId, cost: u64) -> Result<(), CallError> {
        self.tell(channel, &Input::Spent { cost }).await
    }

    /// Lets the budgets of this channel begin anew. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown or archived channel.
    pub async fn reset_budget(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::ResetBudget).await
    }

    /// Sets who answers people that speak during a turn, from now on; with `None` no orchestrator does.
    pub fn set_orchestrator(&self, orchestrator: Option<Arc<dyn Orchestrator>>) {
        self.runtime.registry.set_orchestrator(orchestrator);
    }

    /// Gives the agent no turns in this channel. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown agent or channel.
    pub async fn mute(&self, channel: ChannelId, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.fact(channel, &Input::Mute(agent)).await
    }

    /// Gives the agent turns again. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown agent or channel.
    pub async fn unmute(&self, channel: ChannelId, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.fact(channel, &Input::Unmute(agent)).await
    }

    /// The initiator concludes its discussion: it is archived, and its callback channel is told where
    /// the summary is. Stored for good when it returns; the answer says whether the callback channel
    /// has been told.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotTheInitiator`](crate::Refusal::NotTheInitiator) and the like.
    pub async fn conclude(
        &self,
        channel: ChannelId,
        by: &AgentId,
        summary: Option<&str>,
    ) -> Result<ResultPost, CallError> {
        self.live().await?;
        let by = self.key(by)?;
        let room = self.known_room(channel).await?;
        let stamp =
            self.runtime.update(&room, |room, cx, now| room.conclude(cx, now, by, summary))?;
        self.stored(room.wait_for(Awaited::Stored(stamp))).await?;
        if room.lock().room.look().discussion().is_none() {
            return Ok(ResultPost::Nowhere);
        }
        let kind = LetterKind::Result;
        let attempted = room.wait_for(Awaited::FirstAttempt(kind));
        // Too late is as good as in the queue.
        let _ = self.runtime.within(self.runtime.settings.call_deadline, attempted).await;
        let is_posted = room.lock().room.look().is_posted(kind);
        Ok(if is_posted { ResultPost::Posted } else { ResultPost::Queued })
    }

    /// Archives a channel, as an operator. Stored for good when it returns. The callback channel of a
    /// discussion is told that it ended without a summary.
    ///
    /// # Errors
    ///
    /// [`Refusal::Archived`](crate::Refusal::Archived) when it was before.
    pub async fn archive(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Archive).await
    }

    /// Other rules for every channel, from now on.
    ///
    /// # Errors
    ///
    /// A rule that cannot be obeyed; then nothing changed.
    pub async fn reconfigure(&self, config: Config) -> Result<(), CallError> {
        config.validate()?;
        self.live().await?;
        let config = Arc::new(config);
        *self.runtime.rules.config.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::clone(&config);
        for room in self.runtime.rooms.all_awake() {
            // They are valid, and no state refuses valid rules.
            let _ = self.runtime.submit(&room, &Input::Reconfigure(Arc::clone(&config)));
        }
        Ok(())
    }
}
