//! The slash commands.

use dirigent::command::{CommandAnswer, Invoker, SlashCommand, parse};
use dirigent::ports::Identity;
use dirigent::snapshot::{Pause, PhaseKind};
use dirigent::{ChannelId, Clock as _, IdentityStore as _, Mode};
use dirigent_testkit::scripted_agent::Act;
use dirigent_verify::stage::{Setup, Stage, StoreFault};
use serde_json::json;

use super::{
    SECOND, call, id, opened, session, stage_with_admin_moderator, stage_with_channel_manager,
};

mod look;

const MANAGE_CHANNELS: u64 = 0x10;
const ADMINISTRATOR: u64 = 0x8;
const SEND_MESSAGES: u64 = 0x800;
const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;

fn allowed(stage: &Stage) -> Invoker {
    Invoker { guild: Some(stage.guild()), permissions: MANAGE_CHANNELS, host_word: None }
}

fn set(stage: &mut Stage, channel: ChannelId, input: &'static str) -> CommandAnswer {
    let invoker = allowed(stage);
    stage.call(move |d| async move {
        d.channel(channel)
            .command(SlashCommand::SetChannelMode, invoker, input, SlashCommand::ANSWER_WITHIN)
            .await
    })
}

fn mode(stage: &mut Stage, channel: ChannelId) -> Option<Mode> {
    stage.status_of(channel).map(|status| status.mode)
}

/// R058
#[test]
fn exactly_none_chat_and_report_are_accepted() {
    assert_eq!(SlashCommand::MODES.map(Mode::as_str), ["none", "chat", "report"]);
    for choice in SlashCommand::MODES {
        assert_eq!(parse(choice.as_str()), Ok(choice));
    }
    for word in ["work", "discussion", "", "Chat", " chat", "chat ", "dead", "nöne", "chat\0"] {
        assert!(parse(word).is_err(), "{word:?}");
    }
    let long = "chat".repeat(1 << 18);
    for word in ["chat\n", "\u{202e}chat", "ch\u{200b}at", "ｃｈａｔ", "сhat", "\"chat\"", &long]
    {
        let refusal = parse(word).unwrap_err().to_string();
        assert_eq!(refusal, "There is no such mode. Choose none, chat or report.");
    }
    let mut stage = stage_with_channel_manager();
    let channel = stage.channel();
    for word in ["", "Chat", "loud", "archived"] {
        let answer = set(&mut stage, channel, word);
        assert_eq!(answer.text, "There is no such mode. Choose none, chat or report.");
        assert!(!answer.changed);
    }
    assert_eq!(mode(&mut stage, channel), None);
}

/// R058
#[test]
fn what_an_adapter_registers_is_what_discord_takes() {
    assert_eq!(SlashCommand::SetChannelMode.name(), "set-channel-mode");
    assert!((1..=100).contains(&SlashCommand::SetChannelMode.description().len()));
    assert_eq!(SlashCommand::SetChannelMode.default_permissions(), MANAGE_CHANNELS);
    for command in SlashCommand::ALL {
        assert!((1..=100).contains(&command.description().len()));
        assert_eq!(SlashCommand::named(command.name()), Some(command));
        if let Some(option) = command.option() {
            assert!((1..=100).contains(&option.description.len()) && !option.name.is_empty());
        }
    }
    for name in ["", "Stop", "stop ", "/stop", "mode"] {
        assert_eq!(SlashCommand::named(name), None, "{name:?}");
    }
    assert_eq!(SlashCommand::SetChannelMode.default_permissions(), MANAGE_CHANNELS);
    assert_eq!(SlashCommand::Stop.default_permissions(), SEND_MESSAGES);
    assert_eq!(SlashCommand::Resume.default_permissions(), SEND_MESSAGES);
}

/// R059
#[test]
fn work_and_discussion_are_refused_with_the_names_of_their_tools() {
    let mut stage = stage_with_channel_manager();
    let channel = stage.channel();
    for word in ["work", "discussion"] {
        let answer = set(&mut stage, channel, word);
        assert!(!answer.changed);
        assert!(answer.text.contains("create-work-channel"));
        assert!(answer.text.contains("create-discussion-channel"));
        assert_eq!(mode(&mut stage, channel), None);
    }
}

/// R060, D16, D26
#[test]
fn in_a_work_or_discussion_channel_the_mode_is_locked_also_after_its_end() {
    let mut stage = stage_with_admin_moderator();
    let caller = session(&stage, "a");
    let work = call(&mut stage, &caller, "create-work-channel", json!({ "name": "x" })).unwrap();
    let work = id(&work, "channelId");
    let discussion = opened(&mut stage, &["b"]);
    for round in 0..2 {
        for word in ["none", "chat", "report", "work", "discussion", "loud"] {
            for (channel, before) in [(work, Mode::Work), (discussion, Mode::Discussion)] {
                let answer = set(&mut stage, channel, word);
                assert!(answer.text.contains("locked") && !answer.changed, "{}", answer.text);
                assert_eq!(mode(&mut stage, channel), Some(before));
            }
        }
        if round == 0 {
            stage.call(move |d| async move { d.channel(discussion).archive().await }).unwrap();
        }
    }
}

#[test]
fn an_archived_chat_keeps_its_mode() {
    let mut stage = stage_with_channel_manager();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).archive().await }).unwrap();
    let answer = set(&mut stage, channel, "none");
    assert!(answer.text.contains("archived") && !answer.changed);
    assert_eq!(mode(&mut stage, channel), Some(Mode::Chat));
}

/// R061
#[test]
fn there_is_no_command_in_direct_messages() {
    const { assert!(!SlashCommand::IN_DIRECT_MESSAGES) };
    let mut stage = stage_with_channel_manager();
    let direct = stage.discord().add_direct(&[stage.person(), stage.moderator()]);
    let invoker = Invoker { guild: None, permissions: u64::MAX, host_word: Some(true) };
    let answer = stage.call(move |d| async move {
        d.channel(direct)
            .command(SlashCommand::SetChannelMode, invoker, "chat", SlashCommand::ANSWER_WITHIN)
            .await
    });
    assert!(answer.text.contains("direct message") && !answer.changed);
    assert_eq!(mode(&mut stage, direct), None);
}

/// R062
#[test]
fn a_success_names_the_new_mode() {
    let mut stage = stage_with_channel_manager();
    let channel = stage.channel();
    for word in ["chat", "report", "none", "report", "chat"] {
        let answer = set(&mut stage, channel, word);
        let here = if word == "chat" { " a, b, c take turns here." } else { "" };
        assert_eq!(answer.text, format!("The mode of this channel is now {word}.{here}"));
        assert!(answer.changed);
        assert_eq!(mode(&mut stage, channel).map(Mode::as_str), Some(word));
    }
}

/// R062, D16
#[test]
fn the_present_mode_again_succeeds_and_keeps_the_turn() {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    let before = stage.status().unwrap();
    assert_eq!(before.phase, PhaseKind::Running);
    let channel = stage.channel();
    let answer = set(&mut stage, channel, "chat");
    assert_eq!(answer.text, "The mode of this channel is now chat. a, b take turns here.");
    assert!(!answer.changed);
    assert_eq!(stage.status().unwrap(), before);
    assert!(!stage.agent("a").turns()[0].cancelled);
    let unknown = ChannelId::new(123_456_789_012_345_678);
    assert!(!set(&mut stage, unknown, "none").changed, "it was none before");
}

/// R063, D25
#[test]
fn only_who_may_manage_channels_is_heard_unless_the_host_decides() {
    const { assert!(SlashCommand::EPHEMERAL) };
    let mut stage = stage_with_channel_manager();
    let channel = stage.channel();
    let guild = Some(stage.guild());
    let cases = [
        (0, None, false),
        (!(MANAGE_CHANNELS | ADMINISTRATOR), None, false),
        (MANAGE_CHANNELS, Some(false), false),
        (MANAGE_CHANNELS, None, true),
        (ADMINISTRATOR, None, true),
        (0, Some(true), true),
    ];
    for (permissions, host_word, may) in cases {
        let invoker = Invoker { guild, permissions, host_word };
        for word in ["chat", "none"] {
            let answer = stage.call(move |d| async move {
                d.channel(channel)
                    .command(
                        SlashCommand::SetChannelMode,
                        invoker,
                        word,
                        SlashCommand::ANSWER_WITHIN,
                    )
                    .await
            });
            assert_eq!(answer.changed, may, "{invoker:?}");
            assert_eq!(answer.text.contains("Manage Channels"), !may);
        }
    }
}

/// R063
#[test]
fn the_answer_comes_within_three_seconds_whatever_the_store_does() {
    for fault in [StoreFault::Fails, StoreFault::Hangs, StoreFault::TakesSoLong(SECOND * 20)] {
        let mut stage = stage_with_channel_manager();
        let channel = stage.channel();
        stage.store().with_rate(fault, 1_000, 1);
        let before = stage.clock().now();
        let answer = set(&mut stage, channel, "chat");
        assert!(stage.clock().now().since(before) < SECOND * 3);
        assert!(answer.text.contains("could not be stored") && !answer.changed);
    }
}

#[test]
fn after_a_shutdown_the_command_says_so() {
    let mut stage = stage_with_channel_manager();
    let channel = stage.channel();
    stage.call(|d| async move { d.shutdown(SECOND).await });
    let answer = set(&mut stage, channel, "chat");
    assert!(answer.text.contains("not running") && !answer.changed);
}

fn use_it(
    stage: &mut Stage,
    command: SlashCommand,
    channel: ChannelId,
    invoker: Invoker,
) -> CommandAnswer {
    stage.call(move |d| async move {
        d.channel(channel).command(command, invoker, "", SlashCommand::ANSWER_WITHIN).await
    })
}

/// Somebody who may write and nothing else.
fn writer(stage: &Stage) -> Invoker {
    Invoker { guild: Some(stage.guild()), permissions: SEND_MESSAGES, host_word: None }
}

fn rest(stage: &mut Stage) -> Option<Pause> {
    stage.status().unwrap().rest
}

/// F04
#[test]
fn stop_denies_everybody_until_resume() {
    let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    let (channel, invoker) = (stage.channel(), writer(&stage));
    let answer = use_it(&mut stage, SlashCommand::Stop, channel, invoker);
    assert_eq!(answer.text, "Stopped: no agent speaks in this channel until it is resumed.");
    assert!(answer.changed && stage.agent("a").turns()[0].cancelled);
    assert_eq!(rest(&mut stage), Some(Pause::Stopped));
    let again = use_it(&mut stage, SlashCommand::Stop, channel, invoker);
    assert_eq!((again.text.as_str(), again.changed), ("This channel is stopped already.", false));
    stage.crash();
    stage.restart();
    assert_eq!(rest(&mut stage), Some(Pause::Stopped), "it is stored for good");
    let answer = use_it(&mut stage, SlashCommand::Resume, channel, invoker);
    assert_eq!(answer.text, "Resumed: agents take turns again. If none goes on, write a message.");
    assert!(answer.changed);
    assert_eq!(rest(&mut stage), None);
    let again = use_it(&mut stage, SlashCommand::Resume, channel, invoker);
    assert_eq!((again.text.as_str(), again.changed), ("This channel is not stopped.", false));
}

/// F04
#[test]
fn who_may_write_may_stop_and_resume_unless_the_host_decides() {
    let mut stage = stage_with_channel_manager();
    stage.chat();
    let (channel, guild) = (stage.channel(), Some(stage.guild()));
    let all_but = !(SEND_MESSAGES | SEND_MESSAGES_IN_THREADS | MANAGE_CHANNELS | ADMINISTRATOR);
    let cases = [
        (0, None, false),
        (all_but, None, false),
        (SEND_MESSAGES, Some(false), false),
        (SEND_MESSAGES, None, true),
        (SEND_MESSAGES_IN_THREADS, None, true),
        (MANAGE_CHANNELS, None, true),
        (ADMINISTRATOR, None, true),
        (0, Some(true), true),
    ];
    for (permissions, host_word, may) in cases {
        let invoker = Invoker { guild, permissions, host_word };
        for command in [SlashCommand::Stop, SlashCommand::Resume] {
            let answer = use_it(&mut stage, command, channel, invoker);
            assert_eq!(answer.changed, may, "{invoker:?}: {}", answer.text);
            assert_eq!(answer.text.contains("able to write"), !may);
        }
        assert_eq!(rest(&mut stage), None);
    }
}

/// F04
#[test]
fn where_nothing_can_be_stopped_the_answer_says_why() {
    let mut stage = stage_with_channel_manager();
    let (channel, invoker) = (stage.channel(), writer(&stage));
    let answer = use_it(&mut stage, SlashCommand::Stop, channel, invoker);
    assert!(answer.text.contains("answer freely") && !answer.changed, "{}", answer.text);
    stage.chat();
    set(&mut stage, channel, "none");
    let answer = use_it(&mut stage, SlashCommand::Stop, channel, invoker);
    assert!(answer.text.contains("answer freely"), "{}", answer.text);
    set(&mut stage, channel, "chat");
    let direct = Invoker { guild: None, permissions: u64::MAX, host_word: Some(true) };
    let answer = use_it(&mut stage, SlashCommand::Stop, channel, direct);
    assert!(answer.text.contains("direct message") && !answer.changed);
    assert_eq!(rest(&mut stage), None);
    stage.call(move |d| async move { d.channel(channel).archive().await }).unwrap();
    for command in [SlashCommand::Stop, SlashCommand::Resume] {
        let answer = use_it(&mut stage, command, channel, invoker);
        assert!(answer.text.contains("archived") && !answer.changed, "{}", answer.text);
    }
    stage.call(|d| async move { d.shutdown(SECOND).await });
    let answer = use_it(&mut stage, SlashCommand::Stop, channel, invoker);
    assert!(answer.text.contains("not running") && !answer.changed);
}

/// F04
#[test]
fn a_stop_is_answered_within_a_second_and_in_force_whatever_the_store_does() {
    for fault in [StoreFault::Fails, StoreFault::Hangs, StoreFault::TakesSoLong(SECOND * 20)] {
        let mut stage = Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).stage();
        stage.chat();
        stage.say("Hello");
        let (channel, invoker) = (stage.channel(), writer(&stage));
        stage.store().with_rate(fault, 1_000, 1);
        for command in [SlashCommand::Stop, SlashCommand::Resume] {
            let before = stage.clock().now();
            let answer = use_it(&mut stage, command, channel, invoker);
            assert!(stage.clock().now().since(before) <= SECOND);
            assert!(answer.text.contains("could not be stored yet"), "{}", answer.text);
            assert!(!answer.changed);
            let is_stop = command == SlashCommand::Stop;
            assert_eq!(rest(&mut stage).is_some(), is_stop);
        }
    }
}
