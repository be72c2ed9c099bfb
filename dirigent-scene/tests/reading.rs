//! Reading logs: replay, comparison, what is no log, and the program.

use std::process::{Command, Output};
use std::time::Duration;

use dirigent_scene::{Comparison, LogError, Playback, SceneLog, SceneSummary};
use proptest::prelude::*;

use crate::fixture::Place;
use crate::playing::kitchen;

const LOG: &str = r#"{"t": 0.0, "from": "coordinator", "type": "spawn", "target": "maria", "text": "Spawning actor for character maria"}
{"t": 1.5, "from": "maria", "type": "think", "text": "Two words."}
{"t": 2.0, "from": "maria", "type": "speak", "text": "One two three.", "audience": ["sam"]}
{"t": 2.0, "from": "coordinator", "type": "route", "target": "sam", "text": "Forwarding Maria's speech to Sam"}
{"t": 5.0, "from": "coordinator", "type": "correct", "target": "sam", "text": "Again."}
{"t": 8.0, "from": "sam", "type": "speak", "text": "Yes.", "mood": "better"}
{"t": 8.0, "from": "coordinator", "type": "close", "text": "Scene ended: natural", "reason": "natural"}
{"t": 9.0, "from": "sam", "type": "journal", "text": "Dear diary."}
"#;

fn array(lines: &str) -> String {
    format!("[{}]", lines.trim().replace('\n', ","))
}

/// R243, R244, C22
#[test]
fn a_log_is_read_alike_from_lines_and_from_an_array() {
    let lines = SceneLog::parse(LOG.as_bytes()).unwrap();
    assert_eq!(SceneLog::parse(array(LOG).as_bytes()).unwrap(), lines);
    assert_eq!((lines.events().len(), lines.reason().unwrap().as_str()), (8, "natural"));
    let written: String =
        lines.events().iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    assert_eq!(SceneLog::parse(written.as_bytes()).unwrap(), lines);
}

/// R236, C22
#[test]
fn of_a_log_that_is_cut_anywhere_the_whole_lines_are_read() {
    let whole = SceneLog::parse(LOG.as_bytes()).unwrap();
    for end in 0..LOG.len() {
        let part = &LOG.as_bytes()[..end];
        let log = SceneLog::parse(part).unwrap();
        let lines = part.split(|byte| *byte == b'\n').count() - 1;
        assert_eq!(log.events(), &whole.events()[..lines], "cut at {end}");
        assert_eq!(log.is_cut(), end > 0 && part.last() != Some(&b'\n'), "cut at {end}");
    }
}

/// R234
#[test]
fn what_is_no_log_is_refused_with_the_number_of_the_event() {
    let bad = [
        r#"{"t": 0, "from": "maria", "type": "shout", "text": ""}"#,
        r#"{"t": 0, "from": "maria", "type": "spawn", "target": "sam", "text": ""}"#,
        r#"{"t": 0, "from": "coordinator", "type": "speak", "text": ""}"#,
        r#"{"t": 0, "from": "coordinator", "type": "route", "text": ""}"#,
        r#"{"t": 0, "from": "maria", "type": "speak", "text": "", "reason": "natural"}"#,
        r#"{"t": 0, "from": "coordinator", "type": "close", "text": ""}"#,
        r#"{"t": -1, "from": "maria", "type": "speak", "text": ""}"#,
        r#"{"t": 1e300, "from": "maria", "type": "speak", "text": ""}"#,
        r#"{"t": 0, "from": "../x", "type": "speak", "text": ""}"#,
        r#"{"t": 0, "from": "maria", "type": "speak"}"#,
        r#"{"t": 0, "from": "maria", "type": "think", "text": "", "audience": ["sam"]}"#,
        "SECRET",
        "\u{0}",
    ];
    let good = r#"{"t": 0.0, "from": "maria", "type": "speak", "text": "Hi."}"#;
    for line in bad {
        for text in [format!("{good}\n{line}\n{good}\n"), format!("[{good},{line}]")] {
            let error = SceneLog::parse(text.as_bytes()).unwrap_err();
            let is_named = matches!(error, LogError::BadEvent { number: 2 } | LogError::NotALog);
            assert!(
                is_named && !format!("{error} {error:?}").contains("SECRET"),
                "{line}: {error}"
            );
        }
    }
    let parse = |text: String| SceneLog::parse(text.as_bytes()).unwrap_err();
    assert!(matches!(parse("[".into()), LogError::NotALog));
    let late = r#"{"t": 9.0, "from": "maria", "type": "speak", "text": "Hi."}"#;
    assert!(matches!(parse(format!("{late}\n{good}\n")), LogError::TimeGoesBack { number: 2 }));
    assert!(matches!(parse(format!("{LOG}{late}\n")), LogError::AfterClose { number: 9 }));
    assert!(matches!(SceneLog::read("/nowhere"), Err(LogError::Unreadable { .. })));
}

proptest! {
    #[test]
    fn whatever_the_bytes_a_log_or_an_error_comes_out(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..LOG.len(), bit in 0..8) {
        let _ = SceneLog::parse(&bytes);
        let mut bent = LOG.as_bytes().to_vec();
        bent[at] ^= 1_u8 << bit;
        if let Ok(log) = SceneLog::parse(&bent) {
            let written: String = log.events().iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
            let again = SceneLog::parse(written.as_bytes()).unwrap();
            prop_assert_eq!(again.events(), log.events());
        }
    }
}

/// R243, C23
#[tokio::test]
async fn a_log_is_replayed_in_real_time_scaled_and_up_to_a_point() {
    let log = SceneLog::parse(LOG.as_bytes()).unwrap();
    let waits = |playback: Playback| {
        playback.steps(&log).map(|step| step.wait.as_millis()).collect::<Vec<_>>()
    };
    assert_eq!(waits(Playback::real_time()), [0, 1_500, 500, 0, 3_000, 3_000, 0, 1_000]);
    assert_eq!(waits(Playback::scaled(2.0)), [0, 750, 250, 0, 1_500, 1_500, 0, 500]);
    assert_eq!(waits(Playback::scaled(f64::NAN)), waits(Playback::real_time()));
    assert_eq!(waits(Playback::at_once()), [0; 8]);
    assert_eq!(waits(Playback::real_time().until(Duration::from_secs(2))), [0, 1_500, 500, 0]);

    let clock = dirigent_testkit::ManualClock::new();
    let mut shown = 0;
    let playback = Playback::scaled(2.0);
    let playing = playback.play(&log, &clock, |_| shown += 1);
    let passing = async {
        let mut passed = Duration::ZERO;
        for _ in 0..20 {
            tokio::task::yield_now().await;
            let before = dirigent::Clock::now(&clock);
            if let Some(at) = clock.advance_to_next_wake() {
                passed += at.since(before);
            }
        }
        passed
    };
    let ((), passed) = tokio::join!(playing, passing);
    assert_eq!((shown, passed), (8, Duration::from_millis(4_500)));
}

/// R244
#[test]
fn two_logs_are_compared_by_turns_lengths_corrections_reasons_and_times() {
    let log = SceneLog::parse(LOG.as_bytes()).unwrap();
    let summary = SceneSummary::of(&log);
    let [maria, sam] = ["maria", "sam"]
        .map(|slug| summary.characters[&dirigent_scene::Slug::new(slug).unwrap()].clone());
    assert_eq!(
        (
            maria.turns,
            maria.whispers,
            maria.words,
            maria.thought_words,
            maria.speaking_time.as_millis()
        ),
        (1, 1, 3, 2, 2_000)
    );
    assert_eq!(
        (sam.turns, sam.corrections, sam.journals, sam.speaking_time.as_millis()),
        (1, 1, 1, 6_000)
    );
    let other =
        SceneLog::parse(LOG.replace("natural", "hard-cap").replace("Yes.", "Yes, yes.").as_bytes())
            .unwrap();
    let table = Comparison::of(&log, &other).to_string();
    for row in [
        "| close reason | natural | hard-cap |",
        "| sam: words a turn | 1 | 2 |",
        "| sam: speaking time | 6.0 s | 6.0 s |",
        "| corrections | 1 | 1 |",
    ] {
        assert!(table.contains(row), "{row}: {table}");
    }
    assert!(Comparison::of(&log, &log).is_same() && !Comparison::of(&log, &other).is_same());
}

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scene-log")).args(arguments).output().unwrap()
}

/// R243, R244
#[tokio::test]
async fn the_program_replays_compares_transcribes_and_draws() {
    let place: Place = kitchen();
    place.two().build().unwrap().run().await.unwrap();
    let log = place.folder().join("events.json");
    let log = log.to_str().unwrap();
    let said = |output: Output| String::from_utf8(output.stdout).unwrap();
    let replayed = said(program(&["replay", log, "--at-once"]));
    assert_eq!(replayed.lines().count(), 6, "{replayed}");
    assert!(
        replayed.lines().nth(1).unwrap().ends_with("sam: It is raining.")
            && !replayed.contains("Him.")
    );
    assert_eq!(
        said(program(&["replay", log, "--at-once", "--all", "--until", "0"])).lines().count(),
        place.log().events().len()
    );
    let compared = program(&["compare", log, log]);
    assert!(compared.status.success() && said(compared).contains("| maria: turns | 3 | 3 |"));
    assert!(said(program(&["transcript", log, "--title", "T"])).starts_with("# T\n\n**Date:**"));
    assert!(said(program(&["picture", log])).starts_with("<!doctype html>"));
    assert!(said(program(&["summary", log])).contains("sam: 2 turns"));

    let other = place.folder().join("other.jsonl");
    std::fs::write(&other, LOG).unwrap();
    assert_eq!(program(&["compare", log, other.to_str().unwrap()]).status.code(), Some(1));
    for (arguments, code) in [
        (vec!["--help"], 0),
        (vec!["replay", "--bogus"], 2),
        (vec![], 2),
        (vec!["replay", "/nowhere"], 1),
        (vec!["replay", log, "--speed", "0"], 2),
    ] {
        let output = program(&arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert_eq!(output.stdout.is_empty(), code != 0, "{arguments:?}");
    }
}
