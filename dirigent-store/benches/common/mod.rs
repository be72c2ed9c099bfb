//! The parts that the benches of the stores share: their options, and a store that you choose by name.

#[path = "../../../benches/common/options.rs"]
mod options;

use std::path::Path;
use std::sync::Arc;

use dirigent::store::ChannelStore;
use dirigent_store::JsonChannels;
#[cfg(feature = "sqlite")]
use dirigent_store::{FileDurability, SqliteOptions, SqliteStore};

pub(crate) use self::options::{Given, Options};

/// The stores that can be measured. The first one is the default.
pub(crate) const STORES: &[&str] = &[
    "json",
    #[cfg(feature = "sqlite")]
    "sqlite",
    "memory",
];

/// The store that is measured.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Json,
    #[cfg(feature = "sqlite")]
    Sqlite,
}

impl Kind {
    pub(crate) fn of(name: Option<&str>) -> Self {
        match name {
            #[cfg(feature = "sqlite")]
            Some("sqlite") => Self::Sqlite,
            _ => Self::Json,
        }
    }

    /// Opens the store. A commit waits for the disk, unless the store leaves the choice to its user and
    /// `waits` is false.
    #[cfg_attr(not(feature = "sqlite"), expect(unused_variables, reason = "files always wait"))]
    pub(crate) fn open(self, path: &Path, waits: bool) -> Open {
        match self {
            Self::Json => Open::Json(JsonChannels::open(path).unwrap()),
            #[cfg(feature = "sqlite")]
            Self::Sqlite => {
                let durability = if waits { FileDurability::Full } else { FileDurability::None };
                let options = SqliteOptions::new(path).durability(durability);
                Open::Sqlite(SqliteStore::open(options).unwrap())
            }
        }
    }
}

/// An open store.
pub(crate) enum Open {
    Json(JsonChannels),
    #[cfg(feature = "sqlite")]
    Sqlite(SqliteStore),
}

impl Open {
    pub(crate) fn store(&self) -> Arc<dyn ChannelStore> {
        match self {
            Self::Json(store) => Arc::new(store.clone()),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(store) => Arc::new(store.clone()),
        }
    }

    pub(crate) async fn close(self) {
        match self {
            Self::Json(store) => {
                assert!(store.problems().is_empty());
                store.close().await.unwrap();
            }
            #[cfg(feature = "sqlite")]
            Self::Sqlite(store) => {
                assert!(store.problems().is_empty());
                store.close().await.unwrap();
            }
        }
    }
}
