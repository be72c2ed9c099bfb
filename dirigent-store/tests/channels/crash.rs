//! Processes that are killed.

use dirigent_store::{JsonChannels, OpenError};
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
    let store = JsonChannels::open(path).unwrap();
    match role {
        "write" => write_for_ever(&store).await,
        "pause" => write_and_pause(&store).await,
        other => panic!("{other} is no role"),
    }
}

#[test]
fn a_second_process_is_kept_out_until_the_first_ends() {
    let place = Place::new();
    PLAYER.while_held(place.root(), || {
        let error = JsonChannels::open(place.root()).unwrap_err();
        assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    });
    place.open();
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
        PLAYER.killed_after(random.draw() % 40, "write", place.root(), &mut known);
        let store = place.open();
        known.is_in(&store, round).await;
        assert_eq!(store.problems(), [], "round {round}: something was half written");
        store.close().await.unwrap();
        let strays = place.names().into_iter().filter(|name| name.starts_with('.'));
        assert_eq!(strays.count(), 0);
    }
    known.is_worth_it(300);
}
