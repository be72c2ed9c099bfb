//! What stands in the file.

use std::fs;

use dirigent::ports::Identity;
use dirigent::{IdentityStore, UserId};
use dirigent_store::{BadEntry, JsonIdentities, OpenError, RegistryProblem, parse_identities};

use crate::registry::place::{Place, entry, owner, put, who};

/// R003, R004, R005, D108
#[tokio::test]
async fn the_file_is_an_array_of_three_strings_each() {
    let place = Place::new();
    let store = place.open();
    assert!(place.names().is_empty(), "a registry without entries needs no file");
    for (agent, id, name) in [
        ("home-developer", 1_234_567_890_123_456_789, "Developer"),
        ("home-researcher", u64::MAX, "\"R\"\nñ"),
    ] {
        let identity = Identity {
            discord_user_id: UserId::new(id),
            agent_id: agent.into(),
            agent_name: name.to_owned(),
        };
        store.register(identity).await.unwrap();
    }
    let expected = r#"[
  {
    "discordUserId": "1234567890123456789",
    "agentId": "home-developer",
    "agentName": "Developer"
  },
  {
    "discordUserId": "18446744073709551615",
    "agentId": "home-researcher",
    "agentName": "\"R\"\nñ"
  }
]
"#;
    assert_eq!(place.read(), expected);
    assert_eq!(place.names(), ["dirigent-identity.json"]);
    for agent in ["home-developer", "home-researcher"] {
        assert!(store.remove(agent.into()).await.unwrap());
    }
    assert_eq!(place.read(), "[]\n");
}

/// R005
#[test]
fn a_number_is_no_id() {
    let file = br#"[{ "discordUserId": 1234567890123456789, "agentId": "a", "agentName": "A" }]"#;
    let bad = parse_identities(file).unwrap().bad_entries();
    assert_eq!(bad, [(1, BadEntry::NotText { field: "discordUserId" })]);
}

/// R007
#[tokio::test]
async fn both_look_ups_find_the_same_entry() {
    let place = Place::new();
    let store = place.open();
    put(&store, "zoe", 3).await;
    put(&store, "adam", 9).await;
    let parsed = parse_identities(place.read().as_bytes()).unwrap();
    for identity in [entry("zoe", 3), entry("adam", 9)] {
        assert_eq!(parsed.by_account(identity.discord_user_id), Some(&identity));
        assert_eq!(parsed.by_agent(&identity.agent_id), Some(&identity));
    }
    assert_eq!(parsed.by_agent(&"nobody".into()), None);
}

/// R006
#[tokio::test]
async fn a_change_is_in_the_file_when_its_call_returns() {
    let place = Place::new();
    let store = place.open();
    for number in 0..20 {
        put(&store, &format!("agent-{number}"), number).await;
        let parsed = parse_identities(place.read().as_bytes()).unwrap();
        assert_eq!(parsed.identities().count() as u64, number + 1);
    }
}

/// R022
#[tokio::test]
async fn what_changes_nothing_does_not_touch_the_file() {
    let place = Place::with(
        r#"[{"agentName":"Agent zoe","agentId":"zoe","discordUserId":"123456789012345003"}]"#,
    );
    let (store, before) = (place.open(), place.read());
    put(&store, "zoe", 3).await;
    assert_eq!(owner(store.register(entry("thief", 3)).await), "zoe".into());
    assert!(!store.remove("nobody".into()).await.unwrap());
    assert_eq!(place.read(), before);
}

/// F27, D108
#[tokio::test]
async fn what_is_not_ours_survives_a_change() {
    let place = Place::with(
        r#"{
  "version": 1e400,
  "comment": "by hand\u0020",
  "entries": [
    { "mood": [1,  2], "discordUserId": "123456789012345003", "agentId": "zoe",
      "agentName": "Zoe", "depth": {"a": -0} },
    "not an entry",
    { "discordUserId": "123456789012345009", "agentId": "adam", "agentName": "Adam", "age": 1.50 }
  ],
  "after": null
}"#,
    );
    let store = place.open();
    put(&store, "zoe", 4).await;
    put(&store, "mia", 5).await;
    let expected = r#"{
  "version": 1e400,
  "comment": "by hand\u0020",
  "entries": [
  {
    "mood": [1,  2],
    "discordUserId": "123456789012345004",
    "agentId": "zoe",
    "agentName": "Agent zoe",
    "depth": {"a": -0}
  },
  "not an entry",
  { "discordUserId": "123456789012345009", "agentId": "adam", "agentName": "Adam", "age": 1.50 },
  {
    "discordUserId": "123456789012345005",
    "agentId": "mia",
    "agentName": "Agent mia"
  }
],
  "after": null
}
"#;
    assert_eq!(place.read(), expected);
    assert_eq!(who(&store).await, "zoe 4, adam 9, mia 5");
}

/// F26
#[tokio::test]
async fn bad_entries_are_passed_over_reported_and_kept() {
    let bad = [
        (r#"{ "agentId": "a", "agentName": "A" }"#, BadEntry::Missing { field: "discordUserId" }),
        (
            r#"{ "discordUserId": "123456789012345001", "agentId": "a" }"#,
            BadEntry::Missing { field: "agentName" },
        ),
        (r#"{ "discordUserId": "12", "agentId": "a", "agentName": "A" }"#, BadEntry::BadAccount),
        (
            r#"{ "discordUserId": "123456789012345001", "agentId": " ", "agentName": "A" }"#,
            BadEntry::BadAgent,
        ),
        (
            r#"{ "discordUserId": "123456789012345001", "agentId": "a", "agentName": null }"#,
            BadEntry::NotText { field: "agentName" },
        ),
        (
            r#"{ "discordUserId": "123456789012345001", "agentId": "a", "agentId": "b", "agentName": "A" }"#,
            BadEntry::Repeated { field: "agentId" },
        ),
        (
            r#"{ "discordUserId": "123456789012345001", "agentId": "zoe", "agentName": "A" }"#,
            BadEntry::AgentTwice,
        ),
        (
            r#"{ "discordUserId": "123456789012345003", "agentId": "b", "agentName": "B" }"#,
            BadEntry::AccountTwice,
        ),
        ("17", BadEntry::NotAnObject),
    ];
    let good = r#"{"discordUserId":"123456789012345003","agentId":"zoe","agentName":"Zoe"}"#;
    let texts: Vec<_> = std::iter::once(good).chain(bad.iter().map(|(text, _)| *text)).collect();
    let place = Place::with(format!("[{}]", texts.join(",")));
    let store = place.open();
    let expected: Vec<_> = (2..)
        .zip(&bad)
        .map(|(number, (_, reason))| RegistryProblem::BadEntry { number, reason: reason.clone() })
        .collect();
    assert_eq!(store.problems(), expected);
    put(&store, "adam", 9).await;
    assert_eq!(who(&store).await, "zoe 3, adam 9");
    for text in texts {
        assert!(place.read().contains(text), "lost: {text}");
    }
    assert_eq!(store.problems().len(), bad.len());
}

/// D1
#[tokio::test]
async fn an_entry_that_comes_to_count_takes_nothing_from_those_that_do() {
    // Adam's first entry does not count because of Zoe's account, until she moves.
    let file = [("zoe", 3), ("adam", 3), ("adam", 9), ("eve", 3)]
        .map(|(agent, number)| serde_json::to_string(&entry(agent, number)).unwrap());
    let place = Place::with(format!("[{}]", file.join(",")));
    let store = place.open();
    assert_eq!(who(&store).await, "zoe 3, adam 9");
    put(&store, "zoe", 4).await;
    assert_eq!(who(&store).await, "zoe 4, adam 9, eve 3");
    // Removing an agent removes what would replace it.
    assert!(store.remove("adam".into()).await.unwrap());
    assert_eq!(who(&store).await, "zoe 4, eve 3");
    assert!(!place.read().contains("adam"));
}

/// D1
#[tokio::test]
async fn registering_mends_an_entry_that_does_not_count() {
    let file = [entry("zoe", 3), entry("adam", 3)];
    let place = Place::with(serde_json::to_string(&file).unwrap());
    let store = place.open();
    put(&store, "adam", 9).await;
    assert_eq!(who(&store).await, "zoe 3, adam 9");
    assert!(store.problems().len() <= 1);
    store.all().await.unwrap();
    assert!(store.problems().is_empty());
}

/// D108
#[tokio::test]
async fn the_file_may_be_edited_while_it_is_open() {
    let place = Place::new();
    let store = place.open();
    put(&store, "zoe", 3).await;
    place.write(serde_json::to_string(&[entry("adam", 9)]).unwrap());
    assert_eq!(who(&store).await, "adam 9");
    place.write(serde_json::to_string(&[entry("mia", 5), entry("adam", 8)]).unwrap());
    assert_eq!(owner(store.register(entry("zoe", 5)).await), "mia".into());
    put(&store, "zoe", 9).await;
    assert_eq!(who(&store).await, "mia 5, adam 8, zoe 9");
    fs::remove_file(place.path()).unwrap();
    assert_eq!(who(&store).await, "");
}

/// F26
#[tokio::test]
async fn a_file_that_is_bad_at_the_start_is_refused_and_kept_where_it_is_to_begin_anew() {
    let place = Place::with("{ \"entries\": [");
    for _ in 0..2 {
        let error = JsonIdentities::open(place.path()).unwrap_err();
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("open_or_begin_anew"), "{error}");
        assert_eq!(place.names(), ["dirigent-identity.json"]);
    }
    let store = JsonIdentities::open_or_begin_anew(place.path()).unwrap();
    let [RegistryProblem::KeptAside { kept, .. }] = &store.problems()[..] else { panic!() };
    assert_eq!(fs::read_to_string(kept).unwrap(), "{ \"entries\": [");
    assert!(kept.ends_with("dirigent-identity.json.corrupt-1"));
    assert_eq!(who(&store).await, "");
    put(&store, "zoe", 3).await;
    assert_eq!(store.problems().len(), 1, "what happened at the start is not forgotten");
    drop(store);
    place.write("[1,]");
    drop(JsonIdentities::open_or_begin_anew(place.path()).unwrap());
    let kept = ["dirigent-identity.json.corrupt-1", "dirigent-identity.json.corrupt-2"];
    assert_eq!(place.names(), kept);
}

/// F26
#[tokio::test]
async fn a_file_that_becomes_bad_is_left_alone_and_nothing_is_written() {
    let place = Place::new();
    let store = place.open();
    put(&store, "zoe", 3).await;
    let half = r#"[{ "discordUserId": "12345678901"#;
    place.write(half);
    let error = store.all().await.unwrap_err();
    assert_eq!(error.certainty(), dirigent::ports::Certainty::NotDone);
    assert!(store.register(entry("adam", 9)).await.is_err());
    assert!(store.remove("zoe".into()).await.is_err());
    assert_eq!(place.read(), half);
    assert_eq!(place.names(), ["dirigent-identity.json"]);
    place.write("[]");
    put(&store, "adam", 9).await;
}

/// R013, R014
#[tokio::test]
async fn what_could_not_be_read_again_is_not_registered() {
    let place = Place::new();
    let store = place.open();
    put(&store, "zoe", 3).await;
    let before = place.read();
    let long = "x".repeat(101);
    let unfit = [
        (Identity { discord_user_id: UserId::new(0), ..entry("a", 1) }, BadEntry::BadAccount),
        (
            Identity { discord_user_id: UserId::new(99_999_999_999_999), ..entry("a", 1) },
            BadEntry::BadAccount,
        ),
        (entry("", 1), BadEntry::BadAgent),
        (entry("a\nb", 1), BadEntry::BadAgent),
        (entry("\u{202e}a", 1), BadEntry::BadAgent),
        (entry(&long, 1), BadEntry::BadAgent),
        (Identity { agent_name: long.clone(), ..entry("a", 1) }, BadEntry::LongName),
    ];
    for (identity, reason) in unfit {
        let Err(dirigent::ports::RegisterError::Store(error)) = store.register(identity).await
        else {
            panic!("expected {reason:?}");
        };
        assert_eq!(error.kind(), dirigent::ports::ErrorKind::Invalid);
        assert_eq!(error.certainty(), dirigent::ports::Certainty::NotDone);
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(source.downcast_ref(), Some(&reason));
    }
    assert_eq!(place.read(), before);
    let name = "ü".repeat(100);
    store.register(Identity { agent_name: name, ..entry(&"a".repeat(100), 1) }).await.unwrap();
}

#[test]
fn a_registry_is_opened_once() {
    let place = Place::new();
    let store = place.open();
    let clone = store.clone();
    let crooked = place.folder().join(".").join("dirigent-identity.json");
    for path in [&place.path(), &crooked] {
        let error = JsonIdentities::open(path).unwrap_err();
        assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    }
    drop(store);
    assert!(JsonIdentities::open(place.path()).is_err(), "a clone has it open");
    drop(clone);
    place.open();
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_stays_a_link_and_shares_the_lock() {
    let place = Place::with("[]");
    let link = place.folder().join("link.json");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    let store = JsonIdentities::open(&link).unwrap();
    assert!(JsonIdentities::open(place.path()).is_err());
    put(&store, "zoe", 3).await;
    assert!(link.is_symlink());
    assert!(place.read().contains("zoe"));
    drop(store);
    fs::remove_file(place.path()).unwrap();
    assert!(JsonIdentities::open(&link).is_err(), "a link that leads nowhere is not replaced");
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_folders_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let folder = place.folder().join("state/dirigent");
    let store = JsonIdentities::open(folder.join("agents.json")).unwrap();
    put(&store, "zoe", 3).await;
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.join("agents.json")), 0o600);
    assert_eq!(mode(folder.join(".agents.json.lock")), 0o600);
    assert_eq!((mode(folder.clone()), mode(place.folder().join("state"))), (0o700, 0o700));
}

#[test]
fn nothing_of_the_file_is_shown_by_debug() {
    let file =
        br#"[{ "discordUserId": "1", "agentId": "a", "agentName": "A", "token": "secret" }]"#;
    let wrapped = br#"{ "token": "secret", "entries": [] }"#;
    for file in [&file[..], wrapped] {
        let shown = format!("{:?}", parse_identities(file).unwrap());
        assert!(!shown.contains("secret"), "{shown}");
    }
}

#[test]
fn handles_and_errors_can_be_sent_and_shared() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<JsonIdentities>();
    shared::<dirigent_store::ego::ScannedIdentities<JsonIdentities>>();
    shared::<dirigent_store::ParsedIdentities>();
    shared::<dirigent_store::ego::ParsedEgo>();
    shared::<dirigent_store::ego::EgoReport>();
    shared::<dirigent_store::StoreError>();
    shared::<OpenError>();
    shared::<RegistryProblem>();
}

/// A file that several people edit stays theirs.
#[cfg(unix)]
#[tokio::test]
async fn a_shared_file_keeps_its_mode_and_its_group() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let place = Place::new();
    let path = place.folder().join("agents.json");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for shared in [0o664, 0o640, 0o600] {
        fs::write(&path, "[]").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(shared)).unwrap();
        let own = fs::metadata(&path).unwrap().gid();
        // Only the superuser may choose any group.
        let group = if chown(&path, None, Some(65_534)).is_ok() { 65_534 } else { own };
        let store = JsonIdentities::open(&path).unwrap();
        put(&store, "zoe", 3).await;
        assert_eq!((mode(&path), fs::metadata(&path).unwrap().gid()), (shared, group));
        assert!(store.remove("zoe".into()).await.unwrap());
        assert_eq!((mode(&path), fs::metadata(&path).unwrap().gid()), (shared, group));
        drop(store);
        fs::remove_file(&path).unwrap();
    }
    let store = JsonIdentities::open(&path).unwrap();
    put(&store, "zoe", 3).await;
    assert_eq!(mode(&path), 0o600);
}
