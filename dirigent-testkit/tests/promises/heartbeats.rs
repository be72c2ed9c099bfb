//! M3: an agent's silence is measured from its own last sign of life.

use dirigent::{Heartbeat, Reason};
use dirigent_testkit::stage::{Setup, Stage};

use super::kit::SECOND;

fn beats(stage: &mut Stage, agent: &'static str) {
    stage.call(move |d| async move { d.heartbeat(&agent.into()).await }).unwrap();
}

fn is_offline(stage: &mut Stage, agent: &'static str) -> bool {
    let channel = stage.channel();
    let why = stage.call(move |d| async move { d.explain(channel, &agent.into()).await });
    why.unwrap().reason == Reason::Offline
}

/// M3
#[test]
fn an_agent_that_falls_silent_is_offline_although_another_one_beats() {
    let names = ["a", "b", "c"];
    for silent in names {
        let mut setup = Setup::new().settings(|settings| {
            settings.heartbeat = Some(Heartbeat { period: SECOND * 30, misses: 3 });
        });
        for name in names {
            setup = setup.hosted(name, []);
        }
        let mut stage = setup.stage();
        stage.chat();
        stage.advance(SECOND);
        for name in names {
            beats(&mut stage, name);
        }
        for tens in 1..=30 {
            stage.advance(SECOND * 10);
            for name in names.into_iter().filter(|name| *name != silent) {
                beats(&mut stage, name);
                assert!(!is_offline(&mut stage, name), "{name} beats");
            }
            let is_offline = is_offline(&mut stage, silent);
            assert_eq!(is_offline, tens >= 9, "{silent} was silent for {tens}0 s");
        }
    }
}
