//! Messages that were read late from the history.

use dirigent_core::{Author, Input, Message, MessageId, MessageKind, PhaseKind, Refusal, Tail};

use super::room::{Room, secs};

fn word(id: u64, backfilled: bool) -> Input {
    let (author, kind) = (Author::Human, MessageKind::Conversation);
    let (id, tail) = (MessageId::new(id), Tail::of("hello"));
    Input::Message(Message { id, author, kind, tail, backfilled })
}

#[test]
fn a_word_below_what_was_forgotten_counts_when_it_was_read_late() {
    let mut room = Room::chat(2);
    room.moderator("a newer message");
    room.wait(secs(601));
    assert_eq!(room.refusal(word(900, false)), Refusal::RepeatedMessage);
    room.tell(word(900, true));
    assert_ne!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.channel.view().newest(), Some(room.newest()));
}

#[test]
fn a_word_read_late_counts_once_while_its_id_is_remembered() {
    let mut room = Room::chat(2);
    room.human("hello");
    let id = room.newest().get();
    assert_eq!(room.refusal(word(id, true)), Refusal::RepeatedMessage);
    room.tell(word(500, true));
    assert_eq!(room.refusal(word(500, true)), Refusal::RepeatedMessage);
}
