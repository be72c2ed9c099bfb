//! A person mentions agents: they are asked first, and then everybody else (rule 62).

use crate::room::{A, B, C, D, Room, STRANGER, Step, agents, secs};
use dirigent_core::config::{InterruptPolicy, MentionRule};
use dirigent_core::{
    AgentKey, Author, Cause, Config, Creation, Input, Message, MessageId, MessageKind, Mode,
    Outcome, Tail,
};

fn addressed(id: u64, author: Author, agents: &[AgentKey]) -> Input {
    let (id, kind) = (MessageId::new(id), MessageKind::Conversation);
    let message = Message { id, author, kind, tail: Tail::of("you there"), backfilled: false };
    Input::Addressed { message, agents: agents.to_vec() }
}

/// A person mentions these agents.
#[track_caller]
fn mention(room: &mut Room, agents: &[AgentKey]) -> Step {
    room.message += 1;
    room.tell(addressed(room.message, Author::Human, agents))
}

/// Everybody passes until the list is read; gives who was asked, in order.
#[track_caller]
fn asked(room: &mut Room) -> Vec<AgentKey> {
    let mut asked = Vec::new();
    while let Some(agent) = room.speaker() {
        asked.push(agent);
        room.passes(agent);
    }
    asked
}

/// N13, R128, F06
#[test]
fn the_mentioned_are_asked_first_and_then_everybody_else_once() {
    let mut room = Room::chat(4);
    let step = mention(&mut room, &[D, B, B]);
    assert_eq!(step.causes(), [Cause::HumanMessage], "no agent is skipped");
    assert_eq!(asked(&mut room), [B, D, A, C], "in the order of the list");
    assert!(room.channel.view().round().is_empty());
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
}

/// N13, W3
#[test]
fn a_mention_does_nothing_to_the_letter_nor_one_of_a_stranger_or_by_an_agent() {
    assert_eq!(Config::seed_literal().people.mentions, MentionRule::Ignored);
    let mut ignored = Room::chat_with(3, |config| config.people.mentions = MentionRule::Ignored);
    mention(&mut ignored, &[C]);
    assert_eq!(asked(&mut ignored), [A, B, C]);
    let mut strange = Room::chat(3);
    mention(&mut strange, &[STRANGER]);
    assert_eq!(asked(&mut strange), [A, B, C]);
    let mut agent = Room::chat(3);
    agent.tell(addressed(5_000, Author::Agent(STRANGER), &[C]));
    assert_eq!(asked(&mut agent), [A, B, C]);
}

/// N13
#[test]
fn a_mention_during_a_turn_begins_a_cycle_behind_it_that_goes_on_where_the_order_was() {
    let mut room = Room::chat(4);
    room.human("hello");
    room.passes(A);
    room.start(B);
    let step = mention(&mut room, &[D]);
    assert_eq!(step.asks(), ["inject 1002 to B"], "the speaker hears it as ever");
    let step = room.ends(B, Outcome::Pass);
    assert_eq!(step.causes(), [Cause::Passed, Cause::MentionRound]);
    assert_eq!(asked(&mut room), [D, C, A, B], "each once, the speaker last");
    assert_eq!(room.members().causes(), [Cause::AllPassed], "and no cycle more");
}

/// N13
#[test]
fn the_speaker_that_is_mentioned_is_asked_again_first() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    mention(&mut room, &[A]);
    room.ends(A, Outcome::Pass);
    assert_eq!(asked(&mut room), [A, B, C]);
}

/// N13
#[test]
fn a_mention_while_the_list_is_read_counts_for_the_cycle_that_follows() {
    let mut waking = Room::chat(3);
    waking.wait(secs(100));
    waking.human("hello");
    assert_eq!(mention(&mut waking, &[C]).causes(), []);
    assert_eq!(waking.members().causes(), [Cause::NextInList]);
    assert_eq!(asked(&mut waking), [C, A, B]);
    for seed in 0..10 {
        let mut boundary = Room::with(Config::default(), seed);
        boundary.present = agents(4);
        let (mode, initiator, members) = (Mode::Chat, None, agents(4));
        boundary.tell(Input::Create(Creation { mode, members, initiator }));
        boundary.human("hello");
        asked(&mut boundary);
        mention(&mut boundary, &[C, D]);
        let step = boundary.members();
        assert_eq!(step.causes(), [Cause::Reshuffled, Cause::MentionRound], "seed {seed}");
        let mut first = boundary.order()[..2].to_vec();
        first.sort_unstable();
        assert_eq!(first, [C, D], "seed {seed}");
        assert_eq!(asked(&mut boundary).len(), 4, "seed {seed}");
    }
}

/// N13, R114
#[test]
fn a_mention_that_interrupts_restarts_with_the_mentioned() {
    for (policy, order) in
        [(InterruptPolicy::RestartCycle, [C, A, B]), (InterruptPolicy::AdvanceNormally, [C, B, A])]
    {
        let mut room = Room::chat_with(3, |config| config.people.interrupt = policy);
        room.human("hello");
        room.talks(A, "a reply on its way");
        mention(&mut room, &[C]);
        assert_eq!(asked(&mut room), order, "{policy:?}");
    }
}

/// N13
#[test]
fn a_mentioned_agent_that_cannot_speak_is_passed_by_and_the_next_follows() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    mention(&mut room, &[B]);
    room.tell(Input::Mute(B));
    let step = room.ends(A, Outcome::Pass);
    assert_eq!(
        step.causes(),
        [Cause::Passed, Cause::MentionRound, Cause::AgentMuted, Cause::NextInList]
    );
    assert_eq!(asked(&mut room), [C, A], "not A twice in a row");
}

/// N13, D12
#[test]
fn an_operators_choice_comes_before_a_mention() {
    let mut room = Room::chat(3);
    room.human("hello");
    mention(&mut room, &[B]);
    room.tell(Input::SpeakNext(C));
    room.passes(A);
    assert_eq!(room.speaker(), Some(C));
    room.passes(C);
    assert_eq!(room.speaker(), Some(B), "then the mentioned");
}

/// N13
#[test]
fn what_a_mention_does_is_decided_when_its_cycle_begins() {
    let mut room = Room::chat(3);
    room.human("hello");
    mention(&mut room, &[C]);
    let mut config = Config::default();
    config.people.mentions = MentionRule::Ignored;
    room.tell(Input::Reconfigure(config.into()));
    room.passes(A);
    assert_eq!(asked(&mut room), [A, B, C]);
}

/// B failed with a word that was for B.
#[test]
fn an_agent_that_is_back_is_not_asked_where_it_was_not_addressed() {
    for rule in [MentionRule::Only, MentionRule::Ignored] {
        let mut room = Room::chat_with(2, |config| config.people.mentions = rule);
        room.tell(Input::Mute(A));
        mention(&mut room, &[B]);
        room.start(B);
        room.tell(Input::Unmute(A));
        room.ends(B, Outcome::Failed);
        room.members();
        assert_eq!(room.speaker(), Some(A).filter(|_| rule != MentionRule::Only), "{rule:?}");
    }
}

/// B failed with a word that was for B. Nobody else is asked when the channel wakes for it again.
#[test]
fn a_round_in_vain_is_held_again_for_the_same_agents() {
    let in_vain = || {
        let mut room = Room::chat_with(3, |config| config.people.mentions = MentionRule::Only);
        mention(&mut room, &[B]);
        room.start(B);
        room.ends(B, Outcome::Failed);
        room.members();
        assert!(room.channel.view().is_wake_pending());
        room
    };
    let mut room = in_vain();
    room.tell(Input::Mute(C));
    room.tell(Input::Unmute(C));
    assert_eq!(room.speaker(), Some(B));
    room.passes(B);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
    for settle in [0, 2] {
        let mut room = in_vain();
        let mut config = room.config().clone();
        config.people.settle = secs(settle);
        room.tell(Input::Reconfigure(config.into()));
        room.human("all of you");
        room.wait(secs(settle));
        assert_ne!(room.speaker(), None);
        assert!(room.channel.view().round().is_empty(), "a new word is for everybody");
    }
}
