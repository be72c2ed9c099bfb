//! Power cuts: the disk as it is in one moment, with nothing of what the system still holds back.

use std::io::{BufRead, BufReader, Write};

use dirigent::ChannelId;
use dirigent_testkit::Random;

use crate::channels::crash::PLAYER;
use crate::channels::place::{Place, stored};
use crate::shared::mount::{Disk, Mount};
use crate::shared::process::{Acknowledged, ack};

/// R046, R143, D77
#[tokio::test]
async fn a_power_cut_takes_no_fact() {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(home.path()) else { return };
    let mut random = Random::new(0x706f_7765);
    let root = disk.path().join("state");
    let mut known = Acknowledged::default();
    let (mut torn, mut turns_lost) = (0, 0);
    for round in 0..8 {
        let wait = [1, 20, 60_000][round % 3];
        let mut writer = PLAYER.start(&format!("write {wait}"), &root);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert_eq!(ack(&mut lines).as_deref(), Some("open"));
        for _ in 0..20 + random.draw() % 40 {
            assert!(known.hear(&mut lines), "the other process gave up");
        }
        let copy = home.path().join("copy");
        disk.copy(&copy);
        let facts = known.facts.clone();
        writer.kill().unwrap();
        while known.hear(&mut lines) {}
        writer.wait().unwrap();

        let after = Mount::looped(copy).expect("the copy cannot be mounted");
        let place = Place::at(after.path().join("state"));
        let store = place.lazy();
        for (channel, fact) in &facts {
            let found = stored(&store, ChannelId::new(*channel)).await;
            let (revision, mark) = found.unwrap_or_default();
            assert_eq!(mark, revision, "what was written belongs to another commit");
            assert!(revision >= *fact, "round {round}: fact {fact} of {channel}, not {revision}");
            turns_lost += known.made[channel].saturating_sub(revision);
        }
        for problem in store.problems() {
            let kept = problem.kept.to_str().unwrap().to_owned();
            let is_turn = kept.contains(".turn.json.corrupt-") || kept.contains("turns-");
            assert!(is_turn, "round {round}: {problem}");
            torn += 1;
        }
        store.close().await.unwrap();
    }
    println!("8 power cuts: no fact lost, {turns_lost} turns, {torn} of them torn");
}

/// R046, R143, D77: the writer rests after each fact until the disk was copied, so that no later sync
/// stands in for one that was left out.
#[tokio::test]
async fn a_power_cut_right_after_a_fact_was_acknowledged_does_not_take_it() {
    const FACTS: usize = 12;
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(home.path()) else { return };
    let mut writer = PLAYER.start("pause", &disk.path().join("state"));
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert_eq!(ack(&mut lines).as_deref(), Some("open"));
    let mut known = Acknowledged::default();
    for fact in 0..FACTS {
        let before = known.facts.clone();
        while known.facts == before {
            assert!(known.hear(&mut lines), "the other process gave up");
        }
        let copy = home.path().join("copy");
        disk.copy(&copy);
        writer.stdin.as_mut().unwrap().write_all(b"\n").unwrap();

        let after = Mount::looped(copy).expect("the copy cannot be mounted");
        let place = Place::at(after.path().join("state"));
        let store = place.lazy();
        for (channel, revision) in &known.facts {
            let found = stored(&store, ChannelId::new(*channel)).await.unwrap_or_default();
            assert!(
                found.0 >= *revision,
                "fact {fact}: {revision} of {channel} is lost, found {found:?}"
            );
        }
        store.close().await.unwrap();
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
}
