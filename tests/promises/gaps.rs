//! P18: a person's word during a gateway gap is handed to an agent or wakes the room, although replies go
//! on being posted meanwhile.

use std::time::Duration;

use dirigent_testkit::memory_discord::{Call, Fault, Faults, Outage, PushFault};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MILLI, MINUTE, SECOND, is_heard};

/// How the library hears of the end of a gap.
#[derive(Clone, Copy, Debug)]
enum End {
    /// `reconnected()`.
    Reconnected,
    /// `newest_message()`.
    Newest,
    /// A restart of the process.
    Restart,
}

/// Three hosted turns, each of a second with a post of 200 ms.
fn story(setup: Setup) -> Stage {
    let line = |text: &str| Line::from(text).taking(SECOND);
    let mut stage = setup.hosted("a", [line("a1"), line("a2")]).hosted("b", [line("b1")]).stage();
    stage.chat();
    let slow = Fault::SlowRequest { by: MILLI * 200 };
    stage.discord().begin_outage(Outage::failing(slow).only(Call::Post));
    stage.say("Hello");
    stage
}

fn ends(stage: &mut Stage, end: End) {
    stage.cut_gateway(false);
    let channel = stage.channel();
    match end {
        End::Reconnected => stage.call(|d| async move { d.reconnected().await }).unwrap(),
        End::Newest => {
            let newest = stage.discord().messages(channel).last().unwrap().id;
            stage.call(move |d| async move { d.newest_message(channel, newest).await }).unwrap();
        }
        End::Restart => {
            stage.crash();
            stage.restart();
        }
    }
}

/// Cuts the gateway at each moment of a story, 25 ms apart, and lets a person speak a little later.
fn lost(end: End, gap: Duration) -> Vec<String> {
    let mut lost = Vec::new();
    for moment in 0..160 {
        let mut stage = story(Setup::new());
        stage.advance(MILLI * 25 * moment);
        stage.cut_gateway(true);
        stage.advance(gap / 4);
        stage.say("A question");
        stage.advance(gap * 3 / 4);
        ends(&mut stage, end);
        stage.until_dormant();
        stage.advance(MINUTE * 2);
        if !is_heard(&stage, "A question") {
            lost.push(format!("{} ms", 25 * moment));
        }
    }
    lost
}

/// P18
#[test]
fn a_word_in_a_gap_is_heard_after_a_reconnect_whatever_was_posted_meanwhile() {
    for gap in [SECOND / 2, SECOND * 2, SECOND * 10] {
        assert_eq!(lost(End::Reconnected, gap), [""; 0], "a gap of {gap:?}");
    }
}

/// P18
#[test]
fn a_word_in_a_gap_is_heard_when_the_newest_message_is_told_whatever_was_posted_meanwhile() {
    for gap in [SECOND / 2, SECOND * 2, SECOND * 10] {
        assert_eq!(lost(End::Newest, gap), [""; 0], "a gap of {gap:?}");
    }
}

/// P18
#[test]
fn a_word_in_a_gap_is_heard_after_a_restart_whatever_was_posted_meanwhile() {
    for gap in [SECOND / 2, SECOND * 2, SECOND * 10] {
        assert_eq!(lost(End::Restart, gap), [""; 0], "a gap of {gap:?}");
    }
}

/// P18
#[test]
fn a_word_whose_event_was_lost_without_notice_is_found_by_looking() {
    let mut lost = Vec::new();
    for moment in 0..160 {
        let backfill = Some(MINUTE);
        let mut stage =
            story(Setup::new().settings(|settings| settings.time_limits.backfill = backfill));
        stage.advance(MILLI * 25 * moment);
        stage.discord().next_push(PushFault::Dropped);
        stage.say("A question");
        stage.until_dormant();
        stage.advance(MINUTE * 30);
        if !is_heard(&stage, "A question") {
            lost.push(format!("{} ms", 25 * moment));
        }
    }
    assert_eq!(lost, [""; 0]);
}

/// P18
#[test]
fn a_stop_word_in_a_gap_stops_whatever_was_posted_meanwhile() {
    for end in [End::Reconnected, End::Newest, End::Restart] {
        for moment in 0..40 {
            let mut stage = story(Setup::new());
            stage.advance(MILLI * 100 * moment);
            stage.cut_gateway(true);
            stage.say("stop");
            stage.advance(SECOND * 2);
            ends(&mut stage, end);
            stage.advance(SECOND * 10);
            let rest = stage.status().unwrap().rest;
            assert!(rest.is_some(), "{end:?}, {} ms: agents go on", 100 * moment);
        }
    }
}

/// P18
#[test]
fn the_receipt_of_an_own_post_hides_no_stop_word_that_was_said_before_it() {
    let hosted = |setup: Setup| setup.hosted("a", ["a1".into()]).hosted("b", ["b1".into()]);
    let hooked = |setup: Setup| setup.hooked("a", ["a1".into()]).hooked("b", ["b1".into()]);
    for (is_hosted, end) in [true, false]
        .into_iter()
        .flat_map(|is_hosted| [End::Newest, End::Restart].map(|end| (is_hosted, end)))
    {
        let setup = Setup::new();
        let mut stage = if is_hosted { hosted(setup) } else { hooked(setup) }.stage();
        stage.chat();
        let slow = Fault::SlowRequest { by: SECOND };
        stage.discord().begin_outage(Outage::failing(slow).only(Call::Post));
        stage.say("Hello");
        stage.advance(SECOND / 2);
        stage.cut_gateway(true);
        let stop = stage.say("stop");
        stage.advance(SECOND * 2);
        let channel = stage.channel();
        let newest = stage.discord().messages(channel).last().unwrap().clone();
        let place = format!("{end:?}, hosted: {is_hosted}");
        assert!(newest.id > stop && newest.author != stage.person(), "{place}: {newest:?}");
        ends(&mut stage, end);
        stage.advance(SECOND * 2);
        assert!(stage.status().unwrap().rest.is_some(), "{place}: agents go on");
    }
}

/// P18
#[test]
fn each_of_several_words_in_a_gap_is_handed_over_once() {
    for moment in 0..40 {
        let mut stage = story(Setup::new());
        stage.agent("a").then("a3");
        stage.advance(MILLI * 100 * moment);
        stage.cut_gateway(true);
        for word in ["One", "Two", "Three"] {
            stage.say(word);
            stage.advance(MILLI * 700);
        }
        ends(&mut stage, End::Reconnected);
        stage.until_dormant();
        stage.advance(MINUTE);
        for word in ["One", "Two", "Three"] {
            let turns = stage.agents().flat_map(|agent| {
                let times = agent.turns().into_iter().map(move |turn| {
                    let given = turn.missed.iter().chain(&turn.injected);
                    given.filter(|given| *given == word).count()
                });
                [times.sum::<usize>()]
            });
            let times: Vec<usize> = turns.collect();
            let place = format!("{word}, {} ms", 100 * moment);
            assert!(times.iter().any(|times| *times > 0), "{place}: lost");
            assert!(times.iter().all(|times| *times < 2), "{place}: an agent was given it twice");
        }
    }
}

/// P18
#[test]
fn a_page_of_a_gap_that_was_read_before_a_kill_is_not_taken_again() {
    let mut stage = stop_in_a_gap();
    let (channel, person) = (stage.channel(), stage.person());
    stage.cut_gateway(true);
    for number in 0..120 {
        stage.discord().say(channel, person, format!("word {number}"));
    }
    // The first page is read, the second one is not.
    stage.discord().inject(|faults| {
        faults.next(Call::History, Fault::SlowAnswer { by: Duration::ZERO });
        (0..100).for_each(|_| faults.next(Call::History, Fault::Refused));
    });
    ends(&mut stage, End::Reconnected);
    stage.advance(SECOND);
    assert!(stage.status().unwrap().rest.is_some(), "it was not read");
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    stage.advance(SECOND);
    stage.discord().inject(Faults::stop);
    ends(&mut stage, End::Restart);
    stage.advance(SECOND * 30);
    assert_eq!(stage.status().unwrap().rest, None, "the operator's word is newer");
}

/// A room in which a person's "stop" was said in a gap that the library does not know of yet.
fn stop_in_a_gap() -> Stage {
    let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.cut_gateway(true);
    stage.say("stop");
    stage.cut_gateway(false);
    stage
}

/// P18
#[test]
fn a_stop_word_that_is_read_late_does_not_undo_a_newer_resume_word() {
    let mut stage = stop_in_a_gap();
    stage.say("resume");
    ends(&mut stage, End::Reconnected);
    stage.advance(SECOND * 10);
    assert_eq!(stage.status().unwrap().rest, None);
}

/// P18
#[test]
fn what_an_agent_says_does_not_overtake_a_persons_stop_word() {
    let mut stage = stop_in_a_gap();
    stage.discord().say(stage.channel(), stage.agent("a").user(), "resume");
    stage.settle();
    ends(&mut stage, End::Reconnected);
    stage.advance(SECOND * 10);
    assert!(stage.status().unwrap().rest.is_some(), "agents go on");
}

/// P18
#[test]
fn a_word_in_a_second_gap_is_heard_although_the_read_of_the_first_one_ended_after_it() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    stage.advance(SECOND);
    let slow = Outage::failing(Fault::SlowAnswer { by: SECOND * 4 }).only(Call::History);
    stage.discord().begin_outage(slow);
    stage.call(|d| async move { d.reconnected().await }).unwrap();
    stage.advance(SECOND);
    stage.cut_gateway(true);
    stage.say("Hello");
    stage.cut_gateway(false);
    stage.call(|d| async move { d.reconnected().await }).unwrap();
    stage.advance(SECOND * 30);
    assert!(is_heard(&stage, "Hello"));
}
