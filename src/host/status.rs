//! What a channel looks like, and why.

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
    /// What the channel is for.
    pub mode: Mode,
    /// How turns are kept.
    pub turn_state: TurnState,
    /// The phase.
    pub phase: PhaseKind,
    /// Stopped or on hold.
    pub rest: Option<Pause>,
    /// Who has the floor.
    pub speaker: Option<AgentId>,
    /// What keeps every agent silent, or why agents need no floor, for example
    /// [`Reason::TooFewAgents`](crate::operate::Reason::TooFewAgents) in a disabled channel; `None` while one has the
    /// floor and may use it, or may run to conclude an idle discussion.
    pub silence: Option<Reason>,
    /// Whether people said something that is still to be handed to an agent: with the turn under way, with the
    /// next one, or by waking the channel as soon as an agent can be granted.
    pub has_word: bool,
    /// The newest turn.
    pub turn: TurnId,
    /// The speaker list in order: who, and what became of the turn in this cycle.
    pub list: Vec<(AgentId, Seat)>,
    /// What each agent of the list is doing here, and each one that is offline or back and not assigned.
    pub agents: Vec<(AgentId, AgentState)>,
    /// Turns since a human last spoke.
    pub turns_since_human: u32,
    /// Cycles since a human last spoke.
    pub cycles_since_human: u32,
    /// When the discussion's time is up, where it has a limit.
    pub time_up: Option<Timestamp>,
    /// When something is due next, and why.
    pub deadline: Option<dirigent_core::Deadline>,
    /// What was used of the channel's budgets; [`rules`](Self::rules) has the limits.
    pub budget: Budget,
    /// Who was chosen by an operator to speak next.
    pub chosen: Option<AgentId>,
    /// The rules that the channel follows.
    pub rules: Arc<Config>,
    /// Since when the chat has not answered this channel, where turns rest because of it.
    pub chat_away_since: Option<Timestamp>,
    /// Since when the store has refused the channel's record as it is, for example because it is too large, and has
    /// taken none: nothing of the channel is stored or posted, and no agent is called. The record is tried again
    /// after a minute, then later and later: after at most 10 minutes where it has changed since, else after at most an
    /// hour. After a call that stores something for good, such as [`stop`](Channel::stop), and when the driver ends
    /// ([`shutdown`](Dirigent::shutdown)), it is tried at once.
    /// [`erase`](Channel::erase) lets the channel begin anew.
    pub record_refused_since: Option<Timestamp>,
    /// Whose reply is made and waits until the chat takes it.
    pub waiting_reply: Option<AgentId>,
    /// The listed agents whose last replies, three or more in a row, were not recognised in what was
    /// posted, in any channel since this process began, with their number: what the host reports differs
    /// from what it posts. Each such turn waits until the agent is quiet, or for
    /// [`Confirmation::delivery_timeout`](crate::settings::Confirmation::delivery_timeout).
    pub unrecognised: Vec<(AgentId, u32)>,
    /// The listed agents whose last calls failed, in any channel of this process.
    pub failing: Vec<(AgentId, FailedCalls)>,
    /// Whether people's messages come to this process without anything in them, because the bot lacks the message-content
    /// intent: they wake no agent.
    pub sees_no_content: bool,
    /// Another process that posts here with the same tokens and shares no store with this one, where one was noticed.
    pub twin: Option<Twin>,
    /// How many of a discussion's own messages, such as its result, were given up since the chat refuses them; a restart
    /// tries them once more. [`discussion`](Channel::discussion) lists them.
    pub given_up: usize,
}

/// Why everything is denied in a channel whose record cannot be used.
pub(crate) const fn reason_of(barred: Barred) -> Reason {
    match barred {
        Barred::Damaged => Reason::RecordDamaged,
        Barred::OtherVersion => Reason::RecordOfOtherVersion,
    }
}

/// Why everything is denied in a channel that is not, or not for much longer, this process's.
fn reason_of_standing(runtime: &Runtime, channel: ChannelId) -> Option<Reason> {
    match runtime.standing(channel) {
        Standing::Quiet if runtime.owned(channel) == Standing::Held => Some(Reason::Elsewhere),
        Standing::Held => None,
        Standing::Quiet => Some(Reason::LeaseEnding),
        Standing::Lapsed => Some(Reason::LeaseLapsed),
        Standing::Elsewhere => Some(Reason::Elsewhere),
    }
}

impl Channel<'_> {
    /// Why this agent may, or may not, speak now, and what would change that: in words, and for
    /// programs.
    ///
    /// # Errors
    ///
    /// A channel that cannot be read.
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
        // The driver may be late: the gate would let happen first what is due.
        let mut machine = look.machine_at(now);
        let standing = reason_of_standing(runtime, self.id);
        let Some(key) = runtime.registry.key(agent) else {
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
        let goes_on_at = look.goes_on_at(&machine).filter(|_| standing.is_none());
        Ok(Explanation {
            speaker: view.speaker().and_then(|key| runtime.registry.name(key)),
            within: goes_on_at.map(|at| at.since(now)),
            outage: outage_of(runtime, &look, now),
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

    /// What the channel looks like now; `None` when it was never given a mode.
    ///
    /// # Errors
    ///
    /// A channel that cannot be read.
    pub async fn status(self) -> Result<Option<Status>, CallError> {
        self.dirigent.live().await?;
        let room = self.dirigent.runtime.room(self.id).await?;
        Ok(room.map(|room| status_of(&self.dirigent.runtime, &room.lock().room)))
    }

    /// The channel's newest changes, oldest first: as many as the store keeps.
    ///
    /// # Errors
    ///
    /// As the store fails.
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

    /// Returns who has the floor, and in which turn, if this process has the channel in memory. It costs a look and no
    /// request. A channel that is not in memory has no turn under way.
    pub fn floor(self) -> Option<(AgentId, TurnId)> {
        let runtime = &self.dirigent.runtime;
        let room = runtime.rooms.awake(self.id)?;
        let room = room.lock();
        let view = room.room.look().machine().view();
        Some((runtime.registry.name(view.speaker()?)?, view.turn()))
    }

    /// Returns the turns of this channel that failed, each with the class that the agent gave its failure
    /// ([`Agent::failure_class`](crate::Agent::failure_class)), oldest first. The process knows the newest 256 of all
    /// channels; after a restart it knows none.
    pub fn failure_classes(self) -> Vec<(TurnId, Arc<str>)> {
        self.dirigent.runtime.presence.lock().classes_in(self.id)
    }
}

/// What an observed agent wrote here outside of its turn.
fn unpermitted(look: &Look<'_>, runtime: &Runtime, agent: AgentKey) -> Option<UnpermittedPosts> {
    let posts = look.unpermitted(agent);
    let directory = runtime.registry.directory();
    let remedy = directory.observed(agent).filter(|_| posts > 0)?.remedy.clone();
    Some(UnpermittedPosts { posts, remedy })
}

/// Whether the agent was not among those that see a channel with turns when that was read last.
fn is_absent(machine: &dirigent_core::TurnMachine, agent: AgentKey) -> bool {
    let view = machine.view();
    let is_read = machine.snapshot().state.roster.read_at.is_some();
    let is_there = view.list().any(|seat| seat.agent == agent && !seat.left);
    // Where the list is full, it may be that only a place is missing.
    let has_place = view.list().len() < AGENTS_MAX;
    view.mode().keeps_turns() && is_read && !is_there && has_place
}

impl Dirigent {
    /// All channels that have a record, in ascending order of id.
    pub fn channels(&self) -> Vec<ChannelId> {
        self.runtime.rooms.known()
    }

    /// The agents of the registry, and those that are personas, as the driver knows them, in the order of their keys. Empty
    /// until the driver has read the registry.
    pub fn agents(&self) -> Vec<Identity> {
        let directory = self.runtime.registry.directory();
        directory.registered().filter_map(|key| directory.identity(key)).collect()
    }

    /// The name of the agent with this key, as transitions and recordings have it; `None` where no agent has it.
    pub fn agent(&self, key: AgentKey) -> Option<AgentId> {
        self.runtime.registry.name(key)
    }

    /// What has happened in all channels since the process began, as numbers. Costs nothing while no one asks.
    pub fn tally(&self) -> Tally {
        self.runtime.counts.look()
    }

    /// What happens in all channels from now on.
    pub fn events(&self) -> Events {
        Events::new(self.runtime.events.subscribe())
    }
}

fn outage_of(runtime: &Runtime, look: &Look<'_>, now: Timestamp) -> Option<OutageNote> {
    let outage = look.outage()?;
    let reply_of = outage.reply_of.and_then(|key| runtime.registry.name(key));
    let given_up_in = outage.given_up_at.map(|at| at.since(now));
    let Outage { gateway, store, .. } = outage;
    let why = runtime.store_trouble.why().filter(|_| store);
    let since = now.since(outage.since);
    Some(OutageNote { gateway, store, why, reply_of, given_up_in, ..OutageNote::new(since) })
}

fn status_of(runtime: &Runtime, room: &Room) -> Status {
    let view = room.look().machine().view();
    let name = |key| runtime.registry.name(key).unwrap_or_else(|| "unknown".into());
    let listed = view.list().map(|seat| seat.agent);
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
