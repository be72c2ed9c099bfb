//! From the end of a run to the arrival of its reply: fingerprint, fragments, polls, time-out.

use crate::room::{A, B, C, Room, message, millis, secs, spoke};
use dirigent_core::config::TriggerCleanup;
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    Author, Cause, Config, Input, Message, MessageId, MessageKind, Outcome, PhaseKind, Refusal,
    Settlement, Tail,
};

/// A room in which A's run ended with this text and nothing has arrived.
fn waiting_for(text: &str) -> Room {
    waiting_with(text, |_| ())
}

fn waiting_with(text: &str, change: impl FnOnce(&mut Config)) -> Room {
    let mut room = Room::chat_with(3, change);
    room.human("hello");
    room.talks(A, text);
    assert_eq!(room.phase(), PhaseKind::Confirming);
    room
}

/// R105, D54
#[test]
fn the_fingerprint_is_the_last_forty_scalars() {
    let end = "0123456789".repeat(4);
    let mut room = waiting_for(&format!("what stands before does not matter {end}"));
    assert!(room.says(A, &end[1..]).is_silent(), "39 scalars are not enough");
    assert_eq!(room.edit(1_002, Author::Agent(A), &format!("x{end}")).asks(), ["trigger B"]);
}

/// R105, D54
#[test]
fn a_shorter_reply_must_arrive_whole() {
    let mut room = waiting_for("short reply");
    assert!(room.says(A, "ort reply").is_silent());
    let mut room = waiting_for("short reply");
    assert_eq!(room.says(A, "a rather short reply").asks(), ["trigger B"], "as an ending");
}

/// R105, D54
#[test]
fn characters_are_unicode_scalars() {
    let text = "漢字🎼ü".repeat(30);
    let mut room = waiting_for(&text);
    let chars: Vec<char> = text.chars().collect();
    let last: String = chars[chars.len() - 40..].iter().collect();
    assert_eq!(room.says(A, &last).asks(), ["trigger B"]);
}

/// R119, D54
#[test]
fn the_fingerprint_length_is_a_setting() {
    let mut room =
        waiting_with("a long reply that ends here", |c| c.confirmation.fingerprint_length = 4);
    assert_eq!(room.says(A, "HERE? here").asks(), ["trigger B"]);
    let mut config = Config::default();
    config.confirmation.fingerprint_length = 65;
    assert_eq!(config.validate().unwrap_err().field, "confirmation.fingerprint_length");
}

/// R119, D54
#[test]
fn with_length_nought_any_message_of_the_author_confirms_when_it_is_quiet() {
    let mut room = waiting_with("a reply", |config| config.confirmation.fingerprint_length = 0);
    assert!(room.says(A, "something quite different").asks().is_empty());
    room.wait(millis(1_000));
    assert!(room.says(A, "and more").asks().is_empty());
    let asks = room.wait(millis(1_499)).asks();
    assert!(!asks.contains(&"trigger B".to_owned()), "not quiet yet: {asks:?}");
    assert!(room.wait(millis(1)).asks().contains(&"trigger B".to_owned()));
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
}

/// R107, D55
#[test]
fn only_messages_of_the_speaker_count() {
    let mut room = waiting_with("the reply", |config| config.people.bots_qualify = false);
    for author in [Author::Bot, Author::Moderator] {
        assert!(room.post(author, MessageKind::Conversation, "the reply").is_silent());
    }
    assert!(room.post(Author::Agent(A), MessageKind::System, "the reply").is_silent());
    assert_eq!(room.says(A, "the reply").asks(), ["trigger B"]);
}

/// R107, D55
#[test]
fn only_messages_above_the_anchor_count() {
    let mut room = waiting_for("the reply");
    let anchor = room.channel.view().anchor().unwrap().get();
    let below = message(anchor - 1, Author::Agent(A), MessageKind::Conversation, "the reply");
    assert!(room.give(below).is_silent(), "an id below the anchor");
    assert_eq!(room.phase(), PhaseKind::Confirming);
    assert_eq!(room.says(A, "the reply").asks(), ["trigger B"]);
}

/// R107, D55
#[test]
fn ids_are_compared_as_numbers() {
    let mut room = Room::chat(2);
    room.message = 998;
    room.human("hello");
    room.talks(A, "the reply");
    assert_eq!(room.says(A, "the reply").asks(), ["trigger B"], "1000 is above 999");
}

/// R108, R112
#[test]
fn a_matching_end_confirms_and_the_next_agent_is_woken() {
    let mut room = waiting_for("a reply that arrives");
    let step = room.says(A, "a reply that arrives");
    let story = [
        "confirming > confirming A: tail-matched",
        "confirming > granted B: next-in-list",
        "trigger B",
    ];
    assert_eq!(step.all(), story);
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
}

/// R108
#[test]
fn a_fingerprint_that_is_not_the_end_confirms_nothing() {
    let mut room = waiting_for("the reply");
    for text in ["the reply, and more", "before the reply and behind it", "the repl", "reply the"] {
        assert!(room.says(A, text).is_silent(), "{text}");
        assert_eq!((room.phase(), room.speaker()), (PhaseKind::Confirming, Some(A)), "{text}");
    }
    assert!(room.edit(1_002, Author::Agent(A), "the reply, and no more").is_silent(), "an edit");
    let step = room.says(A, "and last the reply");
    assert_eq!(step.asks(), ["trigger B"]);
    assert!(step.causes().contains(&Cause::TailMatched));
}

/// R108
#[test]
fn a_reply_that_arrived_during_the_run_confirms_at_its_end() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.says(A, "streamed while running");
    let step = room.ends(A, spoke("streamed while running"));
    assert_eq!(step.asks(), ["trigger B"]);
    assert!(step.causes().contains(&Cause::TailMatched));
}

/// R109, R110
#[test]
fn only_the_last_fragment_confirms() {
    let parts = ["first part of the reply, ", "second part of it, ", "end"];
    let mut room = waiting_for(&parts.concat());
    assert!(room.says(A, parts[0]).is_silent());
    assert!(room.says(A, parts[1]).is_silent());
    assert_eq!(room.says(A, parts[2]).asks(), ["trigger B"]);
}

/// R109, R110, D52
#[test]
fn fragments_that_arrive_in_any_order_are_joined_by_id() {
    let parts = ["one, ", "two, ", "three, ", "four"];
    let mut room = waiting_for(&parts.concat());
    let base = room.message;
    for at in [3_u64, 1, 0, 2] {
        let text = parts[usize::try_from(at).unwrap()];
        let own = Author::Agent(A);
        let step = room.tell(message(base + 1 + at, own, MessageKind::Conversation, text));
        let expected: &[&str] = if at == 2 { &["trigger B"] } else { &[] };
        assert_eq!(step.asks(), expected);
    }
}

/// R110, D52
#[test]
fn many_tiny_fragments_still_confirm() {
    let text = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut room = waiting_for(text);
    let (last, before) = text.as_bytes().split_last().unwrap();
    for byte in before {
        assert!(room.says(A, &char::from(*byte).to_string()).is_silent());
    }
    assert_eq!(room.says(A, &char::from(*last).to_string()).asks(), ["trigger B"]);
}

/// R111, D53
#[test]
fn white_space_and_fences_do_not_matter() {
    let text = "Look:\n\n```rust\nfn main() {\n    run();\n}\n```\n\nThat  is\tall. ";
    let mut room = waiting_for(text);
    assert!(room.says(A, "Look:\n```rust\nfn main() {\n```").is_silent());
    assert_eq!(room.says(A, "```rust\n    run();\n}\n```\nThat is all.").asks(), ["trigger B"]);
}

/// R111, D53
#[test]
fn a_reply_of_fences_only_is_confirmed_by_any_message() {
    let mut room = waiting_for("```\n```");
    assert!(room.says(A, "```\n```").asks().is_empty());
    assert!(room.wait(millis(1_500)).asks().contains(&"trigger B".to_owned()));
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
}

/// R108, D58
#[test]
fn an_edit_of_the_speaker_confirms() {
    let mut room = waiting_for("drafted word by word");
    assert!(room.says(A, "drafted").is_silent());
    assert!(room.edit(1_002, Author::Agent(A), "drafted word").is_silent());
    let step = room.edit(1_002, Author::Agent(A), "drafted word by word");
    assert_eq!(step.asks(), ["trigger B"]);
}

/// D53
#[test]
fn a_receipt_confirms_at_once() {
    let mut room = waiting_for("whatever it was");
    let run = Some(room.run_of(A));
    let receipt = |run, messages| Input::Receipt { agent: A, run, messages };
    assert_eq!(room.refusal(receipt(run, Vec::new())), Refusal::EmptyReceipt);
    let other = Some(room.fresh_run());
    let arrived = vec![MessageId::new(1_500)];
    assert_eq!(room.refusal(receipt(other, arrived.clone())), Refusal::StaleRun);
    let step = room.tell(receipt(run, arrived.clone()));
    assert_eq!(step.asks(), ["trigger B"]);
    assert_eq!(room.refusal(receipt(run, arrived)), Refusal::StaleRun);
    let seen = message(1_500, Author::Agent(A), MessageKind::Conversation, "whatever");
    assert_eq!(room.refusal(seen), Refusal::RepeatedMessage);
}

/// R117, D107
#[test]
fn after_fifteen_seconds_the_turn_advances_with_a_warning() {
    let mut room = waiting_for("lost on its way");
    room.wait(millis(14_999));
    assert_eq!(room.speaker(), Some(A));
    let step = room.wait(millis(1));
    assert!(step.causes().contains(&Cause::DeliveryTimedOut));
    assert!(step.asks().contains(&"trigger B".to_owned()));
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke, "the turn is real");
}

/// R118
#[test]
fn the_delivery_timeout_is_a_setting_and_starts_with_the_end_of_the_run() {
    let mut room = Room::chat_with(2, |config| config.confirmation.delivery_timeout = secs(4));
    room.human("hello");
    room.start(A);
    room.wait(secs(100));
    room.ends(A, spoke("lost on its way"));
    room.wait(millis(3_999));
    assert_eq!(room.speaker(), Some(A));
    room.wait(millis(1));
    assert_eq!(room.speaker(), Some(B));
}

/// R118
#[test]
fn only_the_given_time_counts() {
    let mut room = waiting_for("lost on its way");
    for _ in 0..1_000 {
        assert!(room.tell(Input::Tick).is_silent());
    }
    assert_eq!(room.speaker(), Some(A));
}

/// R117, D53
#[test]
fn a_changed_reply_is_taken_for_delivered_when_its_author_is_quiet() {
    let mut room = waiting_for("Hello @ada");
    room.says(A, "Hello <@42>");
    room.wait(millis(1_499));
    assert_eq!(room.speaker(), Some(A));
    let step = room.wait(millis(1));
    assert!(step.causes().contains(&Cause::QuietAfterMessage));
    assert_eq!(room.speaker(), Some(B));

    let mut strict =
        waiting_with("Hello @ada", |config| config.confirmation.any_message_fallback = false);
    strict.says(A, "Hello <@42>");
    strict.wait(millis(14_999));
    assert_eq!(strict.speaker(), Some(A));
    assert!(strict.wait(millis(1)).causes().contains(&Cause::DeliveryTimedOut));
}

/// R101, D57
#[test]
fn polls_follow_one_another_and_grow_rarer() {
    let mut room = waiting_for("slow to arrive");
    assert!(room.wait(millis(299)).is_silent());
    assert_eq!(room.wait(millis(1)).asks(), ["poll after 1001"]);
    assert!(room.wait(secs(5)).is_silent(), "one poll in flight");
    room.polled();
    assert!(room.wait(millis(999)).is_silent());
    assert_eq!(room.wait(millis(1)).asks(), ["poll after 1001"]);
    room.polled();
    assert!(room.wait(millis(1_499)).is_silent());
    assert_eq!(room.wait(millis(1)).asks(), ["poll after 1001"]);
}

/// R101, D57
#[test]
fn a_poll_that_failed_is_repeated_when_the_other_side_says() {
    let mut room = waiting_for("slow to arrive");
    room.wait(millis(300));
    let retry_at = Some(room.now + secs(6));
    let ticket = room.poll.take().unwrap();
    room.settle(ticket, Settlement::Failed { retry_at });
    assert!(room.wait(millis(5_999)).is_silent());
    assert_eq!(room.wait(millis(1)).asks(), ["poll after 1001"]);
    assert_eq!(room.speaker(), Some(A), "an error does not end the wait");
}

/// R101, D57
#[test]
fn a_piece_that_is_pushed_makes_no_poll_sooner_than_the_other_side_allows() {
    let mut room = waiting_for("two pieces, the last one lost");
    room.wait(millis(300));
    let retry_at = Some(room.now + secs(6));
    let ticket = room.poll.take().unwrap();
    room.settle(ticket, Settlement::Failed { retry_at });
    room.wait(secs(1));
    room.says(A, "two pieces,");
    assert!(room.wait(millis(4_999)).asks().is_empty());
    assert_eq!(room.wait(millis(1)).asks(), ["poll after 1001"]);
}

/// R107, D56
#[test]
fn a_polled_message_confirms_like_a_pushed_one() {
    let mut room = waiting_for("found by looking");
    room.wait(millis(300));
    assert_eq!(room.says(A, "found by looking").asks(), ["trigger B"]);
    let ticket = room.poll.take().unwrap();
    assert!(
        room.give(Input::Settled { ticket, settlement: Settlement::Done { message: None } })
            .is_silent()
    );
    assert!(room.wait(secs(20)).asks().is_empty(), "no poll when nothing is awaited");
}

/// R104, D47
#[test]
fn every_advance_triggers_once() {
    let trigger_b = |asks: Vec<String>| asks.iter().filter(|ask| *ask == "trigger B").count() == 1;
    // An empty turn, a confirmed one, a time-out, a skip, a leave: each is one trigger.
    let mut room = Room::chat(3);
    room.human("hello");
    assert_eq!(room.triggers(), 1, "on waking");
    assert!(trigger_b(room.passes(A).asks()));
    let mut room = waiting_for("confirmed");
    assert!(trigger_b(room.says(A, "confirmed").asks()));
    let mut room = waiting_for("timed out");
    assert!(trigger_b(room.wait(secs(15)).asks()));
    let mut room = Room::chat(3);
    room.human("hello");
    assert!(trigger_b(room.wait(secs(90)).asks()));
    let mut room = Room::chat(3);
    room.human("hello");
    assert!(trigger_b(room.leaves(A).asks()));
    let mut room = Room::chat(3);
    room.human("hello");
    for agent in [A, B, C] {
        room.speaks(agent);
    }
    assert_eq!(room.triggers(), 3);
    room.members();
    assert_eq!(room.triggers(), 4, "at the boundary");
}

/// R112, R167, D47, D49
#[test]
fn first_the_pointer_then_the_trigger_then_its_removal() {
    let mut room = waiting_for("a reply");
    let step = room.says(A, "a reply");
    assert_eq!(step.asks(), ["trigger B"]);
    assert_eq!(room.speaker(), Some(B));
    let (posted, step) = room.trigger_posted();
    assert_eq!(step.all(), [format!("delete {posted}")]);
}

/// R167, D49
#[test]
fn a_trigger_that_was_never_posted_is_not_deleted() {
    for settlement in [
        Settlement::Failed { retry_at: None },
        Settlement::Dropped,
        Settlement::Done { message: None },
    ] {
        let mut room = Room::chat(2);
        room.human("hello");
        let ticket = room.trigger.unwrap();
        assert!(room.settle(ticket, settlement).is_silent());
    }
}

/// R167, D49
#[test]
fn a_trigger_posted_late_is_removed_all_the_same() {
    let mut room = Room::chat(2);
    room.human("hello");
    let ticket = room.trigger.unwrap();
    room.passes(A);
    let message = Some(MessageId::new(5_000));
    assert_eq!(room.settle(ticket, Settlement::Done { message }).asks(), ["delete 5000"]);
    let mut room = Room::chat(2);
    room.human("hello");
    let ticket = room.trigger.unwrap();
    room.tell(Input::Archive);
    assert_eq!(room.settle(ticket, Settlement::Done { message }).asks(), ["delete 5000"]);
}

/// R167, D49
#[test]
fn other_ways_of_cleaning_up_are_settings() {
    let mut next = Room::chat_with(2, |c| c.trigger_cleanup = TriggerCleanup::OnNext);
    next.human("hello");
    let (posted, step) = next.trigger_posted();
    assert!(step.is_silent());
    let mut asks = next.passes(A).asks();
    asks.sort();
    assert_eq!(asks, [format!("delete {posted}"), "trigger B".to_owned()]);

    let mut later = Room::chat_with(2, |c| c.trigger_cleanup = TriggerCleanup::After(secs(3)));
    later.human("hello");
    let (posted, step) = later.trigger_posted();
    assert!(step.is_silent());
    assert!(later.wait(millis(2_999)).is_silent());
    assert_eq!(later.wait(millis(1)).asks(), [format!("delete {posted}")]);

    let mut never = Room::chat_with(2, |c| c.trigger_cleanup = TriggerCleanup::Never);
    never.human("hello");
    let (_, step) = never.trigger_posted();
    assert!(step.is_silent());
    assert_eq!(never.passes(A).asks(), ["trigger B"]);
}

/// R101, R115
#[test]
fn repeated_fragments_count_once() {
    let mut room = waiting_for("haha");
    assert!(room.says(A, "ha").is_silent());
    let again = Message {
        id: room.newest(),
        author: Author::Agent(A),
        kind: MessageKind::Conversation,
        tail: Tail::of("ha"),
        backfilled: false,
    };
    assert_eq!(room.refusal(Input::Message(again)), Refusal::RepeatedMessage);
    assert_eq!(room.says(A, "ha").asks(), ["trigger B"]);
    assert_eq!(room.passes(B).asks(), ["trigger C"]);
    room.start(C);
    assert_eq!(room.ends(C, Outcome::Pass).asks(), ["fetch members"]);
}

/// R109, D52
#[test]
fn pieces_join_in_the_order_they_were_written_even_if_the_first_arrives_last() {
    let words = ["one", "two", "three", "four", "five", "six", "seven"];
    for late in 0..words.len() {
        let mut room = waiting_for(&words.join(" "));
        let mut arrives = |at: usize| {
            let id = 2_000 + at as u64;
            let kind = MessageKind::Conversation;
            room.tell(message(id, Author::Agent(A), kind, words[at])).asks()
        };
        for at in (0..words.len()).filter(|at| *at != late) {
            assert!(arrives(at).is_empty(), "one is missing");
        }
        assert_eq!(arrives(late), ["trigger B"], "{} was late", words[late]);
    }
}

/// R107, D46
#[test]
fn what_stands_at_the_anchor_or_before_it_is_no_piece_of_the_reply() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.says(A, "give me a moment");
    let remark = room.message;
    room.start(A);
    assert_eq!(room.channel.view().anchor(), Some(room.newest()));
    room.edit(remark, Author::Agent(A), "give me two moments");
    let mut silent = room.clone();
    assert_eq!(silent.ends(A, Outcome::Pass).causes()[0], Cause::Passed, "nothing was said");
    room.says(A, "here it is");
    assert_eq!(room.ends(A, Outcome::Pass).causes(), [Cause::Spoke], "the next one is");
}
