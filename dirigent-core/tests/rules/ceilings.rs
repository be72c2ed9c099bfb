//! How long agents may talk among themselves.

use crate::room::{A, B, Room, STRANGER, secs};
use dirigent_core::{
    Author, Cause, Config, Input, MessageKind, Mode, Outcome, PhaseKind, Reason, Refusal, WakeCause,
};

/// Lets the agents talk until nobody has the floor and nobody is asked for the members; gives the
/// last step.
fn talk_on(room: &mut Room) -> crate::room::Step {
    loop {
        let speaker = room.speaker().expect("somebody has the floor");
        let mut step = room.speaks(speaker);
        if room.phase() == PhaseKind::Refreshing {
            step = room.members();
        }
        if room.phase() == PhaseKind::Dormant {
            return step;
        }
    }
}

/// F01
#[test]
fn after_sixty_turns_without_a_person_the_channel_rests() {
    let mut room = Room::chat_with(2, |config| config.cycles_max = None);
    room.human("talk among yourselves");
    let step = talk_on(&mut room);
    assert_eq!(room.grants(), 60);
    assert_eq!(step.asks(), ["notice ceiling"]);
    assert!(step.causes().contains(&Cause::CeilingReached));
    assert_eq!(room.gate(A).reason(), Reason::CeilingReached);
}

/// F01
#[test]
fn after_twelve_cycles_without_a_person_the_channel_rests() {
    let mut room = Room::chat(3);
    room.human("talk among yourselves");
    let step = talk_on(&mut room);
    assert_eq!(room.grants(), 36);
    assert_eq!(step.asks(), ["notice ceiling"]);
    assert_eq!(room.channel.view().cycles_since_human(), 12);
}

/// F01, F28: agents that work out a result may talk longer than agents in a chat.
#[test]
fn a_discussion_has_ceilings_of_its_own() {
    // The ceiling of turns is met when the first turn of another cycle is due.
    for (agents, turns, cycles) in [(2, 80, 40), (3, 120, 40), (8, 160, 21)] {
        let mut room = Room::discussion_with(agents, |config| {
            (config.turns_max, config.cycles_max) = (Some(1), Some(1));
        });
        room.tell(Input::Wake { first: None, cause: WakeCause::Guide });
        let step = talk_on(&mut room);
        assert_eq!(room.grants(), turns, "{agents} agents");
        assert_eq!(room.channel.view().cycles_since_human(), cycles);
        assert!(step.causes().contains(&Cause::CeilingReached));
        assert!(room.channel.view().is_at_ceiling());
    }
}

/// F01: in seed 4 agents work on a task together, until it is done.
#[test]
fn the_message_flow_goes_on_for_sixty_cycles() {
    for (agents, turns) in [(2, 120), (3, 180), (5, 240)] {
        let mut room = Room::chat_with(agents, |config| *config = Config::message_flow());
        room.human("build it");
        talk_on(&mut room);
        assert_eq!(room.grants(), turns, "{agents} agents");
    }
}

/// F01
#[test]
fn the_ceilings_are_settings() {
    let mut room = Room::chat_with(2, |config| config.turns_max = Some(5));
    room.human("hello");
    talk_on(&mut room);
    assert_eq!(room.grants(), 5);
    let mut room = Room::chat_with(2, |config| config.cycles_max = Some(1));
    room.human("hello");
    talk_on(&mut room);
    assert_eq!(room.grants(), 2);
    let mut free = Room::chat_with(2, |config| {
        config.turns_max = None;
        config.cycles_max = None;
    });
    free.human("hello");
    for _ in 0..100 {
        free.speaks(A);
        free.speaks(B);
        free.members();
    }
    assert_eq!(free.grants(), 201);
}

/// A chat of two that has reached its ceiling of four turns.
fn at_the_ceiling() -> Room {
    let mut room = Room::chat_with(2, |config| config.turns_max = Some(4));
    room.human("hello");
    talk_on(&mut room);
    room
}

/// F01
#[test]
fn the_notice_is_posted_once() {
    let mut room = at_the_ceiling();
    room.wait(secs(60));
    for agent in [A, B, STRANGER] {
        assert!(room.says(agent, "may I go on?").asks().is_empty());
    }
    assert!(room.wait(secs(3_600)).asks().is_empty());
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// F01, F02
#[test]
fn only_a_person_lifts_the_ceiling() {
    let mut room = at_the_ceiling();
    room.wait(secs(31));
    assert!(room.says(B, "may I go on?").asks().is_empty());
    assert!(room.bot("beep").is_silent());
    assert!(room.system(Author::Human).is_silent());
    assert!(room.moderator("a notice").is_silent());
    let guide = Input::Wake { first: None, cause: WakeCause::Guide };
    assert_eq!(room.refusal(guide), Refusal::CeilingReached);
    let step = room.human("go on");
    assert_eq!(step.asks(), ["trigger A"]);
    assert!(step.causes().contains(&Cause::CeilingReset));
    talk_on(&mut room);
    assert_eq!(room.grants(), 8, "another four turns");
}

/// F02
#[test]
fn an_operator_counts_as_a_person() {
    let mut room = at_the_ceiling();
    let step = room.tell(Input::Wake { first: None, cause: WakeCause::Operator });
    assert_eq!(step.asks(), ["trigger A"]);
    let mut room = at_the_ceiling();
    room.tell(Input::SetMode(Mode::Report));
    room.tell(Input::SetMode(Mode::Chat));
    room.members();
    assert_eq!(room.human("hello").asks(), ["trigger A"]);
}

/// F02
#[test]
fn messages_out_of_turn_count_and_only_people_reset() {
    let mut room = Room::chat(2);
    let turns = |room: &Room| room.channel.view().turns_since_human();
    room.human("hello");
    assert_eq!(turns(&room), 1, "the grant");
    room.says(B, "out of turn");
    assert_eq!(turns(&room), 2);
    room.says(STRANGER, "from outside");
    assert_eq!(turns(&room), 3);
    room.start(A);
    room.says(A, "in its turn");
    assert_eq!(turns(&room), 3, "counted with the grant");
    room.bot("beep");
    room.system(Author::Human);
    room.moderator("a trigger");
    assert_eq!(turns(&room), 3);
    room.human("I am still here");
    assert_eq!(turns(&room), 0);
    assert_eq!(room.channel.view().cycles_since_human(), 0);
}

/// F02
#[test]
fn repeated_messages_count_once() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.says(B, "out of turn");
    let before = room.channel.view().turns_since_human();
    let again =
        crate::room::message(room.message, Author::Agent(B), MessageKind::Conversation, "x");
    assert_eq!(room.refusal(again), Refusal::RepeatedMessage);
    assert_eq!(room.channel.view().turns_since_human(), before);
}

/// F02
#[test]
fn a_stop_word_is_a_persons_word() {
    let mut room = at_the_ceiling();
    let step = room.post(Author::Human, MessageKind::StopWord, "stop");
    assert!(step.causes().contains(&Cause::CeilingReset));
    room.post(Author::Human, MessageKind::ResumeWord, "resume");
    assert_eq!(room.explain(A), Reason::Dormant);
}

/// F01
#[test]
fn in_a_discussion_the_initiator_is_reminded_but_wakes_nobody() {
    let mut room = Room::discussion_with(2, |config| config.discussion_turns_max = Some(4));
    room.tell(Input::Wake { first: None, cause: WakeCause::Guide });
    let step = talk_on(&mut room);
    let mut asks = step.asks();
    asks.sort();
    assert_eq!(asks, ["notice ceiling", "remind A"]);
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit, "it may still conclude");
    room.says(A, "one more question");
    assert!(room.ends(A, crate::room::spoke("one more question")).asks().is_empty());
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.gate(A).reason(), Reason::CeilingReached);
    room.tell(Input::Conclude { by: A });
}

/// F01
#[test]
fn a_ceiling_inside_a_cycle_ends_it() {
    let mut room = Room::chat_with(3, |config| config.turns_max = Some(2));
    room.human("hello");
    room.passes(A);
    let last = room.speaker().unwrap();
    room.start(last);
    let step = room.ends(last, Outcome::Pass);
    assert_eq!(step.asks(), ["notice ceiling"]);
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.turns(), [dirigent_core::view::SeatTurn::Ahead; 3]);
}
