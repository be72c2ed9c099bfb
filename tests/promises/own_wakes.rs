//! WD6, WD12: what wakes a channel without a message: it goes on after a stop, and not by itself for ever.

use std::time::Duration;

use dirigent::snapshot::PhaseKind;
use dirigent::{Config, Settings};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage};

use super::kit::{MINUTE, SECOND};

/// Two agents of the host's own that ask, need two seconds, and have nothing to say.
fn stage(config: Config, settings: Settings) -> Stage {
    let silent = || (0..2_000).map(|_| Line::from(Act::Pass).taking(SECOND * 2));
    let mut stage = Setup::new()
        .hooked("a", silent())
        .hooked("b", silent())
        .config(|rules| *rules = config)
        .settings(|chosen| *chosen = settings)
        .stage();
    stage.chat();
    stage
}

/// How many turns there were once a person wrote twice within half a second, ten minutes later.
fn turns(mut stage: Stage) -> u64 {
    stage.say("A question");
    stage.advance(Duration::from_millis(500));
    stage.say("And another thing");
    stage.advance(MINUTE * 10);
    let status = stage.status().unwrap();
    assert_eq!(status.phase, PhaseKind::Dormant);
    status.turn.get()
}

/// WD12
#[test]
fn a_channel_without_a_start_deadline_comes_to_rest() {
    let mut without = Config::default();
    without.deadlines.start = None;
    for (name, config, settings) in [
        ("without", without, Settings::default()),
        ("literal", Config::seed_literal(), Settings::seed_literal()),
        ("flow", Config::message_flow(), Settings::message_flow()),
        ("default", Config::default(), Settings::default()),
    ] {
        let turns = turns(stage(config, settings));
        assert!(turns <= 4, "{name}: {turns} turns");
    }
}

/// WD6
#[test]
fn a_conversation_that_was_stopped_in_words_goes_on_in_words() {
    let line = |text: &str| Line::from(text).taking(SECOND * 5);
    let mut stage =
        Setup::new().hosted("a", [line("a1"), line("a2")]).hosted("b", [line("b1")]).stage();
    stage.chat();
    stage.say("A question");
    stage.advance(SECOND);
    stage.say("stop");
    stage.advance(SECOND);
    stage.say("resume");
    stage.until_dormant();
    let words = stage.words();
    assert_eq!(words[3..5], ["a1", "b1"], "what ran was cut off, and its agent is asked again");
    let moderation = stage.moderation(stage.channel());
    assert_eq!(moderation.last().unwrap(), dirigent::settings::Texts::RESUMED_NOTICE);
    stage.say("stop");
    stage.say("resume");
    let moderation = stage.moderation(stage.channel());
    assert_eq!(moderation.last().unwrap(), dirigent::settings::Texts::RESUMED_IDLE_NOTICE);
}
