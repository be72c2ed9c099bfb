//! What the benches of the stores share: options, and a store that is chosen by name.
#![allow(dead_code, reason = "each bench uses its part")]

use std::path::Path;
use std::sync::Arc;

use dirigent::ChannelStore;
use dirigent_store::{ChannelOptions, FileDurability, JsonChannels};
#[cfg(feature = "sqlite")]
use dirigent_store::{SqliteOptions, SqliteStore};

/// The command line: `--name value` pairs; what cargo adds is passed over.
pub(crate) struct Options(Vec<String>);

impl Options {
    pub(crate) fn read() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    pub(crate) fn value(&self, name: &str) -> Option<&String> {
        self.0.iter().skip_while(|argument| *argument != name).nth(1)
    }

    pub(crate) fn number(&self, name: &str, default: usize) -> usize {
        let is_test = self.0.iter().any(|argument| argument == "--test");
        let given = self.value(name).map(|value| value.parse().expect("a number"));
        given.unwrap_or(if is_test { default.min(20) } else { default })
    }
}

/// Which store is measured.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Json,
    #[cfg(feature = "sqlite")]
    Sqlite,
}

impl Kind {
    pub(crate) fn of(name: Option<&String>) -> Self {
        match name.map(String::as_str) {
            None | Some("json") => Self::Json,
            #[cfg(feature = "sqlite")]
            Some("sqlite") => Self::Sqlite,
            Some(other) => panic!("there is no store {other}, or not without its feature"),
        }
    }

    pub(crate) fn open(self, path: &Path, durability: FileDurability) -> Open {
        match self {
            Self::Json => {
                let options = ChannelOptions::new(path).durability(durability);
                Open::Json(JsonChannels::open(options).unwrap())
            }
            #[cfg(feature = "sqlite")]
            Self::Sqlite => {
                let options = SqliteOptions::new(path).durability(durability);
                Open::Sqlite(SqliteStore::open(options).unwrap())
            }
        }
    }
}

/// A store that is open.
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
