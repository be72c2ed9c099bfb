//! Inputs that should not have come: repeated, late, foreign, contradictory, out of time.
//!
//! That a refusal changes nothing is checked by `Room` around every input.

use std::sync::Arc;

use crate::room::{A, B, C, Room, STRANGER, ended, gate, message, millis, secs, spoke};
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    Author, Config, Input, MessageId, MessageKind, Mode, Outcome, PhaseKind, Reason, Refusal,
    Settlement, Ticket, Timestamp,
};

/// R092, D36
#[test]
fn an_unknown_agent_is_answered_and_changes_nothing() {
    let mut room = Room::chat(2);
    room.human("hello");
    let before = room.snapshot();
    assert_eq!(room.tell(gate(STRANGER, None)).reason(), Reason::NotListed);
    assert_eq!(room.refusal(ended(STRANGER, None, Outcome::Pass)), Refusal::StaleRun);
    let receipt = Input::Receipt { agent: STRANGER, run: None, messages: vec![MessageId::new(1)] };
    assert_eq!(room.refusal(receipt), Refusal::StaleRun);
    assert!(room.tell(Input::MemberLeft(STRANGER)).is_silent());
    assert!(room.tell(Input::MemberJoined(STRANGER)).is_silent());
    assert_eq!(before, room.snapshot());
}

/// R093, R094, D40
#[test]
fn stale_runs_are_refused_in_every_phase() {
    let mut room = Room::chat(2);
    let stale = Some(dirigent_core::RunId::new(9_999));
    let refused = |room: &mut Room| {
        for outcome in [Outcome::Pass, Outcome::Failed, spoke("stale")] {
            assert_eq!(room.refusal(ended(A, stale, outcome)), Refusal::StaleRun);
        }
        let receipt = Input::Receipt { agent: A, run: stale, messages: vec![MessageId::new(1)] };
        assert_eq!(room.refusal(receipt), Refusal::StaleRun);
    };
    refused(&mut room);
    room.human("hello");
    refused(&mut room);
    room.start(A);
    refused(&mut room);
    room.ends(A, spoke("on its way"));
    refused(&mut room);
    room.says(A, "on its way");
    refused(&mut room);
    room.passes(B);
    assert_eq!(room.phase(), PhaseKind::Refreshing);
    refused(&mut room);
}

/// D78
#[test]
fn repeated_message_ids_are_refused() {
    let mut room = Room::chat(2);
    room.human("hello");
    for author in [Author::Human, Author::Agent(B), Author::Bot] {
        let again = message(room.message, author, MessageKind::Conversation, "hello again");
        assert_eq!(room.refusal(again), Refusal::RepeatedMessage);
    }
    for _ in 0..300 {
        room.bot("beep");
    }
    let forgotten = message(1_001, Author::Human, MessageKind::Conversation, "hello");
    assert_eq!(room.refusal(forgotten), Refusal::RepeatedMessage, "below the horizon");
}

/// D78
#[test]
fn messages_may_arrive_out_of_order() {
    let mut room = Room::chat(2);
    room.tell(message(2_000, Author::Human, MessageKind::Conversation, "second"));
    room.tell(message(1_500, Author::Human, MessageKind::Conversation, "first"));
    assert_eq!(room.channel.view().newest(), Some(MessageId::new(2_000)));
    let again = message(1_500, Author::Human, MessageKind::Conversation, "first");
    assert_eq!(room.refusal(again), Refusal::RepeatedMessage);
}

/// D78
#[test]
fn a_ticket_is_settled_once_and_never_guessed() {
    let mut room = Room::chat(2);
    room.human("hello");
    let trigger = room.trigger.unwrap();
    let settled =
        |ticket| Input::Settled { ticket, settlement: Settlement::Done { message: None } };
    let members = |ticket| Input::Members { ticket, agents: vec![A] };
    assert_eq!(
        room.refusal(members(trigger)),
        Refusal::UnknownTicket,
        "no member list was asked for"
    );
    for foreign in [5, 77, u64::MAX] {
        assert_eq!(room.refusal(settled(Ticket::new(foreign))), Refusal::UnknownTicket);
        assert_eq!(room.refusal(members(Ticket::new(foreign))), Refusal::UnknownTicket);
    }
    room.tell(settled(trigger));
    assert_eq!(room.refusal(settled(trigger)), Refusal::UnknownTicket);
    room.all_pass();
    let fetch = room.fetch.unwrap();
    room.members();
    let late = Input::Members { ticket: fetch, agents: vec![B, A] };
    assert_eq!(room.refusal(late), Refusal::UnknownTicket);
}

/// R118
#[test]
fn a_clock_that_jumps_back_keeps_what_remained_of_each_deadline() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.wait(secs(40));
    room.now = Timestamp::from_millis(1_000_000);
    room.tell(Input::Tick);
    let due = room.channel.next_deadline().unwrap();
    assert_eq!(due.at, room.now + secs(5));
    assert!(room.wait(millis(4_999)).is_silent());
    assert_eq!(room.wait(millis(1)).asks(), ["trigger A again, 1"]);
    // The wait for a reply, too.
    room.talks(A, "on its way");
    room.wait(secs(10));
    room.now = Timestamp::from_millis(500_000);
    room.tell(Input::Tick);
    room.wait(millis(4_999));
    assert_eq!(room.speaker(), Some(A));
    room.wait(millis(1));
    assert_eq!(room.speaker(), Some(B));
}

/// R118, R148
#[test]
fn a_clock_that_jumps_back_keeps_what_remained_of_a_permitted_run() {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.all_pass();
    room.members();
    room.gate(A);
    room.wait(secs(400));
    room.now = Timestamp::from_millis(1_000_000);
    room.tell(Input::Tick);
    assert!(room.wait(secs(199)).asks().is_empty());
    assert_eq!(room.wait(secs(1)).asks(), ["cancel the permitted run of A"]);
}

/// R118, R116
#[test]
fn a_clock_that_jumps_back_keeps_grace_and_forgets_nothing() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.speaks_unconfirmed(A, "a reply");
    room.talks(B, "on its way");
    room.now = Timestamp::from_millis(3_000);
    assert!(room.says(A, "a late piece").is_silent(), "still in grace");
    assert_eq!(room.phase(), PhaseKind::Confirming);
    room.wait(secs(15));
    assert_eq!(room.seat(B).turn, SeatTurn::Spoke);
}

/// R118
#[test]
fn a_clock_that_leaps_ahead_expires_everything_once() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.sleep(secs(1_000_000));
    let step = room.tell(Input::Tick);
    assert_eq!(step.asks(), ["trigger A again, 1"], "what it starts, starts now");
    room.now = Timestamp::from_millis(u64::MAX);
    room.tell(Input::Tick);
    room.tell(Input::Tick);
    assert!(room.channel.audit().is_ok(), "the end of time is survived");
}

/// D78
#[test]
fn rules_that_cannot_be_obeyed_are_refused() {
    let mut room = Room::chat(2);
    room.human("hello");
    let mut bad = Config::default();
    bad.ceilings.chat.turns = Some(0);
    assert_eq!(room.refusal(Input::Reconfigure(Arc::new(bad))), Refusal::BadConfig);
    let mut good = Config::default();
    good.confirmation.delivery_timeout = secs(3);
    room.tell(Input::Reconfigure(Arc::new(good)));
    room.talks(A, "lost");
    room.wait(secs(3));
    assert_eq!(room.speaker(), Some(B), "the new rules apply");
}

/// R026, D41
#[test]
fn inputs_for_turns_are_refused_where_no_turns_are_kept() {
    let mut none = Room::unknown();
    let mut report = Room::unknown();
    report.tell(Input::SetMode(Mode::Report));
    let alone = Room::chat(1);
    for room in [&mut none, &mut report, &mut alone.clone()] {
        for outcome in [Outcome::Pass, Outcome::Failed, spoke("hm")] {
            assert_eq!(room.refusal(ended(A, None, outcome)), Refusal::NotManaged);
        }
        let receipt = Input::Receipt { agent: A, run: None, messages: vec![MessageId::new(1)] };
        assert_eq!(room.refusal(receipt), Refusal::NotManaged);
    }
}

/// D78
#[test]
fn extreme_numbers_are_only_numbers() {
    let mut room = Room::chat(2);
    for id in [0, 1, u64::MAX] {
        let author = Author::Human;
        room.give(message(id, author, MessageKind::Conversation, "hello"));
    }
    let run = Some(dirigent_core::RunId::new(u64::MAX));
    let agent = dirigent_core::AgentKey::new(u32::MAX);
    assert!(room.tell(gate(A, run)).verdict().is_allowed());
    assert!(!room.tell(gate(agent, run)).verdict().is_allowed());
    let edit = Input::MessageEdited {
        id: MessageId::new(u64::MAX),
        author: Author::Agent(agent),
        tail: dirigent_core::Tail::EMPTY,
    };
    assert!(room.tell(edit).is_silent());
}

/// R084
#[test]
fn no_order_of_inputs_panics_or_lets_two_speak() {
    // A small deterministic storm; `Room` checks every invariant after every input.
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    let mut roll = move |sides: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % sides
    };
    for _ in 0..40 {
        let mut room = if roll(2) == 0 { Room::chat(3) } else { Room::discussion(3) };
        for _ in 0..250 {
            let agent = dirigent_core::AgentKey::new(u32::try_from(1 + roll(5)).unwrap());
            let ticket = Ticket::new(roll(room.snapshot().pending.next_ticket + 2));
            let run = (roll(3) > 0).then(|| dirigent_core::RunId::new(roll(12)));
            let id = room.message.saturating_sub(3) + roll(6);
            room.message = room.message.max(id);
            let speaker = room.speaker().unwrap_or(agent);
            let outcome =
                [Outcome::Pass, Outcome::Failed, spoke("so")][usize::try_from(roll(3)).unwrap()];
            let author = [Author::Human, Author::Agent(agent), Author::Agent(speaker), Author::Bot];
            let author = author[usize::try_from(roll(4)).unwrap()];
            let input = match roll(24) {
                0..=3 => gate(speaker, run),
                4 => gate(agent, run),
                5..=7 => ended(speaker, run, outcome),
                8..=10 => message(id, author, MessageKind::Conversation, "so"),
                11 => message(id, author, MessageKind::System, ""),
                12..=13 => Input::Members {
                    ticket: room.fetch.unwrap_or(ticket),
                    agents: crate::room::agents(usize::try_from(roll(5)).unwrap()),
                },
                14 => Input::Settled {
                    ticket,
                    settlement: Settlement::Done { message: Some(MessageId::new(id)) },
                },
                15 => Input::MemberLeft(agent),
                16 => Input::MemberJoined(agent),
                17 => [Input::Hold, Input::Stop][usize::try_from(roll(2)).unwrap()].clone(),
                18 => Input::Resume,
                19 => [Input::Mute(agent), Input::Unmute(agent)][usize::try_from(roll(2)).unwrap()]
                    .clone(),
                20 => Input::Receipt { agent: speaker, run, messages: vec![MessageId::new(id)] },
                21 => Input::Wake { first: Some(agent), cause: dirigent_core::WakeCause::Operator },
                22 => message(
                    id,
                    author,
                    [MessageKind::StopWord, MessageKind::ResumeWord]
                        [usize::try_from(roll(2)).unwrap()],
                    "stop",
                ),
                _ => {
                    room.sleep(millis(roll(20_000)));
                    Input::Tick
                }
            };
            let _ = room.give(input);
        }
    }
}

/// D78, R094
#[test]
fn two_agents_may_name_their_runs_alike_and_nothing_else_is_forgotten() {
    let mut room = Room::chat(3);
    room.human("hello");
    let (early, shared) = (room.fresh_run(), room.fresh_run());
    room.gate_run(C, early);
    room.gate_run(A, shared);
    room.gate_run(B, shared);
    room.tell(ended(A, Some(shared), Outcome::Pass));
    assert_eq!(room.speaker(), Some(B), "A's run was not B's");
    assert_eq!(room.gate_run(B, shared).reason(), Reason::RunAlreadyEnded);
    assert_eq!(room.gate_run(C, early).reason(), Reason::RunAlreadyDenied);
}
