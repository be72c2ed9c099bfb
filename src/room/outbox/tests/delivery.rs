//! The ordinary run, failures that are certain, and what the room is told.

use super::*;

#[test]
fn a_guide_is_posted_part_by_part_and_then_the_room_is_woken() {
    let mut world = World::new(vec![guide(3)]);
    assert!(world.outbox.next(at(0)).is_none(), "it is stored first");
    world.run();
    world.assert_posted_once(&[guide(3)]);
    assert_eq!(world.requests.len(), 3, "no read is needed");
    assert_eq!(world.commits, 4, "one when it is written, and one after each part");
    assert_eq!(world.arrived, [OutboxKind::Guide]);
}

#[test]
fn a_result_asks_where_it_stands_then_is_posted_then_wakes_the_callback_room() {
    let mut world = World::new(vec![result(2)]);
    world.chat.say(CALLBACK, PERSON, "hello");
    world.run();
    world.assert_posted_once(&[result(2)]);
    let [newest, first, second, wake] = &world.requests[..] else { panic!("four requests") };
    assert_eq!(newest, &OutboxAction::NewestIn { to: CALLBACK });
    assert!(matches!(first, OutboxAction::Post { part: 0, .. }));
    assert!(matches!(second, OutboxAction::Post { part: 1, .. }));
    assert_eq!(wake, &OutboxAction::WakeRoom { to: CALLBACK });
}

#[test]
fn two_messages_go_out_side_by_side() {
    let mut world = World::new(vec![guide(2), result(2)]);
    world.post_faults.extend([Fault::Limited(MINUTE)]);
    world.run_until(at(59_000));
    assert_eq!(world.arrived, [OutboxKind::Result], "it does not wait for the guide");
    world.run();
    world.assert_posted_once(&[guide(2), result(2)]);
}

#[test]
fn an_empty_guide_arrives_when_it_is_written() {
    let mut outbox = Bench::new(Outbox::default());
    outbox.write(OutboxMessage { parts: Vec::new(), ..guide(1) });
    assert_eq!(outbox.take_arrived(), Some(OutboxKind::Guide));
    assert_eq!(outbox.take_arrived(), None);
    assert!(outbox.is_changed() && outbox.outbox.is_empty());
}

#[test]
fn attempts_come_after_1_2_4_and_at_most_600_seconds() {
    let mut world = World::stored(vec![guide(1)]);
    world.post_faults.extend([Fault::Refused(ErrorKind::Forbidden); 14]);
    let (mut waits, mut posts) = (Vec::new(), 0);
    while world.step() {
        if world.posts() > posts {
            posts = world.posts();
            waits.push(world.now);
        }
    }
    let waits: Vec<_> = waits.windows(2).map(|pair| pair[1].since(pair[0]).as_secs()).collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600, 600]);
    world.assert_posted_once(&[guide(1)]);
}

#[test]
fn a_rate_limit_is_waited_for() {
    let mut world = World::stored(vec![guide(1)]);
    world.post_faults.extend([Fault::Limited(MINUTE * 3)]);
    world.run_until(at(179_000));
    assert_eq!(world.posts(), 1);
    assert!(world.outbox.outbox.moments().min().is_some_and(|due| due >= at(180_000)));
    world.run();
    world.assert_posted_once(&[guide(1)]);
}

#[test]
fn a_refused_part_leaves_no_doubt_for_the_next_process() {
    let mut world = World::stored(vec![result(1)]);
    world.chat.hidden.insert(CALLBACK);
    world.post_faults.extend([Fault::Refused(ErrorKind::Forbidden); 3]);
    world.run_until(at(2_000));
    assert!(!world.record[0].tried, "nothing was posted");
    world.kill(MINUTE * 60, true);
    world.run();
    world.assert_posted_once(&[result(1)]);
}

#[test]
fn a_message_that_cannot_arrive_waits_for_the_next_start() {
    for kind in [ErrorKind::Gone, ErrorKind::Invalid] {
        let mut world = World::stored(vec![result(1)]);
        world.post_faults.extend([Fault::Refused(kind)]);
        world.run();
        assert_eq!(world.posts(), 1);
        let outbox = &mut world.outbox.outbox;
        assert!(outbox.entries().all(|entry| entry.state == PostState::GivenUp));
        assert!(outbox.is_at_rest());
        assert_eq!((outbox.moments().min(), outbox.is_empty()), (None, false));
        outbox.chat_back();
        world.run();
        assert_eq!(world.posts(), 1);
        world.kill(MINUTE, true);
        world.run();
        world.assert_posted_once(&[result(1)]);
    }
}

#[test]
fn the_first_attempt_at_a_result_is_posted_or_queued() {
    let attempt = |world: &World| world.outbox.outbox.first_attempt(OutboxKind::Result);
    let mut world = World::stored(vec![result(1)]);
    assert_eq!(attempt(&world), FirstAttempt::Pending);
    world.run();
    assert_eq!(attempt(&world), FirstAttempt::Posted);

    let mut world = World::stored(vec![result(1)]);
    world.read_faults.extend([Fault::Refused(ErrorKind::Forbidden)]);
    world.run_until(at(500));
    assert_eq!(attempt(&world), FirstAttempt::Queued);

    let mut world = World::stored(vec![result(1)]);
    world.read_faults.extend([Fault::None, Fault::NotDelivered]);
    world.run_until(at(10_500));
    assert_eq!(attempt(&world), FirstAttempt::Posted, "only the callback room is not awake");

    let mut world = World::stored(vec![result(1)]);
    assert!(world.outbox.next(at(0)).is_some());
    world.outbox.waits(OutboxKind::Result, Wait::Line);
    assert_eq!(attempt(&world), FirstAttempt::Queued, "the chat is away");
}

#[test]
fn a_wake_that_fails_is_repeated_and_the_result_is_not() {
    let mut world = World::stored(vec![result(1)]);
    world.read_faults.extend([Fault::None, Fault::NotDelivered, Fault::NotDelivered]);
    world.run();
    world.assert_posted_once(&[result(1)]);
    assert_eq!(world.posts(), 1);
    let wakes = world.requests.iter().filter(|a| matches!(a, OutboxAction::WakeRoom { .. }));
    assert_eq!(wakes.count(), 3);
}

#[test]
fn a_postponed_request_is_offered_again_at_its_time_or_when_it_is_told() {
    let mut outbox = World::stored(vec![guide(1)]).outbox;
    let (kind, action) = outbox.next(at(0)).unwrap();
    assert!(outbox.next(at(0)).is_none(), "it is under way");
    outbox.waits(kind, Wait::Until(at(700)));
    assert_eq!(outbox.outbox.moments().min(), Some(at(700)));
    assert!(outbox.next(at(699)).is_none());
    let (again, repeated) = outbox.next(at(700)).unwrap();
    let post = |action: &OutboxAction| {
        let OutboxAction::Post { to, part, nonce, .. } = action else {
            panic!("not a post: {action:?}");
        };
        (*to, *part, *nonce)
    };
    assert_eq!((again, post(&repeated)), (kind, post(&action)));
    outbox.waits(kind, Wait::Line);
    assert!(outbox.next(at(9_000_000)).is_none());
    outbox.outbox.chat_back();
    assert_eq!(outbox.next(at(9_000_000)).map(|(_, it)| post(&it)), Some(post(&action)));
}

#[test]
fn no_wait_is_longer_because_the_clock_was_set_back() {
    let mut world = World::stored(vec![guide(1)]);
    world.post_faults.extend([Fault::Limited(MINUTE)]);
    world.run_until(at(1_000));
    assert!(world.outbox.next(at(2_000)).is_none());
    let by = world.now.since(Timestamp::from_millis(5));
    world.outbox.outbox.move_back(by);
    world.now = Timestamp::from_millis(5);
    world.run_until(Timestamp::from_millis(5) + MINUTE * 2);
    world.assert_posted_once(&[guide(1)]);
}

#[test]
fn a_commit_that_began_before_a_change_does_not_store_it() {
    let mut outbox = Bench::new(Outbox::default());
    outbox.write(guide(1));
    outbox.begin_commit(at(0));
    outbox.write(result(1));
    outbox.committed();
    assert!(outbox.needs_commit());
    assert!(matches!(outbox.next(at(0)), Some((OutboxKind::Guide, _))));
    assert!(outbox.next(at(0)).is_none());
    outbox.store(at(0));
    assert!(!outbox.needs_commit());
    assert!(matches!(outbox.next(at(0)), Some((OutboxKind::Result, _))));
}

#[test]
fn a_result_that_belongs_to_no_request_is_ignored() {
    let mut outbox = World::stored(vec![guide(1)]).outbox;
    for kind in [OutboxKind::Guide, OutboxKind::Result] {
        outbox.done(at(0), kind, Outcome::Posted(MessageId::new(7)));
    }
    assert!(!outbox.is_changed());
    assert!(matches!(outbox.next(at(0)), Some((OutboxKind::Guide, OutboxAction::Post { .. }))));
}
