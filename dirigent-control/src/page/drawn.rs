//! Pages that were drawn just now: streams that show the same share them.

use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::Timestamp;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::Serialize;

use crate::page::auth::VisitorRole;
use crate::page::look::Query;

/// So long a drawn page is used again where nothing has happened since.
const DRAWN_FOR: Duration = Duration::from_secs(1);
/// The most pages that are kept.
const DRAWN_MAX: usize = 64;

/// What a stream shows.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Shown {
    Overview(Query),
    Channel(ChannelId),
}

/// A part of a page: the id of its element, and what stands in it.
#[derive(Serialize)]
pub(crate) struct Region {
    pub(crate) id: String,
    html: String,
    #[serde(skip)]
    pub(crate) hash: u64,
}

impl Region {
    pub(crate) fn new(id: String, html: String) -> Self {
        let hash = FxBuildHasher.hash_one(&html);
        Self { id, html, hash }
    }
}

/// The pages, by what they show and to whom.
#[derive(Default)]
pub(crate) struct Drawn(Mutex<FxHashMap<(Shown, VisitorRole), Sheet>>);

/// A page as it was drawn, while so much had happened.
struct Sheet {
    version: u64,
    at: Timestamp,
    regions: Arc<Vec<Region>>,
}

impl Drawn {
    /// The page, where it was drawn a moment ago and nothing has happened since.
    pub(crate) fn fresh(
        &self,
        key: &(Shown, VisitorRole),
        version: u64,
        now: Timestamp,
    ) -> Option<Arc<Vec<Region>>> {
        let drawn = self.lock();
        let is_fresh = |sheet: &&Sheet| sheet.version == version && now.since(sheet.at) < DRAWN_FOR;
        drawn.get(key).filter(is_fresh).map(|sheet| Arc::clone(&sheet.regions))
    }

    /// Keeps a page that was drawn while so much had happened.
    pub(crate) fn keep(
        &self,
        key: (Shown, VisitorRole),
        version: u64,
        now: Timestamp,
        regions: &Arc<Vec<Region>>,
    ) {
        let mut drawn = self.lock();
        if drawn.len() >= DRAWN_MAX {
            drawn.clear();
        }
        drawn.insert(key, Sheet { version, at: now, regions: Arc::clone(regions) });
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<(Shown, VisitorRole), Sheet>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
