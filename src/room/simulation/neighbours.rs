//! Other rooms, which share accounts, pace and places with the one that is watched.

use std::time::Duration;

use dirigent_core::{AgentKey, Timestamp};

use super::chat::Answers;
use super::world::{World, note};
use crate::ChannelId;
use crate::admission::{AccountKey, Admitted, Claim, ClaimKind, Report, Wait};

/// The first of them; the room that is watched has a smaller number.
const FIRST: u64 = 100;
/// How many there are.
const ROOMS: u64 = 4;
/// The most requests that one of them makes at once.
const BURST: u64 = 6;

#[derive(Debug, Default)]
pub(super) struct OtherProcesses {
    /// What waits to be admitted.
    waiting: Vec<(Claim, Wait)>,
    /// What was admitted, when it ends, and how.
    under_way: Vec<(Admitted, Timestamp, Report)>,
}

const fn asks_at(wait: Wait) -> Option<Timestamp> {
    if let Wait::Until(until) = wait { Some(until) } else { None }
}

impl OtherProcesses {
    pub(super) fn next_moment(&self) -> Option<Timestamp> {
        let asks = self.waiting.iter().filter_map(|(_, wait)| asks_at(*wait));
        asks.chain(self.under_way.iter().map(|(_, ends, _)| *ends)).min()
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// A request that waits although nothing keeps it waiting.
    pub(super) fn waits_in_vain(&self) -> Option<&Claim> {
        let free = self.under_way.is_empty();
        self.waiting.first().map(|(claim, _)| claim).filter(|_| free)
    }

    pub(super) fn set_back(&mut self, by: Duration) {
        let ends = self.under_way.iter_mut().map(|(_, ends, _)| ends);
        ends.for_each(|at| *at = at.saturating_sub(by));
        for (_, wait) in &mut self.waiting {
            if let Wait::Until(until) = wait {
                *until = until.saturating_sub(by);
            }
        }
    }
}

impl World {
    /// A neighbour makes requests, or does without one that waits.
    pub(super) fn neighbour(&mut self) {
        let waiting = self.neighbours.waiting.len();
        if waiting > 0 && self.dice.chance(300) {
            let chosen = self.dice.place(waiting);
            let (claim, _) = self.neighbours.waiting.swap_remove(chosen);
            note!(self, "neighbour does without {claim:?}");
            return;
        }
        let room = ChannelId::new(FIRST + self.dice.below(ROOMS));
        for _ in 0..=self.dice.below(BURST) {
            let claim = self.draw_claim(room);
            self.neighbour_asks(claim);
        }
    }

    fn draw_claim(&mut self, room: ChannelId) -> Claim {
        let kind = match self.dice.below(10) {
            0..=3 => ClaimKind::Post,
            4..=6 => ClaimKind::Read,
            7..=8 => ClaimKind::Call,
            _ => ClaimKind::Consult,
        };
        let agent = AgentKey::new(self.dice.below(u64::from(self.fixed.agents)) as u32);
        let is_agents = kind == ClaimKind::Post && self.is_hosted(agent) && self.dice.chance(500);
        let account = if is_agents { AccountKey::Agent(agent) } else { AccountKey::Moderator };
        Claim::new(room, account, kind)
    }

    fn neighbour_asks(&mut self, claim: Claim) {
        let answer = self.admission.admit(self.now, claim);
        note!(self, "neighbour asks {claim:?} {answer:?}");
        match answer {
            Err(wait) => {
                self.neighbours.waiting.push((Claim { has_waited: true, ..claim }, wait));
            }
            Ok(admitted) => {
                let (ends, report) = self.draw_report(claim.kind);
                self.neighbours.under_way.push((admitted, ends, report));
            }
        }
    }

    /// When a neighbour's request ends, and how.
    fn draw_report(&mut self, kind: ClaimKind) -> (Timestamp, Report) {
        let asks = matches!(kind, ClaimKind::Post | ClaimKind::Read);
        if !asks {
            return (self.soon(if self.calm { 300 } else { 60_000 }), Report::Answered);
        }
        let hangs = self.chat.reads_hang && kind == ClaimKind::Read;
        match self.chat.answers {
            _ if self.calm => (self.soon(300), Report::Answered),
            Answers::Refused => (self.soon(300), Report::Away { refused: true }),
            Answers::Up if !hangs && self.dice.chance(40) => {
                let until = self.soon(20_000);
                (self.now, Report::RateLimited { until })
            }
            Answers::Up if !hangs => (self.soon(300), Report::Answered),
            Answers::Up | Answers::Hanging => {
                let timed_out = self.now + self.fixed.settings.time_limits.request;
                (timed_out, Report::Away { refused: false })
            }
        }
    }

    /// Those whose time has come ask again, and requests end.
    pub(super) fn neighbours_go_on(&mut self) {
        let now = self.now;
        let is_due = |(_, wait): &(Claim, Wait)| asks_at(*wait).is_some_and(|at| at <= now);
        while let Some(at) = self.neighbours.waiting.iter().position(is_due) {
            let (claim, _) = self.neighbours.waiting.swap_remove(at);
            self.neighbour_asks(claim);
        }
        while let Some(at) = self.neighbours.under_way.iter().position(|(_, at, _)| *at <= now) {
            let (admitted, _, report) = self.neighbours.under_way.swap_remove(at);
            note!(self, "neighbour ends {admitted:?} {report:?}");
            self.admission.report(now, &admitted, report);
        }
    }

    /// It is a neighbour's turn in a line: it asks for everything that it wants, but for what has to wait until a time.
    pub(super) fn poll_neighbour(&mut self, room: ChannelId) {
        let is_it = |(claim, wait): &(Claim, Wait)| claim.room == room && asks_at(*wait).is_none();
        let waiting = std::mem::take(&mut self.neighbours.waiting);
        let (polled, waiting): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_it);
        self.neighbours.waiting = waiting;
        for (claim, _) in polled {
            self.neighbour_asks(claim);
        }
    }
}
