//! How the driver starts and ends.

use std::time::Duration;

use dirigent::ports::Identity;
use dirigent::{Agent, AgentError, CallError, Clock, IdentityStore, Reply, Turn};
use dirigent_testkit::scripted_agent::Act;
use dirigent_verify::stage::Setup;

use super::calls::{hosted, slow};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn calls_without_a_live_driver_say_so() {
    let mut stage = hosted().stage();
    stage.chat();
    let old = stage.dirigent();
    stage.crash();
    stage.restart();
    let channel = stage.channel();
    let late = stage.call(move |_| async move { old.channel(channel).stop().await });
    assert!(matches!(late, Err(CallError::Ended(_))), "{late:?}");
}

#[test]
fn a_shutdown_waits_for_what_is_under_way_and_no_longer() {
    let mut stage = slow().stage();
    stage.chat();
    stage.say("Hello");
    let began = stage.clock().now();
    let done = stage.begin(|d| async move { d.shutdown(SECOND * 60).await });
    stage.advance(SECOND * 60);
    assert!(done.take().is_some());
    assert!(matches!(stage.take_end(), Some(Ok(()))));
    assert!(stage.words().contains(&"a1".to_owned()));
    assert!(stage.clock().now().since(began) <= SECOND * 61);
    let channel = stage.channel();
    let late = stage.call(move |d| async move { d.channel(channel).status().await });
    assert!(matches!(late, Err(CallError::Ended(_))));
}

#[test]
fn a_shutdown_cancels_who_does_not_come_to_an_end() {
    let mut stage = Setup::new().hosted("a", [Act::Deaf.into()]).hosted("b", []).stage();
    stage.chat();
    stage.say("Hello");
    let done = stage.begin(|d| async move { d.shutdown(SECOND * 3).await });
    stage.advance(SECOND * 2);
    assert!(done.take().is_none());
    stage.advance(SECOND * 2);
    assert!(done.take().is_some());
    assert!(stage.take_end().is_some());
    stage.restart();
    stage.until_dormant();
}

/// Ends when its turn is cancelled: with a reply, or with an error.
struct Late {
    replies: bool,
}

#[async_trait::async_trait]
impl Agent for Late {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        turn.cancelled().await;
        if self.replies { Ok("as far as I came".into()) } else { Err("half done".into()) }
    }
}

#[test]
fn what_is_answered_to_the_cancellation_of_a_shutdown_is_posted_by_the_next_process_unless_it_is_an_error()
 {
    for replies in [true, false] {
        let mut stage = Setup::new().hosted("a", []).hosted("b", []).stage();
        let account = stage.discord().account(stage.agent("a").user());
        stage.dirigent().host("a", Late { replies }, account);
        stage.chat();
        stage.say("Hello");
        let done = stage.begin(|d| async move { d.shutdown(SECOND * 3).await });
        stage.advance(SECOND * 10);
        assert!(done.take().is_some() && stage.take_end().is_some());
        stage.restart();
        stage.until_dormant();
        let posted = stage.discord().messages(stage.channel());
        let posted = posted.iter().filter(|message| &*message.content == "as far as I came");
        assert_eq!(posted.count(), usize::from(replies));
    }
}

/// An empty registry that answers this many times and then never again.
struct Tired(std::sync::atomic::AtomicUsize);

#[async_trait::async_trait]
impl IdentityStore for Tired {
    async fn all(&self) -> Result<Vec<Identity>, dirigent::ports::ApiError> {
        use std::sync::atomic::Ordering;
        match self.0.load(Ordering::Relaxed) {
            0 => std::future::pending().await,
            left => self.0.store(left - 1, Ordering::Relaxed),
        }
        Ok(Vec::new())
    }

    async fn register(&self, _: Identity) -> Result<(), dirigent::ports::RegisterError> {
        Ok(())
    }

    async fn remove(&self, _: dirigent::AgentId) -> Result<bool, dirigent::ports::ApiError> {
        Ok(false)
    }
}

#[tokio::test]
async fn a_shutdown_returns_when_the_driver_has_ended() {
    let clock = dirigent_testkit::ManualClock::new();
    let discord = dirigent_testkit::MemoryDiscord::new(std::sync::Arc::new(clock.clone()));
    let account = std::sync::Arc::new(discord.account(discord.add_bot()));
    let (dirigent, driver) = dirigent::Dirigent::builder(account).clock(clock).build().unwrap();
    let running = tokio::spawn(driver.run());
    assert!(dirigent.channel(dirigent::ChannelId::new(1)).status().await.unwrap().is_none());
    dirigent.shutdown(Duration::ZERO).await;
    assert!(running.is_finished(), "nothing winds up any more");
}

/// F17
#[tokio::test]
async fn neither_a_start_nor_a_change_waits_for_ever_for_the_registry() {
    for answers in [0, 1] {
        let clock = dirigent_testkit::ManualClock::new();
        let discord = dirigent_testkit::MemoryDiscord::new(std::sync::Arc::new(clock.clone()));
        let account = std::sync::Arc::new(discord.account(discord.add_bot()));
        let (dirigent, driver) = dirigent::Dirigent::builder(account)
            .identities(Tired(answers.into()))
            .clock(clock.clone())
            .build()
            .unwrap();
        let running = tokio::spawn(driver.run());
        let changed = tokio::spawn(async move { dirigent.identities_changed().await });
        for _ in 0..40 {
            tokio::task::yield_now().await;
            clock.advance(SECOND);
        }
        assert!(changed.is_finished());
        assert!(changed.await.unwrap().is_err());
        assert_eq!(running.is_finished(), answers == 0, "without a registry there is no start");
    }
}
