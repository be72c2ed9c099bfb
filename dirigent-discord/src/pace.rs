//! Computes when the next request of an account may leave, from the headers of each `bucket` and the limit for all
//! requests.

mod bucket;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;

use crate::limit_headers::{LimitHeaders, Scope, TooMany};
use crate::route::RouteKey;
use bucket::Bucket;

/// The time that the limit for all requests is about.
const SECOND: Duration = Duration::from_secs(1);

/// The number of remembered routes and buckets above which old ones are dropped.
const SWEEP_AT: usize = 4_096;

/// The name of a bucket, and its channel or guild.
type BucketKey = (Arc<str>, u64);

/// The places that a request takes until it is over.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    left: Timestamp,
    /// `None` if the route's bucket was not known yet.
    bucket: Option<BucketKey>,
}

/// The known limits of one account. None are known in advance: buckets are learnt from answers, and a route is free
/// until its first one.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: usize,
    /// The requests of the last second, oldest first.
    sent: VecDeque<Timestamp>,
    /// The times at which requests that the limit per second held back may come again, earliest first. With one common
    /// time all of them would come at once, and all but one in vain.
    returning: VecDeque<Timestamp>,
    /// The time until which no request may leave.
    all: Option<Timestamp>,
    /// The time until which a route without a bucket is barred.
    barred: HashMap<RouteKey, Timestamp>,
    routes: HashMap<RouteKey, Arc<str>>,
    buckets: HashMap<BucketKey, Bucket>,
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Answered(LimitHeaders),
    Refused(LimitHeaders, TooMany),
    /// It was never sent, because there was no connection.
    NotSent,
    /// It was lost, and Discord may have counted it.
    Lost,
}

impl Pace {
    pub(crate) fn new(per_second: usize) -> Self {
        Self {
            per_second: per_second.max(1),
            sent: VecDeque::new(),
            returning: VecDeque::new(),
            all: None,
            barred: HashMap::new(),
            routes: HashMap::new(),
            buckets: HashMap::new(),
        }
    }

    /// Returns how long a request of this route must wait, or `None` if it may leave now.
    pub(crate) fn wait(&mut self, now: Timestamp, route: RouteKey) -> Option<Duration> {
        while self.sent.front().is_some_and(|at| *at + SECOND <= now) {
            self.sent.pop_front();
        }
        let until = self.all.max(self.barred.get(&route).copied());
        let by_bucket = self.bucket_of(route).and_then(|(_, bucket)| bucket.free_at(now));
        let until = until.max(by_bucket).filter(|until| *until > now);
        let until = until.or_else(|| self.next_place(now));
        until.map(|until| until.since(now))
    }

    /// Returns when a request that is one too many for this second may come again. Each gets the place of another
    /// request of the last second. If more wait, they get the places of those.
    fn next_place(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.sent.len() < self.per_second {
            return None;
        }
        while self.returning.front().is_some_and(|at| *at <= now) {
            self.returning.pop_front();
        }
        let earlier = self.sent.iter().chain(&self.returning);
        let place = earlier.copied().nth(self.returning.len())? + SECOND;
        self.returning.push_back(place);
        Some(place)
    }

    /// Counts a request that leaves. Returns the places that it takes.
    pub(crate) fn leave(&mut self, now: Timestamp, route: RouteKey) -> Seat {
        self.sent.push_back(now);
        let bucket = self.bucket_of(route).map(|(key, bucket)| {
            bucket.leave(now);
            key
        });
        Seat { left: now, bucket }
    }

    /// Takes the result of a request.
    pub(crate) fn came_back(
        &mut self,
        now: Timestamp,
        route: RouteKey,
        seat: &Seat,
        outcome: &Outcome,
    ) {
        if let Some(bucket) = seat.bucket.as_ref().and_then(|key| self.buckets.get_mut(key)) {
            if matches!(outcome, Outcome::Lost) {
                bucket.lose(seat.left);
            } else {
                bucket.give_back(seat.left);
            }
        }
        match outcome {
            Outcome::Answered(headers) => self.learn(now, route, headers),
            Outcome::Refused(headers, too_many) => {
                self.learn(now, route, headers);
                self.bar(now, route, *too_many);
            }
            Outcome::NotSent => {
                if let Some(place) = self.sent.iter().position(|at| *at == seat.left) {
                    self.sent.remove(place);
                }
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
        let bucket = self.buckets.entry((name, route.major)).or_insert(Bucket::unknown());
        bucket.learn(now, limit, remaining, reset_after);
    }

    fn bar(&mut self, now: Timestamp, route: RouteKey, too_many: TooMany) {
        let until = now + too_many.wait;
        match too_many.scope {
            Scope::Global | Scope::Unsaid => self.all = self.all.max(Some(until)),
            Scope::User | Scope::Shared => {
                if let Some((_, bucket)) = self.bucket_of(route) {
                    bucket.bar(until);
                } else {
                    self.sweep(now);
                    self.barred.insert(route, until);
                }
            }
        }
    }

    /// Drops old data, so that memory depends only on the active channels.
    fn sweep(&mut self, now: Timestamp) {
        if self.routes.len().max(self.barred.len()) < SWEEP_AT {
            return;
        }
        self.barred.retain(|_, until| *until > now);
        self.buckets.retain(|_, bucket| bucket.matters(now));
        let buckets = &self.buckets;
        self.routes.retain(|route, name| buckets.contains_key(&(Arc::clone(name), route.major)));
    }
}

#[cfg(test)]
mod tests;
