//! The gateway tells this process of channels for which another one acts.

use std::sync::{Arc, Mutex};

use dirigent::MessageId;
use dirigent::ports::{GatewayEvent, OtherProcesses, Ownership};
use serde_json::json;

use super::slash_elsewhere::Elsewhere;
use crate::account::CHANNEL;
use crate::account::fixture::{B, Fixture, MESSAGE, Plan, everybody, guild, member, settle, until};

/// What goes to the other process.
#[derive(Default)]
struct Carried(Mutex<Vec<GatewayEvent>>);

impl Carried {
    fn take(&self) -> Vec<GatewayEvent> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl OtherProcesses for Carried {
    fn heard(&self, event: GatewayEvent) {
        self.0.lock().unwrap().push(event);
    }

    fn reconnected(&self) {}
}

async fn connected() -> (Fixture, Arc<Carried>) {
    let carried = Arc::<Carried>::default();
    let neighbours: Arc<dyn OtherProcesses> = carried.clone();
    let ownership: Option<Arc<dyn Ownership>> = Some(Arc::new(Elsewhere));
    let plan = Plan { ownership, neighbours: Some(neighbours), ..Plan::default() };
    let fixture = Fixture::with(plan).await;
    fixture.connect(everybody()).await;
    (fixture, carried)
}

/// What was said while this process had no connection is read by the process that acts for the channel: it is told what
/// the newest message is.
#[tokio::test]
async fn a_new_session_says_what_the_newest_messages_of_anothers_channels_are() {
    let (fixture, carried) = connected().await;
    settle().await;
    carried.take();
    let mut told = guild(everybody());
    told["channels"][0]["last_message_id"] = (MESSAGE + 5).to_string().into();
    fixture.push("READY", &json!({"user": {"id": "500"}})).await;
    fixture.push("GUILD_CREATE", &told).await;
    let message = MessageId::new(MESSAGE + 5);
    let newest = GatewayEvent::NewestMessage { channel: CHANNEL, message, parent: None };
    until("the newest message is carried", || carried.0.lock().unwrap().contains(&newest)).await;
}

/// An agent that loses sight of another process's channel leaves it there.
#[tokio::test]
async fn who_loses_sight_of_anothers_channel_leaves_it() {
    let (fixture, carried) = connected().await;
    settle().await;
    carried.take();
    fixture.push("GUILD_MEMBER_UPDATE", &member(32, &[])).await;
    let left = GatewayEvent::MemberLeft { channel: CHANNEL, user: B };
    until("it is carried", || carried.0.lock().unwrap().contains(&left)).await;
}
