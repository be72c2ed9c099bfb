//! A person's word whose event was lost, overtaken or could not be taken in wakes the room all the same, also
//! where it was the first one of its channel.

use std::time::Duration;

use dirigent::{Settings, UserId};
use dirigent_testkit::memory_discord::{Outage, PushFault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, MINUTE, SECOND, is_heard, runs};

/// A chat with two agents that say nothing.
fn silent() -> Setup {
    Setup::new().hosted("a", []).hosted("b", [])
}

/// A chat in which nothing was ever said.
fn unspoken(setup: Setup) -> Stage {
    let mut stage = setup.stage();
    stage.chat();
    stage.advance(MINUTE);
    stage
}

/// A chat in which something was said, and that is silent now.
fn spoken(setup: Setup) -> Stage {
    let mut stage = setup.stage();
    stage.chat();
    stage.say("Hi");
    stage.until_dormant();
    stage.advance(SECOND * 20);
    stage
}

/// A bot that is no agent, in the channel.
fn guest(stage: &Stage) -> UserId {
    let bot = stage.discord().add_bot();
    stage.discord().guild(stage.guild()).add_member(bot);
    stage.discord().join(stage.channel(), bot);
    bot
}

/// The process that was killed comes back after a while, and takes its time.
fn restart_after(stage: &mut Stage, pause: Duration) {
    stage.clock().advance(pause);
    stage.restart();
    stage.advance(MINUTE * 5);
}

fn reconnected(stage: &mut Stage) {
    stage.call(|d| async move { d.reconnected().await }).unwrap();
}

/// What is stored while a gap is open says from where it is read.
#[test]
fn the_first_word_of_a_channel_is_heard_although_the_process_is_killed_before_it_was_read() {
    for seconds in [0, 4, 8, 60] {
        let mut stage = unspoken(silent());
        stage.cut_gateway(true);
        stage.say("Hello");
        stage.discord().begin_outage(Outage::refused());
        stage.advance(SECOND * 2);
        stage.cut_gateway(false);
        reconnected(&mut stage);
        stage.advance(SECOND * seconds);
        stage.crash();
        stage.discord().end_outages();
        restart_after(&mut stage, SECOND);
        assert!(is_heard(&stage, "Hello"), "killed after {seconds} s");
    }
}

/// Where a conversation began is stored, not when something was stored last.
#[test]
fn the_first_word_of_a_channel_is_heard_after_a_restart_although_something_was_stored_since() {
    for mutes in [false, true] {
        let mut stage = unspoken(silent().hosted("c", []));
        stage.cut_gateway(true);
        stage.say("Hello");
        stage.advance(SECOND * 10);
        let channel = stage.channel();
        if mutes {
            stage.call(move |d| async move { d.channel(channel).mute(&"c".into()).await }).unwrap();
        } else {
            stage.call(|d| async move { d.agent_offline(&"c".into()).await }).unwrap();
        }
        stage.crash();
        stage.cut_gateway(false);
        restart_after(&mut stage, SECOND);
        assert!(is_heard(&stage, "Hello"), "an agent was muted: {mutes}");
    }
}

/// A gap is read from where the conversation began, whatever was heard since.
#[test]
fn the_first_word_of_a_channel_whose_event_was_lost_is_read_with_the_next_gap() {
    for killed in [false, true] {
        let passes = Line::from(Act::Pass).taking(MINUTE);
        let mut stage = unspoken(Setup::new().hosted("a", [passes]).hosted("b", []));
        stage.discord().next_push(PushFault::Dropped);
        stage.say("A question");
        stage.say("ok");
        stage.advance(SECOND);
        if killed {
            stage.crash();
            stage.restart();
        } else {
            reconnected(&mut stage);
        }
        stage.advance(MINUTE * 5);
        assert!(is_heard(&stage, "A question"), "killed: {killed}");
    }
}

/// Up to where the channel was read is stored.
#[test]
fn a_word_whose_event_was_lost_without_notice_is_read_after_a_restart() {
    for by_person in [false, true] {
        let mut stage = spoken(silent());
        stage.discord().next_push(PushFault::Dropped);
        stage.say("A question");
        if by_person {
            stage.say("ok");
        } else {
            let bot = guest(&stage);
            stage.discord().say(stage.channel(), bot, "by the way");
        }
        stage.advance(SECOND * 2);
        stage.crash();
        restart_after(&mut stage, SECOND);
        assert!(is_heard(&stage, "A question"), "a person's word came after it: {by_person}");
    }
}

/// A word that was heard, but after a newer one, is no different.
#[test]
fn a_word_that_is_overtaken_on_its_way_is_read_after_a_restart() {
    let mut stage = spoken(silent());
    stage.discord().next_push(PushFault::Delayed { by: SECOND * 2 });
    stage.say("A question");
    stage.say("ok");
    stage.advance(SECOND);
    stage.crash();
    restart_after(&mut stage, SECOND);
    assert!(is_heard(&stage, "A question"));
}

/// What is read again after a restart was heard.
#[test]
fn a_word_that_was_answered_wakes_nobody_after_a_restart() {
    let mut stage = unspoken(silent());
    for word in ["Hi", "A question", "ok"] {
        stage.say(word);
        stage.until_dormant();
    }
    let before = runs(&stage);
    for pause in [SECOND, MINUTE * 5, MINUTE * 6, MINUTE] {
        stage.crash();
        restart_after(&mut stage, pause);
    }
    assert_eq!(runs(&stage), before);
}

/// A channel is looked at before it forgets which messages it heard.
#[test]
fn a_word_whose_event_was_lost_is_found_before_the_channel_leaves_memory() {
    for every in [MINUTE * 5, MINUTE * 10, MINUTE * 12] {
        let backfill = Some(every);
        let mut stage =
            spoken(silent().settings(move |settings| settings.time_limits.backfill = backfill));
        let before = runs(&stage);
        stage.discord().next_push(PushFault::Dropped);
        stage.say("A question");
        let bot = guest(&stage);
        stage.discord().say(stage.channel(), bot, "by the way");
        stage.advance(MINUTE * 12);
        assert!(is_heard(&stage, "A question"), "looked at every {every:?}");
        let woken = runs(&stage) - before;
        stage.advance(HOUR);
        assert_eq!(runs(&stage) - before, woken, "looked at every {every:?}: once");
    }
}

/// A message that cannot be taken in is caught up with once its channel can be loaded.
#[test]
fn a_word_pushed_while_its_channel_cannot_be_loaded_is_answered_soon_after_it_can() {
    let backfill = Settings::default().time_limits.backfill;
    let mut stage =
        spoken(silent().settings(move |settings| settings.time_limits.backfill = backfill));
    stage.advance(HOUR * 2);
    let channel = stage.channel();
    stage.store().slow_to_load(channel, SECOND * 12);
    stage.say("Hello");
    stage.advance(SECOND * 15);
    stage.store().stop_faults();
    stage.advance(SECOND * 30);
    assert!(is_heard(&stage, "Hello"));
}

/// A process that was up has not heard a word for as long as an outage may last.
#[test]
fn a_word_said_while_the_network_was_away_for_less_than_an_hour_is_answered() {
    for away in [MINUTE * 10, MINUTE * 20, MINUTE * 50] {
        let mut stage = unspoken(silent());
        stage.dirigent().disconnected(0, |_| true);
        stage.cut_gateway(true);
        stage.discord().begin_outage(Outage::refused());
        stage.advance(SECOND * 10);
        stage.say("Hello");
        stage.advance(away);
        stage.discord().end_outages();
        stage.cut_gateway(false);
        reconnected(&mut stage);
        stage.advance(MINUTE);
        assert!(is_heard(&stage, "Hello"), "away for {away:?}");
    }
}

/// How the library learns that something may have been said in a channel in which nothing was heard yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Learns {
    Restart,
    Reconnected,
    NewSession,
    Looks,
}

/// The first read of a channel begins where its conversation began, and not with its newest messages.
#[test]
fn a_stop_word_is_heard_at_every_place_of_the_first_backlog_of_a_channel() {
    for how in [Learns::Restart, Learns::Reconnected, Learns::NewSession, Learns::Looks] {
        for place in [0, 20, 31, 129] {
            let backfill = Some(MINUTE * 5);
            let setup = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]);
            let mut stage =
                unspoken(setup.settings(move |settings| settings.time_limits.backfill = backfill));
            stage.cut_gateway(true);
            match how {
                Learns::Restart => stage.crash(),
                Learns::NewSession => stage.dirigent().disconnected(0, |_| true),
                Learns::Reconnected | Learns::Looks => {}
            }
            for number in 0..130 {
                let word = if number == place { "stop".into() } else { format!("word {number}") };
                stage.discord().say(stage.channel(), stage.person(), word);
            }
            stage.settle();
            stage.cut_gateway(false);
            match how {
                Learns::Restart => stage.restart(),
                Learns::NewSession => stage.dirigent().session_began(0),
                Learns::Reconnected => reconnected(&mut stage),
                Learns::Looks => {}
            }
            stage.advance(MINUTE * 15);
            assert!(stage.status().unwrap().rest.is_some(), "{how:?}, place {place}");
        }
    }
}
