//! A slave of one of several processes: what it may not ask, and that it reads which process is silent.

use std::sync::Arc;

use dirigent::hooks::{RunId, RunReport};
use dirigent::{Clock, Settings, async_trait};
use dirigent_cluster::Owners as _;
use dirigent_relay::{
    CarryError, Client, HostId, InProcess, Keyring, ProcessRole, Refused, Relay, RelayQuestion,
    Slave,
};
use dirigent_testkit::ManualClock;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fleet::{Fleet, SECOND, host, secret};
use super::raw::{raw, refused};

raw! { RawEvents: "gateway-events", RawRequest: "channel-request" }

/// A process, and a slave that may act for the poet.
struct World {
    fleet: Fleet,
    slave: Client,
}

async fn world() -> World {
    let mut fleet = Fleet::new().await;
    let keys = Fleet::keys("master").with(host("slave"), secret(2), ProcessRole::slave(["poet"]));
    let master = fleet.start_with("master", keys, Arc::new(fleet.relay.clone()), Vec::new());
    fleet.chat(&master).await;
    let keys = Keyring::new(host("slave"), secret(2));
    let relay = Arc::new(fleet.relay.clone());
    let slave = Client::new(keys, relay, Arc::new(fleet.clock.clone()));
    World { fleet, slave }
}

impl World {
    async fn refused(&self, question: impl RelayQuestion<Answer = Value>) -> Refused {
        refused(&self.slave, question).await
    }
}

#[tokio::test]
async fn what_only_a_peer_may_ask_is_refused_to_a_slave() {
    let world = world().await;
    let events = RawEvents(json!({ "missed": true, "events": [] }));
    assert_eq!(world.refused(events).await, Refused::OnlyPeers);
    let channel = world.fleet.channel.to_string();
    for request in [json!("stop"), json!({ "explain": { "agentId": "poet" } })] {
        let asked = json!({ "channelId": channel, "withinMs": 1_000, "request": request });
        assert_eq!(world.refused(RawRequest(asked)).await, Refused::OnlyPeers);
    }
}

/// A way that takes its time.
struct Far {
    inner: InProcess,
    clock: ManualClock,
}

#[async_trait]
impl Relay for Far {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        self.clock.sleep_until(self.clock.now() + SECOND / 10).await;
        let answer = self.inner.carry(to, rule, bytes).await;
        self.clock.sleep_until(self.clock.now() + SECOND / 10).await;
        answer
    }
}

/// The process that it asks is not the one that is silent.
#[tokio::test]
async fn a_slave_reads_that_the_owner_of_the_channel_is_silent() {
    let World { mut fleet, .. } = world().await;
    let keys = Fleet::keys("other").with(host("slave"), secret(2), ProcessRole::slave(["poet"]));
    let _other = fleet.start_with("other", keys, Arc::new(fleet.relay.clone()), Vec::new());
    let way = Far { inner: fleet.relay.clone(), clock: fleet.clock.clone() };
    let keys = Keyring::new(host("slave"), secret(2));
    let client = Client::new(keys, Arc::new(way), Arc::new(fleet.clock.clone()));
    let slave = Slave::new(client, host("other"), Settings::default());
    // What is answered first is only the session of this process.
    let (asked, account) = (slave.clone(), fleet.agents[0].1);
    let asked = tokio::spawn(async move { asked.identity(account).await });
    fleet.pass(SECOND).await;
    asked.await.unwrap().unwrap();
    let channel = fleet.channel;
    let told = tokio::spawn(async move {
        let run = RunId::new(7);
        slave.turn_ended(channel, &"poet".into(), run, RunReport::Pass).await
    });
    let master = fleet.table.owner(channel).unwrap();
    fleet.relay.disconnect(&master);
    fleet.pass(SECOND * 2).await;
    let error = told.await.unwrap().unwrap_err();
    let refused = error.refused();
    assert!(matches!(refused, Some(Refused::OwnerUnavailable { may_be_done: false })), "{error}");
}
