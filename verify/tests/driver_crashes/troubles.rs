//! Stories of rooms in which something comes in between.

use std::time::Duration;

use dirigent::Mode;
use dirigent::settings::InterruptPolicy;
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::crash_points::Scenario;
use dirigent_verify::stage::{Setup, Stage};

const SECOND: Duration = Duration::from_secs(1);

pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "a hold in a run", setup: slow, script: hold },
    Scenario { name: "a hold of the host's agents", setup: slow_hooked, script: hold },
    Scenario { name: "a stop in a run", setup: slow, script: stop },
    Scenario { name: "a stop of the host's agents", setup: slow_hooked, script: stop },
    Scenario { name: "a stop word and a resume word", setup: slow, script: words },
    Scenario { name: "another mode in a run", setup: slow, script: change_mode },
    Scenario { name: "the speaker leaves", setup: slow, script: leave },
    Scenario { name: "an agent joins", setup: slow, script: join },
    Scenario { name: "the speaker is muted", setup: slow, script: mute },
    Scenario {
        name: "nobody answers the triggers",
        setup: || slow_hooked().without_pump(),
        script: unheard,
    },
    Scenario { name: "a reply that only polls find", setup: polled, script: unheard },
    Scenario { name: "a run takes too long", setup: hanging, script: a_round },
    Scenario { name: "a run does not hear that it is cancelled", setup: deaf, script: a_round },
    Scenario { name: "agents that fail", setup: failing, script: a_round },
    Scenario {
        name: "a person interrupts",
        setup: || interrupted(InterruptPolicy::RestartCycle),
        script: interrupt,
    },
    Scenario {
        name: "a person speaks between",
        setup: || interrupted(InterruptPolicy::AdvanceNormally),
        script: interrupt,
    },
    Scenario { name: "a ceiling is reached", setup: talkative, script: a_round },
    Scenario {
        name: "a long way down",
        setup: || slow_hooked().downtime(SECOND * 200),
        script: a_round,
    },
    Scenario { name: "other rules in a run", setup: slow, script: reconfigure },
];

fn slow() -> Setup {
    let line = |text: &'static str| Line::from(text).taking(SECOND * 5);
    Setup::new().hosted("a", [line("a1"), line("a2")]).hosted("b", [line("b1")])
}

fn slow_hooked() -> Setup {
    let line = |text: &'static str| Line::from(text).taking(SECOND * 5);
    Setup::new().hooked("a", [line("a1"), line("a2")]).hooked("b", [line("b1")])
}

fn polled() -> Setup {
    Setup::new().hooked("a", ["a1".into()]).hooked("b", ["b1".into()]).direct().without_pump()
}

fn hanging() -> Setup {
    Setup::new()
        .hosted("a", [Act::Hang.into(), "a1".into()])
        .hosted("b", ["b1".into()])
        .config(|config| config.deadlines.run = Some(SECOND * 20))
}

fn deaf() -> Setup {
    Setup::new()
        .hosted("a", [Act::Deaf.into(), "a1".into()])
        .hosted("b", ["b1".into()])
        .config(|config| config.deadlines.run = Some(SECOND * 20))
}

fn failing() -> Setup {
    Setup::new()
        .hosted("a", [Act::Fail.into(), "a1".into()])
        .hosted("b", ["b1".into(), Act::Fail.into()])
        .hooked("c", [Act::Fail.into(), "c1".into()])
}

fn interrupted(policy: InterruptPolicy) -> Setup {
    Setup::new()
        .hooked("a", ["a1".into()])
        .hooked("b", ["b1".into()])
        .post_delay(SECOND * 5)
        .config(|config| config.people.interrupt = policy)
}

fn talkative() -> Setup {
    let lines = |name: &'static str| (0..20).map(move |n| Line::from(format!("{name}{n}")));
    Setup::new()
        .hosted("a", lines("a"))
        .hosted("b", lines("b"))
        .config(|config| config.ceilings.chat.turns = Some(5))
}

fn a_round(stage: &mut Stage) {
    stage.chat();
    stage.say("human: hello");
    stage.until_dormant();
    stage.advance(SECOND * 60);
}

fn begin(stage: &mut Stage) {
    stage.chat();
    stage.say("human: hello");
    stage.advance(SECOND * 2);
}

fn end(stage: &mut Stage) {
    stage.until_dormant();
    stage.advance(SECOND * 60);
}

fn hold(stage: &mut Stage) {
    begin(stage);
    let channel = stage.channel();
    let _ = stage.insist(move |d| async move { d.channel(channel).hold().await });
    stage.advance(SECOND * 60);
    let _ = stage.insist(move |d| async move { d.channel(channel).resume().await });
    end(stage);
}

fn stop(stage: &mut Stage) {
    begin(stage);
    let channel = stage.channel();
    let _ = stage.insist(move |d| async move { d.channel(channel).stop().await });
    stage.advance(SECOND * 10);
    stage.say("human: go on");
    let _ = stage.insist(move |d| async move { d.channel(channel).resume().await });
    end(stage);
}

fn words(stage: &mut Stage) {
    begin(stage);
    stage.say("Stop");
    stage.advance(SECOND * 10);
    stage.say("Resume");
    stage.say("human: go on");
    end(stage);
}

fn change_mode(stage: &mut Stage) {
    begin(stage);
    let channel = stage.channel();
    let _ = stage
        .insist(move |d| async move { d.channel(channel).set_mode(Mode::Report).await.map(drop) });
    stage.advance(SECOND * 10);
    let _ = stage
        .insist(move |d| async move { d.channel(channel).set_mode(Mode::Chat).await.map(drop) });
    stage.say("human: again");
    end(stage);
}

fn leave(stage: &mut Stage) {
    begin(stage);
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    stage.discord().leave(channel, user);
    stage.advance(SECOND * 20);
    stage.discord().join(channel, user);
    // That it is back may have been missed; the next message has it counted again.
    stage.advance(SECOND * 40);
    stage.say("human: welcome back");
    end(stage);
}

fn join(stage: &mut Stage) {
    let (channel, user) = (stage.channel(), stage.agent("b").user());
    stage.discord().leave(channel, user);
    stage.chat();
    stage.say("human: hello");
    stage.advance(SECOND * 2);
    stage.discord().join(channel, user);
    // Somebody writes on until two are there.
    stage.advance(SECOND * 40);
    stage.say("human: hello, both of you");
    end(stage);
}

fn mute(stage: &mut Stage) {
    begin(stage);
    let channel = stage.channel();
    let _ = stage.insist(move |d| async move { d.channel(channel).mute(&"a".into()).await });
    end(stage);
}

fn unheard(stage: &mut Stage) {
    stage.chat();
    let channel = stage.channel();
    let _ = stage.insist(move |d| async move { d.channel(channel).wake(None).await });
    end(stage);
}

fn interrupt(stage: &mut Stage) {
    begin(stage);
    stage.say("human: wait");
    end(stage);
}

fn reconfigure(stage: &mut Stage) {
    begin(stage);
    let mut config = dirigent::Config::default();
    config.deadlines.run = Some(SECOND * 100);
    let _ = stage.insist(move |d| {
        let config = config.clone();
        async move { d.reconfigure(config).await }
    });
    end(stage);
}
