//! Slash commands in a channel for which another process acts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::command::{CommandAnswer, SlashCommand};
use dirigent::ports::{
    Carried, ChannelAnswer, ChannelRequest, GatewayEvent, OtherProcesses, Ownership, Standing,
};
use dirigent::{ChannelId, async_trait};
use serde_json::{Value, json};

use crate::account::CHANNEL;
use crate::account::fixture::{Fixture, Plan, settle, until};

/// All channels are another process's.
pub(super) struct Elsewhere;

#[async_trait]
impl Ownership for Elsewhere {
    fn standing(&self, _channel: ChannelId) -> Standing {
        Standing::Elsewhere
    }

    async fn changed(&self) -> Vec<ChannelId> {
        std::future::pending().await
    }
}

#[derive(Default)]
struct Carrying(Mutex<Vec<(ChannelId, ChannelRequest)>>);

#[async_trait]
impl OtherProcesses for Carrying {
    fn heard(&self, _event: GatewayEvent) {}

    fn reconnected(&self) {}

    async fn request(
        &self,
        channel: ChannelId,
        request: &ChannelRequest,
        _within: Duration,
    ) -> Carried<ChannelAnswer> {
        self.0.lock().unwrap().push((channel, request.clone()));
        let answer = CommandAnswer { text: "Done there.".to_owned(), changed: true };
        Carried::Answered(ChannelAnswer::Command(answer))
    }
}

async fn stop(fixture: &Fixture) {
    let used = json!({"id": "900", "application_id": "800", "type": 2, "token": "secret-token",
        "version": 1, "guild_id": "1", "channel_id": "700",
        "member": {"user": {"id": "33"}, "roles": [], "permissions": "2048"},
        "data": {"id": "77", "name": "stop", "type": 1}});
    fixture.push("INTERACTION_CREATE", &used).await;
    settle().await;
}

/// Where the other process gets the same event, it answers, and this one says nothing.
#[tokio::test]
async fn without_neighbours_the_other_process_answers_by_itself() {
    let plan = Plan { ownership: Some(Arc::new(Elsewhere)), ..Plan::default() };
    let fixture = Fixture::with(plan).await;
    stop(&fixture).await;
    fixture.pass(5_000);
    settle().await;
    assert_eq!(fixture.count("POST /interactions/"), 0);
}

#[tokio::test]
async fn with_neighbours_the_command_is_carried_and_its_answer_given_here() {
    let carrying = Arc::<Carrying>::default();
    let neighbours = Some(Arc::clone(&carrying) as _);
    let plan = Plan { ownership: Some(Arc::new(Elsewhere)), neighbours, ..Plan::default() };
    let fixture = Fixture::with(plan).await;
    stop(&fixture).await;
    until("an answer", || fixture.count("POST /interactions/") == 1).await;
    let asked = fixture.server.asked();
    let answer = asked.iter().find(|asked| asked.line.contains("/interactions/")).unwrap();
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(answer["data"]["content"], "Done there.");
    let carried = carrying.0.lock().unwrap().clone();
    let [(CHANNEL, ChannelRequest::Command { command, invoker, .. })] = &carried[..] else {
        panic!("{carried:?}");
    };
    assert_eq!((*command, invoker.permissions), (SlashCommand::Stop, 2_048));
}
