//! What can happen under some rules.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use clap::Parser;
use dirigent::replay::ReplayedStep;
use dirigent::settings::Rules;
use dirigent_control::drawing::Replay;
use dirigent_core::{AgentKey, Answer, Author, Effect, Input, Outcome, PhaseKind, Verdict};
use dirigent_lab::program::ProveFlags;
use dirigent_lab::{Broken, Claim, Inquiry, RuleChoices, Told};
use dirigent_store::ChannelRecording;

fn rules(choices: &str) -> Rules {
    let choices: RuleChoices = choices.parse().unwrap();
    Rules { config: choices.over(&Rules::default().config).unwrap(), ..Rules::default() }
}

fn ask(choices: &str, claim: &str, agents: u32) -> Told {
    let mut inquiry = Inquiry::new(&rules(choices), agents, vec![claim.parse().unwrap()]);
    (inquiry.shuffles, inquiry.states, inquiry.worlds) = (2, 6_000, 20);
    inquiry.turns = inquiry.turns.max(8);
    inquiry.ask(&mut |_| ControlFlow::Continue(()))
}

/// Rules, a claim that they break, and agents.
const PLANTED: [(&str, &str, u32); 14] = [
    // The budget is spent before the second word.
    ("budget.turns=1", "answered-within=1", 2),
    // The only turns break off, and the channel sleeps over the word.
    ("ceilings.chat.turns=1", "answered-within=1", 2),
    // An agent that had its turn of this hour is not asked for the second word.
    ("budget.agent_turns_per_hour=1", "heard", 2),
    // The second word comes between an agent's turn and its beginning.
    ("ceilings.chat.turns=4", "calls-without-person=4", 2),
    ("ceilings.chat.turns=2", "heard", 3),
    ("people.mentions=only", "heard", 3),
    ("people.mentions=ignored", "addressed-next", 2),
    ("deadlines.start=none", "rests", 2),
    ("deadlines.run=none", "rests", 3),
    ("ceilings.chat.turns=none,ceilings.chat.cycles=none", "rests", 2),
    ("budget.turns=2", "heard", 3),
    ("order.shuffle_first=true", "waits=2", 3),
    ("ceilings.chat.turns=4", "calls-without-person=2", 2),
    ("ceilings.chat.turns=none,ceilings.chat.cycles=20", "calls-without-person=60", 6),
];

#[test]
fn planted_faults_are_found_and_their_recordings_break_the_claims() {
    for (choices, claim, agents) in PLANTED {
        let told = ask(choices, claim, agents);
        let at = format!("{claim} under {choices}");
        assert_eq!(told.broken.len(), 1, "{at}");
        let broken = &told.broken[0];
        let is_short = !told.explored.is_drawing && claim != "rests";
        assert_eq!(broken.is_shortest, is_short, "{at}");
        // The recording is one of the real machine under these rules.
        assert_eq!(*broken.recording.config, rules(choices).config, "{at}");
        assert!(is_broken(broken, agents), "{at}: {:?}", broken.steps);
    }
}

/// Whether the claim is broken in the recording, as it is counted there without the laboratory.
fn is_broken(broken: &Broken, agents: u32) -> bool {
    let steps = broken.recording.steps().unwrap();
    let is_word = |input: &Input| match input {
        Input::Message(message) | Input::Addressed { message, .. } => {
            message.author == Author::Human
        }
        _ => false,
    };
    let called = |step: &ReplayedStep| match (&step.input, step.answer) {
        (Input::Gate { agent, .. }, Ok(Answer::Verdict(Verdict::Allow { .. }))) => *agent,
        _ => None,
    };
    let words = steps.iter().enumerate().filter(|(_, step)| is_word(&step.input));
    let words: Vec<_> = words.map(|(at, _)| at).collect();
    let changes = steps.iter().flat_map(|step| step.effects.iter().filter_map(Effect::transition));
    let sleeps = changes.last().is_some_and(|change| change.to == PhaseKind::Dormant);
    let calls_after = |word: usize| steps[word + 1..].iter().filter_map(called);
    match broken.claim {
        Claim::Heard => {
            let is_missed =
                |word: &usize| calls_after(*word).collect::<BTreeSet<_>>().len() < agents as usize;
            sleeps && words.iter().any(is_missed)
        }
        Claim::CallsWithoutPerson(calls) => {
            calls_after(*words.last().unwrap()).count() > calls as usize
        }
        Claim::AnsweredWithin(turns) => {
            let is_end = |step: &&ReplayedStep| matches!(&step.input, Input::RunEnded { outcome, .. } if *outcome != Outcome::Failed);
            let last = *words.last().unwrap();
            let is_taken = steps[last..].iter().any(|step| is_end(&step));
            !is_taken && (sleeps || calls_after(last).count() >= turns as usize)
        }
        Claim::Rests => !sleeps,
        Claim::Waits(turns) => {
            let all: Vec<_> = calls_after(words[0]).collect();
            let waits = |agent| {
                let others = all.split(|called| *called == AgentKey::new(agent));
                others.map(<[_]>::len).max() >= Some(turns as usize)
            };
            (0..agents).any(waits)
        }
        Claim::AddressedNext => {
            let (at, to) = steps
                .iter()
                .enumerate()
                .rev()
                .find_map(|(at, step)| match &step.input {
                    Input::Addressed { agents, .. } => Some((at, agents[0])),
                    _ => None,
                })
                .unwrap();
            let triggered = steps[at..].iter().flat_map(|step| &step.effects);
            let mut triggered = triggered.filter_map(|effect| match *effect {
                Effect::Trigger { agent, .. } => Some(agent),
                _ => None,
            });
            triggered.next_back() != Some(to)
        }
        _ => false,
    }
}

#[test]
fn a_channel_that_rests_after_many_turns_or_late_triggers_is_not_said_not_to_rest() {
    let cases = [
        ("ceilings.chat.turns=1000,ceilings.chat.cycles=none,people.settle=2s", 2),
        ("deadlines.retriggers=250", 4),
        ("deadlines.retriggers=15", 64),
    ];
    for (choices, agents) in cases {
        let mut inquiry = Inquiry::new(&rules(choices), agents, vec![Claim::Rests]);
        (inquiry.shuffles, inquiry.states, inquiry.worlds) = (1, 30, 1);
        let told = inquiry.ask(&mut |_| ControlFlow::Continue(()));
        assert!(told.broken.is_empty() && told.explored.worlds == 1, "{choices}");
    }
    let mut inquiry = Inquiry::new(
        &rules("ceilings.chat.turns=1001,ceilings.chat.cycles=none"),
        2,
        vec![Claim::Rests],
    );
    (inquiry.shuffles, inquiry.states, inquiry.worlds) = (1, 30, 1);
    assert_eq!(inquiry.ask(&mut |_| ControlFlow::Continue(())).broken.len(), 1);
}

/// Rules and claims that hold there.
const SOUND: [(&str, &str, u32); 11] = [
    ("", "addressed-next", 3),
    ("", "heard", 2),
    ("", "addressed-next", 2),
    ("people.mentions=only", "addressed-next", 2),
    ("", "rests", 2),
    ("order.skip_passed=true", "rests", 2),
    ("", "waits=4", 2),
    ("", "answered-within=2", 2),
    ("people.human_interrupt=queue", "heard", 2),
    // Four turns, and the one that was under way when the person wrote.
    ("ceilings.chat.turns=4", "calls-without-person=5", 2),
    ("ceilings.chat.cycles=3", "calls-without-person=37", 12),
];

#[test]
fn of_sound_rule_sets_only_what_was_explored_is_claimed() {
    for (choices, claim, agents) in SOUND {
        let told = ask(choices, claim, agents);
        let at = format!("{claim} under {choices}");
        assert!(told.broken.is_empty(), "{at}: {:?}", told.broken);
        assert_eq!(told.explored.worlds, 20, "{at}");
        assert!(!told.is_ended, "{at}");
        // A room that was not explored to its end is not claimed to be.
        assert_eq!(told.is_whole, agents <= 4 && told.explored.ahead == 0, "{at}");
    }
}

#[test]
fn a_small_room_is_explored_to_its_end() {
    let mut inquiry = Inquiry::new(&rules(""), 2, vec!["heard".parse().unwrap()]);
    (inquiry.words, inquiry.turns, inquiry.shuffles, inquiry.worlds) = (1, 4, 1, 0);
    let told = inquiry.ask(&mut |_| ControlFlow::Continue(()));
    assert!(told.is_whole && told.broken.is_empty());
    assert_eq!(told.explored.ahead, 0);
}

/// Whatever is asked for beside it, and wherever it is found, the shortest way is the same.
#[test]
fn a_counterexample_is_the_shortest_way() {
    let told = ask("ceilings.chat.turns=2", "heard", 3);
    let steps: Vec<_> = told.broken[0].steps.iter().map(String::as_str).collect();
    let expected = [
        "a person writes",
        "agent-0 begins",
        "agent-0 speaks",
        "agent-1 begins",
        "agent-1 speaks",
        "an agent was never asked, nor handed the word",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn of_a_long_world_only_what_the_claim_needs_to_break_is_left() {
    let told = ask("budget.turns=2", "heard", 6);
    let broken = &told.broken[0];
    assert!(!broken.is_shortest);
    // A word and two turns, each of which begins and ends.
    assert_eq!(broken.steps.len(), 6);
    // A turn that breaks off, and the next one, in a world in which much else happened before.
    let mut inquiry = Inquiry::new(&rules(""), 6, vec!["answered-within=1".parse().unwrap()]);
    inquiry.worlds = 300;
    let told = inquiry.ask(&mut |_| ControlFlow::Continue(()));
    assert!(told.broken[0].steps.len() <= 8, "{:?}", told.broken[0].steps);
}

#[test]
fn it_ends_when_it_is_told_to_and_does_not_say_that_it_saw_everything() {
    let inquiry = Inquiry::new(&rules(""), 3, vec!["heard".parse().unwrap()]);
    let told = inquiry.ask(&mut |explored| match explored.states {
        0..2_000 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    assert!(told.is_ended && !told.is_whole);
    assert!(told.explored.ahead > 0 && told.explored.states < 3_000);
}

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    flags: ProveFlags,
}

fn run(given: &[&str]) -> Result<(bool, String), String> {
    let flags = Program::try_parse_from([&["prove"], given].concat());
    let flags = flags.map_err(|error| error.to_string())?.flags;
    let mut out = Vec::new();
    let holds =
        flags.run(Path::new("dirigent.toml"), &mut out).map_err(|error| error.to_string())?;
    Ok((holds, String::from_utf8(out).unwrap()))
}

#[test]
fn the_command_takes_rules_and_agents_of_the_file_and_writes_recording_and_diagram() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (config, saved, diagram) = (path("dirigent.toml"), path("way.jsonl"), path("way.mmd"));
    let file = "[discord]\ntoken = { env = \"NONE\" }\n[rules.people]\nmentions = \"only\"\n\
        [[agents]]\nname = \"poet\"\n[[agents]]\nname = \"critic\"\n";
    std::fs::write(&config, file).unwrap();
    let given = [
        config.as_str(),
        "--claim",
        "heard",
        "--seconds",
        "3600",
        "--save",
        &saved,
        "--mermaid",
        &diagram,
    ];
    let (holds, told) = run(&given).unwrap();
    assert!(!holds);
    let expected = "heard: broken; the shortest way:\n  a person writes to poet\n  poet begins\n  poet passes\n";
    assert!(told.starts_with(expected), "{told}");
    assert!(told.contains(
        "not explored: agents that ask people (no reading.human_marker is set), other sequences"
    ));
    let recording = ChannelRecording::parse(&std::fs::read_to_string(saved).unwrap()).unwrap();
    assert!(recording.trace().unwrap().to_string().contains("poet"));
    let shown = Replay::of(&recording.recorded, |_| Some("poet".into())).unwrap();
    assert!(shown.html("a way").starts_with("<!doctype html>") && shown.frames.len() > 2);
    assert!(std::fs::read_to_string(diagram).unwrap().starts_with("sequenceDiagram\n"));
}

#[test]
fn the_command_says_what_it_saw_of_a_claim_that_holds() {
    let given = ["--claim", "addressed-next", "--words", "1", "--turns", "3", "--seconds", "3600"];
    let (holds, told) = run(&given).unwrap();
    assert!(holds);
    assert!(told.starts_with("addressed-next: holds in every order of events within the bounds"));
    assert!(told.contains("all of it"));
    assert!(
        told.contains("explored under the default rules, because there is no dirigent.toml here")
    );
    assert!(told.contains(" 1 failures and 1 special replies, in 4 sequences"));
    assert!(
        told.contains("  a special reply names the next speaker, or leaves a person time to write")
    );
    let (_, told) = run(&[&given[..], &["--special-replies", "0"]].concat()).unwrap();
    assert!(told.contains("not explored: special replies, ") && !told.contains("a special reply"));
    let given = ["--claim", "calls-without-person=37", "--turns", "2", "--seconds", "3600"];
    let (holds, told) = run(&given).unwrap();
    assert!(holds && told.contains(": was not broken, and cannot break within 2 turns"), "{told}");
    assert!(run(&["--claim", "answered"]).unwrap_err().contains("answered-within=2"));
    let misspelt = ["--claim", "rests", "--set", "order.skip_pased=true"];
    assert!(run(&misspelt).unwrap_err().starts_with("order.skip_pased: unknown field"));
}

#[test]
fn names_that_resemble_keys_are_put_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("dirigent.toml");
    let agents = (1..=12).map(|at| format!("[[agents]]\nname = \"agent-{at}\"\n"));
    let file: String =
        ["[rules.people]\nmentions = \"ignored\"\n".to_owned()].into_iter().chain(agents).collect();
    std::fs::write(&config, file).unwrap();
    let given = [config.to_str().unwrap(), "--claim", "addressed-next", "--seconds", "3600"];
    let (holds, told) = run(&given).unwrap();
    let keys = told.split("agent-").skip(1);
    let keys = keys.map(|key| key.split(|c: char| !c.is_ascii_digit()).next().unwrap());
    let keys: Vec<u32> = keys.map(|key| key.parse().unwrap()).collect();
    assert!(!holds && !keys.is_empty());
    assert!(keys.iter().all(|key| (1..=12).contains(key)), "{told}");
    assert!(told.contains(&format!("explored under the rules of {}", config.display())));
}

#[test]
fn settings_of_the_driver_may_be_other_than_in_the_file() {
    let other = ["--set", "reading.completion=run_end", "--seconds", "3600"];
    let given = ["--claim", "addressed-next", "--words", "1", "--turns", "1"];
    assert!(run(&[&given[..], &other[..]].concat()).is_ok());
    let misspelt = ["--set", "reading.completoin=run_end"];
    let refused = run(&[&given[..], &misspelt[..]].concat()).unwrap_err();
    assert!(refused.contains("completoin: unknown field"), "{refused}");
}

#[test]
fn a_search_that_is_ended_leaves_the_long_conversations_their_time() {
    let mut inquiry = Inquiry::new(&rules(""), 3, vec![Claim::Heard]);
    inquiry.worlds = 3;
    let told = inquiry.ask(&mut |explored| {
        if explored.is_drawing { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(told.is_ended && !told.is_whole && told.explored.worlds == 3);
}

#[test]
fn shrinking_ends_when_it_is_told_to() {
    let mut inquiry = Inquiry::new(&rules("budget.turns=2"), 6, vec![Claim::Heard]);
    inquiry.worlds = 1;
    let mut asked = 0;
    let told = inquiry.ask(&mut |_| {
        asked += 1;
        if asked > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    // It is told as it was found.
    assert_eq!((told.broken.len(), asked), (1, 2));
}

#[test]
fn a_room_has_two_to_64_agents_whatever_is_asked_for() {
    for agents in [0, 65] {
        let mut inquiry = Inquiry::new(&rules(""), 2, vec![Claim::Heard]);
        (inquiry.agents, inquiry.states, inquiry.worlds) = (agents, 100, 1);
        assert_eq!(inquiry.ask(&mut |_| ControlFlow::Continue(())).explored.worlds, 1);
    }
}
/// Without such a reply, no order of these events breaks it.
#[test]
fn a_reply_that_names_the_next_speaker_can_break_a_claim() {
    let rules = rules("order.skip_last_speaker=false");
    let ask = |special_replies| {
        let mut inquiry = Inquiry::new(&rules, 3, vec![Claim::Waits(4)]);
        (inquiry.words, inquiry.turns, inquiry.shuffles, inquiry.worlds) = (1, 8, 1, 0);
        inquiry.special_replies = special_replies;
        inquiry.ask(&mut |_| ControlFlow::Continue(()))
    };
    let plain = ask(0);
    assert!(plain.is_whole && plain.broken.is_empty(), "{:?}", plain.broken);
    let special = ask(1);
    let broken = &special.broken[0];
    assert!(broken.is_shortest && is_broken(broken, 3), "{:?}", broken.steps);
    assert!(broken.steps.iter().any(|step| step.contains(" speaks and names agent-")));
}

/// The channel sleeps, and the other agent was never asked.
#[test]
fn agents_that_may_ask_people_are_explored_if_the_rules_have_a_marker_for_it() {
    let ask = |reading: &str| {
        let rules: Rules = toml::from_str(reading).unwrap();
        let mut inquiry = Inquiry::new(&rules, 2, vec![Claim::Heard]);
        (inquiry.words, inquiry.turns, inquiry.shuffles, inquiry.worlds) = (1, 4, 1, 20);
        inquiry.ask(&mut |_| ControlFlow::Continue(()))
    };
    let told = ask("reading = { human_marker = '[human]' }");
    let steps: Vec<_> = told.broken[0].steps.iter().map(String::as_str).collect();
    let expected = [
        "a person writes",
        "agent-0 begins",
        "agent-0 speaks and asks people",
        "an agent was never asked, nor handed the word",
    ];
    assert_eq!(steps, expected);
    assert!(told.broken[0].is_shortest && is_broken(&told.broken[0], 2));
    let without = ask("");
    assert!(without.is_whole && without.broken.is_empty());
}
