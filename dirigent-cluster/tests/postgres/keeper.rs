//! The server that tests start is gone when their process is, however that ended.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dirigent::{Clock, SystemClock};
use dirigent_verify::database::Database;

/// Says where the server is, and waits to be ended; run by the test below only.
#[test]
#[ignore = "it waits until it is ended"]
fn a_process_with_a_server() {
    let Some(server) = Database::start().unwrap() else { return };
    println!("\nserver in {}", server.folder().display());
    std::thread::park();
}

/// A process in a group of its own, as a shell starts them, and the folder of its server.
fn started() -> Option<(Child, PathBuf)> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--ignored",
        "--nocapture",
        "--exact",
        "postgres::keeper::a_process_with_a_server",
    ]);
    let mut process = command.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut folders = lines.map_while(Result::ok).filter_map(|line| {
        let (_, folder) = line.split_once("server in ")?;
        Some(PathBuf::from(folder))
    });
    if let Some(folder) = folders.next() {
        return Some((process, folder));
    }
    process.wait().unwrap();
    eprintln!("skipped: no PostgreSQL is installed (Debian: apt-get install postgresql)");
    None
}

async fn until_gone(folder: &Path, how: &str) {
    let clock = SystemClock::new();
    let deadline = clock.now() + Duration::from_secs(60);
    while folder.exists() {
        assert!(clock.now() < deadline, "after {how} the server is left in {}", folder.display());
        clock.sleep_until(clock.now() + Duration::from_millis(20)).await;
    }
}

/// As Ctrl-C at a terminal does, which reaches the whole group; and as a kill of the process alone.
#[tokio::test]
async fn a_process_that_is_interrupted_or_killed_leaves_no_server_behind() {
    for (how, whole_group) in [("INT", true), ("TERM", true), ("KILL", false)] {
        let Some((mut process, folder)) = started() else { return };
        let id = process.id();
        let target = if whole_group { format!("-{id}") } else { id.to_string() };
        let killed = Command::new("kill").args([&format!("-{how}"), "--", &target]).status();
        assert!(killed.unwrap().success());
        process.wait().unwrap();
        until_gone(&folder, how).await;
    }
}
