//! What waits goes on as soon as it can, and waits for nothing else.

use dirigent::CallError;
use dirigent::operate::ResultPost;
use dirigent::operate::Summary;
use dirigent::snapshot::PhaseKind;
use dirigent_testkit::memory_discord::{Call, Fault, PushFault};
use dirigent_verify::stage::{Setup, Stage, StoreFault};

use super::{
    GUIDE, MINUTE, OutboxKind, SECOND, conclude, hosted, open, open_with, outbox, places, result,
    results,
};

fn closed(stage: &Stage) -> String {
    format!("Discussion <#{}> was closed without a summary.", places(stage).0)
}

fn archive(stage: &mut Stage) {
    let channel = places(stage).0;
    stage.call(move |d| async move { d.channel(channel).archive().await }).unwrap();
    stage.advance(SECOND);
}

/// R154, D89
#[test]
fn a_result_does_not_wait_for_a_guide_that_may_not_be_posted() {
    let mut stage = hosted().stage();
    let (channel, moderator) = (places(&stage).0, stage.moderator());
    stage.discord().channel(channel).set_read_only(moderator, true);
    open_with(&mut stage, GUIDE);
    archive(&mut stage);
    assert_eq!(results(&stage), [closed(&stage)]);
    assert_eq!(outbox(&stage), [OutboxKind::Guide]);
    stage.discord().channel(channel).set_read_only(moderator, false);
    stage.advance(MINUTE * 11);
    assert_eq!(stage.moderation(channel)[0], GUIDE);
    assert_eq!(results(&stage).len(), 1);
    assert!(outbox(&stage).is_empty());
}

/// R154, D89
#[test]
fn a_result_does_not_wait_for_a_guide_whose_channel_is_gone() {
    let mut stage = hosted().stage();
    let channel = places(&stage).0;
    stage.discord().next_post(Fault::Gone);
    open_with(&mut stage, GUIDE);
    // The library is not told.
    stage.discord().next_push(PushFault::Dropped);
    stage.discord().channel(channel).delete();
    stage.advance(MINUTE);
    assert_eq!(conclude(&mut stage), ResultPost::Posted);
    assert_eq!(results(&stage), [result(&stage)]);
    stage.crash();
    stage.restart();
    stage.advance(MINUTE * 30);
    assert_eq!(results(&stage).len(), 1);
    assert_eq!(outbox(&stage), [OutboxKind::Guide], "an operator can see it");
}

/// R154, D89
#[test]
fn however_much_is_said_meanwhile_a_result_is_posted_once() {
    for (messages, minutes) in [(99, 11), (100, 11), (700, 11), (6_000, 22)] {
        let mut stage = open(hosted());
        stage.until_dormant();
        let (callback, person) = (places(&stage).1, stage.person());
        let moderator = stage.moderator();
        stage.discord().channel(callback).set_read_only(moderator, true);
        assert_eq!(conclude(&mut stage), ResultPost::Queued);
        for number in 0..messages {
            stage.discord().say(callback, person, format!("word {number}"));
        }
        stage.settle();
        stage.advance(MINUTE * 60);
        stage.discord().channel(callback).set_read_only(moderator, false);
        stage.advance(MINUTE * minutes);
        assert_eq!(results(&stage), [result(&stage)], "after {messages} messages");
        assert!(outbox(&stage).is_empty());
    }
}

/// R154
#[test]
fn a_result_that_arrived_unseen_is_found_among_all_that_was_said_since() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let (channel, callback) = places(&stage);
    let person = stage.person();
    stage.discord().next_post(Fault::LostAnswer);
    stage.begin(
        move |d| async move { d.channel(channel).conclude(&"a".into(), None).await.map(drop) },
    );
    stage.settle();
    stage.crash();
    assert_eq!(results(&stage).len(), 1);
    for number in 0..700 {
        stage.discord().say(callback, person, format!("word {number}"));
    }
    stage.clock().advance(MINUTE * 60);
    stage.restart();
    stage.advance(MINUTE * 11);
    assert_eq!(results(&stage).len(), 1);
    assert!(outbox(&stage).is_empty());
}

/// D89
#[test]
fn nobody_is_told_that_a_result_was_posted_when_another_process_has_it() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let channel = places(&stage).0;
    let slow = Fault::SlowAnswer { by: SECOND * 3 };
    stage.discord().inject(|faults| faults.next(Call::History, slow));
    let concluded = stage.begin(move |d| async move {
        d.channel(channel).conclude(&"a".into(), Some(Summary::Path("plan.md".into()))).await
    });
    stage.settle();
    stage.store().take_over(channel);
    stage.advance(SECOND * 20);
    assert!(matches!(concluded.take(), Some(Ok(ResultPost::Queued))));
    assert!(results(&stage).is_empty());
}

/// R154
#[test]
fn a_letter_is_taken_up_however_long_the_store_could_not_be_read() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let (channel, callback) = places(&stage);
    let moderator = stage.moderator();
    stage.discord().channel(callback).set_read_only(moderator, true);
    conclude(&mut stage);
    stage.crash();
    stage.store().slow_to_load(channel, MINUTE);
    stage.discord().channel(callback).set_read_only(moderator, false);
    stage.restart();
    stage.advance(MINUTE * 300);
    assert!(results(&stage).is_empty(), "nobody knows of it");
    stage.store().stop_faults();
    stage.advance(MINUTE * 11);
    assert_eq!(results(&stage), [result(&stage)]);
}

/// R154
#[test]
fn a_discussion_may_be_its_own_callback_channel() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()]).stage();
    let channel = stage.channel();
    let made = super::opening_to(&stage, channel, GUIDE);
    stage.call(move |d| async move { d.channel(channel).register(made).await }).unwrap();
    stage.until_dormant();
    assert_eq!(conclude_in(&mut stage), ResultPost::Posted);
    stage.advance(MINUTE * 30);
    let posted = stage.moderation(channel);
    assert_eq!(posted.iter().filter(|text| text.starts_with("Discussion <#")).count(), 1);
    assert_eq!(stage.store().stored(channel).unwrap().record.outbox, []);
}

fn conclude_in(stage: &mut Stage) -> ResultPost {
    let channel = stage.channel();
    stage
        .call(move |d| async move { d.channel(channel).conclude(&"a".into(), None).await })
        .unwrap()
}

/// R154
#[test]
fn where_the_history_was_never_shown_a_result_in_doubt_is_not_posted_again() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let (channel, callback) = places(&stage);
    let moderator = stage.moderator();
    stage.discord().channel(callback).set_history_hidden(moderator, true);
    stage.discord().next_post(Fault::LostAnswer);
    stage.begin(
        move |d| async move { d.channel(channel).conclude(&"a".into(), None).await.map(drop) },
    );
    stage.settle();
    stage.crash();
    assert_eq!(results(&stage).len(), 1, "it was posted, and nobody knows");
    stage.clock().advance(MINUTE * 600);
    stage.restart();
    stage.advance(MINUTE * 60);
    assert_eq!(results(&stage).len(), 1);
    stage.discord().channel(callback).set_history_hidden(moderator, false);
    stage.advance(MINUTE * 11);
    assert_eq!(results(&stage).len(), 1);
    assert_eq!(stage.store().stored(channel).unwrap().record.outbox, []);
}

/// R154: a channel that is empty for certain holds no result, and one in doubt is posted there.
#[test]
fn where_the_history_is_surely_empty_a_result_in_doubt_is_posted() {
    for is_sure in [true, false] {
        let setup = if is_sure { hosted().sure_of_history() } else { hosted() };
        let mut stage = open(setup);
        stage.until_dormant();
        let channel = stage.channel();
        stage.discord().next_post(Fault::NotDelivered);
        stage.begin(move |d| async move {
            d.channel(channel).conclude(&"a".into(), None).await.map(drop)
        });
        stage.settle();
        stage.crash();
        assert!(results(&stage).is_empty(), "it never arrived, and nobody knows");
        stage.clock().advance(MINUTE * 600);
        stage.restart();
        stage.advance(MINUTE * 60);
        assert_eq!(results(&stage).len(), usize::from(is_sure));
    }
}

/// R154, D89: a discussion whose channel is deleted is over, and its callback channel hears of that once.
#[test]
fn a_discussion_whose_channel_is_deleted_is_over() {
    let mut stage = open(hosted());
    stage.until_dormant();
    let channel = places(&stage).0;
    stage.discord().channel(channel).delete();
    stage.advance(MINUTE);
    assert_eq!(results(&stage).len(), 1);
    stage.call(move |d| async move { d.channel_deleted(channel).await }).unwrap();
    stage.advance(MINUTE);
    assert_eq!(results(&stage).len(), 1);
    assert_eq!(stage.status_of(channel).unwrap().phase, PhaseKind::Archived);
}

/// R154: that a discussion's channel was deleted is told again until it is stored, and not before then it counts as told.
#[test]
fn a_discussion_whose_channel_is_deleted_is_over_once_that_is_stored() {
    let mut stage = open(hosted());
    stage.until_dormant();
    stage.advance(MINUTE);
    let channel = places(&stage).0;
    stage.discord().channel(channel).delete();
    stage.store().next_commit(StoreFault::TakesSoLong(MINUTE));
    for _ in 0..2 {
        let told = stage.call(move |d| async move { d.channel_deleted(channel).await });
        assert!(matches!(told, Err(CallError::NotStored)), "{told:?}");
    }
    stage.advance(MINUTE);
    stage.call(move |d| async move { d.channel_deleted(channel).await }).unwrap();
    stage.crash();
    stage.restart();
    assert_eq!(stage.status_of(channel).unwrap().phase, PhaseKind::Archived);
}
