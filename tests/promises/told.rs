//! What a host is told: answers that say what is so, a look at a channel that says why, a log that names who.

use dirigent::hooks::{RunId, RunReport};
use dirigent::operate::{Cause, ChannelEvent, EventOrLag, Explanation, Reason, Refusal};
use dirigent::settings::TriggerCleanup;
use dirigent::snapshot::{AgentState, PhaseKind};
use dirigent::{CallError, Clock, Denial, MessageId, Mode};
use dirigent_testkit::Log;
use dirigent_testkit::memory_discord::{Call, Fault};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_verify::stage::{Setup, Stage, StoreFault};
use std::time::Duration;

use super::kit::{HOUR, MINUTE, SECOND};

/// Two agents that answer.
fn two() -> Setup {
    Setup::new().hosted("a", ["a1".into()]).hosted("b", ["b1".into()])
}

/// B33
#[test]
fn a_stop_that_the_store_does_not_take_in_time_is_in_force_and_says_so() {
    let mut stage = two().stage();
    stage.chat();
    stage.store().next_commit(StoreFault::TakesSoLong(MINUTE));
    let channel = stage.channel();
    let stopped = stage.call(move |d| async move { d.channel(channel).stop().await });
    assert!(matches!(stopped, Err(CallError::NotStored)), "{stopped:?}");
    stage.say("Hello");
    stage.advance(SECOND * 20);
    assert_eq!(stage.words(), ["Hello"], "it is in force");
    stage.advance(MINUTE);
    stage.crash();
    stage.restart();
    assert_eq!(stage.status().unwrap().silence, Some(Reason::Stopped), "and is stored in the end");
}

/// B33
#[test]
fn a_run_whose_permission_the_store_does_not_take_in_time_does_not_begin() {
    let mut stage = Setup::new().hooked("a", []).hosted("b", []).without_pump().stage();
    stage.chat();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).wake(Some(&"a".into())).await }).unwrap();
    stage.advance(SECOND);
    stage.store().next_commit(StoreFault::TakesSoLong(MINUTE));
    let run = Some(RunId::new(1));
    let asked =
        stage.call(move |d| async move { d.channel(channel).may_speak(&"a".into(), run).await });
    assert!(matches!(asked, Err(Denial::Failed(CallError::Failed(_)))), "{asked:?}");
    assert_ne!(stage.status().unwrap().speaker, Some("a".into()), "its run is over");
}

/// B35
#[test]
fn a_status_says_why_no_agent_speaks_and_that_a_word_waits() {
    let mut stage = Setup::new().hosted("a", ["a1".into()]).stage();
    stage.chat();
    stage.advance(SECOND);
    let status = stage.status().unwrap();
    assert_eq!((status.silence, status.has_word), (Some(Reason::TooFewAgents), false));
    stage.say("Hello");
    assert!(stage.status().unwrap().has_word);

    let mut stage = two().stage();
    stage.chat();
    stage.advance(SECOND);
    assert_eq!(stage.status().unwrap().silence, Some(Reason::Dormant));
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).hold().await }).unwrap();
    stage.say("Hello");
    let status = stage.status().unwrap();
    assert_eq!((status.silence, status.has_word), (Some(Reason::Held), true));
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    stage.until_dormant();
    assert!(!stage.status().unwrap().has_word);
}

#[test]
fn a_word_is_with_an_agent_that_runs_whether_or_not_its_run_has_a_name() {
    for run in [None, Some(RunId::new(1))] {
        let mut stage = Setup::new().hooked("a", []).hooked("b", []).without_pump().stage();
        stage.chat();
        let channel = stage.channel();
        stage
            .call(move |d| async move { d.channel(channel).wake(Some(&"a".into())).await })
            .unwrap();
        stage.advance(SECOND);
        assert!(stage.status().unwrap().has_word, "nobody runs");
        let asked = stage
            .call(move |d| async move { d.channel(channel).may_speak(&"a".into(), run).await });
        assert!(asked.is_ok(), "{asked:?}");
        assert!(!stage.status().unwrap().has_word, "{run:?}");
    }
}

/// S8, R247
#[test]
fn a_status_says_what_each_agent_is_doing() {
    let mut stage =
        Setup::new().hosted("a", [Act::Hang.into()]).hosted("b", []).hosted("c", []).stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    stage.call(|d| async move { d.agent_offline(&"c".into()).await }).unwrap();
    let status = stage.status().unwrap();
    assert_eq!((status.mode, status.speaker), (Mode::Chat, Some("a".into())));
    let agents = status.agents;
    let doing = |name: &str| agents.iter().find(|(agent, _)| agent.as_str() == name).unwrap().1;
    assert_eq!(doing("a"), AgentState::Active);
    assert_eq!(doing("b"), AgentState::Queued);
    assert_eq!(doing("c"), AgentState::Offline);
    assert_eq!(agents.len(), 3);
}

/// S6
#[test]
fn the_end_of_a_run_where_no_turns_are_kept_is_no_error() {
    let mut stage = two().stage();
    let channel = stage.channel();
    for mode in [None, Some(Mode::None)] {
        if let Some(mode) = mode {
            stage.call(move |d| async move { d.channel(channel).set_mode(mode).await }).unwrap();
        }
        let allowed = stage
            .call(move |d| async move { d.channel(channel).may_speak(&"a".into(), None).await });
        assert!(allowed.is_ok());
        stage
            .call(move |d| async move {
                d.channel(channel).turn_ended(&"a".into(), None, RunReport::Pass).await
            })
            .unwrap();
        stage
            .call(move |d| async move {
                d.channel(channel).delivered(&"a".into(), None, vec![MessageId::new(1)]).await
            })
            .unwrap();
    }
    stage.chat();
    let refused = stage.call(move |d| async move {
        d.channel(channel).turn_ended(&"a".into(), None, RunReport::Pass).await
    });
    assert!(matches!(refused, Err(CallError::Refused(Refusal::StaleRun))), "{refused:?}");
}

/// What is logged in the hour after the room was woken.
fn logged(stage: &mut Stage) -> Vec<String> {
    stage.chat();
    let (log, channel) = (Log::default(), stage.channel());
    log.during(|| {
        stage.call(move |d| async move { d.channel(channel).wake(None).await }).unwrap();
        stage.advance(HOUR);
    });
    log.lines()
}

/// The words of each warning.
fn warnings(stage: &mut Stage) -> Vec<String> {
    let words = |line: &String| line.split(" channel=").next().unwrap().to_owned();
    logged(stage).iter().map(words).collect()
}

/// The whole warning that begins so.
fn warning(stage: &mut Stage, begins: &str) -> String {
    let lines = logged(stage);
    let found = lines.iter().find(|line| line.starts_with(&format!("WARN {begins}")));
    found.unwrap_or_else(|| panic!("{lines:#?}")).clone()
}

/// S3, R272
#[test]
fn a_warning_names_the_agent_whose_turn_was_lost_and_what_it_was_doing() {
    let mut hangs = Setup::new().hosted("poet", [Act::Hang.into()]).hosted("b", []).stage();
    let line = warning(&mut hangs, "a run took too long");
    assert!(line.contains("agent=poet") && line.contains("was=running"), "{line}");

    let mut absent = Setup::new().hooked("poet", []).hosted("b", []).without_pump().stage();
    let line = warning(&mut absent, "an agent has not started in time and is woken once more");
    assert!(line.contains("agent=poet") && line.contains("was=granted"), "{line}");

    let mut absent = Setup::new().hooked("poet", []).hosted("b", []).without_pump().stage();
    let line = warning(&mut absent, "an agent has not started in time and is skipped");
    assert!(line.contains("agent=poet"), "{line}");

    let mut fails = Setup::new().hosted("poet", [Act::Panic.into()]).hosted("b", []).stage();
    let lines = logged(&mut fails);
    assert_eq!(lines.len(), 1, "one line for one failure: {lines:#?}");
    let (line, channel) = (&lines[0], fails.channel());
    assert!(line.starts_with("WARN a hosted agent failed"), "{line}");
    assert!(line.contains("agent=poet") && line.contains("run="), "{line}");
    assert!(line.contains(&format!("channel={channel}")), "{line}");
}

/// S3
#[test]
fn where_an_agent_has_no_turn_no_warning_says_that_it_is_offline() {
    let stage = Setup::new().rooms(3).hosted("poet", [Act::Hang.into()]).hosted("b", []);
    let mut stage = stage.stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND);
    let log = Log::default();
    log.during(|| stage.call(|d| async move { d.agent_offline(&"poet".into()).await })).unwrap();
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "it has a turn in one of three channels: {lines:#?}");
    assert!(lines[0].starts_with("WARN an agent went offline in its turn"), "{lines:#?}");
    assert!(lines[0].contains("agent=poet") && lines[0].contains("was=running"), "{lines:#?}");
}

/// S11
#[test]
fn a_run_that_nears_its_deadline_is_warned_of_before_its_turn_is_lost() {
    let mut stage = Setup::new().hosted("poet", [Act::Hang.into()]).hosted("b", []).stage();
    let lines = warnings(&mut stage);
    let near = lines.iter().position(|line| line.contains("a run is cut off in 120 s"));
    let lost = lines.iter().position(|line| line.contains("a run took too long"));
    assert!(near.is_some() && near < lost, "{lines:#?}");

    let slow = Line::from("a1").taking(SECOND * 400);
    let mut stage = Setup::new().hosted("poet", [slow]).hosted("b", []).stage();
    assert_eq!(warnings(&mut stage), Vec::<String>::new(), "it ended long before");
}

/// R254
#[test]
fn every_change_is_one_entry_of_the_history_that_says_when_who_where_and_why() {
    let mut stage = two().stage();
    let mut transitions = stage.dirigent().events();
    stage.chat();
    stage.say("Hello");
    stage.until_dormant();
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).stop().await }).unwrap();
    stage.call(move |d| async move { d.channel(channel).resume().await }).unwrap();
    stage.call(move |d| async move { d.channel(channel).archive().await }).unwrap();
    let mut heard = Vec::new();
    while let Some(EventOrLag::Transition(event)) = transitions.try_next() {
        heard.push(event);
    }
    let history = stage.call(move |d| async move { d.channel(channel).history().await }).unwrap();
    assert_eq!(history, heard, "each once, in order");
    for pair in history.windows(2) {
        let [before, after] = [&pair[0].transition, &pair[1].transition];
        assert_eq!(before.to, after.from, "no change of phase is left out");
        assert!(before.at <= after.at);
    }
    assert!(history.iter().all(|entry| entry.channel == channel));
    let of = |cause, agent: &str| {
        let is_it = |entry: &&ChannelEvent| {
            entry.transition.cause == cause && entry.agent == Some(agent.into())
        };
        history.iter().filter(is_it).count()
    };
    assert_eq!([of(Cause::Replied, "a"), of(Cause::Replied, "b")], [1, 1]);
    let causes = [Cause::Stopped, Cause::Resumed, Cause::Archived];
    let last = history[history.len() - 3..].iter().map(|entry| entry.transition.cause);
    assert!(last.eq(causes), "{history:#?}");
}

/// B28
#[test]
fn a_trigger_that_was_removed_before_is_no_warning() {
    let mut stage = Setup::new().hooked("a", ["a1".into()]).hooked("b", []).stage();
    stage.discord().inject(|faults| faults.next(Call::Delete, Fault::Gone));
    assert_eq!(warnings(&mut stage), Vec::<String>::new());
}

/// S4
#[test]
fn an_agent_that_fails_again_and_again_is_offline_where_the_host_wants_that() {
    let fails =
        || Setup::new().hosted("poet", [Act::Fail.into(), Act::Panic.into()]).hosted("b", []);
    let doing = |stage: &mut Stage| {
        let agents = stage.status().unwrap().agents;
        agents.into_iter().find(|(agent, _)| agent.as_str() == "poet").unwrap().1
    };
    let talk = |stage: &mut Stage| {
        stage.chat();
        for word in ["Hello", "Hello again"] {
            stage.say(word);
            stage.until_dormant();
        }
    };
    let mut stage =
        fails().settings(|settings| settings.hooks.offline_after_failures = Some(2)).stage();
    let log = Log::default();
    log.during(|| talk(&mut stage));
    assert_eq!(doing(&mut stage), AgentState::Offline);
    assert!(
        log.lines().contains(&"WARN the calls of an agent fail: it is offline agent=poet".into())
    );
    stage.call(|d| async move { d.agent_online(&"poet".into()).await }).unwrap();
    assert_ne!(doing(&mut stage), AgentState::Offline);

    let mut stage = fails().stage();
    talk(&mut stage);
    assert_ne!(doing(&mut stage), AgentState::Offline, "nothing says so by default");

    let lines = [Act::Fail.into(), "p1".into(), Act::Fail.into()];
    let mut stage = Setup::new().hosted("poet", lines).hosted("b", []);
    stage = stage.settings(|settings| settings.hooks.offline_after_failures = Some(2));
    let mut stage = stage.stage();
    talk(&mut stage);
    stage.say("Once more");
    stage.until_dormant();
    assert_ne!(doing(&mut stage), AgentState::Offline, "two failures, but not in a row");
}

/// S3, R117
#[test]
fn a_warning_names_the_agent_whose_reply_was_not_seen() {
    let mut stage = Setup::new().hooked("poet", []).hosted("b", []).without_pump().stage();
    stage.chat();
    // Until then the log says that nothing is told.
    stage.advance(SECOND * 10);
    let (log, channel) = (Log::default(), stage.channel());
    log.during(|| {
        stage
            .call(move |d| async move { d.channel(channel).wake(Some(&"poet".into())).await })
            .unwrap();
        stage.advance(SECOND);
        let run = Some(RunId::new(1));
        let asked = stage
            .call(move |d| async move { d.channel(channel).may_speak(&"poet".into(), run).await });
        asked.unwrap().end(RunReport::Spoke("It is never seen")).unwrap();
        stage.advance(SECOND * 14);
        assert_eq!(log.lines(), Vec::<String>::new());
        stage.advance(SECOND * 2);
    });
    let line = log.lines().pop().unwrap();
    assert!(line.starts_with("WARN a reply was not seen in time"), "{line}");
    assert!(line.contains("agent=poet") && line.contains("was=confirming"), "{line}");
}

fn why(stage: &mut Stage, agent: &str) -> Explanation {
    let (channel, agent) = (stage.channel(), agent.into());
    stage.call(move |d| async move { d.channel(channel).explain(&agent).await }).unwrap()
}

/// What the gate says to this agent.
fn gate(stage: &mut Stage, agent: &'static str) -> Reason {
    let channel = stage.channel();
    stage.call(move |d| async move {
        match d.channel(channel).may_speak(&agent.into(), None).await {
            Ok(permit) => {
                let reason = permit.reason();
                permit.keep();
                reason
            }
            Err(denial) => denial.reason().unwrap(),
        }
    })
}

/// WY12: in whatever state, for registered agents and others, the explanation is what the gate says.
#[test]
fn an_explanation_says_what_the_gate_says_in_every_state() {
    let mut seen = std::collections::HashSet::new();
    for world in 0..300_u64 {
        let line = |n: u32| Line::from(format!("a{n}").as_str()).taking(Duration::from_secs(7));
        let lines = || (0..9).map(line).collect::<Vec<_>>();
        let stage =
            Setup::new().hosted("a", lines()).hosted("b", lines()).hosted("c", []).hosted("d", []);
        let mut stage = stage.stage();
        let (channel, absent) = (stage.channel(), stage.agent("d").user());
        stage.discord().leave(channel, absent);
        let mut drawn = world.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        for _ in 0..world % 9 {
            drawn ^= drawn << 13;
            drawn ^= drawn >> 7;
            drawn ^= drawn << 17;
            let what = drawn % 14;
            // Some are refused where they mean nothing.
            stage.call(move |d| async move {
                let here = d.channel(channel);
                let _ = match what {
                    0 | 1 => here.set_mode(Mode::Chat).await.map(drop),
                    2 => here.set_mode(Mode::Report).await.map(drop),
                    3 => here.stop().await,
                    4 => here.hold().await,
                    5 => here.finish().await,
                    6 => here.resume().await,
                    7 => here.mute(&"a".into()).await,
                    8 => d.agent_offline(&"b".into()).await,
                    9 => here.archive().await,
                    10 => d.channel_deleted(channel).await,
                    _ => Ok(()),
                };
            });
            if what > 10 {
                stage.say("Hello");
                stage.advance(Duration::from_secs(drawn % 12));
            }
        }
        for agent in ["a", "b", "c", "d", "nobody"] {
            let told = why(&mut stage, agent);
            assert_eq!(told.allows(), told.reason.allows(), "{told}");
            let (why, said) = (told.reason, gate(&mut stage, agent));
            // While its permission is stored, the run of an agent that the library calls may end.
            let ended = (why, said) == (Reason::YourTurn, Reason::RunAlreadyEnded);
            assert!(why == said || ended, "world {world}, {agent}: {why:?}, {said:?}");
            seen.insert(why.as_str());
        }
    }
    assert!(seen.len() >= 10, "{seen:?}");
}

/// WY12: while only a look at the history is due, the time that is told is that of the turn's end.
#[test]
fn the_time_that_is_told_is_one_at_which_the_channel_goes_on() {
    let mut stage = Setup::new().hooked("a", [Act::Hang.into()]).hooked("b", []).stage();
    stage.chat();
    stage.say("Hello");
    for _ in 0..60 {
        stage.advance(Duration::from_secs(1));
        let channel = stage.channel();
        let why = stage
            .call(move |d| async move { d.channel(channel).explain(&"b".into()).await })
            .unwrap();
        let speaker = stage.status().unwrap().speaker;
        if let (Some(within), Some("a")) =
            (why.within, speaker.as_ref().map(dirigent::AgentId::as_str))
        {
            let turn = stage.status().unwrap().turn;
            stage.advance(within + Duration::from_secs(1));
            assert_ne!(stage.status().unwrap().turn, turn, "it was to go on within {within:?}");
            return;
        }
    }
    panic!("no time was told");
}

/// WY12: a chat that asks for patience, or a pace of our own, is not told as a chat that does not answer: neither while it lasts
/// nor in the history, and neither to the agent that waits nor to the others.
#[test]
fn a_chat_that_asks_for_patience_is_not_told_as_silence() {
    let mut stage = two().stage();
    stage.chat();
    stage.discord().next_post(Fault::RateLimited { retry_after: MINUTE });
    let mut events = stage.dirigent().events();
    stage.say("Hello");
    let mut told = Vec::new();
    for _ in 0..30 {
        stage.advance(SECOND * 4);
        let channel = stage.channel();
        for agent in ["a", "b"] {
            let why = stage
                .call(move |d| async move { d.channel(channel).explain(&agent.into()).await })
                .unwrap();
            assert_eq!(why.outage, None);
            // It goes on when that wait is over, and not when an outage would be given up.
            assert!(why.within.is_none_or(|within| within <= MINUTE), "{why}");
            told.push(why.to_string());
        }
    }
    while let Some(EventOrLag::Transition(event)) = events.try_next() {
        told.push(event.to_string());
    }
    assert!(told.iter().any(|line| line.contains("nothing can be said here")), "{told:#?}");
    let untrue = |line: &&String| line.contains("answer again") || line.contains("not answer");
    assert_eq!(told.iter().find(untrue), None);
    assert_eq!(stage.words(), ["Hello", "a1", "b1"]);
}

/// A room in which "a" has the floor for long, and "b" waits.
fn long_run(change: impl FnOnce(&mut dirigent::Config)) -> Stage {
    let setup = Setup::new().hooked("a", [Act::Hang.into()]).hosted("b", ["b1".into()]);
    let mut stage = setup.config(change).stage();
    stage.chat();
    stage.say("Hello");
    stage.until("a runs", |stage| stage.status().unwrap().phase == PhaseKind::Running);
    stage
}

/// WY12: that a trigger message is removed, or that a run becomes slow, is not when a channel goes on.
#[test]
fn what_is_due_behind_a_turn_is_no_time_at_which_the_channel_goes_on() {
    let mut stage = long_run(|config| {
        config.trigger_cleanup = TriggerCleanup::After(SECOND * 30);
        config.deadlines.slow_after = Some(MINUTE);
        config.deadlines.run = Some(MINUTE * 5);
    });
    let due = stage.status().unwrap().deadline.unwrap();
    let named = why(&mut stage, "b");
    let within = named.within.unwrap();
    assert!(stage.clock().now() + within > due.at + MINUTE, "{named}, and {due:?} is due");
    let turn = stage.status().unwrap().turn;
    stage.advance(within.saturating_sub(SECOND));
    assert_eq!(stage.status().unwrap().turn, turn, "{named}");
    stage.advance(SECOND * 2);
    assert_ne!(stage.status().unwrap().turn, turn, "{named}");
}

/// WY12: what is due on hold is not when the channel goes on: that is the resume.
#[test]
fn on_hold_no_time_is_named() {
    let mut stage = long_run(|_| {});
    assert!(why(&mut stage, "b").within.is_some());
    let channel = stage.channel();
    stage.call(move |d| async move { d.channel(channel).hold().await }).unwrap();
    let named = why(&mut stage, "b");
    assert_eq!((named.reason, named.within), (Reason::Held, None), "{named}");
}

/// WY12: a store that does not answer is told, and no time at which it would go on.
#[test]
fn that_the_store_does_not_answer_is_told() {
    let mut stage = two().stage();
    stage.chat();
    stage.store().with_rate(StoreFault::Fails, 1_000, 1);
    stage.say("Hello");
    stage.advance(SECOND * 20);
    let named = why(&mut stage, "b");
    let note = named.outage.clone().expect("it is told");
    assert!(note.store && !note.gateway, "{named}");
    assert!(named.to_string().contains("The store has taken no record for 20 seconds"), "{named}");
    assert_eq!(named.within, None);
    stage.store().stop_faults();
    stage.until_dormant();
    assert_eq!((stage.words().len(), why(&mut stage, "b").outage), (3, None));
}

/// WY12: a cap ends while nothing else happens: an explanation is of the moment at which it is asked for.
#[test]
fn an_explanation_is_of_the_moment_at_which_it_is_asked_for() {
    let setup = Setup::new().hosted("a", ["a1".into()]).hooked("b", [Act::Hang.into()]);
    let mut stage = setup
        .config(|config| {
            config.budget.agent_turns_per_hour = Some(1);
            (config.deadlines.run, config.deadlines.turn) = (Some(HOUR * 3), None);
            config.deadlines.slow_after = None;
        })
        .stage();
    stage.chat();
    stage.say("Hello");
    stage.until("b runs", |stage| {
        let status = stage.status().unwrap();
        status.phase == PhaseKind::Running && status.speaker == Some("b".into())
    });
    assert_eq!(
        (why(&mut stage, "a").reason, gate(&mut stage, "a")),
        (Reason::Capped, Reason::Capped)
    );
    stage.advance(HOUR + MINUTE);
    let told = why(&mut stage, "a").reason;
    assert_eq!(told, gate(&mut stage, "a"));
    assert_ne!(told, Reason::Capped);
}

/// WY12: where one agent is too few to take turns, the gate lets each agent speak, also one that does not see the channel.
#[test]
fn an_agent_that_is_elsewhere_may_speak_where_there_are_too_few() {
    let mut stage = two().stage();
    let (channel, user) = (stage.channel(), stage.agent("a").user());
    stage.discord().leave(channel, user);
    stage.chat();
    stage.advance(SECOND);
    let told = why(&mut stage, "a");
    assert_eq!((told.reason, told.allows()), (Reason::TooFewAgents, true), "{told}");
    assert!(
        told.is_absent && told.to_string().contains("But the library does not call it"),
        "{told}"
    );
    assert_eq!(gate(&mut stage, "a"), Reason::TooFewAgents);
}

/// WY12: of 65 agents the one that has no place is in the channel all the same.
#[test]
fn the_agent_that_has_no_place_is_told_so() {
    let names: Vec<_> = (0..65).map(|number| format!("agent{number:02}")).collect();
    let setup = names.iter().fold(Setup::new(), |setup, name| setup.hosted(name, []));
    let mut stage = setup.stage();
    stage.agent("agent00").then(Act::Hang);
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 20);
    let status = stage.status().unwrap();
    assert_eq!(status.list.len(), 64);
    let left: Vec<_> = names
        .iter()
        .filter(|name| status.list.iter().all(|(agent, _)| agent.as_str() != **name))
        .collect();
    let [left] = left[..] else { panic!("{left:?} have no place") };
    let told = why(&mut stage, left);
    assert!(!told.is_absent && !told.to_string().contains("its bot is not in"), "{told}");
    let asked: dirigent::AgentId = left.as_str().into();
    let channel = stage.channel();
    let said = stage.call(move |d| async move { d.channel(channel).may_speak(&asked, None).await });
    assert_eq!(said.unwrap_err().reason(), Some(told.reason), "{told}");
}
