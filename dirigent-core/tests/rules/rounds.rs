//! A round of the addressed: only those whom a person mentions speak, once (rule 62).

use crate::room::{A, B, C, D, Room, STRANGER, secs, spoke};
use dirigent_core::config::{InterruptPolicy, MentionRule};
use dirigent_core::{
    AgentKey, Author, Cause, Config, Input, Message, MessageId, MessageKind, Outcome, Refusal,
    Tail, WakeCause,
};

/// A person mentions these agents.
#[track_caller]
fn mention(room: &mut Room, agents: &[AgentKey]) -> crate::room::Step {
    room.message += 1;
    room.tell(addressed(room.message, Author::Human, agents))
}

fn addressed(id: u64, author: Author, agents: &[AgentKey]) -> Input {
    let (id, kind) = (MessageId::new(id), MessageKind::Conversation);
    let message = Message { id, author, kind, tail: Tail::of("you there"), backfilled: false };
    Input::Addressed { message, agents: agents.to_vec() }
}

fn mentions(count: usize, change: impl FnOnce(&mut Config)) -> Room {
    Room::chat_with(count, |config| {
        config.people.mentions = MentionRule::Only;
        change(config);
    })
}

/// F06
#[test]
fn only_the_addressed_speak_for_a_round_and_then_the_order_returns() {
    let mut room = mentions(4, |_| ());
    let step = mention(&mut room, &[D, B, B]);
    assert_eq!(step.causes(), [Cause::HumanMessage, Cause::NotMentioned, Cause::NextInList]);
    assert_eq!((room.speaker(), room.channel.view().round()), (Some(B), &[B, D][..]));
    room.speaks(B);
    assert_eq!(room.speaker(), Some(D), "in the order of the list");
    let order = room.order();
    room.passes(D);
    room.members();
    assert_eq!((room.order(), room.speaker()), (order, Some(A)), "no shuffle, and everybody");
    assert!(room.channel.view().round().is_empty());
}

/// F06
#[test]
fn a_round_of_the_addressed_follows_the_turn_under_way() {
    let mut room = mentions(3, |_| ());
    room.human("hello");
    room.start(A);
    let step = mention(&mut room, &[C]);
    assert_eq!(step.asks(), ["inject 1002 to A"]);
    let step = room.ends(A, Outcome::Pass);
    let causes = [
        Cause::Passed,
        Cause::MentionRound,
        Cause::NotMentioned,
        Cause::NotMentioned,
        Cause::NextInList,
    ];
    assert_eq!(step.causes(), causes);
    assert_eq!(room.speaker(), Some(C));
    mention(&mut room, &[A]);
    room.passes(C);
    let step = room.members();
    assert_eq!(step.causes()[0], Cause::MentionRound, "the next round follows this one");
    assert_eq!(room.speaker(), Some(A));
}

/// F06
#[test]
fn a_round_that_said_something_is_answered_by_the_others() {
    let mut room = mentions(2, |_| ());
    mention(&mut room, &[B]);
    room.speaks(B);
    room.tell(Input::Mute(A));
    room.members();
    assert_eq!(room.speaker(), Some(B), "whoever is available");
    let mut room = mentions(2, |_| ());
    mention(&mut room, &[B]);
    room.passes(B);
    assert_eq!(room.members().causes(), [Cause::AllPassed], "silence ends it");
}

/// F06
#[test]
fn a_round_may_begin_from_everywhere() {
    let mut waking = mentions(3, |_| ());
    waking.wait(secs(100));
    waking.tell(Input::Wake { first: Some(B), cause: WakeCause::Guide });
    mention(&mut waking, &[C]);
    waking.members();
    assert_eq!(waking.speaker(), Some(C));
    let mut boundary = mentions(3, |_| ());
    boundary.human("hello");
    boundary.all_pass();
    mention(&mut boundary, &[B]);
    let order = boundary.order();
    boundary.members();
    assert_eq!((boundary.speaker(), boundary.order()), (Some(B), order));
    for interrupt in [InterruptPolicy::RestartCycle, InterruptPolicy::AdvanceNormally] {
        let mut room = mentions(3, |config| config.people.interrupt = interrupt);
        room.human("hello");
        room.start(A);
        room.ends(A, spoke("a reply"));
        mention(&mut room, &[C]);
        assert_eq!((room.speaker(), room.channel.view().round()), (Some(C), &[C][..]));
    }
}

/// F06, D12
#[test]
fn a_choice_comes_before_a_round() {
    let mut room = mentions(3, |_| ());
    room.human("hello");
    mention(&mut room, &[A]);
    room.tell(Input::SpeakNext(C));
    room.passes(A);
    assert_eq!((room.speaker(), room.channel.view().round()), (Some(C), &[][..]));
    room.passes(C);
    assert_eq!((room.speaker(), room.channel.view().round()), (Some(A), &[A][..]));
    room.tell(Input::SpeakNext(B));
    room.passes(A);
    assert_eq!(room.speaker(), Some(B), "a choice may break a round");
}

/// F06
#[test]
fn a_mention_is_a_message_where_no_round_can_be() {
    let mut off = mentions(2, |config| config.people.mentions = MentionRule::Ignored);
    mention(&mut off, &[B]);
    assert_eq!(off.speaker(), Some(A));
    let mut room = mentions(3, |_| ());
    room.tell(Input::Mute(B));
    mention(&mut room, &[B, STRANGER]);
    assert_eq!(room.speaker(), Some(A));
    let mut room = mentions(3, |_| ());
    room.tell(addressed(5_000, Author::Agent(STRANGER), &[B]));
    assert_eq!(room.speaker(), Some(A), "only a person calls a round");
    let crowd: Vec<_> = (0..65).map(AgentKey::new).collect();
    assert_eq!(room.refusal(addressed(5_001, Author::Human, &crowd)), Refusal::TooManyAgents);
    let mut room = mentions(2, |_| ());
    room.tell(Input::Stop);
    mention(&mut room, &[B]);
    room.tell(Input::Resume);
    assert_eq!(room.speaker(), Some(A));
}
