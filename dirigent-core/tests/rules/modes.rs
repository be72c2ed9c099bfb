//! What each mode means, and which mode may follow which.

use crate::room::{A, B, C, Room, STRANGER, agents, ended, gate, secs};
use dirigent_core::{Cause, Creation, Input, Mode, Outcome, PhaseKind, Reason, Refusal, TurnState};

fn create(mode: Mode, count: usize) -> Input {
    Input::Create(Creation {
        mode,
        members: agents(count),
        initiator: (mode == Mode::Discussion).then_some(A),
    })
}

fn created(mode: Mode, count: usize) -> Room {
    let mut room = Room::unknown();
    room.present = agents(count);
    room.tell(create(mode, count));
    room
}

/// R026
#[test]
fn a_channel_never_seen_before_has_mode_none() {
    let mut room = Room::unknown();
    assert_eq!(room.channel.view().mode(), Mode::None);
    assert_eq!(room.phase(), PhaseKind::Disabled);
    assert_eq!(room.gate(A).reason(), Reason::Unmanaged);
}

/// R248
#[test]
fn a_message_in_a_channel_never_seen_before_is_not_managed() {
    let mut room = Room::unknown();
    room.present = agents(2);
    assert!(room.human("hello").is_silent());
    assert!(room.says(A, "hello").is_silent());
    assert!(room.wait(secs(86_400)).is_silent());
    assert_eq!((room.channel.view().mode(), room.phase()), (Mode::None, PhaseKind::Disabled));
    for agent in [A, B] {
        assert_eq!(room.gate(agent).reason(), Reason::Unmanaged);
    }
}

/// R027
#[test]
fn the_modes_are_exactly_five_words_in_lower_case() {
    let words = Mode::ALL.map(Mode::as_str);
    assert_eq!(words, ["none", "work", "report", "discussion", "chat"]);
    for mode in Mode::ALL {
        assert_eq!(mode.as_str().parse(), Ok(mode));
        assert!(mode.as_str().to_uppercase().parse::<Mode>().is_err());
    }
    for other in ["", "Chat", " chat", "chat ", "disabled", "archived", "null"] {
        assert!(other.parse::<Mode>().is_err(), "{other:?} is no mode");
    }
}

/// Lives through a channel's ordinary day and asserts that the library stays out of it.
#[track_caller]
fn nothing_is_asked_of_the_host(mut room: Room) {
    for _ in 0..3 {
        assert!(room.human("hello").is_silent());
        assert!(room.bot("beep").is_silent());
        for agent in [A, B, C, STRANGER] {
            assert!(room.says(agent, "hello to you").is_silent());
        }
        assert!(room.joins(C).is_silent());
        assert!(room.leaves(C).is_silent());
        assert!(room.wait(secs(3_600)).is_silent());
    }
}

/// R028, R064
#[test]
fn mode_none_lets_everybody_speak_and_does_nothing() {
    let mut room = Room::unknown();
    for agent in [A, B, STRANGER] {
        assert_eq!(room.gate(agent).reason(), Reason::Unmanaged);
    }
    let anonymous = Input::Gate { agent: None, run: None, latest: None };
    assert!(room.tell(anonymous).verdict().is_allowed(), "also whom the registry does not know");
    nothing_is_asked_of_the_host(room);
}

/// R028, D17
#[test]
fn a_chat_that_becomes_none_is_let_go() {
    let mut room = created(Mode::Chat, 3);
    room.tell(Input::SetMode(Mode::None));
    assert_eq!(room.gate(C).reason(), Reason::Unmanaged);
    nothing_is_asked_of_the_host(room);
}

/// R029, R064
#[test]
fn mode_work_lets_everybody_speak_and_does_nothing() {
    for count in [0, 1, 2, 5] {
        let mut room = created(Mode::Work, count);
        for agent in [A, B, STRANGER] {
            assert_eq!(room.gate(agent).reason(), Reason::Unmanaged);
        }
        nothing_is_asked_of_the_host(room);
    }
}

/// R030, R065, D15
#[test]
fn mode_report_denies_every_run() {
    let mut room = created(Mode::Report, 2);
    room.human("any news?");
    for agent in [A, B, STRANGER] {
        assert_eq!(room.gate(agent).reason(), Reason::Dead);
        assert_eq!(room.explain(agent), Reason::Dead);
    }
}

/// R031, R065, D15
#[test]
fn reports_change_nothing_and_draw_no_reply() {
    let mut room = created(Mode::Report, 3);
    let before = room.snapshot();
    assert!(room.says(A, "the build is green").is_silent());
    assert!(room.says(B, "the tests are green").is_silent());
    let mut after = room.snapshot();
    assert_eq!(after.state.seen.newest, Some(room.newest()), "only the newest message is noted");
    after.state.seen.newest = before.state.seen.newest;
    after.revision = before.revision;
    assert_eq!(before, after);
    nothing_is_asked_of_the_host(room);
}

/// R032, D16
#[test]
fn the_three_free_modes_change_into_each_other() {
    let free = [Mode::None, Mode::Chat, Mode::Report];
    for from in free {
        for to in free {
            let mut room = Room::unknown();
            room.tell(Input::SetMode(from));
            room.tell(Input::SetMode(to));
            assert_eq!(room.channel.view().mode(), to, "{from} to {to}");
        }
    }
}

/// R032, D16
#[test]
fn setting_the_present_mode_keeps_the_turn() {
    let mut room = created(Mode::Chat, 3);
    room.human("hello");
    room.start(A);
    let before = room.snapshot();
    let step = room.tell(Input::SetMode(Mode::Chat));
    assert!(step.is_silent());
    assert_eq!(before, room.snapshot());
}

/// R033, D16, D26
#[test]
fn a_locked_channel_keeps_its_mode_and_its_turn() {
    for locked in [Mode::Work, Mode::Discussion] {
        let mut room = created(locked, 2);
        if locked == Mode::Discussion {
            room.human("hello");
            room.start(A);
        }
        for mode in Mode::ALL {
            assert_eq!(room.refusal(Input::SetMode(mode)), Refusal::ModeLocked, "{mode}");
        }
        assert_eq!(room.channel.view().mode(), locked);
    }
}

/// R034, R035
#[test]
fn work_and_discussion_are_given_at_creation_only() {
    for from in [Mode::None, Mode::Chat, Mode::Report] {
        for locked in [Mode::Work, Mode::Discussion] {
            let mut room = Room::unknown();
            room.tell(Input::SetMode(from));
            assert_eq!(room.refusal(Input::SetMode(locked)), Refusal::CreationOnly);
            assert_eq!(room.channel.view().mode(), from);
        }
    }
    for locked in [Mode::Work, Mode::Discussion] {
        assert_eq!(created(locked, 2).channel.view().mode(), locked);
    }
}

/// R035
#[test]
fn a_channel_is_created_once_and_only_before_any_other_mode() {
    let mut room = created(Mode::Chat, 2);
    for mode in Mode::ALL {
        assert_eq!(room.refusal(create(mode, 2)), Refusal::AlreadyCreated);
    }
    let mut room = Room::unknown();
    room.tell(Input::SetMode(Mode::Report));
    room.tell(Input::SetMode(Mode::None));
    assert_eq!(room.refusal(create(Mode::Work, 2)), Refusal::AlreadyCreated);
}

/// R035, D81
#[test]
fn exactly_a_discussion_has_an_initiator() {
    for mode in Mode::ALL {
        let initiator = (mode != Mode::Discussion).then_some(A);
        let wrong = Creation { mode, members: agents(2), initiator };
        let mut room = Room::unknown();
        assert_eq!(room.refusal(Input::Create(wrong)), Refusal::InitiatorMismatch, "{mode}");
    }
}

/// R036, R037, R040, D11
#[test]
fn in_chat_and_discussion_the_count_decides() {
    for mode in [Mode::Chat, Mode::Discussion] {
        let states = [0, 1, 2, 3, 9].map(|count| mode.turn_state(count));
        let disabled = TurnState::Disabled;
        let shuffle = TurnState::Shuffle;
        assert_eq!(states, [disabled, disabled, TurnState::Normal, shuffle, shuffle]);
        for count in [1, 2, 3, 9] {
            let room = created(mode, count);
            assert_eq!(room.state(), mode.turn_state(count), "{mode} with {count}");
        }
    }
}

/// R040, D11
#[test]
fn a_chat_without_agents_is_disabled() {
    let mut room = Room::unknown();
    room.tell(Input::SetMode(Mode::Chat));
    assert_eq!(room.members().causes(), [Cause::TooFewAgents]);
    assert_eq!(room.phase(), PhaseKind::Disabled);
    assert_eq!(room.state(), TurnState::Disabled);
    assert_eq!(room.gate(A).reason(), Reason::TooFewAgents);
}

/// R038
#[test]
fn a_concluded_discussion_is_archived_for_every_count() {
    for count in [1, 2, 3, 9] {
        let mut room = created(Mode::Discussion, count);
        room.tell(Input::Conclude { by: A });
        assert_eq!(room.state(), TurnState::Archived);
        assert_eq!(room.phase(), PhaseKind::Archived);
    }
}

/// R039
#[test]
fn none_work_and_report_do_not_look_at_the_count() {
    for count in [0, 1, 2, 3, 9] {
        assert_eq!(Mode::None.turn_state(count), TurnState::Disabled);
        assert_eq!(created(Mode::None, count).state(), TurnState::Disabled);
        assert_eq!(created(Mode::Work, count).state(), TurnState::Disabled);
        assert_eq!(created(Mode::Report, count).state(), TurnState::Dead);
        assert_eq!(created(Mode::Report, count).phase(), PhaseKind::Dead);
    }
}

/// R064
#[test]
fn a_disabled_chat_lets_everybody_speak_and_posts_nothing() {
    let mut room = created(Mode::Chat, 1);
    assert_eq!(room.phase(), PhaseKind::Disabled);
    for agent in [A, B, STRANGER] {
        assert_eq!(room.gate(agent).reason(), Reason::TooFewAgents);
    }
    let mut asked = room.human("hello").asks();
    asked.extend(room.says(A, "hello to you").asks());
    assert!(asked.iter().all(|ask| ask == "fetch members"), "only a recount: {asked:?}");
    assert_eq!(room.refusal(ended(A, None, Outcome::Pass)), Refusal::NotManaged);
}

/// R044, D17
#[test]
fn a_mode_change_ends_the_turn_and_its_timers() {
    for mode in [Mode::None, Mode::Report] {
        let mut room = created(Mode::Chat, 3);
        room.human("hello");
        room.start(A);
        let step = room.tell(Input::SetMode(mode));
        assert_eq!(step.asks(), ["cancel the run of A"]);
        assert_eq!(room.speaker(), None);
        let run = Some(room.run_of(A));
        assert_eq!(room.refusal(ended(A, run, crate::room::spoke("late"))), Refusal::NotManaged);
        assert!(room.wait(secs(3_600)).is_silent(), "no timer is left");
    }
}

/// R044, D17
#[test]
fn a_run_from_before_a_mode_change_stays_ended_when_chat_returns() {
    let mut room = created(Mode::Chat, 2);
    room.human("hello");
    room.start(A);
    let run = room.run_of(A);
    room.tell(Input::SetMode(Mode::None));
    room.tell(Input::SetMode(Mode::Chat));
    room.members();
    room.human("hello again");
    assert_eq!(room.speaker(), Some(A));
    assert_eq!(room.refusal(ended(A, Some(run), Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.tell(gate(A, Some(run))).reason(), Reason::RunAlreadyEnded);
    assert_eq!(room.passes(A).asks(), ["trigger B"]);
}

/// R045, D18
#[test]
fn a_channel_that_becomes_chat_starts_dormant() {
    for before in [Mode::None, Mode::Report] {
        let mut room = Room::unknown();
        room.present = agents(3);
        room.tell(Input::SetMode(before));
        let step = room.tell(Input::SetMode(Mode::Chat));
        if before == Mode::None {
            // From none to chat there is exactly one thing to do: count the agents.
            assert_eq!(step.all(), ["disabled > dormant: mode-changed", "fetch members"]);
        }
        assert_eq!(room.phase(), PhaseKind::Dormant);
        assert!(room.members().asks().is_empty(), "nobody is woken");
        assert_eq!(room.phase(), PhaseKind::Dormant);
        assert_eq!(room.gate(A).reason(), Reason::Dormant);
    }
}

/// R045, D18
#[test]
fn a_chat_created_with_members_starts_dormant_without_a_word() {
    let mut room = Room::unknown();
    let step = room.tell(create(Mode::Chat, 3));
    assert_eq!(step.all(), ["disabled > dormant: created"]);
    assert_eq!(room.order(), agents(3));
}
