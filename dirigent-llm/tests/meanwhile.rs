//! What happens in a room while an agent's tools run.

use std::sync::Arc;

use dirigent::host::{Consultation, Orchestrator};
use dirigent::operate::Cause;
use dirigent::prelude::*;
use dirigent::settings::HumanInterrupt;
use dirigent_llm::script::ScriptedAnswer;
use dirigent_llm::{Tool, Toolbox};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use crate::fixture::{pause, soon};
use crate::room::Room;

/// Waits until it is opened. As a tool: `wait`.
struct Gate {
    entered: Arc<Notify>,
    let_go: std::sync::Mutex<Option<oneshot::Receiver<()>>>,
}

#[dirigent::async_trait]
impl Toolbox for Gate {
    fn tools(&self) -> Vec<Tool> {
        vec![Tool::new("wait", "Waits.")]
    }

    async fn call(&self, _: &Turn, _: &str, _: Value) -> Value {
        self.pass().await;
        json!("waited")
    }
}

impl Gate {
    async fn pass(&self) {
        self.entered.notify_one();
        let gate = self.let_go.lock().unwrap().take();
        gate.unwrap().await.unwrap();
    }
}

/// A gate, what tells that it was come to, and what opens it.
fn gate() -> (Gate, Arc<Notify>, oneshot::Sender<()>) {
    let (entered, (let_go, gate)) = (Arc::<Notify>::default(), oneshot::channel());
    (Gate { entered: Arc::clone(&entered), let_go: Some(gate).into() }, entered, let_go)
}

/// An orchestrator that answers people when its gate opens.
struct Desk(Gate);

#[dirigent::async_trait]
impl Orchestrator for Desk {
    async fn answer(&self, _: Consultation) -> Result<Reply, AgentError> {
        self.0.pass().await;
        Ok("Wait.".into())
    }
}

/// A room whose poet has called the tool, which waits; what opens its gate.
async fn waiting_room(config: Config, desk: Gate) -> (Room, oneshot::Sender<()>) {
    let (toolbox, entered, let_go) = gate();
    let mut room = Room::built(
        config,
        |agent, _| agent.tools(toolbox),
        |builder| builder.orchestrator(Desk(desk)),
    )
    .await;
    room.model.script([
        ScriptedAnswer::call("wait", &json!({})),
        ScriptedAnswer::text("Two lines, then."),
        ScriptedAnswer::text("NO_REPLY"),
    ]);
    room.say("A line, please.").await;
    soon(entered.notified()).await;
    (room, let_go)
}

#[tokio::test]
async fn all_that_people_say_meanwhile_is_told_with_the_next_round() {
    let (mut room, let_go) = waiting_room(Config::default(), gate().0).await;
    room.say("No, two lines!").await;
    room.say("And rhymes.").await;
    let_go.send(()).unwrap();
    room.until(Cause::ReceiptGiven).await;
    let told = room.model.requests()[1].said_by("user");
    assert!(told[0].ends_with("A line, please."), "{told:?}");
    let [first, second] = told[1].lines().collect::<Vec<_>>().try_into().unwrap();
    assert!(first.ends_with("No, two lines!") && second.ends_with("And rhymes."), "{told:?}");
    let words = ["A line, please.", "No, two lines!", "And rhymes.", "Two lines, then."];
    assert_eq!(room.words(), words);
}

#[tokio::test]
async fn a_turn_that_rests_asks_nothing_until_it_goes_on() {
    let config =
        Config::default().with(|config| config.people.human_interrupt = HumanInterrupt::Interrupt);
    let (desk, asked, answer) = gate();
    let (mut room, let_go) = waiting_room(config, desk).await;
    room.say("No, two lines!").await;
    soon(asked.notified()).await;
    let_go.send(()).unwrap();
    pause().await;
    assert_eq!(room.model.requests().len(), 1, "the orchestrator answers first");
    answer.send(()).unwrap();
    room.until(Cause::ReceiptGiven).await;
    let words = ["A line, please.", "No, two lines!", "Wait.", "Two lines, then."];
    assert_eq!(room.words(), words);
}
