//! Power cuts: the disk as it is in one moment, with nothing of what the system still holds back.

use std::io::{BufRead, BufReader, Write};

use dirigent_store::SqliteStore;
use dirigent_testkit::Random;

use crate::shared::mount::{Disk, Mount};
use crate::shared::process::{Acknowledged, ack};
use crate::sqlite::crash::PLAYER;

/// R046, R143, D77
#[tokio::test]
async fn a_power_cut_takes_nothing_that_was_answered() {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(home.path()) else { return };
    let mut random = Random::new(0x706f_7765);
    let mut known = Acknowledged::default();
    for round in 0..8 {
        let mut writer = PLAYER.start("write", &disk.path().join("state/any.sqlite"));
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert_eq!(ack(&mut lines).as_deref(), Some("open"));
        for _ in 0..20 + random.draw() % 40 {
            assert!(known.hear(&mut lines), "the other process gave up");
        }
        let copy = home.path().join("copy");
        disk.copy(&copy);
        let before = known.made.clone();
        writer.kill().unwrap();
        while known.hear(&mut lines) {}
        writer.wait().unwrap();

        let after = Mount::looped(copy).expect("the copy cannot be mounted");
        let store = SqliteStore::open(after.path().join("state/any.sqlite")).unwrap();
        assert_eq!(store.problems(), []);
        for (channel, made) in &before {
            let found =
                crate::shared::commits::stored(&store, dirigent::ChannelId::new(*channel)).await;
            let (revision, mark) = found.expect("a channel is lost");
            assert_eq!(mark, revision, "what was written belongs to another commit");
            assert!(revision >= *made, "round {round}: {made} of {channel}, not {revision}");
        }
        store.close().await.unwrap();
    }
}

/// R046, R143, D77: the writer rests after a fact until the disk was copied, so that no later sync
/// stands in for one that was left out.
#[tokio::test]
async fn a_power_cut_right_after_a_fact_was_answered_does_not_take_it() {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(home.path()) else { return };
    let mut writer = PLAYER.start("pause", &disk.path().join("state/any.sqlite"));
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert_eq!(ack(&mut lines).as_deref(), Some("open"));
    let mut known = Acknowledged::default();
    for _ in 0..6 {
        let before = known.facts.clone();
        while known.facts == before {
            assert!(known.hear(&mut lines), "the other process gave up");
        }
        let copy = home.path().join("copy");
        disk.copy(&copy);
        writer.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let after = Mount::looped(copy).expect("the copy cannot be mounted");
        let store = SqliteStore::open(after.path().join("state/any.sqlite")).unwrap();
        for (channel, made) in &known.made {
            let found =
                crate::shared::commits::stored(&store, dirigent::ChannelId::new(*channel)).await;
            assert!(found.unwrap_or_default().0 >= *made, "{made} of {channel} is lost: {found:?}");
        }
        store.close().await.unwrap();
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
}
