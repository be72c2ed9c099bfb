//! A master and two slaves, each a process, inside the loopback Discord.

#[path = "../../quickstart/tests/stage/mod.rs"]
#[expect(dead_code, reason = "that of one bot is used elsewhere")]
mod stage;

use dirigent_verify::nats::NatsServer;
use stage::{Inside, Result, until};

/// EZ4: what stands in the two files runs, and agents that ask fall silent by themselves.
#[tokio::test]
async fn two_agents_in_processes_of_their_own_speak_in_turn_and_fall_silent() -> Result {
    let Some(nats) = NatsServer::start("")? else { return Ok(()) };
    let address = nats.address();
    let secrets = ["0123456789abcdef".repeat(2), "fedcba9876543210".repeat(2)];
    let variables = [
        ("NATS_URL", address.as_str()),
        ("DEVELOPER_SECRET", secrets[0].as_str()),
        ("REVIEWER_SECRET", secrets[1].as_str()),
    ];
    let programs: [(&str, &[&str]); 3] = [
        (env!("CARGO_BIN_EXE_master"), &[]),
        (env!("CARGO_BIN_EXE_slave"), &["developer"]),
        (env!("CARGO_BIN_EXE_slave"), &["reviewer"]),
    ];
    let inside = Inside::start_all(&programs, &variables).await?;
    inside.ask("Who writes the parser?").await?;
    // The agents' posts and no trigger, because triggers are deleted.
    let said = || {
        let all = inside.discord.messages(inside.channel).into_iter();
        all.filter(|it| it.author != inside.moderator).map(|it| it.content.to_string()).collect()
    };
    let both: fn(Vec<String>) -> bool = |said| said.len() >= 3;
    until("answer of both agents", || both(said())).await?;
    inside.status_says("a person's message begins a cycle").await?;
    let expected = [
        "Who writes the parser?",
        "I am the developer, and I heard 1 messages.",
        "I am the reviewer, and I heard 2 messages.",
    ];
    assert_eq!(said(), expected);
    Ok(())
}
