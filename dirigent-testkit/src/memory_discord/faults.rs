//! Faults on demand.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::UserId;
use dirigent::ports::{ApiError, Certainty, ErrorKind};

use super::ledger::Call;
use crate::Random;

/// A fault of a request.
///
/// ```
/// use dirigent_testkit::memory_discord::Fault;
/// assert!(Fault::LostAnswer.is_applied());
/// assert!(!Fault::NotDelivered.is_applied());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The request is performed, but its answer is lost.
    LostAnswer,
    /// The request is not performed, and no answer comes. The caller cannot tell it from a lost answer.
    NotDelivered,
    /// 429. Requests of the account for this operation and channel are refused until the wait is over.
    RateLimited {
        /// The time to wait.
        retry_after: Duration,
    },
    /// The request is performed, but a 5xx comes back.
    ServerErrorApplied,
    /// The request is not performed, and a 5xx comes back.
    ServerErrorNotApplied,
    /// The connection is refused. The request is not performed, and the caller knows that (`Unavailable`,
    /// `NotDone`).
    Refused,
    /// A post is performed later, even if its caller was dropped, but its answer is lost at once. Any other
    /// request is not performed at all.
    LandsLate {
        /// The delay.
        by: Duration,
    },
    /// 403: the request is refused for lack of permission.
    Forbidden,
    /// 400 with a code of the chat itself, because it does not accept the text. For example, Discord's `AutoMod`
    /// has 200000.
    Blocked {
        /// The chat's number for the reason.
        code: u64,
    },
    /// 404: the channel or message does not exist.
    Gone,
    /// 401: the token is not accepted.
    Unauthorized,
    /// The request is performed at once, but its answer is late.
    SlowAnswer {
        /// The delay.
        by: Duration,
    },
    /// The request is performed late. Dropping the call before that cancels it.
    SlowRequest {
        /// The delay.
        by: Duration,
    },
}

impl Fault {
    /// Returns true if the request is performed nevertheless.
    pub const fn is_applied(self) -> bool {
        match self {
            Self::LostAnswer
            | Self::ServerErrorApplied
            | Self::SlowAnswer { .. }
            | Self::SlowRequest { .. } => true,
            Self::NotDelivered
            | Self::RateLimited { .. }
            | Self::ServerErrorNotApplied
            | Self::Refused
            | Self::LandsLate { .. }
            | Self::Forbidden
            | Self::Blocked { .. }
            | Self::Gone
            | Self::Unauthorized => false,
        }
    }

    /// Returns the error that the caller gets instead of the answer, or `None` if the answer arrives.
    pub fn error(self) -> Option<ApiError> {
        let kind = match self {
            Self::LostAnswer | Self::NotDelivered | Self::LandsLate { .. } => ErrorKind::NoAnswer,
            Self::Refused => {
                let error = ApiError::new(ErrorKind::Unavailable);
                return Some(error.with_certainty(Certainty::NotDone));
            }
            Self::ServerErrorApplied | Self::ServerErrorNotApplied => ErrorKind::Unavailable,
            Self::Forbidden => ErrorKind::Forbidden,
            Self::Blocked { code } => {
                return Some(ApiError::new(ErrorKind::Invalid).with_code(code));
            }
            Self::Gone => ErrorKind::Gone,
            Self::Unauthorized => ErrorKind::Unauthorized,
            Self::RateLimited { retry_after } => return Some(rate_limited(retry_after)),
            Self::SlowAnswer { .. } | Self::SlowRequest { .. } => return None,
        };
        Some(ApiError::new(kind))
    }
}

/// Returns the error of a 429.
pub(crate) fn rate_limited(retry_after: Duration) -> ApiError {
    ApiError::new(ErrorKind::RateLimited)
        .with_certainty(Certainty::NotDone)
        .with_retry_after(retry_after)
}

/// A fault of a pushed event on its way to one subscriber.
///
/// ```
/// use dirigent_testkit::memory_discord::PushFault;
/// assert_ne!(PushFault::Dropped, PushFault::Duplicated);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PushFault {
    /// The event never arrives.
    Dropped,
    /// The event arrives twice.
    Duplicated,
    /// The event arrives after this many later ones.
    HeldBack {
        /// The number of events that overtake it.
        events: u32,
        /// The longest delay, if fewer events follow.
        at_most: Duration,
    },
    /// The event arrives late.
    Delayed {
        /// The delay.
        by: Duration,
    },
}

/// A plan of faults: some in a fixed order, others at random from a seed. With an equal plan and equal requests
/// you get equal faults.
///
/// ```
/// use dirigent_testkit::memory_discord::{Call, Fault, Faults, PushFault};
///
/// let mut faults = Faults::new(42)
///     .with_call_rate(Call::Post, Fault::LostAnswer, 20)
///     .with_push_rate(PushFault::Duplicated, 10);
/// faults.next_post(Fault::NotDelivered);
/// ```
#[derive(Clone, Debug)]
pub struct Faults {
    /// The source of random faults.
    dice: Random,
    /// Faults of the next calls, in order.
    scripted: VecDeque<Scripted>,
    /// Faults of the next pushed events.
    scripted_pushes: VecDeque<PushFault>,
    /// Random faults.
    rates: Vec<Rate>,
    /// Random faults of pushed events, each with its rate in thousandths.
    push_rates: Vec<(PushFault, u32)>,
}

impl Faults {
    /// Creates a plan without faults. Random faults will come from this seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            dice: Random::new(seed),
            scripted: VecDeque::new(),
            scripted_pushes: VecDeque::new(),
            rates: Vec::new(),
            push_rates: Vec::new(),
        }
    }

    /// Creates a plan for a bad day. Answers are lost, refused and late. Events are lost, duplicated and
    /// overtaken. The rates are those of the project's long simulations.
    pub fn hostile(seed: u64) -> Self {
        let second = Duration::from_secs(1);
        Self::new(seed)
            .with_rate(Fault::RateLimited { retry_after: second / 2 }, 20)
            .with_rate(Fault::RateLimited { retry_after: second * 5 }, 20)
            .with_rate(Fault::RateLimited { retry_after: second * 60 }, 10)
            .with_rate(Fault::ServerErrorApplied, 15)
            .with_rate(Fault::ServerErrorNotApplied, 15)
            .with_rate(Fault::LostAnswer, 10)
            .with_rate(Fault::NotDelivered, 10)
            .with_rate(Fault::SlowAnswer { by: second * 3 }, 10)
            .with_rate(Fault::SlowRequest { by: second * 3 }, 10)
            .with_push_rate(PushFault::Dropped, 10)
            .with_push_rate(PushFault::Duplicated, 20)
            .with_push_rate(PushFault::HeldBack { events: 3, at_most: second * 60 }, 30)
            .with_push_rate(PushFault::Delayed { by: second * 20 }, 20)
    }

    /// Adds a fault to calls of any operation, at a rate in thousandths.
    #[must_use]
    pub fn with_rate(mut self, fault: Fault, per_mille: u32) -> Self {
        self.rates.push(Rate { call: None, fault, per_mille });
        self
    }

    /// Adds a fault to calls of one operation, at a rate in thousandths.
    #[must_use]
    pub fn with_call_rate(mut self, call: Call, fault: Fault, per_mille: u32) -> Self {
        self.rates.push(Rate { call: Some(call), fault, per_mille });
        self
    }

    /// Adds a fault to pushed events, at a rate in thousandths.
    #[must_use]
    pub fn with_push_rate(mut self, fault: PushFault, per_mille: u32) -> Self {
        self.push_rates.push((fault, per_mille));
        self
    }

    /// Plans a fault for the next post, after those already planned.
    pub fn next_post(&mut self, fault: Fault) {
        self.next(Call::Post, fault);
    }

    /// Plans a fault for the next call of this operation, after those already planned.
    pub fn next(&mut self, call: Call, fault: Fault) {
        self.scripted.push_back(Scripted { account: None, call, fault });
    }

    /// Plans a fault for the next call of this operation by one account.
    pub fn next_by(&mut self, account: UserId, call: Call, fault: Fault) {
        self.scripted.push_back(Scripted { account: Some(account), call, fault });
    }

    /// Plans a fault for the next pushed event, after those already planned. If there are several subscribers,
    /// each one's copy counts.
    pub fn next_push(&mut self, fault: PushFault) {
        self.scripted_pushes.push_back(fault);
    }

    /// Ends all faults, including planned ones. The random state stays.
    pub fn stop(&mut self) {
        self.scripted.clear();
        self.scripted_pushes.clear();
        self.rates.clear();
        self.push_rates.clear();
    }

    /// Returns the fault that hits this call.
    pub fn draw(&mut self, account: UserId, call: Call) -> Option<Fault> {
        if !self.scripted.is_empty() {
            let place = self.scripted.iter().position(|planned| planned.hits(account, call));
            if let Some(planned) = place.and_then(|place| self.scripted.remove(place)) {
                return Some(planned.fault);
            }
        }
        if self.rates.is_empty() {
            return None;
        }
        let fits = self.rates.iter().filter(|rate| rate.call.is_none_or(|only| only == call));
        self.dice.by_rate(fits.map(|rate| (rate.fault, rate.per_mille)))
    }

    /// Returns the fault that hits this event for one subscriber.
    pub(crate) fn draw_push(&mut self) -> Option<PushFault> {
        if let Some(fault) = self.scripted_pushes.pop_front() {
            return Some(fault);
        }
        if self.push_rates.is_empty() {
            return None;
        }
        self.dice.by_rate(self.push_rates.iter().copied())
    }
}

/// A fault of one future call.
#[derive(Clone, Copy, Debug)]
struct Scripted {
    account: Option<UserId>,
    call: Call,
    fault: Fault,
}

impl Scripted {
    fn hits(&self, account: UserId, call: Call) -> bool {
        self.call == call && self.account.is_none_or(|only| only == account)
    }
}

/// A random fault.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// The operation, or `None` for all.
    call: Option<Call>,
    fault: Fault,
    per_mille: u32,
}
