//! Two processes with one store: the channel goes on in whichever is left.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::{RunId, RunReport};
use dirigent::operate::Refusal;
use dirigent::settings::Pacing;
use dirigent::{Agent, AgentError, Clock as _, Dirigent, Reply, Settings, Turn};
use dirigent_testkit::ManualClock;
use dirigent_testkit::memory_discord::Event;
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::{Setup, Stage};
use tokio::sync::Notify;

use super::kit::{HOUR, MINUTE, SECOND, runs};

/// An agent of the second process: answers what it is given, and writes down what that was.
struct Answers {
    clock: ManualClock,
    takes: Duration,
    heard: Arc<Mutex<Vec<String>>>,
}

#[async_trait::async_trait]
impl Agent for Answers {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let missed: Vec<_> = turn.missed().iter().map(|said| said.content.to_string()).collect();
        let is_new = !missed.is_empty();
        self.hear(missed);
        tokio::select! {
            () = turn.cancelled() => return Ok(Reply::Pass),
            () = self.clock.sleep_until(self.clock.now() + self.takes) => {}
        }
        self.hear(std::iter::from_fn(|| turn.take_injected()).map(|said| said.content.to_string()));
        Ok(if is_new { format!("after {}", turn.turn()).into() } else { Reply::Pass })
    }
}

impl Answers {
    fn hear(&self, words: impl IntoIterator<Item = String>) {
        self.heard.lock().unwrap().extend(words);
    }
}

struct Second {
    heard: Arc<Mutex<Vec<String>>>,
    crash: Arc<Notify>,
}

impl Second {
    /// A process of the same accounts that starts beside the first one, and hears the gateway, too.
    fn start(stage: &mut Stage, takes: Duration) -> Self {
        let (heard, crash) = (Arc::default(), Arc::<Notify>::default());
        let moderator = Arc::new(stage.discord().account(stage.moderator()));
        let mut settings = Settings::default();
        settings.limits.pacing = Pacing::off();
        let identities = stage.identities().clone();
        let mut builder = Dirigent::builder(moderator)
            .identities(identities)
            .clock(stage.clock().clone())
            .channels(stage.store().clone())
            .settings(settings);
        for name in ["a", "b"] {
            let account = Arc::new(stage.discord().account(stage.agent(name).user()));
            let (clock, heard) = (stage.clock().clone(), Arc::clone(&heard));
            builder = builder.host(name, Answers { clock, takes, heard }, account);
        }
        let (dirigent, driver) = builder.build().unwrap();
        let (is_over, mut events) = (Arc::clone(&crash), stage.discord().events());
        drop(stage.begin(move |_| async move {
            tokio::select! {
                () = is_over.notified() => {}
                _ = driver.run() => {}
            }
        }));
        drop(stage.begin(move |_| async move {
            while let Some(event) = events.next().await {
                if let Event::MessageCreated(message) = event {
                    // It may have crashed.
                    let _ = dirigent.message_created(message).await;
                }
            }
        }));
        stage.settle();
        Self { heard, crash }
    }
}

fn setup() -> Setup {
    Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 20), "a2".into(), "a3".into()])
        .hosted("b", ["b1".into(), "b2".into(), "b3".into()])
        .settings(|settings| {
            settings.time_limits.backfill = Settings::default().time_limits.backfill;
        })
}

/// It takes the channel over in the middle of a run.
#[test]
fn a_channel_goes_on_in_the_old_process_after_a_new_one_crashed() {
    let mut stage = setup().stage();
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 5);
    let new = Second::start(&mut stage, SECOND * 30);
    stage.advance(SECOND * 3);
    assert!(!new.heard.lock().unwrap().is_empty(), "it called an agent");
    new.crash.notify_one();
    stage.advance(SECOND * 20);
    let before = runs(&stage);
    stage.say("Is anybody there?");
    stage.advance(MINUTE * 2);
    assert!(runs(&stage) > before, "{:?}", stage.status());
}

/// People talk while both processes run, and each of them takes the channel over from the other.
#[test]
fn a_channel_goes_on_in_the_new_process_once_the_old_one_is_shut_down() {
    for (pause, words) in [(SECOND, 3), (SECOND * 2, 2), (SECOND * 3, 4), (SECOND * 7, 3)] {
        let mut stage = setup().stage();
        stage.chat();
        stage.say("Hello");
        stage.advance(SECOND * 5);
        let new = Second::start(&mut stage, SECOND * 20);
        stage.advance(SECOND * 2);
        for word in 0..words {
            stage.say(&format!("Word {word}"));
            stage.advance(pause);
        }
        let old = stage.dirigent();
        drop(stage.begin(move |_| async move { old.shutdown(SECOND).await }));
        stage.advance(SECOND * 5);
        stage.say("The last word");
        stage.advance(MINUTE * 2);
        let heard = new.heard.lock().unwrap();
        assert!(heard.iter().any(|word| word == "The last word"), "{pause:?}, {words}: {heard:?}");
    }
}

/// The permit's room is this process's no more.
#[test]
fn the_end_of_a_run_is_refused_after_a_takeover_and_the_run_counts_as_lost() {
    let setup = Setup::new().hooked("a", []).hosted("b", ["b1".into()]).without_pump();
    let mut stage = setup.stage();
    stage.chat();
    let channel = stage.channel();
    let permit = stage.call(move |d| async move {
        d.channel(channel).wake(Some(&"a".into())).await.unwrap();
        d.channel(channel).may_speak(&"a".into(), Some(RunId::new(1))).await.unwrap()
    });
    stage.store().take_over(channel);
    let muted = stage.call(move |d| async move { d.channel(channel).mute(&"b".into()).await });
    assert!(muted.is_err(), "another process has the channel");
    assert_eq!(permit.end(RunReport::Pass), Err(Refusal::StaleRun));
    stage.advance(HOUR);
    assert_ne!(stage.status().unwrap().speaker, Some("a".into()));
}
