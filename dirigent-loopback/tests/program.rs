//! The program `loopback-discord` with a bot inside; here the bot is a shell.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
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
    program.stdin.take().unwrap().write_all(b"/quit\n").unwrap();
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
    alone.stdin.take().unwrap().write_all(b"/quit\n").unwrap();
    let alone = String::from_utf8(alone.wait_with_output().unwrap().stdout).unwrap();
    let url = alone.lines().find_map(|line| line.strip_prefix("export DISCORD_PROXY_URL="));
    let at = format!("A Discord on this machine, at {}, ", url.unwrap());
    assert!(alone.starts_with(&at) && alone.contains("\nNext: paste these lines"), "{alone}");
}

/// The program with these flags, and what it answers a client of this name.
fn answers_to(flags: &[&str], agent: &str) -> (String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_loopback-discord"))
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut value = |name: &str| {
        let line = format!("export {name}=");
        lines.find_map(|it| it.strip_prefix(&line).map(str::to_owned)).unwrap()
    };
    let (token, host, gateway) =
        (value("DISCORD_TOKEN"), value("DISCORD_PROXY_HOST"), value("DISCORD_GATEWAY_URL"));
    assert_eq!(gateway, format!("ws://{host}"), "there is one origin");
    let mut answers = String::new();
    for _ in 0..2 {
        let mut client = TcpStream::connect(&host).unwrap();
        let request = format!(
            "GET /api/v10/users/@me HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Authorization: Bot {token}\r\nUser-Agent: {agent}\r\n\r\n"
        );
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answers.push_str(&answer[..12]);
    }
    program.stdin.take().unwrap().write_all(b"/quit\n").unwrap();
    // What is not read would keep the program from writing on.
    lines.for_each(drop);
    let ended = program.wait_with_output().unwrap();
    (answers, String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn a_client_of_another_name_is_served_and_warned_of_once_unless_a_flag_refuses_it() {
    let (answers, told) = answers_to(&[], "undici");
    assert_eq!(answers, "HTTP/1.1 200HTTP/1.1 200");
    assert!(told.starts_with("WARN ") && told.contains("\"undici\""), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    let (answers, _) = answers_to(&["--strict-agents"], "undici");
    assert_eq!(answers, "HTTP/1.1 403HTTP/1.1 403");
    let (answers, told) = answers_to(&["--strict-agents"], "DiscordBot (https://a.example, 1)");
    assert_eq!((&*answers, &*told), ("HTTP/1.1 200HTTP/1.1 200", ""));
}
