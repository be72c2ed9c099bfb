//! Read-only access to a channel and to the whole process: the status, explanations, the history, counters and events.

use std::sync::Arc;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::view::{AgentState, Budget, Pause, Seat};
use dirigent_core::{
    AgentKey, Answer, Config, Input, Mode, PhaseKind, Reason, Timestamp, Transition, TurnId,
    TurnState,
};

use crate::host::explanation::{Explanation, OutageNote, UnpermittedPosts};
use crate::ports::ownership::Standing;
use crate::ports::write_bar::{ModeratorLacks, WriteBar};
use crate::room::Room;
use crate::room::look::{Look, Outage};
use crate::runtime::Runtime;
use crate::runtime::events::{ChannelEvent, Events};
use crate::runtime::presence::FailedCalls;
use crate::runtime::tally::Tally;
use crate::runtime::twins::SecondProcess;
use crate::values::identity::Identity;
use crate::values::load_error::Barred;
use crate::{AgentId, CallError, Channel, ChannelId, Dirigent};

/// A channel's state at one moment. [`Channel::status`] returns it.
///
/// The words *phase*, *cycle*, *slot*, *budget* and others are those of the
/// [glossary](https://github.com/dirigent-rs/dirigent/blob/main/docs/glossary.md).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The mode of the channel.
    pub mode: Mode,
    /// The state of turn management.
    pub turn_state: TurnState,
    /// The phase, for example dormant or running.
    pub phase: PhaseKind,
    /// The pause, if the channel is stopped, on hold or finished.
    pub rest: Option<Pause>,
    /// The agent that has the floor.
    pub speaker: Option<AgentId>,
    /// The reason that holds for every agent now. It is of one of two kinds, which [`Reason::allows`] tells apart.
    /// Either the gate denies every agent, for example because the channel is stopped or dormant. Or the channel has no
    /// turns, and every agent may speak freely: [`Reason::Unmanaged`] and [`Reason::TooFewAgents`].
    ///
    /// `None` if the agents differ. That is so while one of them may use the floor, or while the initiator of an idle
    /// discussion may run once to conclude it.
    pub silence: Option<Reason>,
    /// `true` if a message of a person still waits for an agent. An agent gets it with the current turn or the next
    /// one. If the channel is dormant, the message wakes the channel as soon as an agent can get a turn.
    pub has_word: bool,
    /// The newest turn.
    pub turn: TurnId,
    /// The speaker list in order. Each entry has the agent, and the state of its turn in this cycle.
    pub list: Vec<(AgentId, Seat)>,
    /// The state of each agent in the speaker list. Agents follow that are not in the list and are away: they are
    /// offline, or they are back and an operator has not assigned them yet.
    pub agents: Vec<(AgentId, AgentState)>,
    /// The number of turns since a human last spoke.
    pub turns_since_human: u32,
    /// The number of cycles since a human last spoke.
    pub cycles_since_human: u32,
    /// The time when the discussion ends, if it has a time limit.
    pub time_up: Option<Timestamp>,
    /// The next deadline, and its reason.
    pub deadline: Option<dirigent_core::Deadline>,
    /// The used part of the channel's budgets. [`rules`](Self::rules) has the limits.
    pub budget: Budget,
    /// The agent that an operator chose to speak next.
    pub chosen: Option<AgentId>,
    /// The rules that the channel follows.
    pub rules: Arc<Config>,
    /// The moment since which the chat has not answered this channel, if its turns wait for the chat.
    pub chat_away_since: Option<Timestamp>,
    /// The moment since which the store has refused the channel's record, for example because it is too large. `None`
    /// while the store accepts it. Until the store accepts a record of this channel, the channel stores no change,
    /// posts no message and calls no agent.
    ///
    /// The record is tried again after a minute. The interval then doubles, up to an hour, or up to 10 minutes if the
    /// record has changed since the last refusal. The record is tried at once after a call that stores
    /// something durably, for example [`stop`](Channel::stop), and when the driver ends
    /// ([`shutdown`](Dirigent::shutdown)). To start again with an empty record, call [`erase`](Channel::erase).
    pub record_refused_since: Option<Timestamp>,
    /// The agent with a finished reply that waits until the chat takes it.
    pub waiting_reply: Option<AgentId>,
    /// The listed agents with replies that Dirigent does not recognise among their posts, and the number of these
    /// replies. An agent is here if its newest replies were all unrecognised, and at least three of them. Replies in
    /// all channels count, since this process began.
    ///
    /// The reason is that the program of the agent reports another text than it posts. Each such turn takes longer: it
    /// ends when the agent has posted no more for a while, or after
    /// [`Confirmation::delivery_timeout`](crate::settings::Confirmation::delivery_timeout).
    pub unrecognised: Vec<(AgentId, u32)>,
    /// The listed agents with a newest call that failed, and the number of calls that failed in a row. Calls in all
    /// channels of this process count.
    pub failing: Vec<(AgentId, FailedCalls)>,
    /// `true` if people's messages come to this process without any content, because the bot that receives them lacks
    /// Discord's message-content intent. Such messages wake no agent.
    pub sees_no_content: bool,
    /// Another process that posts here with the same tokens and shares no store with this one, if one was noticed.
    pub twin: Option<SecondProcess>,
    /// The number of messages of the discussion itself, which are its guide and its result, that this process no longer
    /// tries to post. The chat refused them. A restart tries them once more. [`discussion`](Channel::discussion) lists
    /// them.
    pub given_up: usize,
}

/// Returns the reason why every agent is denied in a channel with a record that cannot be used.
pub(crate) const fn reason_of(barred: Barred) -> Reason {
    match barred {
        Barred::Damaged => Reason::RecordDamaged,
        Barred::OtherVersion => Reason::RecordOfOtherVersion,
    }
}

/// Returns the reason why every agent is denied, if another process acts for this channel or may soon do so.
fn reason_of_standing(runtime: &Runtime, channel: ChannelId) -> Option<Reason> {
    match runtime.standing(channel) {
        // The channel is quiet for one of two reasons. Here the lease holds, but this process gives way to another one
        // that posts with the same tokens and shares no store. In the other case below the lease is about to end.
        Standing::Quiet if runtime.owned(channel) == Standing::Held => Some(Reason::Elsewhere),
        Standing::Held => None,
        Standing::Quiet => Some(Reason::LeaseEnding),
        Standing::Lapsed => Some(Reason::LeaseLapsed),
        Standing::Elsewhere => Some(Reason::Elsewhere),
    }
}

impl Channel<'_> {
    /// Explains why this agent may, or may not, speak now, and what would change that. The answer has words for people
    /// and values for programs.
    ///
    /// The answer is that of a gate call at this moment, so deadlines that are due but not yet handled count. Nothing
    /// changes in the channel, but a channel that is not in memory is loaded from the store.
    ///
    /// A channel without a mode, a damaged record and a channel of another process are no errors. The explanation then
    /// has that reason, and none of the details. An agent that is not registered gets a reason without details, too.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running, or if the store does not return the record in time.
    pub async fn explain(self, agent: &AgentId) -> Result<Explanation, CallError> {
        self.dirigent.live().await?;
        let why = |reason| Explanation::new(agent.clone(), reason);
        let room = match self.dirigent.runtime.room(self.id).await {
            Ok(Some(room)) if room.lock().room.look().is_damaged() => {
                return Ok(why(Reason::RecordDamaged));
            }
            Ok(Some(room)) => room,
            Ok(None) => return Ok(why(Reason::Unmanaged)),
            Err(CallError::Barred(barred)) => return Ok(why(reason_of(barred))),
            Err(CallError::Elsewhere) => {
                let ownership = self.dirigent.runtime.ownership.as_ref();
                let owner = ownership.and_then(|ownership| ownership.owner(self.id));
                return Ok(Explanation { owner, ..why(Reason::Elsewhere) });
            }
            Err(error) => return Err(error),
        };
        let runtime = &self.dirigent.runtime;
        let now = runtime.clock.now();
        let state = room.lock();
        let look = state.room.look();
        // A gate call first fires the deadlines that are due, even if the driver has not come to them yet. The
        // explanation must be the gate's answer, so it does the same with a copy of the machine.
        let mut machine = look.machine_at(now);
        let standing = reason_of_standing(runtime, self.id);
        let Some(key) = runtime.registry.key(agent) else {
            // An agent without a key is not registered, but it may speak in a channel without turns. So the gate is
            // asked.
            let asked = Input::Gate { agent: None, run: None, latest: None };
            let answer = machine.handle(now, &asked, &mut Vec::new());
            let reason = answer.ok().and_then(Answer::verdict).map(|it| it.reason());
            return Ok(why(standing.or(reason).unwrap_or(Reason::NotRegistered)));
        };
        let view = machine.view();
        let reason = standing.unwrap_or_else(|| machine.explain(key));
        let keeps_turns = view.mode().keeps_turns();
        let bar = runtime.write_bar(self.id, runtime.registry.directory().user(key));
        let bar = bar.filter(|_| keeps_turns);
        let moderator = if keeps_turns { runtime.own_lacks(self.id) } else { ModeratorLacks::NONE };
        // If another process acts for the channel, or may soon, the time that the machine names may not hold.
        let goes_on_at = look.goes_on_at(&machine).filter(|_| standing.is_none());
        Ok(Explanation {
            speaker: view.speaker().and_then(|key| runtime.registry.name(key)),
            within: goes_on_at.map(|at| at.since(now)),
            outage: outage_of(runtime, self.id, &look, now),
            record_refused_for: look.commit().refused.since().map(|since| now.since(since)),
            waits_for_call: look.waits_for_call(),
            unrecognised: runtime.recognition.unrecognised(key),
            failed_calls: runtime.presence.failures(key),
            addressed_by: look.addressed_by(key),
            refused: look.post_failure(key),
            unpermitted: unpermitted(&look, runtime, key),
            sees_no_content: runtime.sight.is_blind(),
            twin: runtime.twins.of(self.id),
            // If the moderator cannot see the channel, it cannot read who can. So a missing agent may be there.
            is_absent: is_absent(&machine, key)
                && moderator.write_bar.is_none_or(WriteBar::sees_channel),
            bar,
            bar_ends_in: bar.and_then(WriteBar::until).map(|until| until.since(now)),
            moderator,
            ..why(reason)
        })
    }

    /// Returns the status of the channel. `None` if it was never given a mode.
    ///
    /// The status is as the driver left the channel. A deadline that is due but not yet handled does not count here,
    /// although [`explain`](Self::explain) counts it. A channel that is not in memory is loaded from the store.
    ///
    /// # Errors
    ///
    /// Fails with [`CallError::Elsewhere`] if another process acts for the channel, and with [`CallError::Barred`] if
    /// its record cannot be used. Also fails if the driver is not running, or if the store does not return the record
    /// in time.
    pub async fn status(self) -> Result<Option<Status>, CallError> {
        self.dirigent.live().await?;
        let room = self.dirigent.runtime.room(self.id).await?;
        Ok(room.map(|room| status_of(&self.dirigent.runtime, &room.lock().room)))
    }

    /// Returns the latest changes of the channel from the store. The store keeps a limited number of them. The oldest
    /// comes first.
    ///
    /// # Errors
    ///
    /// Fails with the error of the store, if the store does not answer in time, or if the driver is not running.
    pub async fn history(self) -> Result<Vec<ChannelEvent>, CallError> {
        self.dirigent.live().await?;
        let limit = self.dirigent.runtime.settings.time_limits.call;
        let kept = self
            .dirigent
            .runtime
            .within(limit, self.dirigent.runtime.store.history(self.id))
            .await??;
        let name = |agent| self.dirigent.runtime.registry.name(agent);
        let event = |transition: Transition| ChannelEvent {
            channel: self.id,
            agent: transition.agent.and_then(name),
            transition,
        };
        Ok(kept.into_iter().map(event).collect())
    }

    /// Returns the agent that has the floor, and its turn. `None` if no agent has it, or if this process does not have
    /// the channel in memory, because such a channel has no current turn. The call is cheap and makes no request.
    ///
    /// If several processes share a store, the answer does not say whether this process still acts for the channel.
    /// [`explain`](Self::explain) does.
    pub fn floor(self) -> Option<(AgentId, TurnId)> {
        let runtime = &self.dirigent.runtime;
        let room = runtime.rooms.awake(self.id)?;
        let room = room.lock();
        let view = room.room.look().machine().view();
        Some((runtime.registry.name(view.speaker()?)?, view.turn()))
    }

    /// Returns the turns of this channel that failed, each with the class that the agent gave its failure
    /// ([`Agent::failure_class`](crate::Agent::failure_class)). The oldest comes first. Failures without a class are
    /// left out. The process remembers 256 failures, the newest in all channels together, and none from before a
    /// restart.
    pub fn failure_classes(self) -> Vec<(TurnId, Arc<str>)> {
        self.dirigent.runtime.presence.lock().classes_in(self.id)
    }
}

/// Returns how many messages an observed agent wrote here outside of its turn, and the setting that prevents this.
/// `None` if there are none, or if the agent is not an observed one.
fn unpermitted(look: &Look<'_>, runtime: &Runtime, agent: AgentKey) -> Option<UnpermittedPosts> {
    let posts = look.unpermitted(agent);
    let directory = runtime.registry.directory();
    let remedy = directory.observed(agent).filter(|_| posts > 0)?.remedy.clone();
    Some(UnpermittedPosts { posts, remedy })
}

/// Returns whether an agent was missing when the members of a channel with turns were last read. `false` if they were
/// never read, or if the list is full.
fn is_absent(machine: &dirigent_core::TurnMachine, agent: AgentKey) -> bool {
    let view = machine.view();
    let is_read = machine.snapshot().state.roster.read_at.is_some();
    let is_there = view.list().any(|seat| seat.agent == agent && !seat.left);
    // If the list is full, the agent may be missing only because there is no place.
    let has_place = view.list().len() < AGENTS_MAX;
    view.mode().keeps_turns() && is_read && !is_there && has_place
}

impl Dirigent {
    /// Returns all channels that have a record, in ascending order of id.
    pub fn channels(&self) -> Vec<ChannelId> {
        self.runtime.rooms.known()
    }

    /// Returns all agents that the driver knows, in the order of their keys. These are the agents of the registry and
    /// the personas. The list is empty until the driver has read the registry.
    pub fn agents(&self) -> Vec<Identity> {
        let directory = self.runtime.registry.directory();
        directory.registered().filter_map(|key| directory.identity(key)).collect()
    }

    /// Returns the name of the agent with this key. Transitions and recordings contain keys in place of names. `None`
    /// if no agent has the key.
    pub fn agent(&self, key: AgentKey) -> Option<AgentId> {
        self.runtime.registry.name(key)
    }

    /// Returns counters of what has happened in all channels since the process began. Counting costs a few additions
    /// for each turn, so it is always on.
    pub fn tally(&self) -> Tally {
        self.runtime.counts.look()
    }

    /// Subscribes to the events of all channels from now on. A slow reader loses the oldest events, and learns how many
    /// ([`Events`]).
    pub fn events(&self) -> Events {
        Events::new(self.runtime.events.subscribe())
    }
}

/// Returns the outage of a channel in words and names for people, if there is one.
fn outage_of(
    runtime: &Runtime,
    channel: ChannelId,
    look: &Look<'_>,
    now: Timestamp,
) -> Option<OutageNote> {
    let outage = look.outage()?;
    let reply_of = outage.reply_of.and_then(|key| runtime.registry.name(key));
    let given_up_in = outage.given_up_at.map(|at| at.since(now));
    let Outage { gateway, store, .. } = outage;
    let why = runtime.store_trouble.why(channel).filter(|_| store);
    let since = now.since(outage.since);
    Some(OutageNote { gateway, store, why, reply_of, given_up_in, ..OutageNote::new(since) })
}

/// Builds the status of a channel from its room, as the driver left it.
fn status_of(runtime: &Runtime, room: &Room) -> Status {
    let view = room.look().machine().view();
    let name = |key| runtime.registry.log_name(key);
    let listed = view.list().map(|seat| seat.agent);
    // An agent that left the list may still be offline, and operators look for it.
    let unlisted = view.away().iter().map(|away| away.agent);
    let unlisted = unlisted.filter(|agent| view.list().all(|seat| seat.agent != *agent));
    let state = |agent| (name(agent), room.look().machine().agent_state(agent));
    let unrecognised = |seat: Seat| {
        let replies = runtime.recognition.unrecognised(seat.agent)?;
        Some((name(seat.agent), replies))
    };
    let failing = |seat: Seat| Some((name(seat.agent), runtime.presence.failures(seat.agent)?));
    Status {
        mode: view.mode(),
        turn_state: view.turn_state(),
        phase: view.phase(),
        rest: view.pause(),
        speaker: view.speaker().map(name),
        silence: reason_of_standing(runtime, room.id()).or_else(|| view.silence()),
        has_word: room.look().has_word(),
        agents: listed.chain(unlisted).map(state).collect(),
        turn: view.turn(),
        list: view.list().map(|seat| (name(seat.agent), seat)).collect(),
        turns_since_human: view.turns_since_human(),
        cycles_since_human: view.cycles_since_human(),
        time_up: view.time_up(),
        deadline: view.deadline(),
        budget: view.budget(),
        chosen: view.chosen().map(name),
        rules: Arc::clone(room.look().machine().config()),
        chat_away_since: view.chat_away_since(),
        record_refused_since: room.look().commit().refused.since(),
        waiting_reply: room.look().waiting_reply().map(name),
        unrecognised: view.list().filter_map(unrecognised).collect(),
        failing: view.list().filter_map(failing).collect(),
        sees_no_content: runtime.sight.is_blind(),
        twin: runtime.twins.of(room.id()),
        given_up: room.look().given_up(),
    }
}
