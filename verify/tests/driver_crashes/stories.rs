//! Stories of rooms in which all goes well.

use std::time::Duration;

use dirigent::operate::{CreatedChannel, Opening, Summary};
use dirigent::settings::{LostRuns, TriggerCleanup};
use dirigent::store::Discussion;
use dirigent::{ChannelId, Mode};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::crash_points::Scenario;
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

/// Those that are also killed twice.
pub(crate) const SHORTEST: &[&str] = &[
    "hosted agents",
    "agents of the host",
    "a direct waker",
    "a receipt of the host",
    "an archived channel is answered",
];

pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "hosted agents", setup: hosted, script: a_round },
    Scenario { name: "agents of the host", setup: hooked, script: a_round },
    Scenario { name: "a direct waker", setup: || hooked().direct(), script: a_round },
    Scenario {
        name: "a receipt of the host",
        setup: || hooked().post_first().receipts(),
        script: a_round,
    },
    Scenario {
        name: "a reply posted before its run ends",
        setup: || hooked().post_first(),
        script: a_round,
    },
    Scenario {
        name: "a reply that is slow to arrive",
        setup: || hooked().post_delay(SECOND * 4),
        script: a_round,
    },
    Scenario { name: "a reply in several parts", setup: long_reply, script: a_round },
    Scenario { name: "three hosted agents and a shuffle", setup: three, script: a_round },
    Scenario { name: "lost runs are run again", setup: rerun, script: a_round },
    Scenario { name: "lost runs of the host are run again", setup: rerun_hooked, script: a_round },
    Scenario {
        name: "triggers removed with the next one",
        setup: || cleanup(TriggerCleanup::OnNext),
        script: a_round,
    },
    Scenario {
        name: "triggers removed after a while",
        setup: || cleanup(TriggerCleanup::After(SECOND * 20)),
        script: a_round,
    },
    Scenario {
        name: "triggers that stay",
        setup: || cleanup(TriggerCleanup::Never),
        script: a_round,
    },
    Scenario { name: "two rooms", setup: || hosted().rooms(2), script: two_rooms },
    Scenario { name: "two messages of a person", setup: slow, script: speak_again },
    Scenario { name: "a room that was parked", setup: hosted, script: wake_after_parking },
    Scenario {
        name: "a discussion is concluded in a turn",
        setup: concluding,
        script: a_discussion,
    },
    Scenario {
        name: "a discussion is reminded and concluded",
        setup: reminded,
        script: a_discussion,
    },
    Scenario {
        name: "a discussion of the host's agents",
        setup: concluding_hooked,
        script: a_discussion,
    },
    Scenario {
        name: "a discussion's guide and result are posted",
        setup: || concluding().rooms(2),
        script: from_guide_to_result,
    },
    Scenario {
        name: "a result wakes the channel it is posted in",
        setup: || concluding_hooked().rooms(2),
        script: to_a_chat_and_back,
    },
    Scenario { name: "an archived channel is answered", setup: hosted, script: archive },
    Scenario { name: "a concluded discussion is answered", setup: concluding, script: a_late_word },
];

fn hosted() -> Setup {
    Setup::new().hosted("a", ["a1".into(), "a2".into()]).hosted("b", ["b1".into()])
}

fn hooked() -> Setup {
    Setup::new().hooked("a", ["a1".into(), "a2".into()]).hooked("b", ["b1".into()])
}

fn slow() -> Setup {
    let line = |text: &'static str| Line::from(text).taking(SECOND * 5);
    Setup::new().hosted("a", [line("a1"), line("a2")]).hosted("b", [line("b1")])
}

fn three() -> Setup {
    hosted().hosted("c", ["c1".into(), "c2".into()])
}

fn long_reply() -> Setup {
    let words = |from: u32| -> String {
        (from..from + 900).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
    };
    Setup::new().hosted("a", [words(0).into(), words(5_000).into()]).hosted("b", ["b1".into()])
}

fn rerun() -> Setup {
    slow().settings(|settings| settings.hooks.lost_runs = LostRuns::Rerun)
}

fn rerun_hooked() -> Setup {
    hooked().settings(|settings| settings.hooks.lost_runs = LostRuns::Rerun)
}

fn cleanup(cleanup: TriggerCleanup) -> Setup {
    hooked().config(|config| config.trigger_cleanup = cleanup)
}

fn concluding() -> Setup {
    let end = Act::Conclude("a ends it".to_owned());
    Setup::new().hosted("a", ["a1".into(), end.into()]).hosted("b", ["b1".into(), "b2".into()])
}

fn concluding_hooked() -> Setup {
    let end = Act::Conclude("a ends it".to_owned());
    Setup::new().hooked("a", ["a1".into(), end.into()]).hooked("b", ["b1".into(), "b2".into()])
}

fn reminded() -> Setup {
    let end = Act::Conclude("a ends it".to_owned());
    Setup::new().hosted("a", ["a1".into(), Act::Pass.into(), end.into()]).hosted("b", [])
}

fn a_round(stage: &mut Stage) {
    stage.chat();
    stage.say("human: hello");
    stage.until_dormant();
    stage.advance(SECOND * 60);
}

fn two_rooms(stage: &mut Stage) {
    stage.chat();
    for room in stage.rooms().to_vec() {
        stage.say_in(room, "human: hello");
    }
    stage.until_dormant();
    stage.advance(SECOND * 120);
}

fn speak_again(stage: &mut Stage) {
    stage.chat();
    stage.say("human: hello");
    stage.advance(SECOND * 2);
    stage.say("human: and by the way");
    stage.until_dormant();
    stage.advance(SECOND * 60);
}

fn wake_after_parking(stage: &mut Stage) {
    a_round(stage);
    stage.advance(SECOND * 700);
    stage.say("human: once more");
    stage.until_dormant();
    stage.advance(SECOND * 60);
}

fn archive(stage: &mut Stage) {
    stage.chat();
    let channel = stage.channel();
    let _ = stage.insist(move |d| async move { d.channel(channel).archive().await });
    stage.say("human: anybody here?");
    stage.advance(SECOND * 60);
}

fn discuss(stage: &mut Stage) {
    let channel = stage.channel();
    let made = CreatedChannel {
        mode: Mode::Discussion,
        members: vec!["a".into(), "b".into()],
        opening: Some(Opening { initiator: "a".into(), terms: None }),
    };
    let _ = stage.insist(move |d| {
        let made = made.clone();
        async move { d.channel(channel).register(made).await }
    });
    stage.say("human: the guide");
}

/// Ends archived, whatever is cut off: the initiator is reminded until it concludes.
fn a_discussion(stage: &mut Stage) {
    discuss(stage);
    stage.until_dormant();
    let channel = stage.channel();
    stage.advance(SECOND * 1_300);
    // A person sees to it, should the initiator have been killed in its last word.
    let _ = stage.insist(move |d| async move {
        d.channel(channel).conclude(&"a".into(), None).await.map(drop)
    });
    stage.advance(SECOND * 60);
}

/// The last channel of the stage.
fn callback_of(stage: &Stage) -> ChannelId {
    stage.rooms().last().copied().unwrap_or(stage.channel())
}

/// Everything that the library posts for a discussion is there once, wherever it was cut off.
fn from_guide_to_result(stage: &mut Stage) {
    let (channel, callback) = (stage.channel(), callback_of(stage));
    let guide = "Which plan? ".repeat(200);
    let terms = Discussion { callback, callback_guild: None, guide };
    let made = CreatedChannel {
        mode: Mode::Discussion,
        members: vec!["a".into(), "b".into()],
        opening: Some(Opening { initiator: "a".into(), terms: Some(terms) }),
    };
    let _ = stage.insist(move |d| {
        let made = made.clone();
        async move { d.channel(channel).register(made).await }
    });
    stage.advance(SECOND * 60);
    stage.until_dormant();
    stage.advance(SECOND * 1_300);
    let _ = stage.insist(move |d| async move {
        d.channel(channel)
            .conclude(&"a".into(), Some(Summary::Path("summary.md".into())))
            .await
            .map(drop)
    });
    stage.advance(SECOND * 700);
    let guide = stage.moderation(channel).into_iter().filter(|text| text.starts_with("Which"));
    assert_eq!(guide.count(), 2, "the guide's two parts");
    let results = stage.moderation(callback).into_iter().filter(|text| text.contains("Discussion"));
    assert_eq!(results.count(), 1, "the result");
    let messages = stage.store().stored(channel).map(|stored| stored.record.outbox.len());
    assert_eq!(messages, Some(0), "nothing is left to be posted");
}

fn to_a_chat_and_back(stage: &mut Stage) {
    let callback = callback_of(stage);
    let _ = stage
        .insist(move |d| async move { d.channel(callback).set_mode(Mode::Chat).await.map(drop) });
    stage.advance(SECOND);
    from_guide_to_result(stage);
    stage.advance(SECOND * 60);
    let turns = stage.status_of(callback).map_or(0, |status| status.turn.get());
    assert!(turns > 0, "the result woke its channel");
}

fn a_late_word(stage: &mut Stage) {
    a_discussion(stage);
    stage.say("human: too late");
    stage.advance(SECOND * 60);
}
