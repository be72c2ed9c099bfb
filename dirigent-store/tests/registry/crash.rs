//! Processes that are killed, and processes that come second.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use dirigent_store::{JsonIdentities, OpenError, parse_identities};

use crate::registry::place::{Place, entry, put, who};

const ROLE: &str = "DIRIGENT_STORE_ROLE";
const PATH: &str = "DIRIGENT_STORE_PATH";

/// The test that plays the roles of other processes before it begins. Under another name it would not
/// be found, and no acknowledgement would come.
const PLAYER: &str = "registry::crash::a_process_killed_at_any_point_loses_nothing_it_acknowledged";

/// This program again, as another process with a role to play in [`PLAYER`].
pub(crate) fn other_process(program: &Path, role: &str, path: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", PLAYER, "--nocapture"]);
    command.env(ROLE, role).env(PATH, path).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn spawn(role: &str, path: &Path) -> Child {
    other_process(&std::env::current_exe().unwrap(), role, path).spawn().unwrap()
}

/// The role that this process has to play, and where.
fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var(PATH).unwrap().into()))
}

/// What the other processes of the tests here do.
async fn play(role: &str, path: &Path) {
    match role {
        "hold" => {
            let _store = JsonIdentities::open(path).unwrap();
            println!("\nack open");
            let _ = std::io::stdin().read(&mut [0]);
        }
        "write" => {
            let store = JsonIdentities::open(path).unwrap();
            let known = dirigent::IdentityStore::all(&store).await.unwrap().len() as u64;
            for number in known.. {
                put(&store, &format!("agent-{number}"), number).await;
                println!("\nack {number}");
            }
        }
        role => crate::registry::refused::play(role, path).await,
    }
}

/// What another process says next.
fn ack(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Option<String> {
    lines.find_map(|line| line.unwrap().strip_prefix("ack ").map(str::to_owned))
}

#[test]
fn a_second_process_is_kept_out_until_the_first_ends() {
    let place = Place::new();
    let mut first = spawn("hold", &place.path());
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    assert_eq!(ack(&mut lines).as_deref(), Some("open"));
    let error = JsonIdentities::open(place.path()).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    assert!(error.to_string().contains("dirigent-identity.json is open already"));
    // However it ends.
    first.kill().unwrap();
    first.wait().unwrap();
    place.open();
}

/// R006, R280
#[tokio::test]
async fn a_process_killed_at_any_point_loses_nothing_it_acknowledged() {
    if let Some((role, path)) = role() {
        return play(&role, &path).await;
    }
    // Ballast makes writes long enough to be met in the middle.
    let ballast = "x".repeat(2_000_000);
    let place = Place::with(format!(r#"{{"ballast":"{ballast}","entries":[]}}"#));
    let (mut acknowledged, mut interrupted) = (0, 0);
    for round in 0..20 {
        let mut writer = spawn("write", &place.path());
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        for _ in 0..=round % 5 {
            acknowledged = ack(&mut lines).unwrap().parse::<u64>().unwrap() + 1;
        }
        // At once, or when the next file is being written.
        let is_writing = || place.names().iter().any(|name| name.starts_with(".dirigent-"));
        let _ = round % 2 == 0 || (0..100_000).any(|_| is_writing());
        writer.kill().unwrap();
        while let Some(number) = ack(&mut lines) {
            acknowledged = number.parse::<u64>().unwrap() + 1;
        }
        writer.wait().unwrap();
        interrupted += usize::from(is_writing());
        let parsed = parse_identities(place.read().as_bytes()).expect("the file is torn");
        let found: Vec<_> = parsed.identities().cloned().collect();
        let expected: Vec<_> =
            (0..).map(|n| entry(&format!("agent-{n}"), n)).take(found.len()).collect();
        assert_eq!(found, expected);
        let found = found.len() as u64;
        // The one that was being written may be there, without an acknowledgement.
        assert!((acknowledged..=acknowledged + 1).contains(&found), "{acknowledged} {found}");
    }
    assert!(interrupted > 0, "no write was met in the middle");
    place.open();
    assert_eq!(place.names(), ["dirigent-identity.json"], "a stray file stayed");
}

/// R280
#[tokio::test]
async fn a_write_that_never_came_to_its_rename_leaves_the_old_file() {
    let place = Place::new();
    put(&place.open(), "zoe", 3).await;
    let old = place.read();
    let stray = place.folder().join(".dirigent-dirigent-identity.json.aB3xY9.tmp");
    let neighbour = place.folder().join(".dirigent-other.json.aB3xY9.tmp");
    for path in [&stray, &neighbour] {
        fs::write(path, serde_json::to_string(&[entry("adam", 9)]).unwrap()).unwrap();
    }
    let store = place.open();
    assert_eq!(who(&store).await, "zoe 3");
    assert_eq!(place.read(), old);
    assert!(!stray.exists());
    assert!(neighbour.exists(), "a file of another store was removed");
}
