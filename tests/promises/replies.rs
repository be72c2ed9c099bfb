//! P3, P20: a part of a reply that may stand in the channel is posted once, whatever else stands there and
//! however long it is not known.

use std::time::Duration;

use dirigent::operate::Cause;
use dirigent_testkit::memory_discord::{Call, Fault, Outage, PushFault};
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::kit::{MINUTE, SECOND};

/// How long the chat remembers a nonce here.
const NONCE: Duration = Duration::from_secs(120);

/// A room in which "a" says this and "b" says "b1", each once.
fn room(words: &str) -> Stage {
    let mut stage = Setup::new().hosted("a", [words.into()]).hosted("b", ["b1".into()]).stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    let _ = stage.discord().clone().with_nonce_window(NONCE);
    stage.chat();
    stage
}

/// The process is killed now, and started again after this time.
fn down(stage: &mut Stage, for_long: Duration) {
    stage.crash();
    stage.clock().advance(for_long);
}

fn count(stage: &Stage, words: &str) -> usize {
    stage.words().iter().filter(|said| said.as_str() == words).count()
}

/// P3
#[test]
fn a_part_that_landed_is_found_however_many_messages_stand_before_and_behind_it() {
    for (before, behind) in [(120, 0), (0, 120), (120, 120)] {
        let mut stage = room("a1");
        let (channel, person, a) = (stage.channel(), stage.person(), stage.agent("a").user());
        let others = |stage: &Stage, number: u32| {
            for number in 0..number {
                stage.discord().say(channel, person, format!("word {number}"));
            }
        };
        stage.discord().next_post(Fault::LandsLate { by: SECOND * 5 });
        stage.say("Hello");
        stage.discord().begin_outage(Outage::refused().of(a).only(Call::Post));
        // No event tells of the part, nor of what people say meanwhile.
        stage.cut_gateway(true);
        others(&stage, before);
        stage.advance(SECOND * 6);
        assert_eq!(count(&stage, "a1"), 1, "it landed");
        others(&stage, behind);
        stage.advance(SECOND * 124);
        stage.discord().end_outages();
        stage.advance(MINUTE);
        assert_eq!(count(&stage, "a1"), 1, "{before} before, {behind} behind");
        assert_eq!(count(&stage, "b1"), 1, "it was found");
    }
}

/// P3
#[test]
fn a_person_who_says_the_same_is_not_taken_for_the_agent() {
    let mut stage = room("Yes.");
    stage.discord().next_post(Fault::NotDelivered);
    stage.say("Hello");
    stage.crash();
    stage.discord().say(stage.channel(), stage.person(), "Yes.");
    stage.clock().advance(MINUTE * 5);
    stage.restart();
    stage.until_dormant();
    assert_eq!(count(&stage, "Yes."), 2, "the person's word and the agent's reply");
}

/// P20
#[test]
fn a_part_that_was_under_way_at_a_kill_is_not_posted_again_where_the_history_is_refused() {
    let mut stage = room("a1");
    stage.discord().next_post(Fault::SlowAnswer { by: SECOND * 8 });
    stage.say("Hello");
    assert_eq!(count(&stage, "a1"), 1, "it stands there, and no answer came");
    down(&mut stage, MINUTE * 5);
    let refused = Outage::failing(Fault::Forbidden).only(Call::History);
    stage.discord().begin_outage(refused);
    stage.restart();
    stage.until_dormant();
    stage.advance(MINUTE);
    assert_eq!(count(&stage, "a1"), 1);
    assert_eq!(count(&stage, "b1"), 1, "the room goes on");
}

/// P20
#[test]
fn a_part_that_was_under_way_at_a_kill_is_not_posted_again_where_the_history_is_hidden() {
    for is_posted in [true, false] {
        let mut stage = room("a1");
        let slow = SECOND * 8;
        stage.discord().next_post(if is_posted {
            Fault::SlowAnswer { by: slow }
        } else {
            Fault::SlowRequest { by: slow }
        });
        stage.say("Hello");
        down(&mut stage, MINUTE * 5);
        let (channel, moderator) = (stage.channel(), stage.moderator());
        stage.discord().channel(channel).set_history_hidden(moderator, is_posted);
        stage.restart();
        stage.until_dormant();
        stage.advance(MINUTE);
        assert_eq!(count(&stage, "a1"), 1, "it was posted before: {is_posted}");
        assert_eq!(count(&stage, "b1"), 1, "the room goes on");
    }
}

/// P20
#[test]
fn a_part_is_in_doubt_since_its_first_attempt_however_often_it_is_repeated() {
    for repeated in [Fault::NotDelivered, Fault::ServerErrorNotApplied] {
        let mut stage = room("a1");
        let a = stage.agent("a").user();
        stage.discord().next_post(Fault::LostAnswer);
        // No event tells of it.
        stage.discord().next_push(PushFault::Delayed { by: Duration::ZERO });
        stage.discord().next_push(PushFault::Dropped);
        stage.say("Hello");
        stage.discord().begin_outage(Outage::failing(repeated).of(a).only(Call::Post));
        stage.advance(MINUTE * 3);
        assert_eq!(stage.words(), ["Hello", "a1", "b1"], "{repeated:?}: it was not looked for");
        stage.discord().end_outages();
        stage.until_dormant();
        assert_eq!(stage.words(), ["Hello", "a1", "b1"], "{repeated:?}");
    }
}

/// P3
#[test]
fn a_part_leaves_once_it_is_stored_that_the_one_before_it_is_posted() {
    let mut stage = room(&["1", "2"].map(|part| part.repeat(2_000)).concat());
    stage.store().with_rate(StoreFault::TakesSoLong(SECOND * 4), 1_000, 1);
    stage.say("Hello");
    stage.until("the first part is posted", |stage| stage.words().len() == 2);
    stage.advance(SECOND * 3);
    assert_eq!(stage.words().len(), 2, "nothing is stored of the first part");
    stage.advance(SECOND * 2);
    assert_eq!(stage.words().len(), 3);
}

/// P3
#[test]
fn a_rate_limit_of_more_than_five_minutes_costs_the_reply_and_holds_no_turn() {
    for (limit, waits) in [(SECOND * 290, true), (SECOND * 310, false)] {
        let mut stage = room("a1");
        let a = stage.agent("a").user();
        let fault = Fault::RateLimited { retry_after: limit };
        stage.discord().inject(|faults| faults.next_by(a, Call::Post, fault));
        stage.say("Hello");
        stage.advance(SECOND * 30);
        assert_eq!(count(&stage, "b1") == 0, waits, "after 30 s of {limit:?}");
        stage.advance(MINUTE * 6);
        assert_eq!(count(&stage, "a1") == 1, waits, "after {limit:?}");
        assert_eq!(count(&stage, "b1"), 1, "after {limit:?}");
    }
}

/// P3
#[test]
fn a_reply_that_the_chat_refuses_is_no_silence() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
    stage.agents().for_each(dirigent_testkit::ScriptedAgent::say_once);
    stage.chat();
    let refused = Outage::failing(Fault::Forbidden).only(Call::Post);
    stage.discord().begin_outage(refused);
    stage.say("Hello");
    stage.until_dormant();
    let channel = stage.channel();
    let told = stage.call(move |d| async move { d.channel(channel).history().await }).unwrap();
    let causes: Vec<_> = told.iter().map(|event| event.transition.cause).collect();
    assert!(causes.ends_with(&[Cause::Undelivered, Cause::CycleBoundary, Cause::Unanswered]));
    assert!(!causes.contains(&Cause::Passed), "{causes:?}");
}
