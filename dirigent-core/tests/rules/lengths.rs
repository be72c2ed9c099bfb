//! The length of a reply tells one that was rewritten on its way from one that is not finished.

use crate::room::{A, B, Room, millis, secs};
use dirigent_core::{
    Author, Cause, Config, Input, Message, MessageKind, PhaseKind, Tail, TurnMachine,
};

/// So many scalars, each time others.
fn words(count: usize, letter: char) -> String {
    letter.to_string().repeat(count)
}

/// A room in which A's run ended with this text and nothing has arrived.
fn waiting_for(text: &str) -> Room {
    waiting_with(text, |_| ())
}

fn waiting_with(text: &str, change: impl FnOnce(&mut Config)) -> Room {
    let mut room = Room::chat_with(2, change);
    room.human("hello");
    room.talks(A, text);
    assert_eq!(room.phase(), PhaseKind::Confirming);
    room
}

/// A message of A with this digest.
fn digest(room: &mut Room, tail: &Tail) {
    room.message += 1;
    let (author, kind) = (Author::Agent(A), MessageKind::Conversation);
    room.tell(Input::Message(Message {
        id: room.newest(),
        author,
        kind,
        tail: *tail,
        backfilled: false,
    }));
}

/// R108, R112, D53
#[test]
fn a_rewritten_reply_is_taken_for_delivered_when_its_author_is_quiet() {
    for count in [100, 140] {
        let mut room = waiting_for(&words(100, 'a'));
        room.wait(secs(1));
        room.says(A, &words(count, 'b'));
        room.wait(millis(1_499));
        assert_eq!(room.speaker(), Some(A), "{count}");
        let step = room.wait(millis(1));
        assert!(step.causes().contains(&Cause::QuietAfterMessage), "{count}");
        assert_eq!(room.speaker(), Some(B), "{count}");
    }
}

/// R109
#[test]
fn a_reply_whose_last_piece_comes_late_is_not_taken_for_delivered_before() {
    let mut room = waiting_for(&(words(1_500, 'a') + &words(600, 'b')));
    room.wait(secs(3));
    room.says(A, &words(1_500, 'a'));
    room.wait(secs(7));
    assert_eq!(room.speaker(), Some(A), "it is still writing");
    assert_eq!(room.says(A, &words(600, 'b')).asks(), ["trigger B"]);
}

/// R109
#[test]
fn a_short_last_piece_is_waited_for_longer_than_it_is_quiet() {
    let mut room = waiting_for(&(words(1_900, 'a') + &words(100, 'b')));
    room.wait(secs(1));
    room.says(A, &words(1_900, 'a'));
    room.wait(secs(7));
    assert_eq!(room.speaker(), Some(A), "it is still writing");
    assert_eq!(room.says(A, &words(100, 'b')).asks(), ["trigger B"]);
}

/// R117, D53
#[test]
fn a_reply_that_lost_a_word_is_taken_for_delivered_half_the_time_after_its_last_piece() {
    let mut room = waiting_for(&words(100, 'a'));
    room.wait(secs(2));
    room.says(A, &words(75, 'b'));
    room.wait(millis(7_499));
    assert_eq!(room.speaker(), Some(A));
    assert!(room.wait(millis(1)).causes().contains(&Cause::QuietAfterMessage));
}

/// R117
#[test]
fn of_a_reply_clearly_too_short_the_rest_is_waited_for_as_long_as_for_any() {
    let mut room = waiting_for(&words(100, 'a'));
    room.says(A, &words(74, 'b'));
    room.wait(millis(14_999));
    assert_eq!(room.speaker(), Some(A));
    assert!(room.wait(millis(1)).causes().contains(&Cause::DeliveryTimedOut));
}

/// R108
#[test]
fn what_was_said_during_the_run_is_not_taken_for_the_reply_at_its_end() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.says(A, &words(200, 'w'));
    room.wait(secs(30));
    room.ends(A, crate::room::spoke(&words(100, 'a')));
    room.wait(millis(1_499));
    assert_eq!(room.speaker(), Some(A), "the reply may be on its way");
    assert_eq!(room.says(A, &words(100, 'a')).asks(), ["trigger B"]);
}

/// R109, R110
#[test]
fn after_five_pieces_in_five_seconds_the_sixth_may_be_held_back() {
    let mut room = waiting_for(&words(100, 'a'));
    for _ in 0..5 {
        room.says(A, &words(30, 'b'));
        room.wait(millis(200));
    }
    room.wait(millis(5_000 - 1_000 + 1_499));
    assert_eq!(room.speaker(), Some(A), "the limit is over, and it has not been quiet since");
    assert!(room.wait(millis(1)).causes().contains(&Cause::QuietAfterMessage));

    let mut slow = waiting_for(&words(100, 'a'));
    for _ in 0..5 {
        slow.wait(millis(1_250));
        slow.says(A, &words(30, 'b'));
    }
    let step = slow.wait(millis(1_500));
    assert!(step.causes().contains(&Cause::QuietAfterMessage), "the limit was not reached");
}

/// R118
#[test]
fn without_the_fallback_no_length_confirms() {
    let mut room =
        waiting_with(&words(100, 'a'), |config| config.confirmation.any_message_fallback = false);
    room.says(A, &words(300, 'b'));
    room.wait(millis(14_999));
    assert_eq!(room.speaker(), Some(A));
    assert!(room.wait(millis(1)).causes().contains(&Cause::DeliveryTimedOut));
}

/// R108
#[test]
fn a_reply_with_an_attachment_is_taken_for_delivered_when_its_author_is_quiet() {
    for edited in [false, true] {
        let mut room = waiting_for(&words(100, 'a'));
        digest(&mut room, &Tail::of("see the table").with_attachment());
        if edited {
            let id = room.message;
            room.edit(id, Author::Agent(A), "see this table");
        }
        room.wait(millis(1_499));
        assert_eq!(room.speaker(), Some(A), "{edited}");
        assert!(room.wait(millis(1)).causes().contains(&Cause::QuietAfterMessage), "{edited}");
    }
}

/// R117, D53
#[test]
fn of_a_reply_of_unknown_length_half_the_time_is_waited() {
    let mut room = waiting_for(&words(100, 'a'));
    digest(&mut room, &Tail::from_parts("bbb", None, false));
    room.wait(millis(7_499));
    assert_eq!(room.speaker(), Some(A));
    assert!(room.wait(millis(1)).causes().contains(&Cause::QuietAfterMessage));
}

/// R109
#[test]
fn a_restored_room_knows_how_long_the_reply_is_and_when_its_pieces_came() {
    let mut room = waiting_for(&words(1_000, 'a'));
    for _ in 0..6 {
        room.says(A, &words(200, 'b'));
    }
    let config = room.channel.config().clone();
    room.channel = TurnMachine::restore(config, &room.snapshot()).unwrap();
    room.wait(millis(6_499));
    assert_eq!(room.speaker(), Some(A));
    assert!(room.wait(millis(1)).causes().contains(&Cause::QuietAfterMessage));
}

#[test]
fn the_length_of_a_digest_is_that_of_the_whole_text() {
    let tail = Tail::of(&format!("```rust\n{}\n```\n last  words", words(500, 'x')));
    assert_eq!((tail.length(), tail.len()), (Some(509), Tail::MAX));
    assert_eq!(tail.last(4).length(), Some(509), "an end knows of the whole");
    let mut joined = Tail::from_parts("x", Some(u32::MAX), false);
    joined.join(&Tail::of("and more"));
    assert_eq!(joined.length(), Some(u32::MAX), "it saturates");
    joined.join(&Tail::from_parts("y", None, true));
    assert_eq!((joined.length(), joined.has_attachment()), (None, true));
    assert_eq!(Tail::from_parts("long", Some(1), false).length(), Some(4), "no less than is kept");
}
