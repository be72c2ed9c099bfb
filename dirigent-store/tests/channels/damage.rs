//! What is lost when files are damaged, and what is not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dirigent::snapshot::AgentKey;
use dirigent::store::{Barred, ChannelStore, Commit, CommitError};
use dirigent_core::snapshot::Slot;
use dirigent_store::{BadFile, JsonChannels, OpenError, StoreError};

use crate::channels::place::{
    HERE, Place, THERE, barred, fact, replacement, request, stored, turn, written,
};
use crate::channels::record::with_checksum;

/// F26, P9: an older state of the channel may let agents speak that an operator has stopped since.
#[tokio::test]
async fn a_file_that_is_damaged_while_the_store_is_open_bars_its_channel_until_an_operator_acts() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    fact(&store, THERE, 0, 7).await;
    turn(&store, HERE, 1, 2).await;
    let mut bent = fs::read(place.main(HERE)).unwrap();
    let middle = bent.len() / 2;
    bent[middle] ^= 1;
    fs::write(place.main(HERE), &bent).unwrap();
    for _ in 0..2 {
        assert_eq!(barred(&store, HERE).await, Barred::Damaged);
    }
    store.close().await.unwrap();
    for _ in 0..2 {
        let store = place.open();
        assert_eq!(barred(&store, HERE).await, Barred::Damaged);
        assert_eq!(stored(&store, THERE).await, Some((1, 7)));
        store.close().await.unwrap();
        assert_eq!(fs::read(place.main(HERE)).unwrap(), bent, "it was touched");
    }
    let store = place.open();
    store.commit(replacement(HERE, 3)).await.unwrap();
    store.close().await.unwrap();
    assert_eq!(stored(&place.open(), HERE).await, Some((1, 3)));
}

/// An operator moved it away, and the channel begins anew.
#[tokio::test]
async fn a_channel_whose_file_was_moved_away_was_never_seen() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    fs::rename(place.main(HERE), place.root().join("aside.json")).unwrap();
    assert_eq!(stored(&store, HERE).await, None);
    assert_eq!(store.channels().await.unwrap(), []);
    fact(&store, HERE, 0, 2).await;
    assert_eq!(stored(&store, HERE).await, Some((1, 2)));
}

/// F27
#[tokio::test]
async fn a_file_of_another_version_is_refused_and_left_alone() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    fact(&store, THERE, 0, 2).await;
    store.close().await.unwrap();
    let path = place.main(HERE);
    let ours = fs::read_to_string(&path).unwrap();
    let newer = with_checksum(&ours.replacen("\"version\": 2", "\"version\": 3", 1));
    fs::write(&path, &newer).unwrap();
    let store = place.open();
    assert_eq!(barred(&store, HERE).await, Barred::OtherVersion);
    let error = store.load(HERE).await.unwrap_err();
    let said = std::error::Error::source(&error).unwrap().downcast_ref::<StoreError>().unwrap();
    let StoreError::BadRecord { path: told, channel: HERE, source } = said else {
        panic!("{said}")
    };
    assert_eq!((told, source), (&path, &BadFile::OtherVersion { found: 3, reads: 2 }));
    assert_eq!(stored(&store, THERE).await, Some((1, 2)));
    store.close().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    assert_eq!(place.names().len(), 2);
}

/// F27
#[tokio::test]
async fn unknown_fields_survive_a_commit_whether_it_was_loaded_before_or_not() {
    for loads in [true, false] {
        let (place, store) = Place::opened();
        fact(&store, HERE, 0, 1).await;
        store.close().await.unwrap();
        let path = place.main(HERE);
        let newer = fs::read_to_string(&path).unwrap();
        let newer = newer.replacen("\"mode\"", "\"later\": [1e3],\n    \"mode\"", 1);
        let newer = newer.replacen("\n}\n", ",\n  \"last\": {\"b\": 1, \"a\": 2}\n}\n", 1);
        fs::write(&path, with_checksum(&newer)).unwrap();
        let store = place.open();
        if loads {
            assert_eq!(stored(&store, HERE).await, Some((1, 1)));
        }
        turn(&store, HERE, 1, 2).await;
        fact(&store, HERE, 2, 3).await;
        store.close().await.unwrap();
        let after = fs::read_to_string(&path).unwrap();
        assert!(after.contains("\"later\": [1e3]"), "{after}");
        assert!(after.contains("\"last\": {\"b\": 1, \"a\": 2}"), "{after}");
        assert_eq!(written(&path), (3, 3));
    }
}

/// F26
#[tokio::test]
async fn lost_names_are_put_together_again_from_the_channels() {
    for damage in ["no JSON", ""] {
        let (place, store) = Place::opened();
        for (name, key) in [("zoe", 0), ("adam", 1), ("mia", 2)] {
            assert_eq!(store.add_agent(name.into()).await.unwrap(), AgentKey::new(key));
        }
        let mut commit = request(HERE, 0, 1);
        let snapshot = &mut std::sync::Arc::make_mut(&mut commit.record).snapshot;
        snapshot.state.roster.list.slots = [2, 1].map(|key| Slot::new(AgentKey::new(key))).to_vec();
        store.commit(commit).await.unwrap();
        store.close().await.unwrap();
        let path = place.root().join("agents.json");
        if damage.is_empty() {
            fs::remove_file(&path).unwrap();
        } else {
            fs::write(&path, damage).unwrap();
        }
        let store = place.open();
        let agents = store.agents().await.unwrap();
        assert_eq!(agents, ["lost agent 0", "adam", "mia"].map(Into::into));
        // Nobody else is ever taken for one of them.
        assert_eq!(store.add_agent("new".into()).await.unwrap(), AgentKey::new(3));
        assert_eq!(store.add_agent("mia".into()).await.unwrap(), AgentKey::new(2));
        let problems = store.problems();
        assert_eq!(problems.len(), usize::from(!damage.is_empty()));
        for problem in problems {
            assert_eq!(problem.channel, None);
            assert_eq!(fs::read_to_string(&problem.kept).unwrap(), damage);
            assert!(problem.to_string().starts_with("the file of the agents is kept as"));
        }
    }
}

/// A list of agents with the checksum that it must have.
fn agents_file(agents: &str) -> Vec<u8> {
    let sum = crc32fast::hash(format!("2 agents {agents}").as_bytes());
    format!("{{\"version\": 2, \"checksum\": \"{sum:08x}\", \"agents\": {agents}}}").into_bytes()
}

/// F26
#[tokio::test]
async fn whatever_is_wrong_with_the_list_of_agents_it_is_kept_aside_and_made_anew() {
    let good = String::from_utf8(agents_file("[\"zoe\"]")).unwrap();
    let deep = "[".repeat(10_000);
    let utf16: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bad = [
        Vec::new(),
        b"\xef\xbb\xbf".to_vec(),
        format!("\u{feff}{good}").into_bytes(),
        utf16,
        good.replace("zoe", "zo\0").into_bytes(),
        good.bytes().chain([0xff]).collect(),
        good.replace("]}", ",]}").into_bytes(),
        format!("{good}x").into_bytes(),
        format!("{{\"agents\": [], {}", &good[1..]).into_bytes(),
        good.replace(": 2", ": NaN").into_bytes(),
        good.replace(": 2", ": 1e999").into_bytes(),
        good.replace(": 2", ": 18446744073709551616").into_bytes(),
        good.replace(": 2", ": \"1\"").into_bytes(),
        good.replace("zoe", "eve").into_bytes(),
        deep.clone().into_bytes(),
        agents_file(&format!("{deep}{}", "]".repeat(10_000))),
        agents_file("null"),
        agents_file("{}"),
        agents_file("[7]"),
        agents_file("[null]"),
        agents_file("[\"\\ud800\"]"),
        b"[]".to_vec(),
    ];
    for bytes in bad {
        let place = Place::new();
        place.open().close().await.unwrap();
        let path = place.root().join("agents.json");
        fs::write(&path, &bytes).unwrap();
        let store = place.open();
        let problems = store.problems();
        let shown = String::from_utf8_lossy(&bytes).chars().take(80).collect::<String>();
        assert_eq!(problems.len(), 1, "{shown}");
        assert_eq!(fs::read(&problems[0].kept).unwrap(), bytes, "{shown}");
        assert_eq!(store.agents().await.unwrap(), [], "{shown}");
        assert_eq!(store.add_agent("adam".into()).await.unwrap(), AgentKey::new(0), "{shown}");
    }
}

/// An agent that stands there twice is the first, and nobody else moves up.
#[tokio::test]
async fn in_a_list_of_agents_the_first_of_a_name_counts_and_any_name_is_a_name() {
    let place = Place::new();
    place.open().close().await.unwrap();
    let names = "[\"zoe\", \"zoe\", \"\", \"a\\u0000\\u202eb\", \"z\u{43e}e\"]";
    fs::write(place.root().join("agents.json"), agents_file(names)).unwrap();
    let store = place.open();
    assert_eq!(store.problems(), []);
    for (name, key) in [("zoe", 0), ("", 2), ("a\0\u{202e}b", 3), ("z\u{43e}e", 4), ("new", 5)] {
        assert_eq!(store.add_agent(name.into()).await.unwrap(), AgentKey::new(key), "{name:?}");
    }
}

/// What is said of a file of version 1.
const OLDER: &str = "it has version 1, and this crate reads version 2 only: move it away to begin anew without what it holds, or go on with the older version that wrote it";

/// F27: version 1 has other names for some fields.
#[tokio::test]
async fn a_file_of_an_older_version_is_refused_with_what_to_do_and_left_alone() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    store.close().await.unwrap();
    let path = place.main(HERE);
    let ours = fs::read_to_string(&path).unwrap();
    let older = with_checksum(&ours.replacen("\"version\": 2", "\"version\": 1", 1));
    fs::write(&path, &older).unwrap();
    let store = place.open();
    assert_eq!(barred(&store, HERE).await, Barred::OtherVersion);
    let [problem] = &store.problems()[..] else { panic!("{:?}", store.problems()) };
    assert_eq!(problem.reason.to_string(), OLDER);
    // Nor does a commit of an operator replace it: it is no damage.
    for revision in [0, 1] {
        let commit = Commit { replaces_damaged: true, ..request(HERE, revision, 2) };
        let refused = store.commit(commit).await;
        let bars = CommitError::Barred(Barred::OtherVersion);
        assert_eq!(format!("{refused:?}"), format!("{:?}", Err::<(), _>(bars)));
    }
    store.close().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), older);
}

/// Every file below a folder, with its content.
fn all_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(all_files(&path));
        } else {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

/// F27: all files of a folder are of one version, so it is refused as a whole.
#[tokio::test]
async fn a_folder_of_an_older_version_is_refused_with_what_to_do_and_left_alone() {
    let (place, store) = Place::opened();
    store.add_agent("zoe".into()).await.unwrap();
    fact(&store, HERE, 0, 1).await;
    turn(&store, HERE, 1, 2).await;
    store.close().await.unwrap();
    let path = place.root().join("agents.json");
    let ours = fs::read_to_string(&path).unwrap();
    fs::write(&path, ours.replacen("\"version\": 2", "\"version\": 1", 1)).unwrap();
    let before = all_files(place.root());
    assert!(before.len() >= 3, "{:?}", before.keys());
    let error = JsonChannels::open(place.root()).unwrap_err();
    let OpenError::Store(StoreError::BadFile { path: told, source }) = error else {
        panic!("{error}")
    };
    assert_eq!((told, source.to_string()), (path, OLDER.to_owned()));
    assert!(all_files(place.root()) == before, "it was touched");
}

/// What is said of a folder whose channels lay in 256 folders, with a log of their turns.
const OLDER_FOLDER: &str = "it has version 2, and this crate reads version 3 only: move it away to begin anew without what it holds, or go on with the older version that wrote it";

/// F27: its channels must not look as if they had never been seen.
#[tokio::test]
async fn a_folder_of_an_older_layout_is_refused_with_what_to_do_and_left_alone() {
    let (place, store) = Place::opened();
    store.add_agent("zoe".into()).await.unwrap();
    fact(&store, HERE, 0, 1).await;
    store.close().await.unwrap();
    let older = place.root().join("channels/9f");
    fs::create_dir(&older).unwrap();
    fs::rename(place.main(HERE), older.join(format!("{HERE}.json"))).unwrap();
    fs::write(place.root().join("turns-1.log"), "turn").unwrap();
    let before = all_files(place.root());
    let error = JsonChannels::open(place.root()).unwrap_err();
    let OpenError::Store(StoreError::BadFile { path, source }) = error else { panic!("{error}") };
    assert_eq!((path, source.to_string()), (place.root().to_owned(), OLDER_FOLDER.to_owned()));
    assert!(all_files(place.root()) == before, "it was touched");
}

/// F27
#[tokio::test]
async fn agents_of_another_version_keep_the_store_closed() {
    let place = Place::new();
    place.open().close().await.unwrap();
    let path = place.root().join("agents.json");
    fs::write(&path, "{\"version\": 3}").unwrap();
    let error = JsonChannels::open(place.root()).unwrap_err();
    let OpenError::Store(StoreError::BadFile { source, .. }) = error else { panic!("{error}") };
    assert_eq!(source, BadFile::OtherVersion { found: 3, reads: 2 });
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"version\": 3}");
}

#[tokio::test]
async fn what_interrupted_writes_left_is_removed_and_what_is_not_ours_stays() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    store.close().await.unwrap();
    let folder = place.root().join("channels");
    let stray = folder.join(format!(".dirigent-{HERE}.json.aB3xY9.tmp"));
    let root_stray = place.root().join(".dirigent-agents.json.aB3xY9.tmp");
    let foreign = folder.join("notes.txt");
    for path in [&stray, &root_stray, &foreign] {
        fs::write(path, "half").unwrap();
    }
    let store = place.open();
    assert!(!stray.exists() && !root_stray.exists() && foreign.exists());
    assert_eq!(store.channels().await.unwrap(), [HERE]);
}

/// A conflict is answered from the file, too.
#[tokio::test]
async fn a_conflict_is_seen_before_anything_was_loaded() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    turn(&store, HERE, 1, 2).await;
    store.close().await.unwrap();
    let store = place.open();
    match store.commit(request(HERE, 0, 3)).await {
        Err(CommitError::Conflict { found }) => assert_eq!(found.get(), 2),
        other => panic!("{other:?}"),
    }
    turn(&store, HERE, 2, 3).await;
}
