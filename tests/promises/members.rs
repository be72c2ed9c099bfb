//! P19: while it is not known who is here, no agent may speak, and a person's word is kept.

use std::time::Duration;

use dirigent_testkit::memory_discord::{Call, Fault, Outage};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, MILLI, MINUTE, SECOND, allowed, is_heard, runs};

/// How long the member list cannot be read.
const UNREADABLE: [Duration; 4] =
    [SECOND, Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(3_600)];

/// How long after that a word may wait.
const ANSWERED: Duration = Duration::from_secs(45);

fn outages() -> [Outage; 3] {
    let lost = Outage::failing(Fault::LostAnswer);
    [Outage::refused(), Outage::hanging(), lost].map(|outage| outage.only(Call::Members))
}

fn agents(hosted: bool) -> Setup {
    let (a, b) = (Line::from("a1"), Line::from("b1"));
    if hosted {
        Setup::new().hosted("a", [a]).hosted("b", [b])
    } else {
        Setup::new().hooked("a", [a]).hooked("b", [b])
    }
}

/// Lets time pass, and sees that no agent may speak meanwhile.
#[track_caller]
fn all_are_denied(stage: &mut Stage, for_long: Duration, place: &str) {
    let channel = stage.channel();
    for _ in 0..20 {
        let allowed = allowed(stage, channel);
        assert!(allowed.is_empty(), "{place}: {allowed:?} may speak");
        stage.advance(for_long / 20);
    }
    assert_eq!(runs(stage), 0, "{place}");
}

/// P19
#[test]
fn nobody_may_speak_while_the_first_member_list_cannot_be_read_and_a_word_is_answered_afterwards() {
    for unreadable in UNREADABLE {
        for (hosted, outage) in [true, false].into_iter().flat_map(|h| outages().map(|o| (h, o))) {
            let place = format!("hosted: {hosted}, {unreadable:?}, {outage:?}");
            let mut stage = agents(hosted).stage();
            stage.discord().begin_outage(outage);
            stage.chat();
            stage.say("Hello");
            all_are_denied(&mut stage, unreadable, &place);
            stage.discord().end_outages();
            stage.advance(ANSWERED);
            assert_eq!(stage.words(), ["Hello", "a1", "b1"], "{place}");
            assert!(!hosted || is_heard(&stage, "Hello"), "{place}");
        }
    }
}

/// P19
#[test]
fn a_run_that_asks_while_the_first_member_list_cannot_be_read_is_denied() {
    let mut stage = agents(false).stage();
    stage.discord().begin_outage(Outage::refused().only(Call::Members));
    stage.chat();
    let channel = stage.channel();
    for wait in [0, 1, 10, 15, 60, 600] {
        stage.advance(SECOND * wait);
        for (agent, run) in [("a", wait * 2), ("b", wait * 2 + 1)] {
            let run = Some(dirigent::hooks::RunId::new(run.into()));
            let asked = stage.call(move |d| async move {
                d.channel(channel).may_speak(&agent.into(), run).await
            });
            assert!(asked.is_err(), "{agent} after {wait} s");
        }
    }
}

/// P19
#[test]
fn a_kill_while_the_first_member_list_is_unread_loses_no_word_and_allows_nobody() {
    for unreadable in UNREADABLE {
        for kill in [0, 1, 5, 11, 30] {
            for said_first in [true, false] {
                let place =
                    format!("{unreadable:?}, killed after {kill} s, said first: {said_first}");
                let mut stage = agents(true).stage();
                stage.discord().begin_outage(Outage::refused().only(Call::Members));
                stage.chat();
                if said_first {
                    stage.say("Hello");
                }
                all_are_denied(&mut stage, SECOND * kill, &place);
                stage.crash();
                if !said_first {
                    let (channel, person) = (stage.channel(), stage.person());
                    stage.discord().say(channel, person, "Hello");
                }
                stage.clock().advance(SECOND);
                stage.restart();
                all_are_denied(&mut stage, unreadable, &place);
                stage.discord().end_outages();
                stage.advance(ANSWERED);
                assert!(is_heard(&stage, "Hello"), "{place}: {:?}", stage.status());
            }
        }
    }
}

/// P19
#[test]
fn a_member_list_that_cannot_be_read_is_asked_for_again_without_end_and_without_haste() {
    // An answer that refuses the list ends the request: the next one follows 30 s later. A connection that
    // is refused is an outage: about every 10 s a request is tried.
    let (refused, away) = (Outage::failing(Fault::Forbidden), Outage::refused());
    for (outage, times) in [(refused, 115..=121), (away, 350..=370)] {
        let place = format!("{outage:?}");
        let mut stage = agents(true).stage();
        stage.discord().begin_outage(outage.only(Call::Members));
        stage.chat();
        stage.advance(MINUTE * 5);
        for _ in 0..5 {
            let before = stage.discord().calls().of(Call::Members);
            stage.advance(HOUR);
            let asked = stage.discord().calls().of(Call::Members) - before;
            assert!(times.contains(&asked), "{place}: asked {asked} times in an hour");
        }
    }
}

/// P19
#[test]
fn a_later_member_list_that_cannot_be_read_keeps_the_old_list_and_loses_no_word() {
    for (unreadable, outage) in UNREADABLE.into_iter().flat_map(|u| outages().map(|o| (u, o))) {
        let place = format!("{unreadable:?}, {outage:?}");
        let mut stage = agents(true).stage();
        stage.chat();
        stage.say("Hello");
        stage.until_dormant();
        stage.advance(MINUTE * 5);
        stage.discord().begin_outage(outage);
        stage.agent("a").then("a2");
        stage.say("Again");
        stage.advance(unreadable);
        stage.discord().end_outages();
        stage.advance(ANSWERED);
        assert!(is_heard(&stage, "Again"), "{place}");
        assert_eq!(stage.words().last().unwrap(), "a2", "{place}");
    }
}

/// P19
#[test]
fn a_later_member_list_that_is_refused_holds_no_round_back() {
    let (a, b) = (["a1", "a2"].map(Line::from), ["b1", "b2"].map(Line::from));
    let mut stage = Setup::new().hosted("a", a).hosted("b", b).stage();
    stage.chat();
    stage.discord().begin_outage(Outage::failing(Fault::Forbidden).only(Call::Members));
    stage.say("Hello");
    stage.advance(SECOND * 3);
    assert_eq!(stage.words(), ["Hello", "a1", "b1", "a2", "b2"]);
}

/// P19
#[test]
fn a_channel_with_one_agent_lets_it_speak_only_once_that_is_known() {
    let mut stage = Setup::new().hooked("a", []).stage();
    let slow = Fault::SlowRequest { by: SECOND * 5 };
    stage.discord().begin_outage(Outage::failing(slow).only(Call::Members));
    stage.chat();
    let channel = stage.channel();
    // A second passed while the new mode waited for the list.
    stage.advance(SECOND * 3);
    assert!(allowed(&mut stage, channel).is_empty(), "there may be others");
    stage.advance(SECOND + MILLI);
    assert_eq!(allowed(&mut stage, channel), ["a".into()], "it is alone");
}

#[test]
fn where_more_than_sixty_four_agents_see_a_channel_so_many_have_turns_and_the_others_none() {
    for (present, listed) in [(64, 64), (65, 64), (80, 64)] {
        let names: Vec<String> = (0..present).map(|number| format!("agent-{number}")).collect();
        let setup = names.iter().fold(Setup::new(), |setup, name| setup.hooked(name, []));
        let mut stage = setup.stage();
        stage.chat();
        stage.say("Hello");
        let status = stage.status().unwrap();
        assert_eq!(status.list.len(), listed, "{present} agents: {:?}", status.silence);
        assert!(status.turn.get() > 0, "{present} agents: none was called");
    }
}
