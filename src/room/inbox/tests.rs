use dirigent_core::MessageId;

use super::*;
use crate::ChannelId;

fn message(id: u64, text: &str) -> Arc<ChatMessage> {
    let (id, channel) = (MessageId::new(id), ChannelId::new(1));
    Arc::new(ChatMessage::new(id, channel, UserId::new(2), text))
}

fn page(ids: impl IntoIterator<Item = u64>) -> Vec<Arc<ChatMessage>> {
    ids.into_iter().map(|id| message(id, "read")).collect()
}

fn ids(inbox: &Inbox, limit: usize) -> Option<Vec<u64>> {
    let said = inbox.transcript(limit)?;
    Some(said.iter().map(|message| message.id.get()).collect())
}

/// N5
#[test]
fn a_page_is_not_kept_where_what_it_tells_may_have_changed_while_it_was_read() {
    let happens: [fn(&mut Inbox); 4] = [
        |inbox| inbox.deleted(MessageId::new(1)),
        |inbox| inbox.changed(ChatMessage::clone(&message(1, "edited"))),
        // It is no longer in memory, and came after the page was made.
        |inbox| inbox.remember(message(3, "pushed"), 0),
        |inbox| inbox.forget(),
    ];
    for (at, happens) in happens.into_iter().enumerate() {
        let mut inbox = Inbox::default();
        let begun = inbox.changes();
        happens(&mut inbox);
        inbox.recall(&page([1, 2]), begun);
        assert_eq!(ids(&inbox, 10), None, "{at}");
        inbox.recall(&page([1, 2]), inbox.changes());
        assert_eq!(ids(&inbox, 10), Some(vec![1, 2]), "{at}");
    }
}

/// N5
#[test]
fn of_two_reads_at_once_the_later_page_takes_nothing_away() {
    let mut inbox = Inbox::default();
    let begun = inbox.changes();
    inbox.recall(&page([1, 2]), begun);
    inbox.remember(message(3, "pushed"), 0);
    inbox.recall(&page([1]), begun);
    assert_eq!(ids(&inbox, 10), Some(vec![1, 2, 3]));
}

/// N5
#[test]
fn a_transcript_is_in_order_whole_and_without_notices_whatever_comes_late_or_twice() {
    let mut inbox = Inbox::default();
    for id in [4, 6, 5, 6] {
        inbox.remember(message(id, "pushed"), 3);
    }
    let notice = ChatMessage { kind: ChatKind::System, ..(*message(7, "pin")).clone() };
    assert_eq!(ids(&inbox, 3), Some(vec![4, 5, 6]));
    assert_eq!(ids(&inbox, 4), None, "there may be more");
    inbox.recall(&page(1..=100), inbox.changes());
    assert_eq!(ids(&inbox, 3), Some(vec![98, 99, 100]));
    inbox.remember(Arc::new(notice), 3);
    for id in [103, 101, 102, 50, 104] {
        inbox.remember(message(id, "pushed"), 3);
    }
    assert_eq!(ids(&inbox, 6), Some((99..=104).collect()));
    for id in 105..=300 {
        inbox.remember(message(id, "pushed"), 3);
    }
    assert_eq!(ids(&inbox, TRANSCRIPT_MAX), Some((201..=300).collect()));
    let kept = inbox.earlier.as_ref().map(|earlier| earlier.messages.len());
    assert_eq!(kept, Some(TRANSCRIPT_MAX), "no more than a transcript needs");
}

#[test]
fn what_a_failed_call_was_given_is_given_again_with_the_next_turn() {
    let (agent, turn) = (AgentKey::new(7), TurnId::new);
    let mut inbox = Inbox::default();
    let missed = |inbox: &mut Inbox, number| -> Vec<u64> {
        let missed = inbox.missed(agent, turn(number), None, None);
        missed.iter().map(|message| message.id.get()).collect()
    };
    inbox.remember(message(1, "heard"), 9);
    assert_eq!(missed(&mut inbox, 1), [1]);
    inbox.remember(message(2, "asked"), 9);
    assert_eq!(missed(&mut inbox, 2), [2]);
    inbox.took(agent, MessageId::new(3));
    inbox.failed(agent);
    inbox.remember(message(3, "asked meanwhile"), 9);
    assert_eq!(missed(&mut inbox, 3), [2, 3], "and what it took while it ran");
    assert!(missed(&mut inbox, 4).is_empty(), "once it has succeeded, nothing");
}
