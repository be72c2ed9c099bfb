//! Who surely may not write takes no turns, it is said why, and the right's return is followed by a turn.

use dirigent::operate::{Missing, Reason};
use dirigent::ports::WriteBar;
use dirigent::{ChannelId, Mode};
use dirigent_testkit::Log;
use dirigent_testkit::scripted_agent::Act;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, MINUTE, SECOND};

fn known(setup: Setup) -> Stage {
    let stage = setup.stage();
    stage.discord().account(stage.moderator()).set_rights_known(true);
    stage
}

fn set_read_only(stage: &mut Stage, agent: &str, is_read_only: bool) {
    let (channel, user) = (stage.channel(), stage.agent(agent).user());
    stage.discord().channel(channel).set_read_only(user, is_read_only);
    tell(stage, channel);
}

fn tell(stage: &mut Stage, channel: ChannelId) {
    stage.dirigent().rights_changed(&[channel]);
    stage.settle();
}

fn turns(stage: &Stage, agent: &str) -> usize {
    stage.agent(agent).turns().len()
}

/// WY1
#[test]
fn no_agent_is_called_for_a_reply_that_cannot_be_posted() {
    let mut stage =
        known(Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into(), "b2".into()]));
    stage.chat();
    set_read_only(&mut stage, "a", true);
    for word in ["One", "Two"] {
        stage.say(word);
        stage.advance(MINUTE);
    }
    assert_eq!((turns(&stage, "a"), stage.words().len()), (0, 4), "{:?}", stage.words());
    let channel = stage.channel();
    let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
    let why = why.unwrap();
    assert_eq!((why.reason, why.bar), (Reason::MayNotWrite, Some(WriteBar::NoSend)));
    assert_eq!(
        why.to_string(),
        "a may not speak: its bot may not write here: give it Send Messages."
    );
    let here = stage.call(move |d| async move { d.channel(channel).participants().await }).unwrap();
    assert_eq!(here.taking_turns, ["b".into()]);
    assert_eq!(here.missing, [Missing::new("a".into(), Some(WriteBar::NoSend))]);
    set_read_only(&mut stage, "a", false);
    stage.say("Three");
    stage.advance(MINUTE);
    assert!(turns(&stage, "a") > 0);
}

/// WY1
#[test]
fn who_loses_the_right_in_its_turn_loses_the_turn_and_what_it_was_given_is_kept() {
    let mut stage =
        known(Setup::new().hosted("a", [Act::Hang.into(), "a2".into()]).hosted("b", ["b1".into()]));
    stage.chat();
    set_read_only(&mut stage, "b", true);
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(turns(&stage, "a"), 1, "it is running");
    set_read_only(&mut stage, "a", true);
    stage.advance(MINUTE);
    assert_eq!(stage.words(), ["Hello"]);
    assert!(stage.status().unwrap().has_word);
    set_read_only(&mut stage, "b", false);
    stage.advance(MINUTE);
    assert_eq!(stage.words(), ["Hello", "b1"], "at once, without another word");
}

/// WY1: what is not known any more is as if it were allowed.
#[test]
fn after_a_restart_only_what_is_surely_so_counts() {
    for is_known in [true, false] {
        let mut stage = known(Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]));
        stage.chat();
        set_read_only(&mut stage, "a", true);
        stage.advance(MINUTE);
        stage.crash();
        stage.discord().account(stage.moderator()).set_rights_known(is_known);
        stage.restart();
        stage.advance(HOUR);
        stage.say("Hello");
        stage.advance(MINUTE);
        assert_eq!(turns(&stage, "a") == 0, is_known);
    }
}

/// WY6
#[test]
fn a_new_mode_tells_host_and_log_who_takes_turns_and_who_is_missing() {
    let mut stage =
        Setup::new().hosted("a", []).hosted("b", []).hosted("c", []).without_pump().stage();
    let (channel, user, log) = (stage.channel(), stage.agent("a").user(), Log::default());
    stage.discord().account(user);
    stage.discord().leave(channel, user);
    let here = log
        .during(|| {
            stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await })
        })
        .unwrap();
    assert_eq!(here.taking_turns, ["b".into(), "c".into()]);
    assert_eq!(here.missing, [Missing::new("a".into(), None)]);
    assert_eq!(
        here.to_string(),
        "b, c take turns here. Missing: a (its bot is not in this channel: invite it, and give it \
         View Channels here)."
    );
    let told: Vec<_> = log.lines().into_iter().filter(|line| line.contains("Missing: a")).collect();
    assert_eq!(told.len(), 1, "{:?}", log.lines());
    assert!(told[0].contains("WARN"), "{told:?}");
    let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
    let why = why.unwrap();
    assert!(!why.allows() && why.is_absent, "{why}");
    assert!(
        why.to_string().starts_with("a may not speak: its bot is not in this channel"),
        "{why}"
    );
}
