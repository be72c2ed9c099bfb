//! Snapshots: what survives a restart, and which snapshots are turned down.
//!
//! That a restored channel reacts like the original is checked by `Room` around every single input
//! of every test in this directory.

use std::sync::Arc;

use crate::room::{A, B, C, Room, changed, ended, message, secs, spoke};
use dirigent_core::snapshot::{
    Delivery, Grant, PendingEffect, Phase, Piece, Purpose, Recent, RestoreError, Slot, StaleTrigger,
};
use dirigent_core::{
    Config, Effect, Input, MessageId, Mode, Outcome, PhaseKind, Reason, Refusal, Settlement,
    Snapshot, Tail, Ticket, TurnMachine,
};

fn restore(snapshot: &Snapshot) -> Result<TurnMachine, RestoreError> {
    TurnMachine::restore(Arc::new(Config::default()), snapshot)
}

/// A room after a restart: the channel is gone and comes back from its snapshot.
fn restarted(room: &Room) -> Room {
    let mut again = room.clone();
    again.channel = restore(&room.snapshot()).unwrap();
    again
}

/// One room in each phase.
fn rooms_in_every_phase() -> Vec<Room> {
    let dormant = Room::chat(3);
    let mut granted = dormant.clone();
    granted.human("hello");
    let mut running = granted.clone();
    running.start(A);
    running.says(A, "a first ");
    let mut confirming = running.clone();
    confirming.ends(A, spoke("a first and a second part"));
    confirming.wait(secs(2));
    let mut refreshing = granted.clone();
    refreshing.all_pass();
    let mut waking = Room::chat(3);
    waking.wait(secs(100));
    waking.human("hello");
    let mut held = running.clone();
    held.tell(Input::Hold);
    let mut stopped = running.clone();
    stopped.tell(Input::Stop);
    let mut permit = Room::discussion(2);
    permit.human("hello");
    permit.all_pass();
    permit.members();
    permit.gate(A);
    let mut archived = permit.clone();
    archived.tell(Input::Conclude { by: A });
    let mut dead = Room::unknown();
    dead.tell(Input::SetMode(Mode::Report));
    let mut muted = running.clone();
    muted.tell(Input::Mute(B));
    let rest = [held, stopped, permit, archived, dead, muted, Room::unknown(), Room::chat(1)];
    let mut rooms = vec![dormant, granted, running, confirming, refreshing, waking];
    rooms.extend(rest);
    rooms
}

/// D77
#[test]
fn a_snapshot_of_every_phase_comes_back_whole() {
    for room in rooms_in_every_phase() {
        let again = restarted(&room);
        assert_eq!(room.snapshot(), again.snapshot());
        assert_eq!(room.channel.revision(), again.channel.revision());
        assert_eq!(room.channel.next_deadline(), again.channel.next_deadline());
        assert_eq!(room.channel.pending(), again.channel.pending());
    }
}

/// D77, R070
#[test]
fn a_restored_channel_goes_on_like_the_original() {
    for mut room in rooms_in_every_phase() {
        let mut again = restarted(&room);
        for _ in 0..30 {
            let script = |room: &mut Room| {
                let mut effects = Vec::new();
                effects.extend(room.give(Input::Tick).effects);
                effects.extend(room.human("go on").effects);
                if let Some(agent) = room.speaker() {
                    effects.extend(room.gate(agent).effects);
                    let run = Some(room.run_of(agent));
                    effects.extend(room.give(ended(agent, run, spoke("yes"))).effects);
                    effects.extend(room.says(agent, "yes").effects);
                }
                if let Some(ticket) = room.fetch {
                    let agents = room.present.clone();
                    effects.extend(room.give(Input::Members { ticket, agents }).effects);
                }
                effects.extend(room.wait(secs(7)).effects);
                effects
            };
            assert_eq!(script(&mut room), script(&mut again));
            assert_eq!(room.snapshot(), again.snapshot());
        }
    }
}

/// D77, R093, R094
#[test]
fn a_restart_forgets_neither_the_denied_run_nor_the_seen_message() {
    let mut room = Room::chat(2);
    room.human("hello");
    let early = room.fresh_run();
    room.gate_run(B, early);
    let mut room = restarted(&room);
    room.passes(A);
    let mut room = restarted(&room);
    assert_eq!(room.gate_run(B, early).reason(), Reason::RunAlreadyDenied);
    assert_eq!(room.refusal(ended(B, Some(early), Outcome::Pass)), Refusal::StaleRun);
    let author = dirigent_core::Author::Human;
    let kind = dirigent_core::MessageKind::Conversation;
    let again = message(room.message, author, kind, "hello");
    assert_eq!(room.refusal(again), Refusal::RepeatedMessage);
}

/// R075, D77
#[test]
fn an_archive_stays_closed_over_a_restart() {
    let mut room = Room::discussion(2);
    room.tell(Input::Conclude { by: A });
    let mut room = restarted(&room);
    assert_eq!(room.gate(B).reason(), Reason::Archived);
    assert_eq!(room.human("hello").all(), ["notice closed"]);
}

/// F04
#[test]
fn a_stop_stays_over_a_restart() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.post(dirigent_core::Author::Human, dirigent_core::MessageKind::StopWord, "stop");
    let mut room = restarted(&room);
    assert_eq!(room.gate(A).reason(), Reason::Stopped);
}

/// D78
#[test]
fn what_was_owed_is_still_owed_after_a_restart() {
    let mut room = Room::chat(2);
    room.human("hello");
    let ticket = room.trigger.unwrap();
    let mut room = restarted(&room);
    let pending: Vec<_> = room.channel.pending().iter().map(|effect| effect.effect).collect();
    assert!(matches!(pending[..], [Effect::Trigger { agent: A, .. }]), "{pending:?}");
    let message = Some(MessageId::new(7_000));
    let step = room.settle(ticket, Settlement::Done { message });
    assert_eq!(step.asks(), ["delete 7000"]);
}

/// D77
#[test]
fn a_snapshot_buffer_can_be_used_again() {
    let mut buffer = Snapshot::default();
    for room in rooms_in_every_phase() {
        buffer.clone_from(room.channel.snapshot());
        assert_eq!(buffer, room.snapshot(), "nothing of the one before remains");
    }
}

/// D77
#[test]
fn a_snapshot_of_another_version_is_turned_down() {
    for found in [0, Snapshot::VERSION + 1, u16::MAX] {
        let foreign = Snapshot { version: found, ..Room::chat(2).snapshot() };
        assert_eq!(restore(&foreign).unwrap_err(), RestoreError::Version { found });
    }
}

/// D77
#[test]
fn a_snapshot_with_a_list_that_is_too_long_is_turned_down() {
    let good = Room::chat(2).snapshot();
    let slots = crate::room::agents(129).into_iter().map(Slot::new).collect();
    let ids = (1..=10_000).map(MessageId::new).collect();
    let runs = (1..=10_000)
        .map(|run| (dirigent_core::RunId::new(run), dirigent_core::snapshot::RunFate::Ended));
    let effect = |ticket| PendingEffect {
        effect: Effect::Delete { ticket: Ticket::new(ticket), message: MessageId::new(1) },
        since: good.now,
    };
    let piece = |id| Piece { id: MessageId::new(id), tail: Tail::of("x") };
    let pieces = Delivery { pieces: (1..=9).map(piece).collect(), ..Delivery::default() };
    let stale = |id| StaleTrigger { message: MessageId::new(id), due: None };
    let long = [
        ("list", changed(good.clone(), |it| it.state.roster.list.slots = slots)),
        (
            "muted",
            changed(good.clone(), |it| it.state.roster.muted = crate::room::agents(129).into()),
        ),
        (
            "messages",
            changed(good.clone(), |it| {
                it.state.seen.recent = Some(Recent { messages: ids, ..Recent::default() }.into());
            }),
        ),
        (
            "runs",
            changed(good.clone(), |it| {
                it.state.seen.recent = Some(
                    Recent { runs: runs.collect::<Vec<_>>().into(), ..Recent::default() }.into(),
                );
            }),
        ),
        (
            "pending",
            changed(good.clone(), |it| it.pending.effects = (1..=65).map(effect).collect()),
        ),
        ("pieces", changed(good.clone(), |it| it.state.delivery = Some(pieces.into()))),
        (
            "staleTriggers",
            changed(good.clone(), |it| {
                it.pending.stale = (1..=17).map(stale).collect::<Vec<_>>().into();
            }),
        ),
    ];
    for (field, snapshot) in long {
        assert_eq!(restore(&snapshot).unwrap_err(), RestoreError::TooLong { field });
    }
}

/// D77
#[test]
fn a_snapshot_that_contradicts_itself_is_turned_down() {
    let good = Room::chat(3).snapshot();
    let granted = |agent| Phase::Granted(Grant { agent, until: None, attempt: 0 });
    let mut twice = good.clone();
    twice.state.roster.list.slots[1].agent = A;
    let mut spent = good.clone();
    spent.state.floor.phase = granted(A);
    spent.state.roster.list.slots[0].turn = dirigent_core::view::SeatTurn::Spoke;
    let broken = [
        (
            "a stranger speaks",
            changed(good.clone(), |it| it.state.floor.phase = granted(crate::room::STRANGER)),
        ),
        (
            "a muted agent speaks",
            changed(good.clone(), |it| {
                it.state.floor.phase = granted(A);
                it.state.roster.muted = vec![A].into();
            }),
        ),
        (
            "somebody skipped nobody before it",
            changed(good.clone(), |it| it.state.floor.phase = granted(C)),
        ),
        ("a used turn", spent),
        ("the same agent twice", twice),
        (
            "mutes out of order",
            changed(good.clone(), |it| it.state.roster.muted = vec![B, A].into()),
        ),
        ("turns in mode none", changed(good.clone(), |it| it.state.standing.mode = Mode::None)),
        (
            "archived without knowing how",
            changed(good.clone(), |it| it.state.floor.phase = Phase::Archived),
        ),
        ("dead in a chat", changed(good.clone(), |it| it.state.floor.phase = Phase::Dead)),
        (
            "an initiator in a chat",
            changed(good.clone(), |it| it.state.standing.initiator = Some(A)),
        ),
        (
            "reading that nobody asked for",
            changed(good.clone(), |it| it.state.floor.phase = Phase::Refreshing(Purpose::Boundary)),
        ),
        ("a vetoed sleep", changed(good.clone(), |it| it.state.words.cycle_requested = true)),
        (
            "agents of a list that was never read",
            changed(good.clone(), |it| it.state.roster.read_at = None),
        ),
    ];
    for (what, snapshot) in broken {
        let error = restore(&snapshot).unwrap_err();
        assert!(matches!(error, RestoreError::Broken(_)), "{what}: {error}");
        assert!(error.to_string().starts_with("the snapshot contradicts itself: "));
    }
}

/// D77
#[test]
fn the_default_snapshot_is_a_channel_never_seen_before() {
    let channel = restore(&Snapshot::default()).unwrap();
    assert_eq!(channel.view().mode(), Mode::None);
    assert_eq!(channel.view().phase(), PhaseKind::Disabled);
}

/// D77, R118
#[test]
fn what_became_due_while_the_host_was_away_expires_with_the_first_input() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "on its way");
    let mut room = restarted(&room);
    room.sleep(secs(3_600));
    let step = room.tell(Input::Tick);
    assert_eq!(step.asks().last(), Some(&"trigger B".to_owned()));
    assert_eq!(room.speaker(), Some(B));
    let due = room.channel.next_deadline().unwrap().at;
    assert_eq!(due, room.now + secs(45), "what it starts, starts now");
}
