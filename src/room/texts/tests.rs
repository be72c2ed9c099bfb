use super::*;
use crate::ChannelId;
use crate::values::message::ChatKind;

fn message(id: u64, text: &str) -> Arc<ChatMessage> {
    let (id, channel) = (MessageId::new(id), ChannelId::new(1));
    Arc::new(ChatMessage::new(id, channel, UserId::new(2), text))
}

fn page(ids: impl IntoIterator<Item = u64>) -> Vec<Arc<ChatMessage>> {
    ids.into_iter().map(|id| message(id, "read")).collect()
}

fn ids(texts: &Texts, limit: usize) -> Option<Vec<u64>> {
    let said = texts.transcript(limit)?;
    Some(said.iter().map(|message| message.id.get()).collect())
}

fn span(first: u64, last: u64) -> Span {
    Span { first: MessageId::new(first), last: MessageId::new(last) }
}

/// N5
#[test]
fn a_page_is_not_kept_where_what_it_tells_may_have_changed_while_it_was_read() {
    let happens: [fn(&mut Texts); 4] = [
        |texts| texts.deleted(MessageId::new(1)),
        |texts| texts.changed(ChatMessage::clone(&message(1, "edited"))),
        // It is no longer in memory, and came after the page was made.
        |texts| {
            texts.keep(message(3, "pushed"));
            texts.give_way();
        },
        |texts| texts.forget(None),
    ];
    for (at, happens) in happens.into_iter().enumerate() {
        let mut texts = Texts::default();
        let begun = texts.changes();
        happens(&mut texts);
        texts.recall(&page([1, 2]), begun);
        assert_eq!(ids(&texts, 10), None, "{at}");
        texts.recall(&page([1, 2]), texts.changes());
        assert_eq!(ids(&texts, 10), Some(vec![1, 2]), "{at}");
    }
}

/// N5
#[test]
fn of_two_reads_at_once_the_later_page_takes_nothing_away() {
    let mut texts = Texts::default();
    let begun = texts.changes();
    texts.recall(&page([1, 2]), begun);
    texts.keep(message(3, "pushed"));
    texts.recall(&page([1]), begun);
    assert_eq!(ids(&texts, 10), Some(vec![1, 2, 3]));
}

/// N5
#[test]
fn a_transcript_is_in_order_whole_and_without_notices_whatever_comes_late_or_twice() {
    let mut texts = Texts::default();
    for id in [4, 6, 5, 6] {
        texts.keep(message(id, "pushed"));
    }
    let notice = ChatMessage { kind: ChatKind::System, ..(*message(7, "pin")).clone() };
    assert_eq!(ids(&texts, 3), Some(vec![4, 5, 6]));
    assert_eq!(ids(&texts, 4), None, "there may be more");
    texts.recall(&page(1..=100), texts.changes());
    assert_eq!(ids(&texts, 3), Some(vec![98, 99, 100]));
    texts.keep(Arc::new(notice));
    for id in [103, 101, 102, 50, 104] {
        texts.keep(message(id, "pushed"));
    }
    assert_eq!(ids(&texts, 6), Some((99..=104).collect()));
    for id in 105..=300 {
        texts.keep(message(id, "pushed"));
        let newest = texts.newest();
        texts.release(|| newest);
    }
    assert_eq!(ids(&texts, TRANSCRIPT_MAX), Some((201..=300).collect()));
    let kept = texts.earlier.as_ref().map(|earlier| earlier.messages.len());
    assert_eq!(kept, Some(TRANSCRIPT_MAX), "no more than a transcript needs");
}

#[test]
fn a_transcript_has_no_hole_where_older_messages_came_late() {
    let mut texts = Texts::beginning_after(Some(MessageId::new(50)));
    for id in [10, 51, 52] {
        texts.keep(message(id, "pushed"));
    }
    assert_eq!(ids(&texts, 2), Some(vec![51, 52]));
    assert_eq!(ids(&texts, 3), None, "what stands between 10 and 51 is not in memory");
}

#[test]
fn what_nobody_needs_leaves_memory_and_the_newest_stay() {
    let mut texts = Texts::default();
    for id in 1..=200 {
        texts.keep(message(id, "word"));
    }
    let before = texts.bytes();
    texts.release(|| Some(MessageId::new(120)));
    assert_eq!((texts.reach(), texts.recent.len()), (Some(MessageId::new(120)), 80));
    assert!(texts.bytes() < before);
    texts.release(|| Some(MessageId::new(190)));
    assert_eq!(texts.recent.len(), KEPT);
    texts.give_way();
    assert_eq!((texts.bytes(), texts.reach()), (0, Some(MessageId::new(200))));
}

#[test]
fn what_is_read_again_grows_page_by_page_and_tells_what_the_chat_has_no_more() {
    let mut texts = Texts::default();
    for id in 1..=6 {
        texts.keep(message(id, "word"));
    }
    texts.give_way();
    assert_eq!(texts.read_up_to(MessageId::new(1)), None);
    texts.read(span(1, 3), page([1, 3]));
    texts.read(span(4, 6), page([4]));
    assert_eq!(texts.read_up_to(MessageId::new(2)), Some(MessageId::new(6)));
    assert_eq!(texts.read_within(span(2, 4)).count(), 2);
    let lost = |first, last| texts.lost_within(MessageId::new(first)..=MessageId::new(last));
    assert_eq!((lost(1, 6), lost(4, 5), lost(3, 3)), (3, 1, 0));
    texts.deleted(MessageId::new(2));
    assert_eq!(
        texts.lost_within(MessageId::new(1)..=MessageId::new(6)),
        2,
        "its author took it back"
    );
    let firsts = (1..STRETCHES_MAX as u64).map(|at| at * 10);
    for first in firsts {
        texts.read(span(first, first), page([first]));
    }
    assert_eq!(texts.read_up_to(MessageId::new(1)), Some(MessageId::new(6)), "others stay");
    texts.read(span(9_999, 9_999), page([9_999]));
    assert_eq!(texts.read_up_to(MessageId::new(1)), None, "the oldest makes room");
}

#[test]
fn what_was_read_is_read_again_once_a_late_message_of_that_range_left_memory() {
    let mut texts = Texts::beginning_after(Some(MessageId::new(100)));
    texts.read(span(1, 100), page([10, 20, 30]));
    texts.keep(message(15, "late"));
    assert_eq!(texts.read_up_to(MessageId::new(1)), Some(MessageId::new(100)));
    for id in 101..=150 {
        texts.keep(message(id, "new"));
    }
    texts.release(|| Some(MessageId::new(50)));
    assert_eq!(texts.read_up_to(MessageId::new(1)), None, "the page does not have it");
}

#[test]
fn what_texts_take_is_what_is_there_whatever_came_and_went() {
    let mut texts = Texts::beginning_after(Some(MessageId::new(500)));
    let happens: [fn(&mut Texts); 8] = [
        |texts| texts.read(span(1, 100), page(1..=100)),
        |texts| texts.read(span(101, 150), page(101..=150)),
        |texts| {
            for at in 0..STRETCHES_MAX as u64 {
                texts.read(span(200 + at * 9, 203 + at * 9), page([201 + at * 9]));
            }
        },
        |texts| (501..=600).for_each(|id| assert!(texts.keep(message(id, "said")))),
        |texts| texts.changed(ChatMessage::clone(&message(201, "edited, and longer"))),
        |texts| texts.release(|| Some(MessageId::new(540))),
        |texts| texts.deleted(MessageId::new(590)),
        |texts| texts.give_way(),
    ];
    for (at, happens) in happens.into_iter().enumerate() {
        happens(&mut texts);
        let told = texts.bytes();
        texts.weigh();
        assert_eq!(told, texts.bytes(), "{at}");
    }
    assert_eq!(texts.bytes(), 0);
}
