//! What a host calls: a cheap clone without type parameters.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use dirigent_core::{
    AgentKey, Answer, Config, Creation, Input, MessageId, Mode, PhaseKind, Reason, Rest, RunId,
    Seat, TurnId, TurnState, Verdict, WakeCause,
};
use tokio::sync::oneshot;

use crate::builder::Builder;
use crate::events::Transitions;
use crate::guard::{Decision, Ending, RunGuard};
use crate::room::{Room, Work};
use crate::shared::{Hosted, RoomRef, Shared, Stage};
use crate::{
    Agent, AgentId, ApiError, CallError, ChannelId, ChatMessage, Clock, DiscordApi, Durability,
    ErrorKind, IdentityStore, RunError, UserId,
};

/// Decides who speaks when, in as many channels as the host has.
///
/// Every call returns within a bounded time and may be made from any task.
#[derive(Clone, Debug)]
pub struct Dirigent {
    shared: Arc<Shared>,
}

/// A channel's state at one moment (F11).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// What the channel is for.
    pub mode: Mode,
    /// How turns are kept.
    pub turn_state: TurnState,
    /// The phase.
    pub phase: PhaseKind,
    /// Stopped or on hold.
    pub rest: Option<Rest>,
    /// Who has the floor.
    pub speaker: Option<AgentId>,
    /// The newest turn.
    pub turn: TurnId,
    /// The speaker list in order: who, and what became of the turn in this cycle.
    pub list: Vec<(AgentId, Seat)>,
    /// Turns since a human last spoke.
    pub turns_since_human: u32,
    /// Cycles since a human last spoke.
    pub cycles_since_human: u32,
    /// When something is due next, and why.
    pub deadline: Option<dirigent_core::Deadline>,
}

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
    /// The agents in it, in the order in which they shall speak first.
    pub members: Vec<AgentId>,
    /// Who opened the discussion: exactly for [`Mode::Discussion`].
    pub initiator: Option<AgentId>,
    /// Where the discussion was opened from.
    pub callback: Option<ChannelId>,
}

impl Dirigent {
    pub(crate) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Begins to put the library together. `discord` acts as the moderator.
    pub fn builder(
        discord: Arc<dyn DiscordApi>,
        identities: impl IdentityStore,
        clock: impl Clock,
    ) -> Builder {
        Builder::new(discord, Arc::new(identities), Arc::new(clock))
    }

    /// Gives a channel another mode: none, chat or report. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::ModeLocked`](crate::Refusal::ModeLocked),
    /// [`Refusal::CreationOnly`](crate::Refusal::CreationOnly), or as the store fails.
    pub async fn set_mode(&self, channel: ChannelId, mode: Mode) -> Result<(), CallError> {
        self.live().await?;
        let room = self.shared.room_or_new(channel).await?;
        self.state_fact(&room, &Input::SetMode(mode)).await
    }

    /// Records a channel that was just created, with its mode. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::AlreadyCreated`](crate::Refusal::AlreadyCreated), an unknown agent, or as the
    /// store fails.
    pub async fn created(&self, channel: ChannelId, made: CreatedChannel) -> Result<(), CallError> {
        self.live().await?;
        let CreatedChannel { mode, members, initiator, callback } = made;
        let members = members.iter().map(|agent| self.key(agent)).collect::<Result<_, _>>()?;
        let initiator = initiator.map(|agent| self.key(&agent)).transpose()?;
        let room = self.shared.room_or_new(channel).await?;
        let input = Input::Create(Creation { mode, members, initiator });
        let told = self.submit_telling(&room, &input, |state| state.callback = callback)?;
        self.told(told).await
    }

    /// May this agent run now? To be asked before the model is called.
    ///
    /// An allowed run is held by the guard in the answer: its end is told through it, and dropping
    /// it ends the run as failed, so that a cancelled task cannot stall the room.
    ///
    /// # Errors
    ///
    /// When the driver is not running or the store does not answer; treat it as a denial.
    pub async fn may_speak(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: Option<RunId>,
    ) -> Result<Decision, CallError> {
        self.live().await?;
        let Some(room) = self.shared.room(channel).await? else {
            return Ok(Decision::unmanaged());
        };
        let key = self.shared.registry.key(agent);
        let (tell, told) = oneshot::channel();
        let gate = Input::Gate { agent: key, run, latest: None };
        let answer = room.submit_with(&self.shared, &gate, |state, answer| {
            if answer.as_ref().is_ok_and(|answer| holds_permission(*answer)) {
                state.work.push_back(Work::Tell(tell));
            }
        })?;
        match (answer.verdict(), key) {
            (Some(Verdict::Allow { reason, turn, anchor }), Some(key))
                if holds_permission(answer) =>
            {
                let guard = RunGuard::new(Arc::clone(&self.shared), room, key, run);
                self.told(told).await?;
                Ok(Decision::allowed(reason, turn, anchor, Some(guard)))
            }
            (Some(Verdict::Allow { reason, turn, anchor }), _) => {
                Ok(Decision::allowed(reason, turn, anchor, None))
            }
            (Some(Verdict::Deny { reason }), _) => {
                let speaker = match reason {
                    Reason::NotYourTurn { speaker } => self.shared.registry.name(speaker),
                    Reason::Unmanaged
                    | Reason::TooFewAgents
                    | Reason::YourTurn
                    | Reason::InitiatorPermit
                    | Reason::Dead
                    | Reason::Archived
                    | Reason::Stopped
                    | Reason::Held
                    | Reason::Dormant
                    | Reason::CeilingReached
                    | Reason::Refreshing
                    | Reason::TurnAlreadyUsed
                    | Reason::RunAlreadyDenied
                    | Reason::RunAlreadyEnded
                    | Reason::NotRegistered
                    | Reason::Muted
                    | Reason::NotListed
                    | _ => None,
                };
                Ok(Decision::denied(reason, speaker, &self.shared.settings.no_reply_model))
            }
            (None, _) => Ok(Decision::unmanaged()),
        }
    }

    /// An agent's run ended. For hosts that hear of it elsewhere than where they asked; they call
    /// [`RunGuard::keep`] there.
    ///
    /// A host without run ids must not report the end of a run that was denied or cancelled: nothing
    /// tells it from the end of the run that holds the floor.
    ///
    /// # Errors
    ///
    /// [`Refusal::StaleRun`](crate::Refusal::StaleRun) when the run does not hold the floor, which
    /// is no fault: denied runs end too.
    pub async fn turn_ended(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: Option<RunId>,
        ending: Ending<'_>,
    ) -> Result<(), CallError> {
        let outcome = ending.outcome(self.shared.settings.silence);
        let agent = self.key(agent)?;
        self.tell(channel, &Input::RunEnded { agent, run, outcome }).await
    }

    /// The host knows that these messages are the whole reply of this run, and that they arrived.
    ///
    /// # Errors
    ///
    /// [`Refusal::StaleRun`](crate::Refusal::StaleRun) when the run is not the one waited for.
    pub async fn delivered(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: Option<RunId>,
        messages: Vec<MessageId>,
    ) -> Result<(), CallError> {
        let agent = self.key(agent)?;
        self.tell(channel, &Input::Receipt { agent, run, messages }).await
    }

    /// A message was posted in a channel, by anybody. Duplicates and reorderings are fine.
    ///
    /// # Errors
    ///
    /// When the driver is not running or the channel cannot be read.
    pub async fn message_created(&self, message: ChatMessage) -> Result<(), CallError> {
        self.live().await?;
        if let Some(room) = self.shared.room(message.channel).await? {
            self.shared.take_message(&room, message);
        }
        Ok(())
    }

    /// A message was edited (F16).
    ///
    /// # Errors
    ///
    /// As [`Dirigent::message_created`].
    pub async fn message_updated(&self, message: ChatMessage) -> Result<(), CallError> {
        self.live().await?;
        if let Some(room) = self.shared.room(message.channel).await? {
            let author = self.shared.registry.author(&message);
            let tail = dirigent_core::Tail::of(&message.content);
            room.submit(&self.shared, &Input::MessageEdited { id: message.id, author, tail })?;
        }
        Ok(())
    }

    /// Somebody can see the channel from now on.
    ///
    /// # Errors
    ///
    /// As [`Dirigent::message_created`].
    pub async fn member_joined(&self, channel: ChannelId, user: UserId) -> Result<(), CallError> {
        self.member(channel, user, Input::MemberJoined).await
    }

    /// Somebody can no longer see the channel.
    ///
    /// # Errors
    ///
    /// As [`Dirigent::message_created`].
    pub async fn member_left(&self, channel: ChannelId, user: UserId) -> Result<(), CallError> {
        self.member(channel, user, Input::MemberLeft).await
    }

    async fn member(
        &self,
        channel: ChannelId,
        user: UserId,
        input: impl Fn(AgentKey) -> Input,
    ) -> Result<(), CallError> {
        self.live().await?;
        if let Some(room) = self.shared.room(channel).await? {
            if let Some(agent) = self.shared.registry.of_user(user) {
                room.submit(&self.shared, &input(agent))?;
            }
        }
        Ok(())
    }

    /// The registry changed: it is read again. Agents that are gone leave every channel (D9).
    ///
    /// # Errors
    ///
    /// As the registry or the store fails; then the old one stays.
    pub async fn identities_changed(&self) -> Result<(), CallError> {
        self.live().await?;
        let gone = self.shared.load_registry().await.map_err(|error| match error {
            RunError::Discord(error) | RunError::Identities(error) | RunError::Channels(error) => {
                error
            }
        })?;
        for room in self.shared.all_awake() {
            for agent in &gone {
                room.submit(&self.shared, &Input::MemberLeft(*agent))?;
            }
        }
        Ok(())
    }

    /// Hosts an agent from now on, or replaces what speaks for it.
    pub fn host(
        &self,
        agent: impl Into<AgentId>,
        speaks: impl Agent,
        discord: Arc<dyn DiscordApi>,
    ) {
        let hosted = Hosted { agent: Arc::new(speaks), discord };
        let mut hosts = self.shared.hosts.write().unwrap_or_else(PoisonError::into_inner);
        hosts.insert(agent.into(), hosted);
    }

    /// Hosts the agent no longer; a call under way ends as it will. `false` if it was not hosted.
    pub fn unhost(&self, agent: &AgentId) -> bool {
        let mut hosts = self.shared.hosts.write().unwrap_or_else(PoisonError::into_inner);
        hosts.remove(agent).is_some()
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

    /// Gives the agent no turns in this channel. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown agent or channel.
    pub async fn mute(&self, channel: ChannelId, agent: &AgentId) -> Result<(), CallError> {
        let agent = self.key(agent)?;
        self.fact(channel, &Input::Mute(agent)).await
    }

    /// Gives the agent turns again. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown agent or channel.
    pub async fn unmute(&self, channel: ChannelId, agent: &AgentId) -> Result<(), CallError> {
        let agent = self.key(agent)?;
        self.fact(channel, &Input::Unmute(agent)).await
    }

    /// The initiator concludes its discussion: it is archived. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotTheInitiator`](crate::Refusal::NotTheInitiator) and the like.
    pub async fn conclude(&self, channel: ChannelId, by: &AgentId) -> Result<(), CallError> {
        let by = self.key(by)?;
        self.fact(channel, &Input::Conclude { by }).await
    }

    /// Archives a channel, as an operator. Stored for good when it returns.
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
        *self.shared.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&config);
        for room in self.shared.all_awake() {
            room.submit(&self.shared, &Input::Reconfigure(Arc::clone(&config)))?;
        }
        Ok(())
    }

    /// Why this agent may, or may not, speak now (F10).
    ///
    /// # Errors
    ///
    /// An unknown agent, or a channel that cannot be read.
    pub async fn explain(&self, channel: ChannelId, agent: &AgentId) -> Result<Reason, CallError> {
        self.live().await?;
        let Some(room) = self.shared.room(channel).await? else {
            return Ok(Reason::Unmanaged);
        };
        let agent = self.key(agent)?;
        let reason = room.lock().channel.explain(agent);
        Ok(reason)
    }

    /// What the channel looks like now; `None` when it was never given a mode.
    ///
    /// # Errors
    ///
    /// A channel that cannot be read.
    pub async fn status(&self, channel: ChannelId) -> Result<Option<Status>, CallError> {
        self.live().await?;
        let room = self.shared.room(channel).await?;
        Ok(room.map(|room| self.status_of(&room)))
    }

    fn status_of(&self, room: &Room) -> Status {
        let state = room.lock();
        let view = state.channel.view();
        let name = |key| self.shared.registry.name(key).unwrap_or_else(|| "unknown".into());
        Status {
            mode: view.mode(),
            turn_state: view.turn_state(),
            phase: view.phase(),
            rest: view.rest(),
            speaker: view.speaker().map(name),
            turn: view.turn(),
            list: view.list().map(|seat| (name(seat.agent), seat)).collect(),
            turns_since_human: view.turns_since_human(),
            cycles_since_human: view.cycles_since_human(),
            deadline: view.deadline(),
        }
    }

    /// All channels that have a record, in ascending order of id.
    pub fn channels(&self) -> Vec<ChannelId> {
        self.shared.known()
    }

    /// Every change of every channel from now on.
    pub fn transitions(&self) -> Transitions {
        Transitions::new(self.shared.events.subscribe())
    }

    /// Ends the driver: no new calls; what is under way may finish within `grace`; then agents are
    /// cancelled. Returns when [`Driver::run`](crate::Driver::run) has ended.
    pub async fn shutdown(&self, grace: Duration) {
        let life = &self.shared.life;
        if life.stage() == Stage::Unborn {
            return;
        }
        life.reach(Stage::Stopping);
        let deadline = self.shared.clock.now() + grace;
        tokio::select! {
            () = life.until(Stage::Ended) => return,
            () = self.shared.clock.sleep_until(deadline) => {}
        }
        for room in self.shared.all_awake() {
            if let Some(call) = room.lock().active.as_ref().and_then(|a| a.call.as_ref()) {
                call.link.cancel();
            }
        }
        life.reach(Stage::Ended);
    }

    /// Waits until calls are answered: a driver that was just spawned may not have begun.
    async fn live(&self) -> Result<(), CallError> {
        let life = &self.shared.life;
        if life.stage() < Stage::Running {
            let limit = self.shared.settings.call_deadline;
            // Too late is answered below like never.
            let _ = self.shared.within(limit, life.until(Stage::Running)).await;
        }
        match life.stage() {
            Stage::Running => Ok(()),
            Stage::Unborn | Stage::Starting | Stage::Stopping | Stage::Ended => {
                Err(CallError::NotRunning)
            }
        }
    }

    fn key(&self, agent: &AgentId) -> Result<AgentKey, CallError> {
        let key = self.shared.registry.key(agent);
        key.ok_or_else(|| CallError::UnknownAgent(agent.clone()))
    }

    async fn known_room(&self, channel: ChannelId) -> Result<RoomRef, CallError> {
        self.live().await?;
        self.shared.room(channel).await?.ok_or(CallError::UnknownChannel)
    }

    /// Tells the machine something that may be stored behind.
    async fn tell(&self, channel: ChannelId, input: &Input) -> Result<(), CallError> {
        self.known_room(channel).await?.submit(&self.shared, input)?;
        Ok(())
    }

    /// Tells the machine something that must be stored for good before the call returns.
    async fn fact(&self, channel: ChannelId, input: &Input) -> Result<(), CallError> {
        let room = self.known_room(channel).await?;
        self.state_fact(&room, input).await
    }

    async fn state_fact(&self, room: &Arc<Room>, input: &Input) -> Result<(), CallError> {
        let told = self.submit_telling(room, input, |_| {})?;
        self.told(told).await
    }

    fn submit_telling(
        &self,
        room: &Arc<Room>,
        input: &Input,
        then: impl FnOnce(&mut crate::room::RoomState),
    ) -> Result<oneshot::Receiver<()>, CallError> {
        let (tell, told) = oneshot::channel();
        room.submit_with(&self.shared, input, |state, answer| {
            if answer.is_ok() {
                then(state);
                state.durability = Durability::Fact;
                state.work.push_back(Work::Tell(tell));
            }
        })?;
        Ok(told)
    }

    /// Waits until the state is stored.
    async fn told(&self, told: oneshot::Receiver<()>) -> Result<(), CallError> {
        let stored = self.shared.within(self.shared.settings.call_deadline, told).await?;
        stored.map_err(|_| {
            let error = ApiError::new(ErrorKind::Store);
            error.with_source("the channel was taken over by another process").into()
        })
    }
}

/// Whether the answer allows a run that must be ended again: in a turn, or after a reminder.
const fn holds_permission(answer: Answer) -> bool {
    match answer.verdict() {
        Some(verdict) => {
            matches!(verdict.reason(), Reason::YourTurn | Reason::InitiatorPermit)
        }
        None => false,
    }
}
