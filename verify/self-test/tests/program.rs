//! The program, as a person runs it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use dirigent::SystemClock;
use dirigent_loopback::{LoopbackDiscord, ServerLimits};
use dirigent_testkit::MemoryDiscord;

/// The program, without anything from the environment of the tests.
fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_self-test"));
    for name in ["DISCORD_TOKEN", "OPTIMIST_TOKEN", "SCEPTIC_TOKEN", "HISTORIAN_TOKEN"] {
        program.env_remove(name);
    }
    for name in ["DEVELOPER_TOKEN", "DISCORD_PROXY_URL", "DISCORD_GATEWAY_URL"] {
        program.env_remove(name);
    }
    program.args(arguments).stdin(Stdio::null());
    program
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn without_a_token_or_a_channel_it_ends_with_2_and_says_why() {
    let output = program(&["7"]).output().unwrap();
    assert_eq!(code(&output), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("DISCORD_TOKEN is not set"));
    for wrong in [&[][..], &["here"], &["7", "--hooks"]] {
        assert_eq!(code(&program(wrong).output().unwrap()), Some(2), "{wrong:?}");
    }
}

#[test]
fn help_is_output() {
    let output = program(&["--help"]).output().unwrap();
    assert_eq!(code(&output), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("CHANNEL_ID"));
}

#[test]
fn one_address_without_the_other_is_refused_so_that_no_token_goes_elsewhere() {
    let mut program = program(&["7"]);
    let output = program.env("DISCORD_TOKEN", "t").env("DISCORD_PROXY_URL", "http://127.0.0.1:9");
    let output = output.output().unwrap();
    assert_eq!(code(&output), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("both be set"));
}

#[test]
fn an_address_at_which_nothing_listens_ends_it_with_2() {
    let mut program = program(&["7"]);
    let program =
        program.env("DISCORD_TOKEN", "secret").env("DISCORD_PROXY_URL", "http://127.0.0.1:9");
    let output = program.env("DISCORD_GATEWAY_URL", "ws://127.0.0.1:9").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(code(&output), Some(2), "{said}");
    assert!(said.contains("users/@me was not answered") && !said.contains("secret"), "{said}");
    assert!(!said.contains("expected  "), "a table in which nothing was tried: {said}");
}

/// The clock is the machine's: the program is interrupted as soon as it waits for a person.
#[tokio::test]
async fn an_interrupted_self_test_cleans_up_and_shows_what_it_has_seen() {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let (person, first, second) = (discord.add_human(), discord.add_bot(), discord.add_bot());
    let guild = discord.add_guild(person);
    let channel = discord.add_channel(guild, "self-test", &[first, second]);
    let server = LoopbackDiscord::start(discord.clone()).await.unwrap();
    server.set_limits(ServerLimits::generous());
    let mut program = program(&[&channel.to_string()]);
    program
        .env("DISCORD_PROXY_URL", format!("http://{}", server.address()))
        .env("DISCORD_GATEWAY_URL", format!("ws://{}", server.address()))
        .env("DISCORD_TOKEN", server.token(first))
        .env("DEVELOPER_TOKEN", server.token(second))
        .stdout(Stdio::piped());
    let tokens = [server.token(first), server.token(second)];
    let (status, said) =
        tokio::task::spawn_blocking(move || interrupt(&mut program)).await.unwrap();
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("it was interrupted"), "{said}");
    assert!(said.contains(" 0 differ,"), "{said}");
    assert!(said.contains("post 2     not tried  a nonce is remembered"), "{said}");
    assert!(tokens.iter().all(|token| !said.contains(token)), "a token was printed");
    assert!(discord.messages(channel).is_empty());
    assert_eq!(said.lines().filter(|line| line.starts_with("left behind")).count(), 0);
}

/// Runs the program until it asks for a person, and interrupts it; returns its code and what it printed.
fn interrupt(program: &mut Command) -> (Option<i32>, String) {
    let mut running = program.spawn().unwrap();
    let mut output = BufReader::new(running.stdout.take().unwrap());
    let mut said = String::new();
    while output.read_line(&mut said).unwrap() > 0 && !said.contains("/dirigent-self-test") {}
    let pid = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    output.read_to_string(&mut said).unwrap();
    (running.wait().unwrap().code(), said)
}
