use super::*;
use crate::ChannelId;
use crate::values::message::AuthorKind;

const PERSON: UserId = UserId::new(2);
const BOT: UserId = UserId::new(9);
const ONE: AgentKey = AgentKey::new(1);
const WIDE: Bounds = Bounds { messages: 500, bytes: 64 * 1024 };

fn word(id: u64) -> Arc<ChatMessage> {
    let (id, channel) = (MessageId::new(id), ChannelId::new(1));
    Arc::new(ChatMessage::new(id, channel, PERSON, "word"))
}

fn chatter(id: u64) -> Arc<ChatMessage> {
    let message = ChatMessage::clone(&word(id));
    Arc::new(ChatMessage { author: BOT, author_kind: AuthorKind::Bot, ..message })
}

fn turn(number: u64) -> TurnId {
    TurnId::new(number)
}

fn span(first: u64, last: u64) -> Span {
    Span { first: MessageId::new(first), last: MessageId::new(last) }
}

/// What the agent is handed in this turn, which begins.
fn call(inbox: &mut Inbox, number: u64, bounds: Bounds) -> Vec<u64> {
    let handout = inbox.hand_out(ONE, turn(number), None, bounds, false).unwrap();
    let brought = inbox.handed(handout);
    brought.messages.iter().map(|message| message.id.get()).collect()
}

fn listening() -> Inbox {
    let mut inbox = Inbox::default();
    inbox.meet(ONE);
    inbox
}

#[test]
fn an_agent_is_handed_each_message_in_one_turn_that_ends_well() {
    let mut inbox = listening();
    inbox.remember(word(1));
    assert_eq!(call(&mut inbox, 1, WIDE), [1]);
    inbox.taken_away(ONE);
    inbox.remember(word(2));
    assert_eq!(call(&mut inbox, 2, WIDE), [1, 2], "the turn was taken away");
    inbox.remember(chatter(4));
    inbox.remember(word(3));
    assert!(inbox.ended_well(ONE, true));
    assert_eq!(call(&mut inbox, 2, WIDE), [1, 2, 3, 4], "the same turn again");
    assert!(inbox.ended_well(ONE, true));
    assert_eq!(call(&mut inbox, 3, WIDE), [0; 0]);
}

/// An initiator that was reminded twice: its permits' runs are in no turn.
#[test]
fn what_the_run_of_a_permit_brought_the_next_ones_does_not() {
    let mut inbox = listening();
    inbox.remember(word(1));
    assert_eq!(call(&mut inbox, 0, WIDE), [1]);
    assert!(inbox.ended_well(ONE, true));
    assert_eq!(call(&mut inbox, 0, WIDE), [0; 0]);
}

#[test]
fn what_an_agent_took_while_it_ran_comes_again_only_if_it_did_not_take_all() {
    for took_all in [true, false] {
        let mut inbox = listening();
        inbox.remember(word(1));
        assert_eq!(call(&mut inbox, 1, WIDE), [1]);
        for id in [2, 3, 4] {
            inbox.remember(word(id));
        }
        inbox.injected(ONE, &[MessageId::new(3)]);
        assert!(inbox.ended_well(ONE, took_all));
        let rest: &[u64] = if took_all { &[2, 4] } else { &[2, 3, 4] };
        assert_eq!(call(&mut inbox, 2, WIDE), rest);
    }
}

#[test]
fn messages_that_come_late_are_handed_over_whatever_the_agent_was_handed_before() {
    let mut inbox = listening();
    for id in [10, 20, 30] {
        inbox.remember(chatter(id));
    }
    assert_eq!(call(&mut inbox, 1, WIDE), [10, 20, 30]);
    inbox.remember(word(15));
    inbox.ended_well(ONE, true);
    inbox.remember(word(25));
    inbox.remember(word(26));
    inbox.remember(word(5));
    assert_eq!(call(&mut inbox, 2, WIDE), [5, 15, 25, 26]);
    inbox.ended_well(ONE, true);
    assert_eq!(call(&mut inbox, 3, WIDE), [0; 0]);
}

/// WD1
#[test]
fn more_than_fits_into_a_turn_comes_in_the_next_ones_the_oldest_first() {
    let mut inbox = listening();
    (1..=7).for_each(|id| inbox.remember(word(id)));
    let bounds = Bounds { messages: 3, ..WIDE };
    assert_eq!(call(&mut inbox, 1, bounds), [1, 2, 3]);
    assert!(inbox.ended_well(ONE, true));
    assert_eq!(
        inbox.wakes_for(false),
        Some(MessageId::new(7)),
        "the channel does not sleep over the rest"
    );
    assert_eq!(inbox.wakes_for(true), None, "an agent has asked a person something");
    assert_eq!(inbox.unserved(), Some(span(4, 7)));
    inbox.remember(word(8));
    assert_eq!(call(&mut inbox, 2, bounds), [4, 5, 6]);
    inbox.ended_well(ONE, true);
    assert_eq!(call(&mut inbox, 3, bounds), [7, 8]);
    inbox.ended_well(ONE, true);
    assert_eq!((inbox.wakes_for(false), inbox.unserved()), (None, None));
    let long = ChatMessage { content: "x".repeat(100).into(), ..(*word(9)).clone() };
    inbox.remember(Arc::new(long));
    inbox.remember(word(10));
    let bounds = Bounds { bytes: 50, ..WIDE };
    assert_eq!(call(&mut inbox, 4, bounds), [9], "one message always fits");
}

/// WD1
#[test]
fn of_what_others_said_the_newest_come_and_the_rest_is_counted() {
    let mut inbox = listening();
    (1..=9).for_each(|id| inbox.remember(if id == 2 { word(id) } else { chatter(id) }));
    let bounds = Bounds { messages: 3, ..WIDE };
    let handout = inbox.hand_out(ONE, turn(1), None, bounds, false).unwrap();
    let ids: Vec<_> = handout.brought.messages.iter().map(|message| message.id.get()).collect();
    assert_eq!((ids, handout.brought.left_out, handout.brought.lost), (vec![2, 8, 9], 6, 0));
}

/// WD1
#[test]
fn what_left_memory_is_read_again_once_for_all_agents() {
    let mut inbox = listening();
    inbox.meet(AgentKey::new(2));
    (1..=300).for_each(|id| inbox.remember(word(id)));
    inbox.give_way();
    inbox.remember(word(301));
    let wanted = inbox.hand_out(ONE, turn(1), None, WIDE, false).unwrap_err();
    assert_eq!(wanted, span(1, 300));
    inbox.texts_mut().read(span(1, 100), (1..=100).map(word).collect());
    let wanted = inbox.hand_out(ONE, turn(1), None, WIDE, false).unwrap_err();
    assert_eq!(wanted, span(101, 300));
    let narrow = Bounds { messages: 50, ..WIDE };
    assert_eq!(call(&mut inbox, 1, narrow), (1..=50).collect::<Vec<_>>(), "enough is there");
    inbox.texts_mut().read(span(101, 300), (101..=298).map(word).collect());
    for agent in [ONE, AgentKey::new(2)] {
        let handout = inbox.hand_out(agent, turn(1), None, WIDE, false).unwrap();
        assert_eq!((handout.brought.messages.len(), handout.brought.lost), (299, 2));
        inbox.handed(handout);
        inbox.ended_well(agent, true);
    }
    assert_eq!(inbox.behind(inbox.unserved()).count(), 0);
}

/// WD2
#[test]
fn what_cannot_be_read_stays_for_the_next_turn() {
    let handed = ReadMark { until: Some(MessageId::new(5)), ..ReadMark::new(ONE) };
    let newest = Some(MessageId::new(20));
    let mut inbox = Inbox::restored(vec![handed], None, newest, [ONE].into_iter());
    inbox.remember(word(21));
    assert_eq!(inbox.hand_out(ONE, turn(1), None, WIDE, false).unwrap_err(), span(6, 20));
    let handout = inbox.hand_out(ONE, turn(1), None, WIDE, true).unwrap();
    assert_eq!(handout.brought.messages.len(), 1);
    inbox.handed(handout);
    inbox.ended_well(ONE, true);
    assert_eq!(inbox.hand_out(ONE, turn(2), None, WIDE, false).unwrap_err(), span(6, 20));
    inbox.texts_mut().read(span(6, 20), vec![word(7), word(12)]);
    assert_eq!(call(&mut inbox, 2, WIDE), [7, 12]);
}

/// WY9
#[test]
fn an_agent_that_fails_is_handed_the_same_again_three_times_and_then_does_without() {
    let mut inbox = listening();
    inbox.remember(word(1));
    for number in 1..=4 {
        assert!(call(&mut inbox, number, WIDE).contains(&1), "{number}");
        assert_eq!(inbox.failed(ONE), usize::from(number == 4));
        inbox.remember(word(10 * number));
    }
    let handout = inbox.hand_out(ONE, turn(5), None, WIDE, false).unwrap();
    assert_eq!(
        (handout.brought.lost, handout.brought.messages.len()),
        (1, 4),
        "what came since is handed to it"
    );
    inbox.handed(handout);
    inbox.ended_well(ONE, true);
    let handout = inbox.hand_out(ONE, turn(6), None, WIDE, false).unwrap();
    assert_eq!((handout.brought.lost, handout.brought.messages.len()), (0, 0), "told once");
}

/// A turn that had no room for a word does not forget how often the agent failed with it.
#[test]
fn a_turn_that_ends_well_without_a_word_forgives_no_failure_with_it() {
    const ONE_AT_ONCE: Bounds = Bounds { messages: 1, ..WIDE };
    let mut inbox = listening();
    inbox.remember(word(7));
    for number in 1..=3 {
        assert_eq!(call(&mut inbox, number, ONE_AT_ONCE), [7]);
        assert_eq!(inbox.failed(ONE), 0);
    }
    inbox.remember(word(3));
    assert_eq!(call(&mut inbox, 4, ONE_AT_ONCE), [3]);
    assert!(inbox.ended_well(ONE, true));
    assert_eq!(call(&mut inbox, 5, ONE_AT_ONCE), [7]);
    assert_eq!(inbox.failed(ONE), 1, "for the fourth time");
}

/// WD3
#[test]
fn an_agents_own_post_is_no_answer_to_what_it_was_not_handed() {
    let mut inbox = listening();
    inbox.remember(chatter(1));
    assert_eq!(call(&mut inbox, 1, WIDE), [1]);
    inbox.ended_well(ONE, true);
    let own = |id| Arc::new(ChatMessage { author: UserId::new(101), ..(*chatter(id)).clone() });
    inbox.remember_own(Some(ONE), own(2));
    assert_eq!(inbox.behind(inbox.unserved()).count(), 0, "its own words are no news");
    inbox.remember(word(3));
    inbox.remember_own(Some(ONE), own(4));
    let behind: Vec<_> = inbox.behind(inbox.unserved()).cloned().collect();
    let (newest, listed) = (Some(MessageId::new(4)), [ONE].into_iter());
    let mut later = Inbox::restored(behind, None, newest, listed);
    later.texts_mut().read(span(3, 4), vec![word(3), own(4)]);
    let handout = later.hand_out(ONE, turn(2), Some(UserId::new(101)), WIDE, false).unwrap();
    assert_eq!(handout.brought.messages.len(), 1);
}

#[test]
fn a_new_agent_is_handed_what_was_said_of_late_and_what_no_agent_was_handed() {
    let mut inbox = listening();
    (1..=80).for_each(|id| inbox.remember(word(id)));
    let two = AgentKey::new(2);
    inbox.meet(two);
    let handout = inbox.hand_out(two, turn(1), None, WIDE, false).unwrap();
    assert_eq!(handout.brought.messages.len(), 80, "no agent was handed them");
    call(&mut inbox, 1, WIDE);
    inbox.ended_well(ONE, true);
    let three = AgentKey::new(3);
    inbox.meet(three);
    let handout = inbox.hand_out(three, turn(1), None, WIDE, false).unwrap();
    assert_eq!(handout.brought.messages.len(), super::super::texts::KEPT);
}

/// A process ended between the wake for these words and the first turn of an agent that had been absent until then.
#[test]
fn an_agent_that_was_never_met_is_handed_what_no_turn_has_taken() {
    let behind = ReadMark { until: Some(MessageId::new(5)), ..ReadMark::new(AgentKey::new(0)) };
    let listed = [AgentKey::new(0), ONE].into_iter();
    let newest = Some(MessageId::new(9));
    let mut inbox = Inbox::restored(vec![behind], Some(span(6, 9)), newest, listed);
    let asked = inbox.hand_out(ONE, turn(1), None, WIDE, false).unwrap_err();
    assert_eq!(asked, span(6, 9), "it is read from the chat");
}

/// WD1
#[test]
fn a_turn_brings_no_more_bytes_than_it_may() {
    let mut inbox = listening();
    (1..=5).for_each(|id| inbox.remember(word(id)));
    // Each takes 36 bytes in a prompt.
    let bounds = Bounds { bytes: 100, ..WIDE };
    assert_eq!(call(&mut inbox, 1, bounds), [1, 2]);
    inbox.ended_well(ONE, true);
    assert_eq!(call(&mut inbox, 2, bounds), [3, 4]);
}

/// WD1
#[test]
fn words_are_served_once_an_agent_was_handed_the_first_and_the_last_of_them() {
    let mut inbox = listening();
    (1..=2).for_each(|id| inbox.remember(word(id)));
    inbox.keep_unserved(span(1, 2));
    let one = Bounds { messages: 1, ..WIDE };
    for (number, waits) in [(1, Some(MessageId::new(2))), (2, None)] {
        assert_eq!(call(&mut inbox, number, one), [number]);
        inbox.ended_well(ONE, true);
        assert_eq!(inbox.wakes_for(true), waits, "after turn {number}");
    }
}

/// WD1
#[test]
fn a_deleted_message_makes_nothing_older_the_newest() {
    let mut inbox = listening();
    (1..=2).for_each(|id| inbox.remember(word(id)));
    inbox.keep_unserved(span(1, 2));
    inbox.deleted(MessageId::new(2));
    assert_eq!(call(&mut inbox, 1, WIDE), [1]);
    inbox.ended_well(ONE, true);
    assert_eq!((inbox.wakes_for(false), inbox.behind(inbox.unserved()).count()), (None, 0));
}

/// WD1
#[test]
fn words_in_no_turn_are_handed_after_a_restart_to_whom_they_were_not_handed_before() {
    let newest = Some(MessageId::new(5));
    let mut unmet = Inbox::restored(Vec::new(), Some(span(3, 4)), newest, [ONE].into_iter());
    assert_eq!(unmet.hand_out(ONE, turn(1), None, WIDE, false).unwrap_err(), span(3, 5));
    let mut inbox = listening();
    (1..=5).for_each(|id| inbox.remember(word(id)));
    assert_eq!(call(&mut inbox, 1, WIDE), [1, 2, 3, 4, 5]);
    inbox.ended_well(ONE, true);
    inbox.keep_unserved(span(3, 4));
    let behind = inbox.behind(inbox.unserved()).cloned().collect();
    let mut later = Inbox::restored(behind, inbox.unserved(), newest, [ONE].into_iter());
    assert_eq!(call(&mut later, 2, WIDE), [0; 0], "it was met, and handed all");
}

/// Two agents are handed two words a turn; one of them was a turn ahead when the process ended.
#[test]
fn an_agent_that_was_handed_all_is_handed_nothing_again_because_another_is_behind() {
    let (mut inbox, other) = (listening(), AgentKey::new(2));
    inbox.meet(other);
    (1..=4).for_each(|id| inbox.remember(word(id)));
    let two = Bounds { messages: 2, ..WIDE };
    let handout = inbox.hand_out(other, turn(1), None, two, false).unwrap();
    inbox.handed(handout);
    inbox.ended_well(other, true);
    assert_eq!(call(&mut inbox, 2, WIDE), [1, 2, 3, 4]);
    inbox.ended_well(ONE, true);
    assert_eq!(inbox.unserved(), Some(span(3, 4)));
    let behind = inbox.behind(inbox.unserved()).cloned().collect();
    let listed = [ONE, other].into_iter();
    let newest = Some(MessageId::new(4));
    let mut later = Inbox::restored(behind, inbox.unserved(), newest, listed);
    assert_eq!(call(&mut later, 3, WIDE), [0; 0]);
    assert_eq!(later.hand_out(other, turn(4), None, WIDE, false).unwrap_err(), span(3, 4));
}

/// Seed 255 of the driver's simulation: ranges that could not be read, and are read later, one after the other.
#[test]
fn however_many_ranges_an_agent_is_owed_each_is_read_once() {
    for ranges in [5, 100, 256] {
        let owed: Vec<_> = (1..=ranges).map(|at| span(at * 10, at * 10 + 1)).collect();
        let until = Some(MessageId::new(10_000));
        let handed = ReadMark { until, owed: owed.clone(), ..ReadMark::new(ONE) };
        let mut inbox = Inbox::restored(vec![handed], None, until, [ONE].into_iter());
        let mut read = Vec::new();
        while let Err(span) = inbox.hand_out(ONE, turn(1), None, WIDE, false) {
            assert!(read.len() < owed.len(), "{ranges}: {span:?} is read again");
            inbox.texts_mut().read(span, vec![word(span.first.get())]);
            read.push(span);
        }
        assert_eq!(read, owed);
    }
}

/// HR22: who was handed a question is not handed its copy; who was not, is, also where the question came late.
#[test]
fn a_copy_is_handed_to_whom_the_original_was_not() {
    for (comes_late, is_handed) in [(false, true), (false, false), (true, false)] {
        let mut inbox = listening();
        if comes_late {
            inbox.remember(word(2));
        } else {
            inbox.remember(word(1));
        }
        if is_handed || comes_late {
            call(&mut inbox, 1, WIDE);
            inbox.ended_well(ONE, true);
        }
        if comes_late {
            inbox.remember(word(1));
        }
        let original = MessageId::new(1);
        assert_eq!(inbox.was_brought(original), is_handed);
        inbox.deleted(original);
        inbox.remember_copy(original, word(3));
        let expected: &[u64] = if is_handed { &[] } else { &[3] };
        assert_eq!(call(&mut inbox, 2, WIDE), expected, "late {comes_late}, handed {is_handed}");
    }
}
