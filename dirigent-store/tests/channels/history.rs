//! A channel's newest transitions.

use std::fs;

use dirigent::hooks::TurnId;
use dirigent::operate::{Cause, Transition};
use dirigent::ports::Timestamp;
use dirigent::snapshot::PhaseKind;
use dirigent::store::ChannelStore;
use dirigent_core::AgentKey;
use dirigent_store::{ChannelOptions, JsonChannels};

use crate::channels::place::{HERE, Place, request};

fn change(number: u64, agent: Option<u32>) -> Transition {
    Transition {
        at: Timestamp::from_millis(number),
        from: PhaseKind::Dormant,
        to: PhaseKind::Granted,
        agent: agent.map(AgentKey::new),
        turn: TurnId::new(number),
        cause: Cause::NextInList,
    }
}

fn open(place: &Place, max: usize) -> JsonChannels {
    JsonChannels::open(ChannelOptions::new(place.root()).history_max(max)).unwrap()
}

/// Commits changes, three at a time.
async fn save(store: &JsonChannels, changes: &[Transition], from: u64) {
    for (revision, three) in (from..).zip(changes.chunks(3)) {
        let mut commit = request(HERE, revision, 1);
        commit.transitions = three.to_vec().into();
        store.commit(commit).await.unwrap();
    }
    // It is written after the answer, and before what is asked next.
    store.agents().await.unwrap();
}

fn lines(place: &Place) -> usize {
    let text = fs::read_to_string(place.file(&format!("{HERE}.history.jsonl"))).unwrap();
    text.lines().count()
}

#[tokio::test]
async fn every_cause_and_every_phase_comes_back() {
    let place = Place::new();
    let store = open(&place, 1_000);
    let causes = Cause::ALL.iter().zip(PhaseKind::ALL.iter().cycle()).zip(0..);
    let changes: Vec<_> = causes
        .map(|((cause, phase), number)| Transition {
            cause: *cause,
            to: *phase,
            ..change(number, None)
        })
        .collect();
    save(&store, &changes, 0).await;
    assert_eq!(store.history(HERE).await.unwrap(), changes);
}

#[tokio::test]
async fn agents_stand_there_by_name() {
    let place = Place::new();
    let store = open(&place, 10);
    for name in ["zoe", "line\nbreak"] {
        store.add_agent(name.into()).await.unwrap();
    }
    let changes = [change(1, Some(0)), change(2, Some(1)), change(3, Some(9)), change(4, None)];
    save(&store, &changes, 0).await;
    assert_eq!(store.history(HERE).await.unwrap(), changes);
    let text = fs::read_to_string(place.file(&format!("{HERE}.history.jsonl"))).unwrap();
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        r#"{"at":1,"from":"dormant","to":"granted","cause":"next-in-list","agent":"zoe","turn":1}"#
    );
}

#[tokio::test]
async fn a_history_is_cut_before_it_is_twice_as_long_as_it_may_be() {
    let place = Place::new();
    let store = open(&place, 10);
    let changes: Vec<_> = (0..100).map(|number| change(number, None)).collect();
    for (revision, three) in (0..).zip(changes.chunks(3)) {
        save(&store, three, revision).await;
        assert!(lines(&place) < 20);
    }
    assert_eq!(store.history(HERE).await.unwrap(), changes[90..]);
    store.close().await.unwrap();
    // A store that keeps fewer cuts what is there.
    let store = open(&place, 4);
    assert_eq!(store.history(HERE).await.unwrap(), changes[96..]);
    save(&store, &[change(100, None)], 34).await;
    assert_eq!(lines(&place), 4);
}

#[tokio::test]
async fn a_torn_or_foreign_line_costs_itself_alone() {
    let place = Place::new();
    let store = open(&place, 10);
    save(&store, &[change(1, None), change(2, None)], 0).await;
    store.close().await.unwrap();
    let path = place.file(&format!("{HERE}.history.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("garbage\n\n{{}}\n\u{0}{text}{}", &text[..20])).unwrap();
    let store = open(&place, 10);
    assert_eq!(store.history(HERE).await.unwrap(), [change(2, None)]);
    save(&store, &[change(3, None)], 1).await;
    assert_eq!(store.history(HERE).await.unwrap(), [change(2, None), change(3, None)]);
}

#[tokio::test]
async fn whatever_stands_in_a_history_its_good_lines_are_read_and_the_channel_is_not_touched() {
    let place = Place::new();
    let store = open(&place, 10);
    save(&store, &[change(1, None)], 0).await;
    store.close().await.unwrap();
    let path = place.file(&format!("{HERE}.history.jsonl"));
    let line = fs::read_to_string(&path).unwrap();
    let line = line.trim_end();
    let deep = "[".repeat(10_000);
    let mut text = b"\xef\xbb\xbf\n\xff\xfe\n\"\\ud800\"\nnull\n[]\n7\n".to_vec();
    for bad in [
        deep.as_str(),
        &format!("{line},"),
        &format!("{line}{line}"),
        &line.replacen('1', "NaN", 1),
        &line.replacen('1', "1e999", 1),
        &line.replacen('1', "18446744073709551616", 1),
        &line.replacen('{', "{\"agent\":\"nobody\",", 1),
    ] {
        text.extend_from_slice(bad.as_bytes());
        text.push(b'\n');
    }
    text.extend_from_slice(line.replacen('{', "{\"later\":[1e3],", 1).as_bytes());
    fs::write(&path, &text).unwrap();
    let store = open(&place, 10);
    assert_eq!(store.history(HERE).await.unwrap(), [change(1, None)]);
    store.close().await.unwrap();
    // Not even a folder of that name keeps a channel from being saved.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let store = open(&place, 10);
    assert!(store.history(HERE).await.is_err());
    save(&store, &[change(2, None)], 1).await;
    assert!(path.is_dir());
    store.close().await.unwrap();
    // One that is too large is not read.
    fs::remove_dir(&path).unwrap();
    fs::File::create(&path).unwrap().set_len(100 << 20).unwrap();
    let store = open(&place, 10);
    assert_eq!(store.history(HERE).await.unwrap(), []);
    assert!(store.problems().is_empty());
}

#[tokio::test]
async fn a_store_that_keeps_none_writes_none() {
    let place = Place::new();
    let store = open(&place, 0);
    assert_eq!(store.history_max(), 0);
    save(&store, &[change(1, None)], 0).await;
    assert_eq!(store.history(HERE).await.unwrap(), []);
    assert!(!place.names().iter().any(|name| name.contains("history")));
}
