//! The bot plays its evening against the loopback Discord, through serenity as it is.

#[test]
fn the_bot_holds_a_whole_conversation_over_serenity() {
    practice::rehearse(env!("CARGO_BIN_EXE_serenity-bot"), &[]).unwrap();
}

#[test]
fn a_model_speaks_for_the_agents() {
    practice::rehearse_with_model(env!("CARGO_BIN_EXE_serenity-bot")).unwrap();
}

#[test]
fn help_is_output_and_an_unknown_flag_is_refused() {
    practice::try_flags(env!("CARGO_BIN_EXE_serenity-bot")).unwrap();
}
