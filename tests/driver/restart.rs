//! After a restart: what was missed, what was cut off (F19).

use std::time::Duration;

use dirigent::settings::{LostRuns, Pace};
use dirigent::snapshot::PhaseKind;
use dirigent::{Clock, Settings};
use dirigent_testkit::ScriptedAgent;
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

fn hosted() -> Setup {
    Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()])
}

/// F19
#[test]
fn a_message_that_was_missed_wakes_once() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.crash();
    let (channel, person) = (stage.channel(), stage.person());
    stage.discord().say(channel, person, "Is anybody there?");
    stage.clock().advance(SECOND * 600);
    stage.restart();
    stage.until_dormant();
    assert_eq!(stage.words(), ["Is anybody there?", "a1", "b1", "a2"]);
    stage.crash();
    stage.restart();
    stage.advance(SECOND * 60);
    assert_eq!(stage.words().len(), 4, "only once");
}

/// F19
#[test]
fn an_old_message_that_was_missed_is_handed_over_with_the_next_turn() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.crash();
    let (channel, person) = (stage.channel(), stage.person());
    stage.discord().say(channel, person, "Is anybody there?");
    stage.clock().advance(SECOND * 901);
    stage.restart();
    stage.advance(SECOND * 60);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant);
    stage.say("Good morning");
    let turns = stage.agent("a").turns();
    let missed = &turns.last().unwrap().missed;
    assert!(missed.ends_with(&["Is anybody there?".to_owned(), "Good morning".to_owned()]));
}

/// F19
#[test]
fn nothing_else_that_was_missed_wakes_anybody() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let turns = stage.status().unwrap().turn;
    stage.crash();
    let (channel, a) = (stage.channel(), stage.agent("a").user());
    let bot = stage.discord().add_webhook();
    stage.discord().say(channel, a, "a speaks out of turn");
    stage.discord().say(channel, bot, "and so does a webhook");
    stage.discord().system_message(channel, bot, "somebody joined");
    stage.restart();
    stage.advance(SECOND * 60);
    assert_eq!(stage.status().unwrap().turn, turns);
}

#[test]
fn a_message_pushed_before_the_room_was_caught_up_hides_none_that_were_missed() {
    let mut stage = hosted().rooms(2).stage();
    stage.chat();
    let room = stage.rooms()[1];
    stage.say_in(room, "Hello");
    stage.advance(SECOND * 60);
    stage.crash();
    let person = stage.person();
    stage.discord().say(room, person, "Missed");
    // Reading what was missed takes its time.
    let slow = Fault::SlowRequest { by: SECOND * 5 };
    stage.discord().inject(|f| f.next(Call::History, slow));
    stage.restart();
    stage.agent("a").then("a3");
    stage.say_in(room, "Pushed");
    stage.advance(SECOND * 60);
    let heard: Vec<_> =
        stage.agents().flat_map(ScriptedAgent::turns).flat_map(|t| t.missed).collect();
    assert!(heard.contains(&"Missed".to_owned()), "{heard:?}");
    assert!(heard.contains(&"Pushed".to_owned()));
}

#[test]
fn a_run_that_was_cut_off_is_skipped_or_run_again_as_the_host_wants() {
    for (policy, words) in
        [(LostRuns::Skip, vec!["Hello", "b1", "a1"]), (LostRuns::Rerun, vec!["Hello", "a1", "b1"])]
    {
        let mut stage = Setup::new()
            .hosted("a", [Line::from("a1").taking(SECOND * 5)])
            .hosted("b", ["b1".into()])
            .settings(|settings| settings.hooks.lost_runs = policy)
            .stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND);
        stage.crash();
        let before = stage.clock().now();
        stage.restart();
        stage.until_dormant();
        assert_eq!(stage.words(), words);
        let took = stage.clock().now().since(before);
        assert!(took < SECOND * 20, "without waiting for a deadline: {took:?}");
    }
}

#[test]
fn a_restart_of_a_room_at_rest_writes_nothing() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(SECOND * 700);
    let commits = stage.store().commits().len();
    stage.crash();
    stage.restart();
    stage.advance(SECOND * 700);
    assert_eq!(stage.store().commits().len(), commits);
}

#[test]
fn a_reply_that_arrived_while_nobody_listened_confirms_its_turn() {
    let mut stage = Setup::new()
        .hooked("a", ["a1".into()])
        .hooked("b", [Act::Hang.into()])
        .post_delay(SECOND * 4)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Confirming);
    stage.crash();
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    stage.discord().say(channel, user, "a1");
    stage.restart();
    assert_eq!(stage.status().unwrap().speaker, Some("b".into()));
}

/// A room in which the process died when it had posted a part of a reply and not heard of it.
fn cut_off(setup: Setup) -> Stage {
    let mut stage = setup.hosted("b", []).stage();
    stage.chat();
    stage.discord().next_post(Fault::LostAnswer);
    stage.say("Hello");
    stage.crash();
    stage
}

/// Nobody can read what is there: neither who takes the reply up nor who looks for what was missed.
fn unreadable(stage: &Stage) {
    stage.discord().inject(|faults| {
        for _ in 0..8 {
            faults.next(Call::History, Fault::NotDelivered);
        }
    });
}

/// I1
#[test]
fn a_part_that_may_have_arrived_is_not_posted_when_its_nonce_is_forgotten_meanwhile() {
    let mut stage = cut_off(Setup::new().hosted("a", ["a1".into()]));
    let _ = stage.discord().clone().with_nonce_window(SECOND * 120);
    unreadable(&stage);
    stage.discord().next_post(Fault::RateLimited { retry_after: SECOND * 180 });
    stage.restart();
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1"]);
}

/// I1
#[test]
fn a_clock_that_was_set_back_does_not_make_a_nonce_known_again() {
    let mut stage = cut_off(Setup::new().hosted("a", ["a1".into()]));
    let _ = stage.discord().clone().with_nonce_window(Duration::ZERO);
    unreadable(&stage);
    stage.clock().set(stage.clock().now().saturating_sub(SECOND * 3_600));
    stage.restart();
    stage.advance(SECOND * 300);
    assert_eq!(stage.words(), ["Hello", "a1"]);
}

#[test]
fn a_part_like_the_one_before_is_posted_too() {
    let mut stage = Setup::new().hosted("a", ["x".repeat(4_000).into()]).hosted("b", []).stage();
    stage.chat();
    stage.discord().next_post(Fault::SlowAnswer { by: Duration::ZERO });
    stage.discord().next_post(Fault::NotDelivered);
    stage.say("Hello");
    assert_eq!(stage.words().len(), 2, "the second part is under way");
    stage.crash();
    stage.restart();
    stage.until_dormant();
    assert_eq!(stage.words().len(), 3);
}

#[test]
fn the_rest_of_a_reply_that_was_stopped_is_not_posted_in_the_agents_next_turn() {
    let pace = Pace { burst: 1, window: SECOND * 5 };
    let parts = ["1", "2", "3"].map(|part| part.repeat(2_000));
    let mut stage = Setup::new()
        .hosted("a", [parts.concat().into()])
        .hosted("b", [])
        .settings(|settings| settings.limits.pacing.channel = Some(pace))
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.crash();
    stage.restart();
    stage.agent("a").say_once();
    assert_eq!(stage.words().len(), 3, "the second part needs no pace after a restart");
    let turns = stage.agent("a").turns().len();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    stage.call(move |d| async move { d.channel(channel).wake(Some(&"a".into())).await }).unwrap();
    stage.until_dormant();
    assert!(stage.agent("a").turns().len() > turns, "it had no next turn");
    assert!(!stage.words().contains(&parts[2]), "it was stopped");
}

#[test]
fn what_could_not_be_read_again_is_read_for_the_next_turn() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.say("Hello");
    stage.crash();
    stage.restart();
    stage.advance(SECOND * 10);
    let forbidden = Outage::failing(Fault::Forbidden).only(Call::History);
    stage.discord().begin_outage(forbidden);
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    stage.say("And now?");
    stage.until_dormant();
    let handed = |stage: &Stage| -> Vec<_> {
        stage.agents().flat_map(ScriptedAgent::turns).map(|turn| turn.missed).collect()
    };
    assert!(handed(&stage).iter().all(|missed| !missed.contains(&"Hello".to_owned())));
    stage.discord().end_outages();
    stage.say("And again?");
    stage.until_dormant();
    let both = ["Hello".to_owned(), "And again?".to_owned()];
    let second = handed(&stage).into_iter().filter(|missed| missed.starts_with(&both));
    assert_eq!(second.count(), 2, "the second reading was luckier, for both agents");
}

/// F19
#[test]
fn the_newest_human_message_wakes_however_much_others_said_before_and_since() {
    // Beyond 5,000 only the newest page is read.
    for (before, since) in [(700, 10), (700, 600), (10, 3_000), (7_000, 50)] {
        let mut stage = hosted().stage();
        let _ = stage.discord().clone().with_history_max(20_000);
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
        let turn = stage.status().unwrap().turn;
        stage.crash();
        let (channel, person) = (stage.channel(), stage.person());
        let bot = stage.discord().add_webhook();
        let noise = |times: usize| {
            for _ in 0..times {
                stage.discord().say(channel, bot, "beep");
            }
        };
        noise(before);
        stage.discord().say(channel, person, "Is anybody there?");
        noise(since);
        stage.restart();
        stage.advance(SECOND * 60);
        assert!(stage.status().unwrap().turn > turn, "{before} before and {since} since");
    }
}

/// F19
#[test]
fn what_was_missed_is_read_later_when_the_chat_fails_at_the_start() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.crash();
    let (channel, person) = (stage.channel(), stage.person());
    stage.discord().say(channel, person, "Is anybody there?");
    unreadable(&stage);
    stage.restart();
    stage.until_dormant();
    stage.advance(SECOND * 120);
    assert!(stage.words().contains(&"a1".to_owned()), "{:?}", stage.words());
    stage.advance(SECOND * 1_000);
    let loads = stage.store().loads();
    assert!(stage.status().is_some());
    assert_eq!(stage.store().loads(), loads + 1, "it has left memory");
}

/// R279, M18
#[test]
fn a_kill_in_the_middle_of_a_turn_keeps_queue_place_speaker_and_remaining_time() {
    for hosted in [true, false] {
        let slow = Line::from("b1 TURN_COMPLETE").taking(SECOND * 500);
        let setup = Setup::new().hosted("a", ["a1 TURN_COMPLETE".into()]);
        let setup = if hosted { setup.hosted("b", [slow]) } else { setup.hooked("b", [slow]) };
        let mut stage = setup
            .hosted("c", ["c1 TURN_COMPLETE".into()])
            .config(|config| *config = dirigent::Config::message_flow())
            .settings(|settings| {
                settings.reading.completion = Settings::message_flow().reading.completion;
                settings.hooks.lost_runs = LostRuns::Rerun;
            })
            .stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND * 20);
        let before = stage.status().unwrap();
        assert_eq!(before.speaker, Some("b".into()));
        let due = before.deadline.unwrap().at;
        stage.crash();
        stage.clock().advance(SECOND * 10);
        stage.restart();
        let after = stage.status().unwrap();
        assert_eq!(after.speaker, before.speaker);
        assert_eq!((after.turn, &after.list), (before.turn, &before.list), "queue and place");
        assert_eq!(after.deadline.unwrap().at, due, "what remained of the turn remains");
        stage.until("c spoke", |stage| stage.words().contains(&"c1".to_owned()));
        assert_eq!(stage.clock().now(), due, "neither sooner nor later");
        stage.until_dormant();
        let notice = "⏱️ b turn timed out, moving to next agent";
        assert!(stage.moderation(stage.channel()).contains(&notice.to_owned()));
    }
}
