//! The program `loopback-discord` with a bot inside; here the bot is a shell.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// The program with this script as its bot. Its own input is open, and says nothing.
fn start(script: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_loopback-discord"))
        .args(["--seed", "1", "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run(script: &str) -> Output {
    start(script).wait_with_output().unwrap()
}

#[test]
fn the_program_ends_with_its_bots_code() {
    assert_eq!(run("exit 0").status.code(), Some(0));
    assert_eq!(run("exit 7").status.code(), Some(7));
    assert_eq!(run("kill -9 $$").status.code(), Some(137));
}

#[test]
fn a_bot_that_is_not_there_is_told_as_a_shell_does() {
    let program = env!("CARGO_BIN_EXE_loopback-discord");
    let mut missing = Command::new(program);
    let output = missing.args(["--", "/no/such/bot"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&output.stderr).contains("\n/no/such/bot: "));
}

#[test]
fn a_bot_finds_the_server_in_its_environment() {
    let script = "echo $DISCORD_TOKEN $DEVELOPER_TOKEN $DISCORD_APPLICATION_ID $DISCORD_CHANNEL_ID";
    let (first, second) = (run(script).stdout, run(script).stdout);
    assert_eq!(first, second, "a seed gives the same ids and tokens");
    assert_eq!(String::from_utf8(first).unwrap().split_whitespace().count(), 4);
    let urls = String::from_utf8(run("echo $DISCORD_PROXY_HOST $DISCORD_API_URL").stdout).unwrap();
    let (host, api) = urls.trim().split_once(' ').unwrap();
    assert_eq!(api, format!("http://{host}/api/v10"));
}

/// What a bot has started and left behind would print its last line.
#[test]
fn a_signal_is_passed_on_and_nothing_of_the_bot_stays() {
    let mut program =
        start("trap 'exit 9' TERM; (trap '' TERM; sleep 5; echo survived) & echo ready; wait");
    let mut output = BufReader::new(program.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    kill_process(Pid::from_child(&program), Signal::TERM).unwrap();
    assert_eq!(program.wait().unwrap().code(), Some(9));
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn who_quits_ends_the_bot_too() {
    let mut program = start("trap 'exit 4' TERM; (trap '' TERM; sleep 5) & echo ready; wait");
    let mut output = BufReader::new(program.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    std::io::Write::write_all(&mut program.stdin.take().unwrap(), b"/quit\n").unwrap();
    assert_eq!(program.wait().unwrap().code(), Some(4));
}

/// EZ2: the standard output belongs to the bot, so what the program says of itself stands beside it.
#[test]
fn the_program_says_what_it_is_where_and_what_to_do_next() {
    let program = || Command::new(env!("CARGO_BIN_EXE_loopback-discord"));
    let inside = program()
        .args(["--seed", "1", "--", "sh", "-c", "echo $DISCORD_PROXY_URL"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (url, banner) = (String::from_utf8(inside.stdout), String::from_utf8(inside.stderr));
    let (url, banner) = (url.unwrap(), banner.unwrap());
    let at = format!("A Discord on this machine, at {}, ", url.trim());
    assert!(banner.starts_with(&at), "{banner}");
    for told in ["sh -c echo", "/set-channel-mode chat", "/help", "/quit"] {
        assert!(banner.contains(told), "{told}: {banner}");
    }
    let mut alone = program().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut alone.stdin.take().unwrap(), b"/quit\n").unwrap();
    let alone = String::from_utf8(alone.wait_with_output().unwrap().stdout).unwrap();
    let url = alone.lines().find_map(|line| line.strip_prefix("export DISCORD_PROXY_URL="));
    let at = format!("A Discord on this machine, at {}, ", url.unwrap());
    assert!(alone.starts_with(&at) && alone.contains("\nNext: paste these lines"), "{alone}");
}
