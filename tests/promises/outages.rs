//! P3: a reply that an agent has made is never lost to an outage shorter than an hour.

use std::time::Duration;

use dirigent::Clock;
use dirigent::operate::Explanation;
use dirigent::settings::HumanInterrupt;
use dirigent::snapshot::PhaseKind;
use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, Halt, MILLI, MINUTE, RETURN, SECOND, late_answers, resume, runs, stop};

/// From one moment of a turn to the next.
const STEP: Duration = Duration::from_millis(250);
/// After this number of steps the story below is over.
const MOMENTS: u32 = 22;

/// How the chat is away.
#[derive(Clone, Copy, Debug)]
enum Away {
    Refused,
    Hanging,
    AnswersLost,
    LandsLate,
}

const AWAY: [Away; 4] = [Away::Refused, Away::Hanging, Away::AnswersLost, Away::LandsLate];

impl Away {
    fn begin(self, stage: &Stage) {
        let outage = match self {
            Self::Refused => Outage::refused(),
            Self::Hanging => Outage::hanging(),
            Self::AnswersLost => Outage::failing(Fault::LostAnswer),
            Self::LandsLate => Outage::failing(Fault::LandsLate { by: SECOND * 20 }),
        };
        stage.discord().begin_outage(outage);
    }
}

/// Every post takes a while, so that an outage may begin in the midst of one.
fn slow_posts(stage: &Stage) {
    let slow = Fault::SlowRequest { by: MILLI * 400 };
    stage.discord().begin_outage(Outage::failing(slow).only(Call::Post));
}

/// Two hosted agents; "a" has two parts to say, "b" one. "Hello" has just been said.
fn story() -> Stage {
    let long = ["1", "2"].map(|part| part.repeat(2_000)).concat();
    let takes = MILLI * 900;
    let mut stage = Setup::new()
        .hosted("a", [Line::from(long).taking(takes)])
        .hosted("b", [Line::from("b1").taking(takes)])
        .stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    slow_posts(&stage);
    stage.say("Hello");
    stage
}

fn whole() -> [String; 4] {
    ["Hello".to_owned(), "1".repeat(2_000), "2".repeat(2_000), "b1".to_owned()]
}

#[track_caller]
fn a_reply_survives(outage: Duration, away: Away) {
    for moment in 0..MOMENTS {
        let place = format!("{away:?} for {outage:?}, {} ms into a turn", 250 * moment);
        let mut stage = story();
        stage.advance(STEP * moment);
        let before = stage.words().len();
        away.begin(&stage);
        stage.advance(outage);
        if before < whole().len() {
            let phase = stage.status().unwrap().phase;
            assert_ne!(phase, PhaseKind::Dormant, "{place}: it gave up");
        }
        let after = stage.words().len();
        stage.discord().end_outages();
        slow_posts(&stage);
        stage.advance(RETURN);
        // Each outage is longer than a model takes: a reply waits.
        if after < whole().len() {
            assert!(stage.words().len() > after, "{place}: nothing went out after the return");
        }
        stage.until_dormant();
        stage.advance(MINUTE);
        assert_eq!(stage.words(), whole(), "{place}");
        assert_eq!(stage.points().breaches(), [""; 0], "{place}");
    }
}

/// P3
#[test]
fn a_reply_outlasts_an_outage_of_15_seconds_at_each_moment_of_a_turn() {
    for away in AWAY {
        a_reply_survives(SECOND * 15, away);
    }
}

/// P3
#[test]
fn a_reply_outlasts_an_outage_of_a_minute_at_each_moment_of_a_turn() {
    for away in AWAY {
        a_reply_survives(MINUTE, away);
    }
}

/// P3
#[test]
fn a_reply_outlasts_an_outage_of_10_minutes_at_each_moment_of_a_turn() {
    for away in [Away::Refused, Away::Hanging] {
        a_reply_survives(MINUTE * 10, away);
    }
}

/// P3
#[test]
fn a_reply_outlasts_an_outage_of_59_minutes_at_each_moment_of_a_turn() {
    for away in [Away::Refused, Away::Hanging] {
        a_reply_survives(MINUTE * 59, away);
    }
}

/// P3
#[test]
fn a_reply_outlasts_an_outage_and_a_restart_within_it() {
    for away in AWAY {
        for moment in 4..MOMENTS {
            let place = format!("{away:?}, {} ms into a turn", 250 * moment);
            let mut stage = story();
            stage.advance(STEP * moment);
            away.begin(&stage);
            stage.advance(SECOND * 20);
            stage.crash();
            stage.clock().advance(SECOND);
            stage.restart();
            stage.advance(SECOND * 20);
            stage.discord().end_outages();
            stage.until_dormant();
            stage.advance(MINUTE);
            // A model that was running when the process was killed is lost; a reply is not.
            let words = stage.words();
            let [hello, first, second, b1] = whole();
            assert_eq!(&words[..3], [hello, first, second], "{place}");
            assert!(words.len() < 5, "{place}: {} posts", words.len());
            assert!(words.iter().all(|word| word.len() > 5 || *word == b1 || word == "Hello"));
        }
    }
}

/// A room whose agent "a" made a reply when the chat was already away.
fn undelivered(outage: Outage) -> Stage {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND)])
        .hosted("b", ["b1".into()])
        .stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    stage.say("Hello");
    stage.discord().begin_outage(outage);
    stage.advance(SECOND * 5);
    assert_eq!(stage.words(), ["Hello"]);
    stage
}

/// P3
#[test]
fn a_reply_that_waits_keeps_the_floor_and_is_no_silence() {
    let mut stage = undelivered(Outage::refused());
    for _ in 0..50 {
        stage.advance(MINUTE);
        let status = stage.status().unwrap();
        assert_eq!(status.speaker, Some("a".into()), "{status:?}");
        assert_eq!(stage.agent("b").turns().len(), 0, "the next agent would speak before it");
    }
}

/// P3
#[test]
fn after_an_outage_of_more_than_an_hour_the_text_is_handed_back_and_no_model_ran_meanwhile() {
    for outage in [Outage::refused(), Outage::hanging()] {
        let mut stage = undelivered(outage);
        stage.advance(HOUR * 2);
        assert_eq!(runs(&stage), 1, "only the run that made the reply");
        stage.discord().end_outages();
        stage.advance(MINUTE);
        stage.say("Again");
        stage.until_dormant();
        stage.advance(MINUTE);
        assert_eq!(late_answers(&stage, "a"), ["a1"]);
        assert!(!stage.words().contains(&"a1".to_owned()), "handed back, and posted");
    }
}

/// P3
#[test]
fn a_room_that_gave_up_in_an_outage_goes_on_by_itself_when_the_chat_returns() {
    let mut stage = undelivered(Outage::refused());
    stage.advance(HOUR * 2);
    stage.discord().end_outages();
    stage.advance(RETURN);
    assert!(stage.words().contains(&"b1".to_owned()), "{:?}", stage.words());
}

/// P3
#[test]
fn a_stop_during_an_outage_withdraws_the_reply_and_hands_it_back() {
    for outage in [Outage::refused(), Outage::hanging()] {
        let mut stage = undelivered(outage);
        stage.advance(SECOND * 20);
        stop(&mut stage);
        // A request that had left may still arrive until it is given up.
        stage.advance(SECOND * 15);
        stage.discord().end_outages();
        stage.advance(MINUTE * 5);
        assert_eq!(stage.words(), ["Hello"], "it was stopped");
        resume(&mut stage);
        stage.say("Again");
        stage.until_dormant();
        stage.advance(MINUTE);
        assert_eq!(late_answers(&stage, "a"), ["a1"]);
        assert!(!stage.words().contains(&"a1".to_owned()));
    }
}

/// P3
#[test]
fn a_hold_during_an_outage_keeps_the_reply_until_the_resume() {
    for outage in [Outage::refused(), Outage::hanging()] {
        let mut stage = undelivered(outage);
        stage.advance(SECOND * 20);
        Halt::Hold.act(&mut stage);
        // A request that had left may still arrive until it is given up.
        stage.advance(SECOND * 15);
        stage.discord().end_outages();
        stage.advance(HOUR * 3);
        assert_eq!(stage.words(), ["Hello"], "it is on hold");
        resume(&mut stage);
        stage.advance(RETURN);
        assert_eq!(stage.words()[..2], ["Hello", "a1"]);
        stage.until_dormant();
        assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
    }
}

/// P3
#[test]
fn an_outage_of_one_account_keeps_its_reply_only() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND)])
        .hosted("b", ["b1".into()])
        .rooms(2)
        .stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    let (other, a) = (stage.rooms()[1], stage.agent("a").user());
    stage.discord().begin_outage(Outage::refused().of(a));
    stage.say("Hello");
    stage.advance(SECOND * 5);
    stage.call(move |d| async move { d.channel(other).wake(Some(&"b".into())).await }).unwrap();
    stage.advance(MINUTE);
    assert_eq!(stage.words_in(other), ["b1"], "another account, another room");
    stage.discord().end_outages();
    stage.advance(RETURN);
    assert!(stage.words().contains(&"a1".to_owned()));
}

/// P3
#[test]
fn agents_of_the_host_are_triggered_after_an_outage_and_none_is_passed_over() {
    for outage in [SECOND * 15, MINUTE, MINUTE * 10, MINUTE * 59] {
        for moment in 0..12 {
            let place = format!("{outage:?}, {} ms into a turn", 250 * moment);
            let takes = MILLI * 900;
            let mut stage = Setup::new()
                .hooked("a", [Line::from("a1").taking(takes)])
                .hooked("b", [Line::from("b1").taking(takes)])
                .stage();
            stage.chat();
            stage.say("Hello");
            stage.advance(STEP * moment);
            let moderator = stage.moderator();
            stage.discord().begin_outage(Outage::refused().of(moderator));
            stage.advance(outage);
            stage.discord().end_outages();
            let before = (stage.words().len(), stage.clock().now());
            if before.0 < 3 {
                stage.until("somebody speaks", |stage| stage.words().len() > before.0);
                let took = stage.clock().now().since(before.1);
                assert!(took <= RETURN, "{place}: {took:?}");
            }
            stage.until_dormant();
            stage.advance(MINUTE);
            assert_eq!(stage.words(), ["Hello", "a1", "b1"], "{place}");
        }
    }
}

fn explained(stage: &mut Stage, name: &'static str) -> Explanation {
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).explain(&name.into()).await }).unwrap()
}

/// P3
#[test]
fn whoever_asks_is_told_whose_reply_waits_for_the_chat_since_when_and_for_how_long() {
    let mut stage = undelivered(Outage::refused());
    stage.advance(SECOND * 56);
    let status = stage.status().unwrap();
    assert_eq!(status.waiting_reply, Some("a".into()));
    assert!(status.chat_away_since.is_some());
    let why = explained(&mut stage, "b");
    let outage = why.outage.clone().unwrap();
    assert_eq!(outage.reply_of, Some("a".into()));
    assert_eq!(outage.silent_for, MINUTE, "{why}");
    let given_up_in = outage.given_up_in.unwrap();
    assert!(given_up_in > MINUTE * 58 && given_up_in <= HOUR, "{why}");
    let said = why.to_string();
    let words =
        "The reply of a waits for the chat, which has not answered for 60 seconds; it is given up";
    assert!(said.contains(words), "{said}");
    stage.discord().end_outages();
    stage.advance(RETURN);
    assert_eq!(stage.status().unwrap().waiting_reply, None);
    assert_eq!(explained(&mut stage, "b").outage, None);
}

/// P3
#[test]
fn whoever_asks_is_told_that_a_permitted_run_waits_for_a_free_place() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(MINUTE), Line::from("a2").taking(MINUTE)])
        .hosted("b", [])
        .rooms(2)
        .settings(|settings| settings.limits.calls_max = 1)
        .stage();
    stage.chat();
    let [first, second] = stage.rooms() else { panic!("two rooms") };
    let (first, second) = (*first, *second);
    for room in [first, second] {
        stage.call(move |d| async move { d.channel(room).wake(Some(&"a".into())).await }).unwrap();
    }
    stage.advance(SECOND);
    let mut waits = |room| {
        stage
            .call(move |d| async move { d.channel(room).explain(&"a".into()).await })
            .unwrap()
            .waits_for_call
    };
    assert_eq!((waits(first), waits(second)), (false, true));
}

/// A reply that was made when the chat was away, on hold for longer than a reply waits.
fn held_for_long(away: Duration) -> Stage {
    let mut stage = undelivered(Outage::refused());
    stage.advance(SECOND * 20);
    Halt::Hold.act(&mut stage);
    stage.advance(away);
    stage.discord().end_outages();
    stage.advance(HOUR * 3);
    stage
}

#[test]
fn a_reply_that_waited_through_a_long_hold_leaves_when_a_person_resumes() {
    for away in [MINUTE, HOUR * 3] {
        let mut stage = held_for_long(away);
        stage.say("resume");
        stage.until_dormant();
        assert_eq!(stage.words(), ["Hello", "resume", "a1", "b1"], "away for {away:?}");
    }
}

#[test]
fn the_time_that_a_process_was_down_is_no_time_that_a_reply_waited() {
    let mut stage = undelivered(Outage::refused());
    stage.advance(SECOND * 5);
    stage.crash();
    stage.discord().end_outages();
    stage.clock().advance(HOUR * 2);
    stage.restart();
    stage.advance(RETURN);
    assert_eq!(stage.words()[..2], ["Hello", "a1"]);
}

/// Two hosted agents whose channel is in the store, of an earlier process, and stopped, with a word that no agent was handed.
fn forgotten() -> Stage {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.say("Good morning");
    stage.crash();
    stage.restart();
    stage.advance(MINUTE);
    stage
}

/// P3
#[test]
fn an_agent_whose_channel_cannot_be_read_is_called_once_the_chat_is_back() {
    let [refused, hanging] = [Outage::refused(), Outage::hanging()];
    let history_only = [refused.clone(), hanging.clone()].map(|it| it.only(Call::History));
    for outage in [refused, hanging].into_iter().chain(history_only) {
        let mut stage = forgotten();
        let before = runs(&stage);
        let turns_before = stage.agent("a").turns().len();
        stage.discord().begin_outage(outage);
        let channel = stage.channel();
        stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
        stage.say("A question");
        stage.advance(MINUTE * 10);
        assert_eq!(runs(&stage), before, "a model is called while the chat is known to be away");
        stage.discord().end_outages();
        stage.advance(RETURN);
        let turn = stage.agent("a").turns().into_iter().nth(turns_before).unwrap();
        assert_eq!(turn.missed, ["Good morning", "A question"]);
    }
}

/// P18
#[test]
fn words_that_an_agent_is_to_be_handed_are_read_for_it_after_an_outage() {
    let line = |text: &str| Line::from(text).taking(SECOND * 20);
    let mut stage = Setup::new()
        .hosted("a", [line("a1"), line("a2")])
        .hosted("b", [line("b1"), line("b2")])
        .config(|config| config.people.human_interrupt = HumanInterrupt::Queue)
        .settings(|settings| settings.limits.texts_bytes_max = 0)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    let words: Vec<_> = (0..12).map(|number| format!("more {number}")).collect();
    for word in &words {
        stage.say(word);
    }
    let before = runs(&stage);
    stage.discord().begin_outage(Outage::refused().only(Call::History));
    stage.advance(MINUTE * 10);
    assert_eq!(runs(&stage), before, "a model is called while the chat is known to be away");
    stage.discord().end_outages();
    stage.advance(RETURN);
    let next = stage.agents().flat_map(dirigent_testkit::ScriptedAgent::turns);
    let handed = next.filter(|turn| words.iter().all(|word| turn.missed.contains(word))).count();
    assert_eq!(handed, 2, "each agent is handed what was said, once");
}
