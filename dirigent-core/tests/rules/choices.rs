//! Who is next: the sender's neighbour, who passed, a choice, a wait for a person, a finished channel
//! (rules 57 to 61, and 63).

use crate::room::{A, B, C, D, Room, STRANGER, secs, spoke};
use dirigent_core::config::WakeRule;
use dirigent_core::snapshot::Slot;
use dirigent_core::view::{Pause, SeatTurn};
use dirigent_core::{
    AgentKey, Author, Cause, Input, MessageKind, Mode, Outcome, PhaseKind, Reason, Refusal, Tail,
    WakeCause,
};

fn woken(count: usize) -> Room {
    let mut room = Room::chat(count);
    room.human("hello");
    room
}

fn asking(text: &str) -> Outcome {
    Outcome::AwaitsHuman { tail: Tail::of(text) }
}

/// D12
#[test]
fn nobody_is_asked_to_answer_itself() {
    let mut room = Room::chat(2);
    room.tell(Input::Mute(B));
    room.human("hello");
    room.speaks(A);
    assert_eq!(room.members().causes(), [Cause::NoOtherAgent]);
    let mut room = woken(2);
    room.passes(A);
    room.speaks(B);
    room.tell(Input::Offline(A));
    assert_eq!(room.members().causes(), [Cause::NoOtherAgent], "nobody is there to answer");
    let mut room = woken(2);
    room.speaks(A);
    room.speaks(B);
    room.tell(Input::Mute(A));
    room.members();
    assert_eq!(room.speaker(), Some(B), "it may answer the other");
}

/// R183, R184, R185, W3
#[test]
fn the_one_after_the_sender_is_woken_where_that_is_the_rule() {
    let after = |sender: Author| {
        let mut room = Room::chat_with(3, |config| {
            config.order.wake_rule = WakeRule::NextAfterSender;
            config.people.bots_qualify = true;
        });
        room.post(sender, MessageKind::Conversation, "hello");
        room.speaker()
    };
    assert_eq!(after(Author::Agent(A)), Some(B));
    assert_eq!(after(Author::Agent(B)), Some(C));
    assert_eq!(after(Author::Agent(C)), Some(A));
    assert_eq!(after(Author::Agent(STRANGER)), Some(A));
    assert_eq!(after(Author::Human), Some(A));
    assert_eq!(after(Author::Bot), Some(A));
    let mut room = Room::chat(3);
    room.says(B, "hello");
    assert_eq!(room.speaker(), Some(A), "the default");
}

/// R185, D66
#[test]
fn whoever_comes_before_the_senders_neighbour_has_its_turn_in_the_next_cycle() {
    let mut room = Room::chat_with(3, |config| {
        config.order.wake_rule = WakeRule::NextAfterSender;
        config.members.list_fresh = secs(0);
    });
    room.wait(secs(1));
    room.tell(Input::Mute(C));
    room.says(B, "hello");
    room.members();
    assert_eq!(room.speaker(), Some(A), "past the muted one, around the list");
    room.all_pass();
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.tell(Input::Unmute(C));
    room.wait(secs(31));
    room.says(B, "hello again");
    room.members();
    assert_eq!(
        (room.speaker(), room.turns()),
        (Some(C), vec![SeatTurn::Skipped, SeatTurn::Skipped, SeatTurn::Ahead])
    );
    room.passes(C);
    room.members();
    assert_ne!(room.phase(), PhaseKind::Dormant, "the others were not asked");
}

/// R185, D61
#[test]
fn an_interrupting_agent_restarts_the_cycle_after_itself() {
    let mut room = Room::chat_with(3, |config| config.order.wake_rule = WakeRule::NextAfterSender);
    room.human("hello");
    room.start(A);
    room.ends(A, spoke("a reply"));
    room.says(B, "let me interrupt");
    assert_eq!(room.speaker(), Some(C));
}

/// R186, W4
#[test]
fn whoever_passed_is_not_asked_again_until_something_is_said() {
    let mut room = Room::chat_with(2, |config| config.order.skip_passed = true);
    room.human("hello");
    room.speaks(A);
    room.passes(B);
    room.members();
    assert_eq!(room.speaker(), Some(A));
    let step = room.passes(A);
    assert_eq!(step.causes(), [Cause::Passed, Cause::AgentPassed, Cause::CycleBoundary]);
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Passed]);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
    room.human("and now?");
    room.passes(A);
    assert_eq!(room.speaker(), Some(B), "asked anew");
}

/// R186
#[test]
fn a_reply_or_a_veto_lets_whoever_passed_start_again() {
    for speak in [true, false] {
        let mut room = Room::chat_with(3, |config| config.order.skip_passed = true);
        room.human("hello");
        room.speaks(A);
        room.passes(B);
        if speak {
            room.speaks(C);
        } else {
            room.start(C);
            room.human("B?");
            room.ends(C, Outcome::Pass);
        }
        room.members();
        let mut asked = Vec::new();
        while let Some(agent) = room.speaker() {
            asked.push(agent);
            room.passes(agent);
        }
        assert!(asked.contains(&B), "{speak}: {asked:?}");
    }
}

/// R186
#[test]
fn everybody_is_asked_in_every_cycle_where_that_is_off() {
    let mut room = woken(2);
    room.speaks(A);
    room.passes(B);
    room.members();
    room.passes(A);
    assert_eq!(room.speaker(), Some(B));
}

/// R278, M6
#[test]
fn in_a_finished_channel_nobody_is_active_until_it_is_resumed() {
    let mut room = woken(2);
    room.start(A);
    let step = room.tell(Input::Finish);
    assert_eq!(step.all(), ["cancel the run of A", "running > dormant A: finished"]);
    assert_eq!(room.channel.view().pause(), Some(Pause::Finished));
    for agent in [A, B, STRANGER] {
        assert_eq!(room.explain(agent), Reason::Finished);
    }
    assert!(room.tell(Input::Finish).is_silent());
    assert!(room.human("one more thing").is_silent());
    assert_eq!(
        room.refusal(Input::Wake { first: None, cause: WakeCause::Operator }),
        Refusal::Finished
    );
    assert_eq!(room.refusal(Input::Hold), Refusal::Finished);
    assert_eq!(room.refusal(Input::SpeakNext(A)), Refusal::Finished);
    let run = room.fresh_run();
    assert_eq!(room.gate_run(B, run).reason(), Reason::Finished);
    room.tell(Input::Resume);
    assert_eq!(room.speaker(), Some(A), "what was said was kept in mind");
    room.passes(A);
    assert_eq!(room.gate_run(B, run).reason(), Reason::YourTurn, "the denial was not remembered");
}

/// R278, F04
#[test]
fn a_stop_is_stronger_than_an_end() {
    let mut room = woken(2);
    room.tell(Input::Finish);
    assert_eq!(room.tell(Input::Stop).causes(), [Cause::Stopped]);
    assert_eq!(room.refusal(Input::Finish), Refusal::Stopped);
    room.tell(Input::Resume);
    room.tell(Input::Finish);
    room.post(Author::Human, MessageKind::ResumeWord, "resume");
    assert_eq!(room.channel.view().pause(), None);
    let mut none = Room::unknown();
    assert_eq!(none.refusal(Input::Finish), Refusal::NotManaged);
    none.tell(Input::Archive);
    assert_eq!(none.refusal(Input::Finish), Refusal::Archived);
}

/// D12, W3
#[test]
fn an_operator_chooses_who_speaks_next() {
    let mut room = woken(4);
    room.start(A);
    assert!(room.tell(Input::SpeakNext(D)).is_silent());
    assert_eq!(room.channel.view().chosen(), Some(D));
    let step = room.ends(A, Outcome::Pass);
    assert_eq!(step.causes(), [Cause::Passed, Cause::OperatorChoice]);
    assert_eq!((room.order(), room.speaker()), (vec![A, D, B, C], Some(D)));
    assert_eq!(room.channel.view().chosen(), None);
    room.passes(D);
    assert_eq!(room.speaker(), Some(B), "then the order goes on");
}

/// D12
#[test]
fn an_agent_that_had_its_turn_may_be_chosen_again() {
    let mut room = woken(3);
    room.speaks(A);
    room.passes(B);
    room.tell(Input::SpeakNext(A));
    room.passes(C);
    assert_eq!(
        (room.order(), room.speaker()),
        (vec![B, C, A], Some(A)),
        "at the end of the cycle too"
    );
    assert!(room.snapshot().state.words.cycle_requested, "what it said may still be answered");
    room.passes(A);
    room.members();
    assert_ne!(room.phase(), PhaseKind::Dormant);
    let mut room = woken(3);
    room.passes(A);
    room.tell(Input::SpeakNext(A));
    room.tell(Input::Mute(B));
    assert_eq!(room.snapshot().state.cycle.last_completer, None, "its turn is ahead of it again");
    assert!(!room.snapshot().state.words.cycle_requested);
}

/// D12
#[test]
fn a_choice_wakes_with_the_chosen_first() {
    let mut room = Room::chat(3);
    let step = room.tell(Input::SpeakNext(B));
    assert_eq!(step.all(), ["dormant > granted B: operator-choice", "trigger B"]);
    assert_eq!(room.turns(), [SeatTurn::Skipped, SeatTurn::Ahead, SeatTurn::Ahead]);
    let mut room = Room::chat(3);
    room.wait(secs(100));
    room.human("hello");
    assert_eq!(room.phase(), PhaseKind::Refreshing);
    room.tell(Input::SpeakNext(C));
    room.members();
    assert_eq!(room.speaker(), Some(C));
}

/// D12
#[test]
fn a_choice_between_two_cycles_begins_the_next() {
    let mut room = woken(3);
    room.all_pass();
    room.tell(Input::SpeakNext(C));
    let step = room.members();
    assert!(step.causes().ends_with(&[Cause::OperatorChoice]), "{:?}", step.causes());
    assert_eq!((room.order()[0], room.speaker()), (C, Some(C)));
}

/// D12
#[test]
fn a_choice_that_cannot_be_is_refused_and_changes_nothing() {
    let mut room = woken(4);
    room.tell(Input::Mute(B));
    room.leaves(C);
    room.tell(Input::Offline(D));
    let cases = [
        (A, Refusal::HasTheFloor),
        (B, Refusal::Muted),
        (C, Refusal::NotListed),
        (D, Refusal::AgentOffline),
        (STRANGER, Refusal::NotListed),
    ];
    for (agent, refusal) in cases {
        assert_eq!(room.refusal(Input::SpeakNext(agent)), refusal);
    }
    room.tell(Input::Stop);
    assert_eq!(room.refusal(Input::SpeakNext(A)), Refusal::Stopped);
    room.tell(Input::SetMode(Mode::None));
    room.tell(Input::Resume);
    assert_eq!(room.refusal(Input::SpeakNext(A)), Refusal::NotManaged);
    room.tell(Input::Archive);
    assert_eq!(room.refusal(Input::SpeakNext(A)), Refusal::Archived);
}

/// D12, F02
#[test]
fn a_choice_counts_as_a_persons_word_and_the_newest_counts() {
    let mut room = woken(3);
    room.speaks(A);
    assert_eq!(room.channel.view().turns_since_human(), 2);
    room.tell(Input::SpeakNext(C));
    room.tell(Input::SpeakNext(A));
    assert_eq!(room.channel.view().turns_since_human(), 0);
    room.passes(B);
    assert_eq!(room.speaker(), Some(A));
}

/// D12
#[test]
fn a_choice_that_is_gone_is_forgotten() {
    let gone: [fn(&mut Room); 3] = [
        |room| drop(room.tell(Input::Mute(C))),
        |room| drop(room.leaves(C)),
        |room| drop(room.tell(Input::Offline(C))),
    ];
    for (number, gone) in gone.into_iter().enumerate() {
        let mut room = woken(3);
        room.tell(Input::SpeakNext(C));
        gone(&mut room);
        room.passes(A);
        assert_eq!((room.speaker(), room.channel.view().chosen()), (Some(B), None), "{number}");
    }
    for end in [Input::Stop, Input::Finish, Input::SetMode(Mode::None)] {
        let mut room = woken(3);
        room.tell(Input::SpeakNext(C));
        room.tell(end);
        assert_eq!(room.channel.view().chosen(), None);
    }
    let mut room = woken(3);
    room.start(A);
    room.ends(A, spoke("a reply"));
    room.tell(Input::SpeakNext(C));
    room.human("wait");
    assert_eq!((room.speaker(), room.channel.view().chosen()), (Some(A), None), "a restart");
}

/// F07
#[test]
fn everybody_waits_for_the_person_that_an_agent_asked_for() {
    let mut room = Room::chat_with(3, |config| config.people.bots_qualify = true);
    room.human("hello");
    room.start(A);
    room.ends(A, asking("which one?"));
    let step = room.says(A, "which one?");
    assert_eq!(
        step.all(),
        ["confirming > confirming A: tail-matched", "confirming > dormant: awaiting-human"]
    );
    assert!(room.channel.view().awaits_human());
    assert_eq!(room.explain(B), Reason::AwaitingHuman);
    room.says(B, "I know");
    room.bot("beep");
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(
        room.refusal(Input::Wake { first: None, cause: WakeCause::Guide }),
        Refusal::AwaitingHuman
    );
    room.human("the red one");
    assert_eq!((room.speaker(), room.channel.view().awaits_human()), (Some(A), false));
}

/// F07
#[test]
fn a_reply_that_asks_for_a_person_asks_however_it_arrives() {
    type Arrival = (fn(&mut Room), bool);
    let arrive: [Arrival; 4] = [
        (|room| drop(room.wait(secs(15))), true),
        (|room| drop(room.says(STRANGER, "me first")), true),
        (|room| drop(room.human("me first")), false),
        (|room| drop(room.leaves(A)), false),
    ];
    for (number, (arrive, waits)) in arrive.into_iter().enumerate() {
        let mut room = woken(3);
        room.start(A);
        room.ends(A, asking("which one?"));
        arrive(&mut room);
        assert_eq!(room.channel.view().awaits_human(), waits, "{number}");
    }
    let mut room = woken(3);
    room.start(A);
    room.tell(Input::SpeakNext(B));
    room.ends(A, asking("which one?"));
    room.says(A, "which one?");
    assert_eq!(room.speaker(), Some(B), "a person has chosen already");
}

/// F07
#[test]
fn the_wait_for_a_person_ends_with_a_word_a_choice_or_a_stop() {
    let asked = || {
        let mut room = Room::discussion(3);
        room.human("hello");
        room.start(A);
        room.ends(A, asking("which one?"));
        let step = room.says(A, "which one?");
        assert_eq!(step.asks(), Vec::<String>::new(), "nobody is reminded");
        room
    };
    let ends = [
        Input::Wake { first: None, cause: WakeCause::Operator },
        Input::SpeakNext(B),
        Input::Stop,
        Input::Archive,
    ];
    for end in ends {
        let mut room = asked();
        room.tell(end);
        assert!(!room.channel.view().awaits_human());
    }
    let mut room = asked();
    room.tell(Input::Mute(B));
    room.tell(Input::Unmute(B));
    assert!(room.channel.view().awaits_human(), "nothing else ends it");
}

/// R186
#[test]
fn an_agent_that_was_chosen_and_did_not_answer_has_not_passed_any_more() {
    for runs in [true, false] {
        let mut room = Room::chat_with(3, |config| {
            config.order.skip_passed = true;
            config.deadlines.retriggers = 0;
        });
        room.human("hello");
        room.passes(A);
        room.start(B);
        room.tell(Input::SpeakNext(A));
        room.ends(B, Outcome::Pass);
        assert_eq!(room.speaker(), Some(A));
        if runs {
            room.start(A);
            room.wait(secs(600));
        } else {
            room.wait(secs(45));
        }
        assert_eq!(room.seat(A).turn, SeatTurn::Skipped, "{runs}");
        assert!(!slot(&room, A).passed, "{runs}");
        assert!(slot(&room, B).passed, "{runs}");
    }
}

/// An agent's place with all its marks.
fn slot(room: &Room, agent: AgentKey) -> Slot {
    let slots = room.snapshot().state.roster.list.slots;
    slots.into_iter().find(|slot| slot.agent == agent).unwrap()
}
