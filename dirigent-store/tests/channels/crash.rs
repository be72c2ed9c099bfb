//! Processes that are killed.

use std::time::Duration;

use dirigent_store::{ChannelOptions, JsonChannels, OpenError};
use dirigent_testkit::Random;

use crate::channels::place::Place;
use crate::shared::process::{Acknowledged, Player, hold, role, write_and_pause, write_for_ever};

pub(super) const PLAYER: Player =
    Player("channels::crash::a_process_killed_at_any_point_loses_nothing_it_acknowledged");

/// What the other processes of the tests here do.
async fn play(role: &str, path: &str) {
    if role == "hold" {
        let _store = JsonChannels::open(path).unwrap();
        return hold();
    }
    if role == "pause" {
        let options = ChannelOptions::new(path).sync_after(Duration::from_secs(3_600));
        return write_and_pause(&JsonChannels::open(options).unwrap()).await;
    }
    // "write <milliseconds>": turns are synced after so long.
    let wait = role.strip_prefix("write ").unwrap().parse().unwrap();
    let options = ChannelOptions::new(path).sync_after(Duration::from_millis(wait));
    write_for_ever(&JsonChannels::open(options).unwrap()).await;
}

#[test]
fn a_second_process_is_kept_out_until_the_first_ends() {
    let place = Place::new();
    PLAYER.while_held(place.root(), || {
        let error = JsonChannels::open(place.root()).unwrap_err();
        assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    });
    place.lazy();
}

/// R046, R143, D77
#[tokio::test]
async fn a_process_killed_at_any_point_loses_nothing_it_acknowledged() {
    if let Some((role, path)) = role() {
        return play(&role, &path).await;
    }
    let place = Place::new();
    let mut random = Random::new(0x6b69_6c6c);
    let mut known = Acknowledged::default();
    for round in 0..60 {
        // Without a wait, with a short one, and longer than the process lives.
        let wait = [0, 3, 60_000][round % 3];
        PLAYER.killed_after(random.draw() % 40, &format!("write {wait}"), place.root(), &mut known);
        let store = place.lazy();
        known.is_in(&store, round).await;
        assert_eq!(store.problems(), [], "round {round}: something was half written");
        store.close().await.unwrap();
        let strays = place.names().into_iter().filter(|name| name.starts_with('.'));
        assert_eq!(strays.count(), 0);
    }
    known.is_worth_it(500);
}
