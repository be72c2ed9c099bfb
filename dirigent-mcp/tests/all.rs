//! What the program says before it carries anything. With a front, `dirigent-bot/tests/mcp.rs` runs it.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::process::{Command, Stdio};

/// Starts it, and returns what it said at its end.
fn ends(arguments: &[&str], secret: Option<&str>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dirigent-mcp"));
    command.args(arguments).stdin(Stdio::null()).env_remove("DIRIGENT_SECRET");
    let ended = command.envs(secret.map(|it| ("DIRIGENT_SECRET", it))).output().unwrap();
    assert_eq!((ended.status.code(), &*ended.stdout), (Some(1), &b""[..]));
    String::from_utf8(ended.stderr).unwrap()
}

#[test]
fn without_a_secret_or_a_front_it_says_what_to_do_and_not_the_secret() {
    let said = ends(&[], None);
    assert!(said.contains("set DIRIGENT_SECRET to NAME.SECRET"), "{said}");
    let said = ends(&["--secret-file", "no such file"], Some("desk.hidden"));
    assert!(said.contains("no such file cannot be read"), "{said}");
    // Nothing listens at port 1.
    let said = ends(&["--url", "http://127.0.0.1:1"], Some("desk.hidden"));
    assert!(said.contains("http://127.0.0.1:1") && said.contains("`dirigent run`"), "{said}");
    assert!(!said.contains("hidden"), "{said}");
}
