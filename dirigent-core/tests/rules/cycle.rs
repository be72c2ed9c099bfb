//! The end of a cycle: who is read, who stays, and whether there is another one.

use crate::room::{A, B, C, D, Room, millis, secs, spoke};
use dirigent_core::view::SeatTurn;
use dirigent_core::{Cause, Input, Outcome, PhaseKind, Reason, Settlement, TurnState};

/// R066
#[test]
fn two_agents_speak_in_the_same_order_in_every_cycle() {
    let mut room = Room::chat(2);
    room.human("hello");
    for _ in 0..5 {
        assert_eq!(room.order(), [A, B]);
        room.speaks(A);
        room.speaks(B);
        room.members();
    }
}

/// R079, R121, R123
#[test]
fn a_whole_cycle_of_replies_is_followed_by_another_one() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.speaks(A);
    let boundary = room.speaks(B);
    let story = [
        "confirming > confirming B: tail-matched",
        "confirming > refreshing: cycle-boundary",
        "fetch members",
    ];
    assert_eq!(boundary.all(), story);
    let next = room.members();
    assert_eq!(next.all(), ["refreshing > granted A: next-cycle", "trigger A"]);
}

/// R079
#[test]
fn members_are_fetched_exactly_once_per_boundary() {
    let mut room = Room::chat(2);
    room.human("hello");
    for _ in 0..4 {
        assert!(room.speaks(A).asks().iter().all(|ask| ask != "fetch members"));
        assert_eq!(room.speaks(B).asks(), ["fetch members"]);
        assert!(room.human("hurry").asks().is_empty());
        assert!(room.joins(A).asks().is_empty());
        assert!(room.wait(secs(9)).asks().is_empty());
        room.members();
    }
}

/// R080, R124, R135, D34
#[test]
fn newcomers_are_appended_to_those_who_stay() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.passes(A);
    assert!(room.joins(D).is_silent());
    assert_eq!(room.order(), [A, B], "no place before the boundary");
    assert_eq!(room.gate(D).reason(), Reason::NotListed);
    assert_eq!(room.passes(B).asks(), ["fetch members"], "and no turn");
    room.present = vec![D, B];
    assert_eq!(room.members().asks(), ["trigger B"], "the newcomer keeps the channel awake");
    assert_eq!(room.order(), [B, D]);
}

/// R081
#[test]
fn those_who_left_are_gone_from_the_next_list() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.speaks(A);
    room.leaves(A);
    assert_eq!(room.order().len(), 3, "until the boundary it keeps its place");
    room.speaks(B);
    room.speaks(C);
    room.members();
    let mut order = room.order();
    order.sort();
    assert_eq!(order, [B, C]);
}

/// R082, D35
#[test]
fn when_the_members_cannot_be_read_the_old_list_is_used() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.speaks(A);
    room.speaks(B);
    let step = room.members_fail();
    assert_eq!(step.asks(), ["trigger A"]);
    assert!(step.causes().contains(&Cause::MembersFailed));
    assert_eq!(room.order(), [A, B]);
}

/// R082, D35
#[test]
fn any_settlement_but_a_list_means_the_old_list() {
    for settlement in [
        Settlement::Done { message: None },
        Settlement::Failed { retry_at: Some(crate::room::START + secs(60)) },
        Settlement::Doubtful,
        Settlement::Dropped,
    ] {
        let mut room = Room::chat(2);
        room.human("hello");
        room.speaks(A);
        room.speaks(B);
        let ticket = room.fetch.unwrap();
        assert_eq!(room.settle(ticket, settlement).asks(), ["trigger A"]);
    }
}

/// R082, R083, D35
#[test]
fn a_list_that_takes_too_long_is_not_waited_for() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.speaks(A);
    room.speaks(B);
    room.wait(millis(9_999));
    assert_eq!(room.gate(A).reason(), Reason::Refreshing);
    let step = room.wait(millis(1));
    assert_eq!(step.asks(), ["trigger A"]);
    assert!(step.causes().contains(&Cause::MembersLate));
    let late = Input::Members { ticket: room.fetch.unwrap(), agents: vec![A] };
    assert_eq!(room.refusal(late), dirigent_core::Refusal::UnknownTicket);
}

/// R083, D35
#[test]
fn an_empty_cycle_goes_dormant_also_without_a_list() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.all_pass();
    let step = room.members_fail();
    assert!(step.asks().is_empty());
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// R121, D76
#[test]
fn the_boundary_comes_with_the_last_slot_in_whatever_way_it_ends() {
    let at_last = || {
        let mut room = Room::chat(2);
        room.human("hello");
        room.passes(A);
        room
    };
    let boundary = |asks: Vec<String>| asks.last() == Some(&"fetch members".to_owned());
    assert!(boundary(at_last().passes(B).asks()), "passed");
    assert!(boundary(at_last().speaks(B).asks()), "spoke");
    assert!(boundary(at_last().leaves(B).asks()), "left");
    assert!(boundary(at_last().tell(Input::Mute(B)).asks()), "muted");
    assert!(boundary(at_last().wait(secs(90)).asks()), "never started");
    let mut room = at_last();
    room.start(B);
    assert!(boundary(room.wait(secs(600)).asks()), "never ended");
    let mut room = at_last();
    room.talks(B, "lost");
    assert!(boundary(room.wait(secs(15)).asks()), "never arrived");
}

/// R121, R132, D76
#[test]
fn a_boundary_comes_when_all_that_follow_have_left() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.leaves(B);
    room.leaves(C);
    assert_eq!(room.speaker(), Some(A));
    assert_eq!(room.passes(A).asks(), ["fetch members"]);
    let turns = [SeatTurn::Passed, SeatTurn::Skipped, SeatTurn::Skipped];
    assert_eq!(room.turns(), turns);
}

/// R121
#[test]
fn before_the_last_slot_there_is_no_boundary() {
    let mut room = Room::chat(4);
    room.human("hello");
    for agent in [A, B, C] {
        assert!(!room.passes(agent).asks().contains(&"fetch members".to_owned()));
    }
    assert_eq!(room.passes(D).asks(), ["fetch members"]);
}

/// R122, R123, R127
#[test]
fn one_reply_among_passes_keeps_the_channel_awake() {
    for speaker in [A, B, C] {
        let mut room = Room::chat(3);
        room.human("hello");
        for agent in [A, B, C] {
            if agent == speaker {
                room.speaks(agent);
            } else {
                room.passes(agent);
            }
        }
        let step = room.members();
        assert_eq!(step.asks(), [format!("trigger {}", crate::room::name(room.order()[0]))]);
        assert_eq!(room.turns(), [SeatTurn::Ahead; 3], "with a clean record");
    }
}

/// R122, D107
#[test]
fn a_reply_that_was_never_seen_counts_as_a_reply() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "lost");
    room.wait(secs(15));
    room.passes(B);
    room.members();
    assert_eq!(room.speaker(), Some(A));
}

/// R124, D67
#[test]
fn a_newcomer_at_the_boundary_starts_a_clean_cycle() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.all_pass();
    room.present.push(C);
    assert!(room.members().asks()[0].starts_with("trigger "));
    assert_eq!(room.turns(), [SeatTurn::Ahead; 3]);
    room.all_pass();
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant, "it is new only once");
}

/// R124, D67, D75
#[test]
fn who_left_and_came_back_is_not_new() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    room.leaves(C);
    room.joins(C);
    assert_eq!(room.passes(B).asks(), ["trigger C"], "it kept its place");
    room.passes(C);
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// R125, R134, D65
#[test]
fn when_nobody_completed_a_turn_the_channel_goes_dormant() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.wait(secs(180));
    let step = room.members();
    assert_eq!(step.causes().last(), Some(&Cause::Unanswered));
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// R134
#[test]
fn the_dormant_check_ignores_who_did_not_complete() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    room.leaves(B);
    room.wait(secs(90));
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Skipped, SeatTurn::Skipped]);
    let step = room.members();
    assert_eq!(step.causes().last(), Some(&Cause::AllPassed));
}

/// R126, D66
#[test]
fn an_outside_message_during_the_cycle_prevents_dormancy() {
    for moment in 0..4 {
        let mut room = Room::chat(2);
        room.human("hello");
        if moment == 0 {
            room.human("granted");
        }
        room.start(A);
        if moment == 1 {
            room.human("running");
        }
        room.ends(A, Outcome::Pass);
        if moment == 2 {
            room.human("the next one");
        }
        room.passes(B);
        if moment == 3 {
            room.human("while the list is read");
        }
        assert_eq!(room.members().asks(), ["trigger A"], "moment {moment}");
        room.all_pass();
        room.members();
        assert_eq!(room.phase(), PhaseKind::Dormant, "the veto holds once");
    }
}

/// R126, D66
#[test]
fn an_agent_that_speaks_out_of_turn_prevents_dormancy_too() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.says(C, "by the message tool");
    room.all_pass();
    let step = room.members();
    assert!(step.asks()[0].starts_with("trigger "));
    assert!(step.causes().contains(&Cause::NextCycle));
}

/// R126, F03, D50
#[test]
fn moderator_system_bot_and_repeated_messages_do_not_prevent_dormancy() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.moderator("a trigger");
    room.system(dirigent_core::Author::Human);
    room.bot("beep");
    room.edit(1_001, dirigent_core::Author::Human, "hello, corrected");
    room.all_pass();
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// R136, D68
#[test]
fn the_list_is_not_shuffled_when_dormancy_begins() {
    for seed in 0..20 {
        let mut room = seeded(seed, 5);
        room.human("hello");
        let before = room.order();
        room.all_pass();
        let step = room.members();
        assert_eq!(room.phase(), PhaseKind::Dormant);
        assert!(!step.causes().contains(&Cause::Reshuffled));
        assert_eq!(room.order(), before);
    }
}

/// R136, D68
#[test]
fn the_list_is_shuffled_after_the_dormant_check() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.speaks(A);
    room.passes(B);
    room.passes(C);
    let causes = room.members().causes();
    assert_eq!(causes, [Cause::Reshuffled, Cause::NextCycle]);
}

/// A chat with a chosen seed of chance.
fn seeded(seed: u64, count: usize) -> Room {
    let mut room = Room::with(dirigent_core::Config::default(), seed);
    room.present = crate::room::agents(count);
    room.tell(Input::SetMode(dirigent_core::Mode::Chat));
    room.members();
    room
}

/// R042, D13
#[test]
fn the_turn_state_follows_the_count_at_the_boundary() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.speaks(A);
    room.joins(C);
    assert_eq!(room.state(), TurnState::Normal);
    room.speaks(B);
    assert_eq!(room.state(), TurnState::Normal);
    let causes = room.members().causes();
    assert_eq!(room.state(), TurnState::Shuffle);
    assert!(causes.contains(&Cause::Reshuffled), "the new state is shuffle");
    room.leaves(C);
    assert_eq!(room.state(), TurnState::Shuffle);
    while let Some(agent) = room.speaker() {
        room.speaks(agent);
    }
    let causes = room.members().causes();
    assert_eq!(room.state(), TurnState::Normal);
    assert!(!causes.contains(&Cause::Reshuffled), "two keep their order");
}

/// R042, R133, D13
#[test]
fn with_one_agent_left_the_channel_is_let_go_at_the_boundary() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.leaves(B);
    assert_eq!(room.state(), TurnState::Normal, "until the boundary");
    assert_eq!(room.gate(A).reason(), Reason::YourTurn);
    room.ends(A, spoke("alone"));
    assert_eq!(room.says(A, "alone").asks(), ["fetch members"]);
    let step = room.members();
    assert_eq!(step.causes().last(), Some(&Cause::TooFewAgents));
    assert!(step.asks().is_empty());
    assert_eq!(room.state(), TurnState::Disabled);
    assert_eq!(room.speaker(), None);
    assert_eq!(room.gate(A).reason(), Reason::TooFewAgents);
    let asks = room.wait(secs(3_600)).asks();
    assert!(asks.is_empty(), "no timer is left: {asks:?}");
}
