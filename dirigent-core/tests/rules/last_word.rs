//! The agent that spoke last is not asked again while nothing is new (rule 76).

use crate::room::{A, B, C, Room, Step, millis, secs, spoke};
use dirigent_core::config::MentionRule;
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    AgentKey, Author, Cause, Config, Input, MessageKind, Outcome, PhaseKind, Reason, Tail,
    WakeCause,
};

/// The library has the agent's reply, delivers it, and says so.
#[track_caller]
fn delivers(room: &mut Room, agent: AgentKey) -> Step {
    room.start(agent);
    finishes(room, agent, &spoke(""))
}

/// The rest of such a turn, from the reply on.
#[track_caller]
fn finishes(room: &mut Room, agent: AgentKey, outcome: &Outcome) -> Step {
    let run = Some(room.run_of(agent));
    room.tell(Input::Replied { agent, run, next: None });
    room.message += 1;
    let messages = vec![room.newest()];
    room.tell(Input::Receipt { agent, run, messages });
    room.ends(agent, *outcome)
}

/// A chat of two in which B's delivered reply was the last thing said, and A is asked.
fn b_spoke_last(change: impl FnOnce(&mut Config)) -> Room {
    let mut room = Room::chat_with(2, change);
    room.human("hello");
    delivers(&mut room, A);
    delivers(&mut room, B);
    room.members();
    assert_eq!(room.speaker(), Some(A));
    room
}

/// Whether B is asked once A has passed.
#[track_caller]
fn asks_b(room: &mut Room) -> bool {
    let causes = room.passes(A).causes();
    let passed_unasked = causes.contains(&Cause::NothingNew);
    assert_ne!(passed_unasked, room.speaker() == Some(B), "{causes:?}");
    !passed_unasked
}

/// N6
#[test]
fn the_last_speaker_is_passed_unasked_and_the_channel_falls_asleep() {
    let mut room = b_spoke_last(|_| ());
    assert_eq!(room.explain(B), Reason::NothingNew);
    assert_eq!(room.gate(B).reason(), Reason::NothingNew);
    let (grants, counted) = (room.grants(), room.channel.view().turns_since_human());
    let step = room.passes(A);
    assert_eq!(step.causes(), [Cause::Passed, Cause::NothingNew, Cause::CycleBoundary]);
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Passed]);
    assert_eq!(room.channel.view().turns_since_human(), counted, "no turn is used up");
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
    assert_eq!((room.grants(), room.explain(B)), (grants, Reason::Dormant));
}

/// N6
#[test]
fn every_agent_is_asked_where_the_rule_is_off_as_to_the_letter() {
    assert!(
        !Config::seed_literal().order.skip_last_speaker
            && Config::default().order.skip_last_speaker
    );
    let mut room = b_spoke_last(|config| config.order.skip_last_speaker = false);
    assert_eq!(room.explain(B), Reason::NotYourTurn { speaker: A });
    assert!(asks_b(&mut room));
}

/// N6
#[test]
fn whether_the_rule_is_on_is_looked_at_when_the_turn_comes() {
    let mut config = Config::default();
    let mut room = b_spoke_last(|config| config.order.skip_last_speaker = false);
    room.tell(Input::Reconfigure(config.clone().into()));
    assert!(!asks_b(&mut room.clone()));
    config.order.skip_last_speaker = false;
    room.tell(Input::Reconfigure(config.into()));
    assert!(asks_b(&mut room));
}

/// N6
#[test]
fn an_agent_of_its_own_gateway_is_always_asked() {
    let mut room = Room::chat(2);
    room.human("hello");
    delivers(&mut room, A);
    room.speaks(B);
    room.members();
    assert!(asks_b(&mut room), "its reply was recognised");
    let mut room = Room::chat(2);
    room.human("hello");
    delivers(&mut room, A);
    room.start(B);
    room.message += 1;
    let (run, messages) = (Some(room.run_of(B)), vec![room.newest()]);
    room.tell(Input::Receipt { agent: B, run, messages });
    room.ends(B, spoke("its own"));
    room.members();
    assert!(asks_b(&mut room), "its host gave a receipt, and posted it by itself");
}

/// N6
#[test]
fn a_reply_that_was_not_delivered_whole_is_no_last_word() {
    let mut room = Room::chat(2);
    room.human("hello");
    delivers(&mut room, A);
    room.start(B);
    let run = Some(room.run_of(B));
    room.tell(Input::Replied { agent: B, run, next: None });
    room.tell(Input::Undelivered { agent: B, run, posted: true });
    room.members();
    assert!(asks_b(&mut room));
}

/// N6
#[test]
fn whatever_another_wrote_is_new() {
    type Write = fn(&mut Room) -> Step;
    let writers: [(&str, Write); 6] = [
        ("a person", |room| room.human("and?")),
        ("another agent", |room| room.says(C, "by the way")),
        ("a bot that does not qualify", |room| room.bot("build passed")),
        ("a system message", |room| room.system(Author::Human)),
        ("a stop word of a bot", |room| room.post(Author::Bot, MessageKind::StopWord, "stop")),
        ("a person's resume word that resumes nothing", |room| {
            room.post(Author::Human, MessageKind::ResumeWord, "resume")
        }),
    ];
    for (who, write) in writers {
        let mut after = b_spoke_last(|_| ());
        write(&mut after);
        assert_eq!(after.explain(B), Reason::NotYourTurn { speaker: A }, "{who}");
        assert!(asks_b(&mut after), "{who} since");
        let mut meanwhile = Room::chat(2);
        meanwhile.human("hello");
        delivers(&mut meanwhile, A);
        meanwhile.start(B);
        write(&mut meanwhile);
        finishes(&mut meanwhile, B, &spoke(""));
        meanwhile.members();
        assert!(asks_b(&mut meanwhile), "{who} while it ran");
    }
}

/// N6
#[test]
fn a_late_piece_of_another_reply_is_new() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.speaks_unconfirmed(A, "a long reply of which only the beginning came");
    delivers(&mut room, B);
    room.members();
    assert!(!asks_b(&mut room), "no piece came");
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    room.speaks_unconfirmed(B, "a long reply of which only the beginning came");
    delivers(&mut room, C);
    assert_eq!(room.says(B, "its end").causes(), [], "it is in grace");
    room.members();
    let mut asked = Vec::new();
    while let Some(agent) = room.speaker() {
        asked.push(agent);
        room.passes(agent);
    }
    assert!(asked.contains(&C), "{asked:?}");
}

/// N6
#[test]
fn nothing_is_new_by_the_moderator_an_edit_a_repetition_or_its_own_words() {
    let mut room = b_spoke_last(|_| ());
    room.moderator("a notice");
    room.edit(1_001, Author::Human, "hello, I meant");
    room.refusal(crate::room::message(1_001, Author::Human, MessageKind::Conversation, "hello"));
    assert!(!asks_b(&mut room));
    // Late in its grace, which a receipt does not begin, its own words count as any agent's: they veto.
    let mut own = b_spoke_last(|_| ());
    own.says(B, "one more thing");
    assert!(asks_b(&mut own));
}

/// N6
#[test]
fn an_explicit_wake_and_a_choice_are_new() {
    let mut woken = b_spoke_last(|_| ());
    woken.tell(Input::Wake { first: None, cause: WakeCause::Operator });
    assert!(asks_b(&mut woken));
    let mut in_its_turn = Room::chat(2);
    in_its_turn.human("hello");
    delivers(&mut in_its_turn, A);
    in_its_turn.start(B);
    in_its_turn.tell(Input::Wake { first: None, cause: WakeCause::Guide });
    finishes(&mut in_its_turn, B, &spoke(""));
    in_its_turn.members();
    assert!(asks_b(&mut in_its_turn));
    let mut chosen = b_spoke_last(|_| ());
    chosen.tell(Input::SpeakNext(B));
    assert!(asks_b(&mut chosen));
}

/// WD11, N6
#[test]
fn a_lost_run_is_nothing_new_to_the_agent_that_spoke_last() {
    let mut room = b_spoke_last(|_| ());
    room.start(A);
    let step = room.tell(Input::RunsLost { rerun: false });
    assert_eq!(step.causes(), [Cause::RunLost, Cause::NothingNew, Cause::CycleBoundary]);
    room.members();
    assert_eq!(room.speaker(), Some(A), "what it was given is for itself, since no other takes it");
    room.start(A);
    let step = room.passes(A);
    assert_eq!(step.causes(), [Cause::Passed, Cause::NothingNew, Cause::CycleBoundary]);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
}

/// WD11: as a run that a restart cut off, so does one whose agent went offline: it wakes the channel when it is back.
#[test]
fn a_wake_for_what_a_cut_off_run_was_given_is_nothing_new_to_the_agent_that_spoke_last() {
    let mut room = b_spoke_last(|_| ());
    room.start(A);
    room.tell(Input::Offline(A));
    room.members();
    assert_eq!((room.phase(), room.channel.view().is_wake_pending()), (PhaseKind::Dormant, true));
    room.tell(Input::Online(A));
    assert!(room.tell(Input::Assign(A)).causes().contains(&Cause::HumanMessage));
    assert_eq!(room.order(), [B, A], "B is first in the list");
    assert_eq!(room.speaker(), Some(A), "and has nothing to answer");
}

/// WD11: nor does a stop and its resume.
#[test]
fn a_resume_is_nothing_new_to_the_agent_that_spoke_last() {
    let mut room = b_spoke_last(|_| ());
    room.start(A);
    room.tell(Input::Stop);
    room.tell(Input::Resume);
    assert_eq!(room.speaker(), Some(A));
    room.start(A);
    assert!(!asks_b_of(&room.passes(A).causes()));
    for author in [Author::Human, Author::Agent(A)] {
        let mut room = b_spoke_last(|_| ());
        room.start(A);
        room.tell(Input::Stop);
        room.post(author, MessageKind::Conversation, "one thing more");
        room.tell(Input::Resume);
        room.start(A);
        assert!(asks_b_of(&room.passes(A).causes()), "{author:?} said something meanwhile");
    }
}

fn asks_b_of(causes: &[Cause]) -> bool {
    assert!(causes.contains(&Cause::Passed), "{causes:?}");
    !causes.contains(&Cause::NothingNew)
}

/// N6
#[test]
fn a_turn_that_is_given_all_the_same_ends_it() {
    let mut room = b_spoke_last(|_| ());
    room.tell(Input::SpeakNext(B));
    room.passes(A);
    room.passes(B);
    let step = room.tell(Input::SpeakNext(A));
    assert!(step.causes().is_empty() && room.phase() == PhaseKind::Refreshing);
    room.members();
    assert_eq!(room.speaker(), Some(A));
    assert!(asks_b(&mut room));
}

/// N6
#[test]
fn going_away_and_a_mute_are_nothing_new_but_coming_into_the_list_is() {
    let mut back = b_spoke_last(|config| config.order.auto_requeue = true);
    back.tell(Input::Offline(B));
    back.tell(Input::Online(B));
    back.tell(Input::Mute(B));
    back.tell(Input::Unmute(B));
    back.leaves(B);
    back.joins(B);
    assert!(!asks_b(&mut back), "a crash and a return say nothing");
    let mut listed_anew = Room::chat(3);
    listed_anew.human("hello");
    listed_anew.passes(A);
    listed_anew.passes(B);
    delivers(&mut listed_anew, C);
    listed_anew.present = vec![A, B];
    listed_anew.members();
    let asked = listed_anew.speaker().unwrap();
    listed_anew.passes(asked);
    listed_anew.passes(if asked == A { B } else { A });
    listed_anew.present = vec![A, B, C];
    listed_anew.members();
    let mut asked = Vec::new();
    while let Some(agent) = listed_anew.speaker() {
        asked.push(agent);
        listed_anew.passes(agent);
    }
    assert!(asked.contains(&C), "a newcomer is asked: {asked:?}");
}

/// N6
#[test]
fn of_several_only_the_last_is_passed_unasked_wherever_the_shuffle_puts_it() {
    for seed in 0..20 {
        let mut room = Room::with(Config::default(), seed);
        room.present = crate::room::agents(4);
        let members = room.present.clone();
        let (mode, initiator) = (dirigent_core::Mode::Chat, None);
        room.tell(Input::Create(dirigent_core::Creation { mode, members, initiator }));
        room.human("hello");
        let mut last = A;
        for agent in crate::room::agents(4) {
            last = agent;
            delivers(&mut room, agent);
        }
        room.members();
        let (mut asked, mut left_out) = (Vec::new(), Vec::new());
        while let Some(agent) = room.speaker() {
            asked.push(agent);
            let told = room.passes(agent).transitions();
            let unasked = told.iter().filter(|told| told.cause == Cause::NothingNew);
            left_out.extend(unasked.filter_map(|told| told.agent));
        }
        assert_eq!((asked.len(), left_out), (3, vec![last]), "seed {seed}");
        assert_eq!(room.members().causes(), [Cause::AllPassed], "seed {seed}");
    }
}

/// N6
#[test]
fn a_reply_of_another_lets_the_last_speaker_answer() {
    let mut room = b_spoke_last(|_| ());
    delivers(&mut room, A);
    assert_eq!(room.speaker(), Some(B), "A answered it");
    let step = room.passes(B);
    assert_eq!(step.causes(), [Cause::Passed, Cause::CycleBoundary]);
    let step = room.members();
    assert_eq!(step.causes(), [Cause::NextCycle, Cause::NothingNew, Cause::NextInList]);
    assert_eq!(room.speaker(), Some(B), "A spoke last now");
}

/// N6
#[test]
fn a_turn_that_goes_on_and_one_that_rests_are_not_cut_short() {
    let mut room = Room::chat(2);
    room.human("hello");
    delivers(&mut room, A);
    room.start(B);
    let tail = Tail::of("");
    let step = finishes(&mut room, B, &Outcome::Unfinished { tail });
    assert_eq!(step.causes(), [Cause::Unfinished]);
    assert_eq!((room.phase(), room.speaker()), (PhaseKind::Continuing, Some(B)), "it is asked on");
    room.start(B);
    finishes(&mut room, B, &spoke(""));
    room.members();
    assert!(!asks_b(&mut room), "both parts are its last word");
}

/// N6
#[test]
fn a_reminded_initiator_may_run_although_it_spoke_last() {
    let mut room = Room::discussion(2);
    room.human("hello");
    delivers(&mut room, A);
    room.passes(B);
    assert_eq!(room.members().causes(), [Cause::NextCycle, Cause::NothingNew, Cause::NextInList]);
    room.passes(B);
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.explain(A), Reason::InitiatorPermit);
    assert!(room.gate(A).verdict().is_allowed());
}

/// N6
#[test]
fn the_last_word_outlasts_a_restart_and_dies_with_the_next_wake() {
    let mut room = b_spoke_last(|_| ());
    let config = room.channel.config().clone();
    room.channel = dirigent_core::TurnMachine::restore(config, &room.snapshot()).unwrap();
    room.tell(Input::RunsLost { rerun: true });
    assert!(!asks_b(&mut room));
    room.members();
    room.wait(secs(1));
    room.human("one more question");
    assert_eq!(room.speaker(), Some(A));
    assert!(asks_b(&mut room));
}

/// N6
#[test]
fn a_stopped_turn_is_no_last_word() {
    let mut room = b_spoke_last(|_| ());
    room.start(A);
    room.tell(Input::Stop);
    room.tell(Input::Resume);
    room.wait(millis(5));
    room.human("go on");
    assert_eq!(room.speaker(), Some(A));
    assert!(asks_b(&mut room));
}

/// N6, F06
#[test]
fn in_a_round_of_the_addressed_each_is_asked_once_all_the_same() {
    let mut room = Room::chat_with(3, |config| config.people.mentions = MentionRule::Only);
    room.human("hello");
    delivers(&mut room, A);
    room.start(B);
    room.message += 1;
    let message = dirigent_core::Message {
        id: room.newest(),
        author: Author::Human,
        kind: MessageKind::Conversation,
        tail: Tail::of("A and B?"),
        backfilled: false,
    };
    room.tell(Input::Addressed { message, agents: vec![A, B] });
    finishes(&mut room, B, &spoke(""));
    assert_eq!(room.speaker(), Some(A));
    room.passes(A);
    assert_eq!(room.speaker(), Some(B), "a person asked it");
}

/// N6
#[test]
fn a_wake_without_a_message_asks_the_last_speaker_too() {
    let mut room = b_spoke_last(|_| ());
    room.passes(A);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
    room.tell(Input::Wake { first: Some(B), cause: WakeCause::Operator });
    assert_eq!(room.speaker(), Some(B), "it was asked for");
    let mut room = b_spoke_last(|_| ());
    room.passes(A);
    room.members();
    room.tell(Input::Wake { first: None, cause: WakeCause::Result });
    assert!(asks_b(&mut room));
}

/// N6, D39
#[test]
fn a_run_that_was_denied_for_want_of_anything_new_stays_denied() {
    let mut room = b_spoke_last(|_| ());
    let run = room.fresh_run();
    assert_eq!(room.gate_run(B, run).reason(), Reason::NothingNew);
    room.human("B?");
    room.passes(A);
    assert_eq!(room.speaker(), Some(B));
    assert_eq!(room.gate_run(B, run).reason(), Reason::RunAlreadyDenied);
    assert!(room.gate(B).verdict().is_allowed(), "a new run may");
}

/// WD11: what was posted while the channel was stopped, or while it wakes for a run that was cut off, is new to all.
#[test]
fn a_guide_is_new_to_the_agent_that_spoke_last_whenever_it_comes() {
    let guide = Input::Wake { first: None, cause: WakeCause::Guide };
    let mut stopped = b_spoke_last(|_| ());
    stopped.start(A);
    stopped.tell(Input::Stop);
    stopped.tell(guide.clone());
    stopped.tell(Input::Resume);
    stopped.start(A);
    assert!(asks_b_of(&stopped.passes(A).causes()));
    let mut waking = b_spoke_last(|config| config.members.list_fresh = secs(0));
    waking.start(A);
    waking.tell(Input::Stop);
    waking.wait(secs(1));
    waking.tell(Input::Resume);
    assert_eq!(waking.phase(), PhaseKind::Refreshing);
    waking.tell(guide);
    waking.members();
    waking.start(A);
    assert!(asks_b_of(&waking.passes(A).causes()));
}
