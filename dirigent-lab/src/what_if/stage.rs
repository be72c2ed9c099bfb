//! Plays an evening. It gives the acts of people and agents to a machine, and carries out the effects.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use dirigent::replay::RecordedChannel;
use dirigent_core::{
    AgentKey, Answer, Config, DeadlineReason, Effect, Input, Outcome, Reason, RunId, Settlement,
    Ticket, Timestamp, Transition, TurnId, TurnMachine,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::evening::Evening;
use super::figures::{EveningFigures, is_rest};
use super::message_ids::MessageIds;
use super::played::{Assumption, Other, OtherWay, Played};
use super::script::{Ask, ErrandKind, Occasion, Said, is_reply};
use crate::choices::{BadChoice, RuleChoices};

/// The longest delay in milliseconds between a deadline and the recorded tick that noticed it.
const LATE: u64 = 2_000;

/// The longest time in milliseconds that an evening can go on after its recording ends.
const DAY: u64 = 86_400_000;

/// The first run id for assumed turns. No recording reaches it.
const RUNS: u64 = 1 << 61;

/// An input that is due at a time.
#[derive(Debug)]
struct Due {
    at: u64,
    place: usize,
    serial: u64,
    play: Option<usize>,
    /// The delay against the recording, in milliseconds.
    shift: i64,
    input: Input,
    /// The assumption behind it, which is noted if the machine accepts the input.
    other: Option<(AgentKey, Other)>,
}

impl Due {
    const fn key(&self) -> (u64, usize, u64) {
        (self.at, self.place, self.serial)
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// The acts of an agent after one trigger.
#[derive(Clone, Copy, Debug)]
struct Play {
    /// The recorded turn that it follows. `None` if it is assumed.
    ask: Option<usize>,
    /// True if its remaining acts are dropped.
    is_off: bool,
    has_started: bool,
}

/// An evening while it is played.
pub(super) struct Playing<'a> {
    evening: &'a Evening,
    choices: &'a RuleChoices,
    assumption: Assumption,
    machine: TurnMachine,
    config: Arc<Config>,
    queue: BinaryHeap<Reverse<Due>>,
    outside: usize,
    ids: MessageIds,
    said: Said,
    asked: FxHashMap<AgentKey, usize>,
    used: Vec<bool>,
    used_errands: FxHashSet<(ErrandKind, usize)>,
    plays: Vec<Play>,
    newest: FxHashMap<AgentKey, (usize, TurnId)>,
    serial: u64,
    inputs: Vec<(Timestamp, Input)>,
    transitions: Vec<Transition>,
    figures: EveningFigures,
    other_ways: Vec<OtherWay>,
    taken: usize,
    taken_after_other_words: usize,
}

impl<'a> Playing<'a> {
    pub(super) fn new(
        evening: &'a Evening,
        config: Arc<Config>,
        choices: &'a RuleChoices,
        assumption: Assumption,
    ) -> Result<Self, BadChoice> {
        let start = &evening.recorded.start;
        let machine = TurnMachine::restore(Arc::clone(&config), start)
            .map_err(|error| BadChoice::Refused(error.to_string()))?;
        Ok(Self {
            evening,
            choices,
            assumption,
            ids: MessageIds::new(evening.ids_by_time, machine.view().newest()),
            machine,
            config,
            queue: BinaryHeap::new(),
            outside: 0,
            said: Said::default(),
            asked: FxHashMap::default(),
            used: vec![false; evening.asks.len()],
            used_errands: FxHashSet::default(),
            plays: Vec::new(),
            newest: FxHashMap::default(),
            serial: 0,
            inputs: Vec::with_capacity(evening.recorded.inputs.len()),
            transitions: Vec::with_capacity(evening.transitions.len()),
            figures: EveningFigures::default(),
            other_ways: Vec::new(),
            taken: 0,
            taken_after_other_words: 0,
        })
    }

    pub(super) fn play(mut self) -> Result<Played, BadChoice> {
        let end = self.evening.recorded.inputs.last().map_or(0, |(at, _)| at.as_millis());
        let steps_max =
            self.evening.recorded.inputs.len().saturating_mul(20).saturating_add(10_000);
        let mut effects = Vec::new();
        let mut is_cut = false;
        while let Some(due) = self.next(end) {
            if due.at > end.saturating_add(DAY) || self.inputs.len() > steps_max {
                is_cut = true;
                break;
            }
            self.happen(due, &mut effects)?;
        }
        self.figures.end();
        Ok(self.ended(is_cut))
    }

    fn ended(self, is_cut: bool) -> Played {
        let then = &self.evening.transitions;
        let pairs = then.iter().zip(&self.transitions);
        let differs = pairs.clone().find(|(then, now)| then != now).map(|(_, now)| now.at);
        let is_short = then.get(self.transitions.len()).map(|missing| missing.at);
        let end = self.evening.recorded.inputs.last().map(|(at, _)| *at);
        let more = self.transitions.get(then.len()).map(|more| more.at);
        let is_long = more.filter(|more| Some(*more) <= end);
        let unsaid = self.evening.asks.iter().zip(&self.used);
        let unsaid = unsaid.filter(|(ask, used)| !**used && ask.has_reply());
        Played {
            unsaid: unsaid
                .map(|(ask, _)| (Timestamp::from_millis(ask.at), ask.occasion.agent))
                .collect(),
            departs_at: differs.or(is_short).or(is_long),
            recording: {
                let start = self.evening.recorded.start.clone();
                let mut recording = RecordedChannel::new(self.config, start);
                recording.inputs = self.inputs;
                recording
            },
            figures: self.figures,
            other_ways: self.other_ways,
            taken: self.taken,
            taken_after_other_words: self.taken_after_other_words,
            is_cut,
            transitions: self.transitions,
        }
    }

    /// Returns the next input from the queue, from outside, or from the machine's deadlines, whichever is due first.
    fn next(&mut self, end: u64) -> Option<Due> {
        while self.queue.peek().is_some_and(|Reverse(due)| self.is_off(due.play)) {
            self.queue.pop();
        }
        let queued = self.queue.peek().map(|Reverse(due)| (due.at, due.place));
        let outside = self.evening.outside.get(self.outside);
        let outside = outside.map(|(at, place, _)| (at.as_millis(), *place));
        let tick = self.tick(end, queued.is_none() && outside.is_none());
        let first = [queued, outside, tick].into_iter().flatten().min()?;
        if queued == Some(first) {
            return self.queue.pop().map(|Reverse(due)| due);
        }
        let (at, place) = first;
        let input = if outside == Some(first) {
            let (_, _, input) = self.evening.outside.get(self.outside)?;
            self.outside += 1;
            input.clone()
        } else {
            Input::Tick
        };
        Some(Due { at, place, serial: 0, play: None, shift: 0, input, other: None })
    }

    fn is_off(&self, play: Option<usize>) -> bool {
        play.and_then(|play| self.plays.get(play)).is_some_and(|play| play.is_off)
    }

    /// Returns the time of the tick for the next deadline. It is as late as in the recording.
    fn tick(&self, end: u64, is_last: bool) -> Option<(u64, usize)> {
        let deadline = self.machine.next_deadline()?;
        let due = deadline.at.as_millis();
        let is_at_rest =
            is_rest(self.machine.view().phase()) && deadline.reason != DeadlineReason::Settle;
        if is_last && is_at_rest && due > end {
            return None;
        }
        let ticks = &self.evening.ticks;
        let recorded = ticks.partition_point(|(at, _)| at.as_millis() < due);
        let recorded = ticks.get(recorded).filter(|(at, _)| at.as_millis() - due <= LATE);
        Some(recorded.map_or((due, 0), |(at, place)| (at.as_millis(), *place)))
    }

    fn happen(&mut self, due: Due, effects: &mut Vec<Effect>) -> Result<(), BadChoice> {
        let Due { at, place, play, shift, mut input, other, .. } = due;
        let now = Timestamp::from_millis(at);
        self.ids.rename(&mut input, shift, self.machine.view().newest());
        match &mut input {
            Input::Gate { agent: Some(agent), .. } if play.is_none() => {
                // Then it asked by itself and was denied. Now it has a turn anyway, and that turn is its answer.
                let reason = self.machine.explain(*agent);
                let was_denied = self.evening.denied.contains(&place);
                if was_denied && matches!(reason, Reason::YourTurn | Reason::InitiatorPermit) {
                    return Ok(());
                }
            }
            Input::Reconfigure(config) => *config = Arc::new(self.choices.over(config)?),
            _ => {}
        }
        effects.clear();
        let answer = self.machine.handle(now, &input, effects);
        self.figures.count(now, &input, answer, effects);
        if answer.is_ok() {
            let words = self.said.words;
            self.said.hear(&input);
            if self.said.words != words {
                self.asked.clear();
            }
        }
        let play = play.and_then(|play| self.plays.get_mut(play));
        if answer.is_ok() && is_reply(&input) {
            self.said.speak(play.as_ref().and_then(|play| play.ask));
        }
        let verdict = answer.ok().and_then(Answer::verdict);
        let happens = verdict.map_or(answer.is_ok(), |verdict| verdict.is_allowed());
        if let (Some(play), Input::Gate { .. }) = (play, &input) {
            play.is_off |= !happens && !play.has_started;
            play.has_started |= happens;
        }
        if let (Some((agent, what)), true) = (other, happens) {
            self.other_ways.push(OtherWay { at: now, agent, what });
        }
        self.inputs.push((now, input));
        for effect in &*effects {
            self.follow(now, place, effect);
        }
        Ok(())
    }

    fn push(&mut self, at: u64, place: usize, play: Option<usize>, shift: i64, input: Input) {
        self.serial += 1;
        let serial = self.serial;
        self.queue.push(Reverse(Due { at, place, serial, play, shift, input, other: None }));
    }

    fn follow(&mut self, now: Timestamp, place: usize, effect: &Effect) {
        match *effect {
            Effect::Transition(change) => self.transitions.push(change),
            Effect::CancelRun { agent, .. } => self.cancel(agent),
            Effect::Trigger { ticket, agent, turn, attempt } => {
                self.ask(now.as_millis(), place, ticket, agent, turn, attempt);
            }
            Effect::Consult { ticket, agent, .. } => {
                if !self.run_errand(now.as_millis(), place, ErrandKind::Consult, ticket) {
                    let what = Other::Consulted;
                    self.other_ways.push(OtherWay { at: now, agent, what });
                }
            }
            _ => {
                if let (Some(kind), Some(ticket)) = (ErrandKind::of(effect), effect.ticket()) {
                    self.run_errand(now.as_millis(), place, kind, ticket);
                }
            }
        }
    }

    /// Drops the remaining acts of an agent if its run is cancelled. If the run was cancelled in the recording, too, they are kept, because
    /// the agent did them nevertheless.
    fn cancel(&mut self, agent: AgentKey) {
        let Some((play, _)) = self.newest.get(&agent).copied() else { return };
        let Some(play) = self.plays.get_mut(play) else { return };
        let recorded = play.ask.and_then(|ask| self.evening.asks.get(ask));
        play.is_off |= recorded.is_none_or(|ask| !ask.was_cancelled);
    }

    /// Settles an effect in the same way as a recorded effect around this time. Returns false if no such effect was recorded.
    fn run_errand(&mut self, now: u64, place: usize, kind: ErrandKind, ticket: Ticket) -> bool {
        let errands = self.evening.errands.get(&kind).map_or(&[][..], Vec::as_slice);
        let later = errands.partition_point(|errand| errand.at <= now);
        let newest = later.saturating_sub(1);
        let at = errands.get(newest).map_or(0, |errand| errand.at);
        let first = errands.partition_point(|errand| errand.at < at);
        let free = (first..later).find(|errand| !self.used_errands.contains(&(kind, *errand)));
        let picked = free.unwrap_or(newest);
        self.used_errands.insert((kind, picked));
        let Some(errand) = errands.get(picked) else {
            let settlement = Settlement::Done { message: None };
            self.push(now, place, None, 0, Input::Settled { ticket, settlement });
            return false;
        };
        let input = match &errand.input {
            Input::Members { agents, .. } => Input::Members { ticket, agents: agents.clone() },
            Input::Settled { settlement, .. } => Input::Settled { ticket, settlement: *settlement },
            _ => return false,
        };
        let place = if free.is_some() { errand.place } else { place };
        self.push(now.saturating_add(errand.after), place, None, shift(errand.at, now), input);
        true
    }

    /// Schedules the acts of an agent on this occasion.
    fn ask(
        &mut self,
        now: u64,
        place: usize,
        ticket: Ticket,
        agent: AgentKey,
        turn: TurnId,
        attempt: u8,
    ) {
        let asked = self.asked.entry(agent).or_default();
        *asked += usize::from(attempt == 0);
        let occasion = Occasion { agent, word: self.said.words, nth: *asked, attempt };
        let found = self.evening.by_occasion.get(&occasion).copied();
        let found = found.filter(|ask| self.used.get(*ask) == Some(&false));
        if let Some(ask) = found {
            self.taken += 1;
            let recorded = self.evening.asks.get(ask);
            let is_same = recorded.is_some_and(|ask| ask.said == self.said.hash);
            self.taken_after_other_words += usize::from(!is_same);
            self.follow_ask(now, place, ticket, turn, ask, None);
        } else if attempt > 0 {
            // The agent is on its way, or does not answer at all.
            let at = Timestamp::from_millis(now);
            self.other_ways.push(OtherWay { at, agent, what: Other::AskedAgain });
            self.settle(now, place, ticket);
        } else if let Some(ask) = self.next_answer(agent) {
            let other = Some((agent, Other::AnswersAsNext));
            self.follow_ask(now, place, ticket, turn, ask, other);
        } else {
            self.settle(now, place, ticket);
            let play = self.begin(agent, turn, None);
            let (start, run) = self.evening.pace(agent);
            self.pass(
                now.saturating_add(start),
                now.saturating_add(start + run),
                place,
                play,
                agent,
                Other::Passes,
            );
        }
    }

    fn settle(&mut self, now: u64, place: usize, ticket: Ticket) {
        let settlement = Settlement::Done { message: None };
        self.push(now, place, None, 0, Input::Settled { ticket, settlement });
    }

    fn begin(&mut self, agent: AgentKey, turn: TurnId, ask: Option<usize>) -> usize {
        let play = self.plays.len();
        self.plays.push(Play { ask, is_off: false, has_started: false });
        self.newest.insert(agent, (play, turn));
        play
    }

    /// Returns the agent's next recorded turn with words, if the assumption is that it says those.
    fn next_answer(&self, agent: AgentKey) -> Option<usize> {
        if self.assumption == Assumption::Passes {
            return None;
        }
        let mut asks = self.evening.asks.iter().zip(&self.used);
        asks.position(|(ask, used)| {
            let is_next = ask.occasion.word >= self.said.words;
            !used && ask.occasion.agent == agent && is_next && ask.has_reply()
        })
    }

    fn follow_ask(
        &mut self,
        now: u64,
        place: usize,
        ticket: Ticket,
        turn: TurnId,
        ask: usize,
        other: Option<(AgentKey, Other)>,
    ) {
        if let Some(used) = self.used.get_mut(ask) {
            *used = true;
        }
        let Some(recorded) = self.evening.asks.get(ask) else { return };
        let agent = recorded.occasion.agent;
        let play = self.begin(agent, turn, Some(ask));
        let shift = shift(recorded.at, now);
        match recorded.settled {
            Some((after, place, settlement)) => {
                let input = Input::Settled { ticket, settlement };
                self.push(now.saturating_add(after), place, None, shift, input);
            }
            None => self.settle(now, place, ticket),
        }
        for line in &recorded.lines {
            self.serial += 1;
            self.queue.push(Reverse(Due {
                at: now.saturating_add(line.after),
                place: line.place,
                serial: self.serial,
                play: Some(play),
                shift,
                input: line.input.clone(),
                other: other.filter(|_| matches!(line.input, Input::Gate { .. })),
            }));
        }
        let (now_due, then_due) = (&self.config.deadlines, &self.evening.recorded.config.deadlines);
        let has_more = recorded.ran_out().is_some_and(|it| it.has_more(now_due, then_due));
        if !recorded.is_whole || has_more {
            let cut = now.saturating_add(recorded.over_after).saturating_add(1);
            let other = if has_more { Other::PassesInTime } else { Other::PassesUninterrupted };
            self.pass(cut, cut, place, play, agent, other);
        }
    }

    /// Schedules a pass of an agent.
    fn pass(
        &mut self,
        start: u64,
        end: u64,
        place: usize,
        play: usize,
        agent: AgentKey,
        other: Other,
    ) {
        let recorded = self.plays.get(play).and_then(|play| self.evening.asks.get(play.ask?));
        let run = recorded.and_then(Ask::run).unwrap_or_else(|| RunId::new(RUNS + play as u64));
        let run = Some(run);
        let begins = !recorded.is_some_and(Ask::is_answered);
        let other = Some((agent, other));
        if begins {
            let input = Input::Gate { agent: Some(agent), run, latest: None };
            self.push_noted(start, place, play, input, other);
        }
        let input = Input::RunEnded { agent, run, outcome: Outcome::Pass };
        self.push_noted(end, place, play, input, other.filter(|_| !begins));
    }

    /// Schedules an assumed act.
    fn push_noted(
        &mut self,
        at: u64,
        place: usize,
        play: usize,
        input: Input,
        other: Option<(AgentKey, Other)>,
    ) {
        self.serial += 1;
        let (serial, play) = (self.serial, Some(play));
        self.queue.push(Reverse(Due { at, place, serial, play, shift: 1, input, other }));
    }
}

/// Returns the delay of an act, in milliseconds.
const fn shift(then: u64, now: u64) -> i64 {
    now.cast_signed().wrapping_sub(then.cast_signed())
}
