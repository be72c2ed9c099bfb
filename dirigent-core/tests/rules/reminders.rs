//! A discussion that nobody concludes: reminded again, so often and no more, then archived.

use crate::room::{A, B, Room, Step, secs, spoke};
use dirigent_core::{
    Cause, Config, Effect, Input, Outcome, PhaseKind, Reason, Settlement, TurnState, WakeCause,
};

/// A discussion of two whose guide is posted.
fn begun(change: impl FnOnce(&mut Config)) -> Room {
    let mut room = Room::discussion_with(2, change);
    room.tell(Input::Wake { first: None, cause: WakeCause::Guide });
    room
}

/// A discussion of two that fell asleep and whose initiator was reminded at this moment.
fn idle(change: impl FnOnce(&mut Config)) -> Room {
    let mut room = begun(change);
    room.all_pass();
    assert_eq!(room.members().asks(), ["remind A"]);
    room
}

/// A run of the reminded initiator in which it says nothing.
fn runs_in_vain(room: &mut Room) {
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit);
    room.ends(A, Outcome::Failed);
}

fn reminders(step: &Step) -> usize {
    step.effects.iter().filter(|effect| matches!(effect, Effect::Reminder { .. })).count()
}

/// R146, R148
#[test]
fn an_initiator_whose_run_fails_is_reminded_again_after_the_interval() {
    let mut room = idle(|_| ());
    room.wait(secs(100));
    runs_in_vain(&mut room);
    assert!(room.wait(secs(599)).asks().is_empty());
    assert_eq!(room.wait(secs(1)).asks(), ["remind A"]);
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit, "it may run once more");
}

/// R146, R148
#[test]
fn an_initiator_whose_run_takes_too_long_is_reminded_again() {
    let mut room = idle(|config| config.deadlines.run = Some(secs(60)));
    room.gate(A);
    assert_eq!(room.wait(secs(60)).asks(), ["cancel the permitted run of A"]);
    assert!(room.wait(secs(599)).asks().is_empty());
    assert_eq!(room.wait(secs(1)).asks(), ["remind A"]);
}

/// R148
#[test]
fn what_an_initiator_said_before_its_run_took_too_long_wakes_the_channel() {
    let mut room = idle(|config| config.deadlines.run = Some(secs(60)));
    room.gate(A);
    room.wait(secs(50));
    room.says(A, "one more question, and then");
    let step = room.wait(secs(10));
    assert_eq!(step.asks(), ["cancel the permitted run of A", "trigger A"]);
}

/// R146, R148
#[test]
fn an_initiator_whose_run_is_lost_in_a_restart_is_reminded_again() {
    let mut room = idle(|_| ());
    room.gate(A);
    room.tell(Input::RunsLost { rerun: false });
    assert_eq!(room.explain(A), Reason::Dormant);
    assert!(room.wait(secs(599)).asks().is_empty());
    assert_eq!(room.wait(secs(1)).asks(), ["remind A"]);
}

/// R146, R148
#[test]
fn a_lost_run_that_is_to_be_run_again_begins_with_a_reminder_at_once() {
    let mut room = idle(|_| ());
    for _ in 0..2 {
        room.gate(A);
        assert_eq!(room.tell(Input::RunsLost { rerun: true }).asks(), ["remind A"]);
        assert_eq!(room.explain(A), Reason::InitiatorPermit);
    }
    room.gate(A);
    let step = room.tell(Input::RunsLost { rerun: true });
    assert!(step.asks().is_empty(), "there were three reminders");
    assert_eq!(step.causes(), [Cause::PermitUsed]);
    assert_eq!(room.explain(A), Reason::Dormant);
}

/// R146, R148
#[test]
fn an_initiator_that_leaves_in_its_run_is_reminded_where_it_came_from() {
    let mut room = idle(|_| ());
    room.gate(A);
    assert_eq!(room.leaves(A).asks(), ["cancel the permitted run of A"]);
    assert_eq!(room.wait(secs(600)).asks(), ["remind A in the callback channel"]);
}

/// R146
#[test]
fn after_three_reminders_in_vain_there_is_none() {
    let mut room = idle(|_| ());
    for _ in 0..2 {
        runs_in_vain(&mut room);
        assert_eq!(reminders(&room.wait(secs(600))), 1);
    }
    runs_in_vain(&mut room);
    assert_eq!(reminders(&room.wait(secs(86_400))), 0);
    assert_eq!(room.phase(), PhaseKind::Archived, "it is overdue after the interval");
}

/// R146
#[test]
fn reminders_without_an_interval_are_bounded_too() {
    let mut room = begun(|config| config.discussion.reminder_interval = secs(0));
    room.all_pass();
    room.members();
    for left in (0..3).rev() {
        assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit);
        assert_eq!(reminders(&room.ends(A, Outcome::Pass)), usize::from(left > 0));
    }
}

/// SD2
#[test]
fn to_the_letter_too_an_initiator_is_reminded_three_times_in_vain_and_no_more() {
    let mut room = idle(|config| *config = Config::seed_literal());
    for _ in 0..2 {
        runs_in_vain(&mut room);
        assert_eq!(reminders(&room.wait(secs(599))), 0);
        assert_eq!(reminders(&room.wait(secs(1))), 1);
    }
    runs_in_vain(&mut room);
    assert_eq!(reminders(&room.wait(secs(86_400))), 0);
    assert_eq!(room.phase(), PhaseKind::Archived);
}

/// F28
#[test]
fn a_discussion_reminded_three_times_in_vain_is_archived_as_overdue_without_a_ceiling() {
    let mut room = idle(|config| config.discussion.overdue_archive_after = Some(secs(900)));
    for _ in 0..2 {
        runs_in_vain(&mut room);
        room.wait(secs(600));
    }
    room.wait(secs(500));
    runs_in_vain(&mut room);
    assert!(room.wait(secs(899)).causes().is_empty(), "counted from the last run's end");
    assert_eq!(room.wait(secs(1)).all(), ["dormant > archived: overdue"]);
    assert_eq!(room.state(), TurnState::Archived);
}

/// Rule 48
#[test]
fn without_a_patience_a_discussion_reminded_in_vain_is_archived_after_ten_minutes_at_least() {
    for (interval, patience) in [(60, 600), (600, 600), (900, 900)] {
        let mut room = idle(|config| {
            config.discussion.overdue_archive_after = None;
            config.discussion.reminder_interval = secs(interval);
        });
        for _ in 0..2 {
            runs_in_vain(&mut room);
            room.wait(secs(interval));
        }
        room.wait(secs(500));
        runs_in_vain(&mut room);
        assert!(room.wait(secs(patience - 1)).all().is_empty(), "{interval}");
        assert_eq!(room.wait(secs(1)).all(), ["dormant > archived: overdue"], "{interval}");
    }
}

/// F28
#[test]
fn an_initiator_that_never_uses_its_third_permit_does_not_keep_the_discussion() {
    let mut room = idle(|config| config.discussion.overdue_archive_after = Some(secs(900)));
    for _ in 0..2 {
        runs_in_vain(&mut room);
        room.wait(secs(600));
    }
    assert!(room.wait(secs(899)).causes().is_empty());
    assert_eq!(room.wait(secs(1)).causes(), [Cause::Overdue]);
}

/// R146, R148
#[test]
fn what_anybody_says_begins_the_count_of_reminders_anew() {
    let speak: [fn(&mut Room); 2] = [
        |room| drop(room.human("go on")),
        |room| {
            room.gate(A);
            room.says(A, "what about the other half?");
            room.ends(A, spoke("what about the other half?"));
        },
    ];
    for speak in speak {
        let mut room = idle(|_| ());
        for _ in 0..2 {
            runs_in_vain(&mut room);
            room.wait(secs(600));
        }
        speak(&mut room);
        room.members_or_nothing();
        room.all_pass();
        room.members();
        room.wait(secs(600));
        for _ in 0..2 {
            runs_in_vain(&mut room);
            assert_eq!(reminders(&room.wait(secs(600))), 1);
        }
    }
}

/// R146
#[test]
fn a_restored_discussion_has_not_forgotten_how_often_it_reminded() {
    let mut room = idle(|_| ());
    for _ in 0..2 {
        runs_in_vain(&mut room);
        room.wait(secs(600));
        let config = room.channel.config().clone();
        room.channel = dirigent_core::TurnMachine::restore(config, &room.snapshot()).unwrap();
    }
    runs_in_vain(&mut room);
    assert_eq!(reminders(&room.wait(secs(86_400))), 0);
}

/// R146
#[test]
fn a_reminder_that_is_due_on_hold_waits() {
    let mut room = idle(|_| ());
    runs_in_vain(&mut room);
    room.tell(Input::Hold);
    assert!(room.wait(secs(3_600)).asks().is_empty());
    room.tell(Input::Resume);
    assert!(room.wait(secs(599)).asks().is_empty(), "a resume begins anew");
    assert_eq!(room.wait(secs(1)).asks(), ["remind A"]);
}

/// F04, F28
#[test]
fn a_discussion_is_not_archived_in_the_step_of_its_resume() {
    let rests = [Input::Stop, Input::Hold, Input::Finish];
    for rest in rests {
        let mut room = begun(|config| {
            config.ceilings.discussion_time = Some(secs(300));
            config.discussion.overdue_archive_after = Some(secs(60));
            config.discussion.reminder_interval = secs(100_000);
        });
        room.all_pass();
        room.members();
        room.tell(rest.clone());
        room.wait(secs(5_000));
        assert!(!room.tell(Input::Resume).causes().contains(&Cause::Overdue), "{rest:?}");
        assert_eq!(room.channel.view().time_up(), Some(room.now + secs(300)), "{rest:?}");
        assert_eq!(room.human("go on").asks(), ["fetch members"], "{rest:?}");
        let mut idle = room.clone();
        idle.members();
        idle.all_pass();
        idle.members();
        assert!(idle.wait(secs(359)).causes().iter().all(|it| *it != Cause::Overdue), "{rest:?}");
        assert!(idle.wait(secs(1)).causes().contains(&Cause::Overdue), "{rest:?}");
    }
}

/// R146
#[test]
fn a_discussion_that_has_not_begun_is_not_reminded_after_a_rest() {
    for rest in [Input::Stop, Input::Hold, Input::Finish] {
        let mut room = Room::discussion(2);
        room.tell(rest.clone());
        room.tell(Input::Resume);
        assert!(room.wait(secs(3_600)).asks().is_empty(), "{rest:?}: its guide is on its way");
        let guide = Input::Wake { first: None, cause: WakeCause::Guide };
        assert!(!room.tell(guide).asks().is_empty(), "{rest:?}");
    }
}

/// F04, F28
#[test]
fn at_a_ceiling_of_turns_a_resume_begins_the_patience_anew() {
    let mut room = begun(|config| {
        config.ceilings.discussion.cycles = Some(1);
        config.discussion.overdue_archive_after = Some(secs(900));
    });
    room.speaks(A);
    room.speaks(B);
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.tell(Input::Hold);
    room.wait(secs(5_000));
    assert!(!room.tell(Input::Resume).causes().contains(&Cause::Overdue));
    assert!(!room.wait(secs(899)).causes().contains(&Cause::Overdue));
    assert_eq!(room.wait(secs(1)).causes().last(), Some(&Cause::Overdue));
}

/// R146, F04
#[test]
fn an_idle_discussion_that_was_stopped_and_resumed_is_reminded_after_the_interval() {
    let mut room = idle(|_| ());
    room.tell(Input::Stop);
    room.wait(secs(5_000));
    assert!(room.tell(Input::Resume).asks().is_empty());
    assert!(room.wait(secs(599)).asks().is_empty());
    assert_eq!(room.wait(secs(1)).asks(), ["remind A"]);
}

#[test]
fn an_initiator_that_may_not_run_is_reminded_three_times_and_then_no_more() {
    let mut room = begun(|_| ());
    room.tell(Input::Mute(A));
    room.passes(B);
    assert_eq!(reminders(&room.members()), 1);
    for _ in 0..2 {
        assert_eq!(reminders(&room.wait(secs(599))), 0);
        assert_eq!(reminders(&room.wait(secs(1))), 1);
    }
    let step = room.wait(secs(600));
    assert_eq!(step.causes(), [Cause::Overdue]);
}

#[test]
fn an_initiator_that_loses_its_permit_is_reminded_again() {
    let mut room = idle(|_| ());
    room.leaves(A);
    assert_eq!(reminders(&room.wait(secs(600))), 1);
}

#[test]
fn a_reminder_that_was_not_posted_is_followed_by_another_unless_its_initiator_runs() {
    let mut room = begun(|_| ());
    room.all_pass();
    let failed = Settlement::Failed { retry_at: None };
    let ticket = room.members().tickets()[0];
    room.settle(ticket, failed);
    let step = room.wait(secs(600));
    assert_eq!(step.asks(), ["remind A"]);
    room.settle(step.tickets()[0], failed);
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit);
    assert_eq!(reminders(&room.wait(secs(700))), 0, "it runs");
}

#[test]
fn a_discussion_in_which_no_agent_could_speak_is_reminded_after_a_hold() {
    let mut room = Room::discussion(2);
    room.tell(Input::Mute(A));
    room.tell(Input::Mute(B));
    room.tell(Input::Wake { first: None, cause: WakeCause::Guide });
    assert_eq!(reminders(&room.members()), 1);
    room.tell(Input::Hold);
    room.wait(secs(3_600));
    room.tell(Input::Resume);
    assert_eq!(reminders(&room.wait(secs(600))), 1);
}
