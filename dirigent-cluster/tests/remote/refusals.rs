//! What is not taken.

use std::sync::Arc;

use dirigent_cluster::Hosting;
use dirigent_relay::{Client, Keyring, ProcessRole, Refused, RelayQuestion, Server};
use serde::{Deserialize, Serialize};

use super::fixture::{Hall, named};
use crate::fleet::{Fleet, SECOND, secret};

macro_rules! rules {
    ($($name:ident = $rule:literal),+) => {$(
        #[derive(Serialize, Deserialize)]
        struct $name {}

        impl RelayQuestion for $name {
            const RULE: &'static str = $rule;
            type Answer = serde_json::Value;
        }
    )+};
}

rules!(
    Announce = "announce-agents",
    EndCall = "end-call",
    CallMissed = "call-missed",
    CallTranscript = "call-transcript",
    BeginCall = "begin-call",
    SteerCall = "steer-call",
    UseAccount = "use-account"
);

/// A slave may not call agents, use their accounts, nor answer for them.
#[tokio::test]
async fn only_peers_may_announce_and_call() {
    let mut hall = Hall::new().await;
    let _a = hall.owner("a");
    let fleet = &hall.fleet;
    let slave = Keyring::new(named("slave"), secret(7));
    let keys =
        |name| Fleet::keys(name).with(named("slave"), secret(7), ProcessRole::slave(["poet"]));
    let clock = || Arc::new(fleet.clock.clone());
    let of_home = Client::new(keys("home"), Arc::new(fleet.relay.clone()), clock());
    let (hosting, _link) = Hosting::new(of_home.clone(), Arc::clone(&fleet.table) as _);
    let home = Server::new(keys("home"), secret(90)).with(Arc::new(hosting));
    fleet.relay.connect(Arc::new(home));
    let (guests, _link) = dirigent_cluster::Guests::new(of_home);
    let owner = Server::new(keys("owner"), secret(91)).with(Arc::new(guests));
    fleet.relay.connect(Arc::new(owner));

    let client = Client::new(slave, Arc::new(fleet.relay.clone()), clock());
    macro_rules! refused {
        ($($host:literal $question:ident),+) => {$(
            let error = client.ask(&named($host), &$question {}).await.unwrap_err();
            assert_eq!(error.refused(), Some(&Refused::OnlyPeers), "{}", $question::RULE);
        )+};
    }
    refused!("owner" Announce, "owner" EndCall, "owner" CallMissed, "owner" CallTranscript);
    refused!("home" BeginCall, "home" SteerCall, "home" UseAccount);
    // A peer's question of another form says so.
    let peer = Client::new(Fleet::keys("peer"), Arc::new(fleet.relay.clone()), clock());
    let error = peer.ask(&named("home"), &BeginCall {}).await.unwrap_err();
    assert!(matches!(error.refused(), Some(Refused::BadQuestion { .. })));
}

/// Of two processes that announce one agent, the first one has it until it is lost.
#[tokio::test]
async fn an_agent_of_two_processes_is_called_in_the_first_one() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let first = hall.sayer("poet", &["From one."; 9], SECOND);
    let second = hall.sayer("poet", &["From two."; 9], SECOND);
    let one = hall.home("one", &[first]);
    hall.chat(&a).await;
    let _two = hall.home("two", &[second]);
    hall.fleet.pass(SECOND * 2).await;
    let conflicts = a.guests.conflicts();
    assert_eq!(conflicts.len(), 1);
    assert_eq!((&conflicts[0].called, &conflicts[0].refused), (&named("one"), &named("two")));
    assert!(conflicts[0].to_string().contains("poet lives in one and in two"));
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND * 2).await;
    assert!(hall.posts().await.iter().all(|(_, text)| text == "From one."));
    one.kill();
    hall.fleet.relay.disconnect(&named("one"));
    hall.fleet.pass(SECOND * 5).await;
    let before = hall.posts().await.len();
    hall.fleet.say(&a.process, "Are you there?").await;
    hall.fleet.pass(SECOND * 2).await;
    assert!(hall.posts().await[before..].iter().any(|(_, text)| text == "From two."));
    assert!(a.guests.conflicts().is_empty());
}
