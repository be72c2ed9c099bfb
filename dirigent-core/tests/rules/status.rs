//! What a channel tells about itself: its view, its events, its pending effects.

use crate::room::{A, B, Room, secs, spoke};
use dirigent_core::view::SeatTurn;
use dirigent_core::{Cause, DeadlineReason, Effect, Input, Mode, PhaseKind, Settlement, TurnState};

/// F11
#[test]
fn the_view_shows_phase_speaker_deadline_list_and_counters() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    room.leaves(crate::room::C);
    let view = room.channel.view();
    assert_eq!(view.mode(), Mode::Chat);
    assert_eq!(view.turn_state(), TurnState::Shuffle);
    assert_eq!(view.phase(), PhaseKind::Granted);
    assert_eq!(view.speaker(), Some(B));
    assert_eq!(view.permit(), None);
    assert_eq!(view.run(), None);
    assert_eq!(view.pause(), None);
    assert_eq!(view.initiator(), None);
    assert_eq!(view.turn().get(), 2);
    assert_eq!(view.turns_since_human(), 2);
    assert_eq!(view.cycles_since_human(), 1);
    assert_eq!(view.newest(), Some(room.newest()));
    let deadline = view.deadline().unwrap();
    assert_eq!((deadline.at, deadline.reason), (room.now + secs(45), DeadlineReason::Start));
    let seats: Vec<_> = view.list().map(|seat| (seat.turn, seat.left)).collect();
    let expected = [(SeatTurn::Passed, false), (SeatTurn::Ahead, false), (SeatTurn::Ahead, true)];
    assert_eq!(seats, expected);
}

/// F11
#[test]
fn the_next_deadline_says_what_is_awaited() {
    let mut room = Room::chat(2);
    let reason = |room: &Room| room.channel.next_deadline().map(|due| due.reason);
    assert_eq!(reason(&Room::unknown()), None);
    room.human("hello");
    assert_eq!(reason(&room), Some(DeadlineReason::Start));
    room.start(A);
    assert_eq!(reason(&room), Some(DeadlineReason::Run));
    room.ends(A, spoke("on its way"));
    assert_eq!(reason(&room), Some(DeadlineReason::Poll));
    room.wait(secs(1));
    assert_eq!(reason(&room), Some(DeadlineReason::Delivery));
    room.wait(secs(14));
    room.passes(B);
    assert_eq!(reason(&room), Some(DeadlineReason::Members));
}

/// F12
#[test]
fn every_change_of_phase_is_told_with_its_cause() {
    let mut room = Room::discussion(3);
    let mut phase = PhaseKind::Disabled;
    room.human("hello");
    room.speaks(A);
    room.passes(B);
    room.wait(secs(90));
    room.members();
    room.tell(Input::Mute(A));
    room.talks(room.speaker().unwrap(), "lost");
    room.wait(secs(15));
    room.tell(Input::Hold);
    room.tell(Input::Resume);
    room.human("wait");
    room.all_pass();
    room.members_or_nothing();
    room.tell(Input::Stop);
    room.tell(Input::Resume);
    room.tell(Input::Conclude { by: A });
    let mut changes = 0;
    for effect in &room.log {
        let Effect::Transition(it) = effect else {
            continue;
        };
        assert_eq!(it.from, phase, "no change goes untold: {it:?}");
        phase = it.to;
        changes += 1;
        assert!(!it.cause.as_str().is_empty());
    }
    assert_eq!(phase, room.phase());
    assert!(changes > 20);
}

/// F12, R102
#[test]
fn a_transition_names_time_agent_and_turn() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.wait(secs(3));
    room.start(A);
    let step = room.ends(A, dirigent_core::Outcome::Failed);
    let failed = step.transitions()[0];
    assert_eq!(failed.at, room.now);
    assert_eq!(failed.agent, Some(A));
    assert_eq!(failed.cause, Cause::RunFailed);
    assert_eq!(failed.turn.get(), 1);
    let granted = step.transitions()[1];
    assert_eq!((granted.agent, granted.turn.get()), (Some(B), 2));
}

/// D78
#[test]
fn what_is_asked_is_owed_until_it_is_settled_once() {
    let mut room = Room::chat(2);
    let step = room.human("hello");
    let pending: Vec<_> = room.channel.pending().iter().map(|effect| effect.effect).collect();
    assert_eq!(Some(&pending[0]), step.effects.last(), "the trigger is pending");
    assert_eq!(room.channel.pending()[0].since, room.now);
    let ticket = room.trigger.unwrap();
    room.settle(ticket, Settlement::Doubtful);
    assert!(room.channel.pending().is_empty());
    let again = Input::Settled { ticket, settlement: Settlement::Doubtful };
    assert_eq!(room.refusal(again), dirigent_core::Refusal::UnknownTicket);
}

/// D49
#[test]
fn an_overtaken_trigger_is_no_longer_wanted() {
    let mut room = Room::chat(2);
    let trigger = *room.human("hello").effects.last().unwrap();
    assert!(room.channel.wants(&trigger));
    room.start(A);
    assert!(!room.channel.wants(&trigger), "its agent runs already");
    let poll = {
        room.ends(A, spoke("on its way"));
        *room.wait(secs(1)).effects.last().unwrap()
    };
    assert!(room.channel.wants(&poll));
    room.says(A, "on its way");
    assert!(!room.channel.wants(&poll));
    assert!(!room.channel.wants(&trigger));
}

/// D78
#[test]
fn a_channel_that_only_heard_messages_forgets_them_too() {
    let mut room = Room::chat(2);
    room.tell(Input::Stop);
    room.human("is anybody there?");
    let deadline = room.channel.next_deadline().unwrap();
    assert_eq!(deadline.reason, DeadlineReason::Forget);
}

/// D64, D49
#[test]
fn of_two_things_due_at_once_the_turn_comes_first() {
    let mut room = Room::chat_with(2, |config| {
        config.trigger_cleanup = dirigent_core::config::TriggerCleanup::After(secs(45));
    });
    room.human("hello");
    room.trigger_posted();
    let step = room.wait(secs(45));
    let asks = step.asks();
    assert!(asks[0].starts_with("trigger"), "{asks:?}");
    assert!(asks[1].starts_with("delete"), "{asks:?}");
}

/// D49, D78
#[test]
fn of_the_triggers_owed_only_the_newest_is_wanted() {
    let mut room = Room::chat(2);
    let first = *room.human("hello").effects.last().unwrap();
    let again = *room.wait(secs(45)).effects.last().unwrap();
    assert_eq!(room.channel.pending().len(), 2, "neither was settled");
    assert!(!room.channel.wants(&first), "the agent is woken once, by the newer one");
    assert!(room.channel.wants(&again));
    room.tell(Input::Hold);
    assert!(!room.channel.wants(&again), "on hold nobody is woken");
    let resumed = *room.tell(Input::Resume).effects.last().unwrap();
    assert!(room.channel.wants(&resumed));
    assert!(!room.channel.wants(&again));
    room.wait(secs(45));
    let next = *room.log.last().unwrap();
    assert_eq!(room.speaker(), Some(B));
    assert!(room.channel.wants(&next), "the next agent's");
    assert!(!room.channel.wants(&resumed), "that turn is over");
    room.settle(next.ticket().unwrap(), Settlement::Done { message: None });
    assert!(!room.channel.wants(&next), "it is done");
}

/// D78, D35
#[test]
fn a_list_is_wanted_by_the_reading_that_asked_for_it() {
    let mut room = Room::chat(2);
    room.human("hello");
    let asked = *room.all_pass().effects.last().unwrap();
    assert!(room.channel.wants(&asked));
    room.wait(secs(10));
    assert_eq!(room.phase(), PhaseKind::Dormant, "the old list was used");
    assert!(!room.channel.wants(&asked), "nobody waits for it any more");
    let other = room.wait(secs(60)).effects;
    assert!(other.is_empty());
    let newer = *room.human("hello again").effects.last().unwrap();
    assert!(room.channel.wants(&newer));
    assert!(!room.channel.wants(&asked), "another one is read");
}

/// R146, D85
#[test]
fn a_reminder_that_waited_is_posted_only_where_it_still_holds() {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.all_pass();
    let reminder = *room.members().effects.last().unwrap();
    let Effect::Reminder { ticket, place, .. } = reminder else { panic!("{reminder:?}") };
    assert!(room.channel.wants(&reminder), "the discussion is idle");
    let stray = Effect::Reminder { ticket, initiator: B, place };
    assert!(!room.channel.wants(&stray), "B opened nothing");
    let mut awake = room.clone();
    awake.human("go on");
    assert!(!awake.channel.wants(&reminder), "it is idle no more");
    let mut stopped = room.clone();
    stopped.tell(Input::Stop);
    assert_eq!(stopped.phase(), PhaseKind::Dormant);
    assert!(!stopped.channel.wants(&reminder), "nobody could follow it");
    let mut held = room.clone();
    held.tell(Input::Hold);
    assert!(!held.channel.wants(&reminder), "a resume reminds anew");
}

/// D66
#[test]
fn a_message_is_handed_over_only_in_the_turn_it_came_in() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let handed = *room.human("one more thing").effects.last().unwrap();
    assert!(matches!(handed, Effect::Inject { agent: A, .. }));
    assert!(room.channel.wants(&handed));
    room.ends(A, dirigent_core::Outcome::Pass);
    assert!(!room.channel.wants(&handed), "B reads it by itself");
    let cancel = Effect::CancelRun { agent: A, run: None, turn: None };
    assert!(room.channel.wants(&cancel), "what a run may not do it may not do later");
}

/// D77
#[test]
fn the_revision_rises_with_what_a_restart_must_not_lose() {
    let mut room = Room::chat(2);
    let mut known = room.channel.revision();
    let mut rises = |room: &Room| {
        let before = std::mem::replace(&mut known, room.channel.revision());
        known > before
    };
    room.human("hello");
    assert!(rises(&room), "a turn was granted");
    room.gate(B);
    assert!(!rises(&room), "a denial costs no write");
    room.start(A);
    assert!(rises(&room), "A runs");
    room.tell(Input::Tick);
    assert!(!rises(&room));
    room.says(A, "a piece of the reply");
    assert!(!rises(&room), "the host reads it again");
    room.tell(Input::Mute(B));
    assert!(rises(&room), "B is muted");
    room.tell(Input::Mute(B));
    assert!(!rises(&room), "it already was");
    assert_eq!(room.snapshot().revision, room.channel.revision());
}

/// F11
#[test]
fn the_view_names_the_initiator_and_who_may_conclude() {
    let mut room = Room::discussion(2);
    assert_eq!(room.channel.view().initiator(), Some(A));
    assert_eq!(room.channel.view().permit(), None);
    room.human("hello");
    room.all_pass();
    room.members();
    assert_eq!(room.channel.view().permit(), Some(A), "it was reminded");
    room.tell(Input::Conclude { by: A });
    assert_eq!(room.channel.view().initiator(), Some(A), "and it stays known");
    assert!(room.channel.view().is_concluded());
}

/// F11
#[test]
fn a_seat_is_available_while_its_agent_is_here_and_not_muted() {
    let mut room = Room::chat(2);
    assert!(room.seat(A).is_available());
    room.tell(Input::Mute(A));
    assert!(!room.seat(A).is_available(), "muted");
    room.leaves(A);
    assert!(!room.seat(A).is_available(), "muted, and gone");
    room.tell(Input::Unmute(A));
    assert!(!room.seat(A).is_available(), "gone");
    room.joins(A);
    assert!(room.seat(A).is_available(), "back");
}

/// F12
#[test]
fn only_a_transition_tells_what_changed() {
    let mut room = Room::chat(2);
    let step = room.human("hello");
    let told: Vec<_> =
        step.effects.iter().map(|it| (it.transition().is_some(), it.ticket().is_some())).collect();
    assert_eq!(told, [(true, false), (false, true)], "a grant, and its trigger");
    assert_eq!(step.effects[0].transition().unwrap().cause, Cause::HumanMessage);
}
