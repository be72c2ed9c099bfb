//! Power cuts.

use std::path::Path;
use std::sync::Arc;

use dirigent::store::ChannelStore;
use dirigent_store::SqliteStore;

use crate::shared::power;
use crate::sqlite::crash::PLAYER;

const NAME: &str = "state/any.sqlite";

fn open(path: &Path) -> Arc<dyn ChannelStore> {
    let store = SqliteStore::open(path).unwrap();
    assert_eq!(store.problems(), []);
    Arc::new(store)
}

/// R046, R143, D77
#[tokio::test]
async fn a_power_cut_takes_nothing_that_was_answered() {
    power::at_any_moment(PLAYER, NAME, open).await;
}

/// R046, R143, D77, M5
#[tokio::test]
async fn a_power_cut_right_after_a_commit_was_answered_does_not_take_it() {
    power::right_after_a_commit(PLAYER, NAME, open).await;
}
