//! A process that is being shut down: what the others ask of its channels waits for the next owner.

use std::sync::Arc;

use dirigent::command::{Invoker, SlashCommand};
use dirigent::hooks::RunReport;
use dirigent::host::Builder;
use dirigent::{AgentError, Reply, Turn, agent_fn};
use dirigent_relay::Client;

use super::fleet::{Fleet, Process, SECOND};

/// The channel is the first process's, which is shut down and waits for the answer of an agent.
async fn pair() -> (Fleet, Process, Process) {
    let mut fleet = Fleet::new().await;
    let (agent, user) = fleet.agents[0].clone();
    let account = fleet.discord.account(user);
    let thinks = |_: Turn| std::future::pending::<Result<Reply, AgentError>>();
    let hosting = |builder: Builder| builder.host(agent, agent_fn(thinks), account);
    let keys = Fleet::keys("a");
    let (way, clock) = (Arc::new(fleet.relay.clone()), Arc::new(fleet.clock.clone()));
    let client = Client::new(keys.clone(), way, clock);
    let a = fleet.start_as("a", keys, client, Vec::new(), hosting);
    let b = fleet.start("b");
    fleet.chat(&a).await;
    fleet.say(&a, "Hello").await;
    let ends = a.dirigent.clone();
    tokio::spawn(async move { ends.shutdown(SECOND * 60).await });
    fleet.settle().await;
    (fleet, a, b)
}

#[tokio::test]
async fn a_question_waits_for_the_next_owner() {
    let (fleet, _a, b) = pair().await;
    let ask = || {
        let (instance, channel) = (b.instance.clone(), fleet.channel);
        tokio::spawn(async move { instance.may_speak(channel, &"critic".into(), None).await })
    };
    let asked = ask();
    fleet.pass(SECOND).await;
    assert!(!asked.is_finished(), "the next owner may answer");
    fleet.pass(SECOND).await;
    let denied = asked.await.unwrap().unwrap_err();
    assert!(denied.is_unavailable(), "it may be asked again: {denied}");
    let asked = ask();
    fleet.pass(SECOND).await;
    fleet.table.give(fleet.channel, Some(&b.host));
    fleet.pass(SECOND).await;
    // The agent that thought in the process before has lost its turn.
    let permission = asked.await.unwrap().unwrap();
    assert!(permission.end(RunReport::Pass).await.unwrap().accepted);
}

#[tokio::test]
async fn a_command_waits_for_the_next_owner() {
    let (fleet, _a, b) = pair().await;
    let permissions = SlashCommand::Stop.default_permissions();
    let person = Invoker { guild: Some(fleet.guild), permissions, host_word: None };
    let give = || {
        let (dirigent, channel) = (b.dirigent.clone(), fleet.channel);
        tokio::spawn(async move {
            dirigent
                .channel(channel)
                .command(SlashCommand::Stop, person, "", SlashCommand::ANSWER_WITHIN)
                .await
        })
    };
    let given = give();
    fleet.pass(SECOND * 2).await;
    let text = given.await.unwrap().text;
    assert!(text.starts_with("No process of this bot acts for this channel"), "{text}");
    let given = give();
    fleet.pass(SECOND).await;
    fleet.table.give(fleet.channel, Some(&b.host));
    fleet.pass(SECOND).await;
    assert!(given.await.unwrap().changed);
}

/// Of what is no message no trace would be left.
#[tokio::test]
async fn an_event_reaches_the_next_owner() {
    let (fleet, _a, b) = pair().await;
    b.dirigent.channel_deleted(fleet.channel).await.unwrap();
    fleet.pass(SECOND * 10).await;
    assert_eq!(b.forwarding.counts(), (0, 0, 1));
    fleet.table.give(fleet.channel, Some(&b.host));
    fleet.pass(SECOND * 10).await;
    assert_eq!(b.forwarding.counts().2, 0);
    let status = b.dirigent.channel(fleet.channel).status().await.unwrap();
    assert!(status.is_none_or(|status| status.mode == dirigent::Mode::None));
}
