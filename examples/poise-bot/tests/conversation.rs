//! The bot plays its evening against the loopback Discord, through poise as it is.

#[test]
fn the_bot_holds_a_whole_conversation_over_poise() {
    practice::rehearse(env!("CARGO_BIN_EXE_poise-bot"), &[]).unwrap();
}
