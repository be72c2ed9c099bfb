//! How long agents may talk among themselves.

use crate::room::{A, B, Room, STRANGER, secs};
use dirigent_core::{
    Author, Cause, Config, Input, MessageKind, Mode, Outcome, PhaseKind, Reason, Refusal, WakeCause,
};

/// Lets the agents talk until nobody has the floor and nobody is asked for the members; gives the
/// last step.
fn talk_on(room: &mut Room) -> crate::room::Step {
    loop {
        let speaker = room.speaker().expect("somebody has the floor");
        let mut step = room.speaks(speaker);
        if room.phase() == PhaseKind::Refreshing {
            step = room.members();
        }
        if room.phase() == PhaseKind::Dormant {
            return step;
        }
    }
}

/// F01
#[test]
fn after_sixty_turns_without_a_person_the_channel_rests() {
    let mut room = Room::chat_with(2, |config| config.ceilings.chat.cycles = None);
    room.human("talk among yourselves");
    let step = talk_on(&mut room);
    assert_eq!(room.grants(), 60);
    assert_eq!(step.asks(), ["notice ceiling"]);
    assert!(step.causes().contains(&Cause::CeilingReached));
    assert_eq!(room.gate(A).reason(), Reason::CeilingReached);
}

/// F01
#[test]
fn after_twelve_cycles_without_a_person_the_channel_rests() {
    let mut room = Room::chat(3);
    room.human("talk among yourselves");
    let step = talk_on(&mut room);
    assert_eq!(room.grants(), 36);
    assert_eq!(step.asks(), ["notice ceiling"]);
    assert_eq!(room.channel.view().cycles_since_human(), 12);
}

/// F01, F28: agents that work out a result may talk longer than agents in a chat.
#[test]
fn a_discussion_has_ceilings_of_its_own() {
    // The ceiling of turns is met when the first turn of another cycle is due.
    for (agents, turns, cycles) in [(2, 80, 40), (3, 120, 40), (8, 160, 21)] {
        let mut room = Room::discussion_with(agents, |config| {
            (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (Some(1), Some(1));
        });
        room.tell(Input::Wake { first: None, cause: WakeCause::Guide });
        let step = talk_on(&mut room);
        assert_eq!(room.grants(), turns, "{agents} agents");
        assert_eq!(room.channel.view().cycles_since_human(), cycles);
        assert!(step.causes().contains(&Cause::CeilingReached));
        assert!(room.channel.view().is_at_ceiling());
    }
}

/// F01: in seed 4 agents work on a task together, until it is done.
#[test]
fn the_message_flow_goes_on_for_sixty_cycles() {
    for (agents, turns) in [(2, 120), (3, 180), (5, 240)] {
        let mut room = Room::chat_with(agents, |config| *config = Config::message_flow());
        room.human("build it");
        talk_on(&mut room);
        assert_eq!(room.grants(), turns, "{agents} agents");
    }
}

/// F01
#[test]
fn the_ceilings_are_settings() {
    let mut room = Room::chat_with(2, |config| config.ceilings.chat.turns = Some(5));
    room.human("hello");
    talk_on(&mut room);
    assert_eq!(room.grants(), 5);
    let mut room = Room::chat_with(2, |config| config.ceilings.chat.cycles = Some(1));
    room.human("hello");
    talk_on(&mut room);
    assert_eq!(room.grants(), 2);
    let mut free = Room::chat_with(2, |config| {
        config.ceilings.chat.turns = None;
        config.ceilings.chat.cycles = None;
    });
    free.human("hello");
    for _ in 0..100 {
        free.speaks(A);
        free.speaks(B);
        free.members();
    }
    assert_eq!(free.grants(), 201);
}

/// A chat of two that has reached its ceiling of four turns.
fn at_the_ceiling() -> Room {
    let mut room = Room::chat_with(2, |config| config.ceilings.chat.turns = Some(4));
    room.human("hello");
    talk_on(&mut room);
    room
}

/// F01
#[test]
fn the_notice_is_posted_once() {
    let mut room = at_the_ceiling();
    room.wait(secs(60));
    for agent in [A, B, STRANGER] {
        assert!(room.says(agent, "may I go on?").asks().is_empty());
    }
    assert!(room.wait(secs(3_600)).asks().is_empty());
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// F01, F02
#[test]
fn only_a_person_lifts_the_ceiling() {
    let mut room = at_the_ceiling();
    room.wait(secs(31));
    assert!(room.says(B, "may I go on?").asks().is_empty());
    assert!(room.bot("beep").is_silent());
    assert!(room.system(Author::Human).is_silent());
    assert!(room.moderator("a notice").is_silent());
    let guide = Input::Wake { first: None, cause: WakeCause::Guide };
    assert_eq!(room.refusal(guide), Refusal::CeilingReached);
    let step = room.human("go on");
    assert_eq!(step.asks(), ["trigger A"]);
    assert!(step.causes().contains(&Cause::CeilingReset));
    talk_on(&mut room);
    assert_eq!(room.grants(), 8, "another four turns");
}

/// F02
#[test]
fn an_operator_counts_as_a_person() {
    let mut room = at_the_ceiling();
    let step = room.tell(Input::Wake { first: None, cause: WakeCause::Operator });
    assert_eq!(step.asks(), ["trigger A"]);
    let mut room = at_the_ceiling();
    room.tell(Input::SetMode(Mode::Report));
    room.tell(Input::SetMode(Mode::Chat));
    room.members();
    assert_eq!(room.human("hello").asks(), ["trigger A"]);
}

/// F02
#[test]
fn messages_out_of_turn_count_and_only_people_reset() {
    let mut room = Room::chat(2);
    let turns = |room: &Room| room.channel.view().turns_since_human();
    room.human("hello");
    assert_eq!(turns(&room), 1, "the grant");
    room.says(B, "out of turn");
    assert_eq!(turns(&room), 2);
    room.says(STRANGER, "from outside");
    assert_eq!(turns(&room), 3);
    room.start(A);
    room.says(A, "in its turn");
    assert_eq!(turns(&room), 3, "counted with the grant");
    room.bot("beep");
    room.system(Author::Human);
    room.moderator("a trigger");
    assert_eq!(turns(&room), 3);
    room.human("I am still here");
    assert_eq!(turns(&room), 0);
    assert_eq!(room.channel.view().cycles_since_human(), 0);
}

/// F02
#[test]
fn repeated_messages_count_once() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.says(B, "out of turn");
    let before = room.channel.view().turns_since_human();
    let again =
        crate::room::message(room.message, Author::Agent(B), MessageKind::Conversation, "x");
    assert_eq!(room.refusal(again), Refusal::RepeatedMessage);
    assert_eq!(room.channel.view().turns_since_human(), before);
}

/// F02
#[test]
fn a_stop_word_is_a_persons_word() {
    let mut room = at_the_ceiling();
    let step = room.post(Author::Human, MessageKind::StopWord, "stop");
    assert!(step.causes().contains(&Cause::CeilingReset));
    room.post(Author::Human, MessageKind::ResumeWord, "resume");
    assert_eq!(room.explain(A), Reason::Dormant);
}

/// F01
#[test]
fn in_a_discussion_the_initiator_is_reminded_but_wakes_nobody() {
    let mut room = Room::discussion_with(2, |config| config.ceilings.discussion.turns = Some(4));
    room.tell(Input::Wake { first: None, cause: WakeCause::Guide });
    let step = talk_on(&mut room);
    let mut asks = step.asks();
    asks.sort();
    assert_eq!(asks, ["notice ceiling", "remind A"]);
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit, "it may still conclude");
    room.says(A, "one more question");
    assert!(room.ends(A, crate::room::spoke("one more question")).asks().is_empty());
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.gate(A).reason(), Reason::CeilingReached);
    room.tell(Input::Conclude { by: A });
}

/// F01
#[test]
fn a_ceiling_inside_a_cycle_ends_it() {
    let mut room = Room::chat_with(3, |config| config.ceilings.chat.turns = Some(2));
    room.human("hello");
    room.passes(A);
    let last = room.speaker().unwrap();
    room.start(last);
    let step = room.ends(last, Outcome::Pass);
    assert_eq!(step.asks(), ["notice ceiling"]);
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.turns(), [dirigent_core::view::SeatTurn::Ahead; 3]);
}

/// The initiator would be called for ever, and each wake would withdraw its permit and cost a cycle.
#[test]
fn an_agent_that_is_back_does_not_wake_a_channel_at_its_ceiling() {
    let mut room = Room::discussion_with(2, |config| {
        (config.ceilings.discussion.turns, config.budget.cycles) = (Some(1), Some(9));
    });
    room.human("hello");
    room.start(A);
    let step = room.ends(A, Outcome::Failed);
    assert!(
        step.causes().contains(&Cause::CeilingReached) && room.channel.view().is_wake_pending()
    );
    let reminder = room.channel.next_deadline();
    assert!(reminder.is_some());
    for (hinders, returns) in [
        (Input::MayNotWrite { agent: B, until: None }, Input::MayWrite(B)),
        (Input::Mute(B), Input::Unmute(B)),
        (Input::MemberLeft(B), Input::MemberJoined(B)),
        (Input::Chat { away: true }, Input::Chat { away: false }),
    ] {
        room.tell(hinders);
        let step = room.tell(returns);
        assert!(!step.causes().contains(&Cause::HumanMessage), "{:?}", step.causes());
        assert_eq!((room.phase(), room.channel.next_deadline()), (PhaseKind::Dormant, reminder));
    }
    assert_eq!((room.grants(), room.channel.view().is_wake_pending()), (1, true));
    room.human("go on");
    assert_eq!(room.speaker(), Some(B), "the ceiling cut before B");
}

/// WD10: with more agents than the ceiling allows turns, the last were never asked.
#[test]
fn each_of_sixty_four_agents_is_asked_within_two_questions() {
    for count in 61..=64 {
        let mut room = Room::chat(count);
        room.human("a question for everybody");
        let mut asked = ask_all(&mut room);
        assert_eq!((asked.len(), room.channel.view().is_at_ceiling()), (60, true));
        room.human("and another");
        asked.extend(ask_all(&mut room));
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked, crate::room::agents(count));
    }
}

/// WD10: the same of a ceiling of any height, of a restart in between, and of agents that time out.
#[test]
fn a_question_goes_on_where_the_ceiling_cut_the_last_one() {
    let mut room = Room::chat_with(5, |config| config.ceilings.chat.turns = Some(2));
    let mut asked = Vec::new();
    for _ in 0..5 {
        room.human("next?");
        asked.extend(ask_all(&mut room));
        let config = room.channel.config().clone();
        room.channel = dirigent_core::TurnMachine::restore(config, &room.snapshot()).unwrap();
    }
    assert_eq!(
        asked.iter().map(|agent| agent.get()).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    );
    let mut late = Room::chat_with(3, |config| {
        (config.ceilings.chat.turns, config.deadlines.retriggers) = (Some(2), 0);
    });
    late.human("hello");
    late.wait(secs(45));
    late.wait(secs(45));
    assert_eq!(late.phase(), PhaseKind::Dormant);
    late.human("is anybody here?");
    late.members_or_nothing();
    assert_eq!(late.speaker(), Some(crate::room::C));
}

/// WD10
#[test]
fn a_budget_that_cuts_leaves_no_agent_out() {
    let mut room = Room::chat_with(5, |config| config.budget.turns = Some(2));
    let mut asked = Vec::new();
    for _ in 0..3 {
        room.human("next?");
        asked.extend(ask_all(&mut room));
        room.tell(Input::ResetBudget);
    }
    let asked: Vec<_> = asked.iter().map(|agent| agent.get()).collect();
    assert_eq!(asked, [1, 2, 3, 4, 5, 1]);
}

/// WD10: whoever an operator or a message puts first is first all the same.
#[test]
fn a_cut_gives_way_to_a_first_speaker_and_to_the_addressed() {
    let cut = || {
        let mut room = Room::chat_with(3, |config| config.ceilings.chat.turns = Some(1));
        room.human("hello");
        room.passes(A);
        assert_eq!(room.phase(), PhaseKind::Dormant);
        room
    };
    let first = |room: &Room| (room.speaker(), room.order()[0]);
    let mut chosen = cut();
    chosen.tell(Input::SpeakNext(A));
    assert_eq!(first(&chosen), (Some(A), A));
    let mut woken = cut();
    woken.tell(Input::Wake { first: Some(A), cause: WakeCause::Operator });
    assert_eq!(first(&woken), (Some(A), A));
    let mut addressed = cut();
    addressed.message += 1;
    let (author, kind) = (Author::Human, MessageKind::Conversation);
    let message = dirigent_core::Message {
        id: addressed.newest(),
        author,
        kind,
        tail: dirigent_core::Tail::of("A?"),
        backfilled: false,
    };
    addressed.tell(Input::Addressed { message, agents: vec![A] });
    assert_eq!(first(&addressed), (Some(A), A));
    let mut gone = cut();
    gone.leaves(B);
    gone.human("and now?");
    assert_eq!(gone.speaker(), Some(crate::room::C), "B is skipped");
    let mut anew = cut();
    anew.tell(Input::SetMode(Mode::None));
    anew.tell(Input::SetMode(Mode::Chat));
    anew.members_or_nothing();
    anew.human("hello again");
    anew.members_or_nothing();
    assert_eq!(anew.speaker(), Some(A), "a change of mode forgets it");
}

/// Everybody who is granted passes, until no agent is asked any more.
fn ask_all(room: &mut Room) -> Vec<dirigent_core::AgentKey> {
    let mut asked = Vec::new();
    loop {
        room.members_or_nothing();
        let Some(speaker) = room.speaker() else {
            return asked;
        };
        asked.push(speaker);
        room.passes(speaker);
    }
}

/// WY12: a word that waits until people are quiet is named no time where the ceiling is reached by then.
#[test]
fn no_time_is_named_for_a_word_that_a_ceiling_will_keep_waiting() {
    let settling = |turns| {
        let mut room = Room::chat_with(2, |config| {
            config.people.settle = secs(5);
            config.ceilings.chat.turns = Some(turns);
        });
        room.human("hello");
        let named = room.channel.view().goes_on_at();
        room.says(A, "by the way");
        (named.is_some(), room.channel.view().goes_on_at().is_some())
    };
    assert_eq!(settling(9), (true, true));
    assert_eq!(settling(1), (true, false));
}
