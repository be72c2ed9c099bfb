//! Divides a recording into the acts of people and the acts of agents.

use std::collections::BTreeSet;
use std::sync::Arc;

use dirigent::replay::RecordedChannel;
use dirigent::settings::MentionRule;
use dirigent::snapshot::RestoreError;
use dirigent_core::{
    AgentKey, Answer, Author, Cause, Effect, Input, Message, MessageKind, RunId, Settlement,
    Ticket, Timestamp, Transition, TurnMachine, Verdict,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::message_ids::is_by_time;
use super::played::{Assumption, Played};
use super::script::{Ask, Errand, ErrandKind, Line, Occasion, RanOut, Said, is_reply};
use super::stage::Playing;
use crate::choices::{BadChoice, RuleChoices};

/// The longest time in milliseconds between the end of a run and a message that belongs to its reply.
const AFTERWARDS: u64 = 30_000;

/// A recorded evening that can be played again under other rules.
///
/// People act as they did, and at the same times. On its n-th turn after a person's word, an agent acts as on its n-th turn after that
/// word in the recording, and takes as long. If it had no such turn, the evening takes another way. You find the point in
/// [`Played::other_ways`], and your [`Assumption`] decides how it goes on.
///
/// ```
/// use dirigent::replay::RecordedChannel;
/// use dirigent::snapshot::Snapshot;
/// use dirigent_lab::{Assumption, RuleChoices, Evening};
///
/// let evening = Evening::of(&RecordedChannel::new(Default::default(), Snapshot::default()))?;
/// let played = evening.under(&"order.skip_passed=true".parse()?, Assumption::Passes)?;
/// assert!(played.is_as_recorded());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evening {
    pub(super) recorded: RecordedChannel,
    /// The acts of people, operators and the chat, with their times and places.
    pub(super) outside: Vec<(Timestamp, usize, Input)>,
    pub(super) asks: Vec<Ask>,
    pub(super) by_occasion: FxHashMap<Occasion, usize>,
    pub(super) errands: FxHashMap<ErrandKind, Vec<Errand>>,
    /// The times and places of the ticks.
    pub(super) ticks: Vec<(Timestamp, usize)>,
    pub(super) transitions: Vec<Transition>,
    /// The places of gate calls that were denied.
    pub(super) denied: FxHashSet<usize>,
    /// The median times that each agent takes to begin and to end a run, in milliseconds.
    paces: FxHashMap<AgentKey, (u64, u64)>,
    /// True if the ids of messages contain their time, as in Discord.
    pub(super) ids_by_time: bool,
}

/// The state while a recording is read.
struct Reading {
    evening: Evening,
    machine: TurnMachine,
    said: Said,
    /// The number of times that each agent was asked since the newest word.
    asked: FxHashMap<AgentKey, usize>,
    /// The newest ask of each agent, with the end of its run.
    newest: FxHashMap<AgentKey, (usize, Option<u64>)>,
    runs: FxHashMap<(AgentKey, RunId), usize>,
    open: FxHashMap<Ticket, Open>,
    /// The ask of the agent that has the floor.
    under_way: Option<usize>,
}

/// An effect without a settlement so far.
#[derive(Clone, Copy)]
enum Open {
    Trigger(usize),
    Errand(ErrandKind, u64),
}

impl Evening {
    /// Reads a recording.
    ///
    /// # Errors
    ///
    /// Returns an error if the turn machine cannot restore its beginning.
    pub fn of(recorded: &RecordedChannel) -> Result<Self, RestoreError> {
        let machine = TurnMachine::restore(Arc::clone(&recorded.config), &recorded.start)?;
        let evening = Self {
            recorded: recorded.clone(),
            outside: Vec::new(),
            asks: Vec::new(),
            by_occasion: FxHashMap::default(),
            errands: FxHashMap::default(),
            ticks: Vec::new(),
            transitions: Vec::new(),
            denied: FxHashSet::default(),
            paces: FxHashMap::default(),
            ids_by_time: is_by_time(&recorded.inputs),
        };
        let mut reading = Reading {
            evening,
            machine,
            said: Said::default(),
            asked: FxHashMap::default(),
            newest: FxHashMap::default(),
            runs: FxHashMap::default(),
            open: FxHashMap::default(),
            under_way: None,
        };
        let mut effects = Vec::new();
        for (place, (at, input)) in recorded.inputs.iter().enumerate() {
            effects.clear();
            let answer = reading.machine.handle(*at, input, &mut effects);
            reading.take(place, *at, input, answer.ok());
            if answer.is_ok() {
                let words = reading.said.words;
                reading.said.hear(input);
                if reading.said.words != words {
                    reading.asked.clear();
                }
            }
            reading.look(*at);
            for effect in &effects {
                reading.follow(*at, effect);
            }
        }
        Ok(reading.end())
    }

    /// Plays the evening under the recorded rules with these changes.
    ///
    /// # Errors
    ///
    /// Returns a [`BadChoice`] if a change names no rule, or if the rule cannot have the value.
    pub fn under(
        &self,
        choices: &RuleChoices,
        assumption: Assumption,
    ) -> Result<Played, BadChoice> {
        let config = Arc::new(choices.over(&self.recorded.config)?);
        Playing::new(self, config, choices, assumption)?.play()
    }

    /// Returns sentences for people about effects of these changes that the recording cannot show. For example, it may not say whom people
    /// addressed.
    pub fn caveats(&self, choices: &RuleChoices) -> Vec<String> {
        let mut caveats = Vec::new();
        if choices.touches("people.mentions")
            && self.recorded.config.people.mentions == MentionRule::Ignored
        {
            let what = "the recording was made under people.mentions=ignored, so it does not say whom people addressed";
            caveats.push(what.to_owned());
        }
        caveats
    }

    /// Returns the agents that took part, in ascending order of their keys.
    pub fn agents(&self) -> impl Iterator<Item = AgentKey> + use<'_> {
        let asked = self.asks.iter().map(|ask| ask.occasion.agent);
        let listed = self.recorded.inputs.iter().flat_map(|(_, input)| match input {
            Input::Members { agents, .. } => agents.clone(),
            _ => Vec::new(),
        });
        asked.chain(listed).collect::<BTreeSet<_>>().into_iter()
    }

    /// Returns the times that an agent takes to begin and to end a run, in milliseconds.
    pub(super) fn pace(&self, agent: AgentKey) -> (u64, u64) {
        self.paces.get(&agent).copied().unwrap_or_default()
    }

    /// Returns the time of the first input.
    pub fn begins(&self) -> Timestamp {
        self.recorded.inputs.first().map_or(self.recorded.start.now, |(at, _)| *at)
    }

    /// Returns the recording.
    pub const fn recorded(&self) -> &RecordedChannel {
        &self.recorded
    }
}

impl Reading {
    /// Assigns an input to an agent's ask, to a settled effect, or to the outside.
    fn take(&mut self, place: usize, at: Timestamp, input: &Input, answer: Option<Answer>) {
        let is_settled = match input {
            Input::Tick => {
                self.evening.ticks.push((at, place));
                return;
            }
            Input::Settled { ticket, settlement } => {
                self.settle(place, at, *ticket, Some(*settlement), input)
            }
            Input::Members { ticket, .. } => self.settle(place, at, *ticket, None, input),
            _ => false,
        };
        if is_settled {
            return;
        }
        if let Some(ask) = self.ask_of(at, input, answer) {
            if answer.is_some() && is_reply(input) {
                self.said.speak(Some(ask));
            }
            self.say(ask, place, at, input);
        } else {
            if matches!(answer, Some(Answer::Verdict(Verdict::Deny { .. }))) {
                self.evening.denied.insert(place);
            }
            self.evening.outside.push((at, place, input.clone()));
        }
    }

    /// Notes the end of the current turn.
    fn look(&mut self, at: Timestamp) {
        let speaker = self.machine.view().speaker();
        let Some(ask) = self.under_way.and_then(|ask| self.evening.asks.get_mut(ask)) else {
            return;
        };
        if speaker != Some(ask.occasion.agent) {
            ask.over_after = at.as_millis().saturating_sub(ask.at);
            self.under_way = None;
        }
    }

    fn end(mut self) -> Evening {
        let end = self.evening.recorded.inputs.last().map_or(0, |(at, _)| at.as_millis());
        if let Some(ask) = self.under_way.and_then(|ask| self.evening.asks.get_mut(ask)) {
            ask.over_after = end.saturating_sub(ask.at);
        }
        for errands in self.evening.errands.values_mut() {
            errands.sort_by_key(|errand| (errand.at, errand.place));
        }
        let mut taken: FxHashMap<AgentKey, (Vec<u64>, Vec<u64>)> = FxHashMap::default();
        for ask in &self.evening.asks {
            let (starts, runs) = taken.entry(ask.occasion.agent).or_default();
            let start = ask.lines.iter().find(|line| matches!(line.input, Input::Gate { .. }));
            let end = ask.lines.iter().find(|line| matches!(line.input, Input::RunEnded { .. }));
            if let (Some(start), Some(end)) = (start, end) {
                starts.push(start.after);
                runs.push(end.after.saturating_sub(start.after));
            }
        }
        let paces = taken
            .into_iter()
            .map(|(agent, (starts, runs))| (agent, (median(starts), median(runs))));
        self.evening.paces = paces.collect();
        self.evening
    }

    fn settle(
        &mut self,
        place: usize,
        at: Timestamp,
        ticket: Ticket,
        settlement: Option<Settlement>,
        input: &Input,
    ) -> bool {
        let evening = &mut self.evening;
        match self.open.remove(&ticket) {
            Some(Open::Trigger(ask)) => {
                if let (Some(ask), Some(settlement)) = (evening.asks.get_mut(ask), settlement) {
                    ask.settled = Some((at.as_millis().saturating_sub(ask.at), place, settlement));
                }
                true
            }
            Some(Open::Errand(kind, asked)) => {
                let after = at.as_millis().saturating_sub(asked);
                let errand = Errand { at: asked, after, place, input: input.clone() };
                evening.errands.entry(kind).or_default().push(errand);
                true
            }
            None => false,
        }
    }

    /// Returns the ask of an agent's input. `None` if the agent acted by itself.
    fn ask_of(&mut self, at: Timestamp, input: &Input, answer: Option<Answer>) -> Option<usize> {
        match input {
            Input::Gate { agent: Some(agent), run, .. } => {
                let is_allowed = matches!(answer, Some(Answer::Verdict(Verdict::Allow { .. })));
                let (ask, ended) = *self.newest.get(agent)?;
                let known = run.and_then(|run| self.runs.get(&(*agent, run)).copied());
                if let Some(ask) = known {
                    return Some(ask);
                }
                if !is_allowed || ended.is_some() {
                    return None;
                }
                if let Some(run) = run {
                    self.runs.insert((*agent, *run), ask);
                }
                Some(ask)
            }
            Input::Replied { agent, run, .. } | Input::Receipt { agent, run, .. } => {
                self.of_run(*agent, *run)
            }
            Input::RunEnded { agent, run, .. } | Input::Undelivered { agent, run, .. } => {
                let ask = self.of_run(*agent, *run)?;
                let newest = self.newest.get_mut(agent).filter(|(newest, _)| *newest == ask);
                if let Some((_, ended)) = newest {
                    *ended = Some(at.as_millis());
                }
                Some(ask)
            }
            Input::Message(message) => self.of_message(at, message),
            Input::Spent { .. } => {
                let started = self.evening.asks.iter().rposition(Ask::is_answered)?;
                let ask = self.evening.asks.get(started)?;
                (at.as_millis().saturating_sub(ask.at) <= 600_000).then_some(started)
            }
            _ => None,
        }
    }

    fn of_run(&self, agent: AgentKey, run: Option<RunId>) -> Option<usize> {
        match run {
            Some(run) => self.runs.get(&(agent, run)).copied(),
            None => self.newest.get(&agent).map(|(ask, _)| *ask),
        }
    }

    fn of_message(&self, at: Timestamp, message: &Message) -> Option<usize> {
        let Author::Agent(agent) = message.author else { return None };
        if message.kind == MessageKind::OutOfTurn {
            return None;
        }
        let (ask, ended) = *self.newest.get(&agent)?;
        let is_answered = self.evening.asks.get(ask).is_some_and(Ask::is_answered);
        let has_floor = self.machine.view().speaker() == Some(agent);
        let is_near = match ended {
            Some(ended) => at.as_millis().saturating_sub(ended) <= AFTERWARDS,
            None => has_floor,
        };
        ((is_answered || message.kind == MessageKind::Unasked) && is_near).then_some(ask)
    }

    fn say(&mut self, ask: usize, place: usize, at: Timestamp, input: &Input) {
        if let Some(ask) = self.evening.asks.get_mut(ask) {
            let after = at.as_millis().saturating_sub(ask.at);
            ask.is_whole |= match input {
                Input::RunEnded { .. } | Input::Undelivered { .. } => true,
                Input::Message(message) => message.kind == MessageKind::Unasked,
                _ => false,
            };
            ask.lines.push(Line { after, place, input: input.clone() });
        }
    }

    /// Remembers an effect, so that the later inputs find their cause.
    fn follow(&mut self, at: Timestamp, effect: &Effect) {
        if let Effect::Transition(change) = effect {
            self.evening.transitions.push(*change);
            let out_of_time = matches!(
                change.cause,
                Cause::Retriggered | Cause::StartTimedOut | Cause::RunTimedOut | Cause::RunLost
            );
            let newest = change.agent.and_then(|agent| self.newest.get(&agent));
            let newest = newest.filter(|_| out_of_time).map(|(ask, _)| *ask);
            if let Some(ask) = newest.and_then(|ask| self.evening.asks.get_mut(ask)) {
                let is_cut = !ask.is_whole;
                ask.is_whole = true;
                ask.ran_out = match change.cause {
                    Cause::Retriggered | Cause::StartTimedOut => Some(RanOut::Start),
                    Cause::RunTimedOut => Some(RanOut::Run),
                    _ => None,
                };
                ask.ran_out = ask.ran_out.filter(|_| is_cut);
                ask.over_after = at.as_millis().saturating_sub(ask.at);
            }
        }
        if let Effect::CancelRun { agent, .. } = effect {
            let newest = self.newest.get(agent).map(|(ask, _)| *ask);
            if let Some(ask) = newest.and_then(|ask| self.evening.asks.get_mut(ask)) {
                ask.was_cancelled = true;
            }
        }
        let Some(ticket) = effect.ticket() else { return };
        if let Effect::Trigger { agent, attempt, .. } = *effect {
            let asked = self.asked.entry(agent).or_default();
            *asked += usize::from(attempt == 0);
            let occasion = Occasion { agent, word: self.said.words, nth: *asked, attempt };
            let ask = Ask {
                occasion,
                at: at.as_millis(),
                said: self.said.hash,
                lines: Vec::new(),
                settled: None,
                was_cancelled: false,
                is_whole: false,
                ran_out: None,
                over_after: 0,
            };
            let at = self.evening.asks.len();
            self.evening.by_occasion.entry(occasion).or_insert(at);
            self.evening.asks.push(ask);
            self.newest.insert(agent, (at, None));
            self.under_way = Some(at);
            self.open.insert(ticket, Open::Trigger(at));
        } else if let Some(kind) = ErrandKind::of(effect) {
            self.open.insert(ticket, Open::Errand(kind, at.as_millis()));
        }
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
