//! What the benches of the store share: options, and the store.

#[path = "../../../benches/common/options.rs"]
mod options;
mod postgres;

use std::path::Path;
use std::sync::Arc;

use dirigent::store::ChannelStore;

pub(crate) use self::options::{Given, Options};
use self::postgres::Linked;

/// The stores that can be measured, the first one unless told.
pub(crate) const STORES: &[&str] = &["postgres", "memory"];

/// Which store is measured.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Postgres,
}

impl Kind {
    pub(crate) const fn of(_: Option<&str>) -> Self {
        Self::Postgres
    }

    /// A server is as durable as it is set up to be.
    pub(crate) fn open(self, path: &Path, _: bool) -> Open {
        match self {
            Self::Postgres => Open(Linked::open(path)),
        }
    }
}

/// A store that is open.
pub(crate) struct Open(Linked);

impl Open {
    pub(crate) fn store(&self) -> Arc<dyn ChannelStore> {
        Arc::new(self.0.store.clone())
    }

    pub(crate) async fn close(self) {
        self.0.close().await;
    }
}
