//! I16: when the faults have stopped, the channel moves again.

use dirigent_core::{Author, Config, Input, MessageKind, PhaseKind};

use super::agenda::Happening;
use super::texts::Text;
use super::world::World;
use super::{Faults, rules};
use crate::invariants::Violation;

/// How long the recovery may take where the rules set no time-out, in milliseconds.
const UNLIMITED: u64 = 7_200_000;
/// How often a person writes again: agents may be too few to keep turns, or may have used up a
/// small ceiling with the last pieces of their replies.
const PERSISTENCE: u64 = 40_000;

impl World {
    /// Everything works from now on: whatever waits moves within twice its time-outs, and a
    /// person who writes is answered within as much.
    pub(super) fn recover(&mut self) -> Result<(), Violation> {
        self.faults = Faults::none();
        self.profile.background_events = 0;
        self.crash_in = u64::MAX;
        for agent in &mut self.cast {
            agent.reform();
        }
        let millis = |config: &Config| {
            rules::turn_timeout(config).and_then(|timeout| u64::try_from(timeout.as_millis()).ok())
        };
        let timeout = millis(self.watched.channel().config());
        // What is under way may have begun under the other rules.
        let slowest = timeout.zip(millis(&self.other_rules)).map(|(one, other)| one.max(other));
        self.feed(&Input::Chat { away: false })?;
        let glance = self.watched.glance();
        let waits = glance.is_active() && glance.deadline.is_some();
        if let (Some(slowest), true, None) = (slowest, waits, glance.rest) {
            let moves = self.moves;
            let until = self.time + slowest * 2;
            while self.moves == moves {
                self.step_before(until)?;
            }
        }
        self.answer_a_person(timeout.map_or(UNLIMITED, |timeout| timeout * 2))
    }

    fn answer_a_person(&mut self, within: u64) -> Result<(), Violation> {
        let glance = self.watched.glance();
        if !glance.mode.keeps_turns() || glance.phase == PhaseKind::Archived {
            return Ok(());
        }
        for place in 0..self.cast.len() {
            let Some(agent) = self.cast.get_mut(place) else {
                continue;
            };
            agent.present = true;
            agent.muted = false;
            agent.offline = false;
            let key = agent.key;
            self.feed(&Input::Online(key))?;
            self.feed(&Input::Assign(key))?;
            self.feed(&Input::Unmute(key))?;
            self.feed(&Input::MayWrite(key))?;
            self.feed(&Input::MemberJoined(key))?;
        }
        let answers = self.answers;
        let recount = self.watched.channel().config().members.recount_interval.as_millis();
        let capped = self.watched.channel().config().budget.agent_turns_per_hour.is_some();
        let hour = if capped { 3_600_000 } else { 0 };
        let until =
            self.time + hour + within + u64::try_from(recount).unwrap_or(0) + PERSISTENCE * 2;
        while self.answers == answers {
            if self.watched.glance().phase == PhaseKind::Archived {
                return Ok(()); // a discussion that was overdue (rule 48)
            }
            if self.watched.glance().rest.is_some() {
                // A stop word of before may still have been under way.
                self.feed(&Input::Resume)?;
            }
            self.feed(&Input::ResetBudget)?;
            self.write_once()?;
            let next_word = until.min(self.time + PERSISTENCE);
            while self.answers == answers && self.time < next_word {
                if self.next_at().is_none_or(|at| at > next_word) {
                    self.time = next_word;
                } else {
                    self.go_on()?;
                }
            }
            let glance = self.watched.glance();
            if glance.held.is_some() && glance.deadline.is_none() {
                return Ok(()); // held for as long as the rules let the speaker take
            }
            if self.answers == answers && self.time >= until {
                return Err(self.stuck());
            }
        }
        Ok(())
    }

    fn write_once(&mut self) -> Result<(), Violation> {
        let text = Text::whole(1);
        let id = self.room.post(Author::Human, MessageKind::Conversation, text);
        self.occur(Happening::Deliver(id))
    }

    /// When the next thing happens, in real time.
    fn next_at(&self) -> Option<u64> {
        match (self.agenda.next_at(), self.due()) {
            (Some(next), Some(due)) => Some(next.min(due)),
            (next, due) => next.or(due),
        }
    }

    /// Lets the next thing happen, if it happens before this.
    fn step_before(&mut self, until: u64) -> Result<(), Violation> {
        match self.next_at() {
            Some(at) if at <= until => self.go_on(),
            _ => Err(self.stuck()),
        }
    }

    fn stuck(&self) -> Violation {
        let detail = format!("still {:?}", self.watched.glance());
        Violation::of(
            "I16",
            "after the faults a live channel moves within twice its time-outs",
            detail,
        )
    }
}
