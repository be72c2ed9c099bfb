//! Everything that a file of the registry can be but should not.

use std::fs;

use dirigent_store::{
    BadEntry, BadFile, JsonIdentities, OpenError, RegistryProblem, StoreError, parse_identities,
};
use proptest::prelude::*;

use crate::registry::place::{Place, entry, put, who};

const SMALL: &str =
    r#"[{"discordUserId":"123456789012345003","agentId":"zoe","agentName":"Zoe","x":[1]}]"#;

/// What a file becomes when it is opened: `None` when it is refused, and kept aside where the registry
/// is to begin anew.
async fn opened(content: &[u8]) -> Option<String> {
    let place = Place::with(content);
    if let Err(error) = JsonIdentities::open(place.path()) {
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        assert_eq!(fs::read(place.path()).unwrap(), content, "it was touched");
        assert_eq!(place.names().len(), 1, "it was kept aside unasked");
        let store = JsonIdentities::open_or_begin_anew(place.path()).unwrap();
        let problems = store.problems();
        let [RegistryProblem::KeptAside { kept, .. }] = &problems[..] else {
            panic!("{problems:?}")
        };
        assert_eq!(fs::read(kept).unwrap(), content, "the bytes were not kept");
        assert!(!place.path().exists());
        assert_eq!(who(&store).await, "");
        return None;
    }
    let store = JsonIdentities::open_or_begin_anew(place.path()).unwrap();
    assert_eq!(fs::read(place.path()).unwrap(), content, "opening changed the file");
    let before = who(&store).await;
    put(&store, "newcomer", 77).await;
    let expected = format!("{before}, newcomer 77");
    assert_eq!(who(&store).await, expected.trim_start_matches(", "));
    Some(place.read())
}

/// F26
#[tokio::test]
async fn a_file_cut_at_any_byte_is_refused() {
    for length in 0..SMALL.len() {
        assert_eq!(opened(&SMALL.as_bytes()[..length]).await, None, "cut at {length}");
    }
    assert!(opened(SMALL.as_bytes()).await.is_some());
}

/// F26, F27
#[tokio::test]
async fn a_file_with_any_bit_flipped_loads_or_is_refused_whole() {
    let mut loaded = 0;
    for bit in 0..SMALL.len() * 8 {
        let mut content = SMALL.as_bytes().to_vec();
        content[bit / 8] ^= 1 << (bit % 8);
        if let Some(after) = opened(&content).await {
            // The entry stands there as it did, whether it counts or not.
            let content = String::from_utf8(content).unwrap();
            let entry = content.trim().trim_start_matches('[').trim_end_matches(']').trim();
            assert!(after.contains(entry), "bit {bit}: {entry} became {after}");
            loaded += 1;
        }
    }
    assert!(loaded > SMALL.len(), "only {loaded} loaded: the parser is not lenient");
}

/// F26
#[tokio::test]
async fn what_is_no_json_of_this_shape_is_refused() {
    let utf16: Vec<u8> = SMALL.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bad: &[&[u8]] = &[
        b"",
        b" \n",
        b"\xef\xbb\xbf",
        &utf16,
        b"[\"\xff\"]",
        b"\0",
        b"[]\0",
        b"[],",
        b"[] []",
        b"[1,]",
        b"[NaN]",
        b"[01]",
        b"null",
        b"17",
        b"\"[]\"",
        b"{}",
        b"{\"entries\":{}}",
        b"{\"entries\":null}",
        b"{\"entries\":[],\"entries\":[]}",
        b"{\"\\ud800\":1,\"entries\":[]}",
    ];
    for content in bad {
        assert_eq!(opened(content).await, None, "{:?}", String::from_utf8_lossy(content));
    }
}

/// F27
#[tokio::test]
async fn what_is_strange_but_json_loads_and_survives() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    for value in [
        "1e999",
        "-0",
        "9007199254740993",
        "9223372036854775808",
        "18446744073709551616",
        "1.50",
        "\"\\ud800\"",
        "\"\\u0000\"",
        "null",
        "{\"a\":1,\"a\":2}",
        &deep,
        &deep_object,
    ] {
        // As a field that nobody knows, and as an entry.
        let field = format!(
            r#"{{"discordUserId":"123456789012345003","agentId":"zoe","agentName":"Zoe","x":{value}}}"#
        );
        let after = opened(format!("[{field},{value}]").as_bytes()).await.unwrap();
        assert!(after.contains(&field) && after.contains(&format!(",\n  {value},")));
        // The field survives when its entry is written anew.
        let place = Place::with(format!("\u{feff}[{field}]"));
        let store = place.open();
        put(&store, "zoe", 4).await;
        assert!(place.read().contains(&format!("\"x\": {value}")));
        assert_eq!(who(&store).await, "zoe 4");
    }
}

/// R005, R013
#[test]
fn bad_values_cost_their_entry_only() {
    let account = |value: &str| (value.to_owned(), "\"a\"".to_owned(), "\"A\"".to_owned());
    let agent =
        |value: &str| ("\"123456789012345678\"".to_owned(), value.to_owned(), "\"A\"".to_owned());
    let name =
        |value: &str| ("\"123456789012345678\"".to_owned(), "\"a\"".to_owned(), value.to_owned());
    let not_text = |field| BadEntry::NotText { field };
    let long = format!("\"{}\"", "x".repeat(1_000_000));
    let cases = [
        (account("123456789012345678"), not_text("discordUserId")),
        (account("null"), not_text("discordUserId")),
        (account("\"\\ud800\""), not_text("discordUserId")),
        (account("\"\""), BadEntry::BadAccount),
        (account("\"000000000000000\""), BadEntry::BadAccount),
        (account("\"000000000000012\""), BadEntry::BadAccount),
        (account("\"18446744073709551616\""), BadEntry::BadAccount),
        (account("\"-12345678901234567\""), BadEntry::BadAccount),
        (account("\"１２３４５６７８９０１２３４５\""), BadEntry::BadAccount),
        (agent("7"), not_text("agentId")),
        (agent("\"\""), BadEntry::BadAgent),
        (agent("\"a\\u0000\""), BadEntry::BadAgent),
        (agent("\"a\\u202eb\""), BadEntry::BadAgent),
        (agent("\"a\\u200bb\""), BadEntry::BadAgent),
        (agent("\"a\u{E0068}\u{E0069}\""), BadEntry::BadAgent),
        (agent("\"\u{3164}\""), BadEntry::BadAgent),
        (agent(&long), BadEntry::BadAgent),
        (name("[]"), not_text("agentName")),
        (name(&long), BadEntry::LongName),
    ];
    for ((account, agent, name), reason) in cases {
        let file = format!(
            r#"[{{"discordUserId":{account},"agentId":{agent},"agentName":{name}}},{}]"#,
            serde_json::to_string(&entry("zoe", 3)).unwrap()
        );
        let parsed = parse_identities(file.as_bytes()).unwrap();
        assert_eq!(parsed.bad_entries(), [(1, reason)], "{account}");
        assert_eq!(parsed.identities().cloned().collect::<Vec<_>>(), [entry("zoe", 3)]);
    }
}

/// D8
#[test]
fn blanks_around_an_id_do_not_matter() {
    let file =
        br#"[{"discordUserId":" 123456789012345003\n","agentId":"zoe","agentName":"@everyone\n"}]"#;
    let parsed = parse_identities(file).unwrap();
    assert_eq!(
        parsed.identities().next().unwrap().discord_user_id,
        crate::registry::place::account(3)
    );
}

/// F26
#[test]
fn a_file_beyond_the_limit_is_refused_unread() {
    let place = Place::new();
    fs::File::create(place.path()).unwrap().set_len(100 << 20).unwrap();
    let refused = JsonIdentities::open(place.path()).unwrap_err();
    let OpenError::Damaged { source, .. } = refused else { panic!("{refused}") };
    assert!(matches!(source, BadFile::TooLarge { .. }), "{source}");
    let store = JsonIdentities::open_or_begin_anew(place.path()).unwrap();
    let [RegistryProblem::KeptAside { kept, reason }] = &store.problems()[..] else { panic!() };
    assert!(matches!(reason, BadFile::TooLarge { .. }));
    assert_eq!(fs::metadata(kept).unwrap().len(), 100 << 20);
    let spaces = vec![b' '; (64 << 20) + 1];
    assert!(matches!(parse_identities(&spaces), Err(BadFile::TooLarge { .. })));
}

/// F26
#[cfg(unix)]
#[test]
fn what_is_no_file_is_told_and_left_alone() {
    use std::os::unix::fs::symlink;

    for kind in ["folder", "pipe", "device", "a link to itself"] {
        let place = Place::new();
        match kind {
            "folder" => fs::create_dir(place.path()).unwrap(),
            "pipe" => {
                let made = std::process::Command::new("mkfifo").arg(place.path()).status();
                assert!(made.unwrap().success());
            }
            "device" => symlink("/dev/zero", place.path()).unwrap(),
            _ => symlink(place.path(), place.path()).unwrap(),
        }
        let error = JsonIdentities::open(place.path()).unwrap_err();
        assert!(matches!(error, OpenError::Store(StoreError::Io { .. })), "{kind}: {error}");
        assert!(place.path().symlink_metadata().is_ok(), "{kind}");
        assert!(place.names().iter().all(|name| !name.contains("corrupt")), "{kind}");
    }
}

/// R007, D1
#[test]
fn who_looks_like_another_agent_is_somebody_else() {
    let looks = ["zoe", "zо\u{435}", "Zoe", "z\u{f8}e"];
    let entries: Vec<_> =
        looks.iter().zip(0..).map(|(agent, number)| entry(agent, number)).collect();
    let parsed = parse_identities(&serde_json::to_vec(&entries).unwrap()).unwrap();
    assert!(parsed.bad_entries().is_empty());
    for expected in &entries {
        assert_eq!(parsed.by_agent(&expected.agent_id), Some(expected));
        assert_eq!(parsed.by_account(expected.discord_user_id), Some(expected));
    }
}

/// A value that is nearly an entry.
fn nearly() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        3 => prop::sample::select(vec!["zoe", "adam", "123456789012345003", "123456789012345009"])
            .prop_map(|word| format!("{word:?}")),
        1 => prop::sample::select(vec!["7", "null", "[]", "{}", "\"\""]).prop_map(str::to_owned),
    ];
    let field = prop::sample::select(vec!["discordUserId", "agentId", "agentName", "x", "entries"]);
    let fields = prop::collection::vec((field, word), 0..6).prop_map(|fields| {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    });
    let whole = (0..3_u64, prop::sample::select(vec!["zoe", "adam", "eve"]))
        .prop_map(|(number, agent)| serde_json::to_string(&entry(agent, number)).unwrap());
    prop_oneof![2 => whole, 1 => fields]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// R007, D1
    #[test]
    fn whatever_is_read_is_one_to_one(entries in prop::collection::vec(nearly(), 0..8)) {
        let file = format!("[{}]", entries.join(","));
        let parsed = parse_identities(file.as_bytes()).unwrap();
        let all: Vec<_> = parsed.identities().collect();
        for identity in &all {
            prop_assert_eq!(parsed.by_account(identity.discord_user_id), Some(*identity));
            prop_assert_eq!(parsed.by_agent(&identity.agent_id), Some(*identity));
        }
        prop_assert_eq!(all.len() + parsed.bad_entries().len(), entries.len());
    }

    #[test]
    fn any_bytes_are_read_or_refused(content in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_identities(&content);
        let _ = dirigent_store::ego::parse_ego(&content);
    }
}
