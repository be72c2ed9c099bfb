//! Pages that update themselves. A stream of server-sent events has the parts of a page that changed. A stream has no
//! history: after a break it sends everything that differs from the page's present state.
//!
//! An event `standing` tells the page if it is current. It is `live`, `behind` (the state cannot be read just now) or
//! `ended` (the driver has ended). The event is repeated, so that a page notices a connection that breaks silently.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use dirigent::operate::{EventOrLag, Events};
use dirigent::ports::Timestamp;
use futures_util::stream::{Stream, unfold};
use http::{HeaderMap, HeaderName, HeaderValue};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::page::auth::{SessionId, VisitorRole};
use crate::page::channel_id::channel_id;
use crate::page::drawn::{Sheet, Shown};
use crate::page::extract::{Asked, Named};
use crate::page::gather::concerns;
use crate::page::look::Query;
use crate::page::made_once::Freshness;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;
use crate::page::visitor::Visitor;

/// The wait before changes are sent, so that changes of one moment are sent together.
const TOGETHER: Duration = Duration::from_millis(150);
/// The pause between two reads of state that changes without an event.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// The pause between two questions to another process.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// The longest stream. After that the page opens another one, and the visitor is checked again.
const LASTS: Duration = Duration::from_secs(15 * 60);
/// The pause between two heartbeats, so that a broken connection is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The pause between two checks of the driver, because there is no event for its end.
const BEAT: Duration = Duration::from_secs(1);

pub(crate) fn routes() -> Router<Arc<PageContext>> {
    Router::new().route("/live", get(overview)).route("/live/channels/{id}", get(channel))
}

/// The mark of the state that a page has. The page was drawn with it, or had it before a break.
#[derive(serde::Deserialize)]
struct Had {
    #[serde(default)]
    had: String,
}

async fn overview(
    State(shared): State<Arc<PageContext>>,
    Extension(visitor): Extension<Visitor>,
    Asked(query): Asked<Query>,
    Asked(had): Asked<Had>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    stream(shared, &visitor, Shown::Overview(query), &had, &headers)
}

async fn channel(
    State(shared): State<Arc<PageContext>>,
    Extension(visitor): Extension<Visitor>,
    Named(id): Named<String>,
    Asked(had): Asked<Had>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = channel_id(&id)?;
    if !shared.across().is_told_elsewhere(id) {
        shared.must_exist(id).await?;
    }
    stream(shared, &visitor, Shown::Channel(id), &had, &headers)
}

fn stream(
    shared: Arc<PageContext>,
    visitor: &Visitor,
    shown: Shown,
    had: &Had,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let place = Arc::clone(&shared.streams).try_acquire_owned();
    let place = place.map_err(|_| {
        Problem::new(503, "too-many-streams", "too many pages are open; close some")
    })?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let had = u64::from_str_radix(last.unwrap_or(&had.had), 16).ok();
    let now = shared.clock.now();
    let live = Live {
        events: shared.dirigent.events(),
        orders: shared.orders.subscribe(),
        sign_outs: shared.sign_outs.subscribe(),
        sent: FxHashMap::default(),
        had,
        next: Next::Look,
        ready: VecDeque::new(),
        told: None,
        look_at: now,
        ends_at: visitor.session.map_or(now + LASTS, |own| own.expires().min(now + LASTS)),
        _place: place,
        shared,
        role: visitor.role,
        session: visitor.session,
        shown,
    };
    let stream = Sse::new(live.stream()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    let mut response = stream.into_response();
    // With nginx's defaults a proxy would collect events until its buffer is full.
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// Tells if a page is current.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Currency {
    Live,
    /// The state cannot be read just now.
    Behind,
    /// The driver has ended.
    Ended,
}

impl Currency {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Behind => "behind",
            Self::Ended => "ended",
        }
    }
}

/// The next step of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Something may have changed, so the stream reads the state.
    Look,
    /// The stream only reports if it is live.
    Beat,
}

/// A running stream.
struct Live {
    shared: Arc<PageContext>,
    role: VisitorRole,
    /// The session that opened the stream.
    session: Option<SessionId>,
    shown: Shown,
    events: Events,
    orders: watch::Receiver<u64>,
    sign_outs: watch::Receiver<u64>,
    /// The hashes of the page's present content, by element.
    sent: FxHashMap<String, u64>,
    /// The mark of the state that the page had before a break.
    had: Option<u64>,
    next: Next,
    /// The events that are still to be sent.
    ready: VecDeque<Event>,
    /// The currency that was sent last, and its time.
    told: Option<(Currency, Timestamp)>,
    /// The time of the next read without an event.
    look_at: Timestamp,
    ends_at: Timestamp,
    _place: OwnedSemaphorePermit,
}

impl Live {
    fn stream(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        unfold(self, |mut live| async move {
            let event = live.next().await?;
            Some((Ok(event), live))
        })
    }

    /// Returns the next event, or `None` when the stream ends.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if self.session.is_some() {
                self.shared.hear_sign_outs().await;
            }
            // Data that was read while the visitor signed out is not sent either.
            if self.is_signed_out() {
                return None;
            }
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.told.is_some() {
                self.next = self.wait().await?;
            }
            let before = self.told.map(|(currency, _)| currency);
            let currency = match self.next {
                _ if self.shared.has_ended().await => Currency::Ended,
                // The driver runs again, or the state can be read again.
                Next::Beat if before == Some(Currency::Live) => Currency::Live,
                Next::Beat | Next::Look => self.look().await?,
            };
            self.tell(currency);
        }
    }

    /// Returns true if the session that opened the stream has ended.
    fn is_signed_out(&self) -> bool {
        let is_over = |session| {
            let auth = self.shared.auth.lock().unwrap_or_else(PoisonError::into_inner);
            auth.is_over(self.shared.clock.now(), session)
        };
        self.session.is_some_and(is_over)
    }

    /// Reads the state, and prepares the parts that the page lacks.
    async fn look(&mut self) -> Option<Currency> {
        self.look_at = self.shared.clock.now() + self.look_again();
        let sheet = self.shared.sheet(self.shown.clone(), self.role, Freshness::Lately).await;
        match sheet {
            Ok(sheet) => {
                let changed = self.changed(&sheet);
                self.ready.extend(changed);
                Some(Currency::Live)
            }
            // The channel is gone. The page asks once more and gets the status 404.
            Err(problem) if problem.status == 404 => None,
            // A state that cannot be read now is read again later.
            Err(_) => Some(Currency::Behind),
        }
    }

    /// Reports if the page is live, if that has changed or the last report is old.
    fn tell(&mut self, currency: Currency) {
        let now = self.shared.clock.now();
        let is_old =
            self.told.is_none_or(|(before, at)| before != currency || now.since(at) >= KEEP_ALIVE);
        if is_old {
            self.told = Some((currency, now));
            self.ready.push_back(Event::default().event("standing").data(currency.as_str()));
        }
    }

    /// Waits until there may be something to show or to report.
    async fn wait(&mut self) -> Option<Next> {
        let clock = Arc::clone(&self.shared.clock);
        let now = clock.now();
        if now >= self.ends_at {
            return None;
        }
        let beat = (now + BEAT).min(self.look_at).min(self.ends_at);
        loop {
            let heard = tokio::select! {
                heard = self.events.next() => heard?,
                // The sender lives as long as this stream.
                _ = self.orders.changed() => break,
                _ = self.sign_outs.changed() => {
                    if self.is_signed_out() {
                        return None;
                    }
                    continue;
                }
                () = clock.sleep_until(beat) => {
                    return Some(if clock.now() >= self.look_at { Next::Look } else { Next::Beat });
                }
            };
            if self.is_about(&heard) {
                break;
            }
        }
        clock.sleep_until(clock.now() + TOGETHER).await;
        while self.events.try_next().is_some() {}
        Some(Next::Look)
    }

    /// Returns the time until the next read of state that changes without an event in this process.
    fn look_again(&self) -> Duration {
        let is_told_elsewhere = match self.shown {
            Shown::Overview(_) => self.shared.peers.is_some(),
            Shown::Channel(id) => self.shared.across().is_told_elsewhere(id),
        };
        if is_told_elsewhere { ASK_AGAIN } else { LOOK_AGAIN }
    }

    fn is_about(&self, heard: &EventOrLag) -> bool {
        match self.shown {
            Shown::Overview(_) => !matches!(heard, EventOrLag::Progress(_)),
            Shown::Channel(id) => concerns(heard, id),
        }
    }

    /// Returns the parts that the page lacks.
    fn changed(&mut self, sheet: &Sheet) -> Option<Event> {
        // A row that comes back is sent again, because the page has dropped it.
        let present: FxHashSet<&str> = sheet.parts.iter().map(|part| part.id.as_str()).collect();
        self.sent.retain(|id, _| present.contains(id.as_str()));
        let mut fresh = Vec::new();
        for part in &sheet.parts {
            if self.sent.insert(part.id.clone(), part.hash) != Some(part.hash) {
                fresh.push(part);
            }
        }
        if self.had.take() == Some(sheet.mark) || fresh.is_empty() {
            return None;
        }
        let event = Event::default().id(format!("{:x}", sheet.mark));
        event.json_data(&fresh).ok()
    }
}
