//! When the next request of an account may leave: per bucket, and for all.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dirigent::Timestamp;

use crate::limit_headers::{LimitHeaders, Scope, TooMany};
use crate::route::RouteKey;

/// The stretch in which a number of requests is allowed globally.
const SECOND: Duration = Duration::from_secs(1);

/// Two answers whose windows end this close together speak of the same window.
const SAME_WINDOW: Duration = Duration::from_millis(250);

/// The wait while the places of a fresh window are all taken by requests under way.
const SHORTLY: Duration = Duration::from_millis(250);

/// How many routes and buckets are remembered before those that say nothing any more are dropped.
const SWEEP_AT: usize = 4_096;

/// A bucket: its name, and the channel or guild in which it counts.
pub(crate) type BucketKey = (Arc<str>, u64);

/// What is known of the limits of one account. Nothing is written down beforehand: buckets are
/// learnt from answers, and a route is free until its first one.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: usize,
    /// The requests of the last second, oldest first.
    sent: VecDeque<Timestamp>,
    /// Until when nothing may leave.
    all: Option<Timestamp>,
    /// Until when a route is barred that has no bucket.
    barred: HashMap<RouteKey, Timestamp>,
    /// The bucket of each route.
    routes: HashMap<RouteKey, Arc<str>>,
    buckets: HashMap<BucketKey, Bucket>,
}

/// One bucket's present window.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    limit: u32,
    /// What the last answer left.
    remaining: u32,
    /// When the window is over; `None` until an answer of the next one came.
    reset: Option<Timestamp>,
    /// Requests under way, of which no answer has told whether they are counted in.
    under_way: u32,
}

/// How a request came back.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// With an answer that is no 429.
    Answered(LimitHeaders),
    /// With a 429.
    Refused(LimitHeaders, TooMany),
    /// Not at all: it may have counted.
    Lost,
}

impl Pace {
    pub(crate) fn new(per_second: usize) -> Self {
        Self {
            per_second: per_second.max(1),
            sent: VecDeque::new(),
            all: None,
            barred: HashMap::new(),
            routes: HashMap::new(),
            buckets: HashMap::new(),
        }
    }

    /// How long a request of this route must wait, if it may not leave now.
    pub(crate) fn wait(&mut self, now: Timestamp, route: RouteKey) -> Option<Duration> {
        while self.sent.front().is_some_and(|at| *at + SECOND <= now) {
            self.sent.pop_front();
        }
        let crowded = self.sent.front().filter(|_| self.sent.len() >= self.per_second);
        let global = crowded.map(|oldest| *oldest + SECOND).max(self.all);
        let until = global.max(self.barred.get(&route).copied());
        let by_bucket = self.bucket_of(route).and_then(|(_, bucket)| bucket.free_at(now));
        until.max(by_bucket).filter(|until| *until > now).map(|until| until.since(now))
    }

    /// A request leaves. Returns the bucket in which it has a place, where that is known.
    pub(crate) fn leave(&mut self, now: Timestamp, route: RouteKey) -> Option<BucketKey> {
        self.sent.push_back(now);
        let (key, bucket) = self.bucket_of(route)?;
        bucket.under_way = bucket.under_way.saturating_add(1);
        Some(key)
    }

    /// A request came back, or did not.
    pub(crate) fn came_back(
        &mut self,
        now: Timestamp,
        route: RouteKey,
        seat: Option<&BucketKey>,
        outcome: &Outcome,
    ) {
        if let Some(bucket) = seat.and_then(|key| self.buckets.get_mut(key)) {
            bucket.under_way = bucket.under_way.saturating_sub(1);
            if matches!(outcome, Outcome::Lost) {
                bucket.remaining = bucket.remaining.saturating_sub(1);
            }
        }
        match outcome {
            Outcome::Answered(headers) => self.learn(now, route, headers),
            Outcome::Refused(headers, too_many) => {
                self.learn(now, route, headers);
                self.bar(now, route, *too_many);
            }
            Outcome::Lost => {}
        }
    }

    fn bucket_of(&mut self, route: RouteKey) -> Option<(BucketKey, &mut Bucket)> {
        let key = (Arc::clone(self.routes.get(&route)?), route.major);
        let bucket = self.buckets.get_mut(&key)?;
        Some((key, bucket))
    }

    fn learn(&mut self, now: Timestamp, route: RouteKey, headers: &LimitHeaders) {
        let (Some(name), Some(limit), Some(remaining), Some(reset_after)) =
            (&headers.bucket, headers.limit, headers.remaining, headers.reset_after)
        else {
            return;
        };
        self.sweep(now);
        let known = self.routes.get(&route).filter(|known| known.as_ref() == name.as_str());
        let name = known.cloned().unwrap_or_else(|| Arc::from(name.as_str()));
        self.routes.insert(route, Arc::clone(&name));
        let reset = now + reset_after;
        let fresh = Bucket { limit, remaining, reset: Some(reset), under_way: 0 };
        let bucket = self.buckets.entry((name, route.major)).or_insert(fresh);
        bucket.limit = limit;
        // Answers may arrive in another order than the requests were counted in.
        let same = bucket.reset.is_some_and(|known| reset <= known + SAME_WINDOW);
        bucket.remaining = if same { bucket.remaining.min(remaining) } else { remaining };
        bucket.reset = bucket.reset.max(Some(reset));
    }

    fn bar(&mut self, now: Timestamp, route: RouteKey, too_many: TooMany) {
        let until = now + too_many.wait;
        match too_many.scope {
            Scope::Global | Scope::Unsaid => self.all = self.all.max(Some(until)),
            Scope::User | Scope::Shared => {
                if let Some((_, bucket)) = self.bucket_of(route) {
                    bucket.remaining = 0;
                    bucket.reset = bucket.reset.max(Some(until));
                } else {
                    self.sweep(now);
                    self.barred.insert(route, until);
                }
            }
        }
    }

    /// Drops what says nothing any more, so that memory follows the channels that talk.
    fn sweep(&mut self, now: Timestamp) {
        if self.routes.len().max(self.barred.len()) < SWEEP_AT {
            return;
        }
        self.barred.retain(|_, until| *until > now);
        self.buckets.retain(|_, bucket| bucket.under_way > 0 || bucket.reset > Some(now));
        let buckets = &self.buckets;
        self.routes.retain(|route, name| buckets.contains_key(&(Arc::clone(name), route.major)));
    }
}

impl Bucket {
    /// When a place is free, if there is none now.
    fn free_at(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.reset.is_some_and(|reset| reset <= now) {
            self.reset = None;
            self.remaining = self.limit;
        }
        if self.remaining > self.under_way || self.limit == 0 && self.reset.is_none() {
            return None;
        }
        Some(self.reset.unwrap_or(now + SHORTLY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_000_000);
    const POST: RouteKey = RouteKey::new("create message", 7);

    fn headers(limit: u32, remaining: u32, reset_after_ms: u64) -> LimitHeaders {
        LimitHeaders {
            bucket: Some("b".to_owned()),
            limit: Some(limit),
            remaining: Some(remaining),
            reset_after: Some(Duration::from_millis(reset_after_ms)),
        }
    }

    fn answer(pace: &mut Pace, at: Timestamp, limit: u32, remaining: u32, reset_after_ms: u64) {
        let seat = pace.leave(at, POST);
        let outcome = Outcome::Answered(headers(limit, remaining, reset_after_ms));
        pace.came_back(at, POST, seat.as_ref(), &outcome);
    }

    /// R283: what the headers say is kept, though they carry no scope.
    #[test]
    fn an_empty_bucket_waits_for_its_reset() {
        let mut pace = Pace::new(50);
        assert_eq!(pace.wait(START, POST), None, "nothing is known yet");
        answer(&mut pace, START, 1, 0, 1_500);
        assert_eq!(pace.wait(START, POST), Some(Duration::from_millis(1_500)));
        let elsewhere = RouteKey::new("create message", 8);
        assert_eq!(pace.wait(START, elsewhere), None, "another channel has its own");
        assert_eq!(pace.wait(START + Duration::from_millis(1_499), POST).unwrap().as_millis(), 1);
        assert_eq!(pace.wait(START + Duration::from_millis(1_500), POST), None);
    }

    /// R283: requests under way have their places.
    #[test]
    fn requests_under_way_count() {
        let mut pace = Pace::new(50);
        answer(&mut pace, START, 3, 2, 5_000);
        let seats: Vec<_> = (0..2).map(|_| pace.leave(START, POST)).collect();
        assert_eq!(pace.wait(START, POST), Some(Duration::from_secs(5)));
        let outcome = Outcome::Answered(headers(3, 1, 5_000));
        pace.came_back(START, POST, seats[0].as_ref(), &outcome);
        assert!(pace.wait(START, POST).is_some(), "one is still under way");
        pace.came_back(START, POST, seats[1].as_ref(), &Outcome::Lost);
        assert!(pace.wait(START, POST).is_some(), "the lost one may have counted");
        assert_eq!(pace.wait(START + Duration::from_secs(5), POST), None);
    }

    /// R283: an older answer that arrives late gives nothing back.
    #[test]
    fn answers_out_of_order_free_no_place() {
        let mut pace = Pace::new(50);
        answer(&mut pace, START, 5, 0, 4_000);
        answer(&mut pace, START, 5, 1, 4_100);
        assert!(pace.wait(START, POST).is_some());
    }

    /// A bucket that refills a little with every answer is not held to the first one's count.
    #[test]
    fn a_sliding_window_is_followed() {
        let mut pace = Pace::new(50);
        for n in 0..20_u64 {
            let now = START + Duration::from_millis(n * 1_200);
            assert_eq!(pace.wait(now, POST), None, "{n}");
            answer(&mut pace, now, 5, 4, 5_000);
        }
    }

    /// After a reset the first requests go out together, and no more than fit.
    #[test]
    fn a_fresh_window_takes_its_limit_and_no_more() {
        let mut pace = Pace::new(50);
        answer(&mut pace, START, 2, 0, 1_000);
        let now = START + SECOND;
        for _ in 0..2 {
            assert_eq!(pace.wait(now, POST), None);
            pace.leave(now, POST);
        }
        assert_eq!(pace.wait(now, POST), Some(SHORTLY));
    }

    /// Globally no second holds more than allowed, whatever the routes.
    #[test]
    fn no_second_holds_more_than_the_global_limit() {
        let mut pace = Pace::new(50);
        let (mut now, mut sent) = (START, Vec::new());
        for n in 0..2_000_u64 {
            now = now + Duration::from_millis(7);
            let route = RouteKey::new("get channel", n);
            if pace.wait(now, route).is_none() {
                pace.leave(now, route);
                sent.push(now);
            }
        }
        assert!(sent.len() > 600, "{}", sent.len());
        for second in sent.windows(51) {
            assert!(second[50].since(second[0]) >= SECOND);
        }
    }

    /// R120: each scope of a 429 stops what it must and nothing else.
    #[test]
    fn a_429_bars_its_scope() {
        let wait = Duration::from_secs(3);
        let (other_route, other_channel) =
            (RouteKey::new("get messages", 7), RouteKey::new("create message", 8));
        for (scope, with_bucket, others_wait) in [
            (Scope::User, true, false),
            (Scope::User, false, false),
            (Scope::Shared, true, false),
            (Scope::Shared, false, false),
            (Scope::Global, false, true),
            (Scope::Unsaid, false, true),
        ] {
            let mut pace = Pace::new(50);
            let seat = pace.leave(START, POST);
            let limits = if with_bucket { headers(5, 0, 100) } else { LimitHeaders::default() };
            let outcome = Outcome::Refused(limits, TooMany { scope, wait });
            pace.came_back(START, POST, seat.as_ref(), &outcome);
            assert_eq!(pace.wait(START, POST), Some(wait), "{scope:?}");
            for other in [other_route, other_channel] {
                assert_eq!(pace.wait(START, other).is_some(), others_wait, "{scope:?}");
            }
            assert_eq!(pace.wait(START + wait, POST), None, "{scope:?}");
        }
    }

    /// Memory follows the channels that talk.
    #[test]
    fn what_is_over_is_forgotten() {
        let mut pace = Pace::new(50);
        for n in 0..20_000_u64 {
            let now = START + Duration::from_millis(n * 100);
            let route = RouteKey::new("create message", n);
            let seat = pace.leave(now, route);
            let outcome = Outcome::Answered(headers(5, 4, 5_000));
            pace.came_back(now, route, seat.as_ref(), &outcome);
            pace.wait(now, route);
        }
        assert!(pace.routes.len() <= SWEEP_AT && pace.buckets.len() <= SWEEP_AT);
    }
}
