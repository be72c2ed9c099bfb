//! The bot plays its evening against the loopback Discord, through twilight's gateway as it is.

use practice::{rehearse, rehearse_with_model, try_flags};

const BOT: &str = env!("CARGO_BIN_EXE_discord-bot");

#[test]
fn hosted_agents_hold_a_whole_conversation_over_twilight() {
    rehearse(BOT, &[]).unwrap();
}

#[test]
fn agents_that_ask_hold_the_same_conversation_by_triggers() {
    let said = rehearse(BOT, &["--hooks"]).unwrap();
    assert!(said.matches("Moderator: @").count() >= 6, "{said}");
    assert!(!said.contains("is skipped"), "an agent did not hear its trigger:\n{said}");
}

#[test]
fn two_shards_feed_one_driver() {
    rehearse(BOT, &["--shards", "2"]).unwrap();
}

#[test]
fn a_model_speaks_for_the_agents() {
    rehearse_with_model(BOT).unwrap();
}

#[test]
fn help_is_output_and_an_unknown_flag_is_refused() {
    try_flags(BOT).unwrap();
}
