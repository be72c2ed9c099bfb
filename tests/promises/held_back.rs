//! A turn is not skipped, and a word is not lost, because something else fails.

use std::sync::Arc;
use std::time::Duration;

use dirigent::host::{Consultation, Orchestrator};
use dirigent::settings::{HumanInterrupt, HumanMarker, LostRuns};
use dirigent::snapshot::PhaseKind;
use dirigent::{Agent, AgentError, Clock as _, Reply, Turn};
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{HOUR, MINUTE, RETURN, SECOND, begin_run, is_heard};

/// P3
#[test]
fn no_agent_is_skipped_while_the_store_fails() {
    for (fault, is_hosted) in
        [StoreFault::Fails, StoreFault::Hangs].into_iter().flat_map(|f| [(f, true), (f, false)])
    {
        let setup = Setup::new();
        let setup = if is_hosted {
            setup.hosted("a", ["a1".into()]).hosted("b", ["b1".into()])
        } else {
            setup.hooked("a", ["a1".into()]).hooked("b", ["b1".into()])
        };
        let mut stage = setup.stage();
        stage.chat();
        stage.store().with_rate(fault, 1_000, 1);
        stage.say("Hello");
        stage.advance(MINUTE * 10);
        assert_eq!(stage.words(), ["Hello"], "{fault:?}, {is_hosted}");
        stage.store().stop_faults();
        stage.advance(RETURN + SECOND * 60);
        let mut words = stage.words();
        words.sort();
        assert_eq!(words, ["Hello", "a1", "b1"], "{fault:?}, {is_hosted}");
    }
}

/// P7
#[test]
fn a_notice_that_fails_delays_no_grant() {
    let mut stage = Setup::new()
        .hooked("a", [Act::Pass.into()])
        .hosted("b", ["b1".into()])
        .without_pump()
        .config(|config| (config.announce_timeouts, config.deadlines.retriggers) = (true, 0))
        .stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(Some(&"a".into())).await }).unwrap();
    // "a" has its trigger, and does not begin.
    stage.advance(SECOND * 5);
    let moderator = stage.moderator();
    let fails = Outage::failing(Fault::ServerErrorNotApplied).of(moderator).only(Call::Post);
    stage.discord().begin_outage(fails);
    let is_called = |stage: &Stage| !stage.agent("b").turns().is_empty();
    for _ in 0..120 {
        if stage.status().unwrap().speaker == Some("b".into()) {
            break;
        }
        stage.advance(SECOND);
    }
    stage.advance(SECOND * 3);
    assert!(is_called(&stage), "it waits behind the notice about \"a\"");
}

/// P7
#[test]
fn a_notice_that_fails_is_tried_for_two_minutes_and_then_given_up() {
    for (away, posted) in [(MINUTE, 1), (MINUTE * 3, 0)] {
        let mut stage = Setup::new()
            .hosted("a", [Act::Hang.into()])
            .hosted("b", [])
            .config(|config| config.announce_offline = true)
            .stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND);
        let (channel, moderator) = (stage.channel(), stage.moderator());
        let fails = Outage::failing(Fault::ServerErrorNotApplied).of(moderator).only(Call::Post);
        stage.discord().begin_outage(fails);
        stage.call(|d| async move { d.agent_offline(&"a".into()).await }).unwrap();
        stage.advance(away);
        assert_eq!(stage.moderation(channel), [""; 0]);
        stage.discord().end_outages();
        stage.advance(MINUTE * 10);
        assert_eq!(stage.moderation(channel).len(), posted, "after {away:?}");
    }
}

#[test]
fn a_call_does_not_wait_for_ever_for_words_that_cannot_be_read() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 5)])
        .hosted("b", ["b1".into()])
        .config(|config| config.people.human_interrupt = HumanInterrupt::Queue)
        // Nothing is remembered: it must be read again.
        .settings(|settings| settings.limits.texts_bytes_max = 0)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.say("And hurry");
    // The chat answers, and asks for more patience than the call has.
    let limited = Fault::RateLimited { retry_after: MINUTE };
    stage.discord().begin_outage(Outage::failing(limited).only(Call::History));
    stage.advance(SECOND * 5 + Duration::from_secs(12));
    assert_eq!(stage.agent("b").turns().len(), 1, "it is called without");
    stage.discord().end_outages();
    stage.advance(MINUTE * 2);
    assert!(is_heard(&stage, "And hurry"), "the next turn brings it");
}

/// P15
#[test]
fn a_kept_run_without_a_deadline_ends_ten_minutes_after_a_restart() {
    let mut stage = Setup::new()
        .hooked("a", [])
        .hooked("b", [])
        .without_pump()
        .settings(|settings| settings.hooks.lost_runs = LostRuns::Keep)
        .config(|config| config.deadlines.run = None)
        .stage();
    stage.chat();
    begin_run(&mut stage);
    stage.crash();
    stage.restart();
    stage.advance(MINUTE * 9);
    assert_eq!(stage.status().unwrap().speaker, Some("a".into()));
    stage.advance(MINUTE + SECOND * 5);
    assert_eq!(stage.status().unwrap().speaker, Some("b".into()));
}

/// An agent that asks for a person after five seconds, and takes no word that reaches it meanwhile.
struct Asks(dirigent_testkit::ManualClock);

#[async_trait::async_trait]
impl Agent for Asks {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        if turn.missed().iter().any(|message| &*message.content == "Blue") {
            return Ok("Blue it is".into());
        }
        self.0.sleep_until(self.0.now() + SECOND * 5).await;
        Ok("Red or blue? 👤".into())
    }
}

/// An agent that did not take every word passes them on.
#[test]
fn a_word_that_was_not_taken_wakes_a_channel_that_awaits_a_person() {
    let mut stage = Setup::new()
        .hosted("a", [])
        .hosted("b", [])
        .settings(|settings| settings.reading.human_marker = Some(HumanMarker::default()))
        .stage();
    let account = Arc::new(stage.discord().account(stage.agent("a").user()));
    stage.dirigent().host("a", Asks(stage.clock().clone()), account);
    stage.chat();
    stage.say("Paint it");
    stage.advance(SECOND);
    stage.say("Blue");
    stage.advance(MINUTE);
    assert!(is_heard(&stage, "Blue") || stage.words().contains(&"Blue it is".to_owned()));
}

/// What did not fit into its turn was said before it asked, and is no answer.
#[test]
fn a_channel_that_awaits_a_person_is_not_woken_by_the_rest_of_a_backlog() {
    let mut stage = Setup::new()
        .hosted("a", ["Red or blue? 👤".into()])
        .hosted("b", [])
        .settings(|settings| {
            settings.reading.human_marker = Some(HumanMarker::default());
            settings.limits.missed_max = 3;
        })
        .stage();
    stage.chat();
    super::kit::stop(&mut stage);
    for at in 0..10 {
        stage.say(&format!("Thing {at}"));
    }
    super::kit::resume(&mut stage);
    stage.advance(MINUTE * 10);
    assert_eq!((stage.agent("a").turns().len(), stage.agent("b").turns().len()), (1, 0));
    stage.say("Blue");
    stage.until_dormant();
    stage.advance(MINUTE);
    assert!(is_heard(&stage, "Thing 9") && is_heard(&stage, "Blue"));
}

/// Never answers.
struct Hangs;

#[async_trait::async_trait]
impl Orchestrator for Hangs {
    async fn answer(&self, _: Consultation) -> Result<Reply, AgentError> {
        std::future::pending().await
    }
}

/// P15
#[test]
fn a_kept_run_that_rested_at_the_restart_ends() {
    let mut stage = Setup::new()
        .hooked("a", [])
        .hooked("b", [])
        .without_pump()
        .settings(|settings| settings.hooks.lost_runs = LostRuns::Keep)
        .config(|config| {
            (config.deadlines.run, config.people.human_interrupt) =
                (None, HumanInterrupt::Interrupt);
        })
        .orchestrator(Hangs)
        .stage();
    stage.chat();
    begin_run(&mut stage);
    let (channel, said) = (stage.channel(), stage.say("A question"));
    let said = stage.discord().message(channel, said).unwrap();
    stage.call(move |d| async move { d.message_created(said).await }).unwrap();
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().phase, PhaseKind::Waiting);
    stage.crash();
    stage.restart();
    stage.advance(HOUR * 5);
    assert_ne!(stage.status().unwrap().speaker, Some("a".into()));
}

/// Many rooms in which "a" runs for this long; "c" runs in the host, and a notice says when it is offline.
fn talking(rooms: usize, takes: Duration) -> Stage {
    let lines = |name: &str| {
        (0..100).map(|n| Line::from(format!("{name}{n}")).taking(takes)).collect::<Vec<_>>()
    };
    let mut stage = Setup::new()
        .hosted("a", lines("a"))
        .hosted("b", lines("b"))
        .hooked("c", [])
        .rooms(rooms)
        .config(|config| config.announce_offline = true)
        .settings(|settings| settings.limits.calls_max = 100)
        .stage();
    stage.chat();
    for room in stage.rooms().to_vec() {
        stage.call(move |d| async move { d.channel(room).wake(Some(&"a".into())).await }).unwrap();
    }
    stage.advance(SECOND * 2);
    stage
}

/// P3
#[test]
fn a_notice_that_waits_for_the_moderators_account_lets_replies_of_others_pass() {
    let mut stage = talking(8, SECOND * 20);
    let moderator = stage.moderator();
    stage.discord().begin_outage(Outage::refused().of(moderator));
    // Reads that fail: the account is known to be away before there is a notice.
    stage.call(|d| async move { d.reconnected().await }).unwrap();
    stage.advance(SECOND * 2);
    stage.call(|d| async move { d.agent_offline(&"c".into()).await }).unwrap();
    stage.advance(SECOND * 23);
    for room in stage.rooms() {
        assert!(!stage.words_in(*room).is_empty());
    }
}

/// P1
#[test]
fn what_is_not_asked_any_more_does_not_keep_an_account_from_finding_out_that_the_chat_is_back() {
    let mut stage = talking(16, SECOND * 14);
    let moderator = stage.moderator();
    stage.discord().begin_outage(Outage::hanging().of(moderator));
    stage.call(|d| async move { d.agent_offline(&"c".into()).await }).unwrap();
    stage.advance(MINUTE);
    let rooms = stage.rooms().to_vec();
    let is_away = |stage: &mut Stage| {
        rooms.iter().any(|room| stage.status_of(*room).unwrap().chat_away_since.is_some())
    };
    assert!(is_away(&mut stage), "no room has noticed the outage");
    stage.discord().end_outages();
    let began = stage.clock().now();
    stage.until("the chat is back everywhere", |stage| !is_away(stage));
    assert!(stage.clock().now().since(began) <= RETURN);
}

/// A word that cannot be handed to any agent wakes a channel once, however often the channel is looked at.
#[test]
fn a_word_that_nobody_can_take_does_not_wake_a_channel_again_and_again() {
    let backfill = Some(MINUTE * 5);
    let mut stage = Setup::new()
        .hooked("a", [Line::from("a1").taking(SECOND * 10)])
        .hooked("b", [])
        .settings(|settings| settings.time_limits.backfill = backfill)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 3);
    let (channel, moderator) = (stage.channel(), stage.moderator());
    stage.discord().channel(channel).set_read_only(moderator, true);
    stage.say("And this?");
    stage.advance(HOUR);
    let posts = stage.discord().calls().of(Call::Post);
    stage.advance(HOUR * 3);
    assert_eq!(stage.discord().calls().of(Call::Post), posts);
}

/// P1
#[test]
fn a_room_taken_over_keeps_no_account_from_finding_out_that_the_chat_is_back() {
    let mut stage = talking(40, SECOND * 10);
    let a = stage.agent("a").user();
    stage.discord().begin_outage(Outage::refused().of(a));
    stage.advance(MINUTE);
    let rooms = stage.rooms().to_vec();
    let (last, others) = rooms.split_last().unwrap();
    for room in others {
        stage.store().take_over(*room);
        let room = *room;
        let _stopped = stage.begin(move |d| async move { d.channel(room).stop().await });
    }
    stage.advance(SECOND * 5);
    stage.discord().end_outages();
    stage.advance(RETURN);
    assert!(!stage.words_in(*last).is_empty(), "it is behind what nobody asks for any more");
}

/// P3
#[test]
fn a_rate_limit_on_reading_does_not_count_as_a_chat_that_is_away() {
    let mut stage = Setup::new()
        .hooked("a", ["a1".into()])
        .hooked("b", ["b1".into()])
        .post_delay(MINUTE * 2)
        .stage();
    stage.chat();
    stage.say("Hello");
    let limited = Fault::RateLimited { retry_after: MINUTE };
    stage.discord().begin_outage(Outage::failing(limited).only(Call::History));
    let reads = stage.discord().calls().of(Call::History);
    stage.advance(SECOND * 10);
    assert!(stage.discord().calls().of(Call::History) > reads, "the channel is polled");
    assert_eq!(stage.status().unwrap().chat_away_since, None, "posts are taken");
}

/// P7
#[test]
fn a_chat_that_asks_for_no_wait_at_all_is_given_a_moment() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    let limited = Fault::RateLimited { retry_after: Duration::ZERO };
    let a = stage.agent("a").user();
    stage.discord().begin_outage(Outage::failing(limited).of(a).only(Call::Post));
    stage.say("Hello");
    stage.advance(SECOND * 30);
    let attempts = stage.discord().calls().of(Call::Post);
    assert!(attempts <= 30 * 20 + 10, "{attempts} attempts in 30 s");
    stage.discord().end_outages();
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
}
