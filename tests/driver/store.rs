//! The store is slow, fails, or belongs to another process now: nothing is lost, nothing doubled.

use std::time::Duration;

use dirigent::hooks::{RunId, RunReport};
use dirigent::snapshot::PhaseKind;
use dirigent::store::Durability;
use dirigent::{CallError, Clock, Mode};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage, StoreFault};

const SECOND: Duration = Duration::from_secs(1);

fn hosted() -> Setup {
    Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()])
}

fn a_whole_round(stage: &mut Stage) {
    stage.until_dormant();
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2"]);
    assert_eq!(stage.points().breaches(), [""; 0], "I2: write first, effect second");
}

/// I2
#[test]
fn nothing_is_done_before_it_is_stored() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 9));
    stage.say("Hello");
    stage.advance(SECOND * 8);
    assert_eq!(stage.words(), ["Hello"]);
    assert!(stage.agent("a").turns().is_empty());
    stage.advance(SECOND);
    a_whole_round(&mut stage);
}

/// As any other act of an operator: who reads that it was done could not know that it is lost.
#[test]
fn a_channel_is_woken_when_that_is_stored() {
    let mut stage = hosted().stage();
    stage.chat();
    let channel = stage.channel();
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 9));
    let woken = stage.begin(move |d| async move { d.channel(channel).wake(None).await });
    stage.advance(SECOND * 8);
    assert!(woken.take().is_none());
    stage.advance(SECOND);
    assert!(matches!(woken.take(), Some(Ok(()))));
}

#[test]
fn a_store_that_fails_is_asked_again_and_nothing_is_doubled() {
    for fault in [StoreFault::Fails, StoreFault::FailsInDoubt, StoreFault::LosesAnswer] {
        let mut stage = hosted().stage();
        stage.chat();
        for _ in 0..3 {
            stage.store().next_commit(fault);
        }
        stage.say("Hello");
        assert_eq!(stage.words(), ["Hello"], "{fault:?}");
        a_whole_round(&mut stage);
    }
}

#[test]
fn every_commit_may_lose_its_answer() {
    let mut stage = hosted().stage();
    stage.store().with_rate(StoreFault::LosesAnswer, 500, 3);
    stage.chat();
    stage.say("Hello");
    a_whole_round(&mut stage);
}

#[test]
fn a_commit_without_an_answer_is_given_up_and_made_again() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.store().next_commit(StoreFault::Hangs);
    stage.say("Hello");
    stage.advance(SECOND * 40);
    a_whole_round(&mut stage);
}

#[test]
fn facts_are_stored_for_good_before_the_call_returns() {
    let mut stage = hosted().stage();
    let channel = stage.channel();
    let set = stage.begin(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await });
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 3));
    stage.settle();
    assert!(set.take().is_none(), "it is not stored yet");
    stage.advance(SECOND * 3);
    assert!(set.take().unwrap().is_ok());
    let first = stage.store().commits()[0];
    assert_eq!(first.durability, Durability::Fact);
}

#[test]
fn a_fact_that_comes_while_a_commit_fails_is_still_stored_for_good() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND));
    stage.store().next_commit(StoreFault::Fails);
    stage.say("Hello");
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND));
    let channel = stage.channel();
    let before = stage.store().commits().len();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    let commits = stage.store().commits();
    assert!(commits[before..].iter().any(|commit| commit.durability == Durability::Fact));
}

/// F17
#[test]
fn a_call_does_not_wait_for_ever_for_the_store() {
    let mut stage = hosted().stage();
    let channel = stage.channel();
    stage.store().next_commit(StoreFault::Hangs);
    let began = stage.clock().now();
    let set = stage.call(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await });
    assert!(matches!(set, Err(CallError::NotStored)), "{set:?}");
    assert!(stage.clock().now().since(began) <= SECOND * 11);
}

#[test]
fn a_room_that_another_process_has_taken_is_let_go_and_read_anew() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let channel = stage.channel();
    stage.store().take_over(channel);
    let refused = stage.call(move |d| async move { d.channel(channel).stop().await });
    assert!(refused.is_err(), "it was not stored");
    assert_eq!(stage.status().unwrap().rest, None, "what is stored counts");
    stage.agent("a").then("a3");
    stage.say("Hello again");
    stage.until_dormant();
    assert!(stage.words().ends_with(&["Hello again".to_owned(), "a3".to_owned()]));
}

#[test]
fn a_run_in_a_room_that_was_taken_is_cancelled_and_disturbs_nothing() {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 20)])
        .hosted("b", [])
        .hooked("c", [])
        .stage();
    stage.chat();
    stage.say("Hello");
    let channel = stage.channel();
    stage.store().take_over(channel);
    stage.say("And?");
    assert!(stage.agent("a").turns()[0].cancelled);
    stage.advance(SECOND * 30);
    assert_eq!(stage.words(), ["Hello", "And?"], "the other process speaks for a now");
}

#[test]
fn a_permit_of_a_room_that_was_taken_disturbs_nothing() {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    let permit = stage.call(move |d| async move {
        d.channel(channel).wake(None).await.unwrap();
        d.channel(channel).may_speak(&"a".into(), Some(RunId::new(1))).await.unwrap()
    });
    stage.store().take_over(channel);
    assert!(stage.call(move |d| async move { d.channel(channel).stop().await }).is_err());
    let _ = permit.end(RunReport::Text("too late"));
    stage.advance(SECOND * 100);
    assert_ne!(stage.status().unwrap().phase, PhaseKind::Confirming);
}

#[test]
fn a_room_whose_store_fails_for_long_does_not_hold_up_the_others() {
    let mut stage = hosted().rooms(2).stage();
    stage.chat();
    let rooms = stage.rooms().to_vec();
    stage.store().next_commit(StoreFault::TakesSoLong(SECOND * 25));
    stage.say_in(rooms[0], "Hello");
    stage.say_in(rooms[1], "Hello");
    assert_eq!(stage.words_in(rooms[1]), ["Hello", "a1", "b1", "a2"]);
    stage.advance(SECOND * 30);
    assert_eq!(stage.words_in(rooms[0]), ["Hello", "a1", "b1", "a2"]);
}

#[test]
fn a_channel_that_is_slow_to_load_does_not_hold_up_the_others() {
    let mut stage = hosted().rooms(2).stage();
    stage.chat();
    stage.advance(SECOND * 60);
    let (slow, quick) = (stage.rooms()[0], stage.rooms()[1]);
    stage.store().slow_to_load(slow, SECOND * 5);
    let loads = stage.store().loads();
    let waiting: Vec<_> = (0..3)
        .map(|_| stage.begin(move |d| async move { d.channel(slow).wake(None).await }))
        .collect();
    let other = stage.begin(move |d| async move { d.channel(quick).status().await });
    stage.settle();
    assert!(other.take().unwrap().unwrap().is_some(), "it waits for nobody");
    assert!(waiting.iter().all(|call| call.take().is_none()));
    stage.advance(SECOND * 5);
    assert!(waiting.iter().all(|call| call.take().unwrap().is_ok()));
    assert_eq!(stage.store().loads() - loads, 2, "one room a channel");
}

/// F17
#[test]
fn however_many_call_a_channel_whose_load_hangs_each_returns_in_time() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.advance(SECOND * 60);
    let (slow, began) = (stage.channel(), stage.clock().now());
    stage.store().slow_to_load(slow, SECOND * 1_000_000);
    let deadline = dirigent::Settings::default().time_limits.call;
    let calls: Vec<_> = (0..10)
        .map(|number| {
            stage.begin(move |d| async move {
                match number % 3 {
                    0 => d.channel(slow).wake(None).await,
                    1 => d.channel(slow).status().await.map(|_| ()),
                    _ => d.channel(slow).set_mode(Mode::Chat).await.map(drop),
                }
            })
        })
        .collect();
    stage.settle();
    assert!(calls.iter().all(|call| call.take().is_none()), "the channel is not in memory");
    stage.advance(deadline);
    assert_eq!(stage.clock().now().since(began), deadline);
    for (number, call) in calls.iter().enumerate() {
        let answer = call.take();
        let answer = answer.unwrap_or_else(|| panic!("call {number} has not returned"));
        assert!(matches!(answer, Err(CallError::Failed(_))), "{number}: {answer:?}");
    }
}

/// Deaf to being cancelled, and slow.
struct Stubborn(dirigent_testkit::ManualClock);

#[async_trait::async_trait]
impl dirigent::Agent for Stubborn {
    async fn speak(&self, _turn: dirigent::Turn) -> Result<dirigent::Reply, dirigent::AgentError> {
        self.0.sleep_until(self.0.now() + SECOND * 1_000).await;
        Ok(dirigent::Reply::Pass)
    }
}

#[test]
fn a_channel_whose_stopped_run_ends_at_last_leaves_memory() {
    let mut stage = hosted().stage();
    stage.chat();
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    let account = std::sync::Arc::new(stage.discord().account(user));
    stage.dirigent().host("a", Stubborn(stage.clock().clone()), account);
    stage.say("Hello");
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.advance(SECOND * 1_001);
    let loads = stage.store().loads();
    assert!(stage.status().is_some());
    assert_eq!(stage.store().loads(), loads + 1, "it is read anew");
}

#[test]
fn a_commit_in_doubt_is_not_taken_for_another_processs() {
    let mut stage = hosted().stage();
    stage.chat();
    stage.store().next_commit(StoreFault::FailsInDoubt);
    stage.say("Hello");
    // Not ours is stored, another's is.
    stage.store().take_over(stage.channel());
    stage.advance(SECOND * 60);
    assert_eq!(stage.words(), ["Hello"], "the other process speaks now");
}
