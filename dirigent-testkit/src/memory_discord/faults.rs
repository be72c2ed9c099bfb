//! Faults on demand: what goes wrong, and when.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::UserId;
use dirigent::ports::{ApiError, Certainty, ErrorKind};

use super::ledger::Call;
use crate::Random;

/// What may happen to a request.
///
/// ```
/// use dirigent_testkit::memory_discord::Fault;
/// assert!(Fault::LostAnswer.is_applied());
/// assert!(!Fault::NotDelivered.is_applied());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// It is carried out, and its answer is lost.
    LostAnswer,
    /// It is not carried out, and no answer comes: for the caller the same as a lost one.
    NotDelivered,
    /// 429. Requests of the account for the same operation and channel are refused until then.
    RateLimited {
        /// How long to wait.
        retry_after: Duration,
    },
    /// It is carried out, and a 5xx comes back.
    ServerErrorApplied,
    /// It is not carried out, and a 5xx comes back.
    ServerErrorNotApplied,
    /// The connection is refused: it is not carried out, and the caller knows (`Unavailable`, `NotDone`).
    Refused,
    /// A post is carried out later, even if its caller was dropped; the answer is lost at once. Any
    /// other request is not carried out at all.
    LandsLate {
        /// How much later.
        by: Duration,
    },
    /// 403: the request is refused for lack of permission.
    Forbidden,
    /// 400 with this code of the chat's own: what the message says is not taken. Discord's `AutoMod` has 200000.
    Blocked {
        /// The chat's number for the reason.
        code: u64,
    },
    /// 404: the channel or message does not exist.
    Gone,
    /// 401: the token is not accepted.
    Unauthorized,
    /// It is carried out at once, and the answer takes this long.
    SlowAnswer {
        /// How long.
        by: Duration,
    },
    /// It takes this long until it is carried out; dropping the call before undoes it.
    SlowRequest {
        /// How long.
        by: Duration,
    },
}

impl Fault {
    /// Whether the request is carried out all the same.
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

    /// The error that the caller gets in place of the answer; `None` when the answer arrives.
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

/// The error of a 429.
pub(crate) fn rate_limited(retry_after: Duration) -> ApiError {
    ApiError::new(ErrorKind::RateLimited)
        .with_certainty(Certainty::NotDone)
        .with_retry_after(retry_after)
}

/// What may happen to a pushed event on its way to one subscriber.
///
/// ```
/// use dirigent_testkit::memory_discord::PushFault;
/// assert_ne!(PushFault::Dropped, PushFault::Duplicated);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PushFault {
    /// It never arrives.
    Dropped,
    /// It arrives twice.
    Duplicated,
    /// It arrives after this many later ones.
    HeldBack {
        /// How many overtake it.
        events: u32,
        /// Released after this time, if fewer follow.
        at_most: Duration,
    },
    /// It arrives this much later.
    Delayed {
        /// How much.
        by: Duration,
    },
}

/// What goes wrong, and when: some faults in a fixed order, others by chance from a seed. The same
/// plan and the same requests give the same faults.
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
    /// Where chance comes from.
    dice: Random,
    /// Faults of the next calls, soonest first.
    scripted: VecDeque<Scripted>,
    /// Faults of the next pushed events.
    scripted_pushes: VecDeque<PushFault>,
    /// Faults by chance.
    rates: Vec<Rate>,
    /// Faults of pushed events by chance, each with its rate in thousandths.
    push_rates: Vec<(PushFault, u32)>,
}

impl Faults {
    /// Nothing goes wrong yet; chance will come from this seed.
    pub const fn new(seed: u64) -> Self {
        Self {
            dice: Random::new(seed),
            scripted: VecDeque::new(),
            scripted_pushes: VecDeque::new(),
            rates: Vec::new(),
            push_rates: Vec::new(),
        }
    }

    /// A bad day: answers lost, refused and late, events lost, doubled and overtaken, each at the
    /// rate that the project's long simulations use.
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

    /// Lets calls of any operation go wrong in this way, at a rate in thousandths.
    #[must_use]
    pub fn with_rate(mut self, fault: Fault, per_mille: u32) -> Self {
        self.rates.push(Rate { call: None, fault, per_mille });
        self
    }

    /// Lets calls of one operation go wrong in this way, at a rate in thousandths.
    #[must_use]
    pub fn with_call_rate(mut self, call: Call, fault: Fault, per_mille: u32) -> Self {
        self.rates.push(Rate { call: Some(call), fault, per_mille });
        self
    }

    /// Lets pushed events go wrong in this way, at a rate in thousandths.
    #[must_use]
    pub fn with_push_rate(mut self, fault: PushFault, per_mille: u32) -> Self {
        self.push_rates.push((fault, per_mille));
        self
    }

    /// Lets the next post go wrong, or the one after those already planned.
    pub fn next_post(&mut self, fault: Fault) {
        self.next(Call::Post, fault);
    }

    /// Lets the next call of this operation go wrong, or the one after those already planned.
    pub fn next(&mut self, call: Call, fault: Fault) {
        self.scripted.push_back(Scripted { account: None, call, fault });
    }

    /// Lets the next call of this operation by one account go wrong.
    pub fn next_by(&mut self, account: UserId, call: Call, fault: Fault) {
        self.scripted.push_back(Scripted { account: Some(account), call, fault });
    }

    /// Lets the next pushed event go wrong, or the one after those already planned. With several
    /// subscribers each one's copy counts.
    pub fn next_push(&mut self, fault: PushFault) {
        self.scripted_pushes.push_back(fault);
    }

    /// Ends all faults, planned ones too. The state of chance is kept.
    pub fn stop(&mut self) {
        self.scripted.clear();
        self.scripted_pushes.clear();
        self.rates.clear();
        self.push_rates.clear();
    }

    /// The fault that hits this call.
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

    /// The fault that hits this event for one subscriber.
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

/// A fault for one call to come.
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

/// A fault that comes by chance.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// The operation; none means all.
    call: Option<Call>,
    fault: Fault,
    per_mille: u32,
}
