//! How much may be asked, and what is said about it.

use std::collections::HashMap;
use std::time::Duration;

use dirigent::UserId;
use dirigent::ports::Timestamp;

use super::endpoint::{Matched, RestRoute};

/// How many requests are allowed in a window of time.
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
    /// How many requests fit into a window.
    pub requests: u32,
    /// How long a window is; it begins with its first request.
    pub window: Duration,
}

impl Limit {
    /// Allows this many requests in a window of this length.
    pub const fn new(requests: u32, window: Duration) -> Self {
        Self { requests, window }
    }
}

/// The limits of the server. Real ones are not documented, and change.
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
    /// How many invalid requests get the address banned.
    ban_line: u32,
    ban: Duration,
}

/// Over how long invalid requests are counted (topics/rate-limits).
const INVALID_WINDOW: Duration = Duration::from_secs(600);

impl ServerLimits {
    /// So much that no test runs into it by itself; the ban stands at 10,000 invalid requests.
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

    /// Limits requests to one route, of each account and each channel or guild.
    #[must_use]
    pub fn with(mut self, endpoint: RestRoute, limit: Limit) -> Self {
        self.own.insert(endpoint, limit);
        self
    }

    /// Limits requests to one route, of all accounts together, for each channel or guild: beyond it
    /// the answer is a 429 whose scope is `shared`.
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

    /// Limits all requests of an account, but for answers to commands.
    #[must_use]
    pub const fn with_global(mut self, limit: Limit) -> Self {
        self.global = limit;
        self
    }

    /// Bans the address for a time after this many invalid requests within ten minutes: 401, 403, and
    /// 429 whose scope is not `shared`.
    #[must_use]
    pub const fn with_ban(mut self, invalid_requests: u32, ban: Duration) -> Self {
        self.ban_line = invalid_requests;
        self.ban = ban;
        self
    }

    /// The limit of one route.
    pub fn of(&self, endpoint: RestRoute) -> Limit {
        self.own.get(&endpoint).copied().unwrap_or(self.others)
    }
}

impl Default for ServerLimits {
    /// About as much as bots find: 5 posts in 5 s in a channel, 50 requests a second in all.
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

/// Whom a refusal for too many requests concerns.
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
    /// Everybody on this route. It is no invalid request.
    Shared,
}

impl Scope {
    /// As the header names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Global => "global",
            Self::Shared => "shared",
        }
    }
}

/// What an answer's headers say of the limit that its request fell under.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Standing {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    pub(crate) reset: Timestamp,
    pub(crate) reset_after: Duration,
    /// The bucket's name, which does not tell the channel.
    pub(crate) bucket: String,
}

/// A request beyond a limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TooMany {
    pub(crate) scope: Scope,
    pub(crate) wait: Duration,
}

/// What was asked so far, as far as limits go.
#[derive(Debug)]
pub(crate) struct Counters {
    limits: ServerLimits,
    windows: HashMap<(Option<UserId>, Option<RestRoute>, String), Window>,
    /// When invalid requests came, oldest first.
    invalid: std::collections::VecDeque<Timestamp>,
    banned_until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    since: Timestamp,
    used: u32,
}

/// How many windows are kept before those that are over are forgotten.
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

    /// Other limits from now on; what was counted is forgotten.
    pub(crate) fn set(&mut self, limits: ServerLimits) {
        *self = Self::new(limits);
    }

    /// How long the address is still banned.
    pub(crate) fn ban_left(&self, now: Timestamp) -> Option<Duration> {
        let until = self.banned_until.filter(|until| *until > now)?;
        Some(until.since(now))
    }

    /// Counts a request. What its headers say, and whether it was too many.
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

    /// Counts what an answer with this status means for a ban; says whether it brought one.
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

    /// Takes one request of a window, or says how long it takes until the next window.
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
        // A clock that stepped back begins anew.
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
