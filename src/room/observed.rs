//! Observed agents, which are bots that answer when they are mentioned, and that run without asking.
//!
//! The activity of such an agent in the channel says when its run begins and ends. The room makes the gate call for it,
//! and reports the end. The turn machine only knows that its messages are [`MessageKind::Unasked`].

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{
    AgentKey, Author, Input, Message, MessageId, MessageKind, PhaseKind, RunId, Timestamp, TurnId,
};

use super::addressing::AddressedBy;
use super::context::Context;
use super::guards::Guards;
use super::marks::CLOCKS_APART;
use super::reads::ReadKind;
use super::step::Step;
use super::voice::PendingTrigger;
use crate::ChatMessage;
use crate::settings::ObservedBot;
use crate::settings::observed::EmptyEnd;
use crate::values::message::ChatKind;

/// The time that a bot counts as typing after it said so. Discord shows it for ten seconds.
const TYPING_LASTS: Duration = Duration::from_secs(10);
/// The wait before the history is read again, after a failed read.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// The number of past turns that are known of a channel.
const PAST_MAX: usize = 16;

/// Marks the ids of these runs in the upper half. They are as improbable among a host's own ids as those of hosted
/// runs, and differ from these.
const OBSERVED: u64 = 1 << 62;
const UPPER: u64 = u64::MAX << 32;

/// Returns whether the library made this run's gate call for an observed agent.
pub(crate) const fn is_observed_run(run: RunId) -> bool {
    run.get() & UPPER == OBSERVED
}

/// Returns a run of this turn that begins at this moment. A turn may have several runs, one after the other.
const fn observed_run(turn: TurnId, at: Timestamp) -> RunId {
    RunId::new(OBSERVED | (turn.get() & 0xffff) << 16 | at.as_millis() & 0xffff)
}

#[derive(Debug)]
pub(crate) struct Observation {
    watch: Option<Watch>,
    /// The number of times that each agent wrote outside of its turn, since the room came into memory.
    unpermitted: Vec<(AgentKey, u32)>,
    past: VecDeque<PastTurn>,
    /// The time since when all past turns are among them.
    known_since: Timestamp,
}

#[derive(Debug)]
struct PastTurn {
    agent: AgentKey,
    since: Timestamp,
    until: Timestamp,
}

/// The turn of an observed agent, from its trigger to its end, or its permit.
#[derive(Debug)]
struct Watch {
    agent: AgentKey,
    turn: TurnId,
    /// `true` if it is not a turn, but the one run of an initiator after the reminder.
    is_permit: bool,
    /// Its run, once a sign began it.
    run: Option<RunId>,
    /// The time since when signs count.
    since: Timestamp,
    /// The time of its newest sign. Before the first one it is `since`.
    sign_at: Timestamp,
    typing_until: Option<Timestamp>,
    /// Its messages of this turn that are in the channel.
    said: Vec<MessageId>,
    /// The end of the run by a message that says nothing.
    ends_as: Option<EmptyEnd>,
    /// The time until which the agent may begin by itself, because a person's message mentions it. Until then no
    /// trigger is posted.
    trigger_at: Option<Timestamp>,
    history: History,
    /// The time when the turn ends, or the history is read, unless the agent gives a sign before.
    due: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunEnds {
    /// It ends at this time, if the agent gives no sign before.
    At(Timestamp),
    /// It ends once the history was read, if that shows no sign.
    Unknown,
}

impl RunEnds {
    pub(super) const fn at(self) -> Option<Timestamp> {
        match self {
            Self::At(at) => Some(at),
            Self::Unknown => None,
        }
    }
}

/// Says whether the history was read since the agent was last waited for. Only then its silence counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum History {
    /// The history must be read, but not before this moment.
    Unread(Timestamp),
    UnderWay,
    Read,
}

impl Watch {
    const fn new(agent: AgentKey, turn: TurnId, now: Timestamp) -> Self {
        Self {
            agent,
            turn,
            is_permit: false,
            run: None,
            since: now,
            sign_at: now,
            typing_until: None,
            said: Vec::new(),
            ends_as: None,
            trigger_at: None,
            history: History::Unread(now),
            due: now,
        }
    }

    fn sign(&mut self, now: Timestamp) {
        // Whatever was read before this sign says nothing about what comes after it.
        (self.sign_at, self.history) = (now, History::Unread(now));
    }

    /// Returns whether the agent has finished its text, as far as this is visible.
    fn has_said(&self) -> bool {
        !self.said.is_empty() || self.ends_as.is_some()
    }

    /// Returns when its turn ends without another sign, or when the history must be read before.
    fn ends_at(&self, quiet: Duration, bot: &ObservedBot) -> Timestamp {
        // An agent that works on a reply is silent for longer than one that has spoken.
        let wait = if self.has_said() { quiet } else { bot.silent_after };
        let at = (self.sign_at + wait).max(self.typing_until.unwrap_or_default());
        match self.history {
            History::Unread(from) if !self.has_said() => at.max(from),
            History::Unread(_) | History::UnderWay | History::Read => at,
        }
    }

    fn moments(&mut self) -> impl Iterator<Item = &mut Timestamp> {
        let Self { since, sign_at, typing_until, trigger_at, history, due, .. } = self;
        let from = if let History::Unread(from) = history { Some(from) } else { None };
        [since, sign_at, due].into_iter().chain(typing_until).chain(trigger_at).chain(from)
    }
}

impl Observation {
    fn new(now: Timestamp) -> Self {
        let (unpermitted, past) = (Vec::new(), VecDeque::new());
        Self { watch: None, unpermitted, past, known_since: now }
    }

    fn end_watch(&mut self, now: Timestamp) -> Option<Watch> {
        let watch = self.watch.take()?;
        if self.past.len() >= PAST_MAX {
            let oldest = self.past.pop_front().map(|turn| turn.until);
            self.known_since = self.known_since.max(oldest.unwrap_or_default());
        }
        self.past.push_back(PastTurn { agent: watch.agent, since: watch.since, until: now });
        Some(watch)
    }

    /// Returns whether a text of the agent from this time belongs to no past turn, and is no late piece of one.
    fn is_of_none(&self, agent: AgentKey, sent: Timestamp, grace: Duration) -> bool {
        let mut turns = self.past.iter().filter(|turn| turn.agent == agent);
        let is_of =
            |turn: &PastTurn| sent + CLOCKS_APART >= turn.since && sent < turn.until + grace;
        // Nothing is said about times before the oldest turn that is known.
        sent >= self.known_since && !turns.any(is_of)
    }

    /// Returns how often the agent wrote outside of its turn, as far as is known.
    pub(crate) fn unpermitted(&self, agent: AgentKey) -> u32 {
        self.unpermitted.iter().find(|(known, _)| *known == agent).map_or(0, |(_, posts)| *posts)
    }

    /// Returns when this run of an observed agent ends, if it is watched.
    pub(super) fn ends(&self, run: RunId) -> Option<RunEnds> {
        let watch = self.watch.as_ref().filter(|watch| watch.run == Some(run))?;
        Some(if watch.has_said() { RunEnds::At(watch.due) } else { RunEnds::Unknown })
    }

    fn count_unpermitted(&mut self, agent: AgentKey) -> u32 {
        let known = self.unpermitted.iter().position(|(known, _)| *known == agent);
        let at = known.unwrap_or(self.unpermitted.len());
        if known.is_none() {
            self.unpermitted.push((agent, 0));
        }
        self.unpermitted.get_mut(at).map_or(0, |(_, posts)| {
            *posts = posts.saturating_add(1);
            *posts
        })
    }

    pub(super) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let watch = self.watch.as_ref();
        watch.into_iter().flat_map(|watch| watch.trigger_at.into_iter().chain([watch.due]))
    }

    pub(super) fn move_back(&mut self, by: Duration) {
        let past = self.past.iter_mut().flat_map(|turn| [&mut turn.since, &mut turn.until]);
        let moments = self.watch.iter_mut().flat_map(Watch::moments).chain(past);
        let moments = moments.chain([&mut self.known_since]);
        moments.for_each(|at| *at = at.saturating_sub(by));
    }
}

impl Step<'_> {
    /// Handles a message of an observed agent, before the machine gets it. It sets the kind of the message.
    pub(super) fn observe_message(&mut self, message: &ChatMessage, digest: &mut Message) {
        let cx = self.cx;
        let Author::Agent(agent) = digest.author else {
            return;
        };
        let is_said = message.kind != ChatKind::System;
        let Some(bot) = cx.directory.observed(agent).filter(|_| is_said) else {
            return;
        };
        let ends_as = says_nothing(cx, bot, message);
        let is_signal = ends_as.is_none() && digest.kind == MessageKind::System;
        if ends_as.is_some() {
            digest.kind = MessageKind::System;
        } else if !is_signal {
            // Such a bot may write without a turn. Its words then count towards the ceilings and move no turn.
            digest.kind = MessageKind::Unasked;
        }
        let Some(watch) = self.take_sign(agent) else {
            return;
        };
        // A posted message ends the typing indicator.
        watch.typing_until = None;
        if !is_signal {
            watch.says(message.id, ends_as);
        }
        // The host asked for a channel without "NO_REPLY" lines.
        if ends_as.is_some() && bot.removes {
            self.remove(agent, message.id);
        }
    }

    /// Handles an edit of an observed agent. It counts if the message belongs to its turn.
    pub(super) fn observe_edit(&mut self, message: &ChatMessage, agent: AgentKey) {
        let cx = self.cx;
        let Some(bot) = cx.directory.observed(agent) else {
            return;
        };
        // An edit of an older message, for example an unfurled link, is no sign of a run.
        if !self.is_of_its_turn(agent, message.id) {
            return;
        }
        let ends_as = says_nothing(cx, bot, message);
        if let Some(watch) = self.take_sign(agent) {
            watch.says(message.id, ends_as);
        }
    }

    pub(super) fn observe_deletion(&mut self, message: MessageId) {
        let now = self.now;
        let watch = self.lanes.observed.as_mut().and_then(|observed| observed.watch.as_mut());
        // Bots that show a reply while they make it delete the preview and post the whole again.
        if let Some(watch) = watch.filter(|watch| watch.said.contains(&message)) {
            watch.said.retain(|known| *known != message);
            watch.sign(now);
        }
    }

    pub(super) fn observe_typing(&mut self, agent: AgentKey) {
        let until = self.now + TYPING_LASTS;
        if let Some(watch) = self.take_sign(agent) {
            watch.typing_until = Some(until);
        }
    }

    /// Returns whether this late message belongs to the current turn of an observed agent.
    pub(super) fn is_of_its_turn(&mut self, agent: AgentKey, message: MessageId) -> bool {
        let Some(since) = self.watch_of(agent).map(|watch| watch.since) else {
            return false;
        };
        let sent = self.cx.chat.sent_at(message);
        // After a restart it is no longer known when the agent was triggered, so an answer from the downtime counts.
        sent + CLOCKS_APART >= since || sent < self.cx.up_since.at()
    }

    /// Returns whether an observed agent surely wrote this late message outside of all its turns.
    pub(super) fn is_of_no_turn(&mut self, message: &ChatMessage, digest: &Message) -> bool {
        let cx = self.cx;
        let Author::Agent(agent) = digest.author else {
            return false;
        };
        let Some(bot) = cx.directory.observed(agent) else {
            return false;
        };
        let is_said =
            digest.kind != MessageKind::System && says_nothing(cx, bot, message).is_none();
        if !is_said || self.is_of_its_turn(agent, message.id) {
            return false;
        }
        let grace = self.turns.machine.config().confirmation.late_grace;
        self.observation().is_of_none(agent, cx.chat.sent_at(message.id), grace)
    }

    /// Returns whether the turn of this observed agent goes on.
    pub(super) fn is_watched(&mut self, agent: AgentKey) -> bool {
        self.cx.directory.observed(agent).is_some() && self.watch_of(agent).is_some()
    }

    pub(super) fn tell_unpermitted(&mut self, agent: AgentKey) {
        let posts = self.observation().count_unpermitted(agent);
        let remedy = self.cx.directory.observed(agent).map(|bot| &*bot.remedy);
        // Once for each agent, because a misconfigured bot does it with every message.
        if posts == 1 {
            let (channel, agent) = (self.turns.channel, self.cx.directory.name(agent));
            let agent = agent.map(crate::AgentId::as_str);
            tracing::warn!(%channel, agent, remedy, "an observed agent wrote outside of its turn");
        }
    }

    /// Deletes a message of another account that says only that the agent has nothing to say.
    fn remove(&mut self, agent: AgentKey, message: MessageId) {
        let stamp = self.turns.commit.newest();
        self.lanes.cleanup.get_or_insert_default().remove(agent, message, stamp);
    }
}

/// Returns how the run ends with this message, if the message says only that.
fn says_nothing(cx: &Context<'_>, bot: &ObservedBot, message: &ChatMessage) -> Option<EmptyEnd> {
    let silence = cx.settings.reading.silence;
    bot.says_nothing(silence, &message.content).filter(|_| !message.shows_more())
}

impl Watch {
    /// Records a message of the agent in its turn. It may only be the end of the run.
    fn says(&mut self, message: MessageId, ends_as: Option<EmptyEnd>) {
        self.said.retain(|known| *known != message);
        if ends_as.is_some() {
            self.ends_as = ends_as;
        } else {
            self.said.push(message);
        }
    }
}

impl Step<'_> {
    fn observation(&mut self) -> &mut Observation {
        let now = self.now;
        self.lanes.observed.get_or_insert_with(|| Box::new(Observation::new(now)))
    }

    fn watch(&mut self) -> Option<&mut Watch> {
        self.lanes.observed.as_mut()?.watch.as_mut()
    }

    /// Returns the watch of the current turn, if it is this agent's.
    fn watch_of(&mut self, agent: AgentKey) -> Option<&mut Watch> {
        self.align_watch();
        self.watch().filter(|watch| watch.agent == agent)
    }

    /// Handles a sign of the agent. If it is in its turn, the sign begins its run if it has none yet.
    fn take_sign(&mut self, agent: AgentKey) -> Option<&mut Watch> {
        let now = self.now;
        let watch = self.watch_of(agent)?;
        watch.sign(now);
        // The first sign stands for the gate call that such a bot does not make.
        if watch.run.is_none() && !self.begin_observed_run() {
            return None;
        }
        self.watch()
    }

    /// Makes the gate call for the watched agent. Returns whether its run begins.
    fn begin_observed_run(&mut self) -> bool {
        let now = self.now;
        let Some(&mut Watch { agent, turn, .. }) = self.watch() else {
            return false;
        };
        let run = Some(observed_run(turn, now));
        let _ = self.submit(&Input::Gate { agent: Some(agent), run, latest: None });
        // A stop or a deadline may have been faster, and then the machine refuses the run.
        let begins = self.turns.view().run() == run;
        if let Some(watch) = self.watch().filter(|_| begins) {
            watch.run = run;
        }
        begins
    }

    /// Watches the current turn, if it is an observed agent's, and no other.
    fn align_watch(&mut self) {
        let view = self.turns.view();
        let (turn, phase, run) = (view.turn(), view.phase(), view.run());
        let permit = view.permit();
        let is_granted = phase == PhaseKind::Granted && view.pause().is_none();
        let is_offered = permit.is_some() && run.is_none() && !self.lanes.voice.owes_reminder();
        // While it waits, the end of its run may be kept.
        let goes_on = matches!(phase, PhaseKind::Running | PhaseKind::Waiting) || permit.is_some();
        let runs = goes_on && view.ended_run() != run && run.is_some_and(is_observed_run);
        let agent = view.speaker().or(permit).filter(|_| is_granted || is_offered || runs);
        let agent = agent.filter(|agent| self.cx.directory.observed(*agent).is_some());
        let is_its = |watch: &Watch| {
            Some(watch.agent) == agent
                && (watch.turn, watch.is_permit) == (turn, permit.is_some())
                && watch.run.is_some() == runs
        };
        let known = self.watch();
        if known.is_some_and(|watch| is_its(watch)) {
            return;
        }
        let now = self.now;
        self.observation().end_watch(now);
        let watch = agent.and_then(|agent| self.begin_watch(agent, turn, run.filter(|_| runs)));
        self.observation().watch = watch;
    }

    /// Creates the watch of this turn. `None` before the agent knows that its turn has come.
    fn begin_watch(&self, agent: AgentKey, turn: TurnId, run: Option<RunId>) -> Option<Watch> {
        let is_permit = self.turns.view().permit().is_some();
        let fresh = Watch { is_permit, run, ..Watch::new(agent, turn, self.now) };
        // An earlier process may have posted the trigger, too.
        let restored = &self.turns.restored;
        let is_awaited = |owed: PendingTrigger| {
            !owed.may_stand && owed.attempt == 0 && !restored.knows(owed.ticket)
        };
        // A trigger that may already be in the channel counts as heard.
        if run.is_some() || !self.lanes.voice.owed_trigger(turn).is_some_and(is_awaited) {
            return Some(fresh);
        }
        let trigger_at = Some(self.answers_people_until(agent)?);
        Some(Watch { trigger_at, ..fresh })
    }

    fn answers_people_until(&self, agent: AgentKey) -> Option<Timestamp> {
        let addressed = self.lanes.commands.addressed.as_deref()?;
        let pings = matches!(addressed.by, AddressedBy::Mention | AddressedBy::Reply);
        let within = self.cx.directory.observed(agent)?.answers_people_within;
        let since = self.cx.chat.sent_at(addressed.message).min(self.now);
        let is_asked = pings && addressed.agents.contains(&agent);
        // A person's mention starts such a bot by itself, so a trigger would make it answer twice.
        Some(since + within).filter(|until| is_asked && *until > self.now)
    }

    /// Returns whether the trigger of an observed agent waits, because the agent may begin by itself.
    pub(super) fn holds_trigger_back(&mut self, agent: AgentKey) -> bool {
        let now = self.now;
        self.watch_of(agent).is_some_and(|watch| watch.trigger_at > Some(now))
    }

    /// Records that the trigger of an observed agent is in the channel, or that it needs none.
    pub(super) fn triggered(&mut self, agent: AgentKey) {
        if self.cx.directory.observed(agent).is_none() {
            return;
        }
        self.align_watch();
        let now = self.now;
        // The trigger counts as a sign, because the bot begins to work with it.
        if let Some(watch) = self.watch().filter(|watch| watch.run.is_none()) {
            watch.sign(now);
        }
    }

    /// Returns until when this trigger of the agent that has the floor stays in the channel.
    pub(super) fn trigger_stays(&self, trigger: MessageId) -> Option<Timestamp> {
        let bot = self.cx.directory.observed(self.turns.view().speaker()?)?;
        // The chat's clock may be ahead of ours.
        Some(self.cx.chat.sent_at(trigger).min(self.now) + bot.trigger_stays)
    }

    /// Ends the turn of an observed agent that is quiet, or stops waiting for it. Returns whether it did.
    pub(super) fn end_observed_turn(&mut self) -> bool {
        self.align_watch();
        let (cx, now) = (self.cx, self.now);
        let quiet = self.turns.machine.config().confirmation.quiet_period;
        let Some(watch) = self.watch() else {
            return false;
        };
        let Some(bot) = cx.directory.observed(watch.agent) else {
            return false;
        };
        watch.due = watch.ends_at(quiet, bot);
        if let Some(at) = watch.trigger_at.filter(|_| watch.run.is_none()) {
            if at <= now {
                // The agent is triggered now, and watched from then on.
                self.observation().watch = None;
            }
            return false;
        }
        let has_said = watch.has_said();
        if watch.is_permit && watch.run.is_none() {
            // An initiator that does not run keeps its permit.
            return false;
        }
        if now < watch.due || !has_said && !self.is_surely_silent() {
            return false;
        }
        // A silent turn is still a run that ends, so that the machine counts it as a pass.
        if self.watch().is_some_and(|watch| watch.run.is_none()) && !self.begin_observed_run() {
            return false;
        }
        self.end_observed_run()
    }

    /// Returns whether the history was read since the agent gave its last sign, because an event may have been lost.
    fn is_surely_silent(&mut self) -> bool {
        let now = self.now;
        // While something may be missing, silence proves nothing.
        if self.turns.view().chat_away_since().is_some() || self.marks.has_gap() {
            return false;
        }
        let is_read = self.lanes.reads.wanted(ReadKind::Backfill).is_none();
        let Some(history) = self.watch().map(|watch| watch.history) else {
            return false;
        };
        match history {
            History::Read => return true,
            History::UnderWay if !is_read => return false,
            History::UnderWay => self.history_read(false),
            History::Unread(from) if from > now => return false,
            // The read may have begun before the agent fell silent.
            History::Unread(_) if self.lanes.reads.is_under_way(ReadKind::Backfill) => {}
            History::Unread(_) => {
                self.lanes.reads.want_backfill(self.turns, self.marks);
                if let Some(watch) = self.watch() {
                    watch.history = History::UnderWay;
                }
            }
        }
        false
    }

    /// Records that the history was read up to its newest message, or could not be read.
    pub(super) fn history_read(&mut self, is_whole: bool) {
        let again = self.now + LOOK_AGAIN;
        if let Some(watch) = self.watch().filter(|watch| watch.history == History::UnderWay) {
            watch.history = if is_whole { History::Read } else { History::Unread(again) };
        }
    }

    fn end_observed_run(&mut self) -> bool {
        let now = self.now;
        let Some(watch) = self.observation().end_watch(now) else {
            return false;
        };
        let Watch { agent, run, said, ends_as, .. } = watch;
        let anchor = self.turns.view().anchor();
        // For the machine, a message before the run's first sign is no part of the run.
        if !said.is_empty() && said.iter().all(|message| Some(*message) <= anchor) {
            let _ = self.submit(&Input::Receipt { agent, run, messages: said.clone() });
        }
        // With a message the machine waits in this way for the end of posts whose text it does not know.
        let end = ends_as.filter(|_| said.is_empty()).unwrap_or(EmptyEnd::Pass);
        let guards = Guards {
            turns: self.turns,
            calls: &mut self.lanes.calls,
            inbox: &mut self.lanes.inbox,
        };
        let outcome = guards.recognised(self.cx, agent, (end.into(), None));
        self.submit(&Input::RunEnded { agent, run, outcome }).is_ok()
    }
}
