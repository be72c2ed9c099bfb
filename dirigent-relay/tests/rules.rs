//! The rules of turns as they are written: by a client that knows nothing but JSON.

use std::sync::Arc;

use dirigent_relay::{Client, InProcess, Keyring, ProcessRole, Refused, RelayError, RelayQuestion};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fleet::{Fleet, Process, SECOND, host, secret};
use super::raw::{raw, refused};

raw! {
    RawCheck: "check-turn",
    RawComplete: "turn-complete",
    RawIdentity: "get-identity",
    RawState: "get-channel-state"
}

struct World {
    fleet: Fleet,
    master: Process,
    slave: Client,
}

/// A master, and a slave that may act for the poet and the critic.
async fn world() -> World {
    let mut fleet = Fleet::new().await;
    let bound = ProcessRole::slave(["poet", "critic"]);
    let keys = Fleet::keys("master").with(host("slave"), secret(2), bound);
    let way = Arc::new(fleet.relay.clone());
    let master = fleet.start_with("master", keys, way, Vec::new());
    fleet.chat(&master).await;
    let slave = slave(&fleet.relay, &fleet);
    World { fleet, master, slave }
}

fn slave(relay: &InProcess, fleet: &Fleet) -> Client {
    let keys = Keyring::new(host("slave"), secret(2));
    Client::new(keys, Arc::new(relay.clone()), Arc::new(fleet.clock.clone()))
}

impl World {
    async fn ask<Q: RelayQuestion<Answer = Value>>(&self, question: Q) -> Value {
        self.slave.ask(&host("master"), &question).await.unwrap()
    }

    async fn refused(&self, question: impl RelayQuestion<Answer = Value>) -> Refused {
        refused(&self.slave, question).await
    }

    fn check(&self, agent: &str, run: &str) -> RawCheck {
        let channel = self.fleet.channel.to_string();
        RawCheck(json!({ "agentId": agent, "channelId": channel, "runId": run }))
    }

    fn complete(&self, agent: &str, run: &str, rest: &Value) -> RawComplete {
        let channel = self.fleet.channel.to_string();
        let mut end = json!({ "agentId": agent, "channelId": channel, "runId": run });
        end.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        RawComplete(end)
    }

    async fn speaker(&self) -> Option<String> {
        let status = self.master.dirigent.channel(self.fleet.channel).status().await;
        status.unwrap().unwrap().speaker.map(|agent| agent.to_string())
    }
}

/// Has exactly these fields, with these values; `reason` is a sentence, and is not compared.
#[track_caller]
fn same(answer: &Value, expected: &Value) {
    let mut answer = answer.clone();
    if let Some(reason) = answer.as_object_mut().and_then(|fields| fields.remove("reason")) {
        assert!(reason.as_str().is_some_and(|reason| reason.len() > 5), "{reason}");
    }
    assert_eq!(answer, *expected);
}

/// R170, R173: the one that has the floor is allowed, and the others are told who has it.
#[tokio::test]
async fn check_turn_tells_whether_the_agent_may_run_and_who_has_the_floor() {
    let world = world().await;
    let denied = world.ask(world.check("poet", "r1")).await;
    same(
        &denied,
        &json!({ "allowed": false, "currentSpeaker": null, "holdsFloor": false, "noReplyModel": "dirigent/no-reply" }),
    );
    world.fleet.say(&world.master, "Hello").await;
    assert_eq!(world.speaker().await.as_deref(), Some("poet"));
    let allowed = world.ask(world.check("poet", "r2")).await;
    same(&allowed, &json!({ "allowed": true, "currentSpeaker": "poet", "holdsFloor": true }));
    // Asking again with the same run changes nothing.
    let again = world.ask(world.check("poet", "r2")).await;
    same(
        &again,
        &json!({ "allowed": true, "currentSpeaker": "poet", "holdsFloor": true, "wasRunning": true }),
    );
    let denied = world.ask(world.check("critic", "r3")).await;
    same(
        &denied,
        &json!({ "allowed": false, "currentSpeaker": "poet", "holdsFloor": false, "noReplyModel": "dirigent/no-reply" }),
    );
    // A question without a run's name is as the seed writes it.
    let bare =
        RawCheck(json!({ "agentId": "critic", "channelId": world.fleet.channel.to_string() }));
    same(
        &world.ask(bare).await,
        &json!({ "allowed": false, "currentSpeaker": "poet", "holdsFloor": false, "noReplyModel": "dirigent/no-reply" }),
    );
}

/// R171, R176: the end advances the turn once, however often it is told.
#[tokio::test]
async fn turn_complete_advances_once() {
    let world = world().await;
    world.fleet.say(&world.master, "Hello").await;
    world.ask(world.check("poet", "r1")).await;
    let empty = json!({ "isEmpty": true });
    let first = world.ask(world.complete("poet", "r1", &empty)).await;
    assert_eq!(first, json!({ "accepted": true, "duplicate": false }));
    world.fleet.settle().await;
    assert_eq!(world.speaker().await.as_deref(), Some("critic"));
    for _ in 0..3 {
        let again = world.ask(world.complete("poet", "r1", &empty)).await;
        assert_eq!(again, json!({ "accepted": true, "duplicate": true }));
    }
    assert_eq!(world.speaker().await.as_deref(), Some("critic"));
    // A run that never had the floor ends nothing.
    let stale = world.ask(world.complete("critic", "r9", &empty)).await;
    assert_eq!(stale, json!({ "accepted": false, "duplicate": false }));
    assert_eq!(world.speaker().await.as_deref(), Some("critic"));
}

/// Two questions that are answered at the same time.
#[tokio::test]
async fn an_end_that_is_told_twice_at_once_counts_once_and_both_are_accepted() {
    let world = world().await;
    world.fleet.say(&world.master, "Hello").await;
    world.ask(world.check("poet", "r1")).await;
    let end = || world.ask(world.complete("poet", "r1", &json!({ "isEmpty": true })));
    let (a, b) = tokio::join!(end(), end());
    assert_eq!((a["accepted"].as_bool(), b["accepted"].as_bool()), (Some(true), Some(true)));
    assert_ne!(a["duplicate"], b["duplicate"]);
}

/// What an end says, and what becomes of the turn.
#[tokio::test]
async fn each_way_to_end_does_what_it_does_within_one_process() {
    let tail = json!({ "end": "yes.", "length": 4 });
    // The end; whether another has the floor before anything arrives; what then arrives; whether another has it then.
    let table = [
        (json!({ "isEmpty": true }), true, None, true),
        (json!({ "isEmpty": true, "outcome": "failed" }), true, None, true),
        (json!({ "isEmpty": true, "outcome": "repeated" }), true, None, true),
        (json!({ "isEmpty": false, "tail": tail }), false, Some("I say yes."), true),
        (json!({ "isEmpty": false, "tail": tail }), false, Some("Something else entirely"), false),
        (json!({ "isEmpty": false }), false, None, false),
        (
            json!({ "isEmpty": false, "tail": tail, "outcome": "unfinished" }),
            false,
            Some("I say yes."),
            false,
        ),
        (json!({ "isEmpty": false, "tail": tail, "outcome": "awaits-human" }), false, None, false),
    ];
    for (end, goes_on_at_once, arrives, goes_on) in table {
        let world = world().await;
        world.fleet.say(&world.master, "Hello").await;
        world.ask(world.check("poet", "r1")).await;
        let answer = world.ask(world.complete("poet", "r1", &end)).await;
        assert_eq!(answer["accepted"], true, "{end}");
        world.fleet.settle().await;
        let others = world.speaker().await.as_deref() != Some("poet");
        assert_eq!(others, goes_on_at_once, "{end}");
        if let Some(text) = arrives {
            world.fleet.post(&world.master, "poet", text).await;
        }
        let others = world.speaker().await.as_deref() != Some("poet");
        assert_eq!(others, goes_on, "{end} and {arrives:?}");
    }
}

/// D98: without a tail the agent's next message is taken for the reply.
#[tokio::test]
async fn without_a_tail_any_message_confirms() {
    let world = world().await;
    world.fleet.say(&world.master, "Hello").await;
    world.ask(world.check("poet", "r1")).await;
    world.ask(world.complete("poet", "r1", &json!({ "isEmpty": false }))).await;
    world.fleet.post(&world.master, "poet", "Whatever it is").await;
    world.fleet.pass(SECOND * 20).await;
    assert_eq!(world.speaker().await.as_deref(), Some("critic"));
}

#[tokio::test]
async fn a_receipt_goes_with_the_end() {
    let world = world().await;
    world.fleet.say(&world.master, "Hello").await;
    world.ask(world.check("poet", "r1")).await;
    let (_, poet) = world.fleet.agents[0];
    let id = world.fleet.discord.say(world.fleet.channel, poet, "Something else entirely");
    let end = json!({
        "isEmpty": false,
        "tail": { "end": "yes." },
        "deliveredMessageIds": [id.get().to_string()],
    });
    world.ask(world.complete("poet", "r1", &end)).await;
    world.fleet.settle().await;
    assert_eq!(world.speaker().await.as_deref(), Some("critic"));
}

/// R174.
#[tokio::test]
async fn get_identity_answers_the_entry_or_none() {
    let world = world().await;
    let (_, poet) = world.fleet.agents[0];
    let entry = world.ask(RawIdentity(json!({ "discordUserId": poet.to_string() }))).await;
    assert_eq!(
        entry,
        json!({ "discordUserId": poet.to_string(), "agentId": "poet", "agentName": "poet" })
    );
    let none = world.ask(RawIdentity(json!({ "discordUserId": world.fleet.person.to_string() })));
    assert_eq!(none.await, Value::Null);
}

/// R175.
#[tokio::test]
async fn get_channel_state_answers_mode_state_and_speaker() {
    let world = world().await;
    let ask = || world.ask(RawState(json!({ "channelId": world.fleet.channel.to_string() })));
    assert_eq!(
        ask().await,
        json!({ "mode": "chat", "tmState": "shuffle", "currentSpeaker": null })
    );
    world.fleet.say(&world.master, "Hello").await;
    assert_eq!(
        ask().await,
        json!({ "mode": "chat", "tmState": "shuffle", "currentSpeaker": "poet" })
    );
    let unknown = world.ask(RawState(json!({ "channelId": "123456789012345678" }))).await;
    assert_eq!(unknown, json!({ "mode": "none", "tmState": "disabled", "currentSpeaker": null }));
}

/// D102: a slave acts only for the agents that are bound to it.
#[tokio::test]
async fn a_slave_that_acts_for_a_foreign_agent_is_refused() {
    let world = world().await;
    world.fleet.say(&world.master, "Hello").await;
    let foreign = Refused::NotBound { agent: "clerk".into() };
    assert_eq!(world.refused(world.check("clerk", "r1")).await, foreign);
    let end = world.complete("clerk", "r1", &json!({ "isEmpty": true }));
    assert_eq!(world.refused(end).await, foreign);
    assert_eq!(world.speaker().await.as_deref(), Some("poet"));
}

#[tokio::test]
async fn questions_that_say_nothing_are_refused_and_say_where() {
    let world = world().await;
    let channel = world.fleet.channel.to_string();
    for bad in [
        json!({}),
        json!({ "agentId": "poet" }),
        json!({ "agentId": 7, "channelId": channel }),
        json!({ "agentId": "poet", "channelId": "7" }),
        json!({ "agentId": "poet", "channelId": channel, "runId": 7 }),
        json!([]),
    ] {
        let refused = world.refused(RawCheck(bad.clone())).await;
        assert!(matches!(refused, Refused::BadQuestion { .. }), "{bad}: {refused}");
    }
    let both = json!({ "isEmpty": true, "outcome": "unfinished" });
    let refused = world.refused(world.complete("poet", "r1", &both)).await;
    assert!(matches!(refused, Refused::BadQuestion { .. }), "{refused}");
    // Fields of a later version are left aside.
    let more = json!({ "agentId": "poet", "channelId": channel, "mood": "good" });
    assert_eq!(world.ask(RawCheck(more)).await["allowed"], false);
}

/// R177: who gets no answer denies.
#[tokio::test]
async fn a_master_that_is_away_answers_nothing() {
    let world = world().await;
    world.fleet.relay.disconnect(&host("master"));
    let error = world.slave.ask(&host("master"), &world.check("poet", "r1")).await.unwrap_err();
    assert!(matches!(error, RelayError::Carry { .. }) && error.is_certain(), "{error}");
}
