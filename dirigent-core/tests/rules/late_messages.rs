//! Messages that were read late from the history, and several inputs at one time.

use std::sync::Arc;

use dirigent_core::{
    Author, Channel, Config, Input, Message, MessageId, MessageKind, Mode, PhaseKind, Refusal,
    Snapshot, Tail,
};

use super::room::{A, B, Room, START, secs};

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

#[test]
fn a_pass_is_the_same_as_its_inputs_one_by_one() {
    let inputs = [
        Input::SetMode(Mode::Chat),
        Input::Mute(A),
        word(5, false),
        Input::Unmute(B),
        Input::Stop,
        Input::Resume,
    ];
    let config = Arc::new(Config::default());
    let mut one_by_one = Channel::new(Arc::clone(&config), 1);
    let mut at_once = Channel::new(config, 1);
    let (mut expected, mut effects) = (Vec::new(), Vec::new());
    let answers: Vec<_> =
        inputs.iter().map(|input| one_by_one.handle(START, input, &mut expected)).collect();
    let mut pass = at_once.pass(START, &mut effects);
    assert!(inputs.iter().map(|input| pass.take(input)).eq(answers));
    pass.finish();
    assert_eq!(effects, expected);
    let (mut ours, mut theirs) = (Snapshot::default(), Snapshot::default());
    at_once.snapshot_into(&mut ours);
    one_by_one.snapshot_into(&mut theirs);
    assert_eq!(ours, theirs);
}
