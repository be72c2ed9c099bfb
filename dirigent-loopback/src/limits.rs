//! Rate limits, and the headers that report them.

use std::collections::HashMap;
use std::time::Duration;

use dirigent::UserId;
use dirigent::ports::Timestamp;

use super::endpoint::{Matched, RestRoute};

/// The most requests in a window of time.
///
/// ```
/// use std::time::Duration;
/// use dirigent_loopback::Limit;
///
/// let limit = Limit::new(5, Duration::from_secs(5));
/// assert_eq!(limit.requests, 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// The most requests in a window.
    pub requests: u32,
    /// The length of a window, which begins with its first request.
    pub window: Duration,
}

impl Limit {
    /// Allows this many requests in a window of this length.
    pub const fn new(requests: u32, window: Duration) -> Self {
        Self { requests, window }
    }
}

/// The limits of the server. Discord does not document its real limits, and changes them.
///
/// ```
/// use std::time::Duration;
/// use dirigent_loopback::{RestRoute, Limit, ServerLimits};
///
/// let limits = ServerLimits::generous()
///     .with(RestRoute::CreateMessage, Limit::new(1, Duration::from_secs(3)));
/// assert_eq!(limits.of(RestRoute::CreateMessage).requests, 1);
/// ```
#[derive(Clone, Debug)]
pub struct ServerLimits {
    own: HashMap<RestRoute, Limit>,
    shared: HashMap<RestRoute, Limit>,
    others: Limit,
    global: Limit,
    /// The number of invalid requests that bans the address.
    ban_line: u32,
    ban: Duration,
}

/// The time over which invalid requests are counted (topics/rate-limits).
const INVALID_WINDOW: Duration = Duration::from_secs(600);

impl ServerLimits {
    /// Returns limits that no test reaches by accident. The ban comes after 10,000 invalid requests.
    pub fn generous() -> Self {
        Self {
            own: HashMap::new(),
            shared: HashMap::new(),
            others: Limit::new(1_000_000, Duration::from_secs(1)),
            global: Limit::new(1_000_000, Duration::from_secs(1)),
            ban_line: 10_000,
            ban: Duration::from_secs(3_600),
        }
    }

    /// Limits requests to one route, for each account and each channel or guild. For example, allow
    /// one post in three seconds to see how your bot waits.
    #[must_use]
    pub fn with(mut self, endpoint: RestRoute, limit: Limit) -> Self {
        self.own.insert(endpoint, limit);
        self
    }

    /// Limits requests to one route for all accounts together, in each channel or guild. Beyond it
    /// the answer is a 429 with the scope `shared`.
    #[must_use]
    pub fn with_shared(mut self, endpoint: RestRoute, limit: Limit) -> Self {
        self.shared.insert(endpoint, limit);
        self
    }

    /// Limits requests to each of the other routes.
    #[must_use]
    pub const fn with_others(mut self, limit: Limit) -> Self {
        self.others = limit;
        self
    }

    /// Limits all requests of an account, except answers to commands.
    #[must_use]
    pub const fn with_global(mut self, limit: Limit) -> Self {
        self.global = limit;
        self
    }

    /// Bans the address for a time after this many invalid requests within ten minutes. These are
    /// 401, 403, and 429 unless its scope is `shared`.
    #[must_use]
    pub const fn with_ban(mut self, invalid_requests: u32, ban: Duration) -> Self {
        self.ban_line = invalid_requests;
        self.ban = ban;
        self
    }

    /// Returns the limit of one route.
    pub fn of(&self, endpoint: RestRoute) -> Limit {
        self.own.get(&endpoint).copied().unwrap_or(self.others)
    }
}

impl Default for ServerLimits {
    /// Returns about the limits that bots meet: 5 posts in 5 s in a channel, and 50 requests a second
    /// in all.
    fn default() -> Self {
        let second = Duration::from_secs(1);
        Self::generous()
            .with(RestRoute::CreateMessage, Limit::new(5, second * 5))
            .with(RestRoute::UpdateMessage, Limit::new(5, second * 5))
            .with(RestRoute::DeleteMessage, Limit::new(5, second))
            .with(RestRoute::CreateFollowup, Limit::new(5, second * 5))
            .with_others(Limit::new(50, second))
            .with_global(Limit::new(50, second))
    }
}

/// The accounts and routes of a rate limit.
///
/// ```
/// use dirigent_loopback::Scope;
/// assert_eq!(Scope::Shared.name(), "shared");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// The account, on this route.
    User,
    /// The account, on all routes.
    Global,
    /// All accounts, on this route. Such a request does not count as invalid.
    Shared,
}

impl Scope {
    /// Returns the name in the header.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Global => "global",
            Self::Shared => "shared",
        }
    }
}

/// The limit of a request, as the answer's headers report it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Standing {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    pub(crate) reset: Timestamp,
    pub(crate) reset_after: Duration,
    /// The name of the bucket, which does not show the channel.
    pub(crate) bucket: String,
}

/// A request beyond a limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TooMany {
    pub(crate) scope: Scope,
    pub(crate) wait: Duration,
}

/// The counts of requests for the limits.
#[derive(Debug)]
pub(crate) struct Counters {
    limits: ServerLimits,
    windows: HashMap<(Option<UserId>, Option<RestRoute>, String), Window>,
    /// The times of invalid requests, oldest first.
    invalid: std::collections::VecDeque<Timestamp>,
    banned_until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    since: Timestamp,
    used: u32,
}

/// The most windows that are stored before old ones are forgotten.
const WINDOWS_MAX: usize = 10_000;

impl Counters {
    pub(crate) fn new(limits: ServerLimits) -> Self {
        Self {
            limits,
            windows: HashMap::new(),
            invalid: std::collections::VecDeque::new(),
            banned_until: None,
        }
    }

    /// Replaces the limits, and forgets all counts.
    pub(crate) fn set(&mut self, limits: ServerLimits) {
        *self = Self::new(limits);
    }

    /// Returns how long the address is still banned.
    pub(crate) fn ban_left(&self, now: Timestamp) -> Option<Duration> {
        let until = self.banned_until.filter(|until| *until > now)?;
        Some(until.since(now))
    }

    /// Counts a request. Returns the data for its headers, and whether it exceeds a limit.
    pub(crate) fn count(
        &mut self,
        now: Timestamp,
        account: Option<UserId>,
        matched: &Matched,
    ) -> (Standing, Option<TooMany>) {
        let endpoint = matched.endpoint;
        let is_global = !endpoint.is_interaction();
        let too_many = if is_global {
            let limit = self.limits.global;
            let key = (account, None, String::new());
            self.take(now, key, limit).err().map(|wait| TooMany { scope: Scope::Global, wait })
        } else {
            None
        };
        let shared = self.limits.shared.get(&endpoint).copied();
        let too_many = too_many.or_else(|| {
            let key = (None, Some(endpoint), matched.major.clone());
            let wait = self.take(now, key, shared?).err()?;
            Some(TooMany { scope: Scope::Shared, wait })
        });
        let limit = self.limits.of(endpoint);
        let key = (account, Some(endpoint), matched.major.clone());
        let own = if too_many.is_none() { self.take(now, key.clone(), limit) } else { Ok(()) };
        let standing = self.standing(now, &key, limit, endpoint);
        let own = own.err().map(|wait| TooMany { scope: Scope::User, wait });
        (standing, too_many.or(own))
    }

    /// Counts an answer's status towards a ban. Returns true if it caused one.
    pub(crate) fn answered(&mut self, now: Timestamp, status: u16, scope: Option<Scope>) -> bool {
        let is_invalid = matches!(status, 401 | 403 | 429) && scope != Some(Scope::Shared);
        if !is_invalid {
            return false;
        }
        while self.invalid.front().is_some_and(|at| now.since(*at) >= INVALID_WINDOW) {
            self.invalid.pop_front();
        }
        self.invalid.push_back(now);
        let is_over = self.invalid.len() >= usize::try_from(self.limits.ban_line).unwrap_or(0);
        if is_over {
            self.invalid.clear();
            self.banned_until = Some(now + self.limits.ban);
        }
        is_over
    }

    /// Counts one request of a window, or returns the time until the next window.
    fn take(
        &mut self,
        now: Timestamp,
        key: (Option<UserId>, Option<RestRoute>, String),
        limit: Limit,
    ) -> Result<(), Duration> {
        if self.windows.len() >= WINDOWS_MAX {
            let longest = Duration::from_secs(3_600);
            self.windows.retain(|_, window| now.since(window.since) < longest);
        }
        let window = self.windows.entry(key).or_insert(Window { since: now, used: 0 });
        // If the clock stepped back, begin anew.
        if now < window.since || now.since(window.since) >= limit.window {
            *window = Window { since: now, used: 0 };
        }
        if window.used >= limit.requests {
            return Err((window.since + limit.window).since(now));
        }
        window.used += 1;
        Ok(())
    }

    fn standing(
        &self,
        now: Timestamp,
        key: &(Option<UserId>, Option<RestRoute>, String),
        limit: Limit,
        endpoint: RestRoute,
    ) -> Standing {
        let window = self.windows.get(key).copied().unwrap_or(Window { since: now, used: 0 });
        let reset = window.since + limit.window;
        let name = format!("{endpoint:?}");
        let hashed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Standing {
            limit: limit.requests,
            remaining: limit.requests.saturating_sub(window.used),
            reset,
            reset_after: reset.since(now),
            bucket: format!("{hashed:016x}{:016x}", hashed.rotate_left(32)),
        }
    }
}
