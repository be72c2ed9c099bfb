//! P1: the connection to the gateway is lost while requests are answered: nobody is passed over, and who
//! did not hear its trigger is triggered again.

use std::time::Duration;

use dirigent::hooks::{RunId, RunReport};
use dirigent::operate::CreatedChannel;
use dirigent::snapshot::PhaseKind;
use dirigent::{ChannelId, Clock, Mode};
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{MILLI, MINUTE, RETURN, SECOND, is_heard, runs};

/// How long the newest message is waited for after a new session.
const NEWEST_WITHIN: Duration = Duration::from_secs(30);

/// How the library hears that the gateway is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Back {
    /// A new session: `reconnected()`.
    Reconnected,
    /// A new session that tells of newest messages: `newest_message()`.
    Newest,
    /// The old session: `resumed()`.
    Resumed,
    /// A new session: `session_began()`, and no newest message is told.
    Began,
}

fn hooked() -> Stage {
    let takes = MILLI * 900;
    let mut stage = Setup::new()
        .hooked("a", [Line::from("a1").taking(takes)])
        .hooked("b", [Line::from("b1").taking(takes)])
        .stage();
    stage.chat();
    stage
}

/// The gateway of the library and of all agents is lost.
fn cut(stage: &mut Stage) {
    stage.cut_gateway(true);
    stage.cut_agents_off(true);
    stage.dirigent().disconnected(0, |_| true);
    stage.settle();
}

fn restore(stage: &mut Stage, back: Back) {
    stage.cut_gateway(false);
    stage.cut_agents_off(false);
    let channel = stage.channel();
    match back {
        Back::Reconnected => stage.call(|d| async move { d.reconnected().await }).unwrap(),
        Back::Newest => {
            let newest = stage.discord().messages(channel).last().unwrap().id;
            stage.call(move |d| async move { d.newest_message(channel, newest).await }).unwrap();
        }
        Back::Resumed => stage.dirigent().resumed(0),
        Back::Began => stage.dirigent().session_began(0),
    }
    stage.settle();
}

/// P1
#[test]
fn who_did_not_hear_its_trigger_is_triggered_again_when_the_gateway_is_back() {
    for back in [Back::Reconnected, Back::Newest, Back::Resumed, Back::Began] {
        let waits = if back == Back::Began { NEWEST_WITHIN } else { Duration::ZERO };
        for lasts in [SECOND * 15, MINUTE, MINUTE * 10, MINUTE * 59, MINUTE * 90] {
            for moment in 0..12 {
                let place = format!("{back:?}, {lasts:?}, {} ms into a turn", 250 * moment);
                let mut stage = hooked();
                stage.say("Hello");
                stage.advance(MILLI * 250 * moment);
                cut(&mut stage);
                stage.advance(lasts);
                restore(&mut stage, back);
                let before = (stage.words().len(), stage.clock().now());
                if before.0 < 3 {
                    stage.until("somebody speaks", |stage| stage.words().len() > before.0);
                    let took = stage.clock().now().since(before.1);
                    assert!(took <= RETURN + waits, "{place}: {took:?}");
                }
                stage.until_dormant();
                stage.advance(MINUTE);
                assert_eq!(stage.words(), ["Hello", "a1", "b1"], "{place}");
            }
        }
    }
}

/// P1
#[test]
fn a_connection_that_is_lost_for_a_moment_repeats_no_trigger() {
    let mut stage = hooked();
    stage.cut_agents_off(true);
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(stage.discord().take_posts().len(), 1, "the trigger");
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(SECOND * 4);
    stage.dirigent().resumed(0);
    stage.advance(SECOND * 30);
    assert_eq!(stage.discord().take_posts().len(), 0, "it is triggered again");
}

/// P1
#[test]
fn an_agent_that_the_hosts_waker_called_is_not_called_again_because_of_a_lost_gateway() {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).direct().without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage.advance(SECOND);
    assert_eq!(stage.wake_calls().len(), 1);
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(MINUTE);
    stage.dirigent().resumed(0);
    stage.advance(SECOND * 30);
    assert_eq!(stage.wake_calls().len(), 1, "it has heard it");
}

/// The other process says nothing about the connections of this one.
#[test]
fn a_connection_that_is_lost_stays_so_when_another_process_tells_of_a_gap() {
    let mut stage = hooked();
    stage.say("Hello");
    cut(&mut stage);
    stage.advance(MINUTE);
    stage.call(|d| async move { d.reconnected_here().await }).unwrap();
    stage.advance(MINUTE * 10);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Granted, "no agent is passed over");
    stage.dirigent().resumed(0);
    stage.advance(MINUTE * 5);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "they do not answer");
}

/// P1
#[test]
fn channels_of_another_shard_are_not_concerned() {
    let mut stage = hooked();
    stage.cut_agents_off(true);
    stage.say("Hello");
    stage.advance(SECOND);
    let other = ChannelId::new(stage.channel().get() + 1);
    stage.dirigent().disconnected(0, move |channel| channel == other);
    stage.advance(MINUTE * 5);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "they did not begin in time");
}

/// P1
#[test]
fn a_channel_that_two_connections_tell_of_hears_again_when_both_stand() {
    let mut stage = hooked();
    stage.say("Hello");
    cut(&mut stage);
    stage.dirigent().disconnected(1, |_| true);
    stage.dirigent().disconnected(2, |_| false);
    stage.advance(MINUTE);
    stage.dirigent().resumed(1);
    stage.dirigent().resumed(2);
    stage.dirigent().resumed(7);
    stage.advance(MINUTE * 10);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Granted, "nobody is passed over");
    stage.dirigent().resumed(0);
    stage.advance(MINUTE * 5);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Dormant, "they do not answer");
}

/// P1
#[test]
fn a_channel_that_comes_into_memory_while_the_gateway_is_lost_begins_when_it_is_back() {
    for is_new in [true, false] {
        let place = format!("new: {is_new}");
        let mut stage = Setup::new().hooked("a", []).hooked("b", []).stage();
        if !is_new {
            stage.chat();
            stage.settle();
        }
        cut(&mut stage);
        stage.advance(MINUTE);
        if is_new {
            stage.chat();
        }
        let channel = stage.channel();
        stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
        stage.advance(MINUTE);
        assert!(stage.status().unwrap().chat_away_since.is_some(), "{place}");
        assert_eq!(stage.discord().take_posts().len(), 0, "{place}: nobody would hear it");
        stage.dirigent().resumed(0);
        stage.advance(SECOND * 5);
        assert_eq!(stage.status().unwrap().phase, PhaseKind::Granted, "{place}");
        assert_eq!(stage.discord().take_posts().len(), 1, "{place}: the trigger");
    }
}

/// P18
#[test]
fn what_people_say_while_the_gateway_is_lost_is_heard_and_a_stop_word_acts_within_half_a_minute() {
    let line = |text: &str| Line::from(text).taking(SECOND * 20);
    let lines = |name: &str| (0..20).map(|n| line(&format!("{name}{n}"))).collect::<Vec<_>>();
    let mut stage = Setup::new().hosted("a", lines("a")).hosted("b", lines("b")).stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 3);
    stage.cut_gateway(true);
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(MINUTE);
    stage.say("A question");
    stage.advance(MINUTE * 2);
    assert!(is_heard(&stage, "A question"));
    stage.say("stop");
    stage.advance(SECOND * 30);
    assert!(stage.status().unwrap().rest.is_some());
}

/// P1
#[test]
fn whoever_asks_is_told_that_the_gateway_is_lost() {
    let mut stage = hooked();
    stage.say("Hello");
    cut(&mut stage);
    stage.advance(SECOND * 44);
    let channel = stage.channel();
    let why =
        stage.call(move |d| async move { d.channel(channel).explain(&"b".into()).await }).unwrap();
    assert!(why.outage.as_ref().is_some_and(|outage| outage.gateway), "{why:?}");
    assert!(why.to_string().contains("The connection to the gateway has been lost for"), "{why}");
    assert!(stage.status().unwrap().chat_away_since.is_some());
    restore(&mut stage, Back::Resumed);
    let why =
        stage.call(move |d| async move { d.channel(channel).explain(&"b".into()).await }).unwrap();
    assert_eq!(why.outage, None);
}

/// A room whose agent "a" runs in another process, without an end.
fn running() -> Stage {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move {
        d.channel(channel).wake(Some(&"a".into())).await.unwrap();
        let permit = d.channel(channel).may_speak(&"a".into(), Some(RunId::new(1))).await.unwrap();
        permit.keep();
    });
    stage
}

fn ends(stage: &mut Stage, ending: RunReport<'static>) {
    let channel = stage.channel();
    let run = Some(RunId::new(1));
    stage
        .call(move |d| async move { d.channel(channel).turn_ended(&"a".into(), run, ending).await })
        .unwrap();
}

/// P1
#[test]
fn a_trigger_that_leaves_when_all_is_back_is_not_repeated() {
    let mut stage = running();
    let moderator = stage.moderator();
    stage.discord().begin_outage(Outage::refused().of(moderator));
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(SECOND);
    ends(&mut stage, RunReport::Pass);
    stage.advance(MINUTE);
    stage.discord().take_posts();
    stage.discord().end_outages();
    stage.dirigent().resumed(0);
    stage.advance(SECOND * 20);
    assert_eq!(stage.discord().take_posts().len(), 1);
}

/// P17
#[test]
fn a_piece_of_a_reply_that_was_read_while_the_gateway_is_lost_counts_as_one_that_was_pushed() {
    for waits in [SECOND, SECOND * 30] {
        let mut stage = running();
        let (channel, author) = (stage.channel(), stage.agent("a").user());
        stage.dirigent().disconnected(0, |_| true);
        stage.advance(SECOND * 2);
        let said = stage.discord().say(channel, author, "a1");
        let said = stage.discord().message(channel, said).unwrap();
        stage.advance(waits);
        stage.call(move |d| async move { d.message_created(said).await }).unwrap();
        stage.dirigent().resumed(0);
        ends(&mut stage, RunReport::Text("a1"));
        assert_eq!(stage.status().unwrap().speaker, Some("b".into()), "after {waits:?}");
    }
}

/// P1
#[test]
fn who_did_not_hear_its_trigger_is_triggered_again_after_a_restart() {
    let mut stage = hooked();
    stage.cut_gateway(true);
    stage.cut_agents_off(true);
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(MINUTE * 10);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Granted);
    stage.crash();
    stage.cut_gateway(false);
    stage.cut_agents_off(false);
    stage.restart();
    let began = stage.clock().now();
    stage.until("somebody speaks", |stage| !stage.words().is_empty());
    assert!(stage.clock().now().since(began) <= RETURN);
}

/// P1
#[test]
fn a_channel_that_is_given_a_mode_in_memory_while_the_gateway_is_lost_knows_it() {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).stage();
    cut(&mut stage);
    // It is in memory from its mode on, until the agents are known.
    let slow = Outage::failing(Fault::SlowAnswer { by: SECOND * 8 }).only(Call::Members);
    stage.discord().begin_outage(slow);
    let channel = stage.channel();
    stage.call(move |d| async move {
        d.channel(channel).set_mode(Mode::Chat).await.unwrap();
        d.channel(channel).wake(None).await.unwrap();
    });
    stage.advance(MINUTE * 10);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Granted, "nobody is passed over");
    assert!(stage.status().unwrap().chat_away_since.is_some());
}

/// P1
#[test]
fn a_channel_that_is_created_while_the_gateway_is_lost_knows_it() {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).stage();
    cut(&mut stage);
    let channel = stage.channel();
    let members = vec!["a".into(), "b".into()];
    let made = CreatedChannel { mode: Mode::Chat, members, ..CreatedChannel::default() };
    // It is in memory from its creation on, until that is stored.
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 8));
    let _created = stage.begin(move |d| async move { d.channel(channel).register(made).await });
    stage.advance(SECOND);
    let _woken = stage.begin(move |d| async move { d.channel(channel).wake(None).await });
    stage.advance(MINUTE * 10);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Granted, "its agent is waited for");
    assert!(stage.status().unwrap().chat_away_since.is_some());
}

/// P18
#[test]
fn after_a_new_session_what_was_missed_is_read_where_no_newest_message_is_told() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", []).stage();
    stage.chat();
    // Events of the room, which stays in memory.
    stage.say("stop");
    stage.say("resume");
    let channel = stage.channel();
    let _waits = stage.begin(move |d| async move {
        d.channel(channel).may_speak(&"a".into(), None).await.ok();
        std::future::pending::<()>().await;
    });
    cut(&mut stage);
    stage.advance(SECOND * 2);
    stage.say("Hello");
    restore(&mut stage, Back::Began);
    stage.advance(NEWEST_WITHIN + SECOND * 5);
    assert!(is_heard(&stage, "Hello"));
}

/// P18
#[test]
fn after_a_new_session_a_channel_that_is_not_in_memory_reads_what_was_missed() {
    for tells_newest in [false, true] {
        let mut stage = Setup::new()
            .hosted("a", ["a1".into()])
            .hosted("b", [])
            .settings(|settings| settings.time_limits.backfill = None)
            .stage();
        stage.chat();
        stage.say("Good morning");
        stage.until_dormant();
        // It leaves memory.
        stage.advance(MINUTE * 20);
        cut(&mut stage);
        stage.advance(SECOND * 2);
        stage.say("Hello");
        restore(&mut stage, Back::Began);
        if tells_newest {
            restore(&mut stage, Back::Newest);
        }
        let waits = if tells_newest { Duration::ZERO } else { NEWEST_WITHIN };
        stage.advance(waits + SECOND * 5);
        assert!(is_heard(&stage, "Hello"), "tells the newest message: {tells_newest}");
        stage.until_dormant();
        let reads = stage.discord().calls().of(Call::History);
        stage.advance(MINUTE * 2);
        assert_eq!(
            stage.discord().calls().of(Call::History),
            reads,
            "it is read twice: {tells_newest}"
        );
    }
}

/// P18
#[test]
fn when_the_gateway_is_back_a_call_still_waits_for_what_is_read_for_it() {
    let lines = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]);
    let mut stage = lines.stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.say("Good morning");
    stage.crash();
    stage.restart();
    stage.advance(MINUTE);
    let before = stage.discord().calls().of(Call::History);
    let turns = runs(&stage);
    stage.dirigent().disconnected(0, |_| true);
    let limited = Fault::RateLimited { retry_after: SECOND * 6 };
    stage.discord().begin_outage(Outage::failing(limited).only(Call::History));
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    stage.advance(SECOND * 31);
    assert!(stage.discord().calls().of(Call::History) > before, "it is read");
    assert_eq!(runs(&stage), turns, "nothing is heard");
    stage.dirigent().resumed(0);
    stage.advance(SECOND);
    assert_eq!(runs(&stage), turns, "called before it was read");
    stage.discord().end_outages();
    stage.advance(SECOND * 10);
    assert!(runs(&stage) > turns);
}

/// P1
#[test]
fn a_reconnect_ends_the_loss_for_channels_that_come_into_memory_afterwards() {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).without_pump().stage();
    stage.chat();
    stage.dirigent().disconnected(0, |_| true);
    stage.advance(MINUTE);
    stage.call(|d| async move { d.reconnected().await }).unwrap();
    stage.advance(MINUTE);
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
    stage.advance(SECOND * 8);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Granted);
    assert_eq!(stage.status().unwrap().chat_away_since, None);
}
