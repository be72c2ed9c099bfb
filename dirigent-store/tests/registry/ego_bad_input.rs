//! Everything that `ego.json` can be but should not.

use std::fs;

use dirigent_store::ego::{Detection, EgoAbsent, EgoOptions, parse_ego, scan_ego};

use crate::registry::ego::scan;
use crate::registry::place::{Place, put, who};

const SMALL: &str =
    r#"{"columns":["discord-id"],"agentScope":{"zoe":{"discord-id":"123456789012345003"}}}"#;

/// R023, D6
#[test]
fn a_file_cut_at_any_byte_is_malformed() {
    for length in 0..SMALL.len() {
        assert!(parse_ego(&SMALL.as_bytes()[..length]).is_err(), "cut at {length}");
    }
}

/// R023, D6
#[tokio::test]
async fn any_flipped_bit_does_no_harm() {
    let place = Place::new();
    let store = place.open();
    put(&store, "zoe", 3).await;
    let before = place.read();
    let mut detected = 0;
    for bit in 0..SMALL.len() * 8 {
        let mut content = SMALL.as_bytes().to_vec();
        content[bit / 8] ^= 1 << (bit % 8);
        let path = place.folder().join("ego.json");
        fs::write(&path, &content).unwrap();
        let report = scan_ego(&path, &store, &EgoOptions::default()).await.unwrap();
        detected += usize::from(report.is_detected());
        if report.added.is_empty() {
            assert_eq!(place.read(), before);
        } else {
            // An agent of another name with another account, which is what the file says now.
            let added = report.added[0].agent_id.clone();
            assert!(dirigent::IdentityStore::remove(&store, added).await.unwrap());
        }
        assert_eq!(who(&store).await, "zoe 3");
    }
    assert!(detected > 0);
}

/// R023
#[tokio::test]
async fn what_is_no_json_is_absent() {
    let place = Place::new();
    let store = place.open();
    let deep = format!("{{\"columns\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let utf16: Vec<u8> = SMALL.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bad: &[&[u8]] = &[
        b"",
        b"\xef\xbb\xbf",
        &utf16,
        b"{\"a\":\"\xff\"}",
        b"\0",
        b"{},",
        b"{\"columns\":[],}",
        b"{\"columns\":NaN}",
        b"null",
    ];
    let path = place.folder().join("ego.json");
    for content in bad {
        fs::write(&path, content).unwrap();
        let report = scan_ego(&path, &store, &EgoOptions::default()).await.unwrap();
        let Detection::Absent(EgoAbsent::Malformed(_)) = report.detection else {
            panic!("{:?} {report:?}", String::from_utf8_lossy(content));
        };
    }
    // Deep, but not where anything is read.
    let report = scan(&place, &store, &deep).await;
    assert_eq!(report.detection, Detection::Absent(EgoAbsent::NoColumn));
    let strange = SMALL.replace("\"columns\"", "\"x\":1e999,\"y\":\"\\ud800\",\"columns\"");
    assert!(scan(&place, &store, &format!("\u{feff}{strange}")).await.is_detected());
    assert_eq!(who(&store).await, "zoe 3");
}

/// R023
#[tokio::test]
async fn what_is_no_readable_file_is_absent() {
    let place = Place::new();
    let store = place.open();
    let folder = place.folder().join("folder");
    fs::create_dir(&folder).unwrap();
    let large = place.folder().join("large");
    fs::File::create(&large).unwrap().set_len(100 << 20).unwrap();
    let loops = place.folder().join("loops");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&loops, &loops).unwrap();
    for path in [folder.as_path(), &large, &loops, "/dev/zero".as_ref(), "/dev/tty".as_ref()] {
        let report = scan_ego(path, &store, &EgoOptions::default()).await.unwrap();
        assert!(!report.is_detected(), "{}", path.display());
        assert_ne!(report.detection, Detection::Detected);
    }
    assert!(place.names().iter().all(|name| !name.starts_with("dirigent")));
}

/// R020
#[tokio::test]
async fn a_name_that_cannot_be_shown_is_replaced_by_the_agents_id() {
    let long = "x".repeat(1_000_000);
    let refused = [
        "line\\nbreak",
        "\\u202egnp.exe",
        "\\u2066x",
        "tab\\there",
        "\\u0000",
        "a\\u2028b",
        "\\u200b",
        "\\u00ad \\ufeff\\u2060",
        "\u{200b}x",
        "Zoe\u{e0068}\u{e0069}",
        "\u{3164}",
        &long,
    ];
    let taken = [
        "@everyone",
        "<@&1>",
        "system",
        "discord",
        "می\u{200c}خواهم",
        "❤️\u{200d}🔥",
        &long[..100],
    ];
    for (name, is_taken) in
        refused.iter().map(|name| (name, false)).chain(taken.iter().map(|name| (name, true)))
    {
        let place = Place::new();
        let store = place.open();
        let ego = SMALL.replace("\"discord-id\"]", "\"discord-id\",\"name\"]").replace(
            "\"123456789012345003\"",
            &format!("\"123456789012345003\",\"name\":\"{name}\""),
        );
        let report = scan(&place, &store, &ego).await;
        let found = &report.added[0].agent_name;
        assert_eq!(found, if is_taken { name } else { "zoe" });
        assert_eq!(report.names_refused.is_empty(), is_taken);
    }
}

/// R020
#[tokio::test]
async fn a_name_of_another_type_is_refused() {
    for value in ["7", "null", "[\"Zoe\"]", "\"a\",\"name\":\"b\"", "\"\\ud800\""] {
        let place = Place::new();
        let store = place.open();
        let ego = SMALL
            .replace("\"discord-id\"]", "\"discord-id\",\"name\"]")
            .replace("\"123456789012345003\"", &format!("\"123456789012345003\",\"name\":{value}"));
        let report = scan(&place, &store, &ego).await;
        assert_eq!(report.added[0].agent_name, "zoe");
        assert_eq!(report.names_refused, ["zoe".into()]);
    }
}

/// R018, D1
#[tokio::test]
async fn an_account_that_two_agents_share_goes_to_the_first() {
    let place = Place::new();
    let store = place.open();
    let ego = SMALL.replace("}}}", "},\"adam\":{\"discord-id\":\"123456789012345003\"}}}");
    let report = scan(&place, &store, &ego).await;
    assert_eq!(report.conflicts.len(), 1);
    assert_eq!(report.conflicts[0].agent, "adam".into());
    assert_eq!(who(&store).await, "zoe 3");
}

#[test]
fn nothing_of_the_file_is_shown_by_debug() {
    let ego = SMALL.replace("\"discord-id\":", "\"token\":\"secret\",\"discord-id\":");
    assert!(!format!("{:?}", parse_ego(ego.as_bytes()).unwrap()).contains("secret"));
}
