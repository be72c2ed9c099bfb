//! What a scan of `ego.json` does to the registry.

use std::fs;

use dirigent::IdentityStore;
use dirigent_store::JsonIdentities;
use dirigent_store::ego::{
    Conflict, ConflictKind, Detection, EgoAbsent, EgoOptions, EgoReport, KnownAgents, SkipReason,
    scan_ego,
};

use crate::registry::place::{Place, account, put, who};

/// Scans a file that says this.
pub(crate) async fn scan(place: &Place, store: &JsonIdentities, ego: &str) -> EgoReport {
    scan_with(place, store, ego, &EgoOptions::default()).await
}

async fn scan_with(
    place: &Place,
    store: &JsonIdentities,
    ego: &str,
    options: &EgoOptions,
) -> EgoReport {
    let path = place.folder().join("ego.json");
    fs::write(&path, ego).unwrap();
    scan_ego(&path, store, options).await.unwrap()
}

fn names(identities: &[dirigent::ports::Identity]) -> Vec<(&str, &str)> {
    let pairs = identities.iter().map(|found| (found.agent_id.as_str(), found.agent_name.as_str()));
    pairs.collect()
}

const EGO: &str = r#"{
  "columns": ["discord-id", "mood"],
  "publicColumns": ["discord-id"],
  "publicScope": { "discord-id": "123456789012345099" },
  "agentScope": {
    "zoe": { "discord-id": "123456789012345003", "name": "Not declared" },
    "adam": { "mood": 7, "discord-id": " 123456789012345009 " }
  },
  "future": { "deep": [1, 2] }
}"#;

/// R018, R020, R024, D7
#[tokio::test]
async fn every_agent_with_an_account_becomes_an_entry_named_by_its_id() {
    let (place, store) = opened();
    let report = scan(&place, &store, EGO).await;
    assert!(report.is_detected());
    assert_eq!(names(&report.added), [("zoe", "zoe"), ("adam", "adam")]);
    assert_eq!(who(&store).await, "zoe 3, adam 9");
    assert_eq!(store.all().await.unwrap(), report.added);
}

/// R022
#[tokio::test]
async fn a_second_scan_changes_nothing() {
    let (place, store) = opened();
    scan(&place, &store, EGO).await;
    let before = place.read();
    for known_agents in [KnownAgents::Keep, KnownAgents::Overwrite] {
        let options = EgoOptions { known_agents, ..EgoOptions::default() };
        let report = scan_with(&place, &store, EGO, &options).await;
        assert_eq!(report.unchanged, ["zoe".into(), "adam".into()]);
        assert!(report.added.is_empty() && report.changed.is_empty());
        assert!(report.conflicts.is_empty() && report.skipped.is_empty());
    }
    assert_eq!(place.read(), before);
}

/// R017, R023, D5, D6
#[tokio::test]
async fn what_is_no_padded_cell_is_absent_and_the_registry_stays_byte_for_byte() {
    let (place, store) = opened();
    put(&store, "mia", 1).await;
    let before = place.read();
    let shape = |expected| EgoAbsent::Malformed(dirigent_store::BadFile::WrongShape { expected });
    let absent = [
        (
            r#"{ "columns": ["name"], "agentScope": { "zoe": { "discord-id": "123456789012345003" } } }"#,
            EgoAbsent::NoColumn,
        ),
        (
            r#"{ "agentScope": { "zoe": { "discord-id": "123456789012345003" } } }"#,
            EgoAbsent::NoColumn,
        ),
        (r#"{ "columns": [["discord-id"], 7, null] }"#, EgoAbsent::NoColumn),
        (r#"{ "columns": "discord-id" }"#, shape("an object with an array columns")),
        (r#"{ "columns": null }"#, shape("an object with an array columns")),
        (
            r#"{ "columns": ["discord-id"], "agentScope": [] }"#,
            shape("an object with an object agentScope"),
        ),
        (
            r#"{ "columns": ["discord-id"], "columns": [] }"#,
            shape("an object with one field columns"),
        ),
        (r#"["discord-id"]"#, shape("an object")),
    ];
    for (ego, reason) in absent {
        let report = scan(&place, &store, ego).await;
        assert_eq!(report.detection, Detection::Absent(reason), "{ego}");
        assert!(report.added.is_empty());
        assert_eq!(place.read(), before);
    }
    let not_loaded = EgoOptions { padded_cell_loaded: false, ..EgoOptions::default() };
    let report = scan_with(&place, &store, EGO, &not_loaded).await;
    assert_eq!(report.detection, Detection::Absent(EgoAbsent::NotLoaded));
    let nowhere = place.folder().join("nowhere/ego.json");
    let report = scan_ego(nowhere, &store, &EgoOptions::default()).await.unwrap();
    assert_eq!(report.detection, Detection::Absent(EgoAbsent::NoFile));
    assert_eq!(place.read(), before);
}

#[tokio::test]
async fn a_padded_cell_without_agents_is_detected() {
    let (place, store) = opened();
    for ego in [r#"{"columns":["discord-id"]}"#, r#"{"columns":["discord-id"],"agentScope":{}}"#] {
        assert!(scan(&place, &store, ego).await.is_detected());
    }
}

/// R019, D8
#[tokio::test]
async fn agents_without_a_good_account_are_skipped_and_the_others_are_not() {
    let (place, store) = opened();
    let ego = r#"{ "columns": ["discord-id"], "agentScope": {
        "missing": {}, "empty": { "discord-id": "" }, "blank": { "discord-id": " \t" },
        "null": { "discord-id": null }, "number": { "discord-id": 123456789012345001 },
        "short": { "discord-id": "12345678901234" }, "zero": { "discord-id": "0000000000000000" },
        "word": { "discord-id": "none" }, "high": { "discord-id": "18446744073709551616" },
        "two": { "discord-id": "123456789012345001", "discord-id": "123456789012345002" },
        "text": "123456789012345001", "list": ["discord-id"],
        "twice": { "discord-id": "123456789012345004" },
        "twice": { "discord-id": "123456789012345005" },
        "": { "discord-id": "123456789012345006" }, "a\nb": { "discord-id": "123456789012345007" },
        "zoe": { "discord-id": "123456789012345003" } } }"#;
    let report = scan(&place, &store, ego).await;
    let expected = [
        ("missing", SkipReason::NoAccount),
        ("empty", SkipReason::NoAccount),
        ("blank", SkipReason::NoAccount),
        ("null", SkipReason::BadAccount),
        ("number", SkipReason::BadAccount),
        ("short", SkipReason::BadAccount),
        ("zero", SkipReason::BadAccount),
        ("word", SkipReason::BadAccount),
        ("high", SkipReason::BadAccount),
        ("two", SkipReason::BadAccount),
        ("text", SkipReason::NotAnObject),
        ("list", SkipReason::NotAnObject),
        ("twice", SkipReason::NamedTwice),
        ("", SkipReason::BadAgent),
        ("a\nb", SkipReason::BadAgent),
    ];
    assert_eq!(report.skipped, expected.map(|(agent, reason)| (agent.into(), reason)));
    assert_eq!(who(&store).await, "zoe 3");
}

/// R020, D3
#[tokio::test]
async fn a_name_comes_from_the_first_declared_column_in_which_one_stands() {
    let ego = r#"{ "columns": ["discord-id", "name", "title"], "agentScope": {
        "a": { "discord-id": "123456789012345001", "name": " Ada ", "title": "Dr", "nick": "x" },
        "b": { "discord-id": "123456789012345002", "name": "", "title": "Bo" },
        "c": { "discord-id": "123456789012345003", "nick": "Cy" } } }"#;
    let options = |columns: &[&str]| EgoOptions {
        name_columns: columns.iter().map(|&column| column.to_owned()).collect(),
        ..EgoOptions::default()
    };
    for (columns, expected) in [
        (&["name"][..], ["Ada", "b", "c"]),
        (&["nick", "title", "name"], ["Dr", "Bo", "c"]),
        (&["name", "title"], ["Ada", "Bo", "c"]),
        (&[], ["a", "b", "c"]),
    ] {
        let (place, store) = opened();
        let report = scan_with(&place, &store, ego, &options(columns)).await;
        let found: Vec<_> = report.added.iter().map(|found| found.agent_name.as_str()).collect();
        assert_eq!(found, expected, "{columns:?}");
        assert!(report.names_refused.is_empty());
    }
}

/// R021, D2
#[tokio::test]
async fn what_the_registry_knows_stays_and_new_entries_follow() {
    let (place, store) = opened();
    put(&store, "zoe", 4).await;
    put(&store, "eve", 9).await;
    let before = place.read();
    let report = scan(&place, &store, EGO).await;
    let zoe = ConflictKind::OtherAccount(account(4));
    let adam = ConflictKind::OwnedBy("eve".into());
    let conflicts = [
        Conflict { agent: "zoe".into(), account: account(3), registry: zoe },
        Conflict { agent: "adam".into(), account: account(9), registry: adam },
    ];
    assert_eq!(report.conflicts, conflicts);
    assert_eq!(place.read(), before);
    let ego = EGO.replace("345009", "345010");
    let report = scan(&place, &store, &ego).await;
    assert_eq!(names(&report.added), [("adam", "adam")]);
    assert_eq!(who(&store).await, "zoe 4, eve 9, adam 10");
    assert!(place.read().starts_with(before.trim_end().trim_end_matches(']').trim_end()));
}

/// R021, D2, D4
#[tokio::test]
async fn the_file_wins_where_the_host_wants_it() {
    let (place, store) = opened();
    put(&store, "zoe", 4).await;
    put(&store, "eve", 9).await;
    let options = EgoOptions { known_agents: KnownAgents::Overwrite, ..EgoOptions::default() };
    let report = scan_with(&place, &store, EGO, &options).await;
    assert_eq!(names(&report.changed), [("zoe", "Agent zoe")], "no name, no new name");
    // An account is never taken away from an agent that the file does not move.
    let adam = ConflictKind::OwnedBy("eve".into());
    assert_eq!(
        report.conflicts,
        [Conflict { agent: "adam".into(), account: account(9), registry: adam }]
    );
    assert_eq!(who(&store).await, "zoe 3, eve 9");
    // Zoe's old account is free for whoever comes after her.
    let report = scan_with(&place, &store, &EGO.replace("345009", "345004"), &options).await;
    assert_eq!(names(&report.added), [("adam", "adam")]);
    assert!(store.remove("adam".into()).await.unwrap());
    put(&store, "zoe", 4).await;
    let report = scan_with(&place, &store, &EGO.replace("345009", "345004"), &options).await;
    assert_eq!((report.changed.len(), report.added.len()), (1, 1), "{report:?}");
    assert_eq!(who(&store).await, "zoe 3, eve 9, adam 4");
    let named = r#"{ "columns": ["discord-id", "name"], "agentScope": {
        "zoe": { "discord-id": "123456789012345003", "name": "Zoë" } } }"#;
    let report = scan_with(&place, &store, named, &options).await;
    assert_eq!(names(&report.changed), [("zoe", "Zoë")]);
    let report = scan_with(&place, &store, named, &options).await;
    assert!(report.changed.is_empty());
}

/// R014, D10
#[tokio::test]
async fn the_moderators_account_is_no_agents() {
    let (place, store) = opened();
    let options = EgoOptions { moderator: Some(account(3)), ..EgoOptions::default() };
    let report = scan_with(&place, &store, EGO, &options).await;
    assert_eq!(report.skipped, [("zoe".into(), SkipReason::Moderator)]);
    assert_eq!(who(&store).await, "adam 9");
}

fn opened() -> (Place, JsonIdentities) {
    let place = Place::new();
    let store = place.open();
    (place, store)
}
