//! A chat that does not answer: what waits for it stands still, and is not skipped.

use dirigent_core::view::{Pause, SeatTurn};
use dirigent_core::{Cause, Deadline, DeadlineReason, Input, PhaseKind, Refusal, WakeCause};

use super::room::{A, B, C, Room, millis, secs, spoke};

const AWAY: Input = Input::Chat { away: true };
const BACK: Input = Input::Chat { away: false };

#[test]
fn the_same_twice_changes_nothing() {
    let mut room = Room::chat(2);
    assert!(room.tell(BACK).is_silent());
    assert_eq!(room.tell(AWAY).causes(), [Cause::ChatAway]);
    let since = Some(room.now);
    room.wait(secs(5));
    assert!(room.tell(AWAY).is_silent());
    assert_eq!(room.channel.view().chat_away_since(), since);
    assert_eq!(room.tell(BACK).causes(), [Cause::ChatBack]);
    assert_eq!(room.channel.view().chat_away_since(), None);
}

#[test]
fn an_agent_that_cannot_be_woken_is_not_skipped() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.wait(secs(40));
    room.tell(AWAY);
    assert!(room.wait(secs(3_000)).is_silent());
    assert_eq!((room.phase(), room.speaker()), (PhaseKind::Granted, Some(A)));
    room.tell(BACK);
    let start = Deadline { at: room.now + secs(45), reason: DeadlineReason::Start };
    assert_eq!(room.channel.next_deadline(), Some(start));
}

#[test]
fn a_trigger_is_wanted_while_the_chat_is_away() {
    let mut room = Room::chat(2);
    let step = room.human("hello");
    room.tell(AWAY);
    let wanted = step.effects.iter().filter(|effect| effect.ticket().is_some());
    assert!(wanted.into_iter().all(|effect| room.channel.wants(effect)));
}

#[test]
fn what_remained_of_a_wait_for_a_reply_remains() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "a long reply that does not come");
    room.wait(secs(5));
    room.tell(AWAY);
    room.wait(secs(600));
    assert_eq!(room.phase(), PhaseKind::Confirming);
    room.tell(BACK);
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(10)));
}

#[test]
fn a_wait_that_begins_while_the_chat_is_away_has_all_its_time_afterwards() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.tell(AWAY);
    room.wait(secs(60));
    room.ends(A, spoke("a reply that is on its way"));
    room.wait(secs(60));
    room.tell(BACK);
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(15)));
}

#[test]
fn after_an_outage_that_is_too_long_the_channel_is_dormant_until_the_chat_is_back() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.tell(AWAY);
    let step = room.wait(secs(3_600));
    assert_eq!((step.causes(), room.phase()), (vec![Cause::ChatAway], PhaseKind::Dormant));
    assert!(room.channel.view().is_wake_pending());
    room.human("anybody?");
    room.tell(Input::Wake { first: None, cause: WakeCause::Operator });
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.tell(BACK);
    room.members_or_nothing();
    assert_eq!(room.speaker(), Some(A));
}

#[test]
fn a_dormant_channel_keeps_words_in_mind_until_the_chat_is_back() {
    let mut room = Room::chat(2);
    room.tell(AWAY);
    assert!(room.human("hello").is_silent());
    assert_eq!(room.refusal(Input::SpeakNext(B)), Refusal::ChatAway);
    assert_eq!(room.tell(BACK).causes(), [Cause::ChatBack, Cause::HumanMessage]);
    assert_eq!(room.speaker(), Some(A));
}

#[test]
fn no_agent_is_granted_after_a_reply_was_given_up_for_an_outage() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let run = Some(room.run_of(A));
    room.tell(AWAY);
    room.tell(Input::Replied { agent: A, run, next: None });
    assert!(room.wait(secs(3_600)).is_silent());
    let step = room.tell(Input::Undelivered { agent: A, run, posted: false });
    assert_eq!(step.causes(), [Cause::Undelivered, Cause::ChatAway]);
    assert_eq!(step.asks(), Vec::<String>::new());
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert!(room.channel.view().is_wake_pending());
}

#[test]
fn a_hold_does_not_count_and_a_resume_counts_anew() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.tell(AWAY);
    room.wait(secs(3_000));
    room.tell(Input::Hold);
    room.wait(secs(7_200));
    assert_eq!(room.channel.view().pause(), Some(Pause::Held));
    room.tell(Input::Resume);
    let outage = Deadline { at: room.now + secs(3_600), reason: DeadlineReason::Outage };
    assert_eq!(room.channel.next_deadline(), Some(outage));
}

#[test]
fn a_run_that_takes_too_long_is_skipped_though_the_chat_is_away() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.tell(AWAY);
    room.wait(secs(600));
    assert_eq!((room.speaker(), room.seat(A).turn), (Some(B), SeatTurn::Skipped));
}

#[test]
fn what_remained_of_a_rewritten_replys_quiet_remains() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, &"a".repeat(100));
    room.wait(secs(3));
    room.says(A, &"b".repeat(100));
    room.wait(secs(1));
    room.tell(AWAY);
    room.wait(secs(600));
    room.tell(BACK);
    room.wait(millis(499));
    assert_eq!(room.phase(), PhaseKind::Confirming, "it was quiet for 1,499 ms beside the outage");
    room.wait(millis(1));
    assert_eq!(room.speaker(), Some(B));
}

#[test]
fn a_piece_of_a_reply_that_an_outage_cut_off_interrupts_no_agent() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.speaks(A);
    room.talks(B, "a reply that does not come");
    room.tell(AWAY);
    room.wait(secs(3_600));
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.tell(BACK);
    room.members_or_nothing();
    room.talks(C, "yes?");
    assert!(room.says(B, "a reply that does not come").is_silent());
    assert_eq!((room.phase(), room.speaker()), (PhaseKind::Confirming, Some(C)));
}

/// WD10: as where a ceiling cut.
#[test]
fn after_a_long_outage_the_channel_goes_on_where_it_was_cut() {
    for started in [false, true] {
        let mut room = Room::chat_with(3, |config| config.deadlines.run = None);
        room.human("hello");
        room.passes(A);
        if started {
            room.start(B);
        }
        room.tell(AWAY);
        room.wait(secs(3_600));
        let next = if started {
            room.passes(B);
            C
        } else {
            B
        };
        assert_eq!(room.phase(), PhaseKind::Dormant);
        room.tell(BACK);
        room.members_or_nothing();
        assert_eq!(room.speaker(), Some(next));
    }
}

#[test]
fn an_agent_that_may_not_have_heard_its_trigger_is_triggered_again() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.wait(secs(40));
    let step = room.tell(Input::TriggerAgain);
    assert_eq!(step.causes(), [Cause::Retriggered]);
    let start = Deadline { at: room.now + secs(45), reason: DeadlineReason::Start };
    assert_eq!(room.channel.next_deadline(), Some(start));
    // It was no re-trigger of the rules: theirs follows.
    assert_eq!(room.wait(secs(45)).causes(), [Cause::Retriggered]);
    assert_eq!(room.wait(secs(45)).causes().first(), Some(&Cause::StartTimedOut));
}

#[test]
fn nobody_is_triggered_again_where_nobody_is_awaited() {
    let mut room = Room::chat(2);
    assert!(room.tell(Input::TriggerAgain).is_silent());
    room.human("hello");
    room.tell(AWAY);
    assert!(room.tell(Input::TriggerAgain).is_silent());
    room.tell(BACK);
    room.tell(Input::Hold);
    assert!(room.tell(Input::TriggerAgain).is_silent());
    room.tell(Input::Resume);
    room.start(A);
    assert!(room.tell(Input::TriggerAgain).is_silent());
}
