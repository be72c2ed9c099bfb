//! The words of the library: names that hosts and logs keep, and sentences that people read.
//!
//! Names are part of the interface: they may be added, never changed. So they stand here once more.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::room::{A, Room, START, changed};
use dirigent_core::snapshot::PendingEffect;
use dirigent_core::{
    AgentKey, Cause, Config, Effect, MessageId, Mode, PhaseKind, Reason, Refusal, RunId, Snapshot,
    Ticket, Timestamp, TurnId, TurnMachine, TurnState,
};

/// Asserts that each value has its name, that no two share one, and that all are in lower case.
#[track_caller]
fn named<T: Copy>(table: &[(T, &'static str)], name: fn(T) -> &'static str) {
    let mut names = BTreeSet::new();
    for (value, expected) in table {
        assert_eq!(name(*value), *expected);
        assert!(names.insert(*expected), "{expected} stands for one thing only");
        assert!(expected.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{expected}");
    }
}

/// F12
#[test]
fn the_names_of_phases_and_turn_states_are_for_ever() {
    let phases = [
        (PhaseKind::Dormant, "dormant"),
        (PhaseKind::Refreshing, "refreshing"),
        (PhaseKind::Granted, "granted"),
        (PhaseKind::Running, "running"),
        (PhaseKind::Confirming, "confirming"),
        (PhaseKind::Disabled, "disabled"),
        (PhaseKind::Dead, "dead"),
        (PhaseKind::Archived, "archived"),
    ];
    named(&phases, PhaseKind::as_str);
    let states = [
        (TurnState::Disabled, "disabled"),
        (TurnState::Dead, "dead"),
        (TurnState::Normal, "normal"),
        (TurnState::Shuffle, "shuffle"),
        (TurnState::Archived, "archived"),
    ];
    named(&states, TurnState::as_str);
}

/// F12
#[test]
fn the_names_of_causes_are_for_ever() {
    let causes = [
        (Cause::Created, "created"),
        (Cause::ModeChanged, "mode-changed"),
        (Cause::HumanMessage, "human-message"),
        (Cause::AgentMessage, "agent-message"),
        (Cause::BotMessage, "bot-message"),
        (Cause::OperatorWake, "operator-wake"),
        (Cause::GuidePosted, "guide-posted"),
        (Cause::ResultPosted, "result-posted"),
        (Cause::CycleBoundary, "cycle-boundary"),
        (Cause::NextCycle, "next-cycle"),
        (Cause::Reshuffled, "reshuffled"),
        (Cause::MembersFailed, "members-failed"),
        (Cause::MembersLate, "members-late"),
        (Cause::NextInList, "next-in-list"),
        (Cause::RunStarted, "run-started"),
        (Cause::RunReplaced, "run-replaced"),
        (Cause::Passed, "passed"),
        (Cause::Spoke, "spoke"),
        (Cause::RunFailed, "run-failed"),
        (Cause::TailMatched, "tail-matched"),
        (Cause::ReceiptGiven, "receipt-given"),
        (Cause::QuietAfterMessage, "quiet-after-message"),
        (Cause::DeliveryTimedOut, "delivery-timed-out"),
        (Cause::Interrupted, "interrupted"),
        (Cause::Retriggered, "retriggered"),
        (Cause::StartTimedOut, "start-timed-out"),
        (Cause::RunTimedOut, "run-timed-out"),
        (Cause::RunLost, "run-lost"),
        (Cause::AgentLeft, "agent-left"),
        (Cause::AgentMuted, "agent-muted"),
        (Cause::AgentUnmuted, "agent-unmuted"),
        (Cause::AllPassed, "all-passed"),
        (Cause::Unanswered, "unanswered"),
        (Cause::CeilingReached, "ceiling-reached"),
        (Cause::CeilingReset, "ceiling-reset"),
        (Cause::TooFewAgents, "too-few-agents"),
        (Cause::EnoughAgents, "enough-agents"),
        (Cause::InitiatorReminded, "initiator-reminded"),
        (Cause::PermitUsed, "permit-used"),
        (Cause::Stopped, "stopped"),
        (Cause::Held, "held"),
        (Cause::Resumed, "resumed"),
        (Cause::Concluded, "concluded"),
        (Cause::Archived, "archived"),
        (Cause::Overdue, "overdue"),
        (Cause::NothingNew, "nothing-new"),
    ];
    named(&causes, Cause::as_str);
}

/// F10
#[test]
fn the_names_of_reasons_are_for_ever() {
    let reasons = [
        (Reason::Unmanaged, "unmanaged"),
        (Reason::TooFewAgents, "too-few-agents"),
        (Reason::YourTurn, "your-turn"),
        (Reason::InitiatorPermit, "initiator-permit"),
        (Reason::Dead, "dead"),
        (Reason::Archived, "archived"),
        (Reason::Stopped, "stopped"),
        (Reason::Held, "held"),
        (Reason::Dormant, "dormant"),
        (Reason::CeilingReached, "ceiling-reached"),
        (Reason::Refreshing, "refreshing"),
        (Reason::TurnAlreadyUsed, "turn-already-used"),
        (Reason::RunAlreadyDenied, "run-already-denied"),
        (Reason::RunAlreadyEnded, "run-already-ended"),
        (Reason::NotRegistered, "not-registered"),
        (Reason::Muted, "muted"),
        (Reason::NotListed, "not-listed"),
        (Reason::NothingNew, "nothing-new"),
        (Reason::NotYourTurn { speaker: A }, "not-your-turn"),
    ];
    named(&reasons, Reason::as_str);
}

/// F10
#[test]
fn each_refusal_has_a_name_for_machines_and_a_sentence_for_people() {
    let table = [
        (
            Refusal::RepeatedMessage,
            "repeated-message",
            "the message was seen before; nothing to do",
        ),
        (
            Refusal::StaleRun,
            "stale-run",
            "the run does not hold the floor; its end changes nothing",
        ),
        (
            Refusal::UnknownTicket,
            "unknown-ticket",
            "no such effect is pending any more; nothing to do",
        ),
        (
            Refusal::NotManaged,
            "not-managed",
            "turns are not kept in this channel; set its mode to chat first",
        ),
        (Refusal::ModeLocked, "mode-locked", "the mode of a work or discussion channel is locked"),
        (
            Refusal::CreationOnly,
            "creation-only",
            "work and discussion are given at creation: use create-work-channel or create-discussion-channel",
        ),
        (Refusal::AlreadyCreated, "already-created", "the channel has a mode already"),
        (
            Refusal::InitiatorMismatch,
            "initiator-mismatch",
            "a discussion needs an initiator, and no other channel has one",
        ),
        (Refusal::Archived, "archived", "the channel is archived for good"),
        (Refusal::NotADiscussion, "not-a-discussion", "the channel is no discussion"),
        (
            Refusal::NotTheInitiator,
            "not-the-initiator",
            "only the initiator may conclude the discussion",
        ),
        (Refusal::AlreadyConcluded, "already-concluded", "the discussion was concluded before"),
        (Refusal::Stopped, "stopped", "the channel is stopped; resume it first"),
        (Refusal::NotPaused, "not-paused", "the channel is neither stopped nor on hold"),
        (
            Refusal::CeilingReached,
            "ceiling-reached",
            "the ceiling was reached; a person must write first",
        ),
        (Refusal::TooManyAgents, "too-many-agents", "a channel holds at most 64 agents"),
        (Refusal::EmptyReceipt, "empty-receipt", "a receipt must name at least one message"),
        (
            Refusal::BadConfig,
            "bad-config",
            "a setting cannot be obeyed; Config::validate says which",
        ),
    ];
    named(&table.map(|(refusal, name, _)| (refusal, name)), Refusal::as_str);
    for (refusal, _, sentence) in table {
        assert_eq!(refusal.to_string(), sentence);
    }
}

/// R027
#[test]
fn a_mode_is_written_as_it_is_read() {
    for mode in Mode::ALL {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    assert_eq!(format!("the mode is {}", Mode::Discussion), "the mode is discussion");
    let sentence = "no such channel mode; the modes are none, work, report, discussion and chat";
    assert_eq!("Chat".parse::<Mode>().unwrap_err().to_string(), sentence);
}

/// D77
#[test]
fn a_snapshot_that_is_turned_down_says_why() {
    let restore = |snapshot: &Snapshot| {
        TurnMachine::restore(Config::default().into(), snapshot).unwrap_err().to_string()
    };
    let good = Room::chat(3).snapshot();
    let foreign = Snapshot { version: 7, ..good.clone() };
    assert_eq!(restore(&foreign), "the snapshot has version 7, this library reads 2");
    let effect =
        PendingEffect { effect: Effect::FetchMembers { ticket: Ticket::new(0) }, since: START };
    let long = changed(good.clone(), |it| it.pending.effects = vec![effect; 33]);
    assert_eq!(restore(&long), "the snapshot's list `pending` is too long");
    let torn = changed(good, |it| it.state.words.cycle_requested = true);
    let sentence = "the snapshot contradicts itself: outside a cycle nothing of one is remembered";
    assert_eq!(restore(&torn), sentence);
}

#[test]
fn numbers_are_shown_with_what_they_number() {
    assert_eq!(format!("{} {:?}", AgentKey::new(3), AgentKey::new(3)), "agent-3 agent-3");
    assert_eq!(format!("{} {:?}", MessageId::new(9), MessageId::new(9)), "message-9 message-9");
    assert_eq!(format!("{} {:?}", RunId::new(1), TurnId::new(2)), "run-1 turn-2");
    assert_eq!(format!("{:?}", Ticket::new(4)), "ticket-4");
    assert_eq!(format!("{:?}", Timestamp::from_millis(1_500)), "1500ms");
    let later = Timestamp::default() + Duration::from_micros(2_999);
    assert_eq!(format!("{later:?}"), "2ms", "what is less than a millisecond does not count");
}

/// Run names are hashed (64-bit FNV-1a), and snapshots keep the hashes: these are the published
/// values of that function.
#[test]
fn a_run_name_gives_the_same_id_for_ever() {
    assert_eq!(RunId::from_text("").get(), 0xcbf2_9ce4_8422_2325);
    assert_eq!(RunId::from_text("a").get(), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(RunId::from_text("foobar").get(), 0x8594_4171_f739_67e8);
}
