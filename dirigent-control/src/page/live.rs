//! Pages that change by themselves: a stream of server-sent events with the parts of a page that changed. A stream holds
//! no history: after a break the page is sent what differs from what it has, whatever happened meanwhile.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use dirigent::operate::{Cause, EventOrLag, Events};
use dirigent::ports::Timestamp;
use futures_util::stream::{Stream, unfold};
use http::HeaderMap;
use rustc_hash::FxHashMap;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::page::api::{Asked, Named, channel_id};
use crate::page::auth::VisitorRole;
use crate::page::drawn::{Region, Shown};
use crate::page::gather::concerns;
use crate::page::look::Query;
use crate::page::pages::{RowCells, Summary, channel_regions, drawn};
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// What changes together is sent together.
const TOGETHER: Duration = Duration::from_millis(150);
/// Some of what is shown changes without an event: it is looked at so often.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// What another process tells is asked for so often.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// A stream ends then; the page asks for another one, and is judged again.
const LASTS: Duration = Duration::from_secs(15 * 60);
/// So often something is sent, so that a broken connection is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(crate) fn routes() -> Router<Arc<PageContext>> {
    Router::new().route("/live", get(overview)).route("/live/channels/{id}", get(channel))
}

async fn overview(
    State(shared): State<Arc<PageContext>>,
    Extension(role): Extension<VisitorRole>,
    Asked(query): Asked<Query>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    stream(shared, role, Shown::Overview(query), &headers)
}

async fn channel(
    State(shared): State<Arc<PageContext>>,
    Extension(role): Extension<VisitorRole>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = channel_id(&id)?;
    if !shared.across().is_told_elsewhere(id) {
        shared.must_exist(id).await?;
    }
    stream(shared, role, Shown::Channel(id), &headers)
}

fn stream(
    shared: Arc<PageContext>,
    role: VisitorRole,
    shown: Shown,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let place = Arc::clone(&shared.streams).try_acquire_owned();
    let place = place.map_err(|_| {
        Problem::new(503, "too-many-streams", "too many pages are open; close some")
    })?;
    let had = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let now = shared.clock.now();
    let orders = shared.orders.subscribe();
    let live = Live {
        events: shared.dirigent.events(),
        orders,
        sent: FxHashMap::default(),
        had: had.and_then(|had| u64::from_str_radix(had, 16).ok()),
        is_first: true,
        ends_at: now + LASTS,
        _place: place,
        shared,
        role,
        shown,
    };
    Ok(Sse::new(live.stream()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// A stream under way.
struct Live {
    shared: Arc<PageContext>,
    role: VisitorRole,
    shown: Shown,
    events: Events,
    orders: watch::Receiver<u64>,
    /// What the page has, by element: only hashes.
    sent: FxHashMap<String, u64>,
    /// What the page had before a break, all together.
    had: Option<u64>,
    is_first: bool,
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

    /// The next change; `None` when the stream ends.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if !std::mem::take(&mut self.is_first) {
                self.wait().await?;
            }
            let regions = match self.sheet().await {
                Ok(regions) => regions,
                // The channel is gone: the page asks once more, and the answer is 404.
                Err(problem) if problem.status == 404 => return None,
                // One that cannot be read now is looked at again.
                Err(_) => continue,
            };
            if let Some(event) = self.changed(&regions) {
                return Some(event);
            }
        }
    }

    /// Waits until there may be something to show.
    async fn wait(&mut self) -> Option<()> {
        let clock = Arc::clone(&self.shared.clock);
        let now = clock.now();
        if now >= self.ends_at {
            return None;
        }
        let look_again = (now + self.look_again()).min(self.ends_at);
        loop {
            let heard = tokio::select! {
                heard = self.events.next() => heard?,
                // The sender lives as long as we do.
                _ = self.orders.changed() => break,
                () = clock.sleep_until(look_again) => return Some(()),
            };
            if self.is_about(&heard) {
                break;
            }
        }
        clock.sleep_until(clock.now() + TOGETHER).await;
        while self.events.try_next().is_some() {}
        Some(())
    }

    /// How long it may be before something is looked at that changes without an event here.
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

    /// What is shown now; drawn once for all who see the same.
    async fn sheet(&self) -> Result<Arc<Vec<Region>>, Problem> {
        let key = (self.shown.clone(), self.role);
        let (version, now) = (self.version(), self.shared.clock.now());
        let drawn = &self.shared.drawn;
        if let Some(regions) = drawn.fresh(&key, version, now) {
            return Ok(regions);
        }
        let regions = Arc::new(self.regions().await?);
        drawn.keep(key, version, now, &regions);
        Ok(regions)
    }

    /// Rises with whatever happens.
    fn version(&self) -> u64 {
        let tally = self.shared.dirigent.tally();
        let changes: u64 = Cause::ALL.iter().map(|cause| tally.changes(*cause)).sum();
        changes.wrapping_add(tally.reports()).wrapping_add(*self.shared.orders.borrow())
    }

    async fn regions(&self) -> Result<Vec<Region>, Problem> {
        let (shared, may_change) = (&self.shared, self.role.may_change());
        match &self.shown {
            Shown::Overview(query) => {
                let look = shared.across().overview(query).await?;
                let mut regions =
                    vec![Region::new("summary".to_owned(), drawn(&Summary { look: &look })?)];
                for row in &look.channels {
                    let html = drawn(&RowCells { base: &shared.base, row, may_change })?;
                    regions.push(Region::new(format!("c-{}", row.id), html));
                }
                Ok(regions)
            }
            Shown::Channel(id) => {
                let sheet = shared.across().sheet(*id).await?;
                let regions = channel_regions(&shared.base, &sheet.look, &sheet.score, may_change)?;
                let region = |(id, html): (&str, String)| Region::new(id.to_owned(), html);
                Ok(regions.into_iter().map(region).collect())
            }
        }
    }

    /// What of it the page does not have.
    fn changed(&mut self, regions: &[Region]) -> Option<Event> {
        let mut all = 0_u64;
        let mut fresh = Vec::new();
        for region in regions {
            all = all.rotate_left(5) ^ region.hash;
            if self.sent.insert(region.id.clone(), region.hash) != Some(region.hash) {
                fresh.push(region);
            }
        }
        if self.had.take() == Some(all) || fresh.is_empty() {
            return None;
        }
        let event = Event::default().id(format!("{all:x}"));
        event.json_data(&fresh).ok()
    }
}
