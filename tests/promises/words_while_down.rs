//! P4, M2: what a person said while the process was down.

use std::time::Duration;

use dirigent::settings::LostRuns;
use dirigent::snapshot::{Pause, PhaseKind};
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_testkit::told;
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{HOUR, MINUTE, SECOND, is_heard, resume, runs, stop};

const DOWN: [Duration; 3] = [MINUTE, Duration::from_secs(16 * 60), Duration::from_secs(2 * 3_600)];

/// These words, a second apart, then as much silence; all while the process is down.
fn said_while_down(stage: &mut Stage, words: &[&str], down: Duration) {
    stage.crash();
    let (channel, person) = (stage.channel(), stage.person());
    for word in words {
        stage.clock().advance(SECOND);
        stage.discord().say(channel, person, *word);
    }
    stage.clock().advance(down);
    stage.restart();
    stage.advance(SECOND * 10);
}

fn room() -> Stage {
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1"), "a2".into()])
        .hosted("b", [Act::Hang.into()])
        .settings(|settings| settings.hooks.lost_runs = LostRuns::Rerun)
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().speaker, Some("b".into()));
    stage
}

fn rest(stage: &mut Stage) -> Option<Pause> {
    stage.status().unwrap().rest
}

/// P4
#[test]
fn a_stop_word_counts_however_old_it_is() {
    for down in DOWN {
        let mut stage = room();
        said_while_down(&mut stage, &["stop"], down);
        assert_eq!(rest(&mut stage), Some(Pause::Stopped), "after {down:?}");
        let before = (runs(&stage), stage.words());
        stage.advance(HOUR);
        assert_eq!((runs(&stage), stage.words()), before, "after {down:?}: agents went on");
    }
}

/// P4
#[test]
fn a_resume_word_counts_however_old_it_is() {
    for down in DOWN {
        let mut stage = room();
        stop(&mut stage);
        stage.say("A question");
        said_while_down(&mut stage, &["resume"], down);
        assert_eq!(rest(&mut stage), None, "after {down:?}");
        assert!(is_heard(&stage, "A question"), "after {down:?}");
    }
}

/// P4
#[test]
fn of_the_stop_and_resume_words_of_a_gap_the_newest_acts() {
    for down in DOWN {
        for (words, stopped) in [
            (&["stop", "resume"][..], false),
            (&["resume", "stop"], true),
            (&["stop", "resume", "stop"], true),
            (&["stop", "resume", "stop", "resume"], false),
        ] {
            let mut stage = room();
            said_while_down(&mut stage, words, down);
            assert_eq!(rest(&mut stage).is_some(), stopped, "{words:?} after {down:?}");
        }
    }
}

/// P4
#[test]
fn a_word_after_a_stop_word_does_not_undo_it_and_is_kept_for_the_resume() {
    for down in DOWN {
        let mut stage = room();
        said_while_down(&mut stage, &["stop", "A question"], down);
        assert_eq!(rest(&mut stage), Some(Pause::Stopped), "after {down:?}");
        let before = runs(&stage);
        stage.advance(MINUTE * 5);
        assert_eq!(runs(&stage), before, "after {down:?}");
        resume(&mut stage);
        stage.say("Go on");
        stage.advance(MINUTE);
        assert!(is_heard(&stage, "A question"), "after {down:?}");
    }
}

/// P4
#[test]
fn a_stop_word_before_an_operators_resume_that_is_newer_does_not_act() {
    let mut stage = room();
    stage.crash();
    let (channel, person) = (stage.channel(), stage.person());
    stage.discord().say(channel, person, "stop");
    stage.clock().advance(MINUTE * 16);
    // The page of history with the word comes only after the operator resumed.
    let slow = Fault::SlowRequest { by: SECOND * 8 };
    stage.discord().inject(|faults| {
        for _ in 0..3 {
            faults.next(Call::History, slow);
        }
    });
    stage.restart();
    stage.advance(SECOND);
    stop(&mut stage);
    resume(&mut stage);
    stage.advance(MINUTE);
    assert_eq!(rest(&mut stage), None, "the operator's word is newer");
}

/// P4
#[test]
fn a_stop_said_while_the_process_was_down_acts_before_the_next_agent_is_called() {
    for down in DOWN {
        let mut stage = room();
        let before = runs(&stage);
        let slow = Fault::SlowRequest { by: SECOND * 2 };
        stage.discord().inject(|faults| faults.next(Call::History, slow));
        said_while_down(&mut stage, &["stop"], down);
        stage.advance(MINUTE);
        assert_eq!(runs(&stage), before, "after {down:?}: an agent was called");
    }
}

/// P4
#[test]
fn a_stop_said_while_the_process_was_down_acts_before_the_next_agent_is_triggered() {
    let mut stage = Setup::new().hooked("a", []).hooked("b", []).stage();
    stage.chat();
    stage.discord().next_post(Fault::RateLimited { retry_after: SECOND * 20 });
    stage.say("Hello");
    // A trigger is pending when the process is killed.
    let slow = Fault::SlowRequest { by: SECOND * 2 };
    stage.discord().inject(|faults| faults.next(Call::History, slow));
    said_while_down(&mut stage, &["stop"], MINUTE);
    stage.advance(MINUTE);
    assert_eq!(runs(&stage), 0, "an agent was triggered");
}

/// A room with `total` messages from the time when the process was down; the one at `place` is a person's.
fn backlog(total: u32, place: u32) -> Stage {
    let mut stage =
        Setup::new().hosted("a", [Line::from("a1"), "a2".into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    stage.crash();
    let (channel, person) = (stage.channel(), stage.person());
    let bot = stage.discord().add_webhook();
    for number in 1..=total {
        if number == place {
            stage.discord().say(channel, person, "A question");
        } else {
            stage.discord().say(channel, bot, "beep");
        }
    }
    stage.restart();
    stage.advance(SECOND * 30);
    stage
}

/// M2
#[test]
fn the_hundredth_of_130_missed_messages_is_heard() {
    assert!(backlog(130, 100).words().contains(&"a2".to_owned()));
}

/// M2
#[test]
fn a_persons_word_is_heard_at_every_place_of_a_backlog() {
    let every = told("DIRIGENT_EVERY_PLACE").unwrap_or(0_u64) > 0;
    // A page has 100 messages. Without the variable: all sizes and places around page boundaries.
    let edges = [1, 2, 99, 100, 101, 199, 200, 201, 299, 300, 301, 350];
    for total in 0..=350 {
        for place in 1..=total {
            let is_edge = |number| edges.contains(&number);
            if !every && !(is_edge(total) && (is_edge(place) || is_edge(total + 1 - place))) {
                continue;
            }
            let mut stage = backlog(total, place);
            let phase = stage.status().unwrap().phase;
            let is_heard = stage.words().contains(&"a2".to_owned());
            assert!(is_heard, "message {place} of {total} was not heard: {phase:?}");
        }
    }
    assert_eq!(backlog(0, 0).status().unwrap().phase, PhaseKind::Dormant);
}
