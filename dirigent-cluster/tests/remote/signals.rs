//! What comes during a turn crosses while the agent runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::host::{Consultation, Orchestrator};
use dirigent::settings::HumanInterrupt;
use dirigent::{AgentError, Clock, Reply, Settings, Turn, async_trait};

use super::fixture::{Hall, Speaker};
use crate::fleet::SECOND;

type Log = Arc<Mutex<Vec<String>>>;

fn lines(log: &Log) -> Vec<String> {
    log.lock().unwrap().clone()
}

/// An agent that writes down what it is told in its turn, and takes this long.
fn listener(hall: &Hall, name: &str, log: &Log, takes: Duration) -> Speaker {
    let (clock, log) = (hall.fleet.clock.clone(), Arc::clone(log));
    let who = name.to_owned();
    hall.speaker(name, move |turn: Turn| {
        let (clock, log, who) = (clock.clone(), Arc::clone(&log), who.clone());
        async move {
            let note = |text: String| log.lock().unwrap().push(format!("{who}: {text}"));
            for message in turn.missed() {
                note(format!("missed {}", message.content));
            }
            if let Some(late) = turn.late_answer() {
                note(format!("late {late}"));
            }
            tokio::select! {
                () = turn.slow() => note("slow".to_owned()),
                () = clock.sleep_until(clock.now() + takes) => {}
            }
            tokio::select! {
                () = turn.cancelled() => note("cancelled".to_owned()),
                () = clock.sleep_until(clock.now() + takes) => {}
            }
            if who == "poet" {
                while let Some(message) = turn.take_injected() {
                    note(format!("took {}", message.content));
                }
            }
            Ok(Reply::text(format!("words of {who}")))
        }
    })
}

#[tokio::test]
async fn words_that_come_during_the_turn_reach_the_agent_and_what_it_does_not_take_the_next_one() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let log = Log::default();
    let poet = listener(&hall, "poet", &log, SECOND * 2);
    let critic = listener(&hall, "critic", &log, SECOND * 2);
    let clerk = listener(&hall, "clerk", &log, SECOND * 2);
    let _one = hall.home("one", &[poet, critic, clerk]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    hall.fleet.say(&a.process, "for the poet").await;
    hall.fleet.pass(SECOND * 5).await;
    assert_eq!(lines(&log)[..2], ["poet: missed Hello", "poet: took for the poet"]);
    hall.fleet.say(&a.process, "for the critic").await;
    hall.fleet.pass(SECOND * 6).await;
    let lines = lines(&log);
    assert!(lines.contains(&"clerk: missed for the critic".to_owned()), "{lines:?}");
    assert!(!lines.contains(&"critic: took for the critic".to_owned()), "{lines:?}");
}

/// WD1: each agent is handed each word of a person once; what it took during its turn, its next turn does not bring again.
#[tokio::test]
async fn what_an_agent_took_during_its_turn_comes_to_all_others_and_not_again_to_it() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let log = Log::default();
    let agents = ["poet", "critic", "clerk"].map(|name| listener(&hall, name, &log, SECOND * 2));
    let _one = hall.home("one", &agents);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    hall.fleet.say(&a.process, "for the poet").await;
    hall.fleet.pass(SECOND * 60).await;
    hall.fleet.say(&a.process, "for all").await;
    hall.fleet.pass(SECOND * 60).await;
    for (agent, first) in [("poet", "took"), ("critic", "missed"), ("clerk", "missed")] {
        let heard = lines(&log).into_iter().filter_map(|line| {
            let heard = line.strip_prefix(agent)?.strip_prefix(": ")?.to_owned();
            (!heard.contains("words of")).then_some(heard)
        });
        let mut heard: Vec<_> = heard.collect();
        // Whichever way the newest word came: one of them has its turn when it is said.
        for heard in &mut heard {
            *heard = heard.replace("took for all", "missed for all");
        }
        let expected = [
            "missed Hello".to_owned(),
            format!("{first} for the poet"),
            "missed for all".to_owned(),
        ];
        assert_eq!(heard, expected, "{agent}");
    }
}

/// They were said before the agent's process was there, and are more than one question has room for.
#[tokio::test]
async fn all_that_was_said_before_a_call_began_reaches_the_agent() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    for _ in 0..90 {
        hall.fleet.say(&a.process, &"\u{1}".repeat(2_000)).await;
    }
    let (clock, injected) = (hall.fleet.clock.clone(), Arc::new(Mutex::new(Vec::new())));
    let counted = Arc::clone(&injected);
    let poet = hall.speaker("poet", move |turn: Turn| {
        let (clock, counted) = (clock.clone(), Arc::clone(&counted));
        async move {
            clock.sleep_until(clock.now() + SECOND).await;
            let taken = std::iter::from_fn(|| turn.take_injected()).count();
            counted.lock().unwrap().push(taken);
            Ok(Reply::Pass)
        }
    });
    let _one = hall.home("one", &[poet]);
    hall.fleet.pass(SECOND * 3).await;
    assert_eq!(injected.lock().unwrap().first(), Some(&90));
}

#[tokio::test]
async fn a_slow_turn_is_hurried_and_one_that_is_stopped_is_taken_away() {
    let mut hall = Hall::new().await;
    hall.rules.deadlines.slow_after = Some(SECOND * 3);
    hall.rules.deadlines.run = Some(SECOND * 200);
    let a = hall.owner("a");
    let log = Log::default();
    let poet = listener(&hall, "poet", &log, SECOND * 60);
    let _one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND * 2).await;
    assert_eq!(lines(&log), ["poet: missed Hello"]);
    hall.fleet.pass(SECOND * 2).await;
    assert_eq!(lines(&log).last().unwrap(), "poet: slow");
    let channel = a.process.dirigent.channel(hall.fleet.channel);
    channel.stop().await.unwrap();
    hall.fleet.settle().await;
    assert_eq!(lines(&log).last().unwrap(), "poet: cancelled");
    // What it answered all the same is handed back with its next turn.
    hall.fleet.pass(SECOND).await;
    assert!(hall.posts().await.is_empty());
    hall.fleet.say(&a.process, "resume").await;
    hall.fleet.say(&a.process, "And now?").await;
    hall.fleet.pass(SECOND).await;
    assert!(lines(&log).contains(&"poet: late words of poet".to_owned()), "{:?}", lines(&log));
}

#[tokio::test]
async fn what_remains_of_the_turn_is_known_there() {
    let mut hall = Hall::new().await;
    hall.rules.deadlines.run = Some(SECOND * 100);
    let a = hall.owner("a");
    let left = Arc::new(Mutex::new(Vec::new()));
    let (clock, kept) = (hall.fleet.clock.clone(), Arc::clone(&left));
    let poet = hall.speaker("poet", move |turn: Turn| {
        let (clock, kept) = (clock.clone(), Arc::clone(&kept));
        async move {
            kept.lock().unwrap().push(turn.time_left());
            clock.sleep_until(clock.now() + SECOND * 40).await;
            kept.lock().unwrap().push(turn.time_left());
            Ok(Reply::Pass)
        }
    });
    let _one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND * 50).await;
    assert_eq!(left.lock().unwrap()[..2], [Some(SECOND * 100), Some(SECOND * 60)]);
}

/// Answers after five seconds.
struct Desk(dirigent_testkit::ManualClock);

#[async_trait]
impl Orchestrator for Desk {
    async fn answer(&self, _asked: Consultation) -> Result<Reply, AgentError> {
        self.0.sleep_until(self.0.now() + SECOND * 5).await;
        Ok(Reply::Pass)
    }
}

#[tokio::test]
async fn a_turn_that_waits_for_an_orchestrator_waits_there() {
    let mut hall = Hall::new().await;
    hall.rules.people.human_interrupt = HumanInterrupt::Interrupt;
    let desk = Desk(hall.fleet.clock.clone());
    let way = Arc::new(hall.fleet.relay.clone());
    let a = hall.owner_by("a", way, |builder| builder.orchestrator(desk));
    let log = Log::default();
    let (clock, kept) = (hall.fleet.clock.clone(), Arc::clone(&log));
    let poet = hall.speaker("poet", move |turn: Turn| {
        let (clock, kept) = (clock.clone(), Arc::clone(&kept));
        async move {
            for _ in 0..10 {
                clock.sleep_until(clock.now() + SECOND).await;
                let paused = if turn.is_paused() { "waits" } else { "goes on" };
                kept.lock().unwrap().push(paused.to_owned());
            }
            Ok(Reply::Pass)
        }
    });
    let _one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(Duration::from_millis(1_500)).await;
    hall.fleet.say(&a.process, "A question").await;
    hall.fleet.pass(SECOND * 9).await;
    let expected = [
        "goes on", "waits", "waits", "waits", "waits", "waits", "goes on", "goes on", "goes on",
        "goes on",
    ];
    assert_eq!(lines(&log), expected);
}

/// WD1: what was missed crosses whole, however many questions it takes.
#[tokio::test]
async fn all_that_was_missed_reaches_the_agent_in_several_questions() {
    let mut hall = Hall::new().await;
    let way = Arc::new(hall.fleet.relay.clone());
    let settings = Settings::default().with(|settings| settings.limits.missed_bytes_max = 4 << 20);
    let a = hall.owner_by("a", way, |builder| builder.settings(settings));
    let clock = hall.fleet.clock.clone();
    let seen = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&seen);
    let injected = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&injected);
    let poet = hall.speaker("poet", move |turn: Turn| {
        let (clock, counted) = (clock.clone(), Arc::clone(&counted));
        async move {
            clock.sleep_until(clock.now() + SECOND * 20).await;
            while turn.take_injected().is_some() {
                *counted.lock().unwrap() += 1;
            }
            Err("it read all of it, and failed".into())
        }
    });
    let critic = hall.speaker("critic", move |turn: Turn| {
        let kept = Arc::clone(&kept);
        async move {
            let newest = turn.missed().last().map(|message| message.id) == turn.newest();
            let bytes: usize = turn.missed().iter().map(|missed| missed.content.len()).sum();
            *kept.lock().unwrap() = Some((turn.left_out(), turn.missed().len(), bytes, newest));
            Ok(Reply::Pass)
        }
    });
    let _one = hall.home("one", &[poet, critic]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    // Each of these letters takes six bytes on the way: a question has room for half of them.
    for _ in 0..90 {
        hall.fleet.say(&a.process, &"\u{1}".repeat(2_000)).await;
    }
    hall.fleet.pass(SECOND * 25).await;
    assert_eq!(*injected.lock().unwrap(), 90, "in several questions");
    let (left_out, missed, bytes, newest) = seen.lock().unwrap().unwrap();
    assert_eq!((left_out, missed, bytes, newest), (0, 91, 5 + 90 * 2_000, true));
}

/// WD1: an agent in another process is handed each of 500 words of a person, oldest first, once.
#[tokio::test]
async fn five_hundred_words_reach_an_agent_in_another_process() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let clock = hall.fleet.clock.clone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (kept, is_first) = (Arc::clone(&seen), Arc::new(AtomicBool::new(true)));
    let poet = hall.speaker("poet", move |turn: Turn| {
        let (clock, kept, is_first) = (clock.clone(), Arc::clone(&kept), Arc::clone(&is_first));
        async move {
            if is_first.swap(false, Ordering::AcqRel) {
                clock.sleep_until(clock.now() + SECOND * 20).await;
            }
            let said = turn.missed().iter().filter(|missed| missed.is_by_person());
            kept.lock().unwrap().extend(said.map(|missed| missed.content.to_string()));
            assert_eq!(turn.left_out(), 0);
            Ok(Reply::Pass)
        }
    });
    let _one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    let mut expected = vec!["Hello".to_owned()];
    for number in 0..500 {
        // In the wire's form 500 of them are 2 MiB.
        let word = format!("{number} {}", "\u{1}".repeat(700));
        hall.fleet.say(&a.process, &word).await;
        expected.push(word);
    }
    hall.fleet.pass(SECOND * 600).await;
    let seen = seen.lock().unwrap();
    assert!(*seen == expected, "{} of {}", seen.len(), expected.len());
}
