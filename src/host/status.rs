//! The status of a channel, and the reasons for it.

use std::sync::Arc;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::view::{AgentState, Budget, Pause, Seat};
use dirigent_core::{
    AgentKey, Answer, Config, Input, Mode, PhaseKind, Reason, Timestamp, Transition, TurnId,
    TurnState,
};

use crate::host::explanation::{Explanation, OutageNote, UnpermittedPosts};
use crate::ports::ownership::Standing;
use crate::ports::write_bar::{OwnLacks, WriteBar};
use crate::room::Room;
use crate::room::look::{Look, Outage};
use crate::runtime::Runtime;
use crate::runtime::events::{ChannelEvent, Events};
use crate::runtime::presence::FailedCalls;
use crate::runtime::tally::Tally;
use crate::runtime::twins::Twin;
use crate::values::identity::Identity;
use crate::values::load_error::Barred;
use crate::{AgentId, CallError, Channel, ChannelId, Dirigent};

/// A channel's state at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The mode of the channel.
    pub mode: Mode,
    /// The state of turn management.
    pub turn_state: TurnState,
    /// The phase.
    pub phase: PhaseKind,
    /// The pause, if the channel is stopped, on hold or finished.
    pub rest: Option<Pause>,
    /// The agent that has the floor.
    pub speaker: Option<AgentId>,
    /// The reason why every agent is silent, or why agents need no floor. For example, it is
    /// [`Reason::TooFewAgents`](crate::operate::Reason::TooFewAgents) in a disabled channel. `None` while an agent has
    /// the floor and may use it, or may run to conclude an idle discussion.
    pub silence: Option<Reason>,
    /// `true` if an agent still has to get a message of a person. It gets the message with the current turn or the next
    /// one, or the message wakes the channel as soon as an agent can be granted.
    pub has_word: bool,
    /// The newest turn.
    pub turn: TurnId,
    /// The speaker list in order. Each entry has the agent, and the state of its turn in this cycle.
    pub list: Vec<(AgentId, Seat)>,
    /// The state of each agent in the list. It also has agents that are offline, or that are back and not assigned.
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
    /// The time since when the chat has not answered this channel, if turns wait because of it.
    pub chat_away_since: Option<Timestamp>,
    /// The time since when the store has refused the channel's record as it is, for example because it is too large. It
    /// has accepted none since then, so the channel stores nothing and posts nothing, and no agent is called.
    ///
    /// The record is tried again after a minute, and then at growing intervals. They grow to at most 10 minutes if the
    /// record has changed since, and otherwise to at most an hour. The record is tried at once after a call that stores
    /// something durably, for example [`stop`](Channel::stop), and when the driver ends
    /// ([`shutdown`](Dirigent::shutdown)). To start again with an empty record, call [`erase`](Channel::erase).
    pub record_refused_since: Option<Timestamp>,
    /// The agent with a finished reply that waits until the chat takes it.
    pub waiting_reply: Option<AgentId>,
    /// The listed agents with three or more last replies in a row that were not recognised in what was posted, with the
    /// number of these replies. It counts in any channel since this process began. The reason is that the host reports
    /// another text than it posts. Each such turn waits until the agent is quiet, or for
    /// [`Confirmation::delivery_timeout`](crate::settings::Confirmation::delivery_timeout).
    pub unrecognised: Vec<(AgentId, u32)>,
    /// The listed agents with a failed last call, in any channel of this process.
    pub failing: Vec<(AgentId, FailedCalls)>,
    /// `true` if people's messages come to this process without any content, because the bot lacks the message-content
    /// intent. Such messages wake no agent.
    pub sees_no_content: bool,
    /// Another process that posts here with the same tokens and shares no store with this one, if one was noticed.
    pub twin: Option<Twin>,
    /// The number of a discussion's own messages, such as its result, that this process no longer tries to post,
    /// because the chat refuses them. A restart tries them once more. [`discussion`](Channel::discussion) lists them.
    pub given_up: usize,
}

/// Returns the reason why everything is denied in a channel with a record that cannot be used.
pub(crate) const fn reason_of(barred: Barred) -> Reason {
    match barred {
        Barred::Damaged => Reason::RecordDamaged,
        Barred::OtherVersion => Reason::RecordOfOtherVersion,
    }
}

/// Returns the reason why everything is denied in a channel that does not belong to this process, or will soon not.
fn reason_of_standing(runtime: &Runtime, channel: ChannelId) -> Option<Reason> {
    match runtime.standing(channel) {
        // This process has the lease, but gives way to another one with the same tokens.
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
    /// # Errors
    ///
    /// Fails if the channel cannot be read.
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
        // The driver may be late, but the gate would first fire the deadlines that are due.
        let mut machine = look.machine_at(now);
        let standing = reason_of_standing(runtime, self.id);
        let Some(key) = runtime.registry.key(agent) else {
            // An unregistered agent gets the gate's own answer, which differs in a channel without turns.
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
        let moderator = if keeps_turns { runtime.own_lacks(self.id) } else { OwnLacks::NONE };
        // On a lapsed lease the time that the machine names belongs to another process.
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
            // A moderator that does not see the channel does not learn who does.
            is_absent: is_absent(&machine, key)
                && moderator.write_bar.is_none_or(WriteBar::sees_channel),
            bar,
            bar_ends_in: bar.and_then(WriteBar::until).map(|until| until.since(now)),
            moderator,
            ..why(reason)
        })
    }

    /// Returns the current status of the channel. `None` if it was never given a mode.
    ///
    /// # Errors
    ///
    /// Fails if the channel cannot be read.
    pub async fn status(self) -> Result<Option<Status>, CallError> {
        self.dirigent.live().await?;
        let room = self.dirigent.runtime.room(self.id).await?;
        Ok(room.map(|room| status_of(&self.dirigent.runtime, &room.lock().room)))
    }

    /// Returns the channel's newest changes, oldest first, as many as the store keeps.
    ///
    /// # Errors
    ///
    /// Fails with the error of the store.
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

    /// Returns the agent that has the floor, and its turn, if this process has the channel in memory. The call is cheap
    /// and makes no request. A channel that is not in memory has no current turn.
    pub fn floor(self) -> Option<(AgentId, TurnId)> {
        let runtime = &self.dirigent.runtime;
        let room = runtime.rooms.awake(self.id)?;
        let room = room.lock();
        let view = room.room.look().machine().view();
        Some((runtime.registry.name(view.speaker()?)?, view.turn()))
    }

    /// Returns the turns of this channel that failed, oldest first, each with the class that the agent gave its failure
    /// ([`Agent::failure_class`](crate::Agent::failure_class)). The process remembers the newest 256 of all channels,
    /// and none from before a restart.
    pub fn failure_classes(self) -> Vec<(TurnId, Arc<str>)> {
        self.dirigent.runtime.presence.lock().classes_in(self.id)
    }
}

/// Returns the messages that an observed agent wrote here outside of its turn.
fn unpermitted(look: &Look<'_>, runtime: &Runtime, agent: AgentKey) -> Option<UnpermittedPosts> {
    let posts = look.unpermitted(agent);
    let directory = runtime.registry.directory();
    let remedy = directory.observed(agent).filter(|_| posts > 0)?.remedy.clone();
    Some(UnpermittedPosts { posts, remedy })
}

/// Returns whether the agent was missing among those that see a channel with turns, when the list was read last.
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

    /// Returns the agents of the registry, and those that are personas, as the driver knows them, in the order of their
    /// keys. The list is empty until the driver has read the registry.
    pub fn agents(&self) -> Vec<Identity> {
        let directory = self.runtime.registry.directory();
        directory.registered().filter_map(|key| directory.identity(key)).collect()
    }

    /// Returns the name of the agent with this key. Transitions and recordings contain such keys. `None` if no agent
    /// has the key.
    pub fn agent(&self, key: AgentKey) -> Option<AgentId> {
        self.runtime.registry.name(key)
    }

    /// Returns counters of what has happened in all channels since the process began. The counters cost no time while
    /// no one asks.
    pub fn tally(&self) -> Tally {
        self.runtime.counts.look()
    }

    /// Subscribes to the events of all channels from now on.
    pub fn events(&self) -> Events {
        Events::new(self.runtime.events.subscribe())
    }
}

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
