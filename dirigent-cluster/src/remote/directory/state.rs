//! Which process was heard when, which agents live where, and which calls are under way.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dirigent::ports::Timestamp;
use dirigent::{AgentId, Turn};
use dirigent_relay::HostId;
use tokio::sync::oneshot;

use crate::remote::error::RemoteCallError;
use crate::remote::pace::LEASE;
use crate::remote::rules::{
    Announce, AnnounceAnswer, Announced, AnnouncedBefore, CallEnd, CallId, Start,
};

/// A process in which agents live.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuestStatus {
    /// Its name.
    pub host: HostId,
    /// The agents that it announces, without those that another process announced before.
    pub agents: Vec<AgentId>,
    /// Whether it was not heard of for 3 s.
    pub is_lost: bool,
    /// How many of its agents are called now.
    pub calls: usize,
}

/// Two processes announce one agent at once. The first one is called, until it is lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct AgentConflict {
    /// Which agent.
    pub agent: AgentId,
    /// Where it is called.
    pub called: HostId,
    /// Where it is not.
    pub refused: HostId,
}

impl fmt::Display for AgentConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agent, called, refused } = self;
        write!(
            f,
            "{agent} lives in {called} and in {refused}: it is called in {called}; end it in one of them"
        )
    }
}

pub(crate) struct GuestBook {
    guests: BTreeMap<HostId, Guest>,
    seats: BTreeMap<AgentId, Seat>,
    pub(super) calls: BTreeMap<u64, LiveCall>,
    last_call: u64,
    conflicts: BTreeSet<AgentConflict>,
    /// An agent that was never heard of is waited for since then.
    since: Timestamp,
}

struct Guest {
    start: Start,
    number: u64,
    heard: Timestamp,
    agents: BTreeSet<AgentId>,
    is_lost: bool,
}

/// Where an agent lives.
#[derive(Default)]
struct Seat {
    host: Option<HostId>,
    /// Whether the library has it from the announcement.
    is_hosted: bool,
    /// What the library was told.
    told: Option<Presence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Online,
    Offline,
}

/// What the library is to be told of an agent.
pub(crate) struct News {
    pub(crate) agent: AgentId,
    pub(crate) is_hosted: bool,
    pub(crate) presence: Presence,
}

/// How a call ended.
pub(crate) enum Ended {
    /// By the agent, which took this number of the messages that it was handed.
    There { end: CallEnd, taken: usize },
    /// Its process was lost, or runs it no more.
    Lost(RemoteCallError),
}

pub(super) struct LiveCall {
    host: HostId,
    pub(super) turn: Turn,
    /// Set when the other process took it.
    pub(super) begun_at: Option<u64>,
    cost: u64,
    done: oneshot::Sender<Ended>,
}

impl LiveCall {
    pub(super) const fn new(host: HostId, turn: Turn, done: oneshot::Sender<Ended>) -> Self {
        Self { host, turn, begun_at: None, cost: 0, done }
    }

    fn cost(&mut self, total: u64) {
        let more = total.saturating_sub(self.cost);
        if more > 0 {
            self.cost = total;
            self.turn.report_cost(more);
        }
    }

    pub(super) fn end(mut self, end: CallEnd, taken: usize, cost: u64) {
        self.cost(cost);
        // The caller may be gone meanwhile: then the turn was taken away.
        let _ = self.done.send(Ended::There { end, taken });
    }

    fn lose(self, why: impl FnOnce(HostId) -> RemoteCallError) {
        let _ = self.done.send(Ended::Lost(why(self.host)));
    }
}

impl GuestBook {
    pub(super) fn new(since: Timestamp) -> Self {
        Self {
            guests: BTreeMap::new(),
            seats: BTreeMap::new(),
            calls: BTreeMap::new(),
            last_call: 0,
            conflicts: BTreeSet::new(),
            since,
        }
    }

    pub(crate) fn expect(&mut self, agent: &AgentId) {
        let seat = self.seats.entry(agent.clone()).or_default();
        seat.is_hosted = true;
    }

    pub(super) const fn next_call(&mut self) -> u64 {
        self.last_call += 1;
        self.last_call
    }

    /// Where the agent lives, if that process is not lost.
    pub(crate) fn host_of(&self, agent: &AgentId) -> Option<HostId> {
        let host = self.seats.get(agent)?.host.as_ref()?;
        let guest = self.guests.get(host)?;
        (!guest.is_lost && guest.agents.contains(agent)).then(|| host.clone())
    }

    /// The newest announcement of the process.
    pub(crate) fn announced(&self, host: &HostId) -> Option<Announced> {
        let guest = self.guests.get(host)?;
        Some(Announced { start: guest.start, number: guest.number })
    }

    /// Whether the call is one of this start's that is under way in that process.
    pub(super) fn is_known(&self, host: &HostId, call: CallId, start: Start) -> bool {
        call.start == start && self.calls.get(&call.number).is_some_and(|live| live.host == *host)
    }

    /// Takes an announcement. Returns whether the library is to be told something.
    pub(super) fn heard(
        &mut self,
        host: &HostId,
        announce: Announce,
        start: Start,
        now: Timestamp,
    ) -> (AnnounceAnswer, bool) {
        let Announce { announced, agents, calls } = announce;
        let is_unknown = |call: &CallId| !self.is_known(host, *call, start);
        let unknown = calls.iter().map(|running| running.call).filter(is_unknown).collect();
        if !self.take_announced(host, announced, &agents, now) {
            // Which of its calls are not known here is true all the same.
            return (AnnounceAnswer { unknown, refused: Vec::new() }, false);
        }
        for running in calls.iter().filter(|running| running.call.start == start) {
            if let Some(live) = self.calls.get_mut(&running.call.number) {
                live.cost(running.cost);
            }
        }
        let named: BTreeSet<_> = calls.iter().map(|running| running.call.number).collect();
        let is_dropped = |number: &u64, live: &LiveCall| {
            let is_named = named.contains(number);
            let was_begun = live.begun_at.is_some_and(|at| at < announced.number);
            live.host == *host && was_begun && !is_named
        };
        self.lose(is_dropped, |host| RemoteCallError::GivenUp { host });
        let refused = self.seat(host, &agents);
        let is_news = !self.news(now).is_empty();
        (AnnounceAnswer { unknown, refused }, is_news)
    }

    /// Returns `false` where it is older than what is known.
    fn take_announced(
        &mut self,
        host: &HostId,
        announced: Announced,
        agents: &[AgentId],
        now: Timestamp,
    ) -> bool {
        let Announced { start, number } = announced;
        if let Some(known) = self.guests.get(host) {
            let is_same = known.start == start;
            let is_lost = now.since(known.heard) >= LEASE;
            let is_older = if is_same {
                number <= known.number
            } else {
                !start.is_after(known.start) && !is_lost
            };
            if is_older {
                return false;
            }
            if !is_same {
                // A call that has not begun is begun by the new start.
                let has_begun =
                    |_: &u64, live: &LiveCall| live.host == *host && live.begun_at.is_some();
                self.lose(has_begun, |host| RemoteCallError::Restarted { host });
            }
        }
        let agents = agents.iter().cloned().collect();
        let guest = Guest { start, number, heard: now, agents, is_lost: false };
        self.guests.insert(host.clone(), guest);
        true
    }

    /// Gives the process the agents that no other process has. Returns the others.
    fn seat(&mut self, host: &HostId, agents: &[AgentId]) -> Vec<AnnouncedBefore> {
        let mut refused = Vec::new();
        self.conflicts
            .retain(|conflict| conflict.refused != *host || agents.contains(&conflict.agent));
        for agent in agents {
            let other = self.host_of(agent).filter(|other| other != host);
            if let Some(called) = other {
                let conflict = AgentConflict {
                    agent: agent.clone(),
                    called: called.clone(),
                    refused: host.clone(),
                };
                if !self.conflicts.contains(&conflict) {
                    tracing::warn!("{conflict}");
                    self.conflicts.insert(conflict);
                }
                refused.push(AnnouncedBefore { agent_id: agent.clone(), host: called });
            } else {
                self.seats.entry(agent.clone()).or_default().host = Some(host.clone());
                self.conflicts
                    .retain(|conflict| conflict.agent != *agent || conflict.called == *host);
            }
        }
        refused
    }

    /// Ends these calls.
    fn lose(
        &mut self,
        is_lost: impl Fn(&u64, &LiveCall) -> bool,
        why: impl Fn(HostId) -> RemoteCallError,
    ) {
        let calls = std::mem::take(&mut self.calls);
        let (lost, live) = calls.into_iter().partition(|(number, live)| is_lost(number, live));
        self.calls = live;
        let lost: BTreeMap<u64, LiveCall> = lost;
        for live in lost.into_values() {
            live.lose(&why);
        }
    }

    /// Gives up the processes that were not heard of for too long.
    pub(crate) fn lapse(&mut self, now: Timestamp) {
        let lapsed = self
            .guests
            .iter_mut()
            .filter(|(_, guest)| !guest.is_lost && now.since(guest.heard) >= LEASE);
        let lapsed: Vec<_> = lapsed
            .map(|(host, guest)| {
                guest.is_lost = true;
                host.clone()
            })
            .collect();
        for host in lapsed {
            tracing::warn!(%host, "a process in which agents live was not heard of for 3 s");
            self.lose(|_, live| live.host == host, |host| RemoteCallError::Lost { host });
        }
    }

    /// When the next process is given up that is not heard of until then.
    pub(crate) fn next_lapse(&self, now: Timestamp) -> Option<Timestamp> {
        let heard = self.guests.values().filter(|guest| !guest.is_lost).map(|guest| guest.heard);
        heard.chain([self.since]).map(|at| at + LEASE).filter(|at| *at > now).min()
    }

    /// What the library has not been told yet.
    pub(crate) fn news(&self, now: Timestamp) -> Vec<News> {
        let may_still_come = now.since(self.since) < LEASE;
        let news = self.seats.iter().filter_map(|(agent, seat)| {
            let presence = match self.host_of(agent) {
                Some(_) => Presence::Online,
                None if seat.host.is_none() && may_still_come => return None,
                None => Presence::Offline,
            };
            let is_news = seat.told != Some(presence) || !seat.is_hosted;
            let (agent, is_hosted) = (agent.clone(), seat.is_hosted);
            is_news.then_some(News { agent, is_hosted, presence })
        });
        news.collect()
    }

    pub(crate) fn told(&mut self, agent: &AgentId, presence: Presence) {
        if let Some(seat) = self.seats.get_mut(agent) {
            (seat.is_hosted, seat.told) = (true, Some(presence));
        }
    }

    pub(crate) fn status(&self) -> Vec<GuestStatus> {
        let is_called_in = |agent: &AgentId, host: &HostId| {
            self.seats.get(agent).is_some_and(|seat| seat.host.as_ref() == Some(host))
        };
        let status = self.guests.iter().map(|(host, guest)| GuestStatus {
            host: host.clone(),
            agents: guest
                .agents
                .iter()
                .filter(|agent| is_called_in(agent, host))
                .cloned()
                .collect(),
            is_lost: guest.is_lost,
            calls: self.calls.values().filter(|live| live.host == *host).count(),
        });
        status.collect()
    }

    pub(crate) fn conflicts(&self) -> Vec<AgentConflict> {
        self.conflicts.iter().cloned().collect()
    }
}
