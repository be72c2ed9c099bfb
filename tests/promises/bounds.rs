//! What has no limit of its own outside has one here: replies, what waits for an agent, callers of a store that
//! does not answer.

use std::time::Duration;

use dirigent::Settings;
use dirigent::settings::Pace;
use dirigent_testkit::memory_discord::Call;
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, SECOND, late_answers, resume, stop};

/// A room in which "a" says this once.
fn room(words: &str, change: impl FnOnce(&mut Settings)) -> Stage {
    let mut stage =
        Setup::new().hosted("a", [words.into()]).hosted("b", []).settings(change).stage();
    stage.agent("a").say_once();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 60);
    stage
}

/// A reply of so many messages: each word fills one.
fn long(messages: usize) -> String {
    let words = (0..messages).map(|number| format!("{number:05}").repeat(400));
    words.collect::<Vec<_>>().join(" ")
}

/// B10
#[test]
fn a_reply_without_end_is_cut_and_says_so_and_its_rest_comes_back_to_its_agent() {
    let mut stage = room(&long(12), |_| {});
    let words = stage.words();
    assert_eq!(words.len(), 12, "the question, ten messages and the notice");
    assert!(words[10].starts_with("00009"));
    assert_eq!(words[11], dirigent::settings::Texts::CUT_NOTICE);
    stage.say("Go on");
    stage.advance(SECOND * 60);
    assert_eq!(late_answers(&stage, "a"), [long(12).split_off(10 * 2_001)]);
}

/// A reply that has to be cut, of which a message leaves every 10 s: after this time the channel is stopped.
/// `restart`: the process ends just before. Returns how many messages were posted, and the beginnings of the words
/// that the agent is handed back.
fn handed_back_after_stop(after: Duration, restart: bool) -> (usize, Vec<String>) {
    let mut stage = Setup::new()
        .hosted("a", [long(12).as_str().into()])
        .hosted("b", [])
        .settings(|settings| {
            settings.limits.pacing.channel = Some(Pace { burst: 1, window: SECOND * 10 });
        })
        .stage();
    stage.agent("a").say_once();
    stage.chat();
    stage.say("Hello");
    stage.advance(after);
    if restart {
        stage.crash();
        stage.restart();
    }
    stop(&mut stage);
    stage.advance(SECOND * 30);
    let posts = stage.words().len() - 1;
    resume(&mut stage);
    stage.say("Go on");
    stage.advance(SECOND * 60);
    let [late] = late_answers(&stage, "a").try_into().unwrap();
    (posts, late.split_whitespace().map(|word| word.chars().take(5).collect()).collect())
}

fn numbers(of: std::ops::Range<usize>) -> Vec<String> {
    of.map(|number| format!("{number:05}")).collect()
}

/// B10
#[test]
fn of_a_cut_reply_that_breaks_off_everything_that_is_not_posted_comes_back_to_its_agent() {
    assert_eq!(handed_back_after_stop(SECOND * 15, false), (2, numbers(2..12)));
    // All but the notice was posted.
    assert_eq!(handed_back_after_stop(SECOND * 95, false), (10, numbers(10..12)));
}

/// B10
#[test]
fn a_cut_reply_that_breaks_off_after_a_restart_comes_back_without_the_notice() {
    let (posts, words) = handed_back_after_stop(SECOND * 15, true);
    assert!((2..5).contains(&posts), "{posts}");
    assert_eq!(words, numbers(posts..10));
}

/// B10
#[test]
fn a_reply_of_ten_messages_is_posted_whole() {
    let stage = room(&long(10), |_| {});
    assert_eq!(stage.words().len(), 11);
    assert!(stage.words()[10].starts_with("00009"));
}

/// B10
#[test]
fn five_megabytes_of_reply_are_ten_messages_and_a_notice() {
    assert_eq!(room(&long(2_500), |_| {}).words().len(), 12);
}

/// B10
#[test]
fn every_message_of_a_reply_that_a_host_lets_be_long_arrives() {
    let stage = room(&long(600), |settings| settings.limits.reply_parts_max = 1_000);
    let words = stage.words();
    assert_eq!(words.len(), 601);
    assert!(words[600].starts_with("00599"));
}

/// B10
#[test]
fn without_words_for_it_a_cut_goes_without_notice_and_there_is_one_message_at_least() {
    let change = |settings: &mut Settings| {
        settings.texts.cut_notice.clear();
        settings.limits.reply_parts_max = 0;
    };
    assert_eq!(room(&long(3), change).words().len(), 2);
}

/// B10
#[test]
fn a_notice_longer_than_a_message_does_not_lose_the_reply() {
    let mut stage = room(&long(3), |settings| {
        settings.texts.cut_notice = "cut ".repeat(700);
        settings.limits.reply_parts_max = 1;
    });
    let words = stage.words();
    assert_eq!(words.len(), 3);
    assert_eq!(words[2], "cut ".repeat(500).trim());
    assert!(stage.status().unwrap().waiting_reply.is_none());
}

/// B30
#[test]
fn no_more_than_a_hundred_messages_wait_until_an_agent_takes_them() {
    let slow = Line::from("a1").taking(SECOND * 60);
    let mut stage = Setup::new().hosted("a", [slow]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    for number in 0..150 {
        stage.say(&format!("word {number}"));
    }
    stage.advance(HOUR);
    assert_eq!(stage.agent("a").turns()[0].injected.len(), 100);
    let turns = stage.agent("b").turns();
    let last = turns.iter().flat_map(|turn| &turn.missed).any(|word| word == "word 149");
    assert!(last, "what it could not take is handed to the next agent");
}

/// B8
#[test]
fn ten_callers_of_a_channel_that_cannot_be_loaded_wait_no_longer_than_one() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.crash();
    let channel = stage.channel();
    stage.store().slow_to_load(channel, HOUR);
    stage.restart();
    stage.settle();
    let callers: Vec<_> = (0..10)
        .map(|_| stage.begin(move |d| async move { d.channel(channel).status().await.map(|_| ()) }))
        .collect();
    let new = stage
        .begin(move |d| async move { d.channel(channel).set_mode(dirigent::Mode::Report).await });
    stage.advance(SECOND * 20);
    assert!(callers.iter().all(|caller| caller.take().is_some_and(|told| told.is_err())));
    assert!(new.take().is_some_and(|told| told.is_err()));
}

/// B25
#[test]
fn a_thousand_reconnects_at_once_read_a_channel_no_more_than_a_few_times() {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.advance(SECOND * 60);
    let before = stage.discord().calls().of(Call::History);
    for _ in 0..1_000 {
        drop(stage.begin(|d| async move { d.reconnected().await }));
    }
    stage.advance(SECOND * 60);
    let reads = stage.discord().calls().of(Call::History) - before;
    assert!((1..=10).contains(&reads), "{reads} reads");
}
