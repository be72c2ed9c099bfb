//! Agents that crash, come back and are assigned again (rule 56).

use crate::room::{A, B, C, D, Room, STRANGER, agents, secs, spoke};
use dirigent_core::view::{AgentState, SeatTurn};
use dirigent_core::{
    AgentKey, Cause, Input, MessageId, Mode, Outcome, PhaseKind, Reason, Refusal, Tail,
};

fn woken(count: usize) -> Room {
    let mut room = Room::chat(count);
    room.human("hello");
    room
}

/// R270, R272, R284
#[test]
fn a_crashed_speaker_is_offline_and_the_next_goes_on() {
    let mut room = woken(3);
    room.start(A);
    let step = room.tell(Input::Offline(A));
    assert_eq!(
        step.all(),
        [
            "cancel the run of A",
            "running > running A: agent-offline",
            "running > granted B: next-in-list",
            "trigger B"
        ]
    );
    assert_eq!(
        (room.channel.agent_state(A), room.seat(A).turn),
        (AgentState::Offline, SeatTurn::Skipped)
    );
    assert_eq!(room.explain(A), Reason::Offline);
    assert_eq!(room.order(), [A, B, C], "its place is kept");
    assert!(room.seat(A).away && !room.seat(A).is_available());
    assert!(room.tell(Input::Offline(A)).is_silent(), "twice changes nothing");
}

/// R271, M16
#[test]
fn a_crashed_agent_that_waits_is_skipped_when_its_turn_comes() {
    let mut room = woken(3);
    let step = room.tell(Input::Offline(B));
    assert_eq!(
        (step.all(), room.speaker()),
        (vec!["granted > granted B: agent-offline".to_owned()], Some(A))
    );
    let step = room.passes(A);
    assert_eq!(step.causes(), [Cause::Passed, Cause::AgentOffline, Cause::NextInList]);
    assert_eq!(room.speaker(), Some(C));
}

/// R273
#[test]
fn a_crash_is_announced_only_where_that_is_wanted_and_concerns_the_channel() {
    let loud = |count| Room::chat_with(count, |config| config.announce_offline = true);
    let notice = |agent: u32| format!("Disconnected {{ agent: agent-{agent} }}");
    let mut room = loud(3);
    room.human("hello");
    assert_eq!(room.tell(Input::Offline(A)).asks(), [notice(1), "trigger B".to_owned()]);
    assert_eq!(room.tell(Input::Offline(C)).asks(), [notice(3)]);
    assert!(room.tell(Input::Offline(STRANGER)).asks().is_empty(), "nobody here knows it");
    let mut room = loud(3);
    room.leaves(B);
    assert!(room.tell(Input::Offline(B)).asks().is_empty(), "it has left anyway");
    room.tell(Input::SetMode(Mode::None));
    assert!(room.tell(Input::Offline(A)).asks().is_empty(), "no turns are kept");
    let mut room = loud(3);
    room.tell(Input::Archive);
    assert!(room.tell(Input::Offline(A)).asks().is_empty());
    assert!(woken(3).tell(Input::Offline(B)).asks().is_empty(), "the default");
}

/// R274, M14
#[test]
fn an_agent_that_is_back_has_no_turn_until_it_is_assigned() {
    let mut room = woken(3);
    room.tell(Input::Offline(A));
    assert_eq!(room.refusal(Input::Assign(A)), Refusal::AgentOffline);
    assert_eq!(room.tell(Input::Online(A)).causes(), [Cause::AgentOnline]);
    assert!(room.tell(Input::Online(A)).is_silent());
    assert_eq!(
        (room.channel.agent_state(A), room.explain(A)),
        (AgentState::Idle, Reason::Unassigned)
    );
    assert_eq!(room.tell(Input::Assign(A)).causes(), [Cause::AgentAssigned]);
    assert_eq!(room.channel.agent_state(A), AgentState::Queued);
    assert_eq!(room.order(), [B, C, A], "after all others");
    assert_eq!(room.seat(A).turn, SeatTurn::Ahead);
    assert!(room.tell(Input::Assign(A)).is_silent(), "it is not away");
    room.passes(B);
    room.passes(C);
    assert_eq!(room.speaker(), Some(A));
}

/// M14
#[test]
fn an_agent_that_is_back_is_assigned_at_once_where_that_is_wanted() {
    let mut room = Room::chat_with(3, |config| config.order.auto_requeue = true);
    room.human("hello");
    room.tell(Input::Offline(A));
    assert_eq!(room.tell(Input::Online(A)).causes(), [Cause::AgentAssigned]);
    assert_eq!(room.order(), [B, C, A]);
}

/// R274, R284
#[test]
fn whoever_had_its_turn_keeps_its_place_when_it_is_assigned() {
    let mut room = woken(3);
    room.speaks(A);
    room.tell(Input::Offline(A));
    room.tell(Input::Online(A));
    room.tell(Input::Assign(A));
    assert_eq!((room.order(), room.seat(A).turn), (vec![A, B, C], SeatTurn::Spoke));
}

/// R275, M17
#[test]
fn with_everybody_away_a_word_waits_for_the_first_who_is_assigned() {
    let mut room = Room::chat(2);
    room.tell(Input::Offline(A));
    room.tell(Input::Offline(B));
    room.human("anybody?");
    room.members();
    assert_eq!((room.phase(), room.speaker()), (PhaseKind::Dormant, None));
    room.tell(Input::Online(B));
    assert_eq!(room.speaker(), None);
    let step = room.tell(Input::Assign(B));
    assert_eq!(step.causes()[..2], [Cause::AgentAssigned, Cause::HumanMessage]);
    assert_eq!(room.speaker(), Some(B));
}

/// No agent has answered the word that they were given: the channel wakes for it when an agent is back.
#[test]
fn what_crashed_speakers_were_given_wakes_the_channel_when_one_is_back() {
    let mut room = woken(2);
    for agent in [A, B] {
        room.start(agent);
        room.tell(Input::Offline(agent));
    }
    room.members();
    assert_eq!((room.phase(), room.speaker()), (PhaseKind::Dormant, None));
    assert!(room.channel.view().is_wake_pending());
    room.tell(Input::Online(A));
    let step = room.tell(Input::Assign(A));
    assert_eq!(step.causes()[..2], [Cause::AgentAssigned, Cause::HumanMessage]);
    assert_eq!(room.speaker(), Some(A));
}

/// The next one has heard the word, or the agent itself has given a part of its answer.
#[test]
fn a_crashed_speakers_word_does_not_wait_where_an_agent_has_taken_it() {
    let mut room = woken(2);
    room.start(A);
    room.tell(Input::Offline(A));
    room.start(B);
    room.passes(B);
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert!(!room.channel.view().is_wake_pending());

    for seen in ["nothing", "a piece", "a receipt", "a part"] {
        let mut room = woken(2);
        room.trigger_posted();
        room.tell(Input::Offline(B));
        room.start(A);
        match seen {
            "a piece" => {
                room.says(A, "a piece");
            }
            "a receipt" => {
                let (run, messages) = (Some(room.run_of(A)), vec![MessageId::new(8_000)]);
                room.tell(Input::Receipt { agent: A, run, messages });
            }
            "a part" => {
                room.ends(A, Outcome::Unfinished { tail: Tail::of("a part") });
                assert_eq!(room.phase(), PhaseKind::Continuing);
                room.start(A);
            }
            _ => {}
        }
        room.tell(Input::Offline(A));
        room.members();
        assert_eq!(
            room.channel.view().is_wake_pending(),
            matches!(seen, "nothing" | "a piece"),
            "{seen}"
        );
    }
}

/// R270
#[test]
fn absence_outlives_lists_and_modes() {
    let mut room = Room::chat(3);
    room.tell(Input::Offline(B));
    room.tell(Input::Offline(STRANGER));
    room.tell(Input::SetMode(Mode::None));
    room.tell(Input::SetMode(Mode::Chat));
    room.present = vec![A, B, C, STRANGER];
    room.members();
    assert_eq!(room.order(), [A, B, C, STRANGER]);
    assert_eq!(room.explain(B), Reason::Offline);
    assert_eq!(room.explain(STRANGER), Reason::Offline);
    assert_eq!(room.state(), dirigent_core::TurnState::Shuffle, "who is away counts");
}

/// R270
#[test]
fn no_more_agents_are_away_than_a_channel_holds() {
    let mut room = Room::chat(2);
    for agent in agents(66).into_iter().skip(2) {
        room.tell(Input::Offline(agent));
    }
    assert_eq!(room.channel.view().away().len(), 64);
    assert_eq!(room.refusal(Input::Offline(A)), Refusal::TooManyAgents);
    room.tell(Input::Online(AgentKey::new(5)));
    room.tell(Input::Offline(AgentKey::new(5)));
    assert!(room.channel.view().away().is_sorted_by_key(|away| away.agent));
}

/// R270, D84
#[test]
fn an_initiator_that_is_away_has_no_permit() {
    let idle = || {
        let mut room = Room::discussion(2);
        room.human("hello");
        room.all_pass();
        room
    };
    let mut room = idle();
    room.members();
    room.start(A);
    assert_eq!(
        room.tell(Input::Offline(A)).all(),
        ["cancel the permitted run of A", "dormant > dormant A: agent-offline"]
    );
    assert_eq!(room.channel.view().permit(), None);
    let mut room = idle();
    room.tell(Input::Offline(A));
    room.members();
    assert_eq!(room.channel.view().permit(), None, "it is reminded all the same");
}

/// M7, R247, R253, R256
#[test]
fn every_agent_is_in_one_state_in_a_channel() {
    let mut room = woken(4);
    room.tell(Input::Mute(C));
    room.leaves(D);
    let states =
        |room: &Room| [A, B, C, D, STRANGER].map(|agent| room.channel.agent_state(agent).as_str());
    assert_eq!(states(&room), ["active", "queued", "idle", "idle", "idle"]);
    room.speaks(A);
    assert_eq!(states(&room), ["queued", "active", "idle", "idle", "idle"]);
    room.tell(Input::Archive);
    assert_eq!(states(&room), ["idle"; 5]);
    let mut room = Room::chat_with(2, |config| {
        config.people.human_interrupt = dirigent_core::config::HumanInterrupt::Interrupt;
    });
    room.human("hello");
    room.human("wait");
    assert_eq!(room.channel.agent_state(A), AgentState::Waiting);
    room.tell(Input::SetMode(Mode::None));
    assert_eq!(room.channel.agent_state(B), AgentState::Idle, "no turns, no queue");
    room.wait(secs(1));
}

/// R256
#[test]
fn at_most_one_agent_is_active_whatever_happens() {
    let mut room = woken(4);
    // A linear congruential generator draws what happens next.
    let mut drawn = 7_u64;
    let mut draw = |most: u64| {
        drawn =
            drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (drawn >> 33) % most
    };
    let mut actives = [0_usize; 2];
    for _ in 0..2_000 {
        let agent = [A, B, C, D][usize::try_from(draw(4)).unwrap()];
        let run = room.fresh_run();
        let outcome = if draw(2) == 0 { spoke("something") } else { Outcome::Pass };
        let ended = Input::RunEnded { agent, run: None, outcome };
        let input = match draw(9) {
            0 | 1 => Input::Gate { agent: Some(agent), run: Some(run), latest: None },
            2 | 3 => ended,
            4 => Input::Mute(agent),
            5 => Input::Unmute(agent),
            6 => Input::Offline(agent),
            7 => Input::Online(agent),
            _ => Input::SpeakNext(agent),
        };
        // Most are refused out of turn: that must change nothing, too.
        drop(room.give(input));
        match draw(4) {
            0 => drop(room.human("go on")),
            1 => drop(room.wait(secs(draw(60)))),
            _ => {}
        }
        let states = [A, B, C, D].map(|agent| room.channel.agent_state(agent));
        let active = states.iter().filter(|state| **state == AgentState::Active).count();
        actives[active] += 1;
    }
    assert!(actives[1] > 100, "agents had turns: {actives:?}");
}

/// R284
#[test]
fn whichever_agent_is_removed_the_others_keep_their_order_and_their_turns() {
    for (turns, removed) in (0..4).flat_map(|turns| (0..4).map(move |at| (turns, at))) {
        let mut room = woken(4);
        let order = room.order();
        for agent in &order[..turns] {
            room.speaks(*agent);
        }
        room.leaves(order[removed]);
        for agent in order[turns..].iter().filter(|agent| **agent != order[removed]) {
            assert_eq!(room.speaker(), Some(*agent), "{removed} is removed in turn {turns}");
            room.speaks(*agent);
        }
    }
}
