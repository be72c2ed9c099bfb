//! P14: a host may stop hosting an agent at any moment, and the channel goes on.

use std::sync::Arc;

use dirigent::host::{Consultation, Orchestrator};
use dirigent::settings::HumanInterrupt;
use dirigent::{AgentError, Reply};
use dirigent_testkit::scripted_agent::Line;
use dirigent_verify::stage::Setup;
use tokio::sync::Notify;

use super::kit::SECOND;

/// Answers when it is told to.
struct Answers(Arc<Notify>);

#[async_trait::async_trait]
impl Orchestrator for Answers {
    async fn answer(&self, _: Consultation) -> Result<Reply, AgentError> {
        self.0.notified().await;
        Ok("In a minute.".into())
    }
}

/// P14
#[test]
fn a_reply_of_an_agent_that_is_hosted_no_more_does_not_block_the_turn_that_rests() {
    let told = Arc::new(Notify::new());
    let mut stage = Setup::new()
        .hosted("a", [Line::from("a1").taking(SECOND * 5)])
        .hosted("b", ["b1".into()])
        .config(|config| config.people.human_interrupt = HumanInterrupt::Interrupt)
        .stage();
    stage.dirigent().set_orchestrator(Some(Arc::new(Answers(Arc::clone(&told)))));
    stage.chat();
    stage.say("Hello");
    stage.advance(SECOND * 2);
    stage.say("Is it Friday?");
    stage.advance(SECOND * 10);
    assert_eq!(stage.words(), ["Hello", "Is it Friday?"], "the reply waits for the answer");
    stage.dirigent().unhost(&"a".into());
    stage.say("Well?");
    stage.advance(SECOND);
    told.notify_waiters();
    told.notify_one();
    stage.advance(SECOND * 60);
    assert!(stage.words().contains(&"b1".to_owned()), "{:?}", stage.status());
}
