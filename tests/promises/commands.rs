//! What an operator does, and what people said before: of a stop and a resume the newest one acts, in
//! whatever order the library hears of them.

use std::time::Duration;

use dirigent::operate::Refusal;
use dirigent::ports::AuthorKind;
use dirigent::settings::Texts;
use dirigent::snapshot::Pause;
use dirigent::{ChatMessage, MessageId};
use dirigent_testkit::memory_discord::{Call, Fault, Outage, PushFault};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{Halt, MINUTE, SECOND, is_heard, resume, runs, stop};

/// A room whose agents talk for half an hour, each turn of 20 s. "Hello" was said half a minute ago.
fn talking() -> Stage {
    let lines = |name: &str| {
        let line = |n| Line::from(format!("{name}{n}")).taking(SECOND * 20);
        (0..50).map(line).collect::<Vec<_>>()
    };
    let mut stage = Setup::new().hosted("a", lines("a")).hosted("b", lines("b")).stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 30);
    stage
}

/// Kills the process, lets the person say this while it is down, and starts it again. The history takes
/// this long to be read; the host gives the channel its mode, as at each start.
fn starts_anew(stage: &mut Stage, word: &str, history: Duration) {
    stage.crash();
    stage.discord().say(stage.channel(), stage.person(), word);
    stage.clock().advance(MINUTE);
    let slow = Outage::failing(Fault::SlowAnswer { by: history }).only(Call::History);
    stage.discord().begin_outage(slow);
    stage.restart();
    stage.chat();
    stage.advance(MINUTE * 2);
}

fn rests(stage: &mut Stage) -> bool {
    stage.status().unwrap().rest.is_some()
}

#[test]
fn a_host_that_gives_a_channel_its_mode_at_each_start_misses_no_word() {
    for history in [Duration::ZERO, SECOND * 2] {
        let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
        stage.chat();
        starts_anew(&mut stage, "A question", history);
        assert!(is_heard(&stage, "A question"), "{history:?}");
    }
}

#[test]
fn a_host_that_gives_a_channel_its_mode_at_each_start_misses_no_stop_word() {
    for history in [Duration::ZERO, SECOND * 2] {
        let mut stage = talking();
        starts_anew(&mut stage, "stop", history);
        assert!(rests(&mut stage), "{history:?}: agents talk on");
    }
}

#[test]
fn a_command_that_is_refused_undoes_no_stop_word_that_was_not_heard() {
    let mut stage = talking();
    stage.cut_gateway(true);
    stage.say("stop");
    stage.advance(SECOND);
    let channel = stage.channel();
    let refused = stage.call(move |d| async move { d.channel(channel).resume().await });
    assert!(matches!(refused, Err(dirigent::CallError::Refused(Refusal::NotPaused))));
    stage.cut_gateway(false);
    stage.call(|d| async move { d.reconnected().await }).unwrap();
    stage.advance(SECOND * 10);
    assert!(rests(&mut stage), "agents talk on");
}

#[test]
fn of_two_words_that_are_told_in_the_wrong_order_the_newer_one_acts() {
    let late = PushFault::Delayed { by: SECOND * 7 };
    let mut stage = talking();
    stage.discord().next_push(late);
    stage.say("stop");
    stage.advance(SECOND);
    stage.say("resume");
    stage.advance(SECOND * 10);
    assert!(!rests(&mut stage), "it was resumed");
    stage.say("stop");
    stage.discord().next_push(late);
    stage.say("resume");
    stage.advance(SECOND);
    stage.say("stop");
    stage.advance(SECOND * 10);
    assert!(rests(&mut stage), "agents talk on");
}

#[test]
fn a_resume_word_that_is_told_late_does_not_undo_an_operators_newer_stop() {
    for halt in [Halt::Stop, Halt::Hold, Halt::Finish] {
        let mut stage = talking();
        stage.discord().next_push(PushFault::Delayed { by: SECOND * 20 });
        stage.say("resume");
        stage.advance(SECOND * 10);
        halt.act(&mut stage);
        stage.advance(MINUTE);
        assert!(rests(&mut stage), "{halt:?}: agents talk on");
        stage.say("resume");
        assert!(!rests(&mut stage), "{halt:?}: this one is newer");
    }
}

#[test]
fn a_resume_word_that_is_read_after_a_restart_does_not_undo_an_operators_newer_stop() {
    for halt in [Halt::Stop, Halt::Hold, Halt::Finish] {
        let mut stage = talking();
        stage.cut_gateway(true);
        stage.say("resume");
        stage.advance(SECOND * 10);
        halt.act(&mut stage);
        stage.crash();
        stage.cut_gateway(false);
        stage.restart();
        stage.advance(MINUTE);
        assert!(rests(&mut stage), "{halt:?}: agents talk on");
        stage.say("resume");
        assert!(!rests(&mut stage), "{halt:?}: this one is newer");
    }
}

/// Agents that answer nobody.
fn deaf(setup: Setup) -> Stage {
    use dirigent_testkit::scripted_agent::Act;
    setup.hosted("a", [Act::Deaf.into()]).hosted("b", [Act::Pass.into()]).stage()
}

#[test]
fn a_word_that_a_stopped_run_did_not_take_is_handed_over_after_the_resume() {
    let mut stage = deaf(Setup::new());
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.say("And hurry");
    stage.advance(SECOND);
    stop(&mut stage);
    stage.advance(SECOND);
    resume(&mut stage);
    stage.advance(MINUTE);
    assert!(is_heard(&stage, "And hurry"));
}

#[test]
fn a_word_that_a_run_did_not_take_before_its_time_was_over_is_handed_to_the_same_agent_again() {
    let mut stage = deaf(Setup::new().config(|config| config.deadlines.run = Some(SECOND * 30)));
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).mute(&"b".into()).await }).unwrap();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.say("And hurry");
    stage.advance(MINUTE * 2);
    assert!(is_heard(&stage, "And hurry"));
}

/// P11
#[test]
fn a_webhook_is_no_person() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    let (channel, hook) = (stage.channel(), stage.discord().add_webhook());
    for word in ["Hello", "stop"] {
        stage.discord().say(channel, hook, word);
        stage.advance(SECOND);
        assert_eq!(runs(&stage), 0, "{word} calls an agent");
        assert_eq!(stage.status().unwrap().rest, None, "{word} stops the channel");
    }
}

/// Edits a message of a person's, and lets the library hear it.
fn edit(stage: &mut Stage, id: MessageId, text: &str) {
    let (channel, person) = (stage.channel(), stage.person());
    let edited = ChatMessage::new(id, channel, person, text);
    stage.call(move |d| async move { d.message_updated(edited).await }).ok();
    stage.settle();
}

fn is_stopped(stage: &mut Stage) -> bool {
    stage.status().unwrap().rest == Some(Pause::Stopped)
}

/// WD9: who mends a slip of the finger is obeyed, for five minutes.
#[test]
fn a_message_that_is_edited_into_a_stop_word_stops_for_five_minutes() {
    for (wait, stops) in [(1, true), (299, true), (302, false)] {
        let mut stage = talking();
        let id = stage.say("stpo");
        stage.advance(SECOND * wait);
        edit(&mut stage, id, "**Stop!**");
        assert_eq!(is_stopped(&mut stage), stops, "{wait} s");
        stage.advance(SECOND * 5);
        let told = stage.moderation(stage.channel());
        let told = told.iter().filter(|words| *words == Texts::STOPPED_NOTICE).count();
        assert_eq!(told, usize::from(stops), "it is acknowledged as a stop word is");
    }
}

/// WD9: the chat tells of the same text again when a link is unfurled or a message is pinned, and nobody means that.
#[test]
fn a_stop_word_that_is_told_again_stops_nothing_after_a_resume() {
    for edited in [false, true] {
        let mut stage = talking();
        stage.say("Hello");
        stage.advance(SECOND);
        let id = if edited {
            let id = stage.say("sotp");
            edit(&mut stage, id, "stop");
            id
        } else {
            stage.say("stop")
        };
        assert!(is_stopped(&mut stage));
        stage.say("resume");
        assert!(!is_stopped(&mut stage));
        edit(&mut stage, id, "stop");
        assert!(!is_stopped(&mut stage), "edited before: {edited}");
        // Taken back, and said anew.
        edit(&mut stage, id, "go on");
        edit(&mut stage, id, "stop");
        assert!(is_stopped(&mut stage), "it is new again");
    }
}

/// WD9: no other edit acts: no resume word, no agent's and no bot's, and none of an ordinary text.
#[test]
fn no_other_edit_stops_or_resumes() {
    let mut stage = talking();
    let hello = stage.say("Hello");
    stage.advance(SECOND * 30);
    edit(&mut stage, hello, "Hello, stop that please");
    assert!(!is_stopped(&mut stage));
    let channel = stage.channel();
    let agent = stage.agent("a").user();
    let id = MessageId::new(hello.get() + 1);
    let mut edited = ChatMessage::new(id, channel, agent, "stop");
    edited.author_kind = AuthorKind::Bot;
    stage.call(move |d| async move { d.message_updated(edited).await }).ok();
    assert!(!is_stopped(&mut stage));
    stage.say("stop");
    edit(&mut stage, hello, "resume");
    assert!(is_stopped(&mut stage), "an edit resumes nothing");
}

/// WD8: as people and their clients write it, and resume words as well.
#[test]
fn a_stop_word_counts_whatever_stands_around_it() {
    let mut stage = talking();
    let moderator = stage.moderator();
    let words = ["stop,", "**stop**", "stop 🛑", "ｓｔｏｐ", "停，"].map(str::to_owned);
    for word in words
        .into_iter()
        .chain([format!("stop <@{moderator}>"), format!("<@!{moderator}> \"stop\"")])
    {
        stage.say(&word);
        assert!(is_stopped(&mut stage), "{word}");
        stage.say(
            &word
                .replace("stop", "resume")
                .replace("ｓｔｏｐ", "ｒｅｓｕｍｅ")
                .replace('停', "继续"),
        );
        assert!(!is_stopped(&mut stage), "{word}");
    }
}
