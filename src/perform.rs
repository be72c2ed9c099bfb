//! Carrying effects out: one function for each, one attempt with its repetitions, one settlement.

use std::sync::Arc;

use dirigent_core::{
    AgentKey, Effect, Input, MessageId, Notice, ReminderPlace, RunId, Settlement, Ticket,
    Transition, TurnId,
};

use crate::attempt::Known;
use crate::events::ChannelEvent;
use crate::room::Room;
use crate::shared::Shared;
use crate::{
    AgentId, ApiError, ChannelId, DeferralKey, ErrorKind, HistoryRequest, Mentions, Nonce, Post,
    WakeCall, Woken,
};

impl Shared {
    /// Says what became of a debt. That it is known no more means that it no longer matters.
    pub(crate) fn settle(&self, room: &Arc<Room>, ticket: Ticket, settlement: Settlement) {
        let _ = room.submit(self, &Input::Settled { ticket, settlement });
    }

    fn settle_with<T>(
        &self,
        room: &Arc<Room>,
        ticket: Ticket,
        result: Result<T, ApiError>,
        message: impl FnOnce(T) -> Option<MessageId>,
    ) {
        let settlement = match result {
            Ok(done) => Settlement::Done { message: message(done) },
            Err(error) => {
                tracing::warn!(channel = %room.id, %ticket, %error, "an effect failed");
                self.settlement(&error)
            }
        };
        self.settle(room, ticket, settlement);
    }

    pub(crate) fn publish(&self, room: &Room, transition: Transition) {
        tracing::debug!(
            channel = %room.id,
            from = transition.from.as_str(),
            to = transition.to.as_str(),
            cause = transition.cause.as_str(),
            agent = transition.agent.map(AgentKey::get),
            turn = transition.turn.get(),
        );
        if self.events.receiver_count() > 0 {
            let agent = transition.agent.and_then(|key| self.registry.name(key));
            // Nobody listening is fine.
            let _ = self.events.send(ChannelEvent { channel: room.id, agent, transition });
        }
    }

    pub(crate) async fn fetch_members(&self, room: &Arc<Room>, ticket: Ticket) {
        // Asked again only while it is still waited for.
        let read = || async {
            if room.lock().channel.wants(&Effect::FetchMembers { ticket }) {
                self.discord.members(room.id).await
            } else {
                Err(ApiError::new(ErrorKind::Gone))
            }
        };
        match self.repeat(read).await {
            Ok(users) => {
                let agents = self.registry.agents_among(users);
                if let Err(refusal) = room.submit(self, &Input::Members { ticket, agents }) {
                    tracing::debug!(channel = %room.id, %refusal, "a member list came to nothing");
                }
            }
            Err(error) => self.settle_with(room, ticket, Err::<(), _>(error), |()| None),
        }
    }

    /// Wakes the agent that has the floor: a hosted one by calling it, another by the host's waker
    /// or a trigger message.
    pub(crate) async fn trigger(
        &self,
        room: &Arc<Room>,
        ticket: Ticket,
        agent: AgentKey,
        turn: TurnId,
        attempt: u8,
    ) {
        if self.hosted(agent).is_some() {
            self.recall(room).await;
            self.ask_for_hosted(room, ticket, agent, Some(turn), attempt);
            return self.settle(room, ticket, Settlement::Done { message: None });
        }
        let deferred = room.lock().active().take_deferred(agent);
        let key = deferred.as_ref().map(|deferred| deferred.key);
        if deferred.is_some_and(|deferred| deferred.tell(turn)) {
            room.lock().active().give_held(agent, turn);
            return self.settle(room, ticket, Settlement::Done { message: None });
        }
        match self.wake_directly(room, (agent, turn, attempt), key).await {
            Ok(Woken::Called) => {
                return self.settle(room, ticket, Settlement::Done { message: None });
            }
            Ok(Woken::PostTrigger) => {}
            Err(error) => {
                return self.settle_with(room, ticket, Err::<(), _>(error), |()| None);
            }
        }
        let Some(user) = self.registry.user(agent) else {
            return self.settle(room, ticket, Settlement::Failed { retry_at: None });
        };
        // Where the trigger stands, they stand as well.
        room.lock().active().give_held(agent, turn);
        if !self.settings.notify {
            return self.settle(room, ticket, Settlement::Done { message: None });
        }
        let content = self.settings.trigger(user);
        let mentions = Mentions::User(user);
        let posted = self.post_as_moderator(room, ticket, content, mentions, Some(agent)).await;
        self.settle_with(room, ticket, posted, Some);
    }

    async fn wake_directly(
        &self,
        room: &Room,
        (agent, turn, attempt): (AgentKey, TurnId, u8),
        deferral: Option<DeferralKey>,
    ) -> Result<Woken, ApiError> {
        let (Some(waker), Some(name)) = (&self.waker, self.registry.name(agent)) else {
            return Ok(Woken::PostTrigger);
        };
        self.recall(room).await;
        let (newest, missed) = self.missed(room, agent, turn).await;
        let channel = room.id;
        let call = WakeCall { channel, agent: name, turn, attempt, newest, missed, deferral };
        self.within(self.settings.work_deadline, waker.wake(call)).await?
    }

    /// Posts with the debt's own nonce, when the pace allows.
    async fn post_as_moderator(
        &self,
        room: &Room,
        ticket: Ticket,
        content: String,
        mentions: Mentions,
        agent: Option<AgentKey>,
    ) -> Result<MessageId, ApiError> {
        self.post_as_moderator_in(room, room.id, ticket, content, mentions, agent).await
    }

    async fn post_as_moderator_in(
        &self,
        room: &Room,
        place: ChannelId,
        ticket: Ticket,
        content: String,
        mentions: Mentions,
        agent: Option<AgentKey>,
    ) -> Result<MessageId, ApiError> {
        let now = self.clock.now();
        let debt =
            room.lock().channel.debts().iter().find(|d| d.effect.ticket() == Some(ticket)).copied();
        let since = debt.map_or(now, |debt| debt.since);
        let nonce = Nonce::from_parts(room.id.get(), since.as_millis(), ticket.get());
        let at = self.pacer.reserve(now, place, agent);
        if at > now {
            self.clock.sleep_until(at).await;
            // The floor may have moved on while the post waited for its place.
            if debt.is_some_and(|debt| !room.lock().channel.wants(&debt.effect)) {
                return Err(ApiError::new(ErrorKind::Gone)
                    .with_source("overtaken while it waited for its pace"));
            }
        }
        let post = Post { channel: place, content, nonce, mentions, reply_to: None };
        Ok(Shared::post(self, self.discord.as_ref(), post, Known::default()).await?.id)
    }

    pub(crate) async fn delete_trigger(
        &self,
        room: &Arc<Room>,
        ticket: Ticket,
        message: MessageId,
    ) {
        let deleted = self.delete(room.id, message).await;
        self.settle_with(room, ticket, deleted, |()| None);
    }

    pub(crate) async fn poll(&self, room: &Arc<Room>, ticket: Ticket, after: Option<MessageId>) {
        let limit = self.settings.poll_limit.clamp(1, 100);
        let request = HistoryRequest { channel: room.id, after: None, limit };
        let read = self.within(self.settings.work_deadline, self.discord.history(request)).await;
        match read.and_then(|read| read) {
            Ok(mut messages) => {
                messages.sort_unstable_by_key(|message| message.id);
                let speaker = room.lock().channel.view().speaker();
                let user = speaker.and_then(|agent| self.registry.user(agent));
                // Without an anchor everything is new, and only the speaker's words are looked for.
                messages.retain(|message| match after {
                    Some(anchor) => message.id > anchor,
                    None => Some(message.author) == user,
                });
                for message in messages {
                    self.take_message(room, message);
                }
                self.settle(room, ticket, Settlement::Done { message: None });
            }
            Err(error) => self.settle_with(room, ticket, Err::<(), _>(error), |()| None),
        }
    }

    pub(crate) async fn post_notice(&self, room: &Arc<Room>, ticket: Ticket, notice: Notice) {
        let settings = &self.settings;
        let about = |words: &str, agent| {
            let name = self.registry.name(agent);
            words.replace("{agent}", name.as_ref().map_or("an agent", AgentId::as_str))
        };
        let words = match notice {
            Notice::Closed => settings.closed_notice.clone(),
            Notice::Ceiling => settings.ceiling_notice.clone(),
            Notice::Budget => settings.budget_notice.clone(),
            Notice::TimedOut { agent } => about(&settings.timeout_notice, agent),
            Notice::Disconnected { agent } => about(&settings.disconnect_notice, agent),
            Notice::Archived | _ => settings.archived_notice.clone(),
        };
        let posted = self.post_as_moderator(room, ticket, words, Mentions::Nobody, None).await;
        self.settle_with(room, ticket, posted, Some);
    }

    /// Reminds the initiator: a hosted one is called, any other is addressed.
    pub(crate) async fn remind(
        &self,
        room: &Arc<Room>,
        ticket: Ticket,
        initiator: AgentKey,
        place: ReminderPlace,
    ) {
        let user = self.registry.user(initiator);
        let place = match place {
            ReminderPlace::Discussion => room.id,
            ReminderPlace::Callback => {
                room.lock().discussion.as_ref().map_or(room.id, |terms| terms.callback)
            }
        };
        let words = &self.settings.idle_reminder;
        let content = user.map_or_else(|| words.clone(), |user| format!("<@{user}> {words}"));
        let mentions = user.map_or(Mentions::Nobody, Mentions::User);
        let posted = self.post_as_moderator_in(room, place, ticket, content, mentions, None).await;
        self.settle_with(room, ticket, posted, Some);
        if self.hosted(initiator).is_some() {
            self.recall(room).await;
            self.ask_for_hosted(room, ticket, initiator, None, 0);
        }
    }

    /// Tells a hosted agent that its run was taken away.
    pub(crate) fn cancel_call(
        room: &Room,
        agent: AgentKey,
        run: Option<RunId>,
        turn: Option<TurnId>,
    ) {
        let state = room.lock();
        let call = state.active.as_ref().and_then(|active| active.call.as_ref());
        if let Some(call) = call.filter(|call| call.agent == agent && Some(call.run) == run) {
            tracing::debug!(channel = %room.id, turn = turn.map(TurnId::get), "a run is cancelled");
            call.link.cancel();
        }
    }
}
