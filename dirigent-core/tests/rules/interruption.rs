//! Another author writes while a reply is on its way.

use crate::room::{A, B, C, Room, ended, message, millis, secs, spoke};
use dirigent_core::config::InterruptPolicy;
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    AgentKey, Author, Cause, Config, Input, MessageId, MessageKind, Outcome, PhaseKind, Refusal,
};

/// The receipt of the agent's newest run, for one message.
fn receipt_of(room: &Room, agent: AgentKey, id: u64) -> Input {
    let (run, messages) = (Some(room.run_of(agent)), vec![MessageId::new(id)]);
    Input::Receipt { agent, run, messages }
}

/// A room of three in which A has passed and B's reply is on its way.
fn b_is_delivering() -> Room {
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    room.talks(B, "a reply on its way");
    room
}

/// R114, D59, D61, D63
#[test]
fn a_person_restarts_the_cycle_with_the_first() {
    let mut room = b_is_delivering();
    let step = room.human("wait a moment");
    let story = [
        "confirming > confirming B: interrupted",
        "confirming > granted A: human-message",
        "trigger A",
    ];
    assert_eq!(step.all(), story);
    assert_eq!(room.turns(), [SeatTurn::Ahead; 3], "a new cycle");
}

/// R114, D59
#[test]
fn another_agent_restarts_the_cycle_too() {
    let mut room = b_is_delivering();
    let step = room.says(C, "by my own tool");
    assert_eq!(step.asks(), ["trigger A"]);
    assert_eq!(step.causes(), [Cause::Interrupted, Cause::AgentMessage]);
}

/// R114, D59
#[test]
fn an_agent_from_outside_the_list_interrupts_too() {
    let mut room = b_is_delivering();
    assert_eq!(room.says(crate::room::STRANGER, "from another place").asks(), ["trigger A"]);
}

/// R114, D69
#[test]
fn an_old_list_is_read_before_the_new_cycle() {
    let mut room = b_is_delivering();
    room.wait(secs(8));
    room.tell(Input::Tick);
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    room.wait(secs(61));
    room.ends(A, spoke("a reply on its way"));
    assert_eq!(room.human("wait").asks(), ["fetch members"]);
    assert_eq!(room.phase(), PhaseKind::Refreshing);
    room.present = vec![B, C];
    assert_eq!(room.members().asks(), ["trigger B"]);
}

/// R114, D61
#[test]
fn by_another_policy_the_list_just_goes_on() {
    let mut room = Room::chat_with(3, |c| c.people.interrupt = InterruptPolicy::AdvanceNormally);
    room.human("hello");
    room.talks(A, "a reply on its way");
    let step = room.human("wait a moment");
    assert_eq!(step.asks(), ["trigger B"]);
    assert_eq!(room.turns(), [SeatTurn::Spoke, SeatTurn::Ahead, SeatTurn::Ahead]);
}

/// R114, R044
#[test]
fn the_wait_is_over_after_an_interruption() {
    let mut room = b_is_delivering();
    room.human("wait a moment");
    assert_eq!(room.refusal(ended(B, Some(room.run_of(B)), Outcome::Pass)), Refusal::StaleRun);
    let asks = room.wait(secs(20)).asks();
    assert!(asks.is_empty(), "neither poll nor time-out: {asks:?}");
    assert_eq!(room.speaker(), Some(A));
}

/// R115, D50, D59, F03
#[test]
fn moderator_system_and_own_messages_never_interrupt() {
    let mut room = b_is_delivering();
    assert!(room.moderator("a trigger").is_silent());
    for author in [Author::Human, Author::Agent(A), Author::Agent(B), Author::Bot] {
        assert!(room.system(author).is_silent(), "{author:?} joined");
    }
    assert!(room.says(B, "something else of mine").is_silent());
    assert!(room.edit(1_001, Author::Human, "hello, corrected").is_silent());
    assert_eq!(room.phase(), PhaseKind::Confirming);
    assert_eq!(room.speaker(), Some(B));
}

/// R115, D59, D70
#[test]
fn bots_and_webhooks_interrupt_only_where_they_qualify() {
    let mut room = b_is_delivering();
    assert!(room.bot("beep").is_silent());
    let mut room = Room::chat_with(2, |config| config.people.bots_qualify = true);
    room.human("hello");
    room.talks(A, "a reply on its way");
    let step = room.bot("beep");
    assert_eq!(step.causes(), [Cause::Interrupted, Cause::BotMessage]);
}

/// R115
#[test]
fn the_stop_word_of_an_agent_is_ordinary_conversation() {
    let mut room = b_is_delivering();
    let step = room.post(Author::Agent(C), MessageKind::StopWord, "stop");
    assert_eq!(step.asks(), ["trigger A"]);
}

/// R116, D59, D60
#[test]
fn late_fragments_of_an_earlier_speaker_never_interrupt() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.speaks_unconfirmed(A, "a reply whose first half arrives late");
    room.talks(B, "a reply on its way");
    assert!(room.says(A, "a reply whose first half").is_silent());
    room.wait(secs(14));
    assert!(room.says(A, "arrives late").is_silent());
    assert_eq!(room.speaker(), Some(B));
}

/// R116, D59: no piece of a reply that has arrived as a whole can be late.
#[test]
fn what_an_agent_says_after_its_confirmed_turn_is_a_new_message() {
    for by_receipt in [false, true] {
        let mut room = Room::chat(3);
        room.human("hello");
        if by_receipt {
            room.talks(A, "a reply");
            room.tell(receipt_of(&room, A, 5_000));
        } else {
            room.speaks(A);
        }
        room.talks(B, "a reply on its way");
        let step = room.says(A, "by my own tool");
        assert_eq!(step.causes(), [Cause::Interrupted, Cause::AgentMessage], "{by_receipt}");
    }
}

/// R116, R126: the seed's sentence "any new message wakes".
#[test]
fn an_agents_message_right_after_its_confirmed_turn_wakes_a_dormant_room() {
    for config in [Config::default(), Config::seed_literal()] {
        let mut room = Room::chat_with(2, |it| *it = config);
        room.human("hello");
        room.members_or_nothing();
        room.passes(A);
        room.speaks(B);
        room.members();
        room.passes(A);
        room.passes(B);
        room.members();
        assert_eq!(room.phase(), PhaseKind::Dormant);
        assert_eq!(room.says(B, "by my own tool").causes(), [Cause::AgentMessage]);
    }
}

/// R116, R126
#[test]
fn an_agents_message_right_after_its_confirmed_turn_vetoes() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.speaks(A);
    room.passes(B);
    room.members();
    room.passes(A);
    assert_eq!(room.speaker(), Some(B));
    assert!(room.says(A, "by my own tool").asks().is_empty());
    room.passes(B);
    assert_eq!(room.members().asks(), ["trigger A"], "another cycle");
}

/// R116, D52, D60: the end of the reply was seen first, and matches.
#[test]
fn pieces_that_are_overtaken_by_the_last_one_are_late_pieces() {
    let end = "z".repeat(40);
    let mut room = Room::chat(3);
    room.human("hello");
    room.talks(A, &format!("what stands in the first of two messages{end}"));
    room.message += 1;
    let first = room.message;
    assert_eq!(room.says(A, &end).asks(), ["trigger B"], "the end matches");
    room.talks(B, "a reply on its way");
    let own = Author::Agent(A);
    let text = "what stands in the first of two messages";
    assert!(room.tell(message(first, own, MessageKind::Conversation, text)).is_silent());
    assert_eq!(room.phase(), PhaseKind::Confirming);
}

/// R116, D60: a receipt of a run that broke off tells only what was posted until then.
#[test]
fn a_run_that_broke_off_with_a_receipt_may_still_have_late_pieces() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    room.tell(receipt_of(&room, A, 5_000));
    assert_eq!(room.ends(A, Outcome::Failed).asks(), ["trigger B"]);
    room.talks(B, "a reply on its way");
    assert!(room.says(A, "the rest").is_silent());
}

/// R116, D60
#[test]
fn after_a_reply_that_was_taken_for_delivered_pieces_may_be_late() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.talks(A, "a reply | in columns");
    room.says(A, "a reply in two columns, one of them with this");
    assert!(room.wait(millis(1_500)).causes().contains(&Cause::QuietAfterMessage));
    room.talks(B, "a reply on its way");
    assert!(room.says(A, "and the rest of the table").is_silent());
}

/// R116, D60
#[test]
fn the_fragments_of_an_interrupted_reply_do_not_interrupt_again() {
    let mut room = b_is_delivering();
    room.human("wait a moment");
    room.talks(A, "yes?");
    assert!(room.says(B, "a reply on its way").is_silent());
    assert_eq!(room.phase(), PhaseKind::Confirming);
    assert_eq!(room.speaker(), Some(A));
}

/// R116, D59
#[test]
fn after_the_grace_time_a_message_interrupts_again() {
    for (quiet, interrupts) in [(29_999, false), (30_000, true)] {
        let mut room = Room::chat_with(3, |config| config.members.list_fresh = secs(600));
        room.human("hello");
        room.speaks_unconfirmed(A, "a reply that never arrives");
        room.start(B);
        room.wait(millis(quiet));
        room.ends(B, spoke("a reply on its way"));
        let step = room.says(A, "something new");
        assert_eq!(step.causes().contains(&Cause::Interrupted), interrupts, "after {quiet} ms");
    }
}

/// R116, D59
#[test]
fn an_agent_that_passed_has_no_late_fragments() {
    let mut room = b_is_delivering();
    let step = room.says(A, "now I do have something");
    assert_eq!(step.causes(), [Cause::Interrupted, Cause::AgentMessage]);
}

/// D62, R126
#[test]
fn before_the_end_of_the_run_nothing_is_interrupted() {
    let mut room = Room::chat(3);
    room.human("hello");
    assert!(room.says(B, "before it started").asks().is_empty());
    room.start(A);
    assert!(room.says(C, "while it runs").asks().is_empty());
    assert_eq!(room.human("me too").asks(), ["inject 1004 to A"]);
    assert_eq!(room.phase(), PhaseKind::Running);
    assert_eq!(room.speaker(), Some(A));
}
