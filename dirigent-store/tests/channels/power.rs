//! Power cuts.

use std::path::Path;
use std::sync::Arc;

use dirigent::store::ChannelStore;
use dirigent_store::JsonChannels;

use crate::channels::crash::PLAYER;
use crate::shared::power;

fn open(path: &Path) -> Arc<dyn ChannelStore> {
    Arc::new(JsonChannels::open(path).unwrap())
}

/// R046, R143, D77
#[tokio::test]
async fn a_power_cut_takes_nothing_that_was_answered() {
    power::at_any_moment(PLAYER, "state", open).await;
}

/// R046, R143, D77, M5
#[tokio::test]
async fn a_power_cut_right_after_a_commit_was_answered_does_not_take_it() {
    power::right_after_a_commit(PLAYER, "state", open).await;
}
