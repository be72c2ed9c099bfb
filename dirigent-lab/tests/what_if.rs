//! Evenings under other rules.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Parser;
use dirigent::prelude::*;
use dirigent::replay::RecordedChannel;
use dirigent_core::{
    AgentKey, Author, Creation, Input, Message, MessageId, MessageKind, Tail, Timestamp,
};
use dirigent_lab::program::WhatIfFlags;
use dirigent_lab::{Assumption, Evening, Other, Played, RuleChoices};
use dirigent_store::ChannelRecording;

use crate::evenings::{hello, hold, some};

/// The rules under which the twenty evenings are played.
const RULES: [&str; 5] = [
    "order.skip_passed=true",
    "ceilings.chat.turns=8",
    "people.human_interrupt=queue",
    "order.skip_last_speaker=false",
    "deadlines.run=1s",
];

fn choices(text: &str) -> RuleChoices {
    text.parse().unwrap()
}

fn under(evening: &Evening, text: &str) -> Played {
    evening.under(&choices(text), Assumption::Passes).unwrap()
}

async fn evening(name: &str) -> Evening {
    Evening::of(&hold(name, Config::default()).await.recorded).unwrap()
}

#[tokio::test(flavor = "current_thread")]
async fn under_its_own_rules_an_evening_is_the_recorded_one() {
    let mut recordings = vec![("hello".to_owned(), hello())];
    for name in some(20) {
        recordings.push((name.clone(), hold(&name, Config::default()).await.recorded));
    }
    for (name, recorded) in recordings {
        let played = under(&Evening::of(&recorded).unwrap(), "");
        assert_eq!(played.departs_at(), None, "{name}");
        assert_eq!(
            played.transitions()[..recorded.replay().unwrap().len()],
            recorded.replay().unwrap(),
            "{name}"
        );
        assert_eq!((played.other_ways.len(), played.unsaid.len()), (0, 0), "{name}");
        assert_eq!((played.taken_after_other_words, played.is_cut), (0, false), "{name}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn twenty_evenings_under_five_rule_sets_add_up_and_are_recordings_again() {
    for name in some(20) {
        let evening = evening(&name).await;
        let said = under(&evening, "").figures.spoke;
        for rules in RULES {
            let played = under(&evening, rules);
            let (figures, at) = (&played.figures, format!("{name} under {rules}"));
            assert_eq!(figures.calls, figures.spoke + figures.passed + figures.failed, "{at}");
            assert_eq!(played.taken + played.other_ways.len(), figures.calls, "{at}");
            assert!(said >= figures.spoke + played.unsaid.len(), "{at}");
            assert_eq!(figures.answered.words + figures.unanswered, figures.words, "{at}");
            assert!(figures.rests.is_some() && !played.is_cut, "{at}");
            assert_eq!(played.recording.replay().unwrap(), played.transitions(), "{at}");
        }
    }
}

/// The page has what was expected by hand, before and after.
#[tokio::test(flavor = "current_thread")]
async fn ten_differences_are_those_that_were_explained_by_hand() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verify/what-if.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| labelled/"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let distinct: BTreeSet<_> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(distinct.len(), 10);
    for row in rows {
        let evening = evening(row[0]).await;
        let told = |played: &Played| {
            let figures = &played.figures;
            let calls = figures.answered.mean_calls().unwrap();
            format!(
                "{} = {} + {} + {}, {calls:.1}, {}",
                figures.calls,
                figures.spoke,
                figures.passed,
                figures.failed,
                figures.rests.unwrap()
            )
        };
        assert_eq!(told(&under(&evening, "")), row[2], "{} as recorded", row[0]);
        assert_eq!(told(&under(&evening, row[1])), row[3], "{} under {}", row[0], row[1]);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_agent_that_is_asked_as_it_was_not_then_passes_or_says_what_it_said_next() {
    let evening = evening("labelled/13-zuo-you.txt").await;
    let rules = choices("ceilings.chat.turns=8");
    let passes = evening.under(&rules, Assumption::Passes).unwrap();
    let answers = evening.under(&rules, Assumption::AnswersAsNext).unwrap();
    assert!(!passes.other_ways.is_empty());
    assert!(passes.other_ways.iter().all(|way| way.what == Other::Passes));
    assert!(answers.other_ways.iter().any(|way| way.what == Other::AnswersAsNext));
    // An assumed pass is none of the recorded turns, and an assumed answer is one.
    assert_ne!(answers.transitions(), passes.transitions());
    assert!(answers.figures.spoke >= passes.figures.spoke);
}

#[tokio::test(flavor = "current_thread")]
async fn a_run_that_is_taken_away_says_nothing_more() {
    let evening = evening("labelled/18-ferry.txt").await;
    let played = under(&evening, "deadlines.run=1s");
    let heard: BTreeSet<_> = played
        .recording
        .inputs
        .iter()
        .filter_map(|(_, input)| match input {
            Input::Message(message) => Some(format!("{:?}", message.author)),
            _ => None,
        })
        .collect();
    // The person, and the one agent that thinks for less than a second.
    assert_eq!(heard.len(), 2);
}

#[test]
fn a_setting_that_is_none_is_refused_with_its_whole_name() {
    let evening = Evening::of(&hello()).unwrap();
    let refused =
        |text: &str| evening.under(&choices(text), Assumption::Passes).unwrap_err().to_string();
    assert!(refused("people.mentoins=only").starts_with("people.mentoins: unknown field"));
    assert!(refused("deadlines.start=45").starts_with("deadlines.start: "));
    assert!(refused("ceilings.chat.turns=0").starts_with("ceilings.chat.turns must be at least 1"));
    assert!(
        refused("reading.stop_words=halt").starts_with("reading.stop_words is not played again")
    );
    let missing = "people.mentions".parse::<RuleChoices>().unwrap_err().to_string();
    assert!(missing.contains("people.mentions=only"));
}

#[test]
fn that_a_recording_does_not_say_whom_people_addressed_is_told() {
    let evening = Evening::of(&hello()).unwrap();
    assert_eq!(evening.caveats(&choices("order.skip_passed=true")), Vec::<String>::new());
    let caveats = evening.caveats(&choices("people.mentions=only"));
    assert!(caveats[0].contains("people.mentions=ignored"));
}

#[test]
fn a_recording_of_nothing_is_played() {
    let nothing =
        RecordedChannel::new(Config::default().into(), dirigent::snapshot::Snapshot::default());
    let played = under(&Evening::of(&nothing).unwrap(), RULES[0]);
    assert_eq!((played.figures.calls, played.is_as_recorded()), (0, true));
}

#[tokio::test(flavor = "current_thread")]
async fn a_run_that_ran_out_of_time_does_not_hang_for_longer_but_is_assumed_to_pass() {
    let cut = under(&evening("labelled/18-ferry.txt").await, "deadlines.run=1s").recording;
    let evening = Evening::of(&cut).unwrap();
    let shorter = under(&evening, "deadlines.run=900ms");
    assert!(shorter.other_ways.iter().all(|way| way.what != Other::PassesInTime));
    let longer = under(&evening, "deadlines.run=10m");
    assert!(longer.other_ways.iter().any(|way| way.what == Other::PassesInTime));
    assert!(longer.figures.failed == 0 && under(&evening, "").figures.failed > 0);
}

/// An evening in which no agent ever begins.
fn silent(config: Config) -> Evening {
    let start = dirigent_core::TurnMachine::new(config.clone().into(), 0).snapshot().clone();
    let mut recorded = RecordedChannel::new(config.into(), start);
    let members = [0, 1].map(AgentKey::new).to_vec();
    let creation = Creation { mode: Mode::Chat, members, initiator: None };
    let (id, tail) = (MessageId::new(1), Tail::of("word"));
    let (author, kind) = (Author::Human, MessageKind::Conversation);
    let message = Message { id, author, kind, tail, backfilled: false };
    let at = |seconds: u64| Timestamp::from_millis(1_767_225_600_000 + seconds * 1_000);
    recorded.inputs.push((at(0), Input::Create(creation)));
    recorded.inputs.push((at(0), Input::Message(message)));
    recorded.inputs.extend((1..600).map(|seconds| (at(seconds), Input::Tick)));
    Evening::of(&recorded).unwrap()
}

#[test]
fn more_time_to_start_and_more_triggers_are_other_ways() {
    let evening = silent(Config::default());
    let ways = |text: &str| {
        let played = under(&evening, text);
        played.other_ways.iter().map(|way| way.what).collect::<Vec<_>>()
    };
    assert_eq!(ways(""), []);
    assert!(ways("deadlines.start=10m").contains(&Other::PassesInTime));
    assert!(ways("deadlines.retriggers=3").contains(&Other::AskedAgain));
}

#[test]
fn changes_that_are_only_more_depart_from_the_recording_too() {
    let mut config = Config::default();
    config.deadlines.start = None;
    let evening = silent(config);
    assert!(under(&evening, "").is_as_recorded());
    assert!(under(&evening, "deadlines.start=45s").departs_at().is_some());
}

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    flags: WhatIfFlags,
}

fn run(given: &[&str]) -> Result<String, String> {
    let flags = Program::try_parse_from([&["what-if"], given].concat());
    let flags = flags.map_err(|error| error.to_string())?.flags;
    let mut out = Vec::new();
    flags.run(&mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).unwrap())
}

#[tokio::test(flavor = "current_thread")]
async fn the_command_prints_scores_above_each_other_and_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = path("evening.jsonl");
    hold("labelled/18-ferry.txt", Config::default()).await.save(&file).unwrap();
    let (page, saved) = (path("scores.html"), path("other.jsonl"));
    let told = run(&[
        &file,
        "--set",
        "ceilings.chat.turns=8",
        "--also",
        "order.skip_last_speaker=false,order.skip_passed=true",
        "--html",
        &page,
        "--save",
        &saved,
    ])
    .unwrap();
    let expected = "\
as recorded
  people  P                    |
  nemo      █   █ █  █ █  █  · |
  echo       █ █ █  █   █  █  ·|
  mirror   █  █    █  █  █  █  |

ceilings.chat.turns=8
  people  P        |
  nemo      █   █ █|
  echo       █ █ █ |
  mirror   █  █    |
";
    assert!(told.starts_with(expected), "{told}");
    let row = |name: &str| {
        told.lines()
            .find(|line| line.starts_with(name))
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
    };
    assert_eq!(row("model calls"), ["model", "calls", "20", "8", "21"]);
    assert_eq!(
        row("mirror: spoke of calls").len(),
        "mirror: spoke of calls 6 of 6 2 of 2 6 of 7".split(' ').count()
    );
    assert!(told.contains("mirror does not say what it said after 9.2s"));
    let scores = std::fs::read_to_string(page).unwrap();
    assert_eq!(scores.matches("<svg").count(), 3);
    let saved = ChannelRecording::parse(&std::fs::read_to_string(saved).unwrap()).unwrap();
    assert_eq!(saved.recorded.config.ceilings.chat.turns, Some(8));
    assert!(saved.trace().is_ok());
}

#[test]
fn the_command_names_the_file_and_the_setting() {
    assert!(run(&["no-such.jsonl"]).unwrap_err().starts_with("no-such.jsonl: "));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/pm_and_dev/hello.jsonl");
    assert!(
        run(&[file, "--set", "order.skip_pased=true"])
            .unwrap_err()
            .starts_with("order.skip_pased: unknown field")
    );
    assert!(run(&[file, "--assume", "sings"]).unwrap_err().contains("write pass or next"));
    assert!(run(&[file]).unwrap().starts_with("as recorded\n  people"));
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("again.jsonl");
    let told = run(&[file, "--save", saved.to_str().unwrap()]).unwrap();
    assert!(told.contains("\nplayed again\n") && saved.exists(), "{told}");
}
