//! Who surely may not write takes no turns, it is said why, and the right's return is followed by a turn.

use std::time::Duration;

use dirigent::operate::{Missing, Reason};
use dirigent::ports::WriteBar;
use dirigent::{ChannelId, Mode};
use dirigent_testkit::Log;
use dirigent_testkit::memory_discord::{Call, Fault, Outage, Permissions};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, MINUTE, SECOND, late_answers};

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

/// A bot that was started without a right must say so by itself: nobody has said anything to it yet. Nothing is said of a
/// channel without turns, and a right that is lost again is said again.
#[test]
fn what_the_moderator_lacks_is_told_when_the_process_starts_and_when_it_is_lost_again() {
    let mut stage = known(Setup::new().hosted("a", ["a1".into()]).hosted("b", []));
    stage.chat();
    let (channel, moderator, log) = (stage.channel(), stage.moderator(), Log::default());
    let (none, view) = (Permissions::default(), Permissions::VIEW_CHANNEL);
    stage.discord().guild(stage.guild()).set_administrator(moderator, false);
    let deny = |stage: &Stage, is_denied: bool| {
        let (allow, deny) = if is_denied { (none, view) } else { (view, none) };
        stage.discord().channel(channel).set_member_overwrite(moderator, allow, deny);
    };
    deny(&stage, true);
    log.during(|| stage.restart());
    let told = || log.lines().iter().filter(|it| it.contains("The moderator")).count();
    assert_eq!(told(), 1, "{:?}", log.lines());
    for (is_denied, times) in [(false, 1), (true, 2)] {
        deny(&stage, is_denied);
        log.during(|| tell(&mut stage, channel));
        assert_eq!(told(), times, "{:?}", log.lines());
    }
    deny(&stage, false);
    tell(&mut stage, channel);
    let given = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::None).await });
    assert!(given.is_ok(), "{given:?}");
    deny(&stage, true);
    log.during(|| tell(&mut stage, channel));
    log.during(|| stage.restart());
    assert_eq!(told(), 2, "{:?}", log.lines());
}

/// The log says it when it happens, and no agent is called absent by a moderator that cannot see who is there.
#[test]
fn what_the_moderator_may_no_longer_do_is_in_the_log_and_no_agent_is_blamed() {
    let mut stage = known(Setup::new().hosted("a", ["a1".into()]).hosted("b", []));
    stage.chat();
    let (channel, moderator, log) = (stage.channel(), stage.moderator(), Log::default());
    let (none, view) = (Permissions::default(), Permissions::VIEW_CHANNEL);
    stage.discord().guild(stage.guild()).set_administrator(moderator, false);
    log.during(|| {
        stage.discord().channel(channel).set_member_overwrite(moderator, none, view);
        tell(&mut stage, channel);
        tell(&mut stage, channel);
    });
    let told: Vec<_> = log.lines().into_iter().filter(|it| it.contains("The moderator")).collect();
    assert_eq!(told.len(), 1, "once, however often it is looked at: {told:?}");
    assert!(told[0].contains("does not see this channel: give it View Channels here"), "{told:?}");
    stage.say("Hello?");
    stage.advance(MINUTE);
    let why = stage.call(move |d| async move { d.channel(channel).explain(&"a".into()).await });
    let why = why.unwrap();
    assert!(!why.is_absent && !why.to_string().contains("its bot is not in this channel"), "{why}");
    assert!(why.to_string().contains("The moderator does not see this channel"), "{why}");
}

/// "a" says three messages, and "b" one.
fn speaking() -> Stage {
    let parts = ["1", "2", "3"].map(|part| part.repeat(2_000)).concat();
    let first = Line::from(parts).taking(SECOND);
    let mut stage =
        known(Setup::new().hosted("a", [first, Act::Pass.into()]).hosted("b", ["b1".into()]));
    stage.chat();
    stage
}

fn set_timed_out(stage: &Stage, agent: &str, time: Option<Duration>) {
    let user = stage.agent(agent).user();
    stage.discord().guild(stage.guild()).set_timed_out(user, time);
}

fn firsts(stage: &Stage) -> String {
    stage.words().iter().filter_map(|words| words.chars().next()).collect()
}

/// WY1: what was posted stays, what was not comes back to its agent, and the next agent goes on.
#[test]
fn who_loses_the_right_between_two_messages_of_a_reply_is_handed_the_rest() {
    let mut stage = speaking();
    let user = stage.agent("a").user();
    let slow = Fault::SlowAnswer { by: SECOND };
    stage.discord().inject(|faults| faults.next_by(user, Call::Post, slow));
    stage.say("Hello");
    stage.advance(SECOND + SECOND / 2);
    assert_eq!(firsts(&stage), "H1");
    stage.discord().begin_outage(Outage::refused().of(user));
    stage.advance(SECOND * 2);
    set_read_only(&mut stage, "a", true);
    stage.discord().end_outages();
    stage.advance(MINUTE);
    assert_eq!(firsts(&stage), "H1b");
    set_read_only(&mut stage, "a", false);
    stage.say("Go on");
    stage.advance(MINUTE);
    let rest = ["2", "3"].map(|part| part.repeat(2_000));
    assert_eq!(late_answers(&stage, "a"), [rest.join("\n")]);
}

/// WY1: an agent in a time-out does not keep the floor with a reply that waits for the chat.
#[test]
fn a_reply_that_waits_for_the_chat_is_handed_back_when_its_agent_is_timed_out() {
    for crashes in [false, true] {
        let mut stage = speaking();
        stage.say("Hello");
        stage.discord().begin_outage(Outage::refused().only(Call::Post));
        stage.advance(SECOND * 10);
        assert_eq!(stage.status().unwrap().waiting_reply, Some("a".into()));
        if crashes {
            stage.crash();
        }
        set_timed_out(&stage, "a", Some(MINUTE * 2));
        if crashes {
            stage.restart();
        } else {
            let channel = stage.channel();
            tell(&mut stage, channel);
        }
        stage.advance(SECOND * 10);
        stage.discord().end_outages();
        stage.advance(MINUTE);
        assert_eq!(firsts(&stage), "Hb", "{crashes}");
        stage.advance(MINUTE);
        stage.say("Go on");
        stage.advance(MINUTE);
        let late = late_answers(&stage, "a");
        assert_eq!(late.len(), 1, "{crashes}");
        assert_eq!(late[0].replace('\n', "").len(), 6_000, "{crashes}");
    }
}
