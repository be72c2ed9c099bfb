//! Pages that were drawn just now. All visitors of one page share one drawing.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::ChannelId;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::Serialize;

use crate::page::auth::VisitorRole;
use crate::page::look::{Overview, Query};
use crate::page::made_once::MadeOnce;
use crate::page::peers::ChannelSheet;

/// The most drawings in memory.
const DRAWN_MAX: usize = 64;

/// The subject of a page or of a stream.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Shown {
    Overview(Query),
    Channel(ChannelId),
}

/// A page in parts.
pub(crate) struct Sheet {
    pub(crate) parts: Vec<Region>,
    /// The hash of all parts together. A stream names the state of a page with it.
    pub(crate) mark: u64,
    pub(crate) of: Subject,
}

/// The data of a page.
pub(crate) enum Subject {
    Overview(Box<Overview>),
    Channel(Box<ChannelSheet>),
}

impl Sheet {
    pub(crate) fn new(parts: Vec<Region>, of: Subject) -> Self {
        let fold = |all: u64, part: &Region| all.rotate_left(5) ^ part.hash;
        Self { mark: parts.iter().fold(0, fold), parts, of }
    }

    /// Returns the HTML of the element with this id, or an empty text if there is none.
    pub(crate) fn part(&self, id: &str) -> &str {
        self.parts.iter().find(|part| part.id == id).map_or("", |part| &part.html)
    }

    /// Returns the ids of a table's rows under their headings.
    pub(crate) fn groups(&self, id: &str) -> &[RowGroup] {
        let part = self.parts.iter().find(|part| part.id == id);
        part.and_then(|part| part.groups.as_deref()).unwrap_or_default()
    }
}

/// A part of a page: the id of its element, and the content.
#[derive(Serialize)]
pub(crate) struct Region {
    pub(crate) id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) html: String,
    /// The ids of the rows under their headings, in order, if the part is a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<RowGroup>>,
    #[serde(skip)]
    pub(crate) hash: u64,
}

/// The rows under one heading of a table.
#[derive(Serialize, Hash)]
pub(crate) struct RowGroup {
    /// Creates a part with plain text. A stream sends it escaped, because a page treats everything in a stream as HTML.
    #[serde(serialize_with = "escaped")]
    pub(crate) heading: String,
    pub(crate) rows: Vec<String>,
}

impl Region {
    pub(crate) fn new(id: String, html: String) -> Self {
        let hash = FxBuildHasher.hash_one((&id, &html));
        Self { id, html, groups: None, hash }
    }

    /// Creates a part with the order of a table's rows.
    pub(crate) fn order(id: String, groups: Vec<RowGroup>) -> Self {
        let hash = FxBuildHasher.hash_one((&id, &groups));
        Self { id, html: String::new(), groups: Some(groups), hash }
    }
}

fn escaped<S: serde::Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(
        &askama::filters::escape(text, askama::filters::Html).map_err(serde::ser::Error::custom)?,
    )
}

/// A page that its visitors share.
type SharedSheet = Arc<MadeOnce<Sheet>>;

/// The pages, by their content and their audience.
#[derive(Default)]
pub(crate) struct Drawn {
    sheets: Mutex<FxHashMap<(Shown, VisitorRole), SharedSheet>>,
    drawings: AtomicU64,
}

impl Drawn {
    pub(crate) fn sheet(&self, key: (Shown, VisitorRole)) -> SharedSheet {
        let mut sheets = self.sheets.lock().unwrap_or_else(PoisonError::into_inner);
        if sheets.len() >= DRAWN_MAX && !sheets.contains_key(&key) {
            // Pages that are being drawn just now stay with the visitors who wait for them.
            sheets.clear();
        }
        Arc::clone(sheets.entry(key).or_default())
    }

    pub(crate) fn count(&self) {
        self.drawings.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of pages that were drawn since the process began.
    pub(crate) fn drawings(&self) -> u64 {
        self.drawings.load(Ordering::Relaxed)
    }
}
