//! A slave: it asks the master, and holds no state.

use std::sync::Arc;

use dirigent::hooks::RunReport;
use dirigent::snapshot::PhaseKind;
use dirigent::tools::{Caller, Tools};
use dirigent::{Settings, async_trait};
use dirigent_relay::{
    CarryError, Client, Denied, DirigentRole, HostId, InProcess, Keyring, ProcessRole, Relay,
    Slave, SlaveToolError, SlaveTools, WhenUnavailable,
};
use dirigent_testkit::memory_discord::Permissions;
use serde_json::json;

use super::fleet::{Fleet, Process, SECOND, host, secret};

async fn world(with_tools: bool) -> (Fleet, Process, Slave) {
    let mut fleet = Fleet::new().await;
    let keys = Fleet::keys("master").with(
        host("slave"),
        secret(2),
        ProcessRole::slave(["poet", "critic"]),
    );
    let way = Arc::new(fleet.relay.clone());
    let master = fleet.start_with("master", keys, way, Vec::new());
    if with_tools {
        // The tools need the library that they act on, and so the server is made anew.
        let guild_api = Arc::new(fleet.discord.account(fleet.moderator));
        let tools = Tools::new(master.dirigent.clone(), guild_api);
        let keys =
            Fleet::keys("master").with(host("slave"), secret(2), ProcessRole::slave(["poet"]));
        let server = dirigent_relay::Server::with_start(keys, secret(77))
            .with(Arc::clone(&master.answers))
            .with(Arc::new(SlaveTools::new(tools)));
        fleet.relay.connect(Arc::new(server));
    }
    fleet.chat(&master).await;
    let slave = slave(&fleet, Arc::new(fleet.relay.clone()), WhenUnavailable::Deny);
    (fleet, master, slave)
}

fn slave(fleet: &Fleet, way: Arc<dyn Relay>, when: WhenUnavailable) -> Slave {
    let keys = Keyring::new(host("slave"), secret(2));
    let client = Client::new(keys, way, Arc::new(fleet.clock.clone()));
    Slave::with(client, host("master"), Settings::default(), when)
}

/// R168, R169: without a word the process holds the state.
#[test]
fn the_role_is_master_unless_something_else_is_said() {
    assert_eq!(DirigentRole::default(), DirigentRole::Master);
    assert_eq!("master".parse(), Ok(DirigentRole::Master));
    assert_eq!("slave".parse(), Ok(DirigentRole::Slave));
    assert!("Master".parse::<DirigentRole>().is_err());
}

/// R170, R171, R172: a whole turn of an agent that lives in a slave. Of the slave no request reaches the chat.
#[tokio::test]
async fn a_turn_of_an_agent_in_a_slave() {
    let (fleet, master, slave) = world(false).await;
    fleet.say(&master, "Hello").await;
    let calls = fleet.discord.calls();
    let permission = slave.may_speak(fleet.channel, &"poet".into(), None).await.unwrap();
    assert!(permission.holds_floor());
    let denied = slave.may_speak(fleet.channel, &"critic".into(), None).await.unwrap_err();
    let Denied::Denied { speaker, no_reply_model, .. } = denied else { panic!("{denied}") };
    assert_eq!(speaker, Some("poet".into()));
    assert!(no_reply_model.is_some());
    let end = permission.end(RunReport::Text("A line.")).await.unwrap();
    assert!(end.accepted && !end.duplicate);
    assert!(permission.end(RunReport::Text("A line.")).await.unwrap().duplicate);
    assert_eq!(fleet.discord.calls(), calls, "nothing was asked of the chat");
    fleet.post(&master, "poet", "A line.").await;
    let state = slave.channel_state(fleet.channel).await.unwrap();
    assert_eq!(state.current_speaker, Some("critic".into()));
    // By the slave's settings this is silence.
    let permission = slave.may_speak(fleet.channel, &"critic".into(), None).await.unwrap();
    permission.end(RunReport::Text("NO_REPLY")).await.unwrap();
    fleet.settle().await;
    assert_eq!(
        slave.channel_state(fleet.channel).await.unwrap().current_speaker,
        Some("clerk".into())
    );
    let (_, poet) = fleet.agents[0];
    assert_eq!(slave.identity(poet).await.unwrap().unwrap().agent_id, "poet".into());
}

/// A process may have a `Slave` for each of its agents, all made in the same moment: the channel takes no agent's run for another's.
#[tokio::test]
async fn two_slaves_of_one_process_give_their_runs_different_names() {
    let (fleet, master, of_poet) = world(false).await;
    let of_critic = slave(&fleet, Arc::new(fleet.relay.clone()), WhenUnavailable::Deny);
    fleet.say(&master, "Hello").await;
    let poets = of_poet.may_speak(fleet.channel, &"poet".into(), None).await.unwrap();
    assert!(poets.end(RunReport::Text("A line.")).await.unwrap().accepted);
    fleet.post(&master, "poet", "A line.").await;
    let critics = of_critic.may_speak(fleet.channel, &"critic".into(), None).await.unwrap();
    assert_ne!(critics.run(), poets.run());
    assert!(critics.end(RunReport::Pass).await.unwrap().accepted);
}

/// A slave that ends in the middle of a run stalls nothing: the run has its deadline, as any.
#[tokio::test]
async fn a_run_whose_slave_is_gone_ends_by_its_deadline() {
    let (fleet, master, slave) = world(false).await;
    fleet.say(&master, "Hello").await;
    drop(slave.may_speak(fleet.channel, &"poet".into(), None).await.unwrap());
    fleet.pass(SECOND * 3_600).await;
    let status = master.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_ne!(status.speaker, Some("poet".into()), "{status:?}");
}

/// A way that loses questions or answers.
struct Lossy(bool);

#[async_trait]
impl Relay for Lossy {
    async fn carry(&self, _: &HostId, _: &str, _: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        if self.0 {
            return Err(CarryError::unreachable("connection refused"));
        }
        std::future::pending().await
    }
}

/// R177, D101.
#[tokio::test]
async fn without_an_answer_in_time_a_slave_denies_unless_it_was_told_otherwise() {
    let (fleet, _master, _) = world(false).await;
    for at_once in [true, false] {
        let denying = slave(&fleet, Arc::new(Lossy(at_once)), WhenUnavailable::Deny);
        let channel = fleet.channel;
        let asked = tokio::spawn(async move {
            denying.may_speak(channel, &"poet".into(), None).await.map(|_| ())
        });
        fleet.settle().await;
        assert_eq!(asked.is_finished(), at_once);
        fleet.pass(SECOND * 2).await;
        let denied = asked.await.unwrap().unwrap_err();
        assert!(denied.is_unavailable() && denied.to_string().starts_with("RelayUnavailable"));
        let allowing = slave(&fleet, Arc::new(Lossy(true)), WhenUnavailable::Allow);
        let permission = allowing.may_speak(channel, &"poet".into(), None).await.unwrap();
        assert!(!permission.holds_floor());
        assert!(permission.end(RunReport::Pass).await.unwrap().accepted);
    }
}

/// Nothing proves who rejected its question.
#[tokio::test]
async fn a_slave_with_an_old_secret_is_one_without_an_answer() {
    let (fleet, master, _) = world(false).await;
    fleet.say(&master, "Hello").await;
    let old = |when| {
        let keys = Keyring::new(host("slave"), secret(3));
        let clock = Arc::new(fleet.clock.clone());
        let client = Client::new(keys, Arc::new(fleet.relay.clone()), clock);
        Slave::with(client, host("master"), Settings::default(), when)
    };
    let ask = async |slave: Slave| slave.may_speak(fleet.channel, &"poet".into(), None).await;
    let denied = ask(old(WhenUnavailable::Deny)).await.unwrap_err();
    assert!(denied.is_unavailable() && denied.to_string().contains("orged"), "{denied}");
    let permission = ask(old(WhenUnavailable::Allow)).await.unwrap();
    assert!(!permission.holds_floor());
    let status = master.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
    assert_eq!(status.phase, PhaseKind::Granted, "the master knows nothing of it");
}

/// What is lost on the way: always the answer whether an agent may run.
#[derive(Clone, Copy, PartialEq)]
enum Lost {
    Answer,
    Question,
    EndsToo,
}

struct Losing {
    inner: InProcess,
    lost: Lost,
}

#[async_trait]
impl Relay for Losing {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        match (rule, self.lost) {
            ("check-turn", Lost::Question) => Err(CarryError::no_answer("lost")),
            ("check-turn", Lost::Answer | Lost::EndsToo) => {
                let _ = self.inner.carry(to, rule, bytes).await;
                Err(CarryError::no_answer("lost"))
            }
            ("turn-complete", Lost::EndsToo) => std::future::pending().await,
            _ => self.inner.carry(to, rule, bytes).await,
        }
    }
}

/// The master may have given the run the floor: it is told the end all the same, for as long as an answer is waited for.
#[tokio::test]
async fn the_end_of_a_run_that_was_allowed_without_an_answer_is_told() {
    for lost in [Lost::Answer, Lost::Question, Lost::EndsToo] {
        let (fleet, master, other) = world(false).await;
        fleet.say(&master, "Hello").await;
        let way = Losing { inner: fleet.relay.clone(), lost };
        let allowing = slave(&fleet, Arc::new(way), WhenUnavailable::Allow);
        // What is answered first is only the session of this process.
        allowing.channel_state(fleet.channel).await.unwrap();
        let permission = allowing.may_speak(fleet.channel, &"poet".into(), None).await.unwrap();
        assert!(!permission.holds_floor());
        let status = master.dirigent.channel(fleet.channel).status().await.unwrap().unwrap();
        assert_eq!(status.phase == PhaseKind::Running, lost != Lost::Question);
        let ended = tokio::spawn(async move { permission.end(RunReport::Pass).await });
        fleet.settle().await;
        assert_eq!(ended.is_finished(), lost != Lost::EndsToo);
        fleet.pass(SECOND * 2).await;
        // Whatever the master says of it.
        let answer = ended.await.unwrap().unwrap();
        assert!(answer.accepted && !answer.duplicate, "{answer:?}");
        let speaker = other.channel_state(fleet.channel).await.unwrap().current_speaker;
        let expected = if lost == Lost::Answer { "critic" } else { "poet" };
        assert_eq!(speaker, Some(expected.into()));
    }
}

/// R179: tools are carried out by the master, for the agents that are bound to the slave, or say why not.
#[tokio::test]
async fn a_tool_is_carried_out_by_the_master() {
    let (fleet, _master, slave) = world(true).await;
    let guild = fleet.guild;
    let role = fleet.discord.guild(guild).add_role("moderators", Permissions::ALL);
    fleet.discord.guild(guild).set_role(fleet.moderator, role, true);
    let caller = Caller { guild: Some(guild), ..Caller::new("poet") };
    let (_, poet) = fleet.agents[0];
    let arguments = json!({ "name": "corner", "participants": [poet.to_string()] });
    let made = tokio::spawn({
        let slave = slave.clone();
        let (caller, arguments) = (caller.clone(), arguments.clone());
        async move { slave.use_tool(&caller, "create-chat-channel", &arguments).await }
    });
    fleet.pass(SECOND).await;
    let made = made.await.unwrap().unwrap();
    assert!(made.to_string().contains("channel"), "{made}");
    let bad = slave.use_tool(&caller, "create-chat-channel", &json!({})).await.unwrap_err();
    assert!(
        matches!(&bad, SlaveToolError::Tool(error) if error["error"] == "missing-argument"),
        "{bad}"
    );
    let foreign = Caller { guild: Some(guild), ..Caller::new("clerk") };
    let refused = slave.use_tool(&foreign, "create-chat-channel", &arguments).await.unwrap_err();
    assert!(matches!(refused, SlaveToolError::Relay { .. }), "{refused}");
}

#[tokio::test]
async fn a_tool_says_not_master_where_the_master_carries_out_none() {
    let (_fleet, _master, slave) = world(false).await;
    let refused = slave.use_tool(&Caller::new("poet"), "discussion-complete", &json!({})).await;
    assert!(matches!(refused, Err(SlaveToolError::NotMaster)), "{refused:?}");
}
