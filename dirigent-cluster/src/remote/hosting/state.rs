//! Which agents live here, which calls run, and until when each calling process is known to trust this one.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dirigent::ports::{Timestamp, TurnControl};
use dirigent::{Agent, AgentId, ChannelId, DiscordApi};
use dirigent_relay::HostId;
use futures_util::future::AbortHandle;

use crate::remote::pace::{LEASE, NAMED_FOR};
use crate::remote::rules::{
    Announce, Announced, BeginAnswer, BeginCall, CallId, RunningCall, Start, Steering,
};

/// How many numbers of calls are remembered for each process: a call is begun once.
const CALLS_MAX: usize = 4_096;

/// An agent, and its account.
#[derive(Clone)]
pub(super) struct Lives {
    pub(super) agent: Arc<dyn Agent>,
    pub(super) discord: Arc<dyn DiscordApi>,
}

#[derive(Default)]
pub(super) struct HostedCalls {
    pub(super) agents: BTreeMap<AgentId, Lives>,
    pub(super) calls: BTreeMap<(HostId, CallId), Running>,
    pub(super) is_draining: bool,
    /// When each process was named last that acts for channels.
    named: BTreeMap<HostId, Timestamp>,
    callers: BTreeMap<HostId, Caller>,
}

/// A process that calls agents.
#[derive(Default)]
struct Caller {
    start: Option<Start>,
    /// When this start asked last to begin a call.
    asked: Option<Timestamp>,
    /// The calls of this start that were begun.
    begun: BTreeSet<u64>,
    /// All calls up to this one count as begun.
    begun_up_to: u64,
    /// When the announcements were sent that may still count.
    sent: BTreeMap<u64, Timestamp>,
    last: u64,
    /// When the newest announcement was sent that the process is known to have heard.
    heard: Option<Timestamp>,
}

/// A call that runs.
pub(super) struct Running {
    pub(super) call: CallId,
    pub(super) channel: ChannelId,
    /// The turn and the attempt; not of a run after a reminder.
    pub(super) order: Option<(u64, u8)>,
    pub(super) control: TurnControl,
    pub(super) until: Arc<Mutex<Option<Timestamp>>>,
    pub(super) cost: Arc<AtomicU64>,
    pub(super) step: u64,
    /// How many messages were handed over.
    pub(super) injected: usize,
    pub(super) abort: AbortHandle,
}

/// What becomes of a question to begin a call.
pub(super) enum Begin {
    New(Lives),
    Known(BeginAnswer),
}

impl Running {
    /// The turn stands like this now.
    pub(super) fn steer(&mut self, steering: Steering, now: Timestamp) {
        if steering.step <= self.step {
            return;
        }
        self.step = steering.step;
        let left = steering.time_left_ms.map(|left| now + Duration::from_millis(left));
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = left;
        let new = self.injected.checked_sub(steering.first);
        for message in steering.messages.into_iter().skip(new.unwrap_or(usize::MAX)) {
            if !self.control.inject(message) {
                break;
            }
            self.injected += 1;
        }
        self.control.set_paused(steering.is_paused);
        if steering.is_slow {
            self.control.mark_slow();
        }
        if steering.is_cancelled {
            self.control.cancel();
        }
    }

    fn end(&self) {
        self.control.cancel();
        self.abort.abort();
    }
}

impl Caller {
    fn is_begun(&self, number: u64) -> bool {
        number <= self.begun_up_to || self.begun.contains(&number)
    }

    fn begin(&mut self, number: u64) {
        self.begun.insert(number);
        while self.begun.len() > CALLS_MAX {
            self.begun_up_to = self.begun.pop_first().unwrap_or(self.begun_up_to);
        }
    }

    /// The process heard this announcement.
    fn prove(&mut self, number: u64) {
        self.heard = self.heard.max(self.sent.get(&number).copied());
    }
}

impl HostedCalls {
    /// Looks whether a call is to begin.
    pub(super) fn begin(
        &mut self,
        host: &HostId,
        question: &BeginCall,
        start: Start,
        now: Timestamp,
    ) -> Begin {
        let BeginCall { call, announced, .. } = question;
        if let Some(running) = self.calls.get(&(host.clone(), *call)) {
            let injected = running.injected;
            self.prove(host, *announced, start);
            let announced = self.callers.get(host).map_or(0, |caller| caller.last);
            return Begin::Known(BeginAnswer::Begun { announced, injected });
        }
        // What was asked longer ago than the asker trusts this process is given up there.
        let sent = self.callers.get(host).and_then(|caller| caller.sent.get(&announced.number));
        let sent = sent.filter(|_| announced.start == start);
        let counts = sent.is_some_and(|sent| now.since(*sent) < LEASE);
        if !self.take_start(host, call.start, counts, now) {
            return Begin::Known(BeginAnswer::NotNow);
        }
        self.prove(host, *announced, start);
        let caller = self.callers.entry(host.clone()).or_default();
        if caller.is_begun(call.number) {
            return Begin::Known(BeginAnswer::Over);
        }
        if !counts || self.is_draining || self.is_overtaken(question) {
            return Begin::Known(BeginAnswer::NotNow);
        }
        let Some(lives) = self.agents.get(&question.agent_id).cloned() else {
            return Begin::Known(BeginAnswer::NoSuchAgent);
        };
        if let Some(caller) = self.callers.get_mut(host) {
            caller.begin(call.number);
        }
        self.overtake(question.channel_id);
        Begin::New(lives)
    }

    /// Of a process that was started anew, the calls of its earlier start are over. Returns `false` for an earlier start, as far as
    /// clocks tell, while the known one may live: a process whose clock was set back looks like one. Where the question does not
    /// `count`, it is an old one.
    fn take_start(&mut self, host: &HostId, start: Start, counts: bool, now: Timestamp) -> bool {
        let is_known_alive = |known: Start, asked: Option<Timestamp>| {
            asked.is_some_and(|asked| now.since(asked) < LEASE)
                || self.calls.keys().any(|(of, call)| of == host && call.start == known)
        };
        let (known, asked) =
            self.callers.get(host).map_or((None, None), |caller| (caller.start, caller.asked));
        match known {
            Some(known) if known != start => {
                if known.is_after(start) && (!counts || is_known_alive(known, asked)) {
                    return false;
                }
                self.end_calls(|of, running| of == host && running.call.start != start);
            }
            Some(_) | None => {}
        }
        let caller = self.callers.entry(host.clone()).or_default();
        if known != Some(start) {
            let Caller { sent, last, .. } = std::mem::take(caller);
            *caller = Caller { start: Some(start), sent, last, ..Caller::default() };
        }
        caller.asked = Some(now);
        true
    }

    /// Whether a later turn of the channel runs here.
    fn is_overtaken(&self, question: &BeginCall) -> bool {
        let order = order(question);
        let mut of_channel =
            self.calls.values().filter(|running| running.channel == question.channel_id);
        of_channel.any(|running| order.is_some() && running.order > order)
    }

    /// A call begins in the channel: those of its earlier turns have lost the floor.
    fn overtake(&self, channel: ChannelId) {
        let of_channel = self.calls.values().filter(|running| running.channel == channel);
        of_channel.for_each(|running| running.control.cancel());
    }

    /// The call runs. Returns the number of the last announcement.
    pub(super) fn add(&mut self, host: &HostId, running: Running) -> u64 {
        self.calls.insert((host.clone(), running.call), running);
        self.callers.get(host).map_or(0, |caller| caller.last)
    }

    pub(super) fn running(&mut self, host: &HostId, call: CallId) -> Option<&mut Running> {
        self.calls.get_mut(&(host.clone(), call))
    }

    /// The process heard this announcement.
    pub(super) fn prove(&mut self, host: &HostId, announced: Announced, start: Start) {
        if announced.start == start
            && let Some(caller) = self.callers.get_mut(host)
        {
            caller.prove(announced.number);
        }
    }

    /// The processes that may call: those that act for channels, by what is known now or was a short while ago, and those that wait for a
    /// call. One that is about to end gives its channels back before its calls are over.
    pub(super) fn callers(&mut self, now: Timestamp, named: Vec<HostId>) -> BTreeSet<HostId> {
        self.named.extend(named.into_iter().map(|host| (host, now)));
        self.named.retain(|_, at| now.since(*at) < NAMED_FOR);
        let waiting = self.calls.keys().map(|(host, _)| host);
        self.named.keys().chain(waiting).cloned().collect()
    }

    /// Writes the next announcement to a process.
    pub(super) fn announce(&mut self, host: &HostId, start: Start, now: Timestamp) -> Announce {
        let caller = self.callers.entry(host.clone()).or_default();
        caller.last += 1;
        caller.sent.insert(caller.last, now);
        caller.sent.retain(|_, sent| now.since(*sent) < LEASE);
        let announced = Announced { start, number: caller.last };
        let of_host = self.calls.iter().filter(|((of, _), _)| of == host);
        let running = of_host.map(|((_, call), running)| RunningCall {
            call: *call,
            cost: running.cost.load(Ordering::Acquire),
        });
        Announce {
            announced,
            agents: self.agents.keys().cloned().collect(),
            calls: running.collect(),
        }
    }

    /// These calls are not known to the process that made them.
    pub(super) fn forget(&mut self, host: &HostId, unknown: &[CallId]) {
        self.end_calls(|of, running| of == host && unknown.contains(&running.call));
    }

    /// The calls of processes that may not know of this one any more are over.
    pub(super) fn lapse(&mut self, now: Timestamp) {
        let is_known = |caller: &Caller| caller.heard.is_some_and(|at| now.since(at) < LEASE);
        let lapsed: Vec<_> = self
            .callers
            .iter()
            .filter(|(_, caller)| !is_known(caller))
            .map(|(host, _)| host.clone())
            .collect();
        self.end_calls(|of, _| lapsed.contains(of));
    }

    /// When the next process has not been heard of for too long.
    pub(super) fn next_lapse(&self) -> Option<Timestamp> {
        let callers = self.calls.keys().filter_map(|(host, _)| self.callers.get(host)?.heard);
        callers.map(|heard| heard + LEASE).min()
    }

    fn end_calls(&mut self, is_over: impl Fn(&HostId, &Running) -> bool) {
        self.calls.retain(|(host, _), running| {
            let is_over = is_over(host, running);
            if is_over {
                running.end();
            }
            !is_over
        });
    }
}

/// What orders the calls of a channel.
pub(super) const fn order(question: &BeginCall) -> Option<(u64, u8)> {
    let turn = &question.turn;
    if turn.is_after_reminder { None } else { Some((turn.number, turn.attempt)) }
}
