//! Agents that are observed: bots that answer when they are mentioned, and run without asking.
//!
//! What such an agent does in the channel says when its run begins and ends. The room makes the gate call for it, and reports
//! the end, so the turn machine knows nothing of this but that its messages are [`MessageKind::Unasked`].

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
use super::voice::OwedTrigger;
use crate::ChatMessage;
use crate::settings::ObservedBot;
use crate::settings::observed::EmptyEnd;
use crate::values::message::ChatKind;

/// How long a bot is taken to type after it said so. Discord shows it for ten seconds.
const TYPING_LASTS: Duration = Duration::from_secs(10);
/// The wait before the history is read again, where it could not be read.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How many turns that are over are known of a channel.
const PAST_MAX: usize = 16;

/// The upper half of the ids of these runs: as improbable among a host's own as those of hosted runs, and none of them.
const OBSERVED: u64 = 1 << 62;
const UPPER: u64 = u64::MAX << 32;

/// Whether the library made this run's gate call for an agent that is observed.
pub(crate) const fn is_observed_run(run: RunId) -> bool {
    run.get() & UPPER == OBSERVED
}

/// A run in this turn that begins at this moment. A turn may have several, one after the other.
const fn observed_run(turn: TurnId, at: Timestamp) -> RunId {
    RunId::new(OBSERVED | (turn.get() & 0xffff) << 16 | at.as_millis() & 0xffff)
}

/// What is known of the observed agents of a channel.
#[derive(Debug)]
pub(crate) struct Observation {
    /// The turn of one that goes on.
    watch: Option<Watch>,
    /// How often each wrote outside of its turn, since the room came into memory.
    unpermitted: Vec<(AgentKey, u32)>,
    /// The newest turns that are over.
    past: VecDeque<PastTurn>,
    /// Since when all that are over are among them.
    known_since: Timestamp,
}

/// The turn of an observed agent that is over.
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
    /// It is no turn, but the one run of an initiator that was reminded.
    is_permit: bool,
    /// Its run, once a sign began it.
    run: Option<RunId>,
    /// When signs began to count.
    since: Timestamp,
    /// Its newest sign; before the first one as above.
    sign_at: Timestamp,
    typing_until: Option<Timestamp>,
    /// Its messages of this turn that stand in the channel.
    said: Vec<MessageId>,
    /// What a message that says nothing made of the run.
    ends_as: Option<EmptyEnd>,
    /// A person's message mentions the agent: until then it may begin by itself, and no trigger is posted.
    trigger_at: Option<Timestamp>,
    history: History,
    /// When the turn ends, or the history is read, unless it gives a sign before.
    due: Timestamp,
}

/// When a run ends that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunEnds {
    /// Then, if the agent gives no sign before.
    At(Timestamp),
    /// Once the history was read, if that shows no sign.
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

/// Whether the history was read since the agent was last waited for: only then is its silence one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum History {
    /// It is to be read, but not before this moment.
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
        (self.sign_at, self.history) = (now, History::Unread(now));
    }

    /// Whether it has said what it says, as far as one sees.
    fn has_said(&self) -> bool {
        !self.said.is_empty() || self.ends_as.is_some()
    }

    /// When its turn ends if it gives no further sign, or when the history is to be read before.
    fn ends_at(&self, quiet: Duration, bot: &ObservedBot) -> Timestamp {
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

    /// The turn that was watched is over.
    fn end_watch(&mut self, now: Timestamp) -> Option<Watch> {
        let watch = self.watch.take()?;
        if self.past.len() >= PAST_MAX {
            let oldest = self.past.pop_front().map(|turn| turn.until);
            self.known_since = self.known_since.max(oldest.unwrap_or_default());
        }
        self.past.push_back(PastTurn { agent: watch.agent, since: watch.since, until: now });
        Some(watch)
    }

    /// Whether what the agent wrote then is of no turn that is over, and no late piece of one.
    fn is_of_none(&self, agent: AgentKey, sent: Timestamp, grace: Duration) -> bool {
        let mut turns = self.past.iter().filter(|turn| turn.agent == agent);
        let is_of =
            |turn: &PastTurn| sent + CLOCKS_APART >= turn.since && sent < turn.until + grace;
        sent >= self.known_since && !turns.any(is_of)
    }

    /// How often the agent wrote outside of its turn, as far as is known.
    pub(crate) fn unpermitted(&self, agent: AgentKey) -> u32 {
        self.unpermitted.iter().find(|(known, _)| *known == agent).map_or(0, |(_, posts)| *posts)
    }

    /// When this run of an observed agent ends, if it is watched.
    pub(super) fn ends(&self, run: RunId) -> Option<RunEnds> {
        let watch = self.watch.as_ref().filter(|watch| watch.run == Some(run))?;
        Some(if watch.has_said() { RunEnds::At(watch.due) } else { RunEnds::Unknown })
    }

    /// The agent wrote outside of its turn. Returns how often it did.
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

    /// The moments at which a turn ends, or is given up waiting for.
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

/// What an observed agent does.
impl Step<'_> {
    /// A message of an observed agent, before the machine gets it. It says of what kind the message is.
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
            digest.kind = MessageKind::Unasked;
        }
        let Some(watch) = self.take_sign(agent) else {
            return;
        };
        watch.typing_until = None;
        if !is_signal {
            watch.says(message.id, ends_as);
        }
        if ends_as.is_some() && bot.removes {
            self.remove(agent, message.id);
        }
    }

    /// An observed agent edited a message. That counts if the message is of its turn.
    pub(super) fn observe_edit(&mut self, message: &ChatMessage, agent: AgentKey) {
        let cx = self.cx;
        let Some(bot) = cx.directory.observed(agent) else {
            return;
        };
        if !self.is_of_its_turn(agent, message.id) {
            return;
        }
        let ends_as = says_nothing(cx, bot, message);
        if let Some(watch) = self.take_sign(agent) {
            watch.says(message.id, ends_as);
        }
    }

    /// A message was deleted. Bots that show a reply while they make it delete that and post it anew.
    pub(super) fn observe_deletion(&mut self, message: MessageId) {
        let now = self.now;
        let watch = self.lanes.observed.as_mut().and_then(|observed| observed.watch.as_mut());
        if let Some(watch) = watch.filter(|watch| watch.said.contains(&message)) {
            watch.said.retain(|known| *known != message);
            watch.sign(now);
        }
    }

    /// An observed agent types.
    pub(super) fn observe_typing(&mut self, agent: AgentKey) {
        let until = self.now + TYPING_LASTS;
        if let Some(watch) = self.take_sign(agent) {
            watch.typing_until = Some(until);
        }
    }

    /// Whether this message, which comes late, is of the turn of an observed agent that goes on.
    pub(super) fn is_of_its_turn(&mut self, agent: AgentKey, message: MessageId) -> bool {
        self.align_watch();
        let watch = self.watch().filter(|watch| watch.agent == agent);
        let Some(since) = watch.map(|watch| watch.since) else {
            return false;
        };
        let sent = self.cx.chat.sent_at(message);
        // Over a restart it is not known any more when the agent was triggered.
        sent + CLOCKS_APART >= since || sent < self.cx.up_since.at()
    }

    /// Whether an observed agent surely wrote this message, which comes late, outside of all its turns.
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

    /// Whether the turn of this observed agent goes on.
    pub(super) fn is_watched(&mut self, agent: AgentKey) -> bool {
        if self.cx.directory.observed(agent).is_none() {
            return false;
        }
        self.align_watch();
        self.watch().is_some_and(|watch| watch.agent == agent)
    }

    /// The agent wrote outside of its turn.
    pub(super) fn tell_unpermitted(&mut self, agent: AgentKey) {
        let posts = self.observation().count_unpermitted(agent);
        let remedy = self.cx.directory.observed(agent).map(|bot| &*bot.remedy);
        if posts == 1 {
            let (channel, agent) = (self.turns.channel, self.cx.directory.name(agent));
            let agent = agent.map(crate::AgentId::as_str);
            tracing::warn!(%channel, agent, remedy, "an observed agent wrote outside of its turn");
        }
    }

    /// A message that says only that the agent has nothing to say is deleted, although it is another account's.
    fn remove(&mut self, agent: AgentKey, message: MessageId) {
        let stamp = self.turns.commit.newest();
        self.lanes.cleanup.get_or_insert_default().remove(agent, message, stamp);
    }
}

/// How the run ends with this message, if the message says only that.
fn says_nothing(cx: &Context<'_>, bot: &ObservedBot, message: &ChatMessage) -> Option<EmptyEnd> {
    let silence = cx.settings.reading.silence;
    bot.says_nothing(silence, &message.content).filter(|_| !message.shows_more())
}

impl Watch {
    /// The agent says this in its turn, or it is only how the run ends.
    fn says(&mut self, message: MessageId, ends_as: Option<EmptyEnd>) {
        self.said.retain(|known| *known != message);
        if ends_as.is_some() {
            self.ends_as = ends_as;
        } else {
            self.said.push(message);
        }
    }
}

/// When its turn begins and ends.
impl Step<'_> {
    fn observation(&mut self) -> &mut Observation {
        let now = self.now;
        self.lanes.observed.get_or_insert_with(|| Box::new(Observation::new(now)))
    }

    fn watch(&mut self) -> Option<&mut Watch> {
        self.lanes.observed.as_mut()?.watch.as_mut()
    }

    /// The agent gave a sign. Where it is in its turn, that begins its run if it has none yet.
    fn take_sign(&mut self, agent: AgentKey) -> Option<&mut Watch> {
        self.align_watch();
        let now = self.now;
        let watch = self.watch().filter(|watch| watch.agent == agent)?;
        watch.sign(now);
        if watch.run.is_none() && !self.begin_observed_run() {
            return None;
        }
        self.watch()
    }

    /// Makes the gate call for the agent that is watched. Returns whether its run begins.
    fn begin_observed_run(&mut self) -> bool {
        let now = self.now;
        let Some(&mut Watch { agent, turn, .. }) = self.watch() else {
            return false;
        };
        let run = Some(observed_run(turn, now));
        let _ = self.submit(&Input::Gate { agent: Some(agent), run, latest: None });
        let begins = self.turns.view().run() == run;
        if let Some(watch) = self.watch().filter(|_| begins) {
            watch.run = run;
        }
        begins
    }

    /// Watches the turn that goes on, if it is an observed agent's, and no other.
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

    /// The watch of this turn. Nothing before the agent knows that its turn has come.
    fn begin_watch(&self, agent: AgentKey, turn: TurnId, run: Option<RunId>) -> Option<Watch> {
        let is_permit = self.turns.view().permit().is_some();
        let fresh = Watch { is_permit, run, ..Watch::new(agent, turn, self.now) };
        // An earlier process may have posted the trigger, too.
        let restored = &self.turns.restored;
        let is_awaited = |owed: OwedTrigger| {
            !owed.may_stand && owed.attempt == 0 && !restored.knows(owed.ticket)
        };
        if run.is_some() || !self.lanes.voice.owed_trigger(turn).is_some_and(is_awaited) {
            return Some(fresh);
        }
        let trigger_at = Some(self.answers_people_until(agent)?);
        Some(Watch { trigger_at, ..fresh })
    }

    /// Until when the agent may answer by itself a person's message that mentions it, if it may still.
    fn answers_people_until(&self, agent: AgentKey) -> Option<Timestamp> {
        let addressed = self.lanes.commands.addressed.as_deref()?;
        let pings = matches!(addressed.by, AddressedBy::Mention | AddressedBy::Reply);
        let within = self.cx.directory.observed(agent)?.answers_people_within;
        let since = self.cx.chat.sent_at(addressed.message).min(self.now);
        let is_asked = pings && addressed.agents.contains(&agent);
        Some(since + within).filter(|until| is_asked && *until > self.now)
    }

    /// Whether the trigger of an observed agent waits, because the agent may begin by itself.
    pub(super) fn holds_trigger_back(&mut self, agent: AgentKey) -> bool {
        self.align_watch();
        let now = self.now;
        self.watch().is_some_and(|watch| watch.agent == agent && watch.trigger_at > Some(now))
    }

    /// The trigger of an observed agent stands in the channel, or it needs none.
    pub(super) fn triggered(&mut self, agent: AgentKey) {
        if self.cx.directory.observed(agent).is_none() {
            return;
        }
        self.align_watch();
        let now = self.now;
        if let Some(watch) = self.watch().filter(|watch| watch.run.is_none()) {
            watch.sign(now);
        }
    }

    /// Until when this trigger of the agent that has the floor stays in the channel.
    pub(super) fn trigger_stays(&self, trigger: MessageId) -> Option<Timestamp> {
        let bot = self.cx.directory.observed(self.turns.view().speaker()?)?;
        Some(self.cx.chat.sent_at(trigger).min(self.now) + bot.trigger_stays)
    }

    /// Ends the turn of an observed agent that is quiet, or gives up waiting for it. Returns whether it did.
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
                // It is triggered now, and watched from then on.
                self.observation().watch = None;
            }
            return false;
        }
        let has_said = watch.has_said();
        if watch.is_permit && watch.run.is_none() {
            // An initiator that does not want to run keeps its permit.
            return false;
        }
        if now < watch.due || !has_said && !self.is_surely_silent() {
            return false;
        }
        if self.watch().is_some_and(|watch| watch.run.is_none()) && !self.begin_observed_run() {
            return false;
        }
        self.end_observed_run()
    }

    /// Whether the history was read since the agent gave its last sign: an event may have been lost.
    fn is_surely_silent(&mut self) -> bool {
        let now = self.now;
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
            // It may have begun before the agent fell silent.
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

    /// The history was read up to its newest message, or could not be.
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
        // The machine takes what stands before the run's first sign for no part of it.
        if !said.is_empty() && said.iter().all(|message| Some(*message) <= anchor) {
            let _ = self.submit(&Input::Receipt { agent, run, messages: said.clone() });
        }
        // With a message this is how the machine waits for the end of what an agent posts without saying what.
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
