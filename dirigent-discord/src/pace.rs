//! Computes when the next request of an account may leave: by the headers of each `bucket`, and by the limit for
//! all requests.

mod bucket;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;

use crate::limit_headers::{LimitHeaders, Scope, TooMany};
use crate::route::RouteKey;
use bucket::Bucket;

/// The stretch in which a number of requests is allowed globally.
const SECOND: Duration = Duration::from_secs(1);

/// How many routes and buckets are remembered before those that say nothing any more are dropped.
const SWEEP_AT: usize = 4_096;

/// A bucket: its name, and the channel or guild in which it counts.
type BucketKey = (Arc<str>, u64);

/// The places that a request takes until it is over.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    left: Timestamp,
    /// None where the route's bucket was not known yet.
    bucket: Option<BucketKey>,
}

/// What is known of the limits of one account. Nothing is written down beforehand: buckets are
/// learnt from answers, and a route is free until its first one.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: usize,
    /// The requests of the last second, oldest first.
    sent: VecDeque<Timestamp>,
    /// When each of the requests may come again that the number for one second kept back, earliest first. Told the same moment, all of them
    /// would come at once, and all but one in vain.
    returning: VecDeque<Timestamp>,
    /// Until when nothing may leave.
    all: Option<Timestamp>,
    /// Until when a route is barred that has no bucket.
    barred: HashMap<RouteKey, Timestamp>,
    /// The bucket of each route.
    routes: HashMap<RouteKey, Arc<str>>,
    buckets: HashMap<BucketKey, Bucket>,
}

/// How a request came back.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// With an answer that is no 429.
    Answered(LimitHeaders),
    /// With a 429.
    Refused(LimitHeaders, TooMany),
    /// It was never sent: no connection came about.
    NotSent,
    /// Not at all: Discord may have counted it.
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

    /// How long a request of this route must wait, if it may not leave now.
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

    /// When a request may come again that is one too many for this second. Each is promised the place of another request of
    /// the last second; where more wait, the places of those.
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

    /// A request leaves. Returns the places that it takes.
    pub(crate) fn leave(&mut self, now: Timestamp, route: RouteKey) -> Seat {
        self.sent.push_back(now);
        let bucket = self.bucket_of(route).map(|(key, bucket)| {
            bucket.leave(now);
            key
        });
        Seat { left: now, bucket }
    }

    /// A request came back, or did not.
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

    /// Drops what says nothing any more, so that memory follows the channels that talk.
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
