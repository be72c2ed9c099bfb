//! A part that may stand in the channel is repeated with its nonce, or looked for.

use super::*;
use crate::ChatMessage;
use crate::values::message::AuthorKind;

fn pages(world: &World) -> usize {
    let requests = world.requests.iter();
    requests.filter(|action| matches!(action, OutboxAction::FindPage { .. })).count()
}

#[test]
fn a_lost_answer_is_repeated_with_the_same_nonce_while_the_chat_knows_it() {
    let mut world = World::stored(vec![guide(2)]);
    world.post_faults.extend([Fault::Lost(SECOND * 5), Fault::Lost(SECOND)]);
    world.run();
    world.assert_posted_once(&[guide(2)]);
    assert_eq!((world.posts(), pages(&world)), (4, 0));
    let nonces = world.requests.iter().filter_map(|action| match action {
        OutboxAction::Post { nonce, part: 0, not_after, .. } => Some((nonce, *not_after)),
        OutboxAction::Post { .. }
        | OutboxAction::NewestIn { .. }
        | OutboxAction::FindPage { .. }
        | OutboxAction::WakeRoom { .. } => None,
    });
    let nonces: Vec<_> = nonces.collect();
    assert!(nonces.iter().all(|(nonce, _)| *nonce == nonces[0].0));
    assert_eq!((nonces[0].1, nonces[1].1), (at(105_000), at(105_000)), "from the first attempt");
}

#[test]
fn a_part_in_doubt_for_long_is_looked_for_in_a_long_history() {
    let mut world = World::stored(vec![result(2)]);
    world.post_faults.extend([Fault::Lost(Duration::ZERO)]);
    for word in 0..50 {
        world.chat.say(CALLBACK, PERSON, &format!("before {word}"));
    }
    world.run_until(at(5_000));
    for word in 0..50 {
        world.chat.say(CALLBACK, PERSON, &format!("after {word}"));
    }
    world.kill(MINUTE * 60, true);
    world.run();
    world.assert_posted_once(&[result(2)]);
    assert_eq!(pages(&world), 1, "what stood there before the first attempt is not read");
}

#[test]
fn a_part_that_never_arrived_is_posted_when_the_whole_history_was_read() {
    let mut world = World::stored(vec![result(1)]);
    world.post_faults.extend([Fault::NotDelivered]);
    world.run_until(at(5_000));
    for word in 0..3_400 {
        world.chat.say(CALLBACK, PERSON, &format!("after {word}"));
    }
    world.kill(MINUTE * 60, true);
    // What was looked through is kept though the look-up fails again and again, and over a restart.
    for _ in 0..20 {
        world.read_faults.extend([Fault::None, Fault::NotDelivered]);
    }
    world.run_until(world.now + MINUTE * 2);
    let read = pages(&world);
    assert!(read > 4);
    world.start_commit();
    world.kill(MINUTE, true);
    assert!(world.record[0].after.is_some_and(|after| after > MessageId::new(0)));
    world.run();
    world.assert_posted_once(&[result(1)]);
    assert!(pages(&world) <= 34 + 40, "no page is read twice without a failure");
}

#[test]
fn equal_words_of_a_person_or_before_the_message_are_not_the_part() {
    let mut world = World::stored(vec![result(1)]);
    let words = result(1).parts[0].content.clone();
    world.chat.say(CALLBACK, PERSON, &words);
    world.post_faults.extend([Fault::NotDelivered]);
    world.run_until(at(5_000));
    world.chat.say(CALLBACK, PERSON, &words);
    world.kill(MINUTE * 60, true);
    world.run();
    world.assert_posted_once(&[result(1)]);
}

#[test]
fn two_equal_parts_need_two_messages() {
    let mut message = result(2);
    message.parts[1].content = message.parts[0].content.clone();
    let mut world = World::stored(vec![message.clone()]);
    world.post_faults.extend([Fault::None, Fault::NotDelivered]);
    world.run_until(at(5_000));
    assert_eq!(world.chat.posted(CALLBACK).len(), 1);
    world.kill(MINUTE * 60, true);
    world.run();
    world.assert_posted_once(&[message]);
}

/// Any account in the channel can post with the nonce of another one's message.
#[test]
fn a_message_of_another_account_with_the_nonce_of_a_part_is_not_the_part() {
    for (author, is_found) in [(PERSON, false), (MODERATOR, true)] {
        let mut message = guide(1);
        (message.after, message.tried) = (Some(MessageId::new(0)), true);
        let page = [ChatMessage {
            author_kind: AuthorKind::Bot,
            nonce: Some(message.parts[0].nonce),
            ..ChatMessage::new(MessageId::new(9), OWN, author, "I am not it")
        }];
        let mut outbox = Bench::restore(at(3_600_000), vec![message]);
        let (kind, _) = outbox.next(at(3_600_000)).unwrap();
        outbox.done(at(3_600_000), kind, Outcome::Page(page.to_vec()));
        assert_eq!(outbox.take_arrived().is_some(), is_found, "{author:?}");
    }
}

#[test]
fn in_a_hidden_history_a_part_in_doubt_is_not_posted_again() {
    for fault in [Fault::Lost(Duration::ZERO), Fault::NotDelivered] {
        let mut world = World::stored(vec![result(1)]);
        world.chat.hidden.insert(CALLBACK);
        world.chat.say(CALLBACK, PERSON, "hello");
        world.post_faults.extend([fault]);
        world.run_until(at(5_000));
        world.kill(MINUTE * 60, true);
        world.run_until(world.now + MINUTE * 600);
        assert_eq!(world.posts(), 1);
        assert_eq!(world.outbox.outbox.first_attempt(OutboxKind::Result), FirstAttempt::Queued);
        assert!(world.requests.len() < 150, "it asks every ten minutes");
        world.chat.hidden.clear();
        world.run();
        world.assert_posted_once(&[result(1)]);
    }
}

#[test]
fn an_empty_history_proves_something_where_the_chat_says_that_it_is_readable() {
    for says in [true, false] {
        let mut world = World::stored(vec![result(1)]);
        world.chat.says_what_is_readable = says;
        world.post_faults.extend([Fault::NotDelivered]);
        world.run_until(at(5_000));
        world.kill(MINUTE * 60, true);
        world.run_until(world.now + MINUTE * 60);
        assert_eq!(world.chat.posted(CALLBACK).len(), usize::from(says));
    }
}

#[test]
fn the_discussions_own_channel_was_empty_for_certain() {
    let mut world = World::stored(vec![guide(1)]);
    world.post_faults.extend([Fault::NotDelivered]);
    world.run_until(at(5_000));
    world.kill(MINUTE * 60, true);
    world.run();
    world.assert_posted_once(&[guide(1)]);
}

#[test]
fn a_history_that_becomes_visible_between_two_reads_proves_nothing() {
    let mut world = World::stored(vec![result(1)]);
    world.chat.hidden.insert(CALLBACK);
    world.post_faults.extend([Fault::Lost(Duration::ZERO)]);
    world.run_until(at(5_000));
    world.kill(MINUTE * 60, true);
    while pages(&world) == 0 {
        assert!(world.step());
    }
    world.chat.hidden.clear();
    world.run();
    world.assert_posted_once(&[result(1)]);
}

#[test]
fn a_clock_that_was_set_back_says_nothing_about_a_nonce() {
    let mut world = World::stored(vec![guide(1)]);
    world.post_faults.extend([Fault::Lost(Duration::ZERO)]);
    world.run_until(at(5_000));
    world.now = at(0).saturating_sub(MINUTE * 60);
    world.outbox = Bench::restore(world.now, world.record.clone());
    assert!(matches!(world.outbox.next(world.now), Some((_, OutboxAction::FindPage { .. }))));
}

#[test]
fn while_the_own_account_is_unknown_a_part_in_doubt_waits() {
    let mut message = result(1);
    (message.after, message.tried) = (Some(MessageId::new(1)), true);
    let mut outbox = Bench::restore(at(3_600_000), vec![message]);
    let (kind, _) = outbox.next(at(3_600_000)).unwrap();
    let facts = ChannelFacts { may_be_hidden: false, ..FACTS };
    outbox.told(at(3_600_000), kind, Outcome::Page(Vec::new()), None, &facts);
    assert!(outbox.next(at(3_600_000)).is_none());
    assert_eq!(outbox.outbox.moments().min(), Some(at(3_601_000)));
}

/// The attempt leaves just before the kill and arrives after the next process has looked for it; the
/// next attempt is refused.
#[test]
fn an_attempt_that_arrives_after_it_was_looked_for_is_not_doubled() {
    let mut world = World::stored(vec![guide(1)]);
    world.post_faults.extend([Fault::Lost(SECOND * 14), Fault::Limited(MINUTE * 3)]);
    world.now = at(3_600_000);
    while world.posts() == 0 {
        assert!(world.step());
    }
    world.kill(Duration::ZERO, true);
    world.run();
    assert!(pages(&world) > 0);
    world.assert_posted_once(&[guide(1)]);
}

/// The discussion's channel was empty when it was made. What was said there since is not on the page: the
/// history is hidden.
#[test]
fn a_guide_in_doubt_is_not_posted_again_over_a_history_that_hides_what_was_said() {
    for (newest, is_posted) in [(None, true), (Some(MessageId::new(9)), false)] {
        let mut message = guide(1);
        (message.after, message.tried) = (Some(MessageId::new(0)), true);
        let mut outbox = Bench::restore(at(3_600_000), vec![message]);
        let (kind, asked) = outbox.next(at(3_600_000)).unwrap();
        assert!(matches!(asked, OutboxAction::FindPage { .. }));
        let facts = ChannelFacts { newest, ..FACTS };
        // Nothing stands behind it, and the chat shows no newest message.
        let mut is_offered = false;
        for _ in 0..2 {
            let page = Outcome::Page(Vec::new());
            outbox.told(at(3_600_000), kind, page, Some(MODERATOR), &facts);
            outbox.store(at(3_600_000));
            let next = outbox.next(at(3_600_000));
            is_offered |= matches!(next, Some((_, OutboxAction::Post { .. })));
        }
        assert_eq!(is_offered, is_posted, "{newest:?}");
    }
}
