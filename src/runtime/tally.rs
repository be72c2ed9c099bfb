//! Counters of what has happened in all channels since the process began. Counting costs a few additions for each turn,
//! so it needs no switch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use dirigent_core::{Cause, PhaseKind, Timestamp, Transition};

/// The number of size classes of times: up to 1 ms, 2 ms, 4 ms and so on, and one for longer times.
const SIZES: usize = 22;

/// Counters of what has happened in all channels since the process began. It is a snapshot of one moment, for metrics.
///
/// ```
/// use dirigent::operate::{Cause, Request};
/// # use dirigent::Dirigent;
/// fn tell(dirigent: &Dirigent) {
///     let tally = dirigent.tally();
///     println!("{} replies, {} posts", tally.changes(Cause::Spoke), tally.requests(Request::Post));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    causes: Vec<u64>,
    phases: Vec<PhaseTimes>,
    requests: [u64; Request::ALL.len()],
    reports: u64,
    long_steps: u64,
}

/// The times that channels stayed in a phase, one for each time that they left it.
///
/// ```
/// let never = dirigent::operate::PhaseTimes::default();
/// assert_eq!((never.count(), never.total().as_millis()), (0, 0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    total_ms: u64,
    sizes: Vec<u64>,
}

/// The requests of the driver to the chat.
///
/// ```
/// use dirigent::operate::Request;
/// assert_eq!(Request::Post.as_str(), "post");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Request {
    /// A message: a reply's part, a trigger, a notice, or a part of a discussion's guide or result.
    Post,
    /// The removal of a trigger.
    Delete,
    /// The member list.
    Members,
    /// A page of a channel's history.
    History,
}

impl Request {
    /// All requests.
    pub const ALL: [Self; 4] = [Self::Post, Self::Delete, Self::Members, Self::History];

    /// Returns the name in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "post",
            Self::Delete => "delete",
            Self::Members => "members",
            Self::History => "history",
        }
    }
}

impl Tally {
    /// Returns the number of changes of channels with this cause.
    pub fn changes(&self, cause: Cause) -> u64 {
        self.causes.get(cause as usize).copied().unwrap_or(0)
    }

    /// Returns the times that channels stayed in this phase. Times that began before the channel was loaded into memory
    /// do not count.
    pub fn phase(&self, phase: PhaseKind) -> PhaseTimes {
        self.phases.get(phase as usize).cloned().unwrap_or_default()
    }

    /// Returns the number of requests of this kind, including retries. Requests of agents' tools and typing indicators
    /// do not count.
    pub const fn requests(&self, request: Request) -> u64 {
        let [post, delete, members, history] = self.requests;
        match request {
            Request::Post => post,
            Request::Delete => delete,
            Request::Members => members,
            Request::History => history,
        }
    }

    /// Returns the number of reports of progress by the host ([`Channel::progress`](crate::Channel::progress)).
    pub const fn reports(&self) -> u64 {
        self.reports
    }

    /// Returns how often a call of an agent, or the orchestrator, kept its thread for more than a second at once. The
    /// log names the agent. [`Agent::speak`](crate::Agent::speak) says what you can do.
    pub const fn long_steps(&self) -> u64 {
        self.long_steps
    }
}

impl PhaseTimes {
    /// Returns the number of times.
    pub fn count(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// Returns the sum of all times.
    pub const fn total(&self) -> Duration {
        Duration::from_millis(self.total_ms)
    }

    /// Returns the number of times by size class. Each class has the times up to its limit that are longer than the
    /// limit of the class before. `None` is the class of longer times.
    pub fn sizes(&self) -> impl Iterator<Item = (Option<Duration>, u64)> + use<'_> {
        self.sizes.iter().enumerate().map(|(at, count)| {
            let limit = (at + 1 < SIZES).then(|| Duration::from_millis(1 << at));
            (limit, *count)
        })
    }
}

#[derive(Debug)]
pub(crate) struct Counts {
    causes: [AtomicU64; Cause::ALL.len()],
    phases: [Times; PhaseKind::ALL.len()],
    requests: [AtomicU64; Request::ALL.len()],
    reports: AtomicU64,
    long_steps: AtomicU64,
}

#[derive(Debug)]
struct Times {
    total_ms: AtomicU64,
    sizes: [AtomicU64; SIZES],
}

impl Counts {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            causes: [const { AtomicU64::new(0) }; Cause::ALL.len()],
            phases: [const {
                Times { total_ms: AtomicU64::new(0), sizes: [const { AtomicU64::new(0) }; SIZES] }
            }; PhaseKind::ALL.len()],
            requests: [const { AtomicU64::new(0) }; Request::ALL.len()],
            reports: AtomicU64::new(0),
            long_steps: AtomicU64::new(0),
        })
    }

    pub(crate) fn reported(&self) {
        self.reports.fetch_add(1, Relaxed);
    }

    pub(super) fn took_long(&self) {
        self.long_steps.fetch_add(1, Relaxed);
    }

    /// Counts a change of a channel that had been in its phase since `since`.
    pub(super) fn changed(&self, transition: &Transition, since: Option<Timestamp>) {
        if let Some(count) = self.causes.get(transition.cause as usize) {
            count.fetch_add(1, Relaxed);
        }
        if let (Some(since), Some(times)) = (since, self.phases.get(transition.from as usize)) {
            let took = u64::try_from(transition.at.since(since).as_millis()).unwrap_or(u64::MAX);
            times.total_ms.fetch_add(took, Relaxed);
            if let Some(size) = times.sizes.get(size_of(took)) {
                size.fetch_add(1, Relaxed);
            }
        }
    }

    pub(super) fn asked(&self, request: Request) {
        if let Some(count) = self.requests.get(request as usize) {
            count.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn look(&self) -> Tally {
        let read = |count: &AtomicU64| count.load(Relaxed);
        Tally {
            causes: self.causes.iter().map(read).collect(),
            phases: self
                .phases
                .iter()
                .map(|times| PhaseTimes {
                    total_ms: read(&times.total_ms),
                    sizes: times.sizes.iter().map(read).collect(),
                })
                .collect(),
            requests: self.requests.each_ref().map(read),
            reports: read(&self.reports),
            long_steps: read(&self.long_steps),
        }
    }
}

/// Returns the index of the smallest size class for this number of milliseconds.
fn size_of(millis: u64) -> usize {
    let bits = u64::BITS - millis.saturating_sub(1).leading_zeros();
    usize::try_from(bits).unwrap_or(SIZES).min(SIZES - 1)
}

#[cfg(test)]
mod tests {
    use dirigent_core::TurnId;

    use super::*;

    fn change(at: u64, from: PhaseKind, to: PhaseKind, cause: Cause) -> Transition {
        let at = Timestamp::from_millis(at);
        Transition { at, from, to, agent: None, turn: TurnId::new(1), cause }
    }

    #[test]
    fn every_cause_and_phase_is_counted_under_its_own_name() {
        let counts = Counts::new();
        for (times, cause) in (1..).zip(Cause::ALL) {
            for _ in 0..times {
                counts.changed(&change(5, PhaseKind::Running, PhaseKind::Running, *cause), None);
            }
        }
        for (times, phase) in (1..).zip(PhaseKind::ALL) {
            for _ in 0..times {
                let left = change(9, *phase, PhaseKind::Dormant, Cause::Passed);
                counts.changed(&left, Some(Timestamp::from_millis(5)));
            }
        }
        let tally = counts.look();
        for (times, cause) in (1..).zip(Cause::ALL).filter(|(_, cause)| **cause != Cause::Passed) {
            assert_eq!(tally.changes(*cause), times, "{cause}");
        }
        for (times, phase) in (1..).zip(PhaseKind::ALL) {
            let of_phase = tally.phase(*phase);
            assert_eq!(
                (of_phase.count(), of_phase.total().as_millis()),
                (times, u128::from(times) * 4)
            );
        }
    }

    #[test]
    fn a_time_is_counted_in_the_smallest_size_that_holds_it() {
        for (millis, limit) in [(0, 1), (1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (1_025, 2_048)] {
            let counts = Counts::new();
            let left = change(100 + millis, PhaseKind::Running, PhaseKind::Dormant, Cause::Spoke);
            counts.changed(&left, Some(Timestamp::from_millis(100)));
            let times = counts.look().phase(PhaseKind::Running);
            let hit: Vec<_> = times.sizes().filter(|(_, count)| *count > 0).collect();
            assert_eq!(hit, [(Some(Duration::from_millis(limit)), 1)], "{millis} ms");
        }
        let counts = Counts::new();
        let left = change(1 << 40, PhaseKind::Running, PhaseKind::Dormant, Cause::Spoke);
        counts.changed(&left, Some(Timestamp::from_millis(0)));
        let times = counts.look().phase(PhaseKind::Running);
        assert_eq!(times.sizes().last(), Some((None, 1)), "what is longer than all sizes");
    }

    #[test]
    fn requests_are_counted_by_kind() {
        let counts = Counts::new();
        for (times, request) in (1..).zip(Request::ALL) {
            (0..times).for_each(|_| counts.asked(request));
        }
        for (times, request) in (1..).zip(Request::ALL) {
            assert_eq!(counts.look().requests(request), times, "{}", request.as_str());
        }
    }
}
