//! Tools that agents call in a process which does not act for the channel that they concern, and what follows from them.

use std::sync::{Arc, Mutex};

use dirigent::operate::DiscussionState;
use dirigent::ports::{Carried, ChannelRequest, Identity, OtherProcesses};
use dirigent::snapshot::PhaseKind;
use dirigent::tools::{Caller, ToolError, Tools};
use dirigent::{CallError, ChannelId, IdentityStore, Mode, async_trait};
use dirigent_cluster::Forwarding;
use dirigent_relay::{CarryError, Client, HostId, InProcess, Keyring, ProcessRole, Relay};
use serde_json::{Value, json};

use super::fleet::{Fleet, Process, SECOND, host, secret};

/// Loses what the test names: questions, or answers.
#[derive(Clone)]
struct Way {
    inner: InProcess,
    lost: Arc<Mutex<Option<Lost>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    /// The asking process knows that it did not arrive.
    Question,
    /// It does not know.
    QuestionUnseen,
    Answer,
}

#[async_trait]
impl Relay for Way {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let lost = *self.lost.lock().unwrap();
        if lost == Some(Lost::Question) {
            return Err(CarryError::unreachable("connection refused"));
        }
        if lost == Some(Lost::QuestionUnseen) {
            return Err(CarryError::no_answer("lost"));
        }
        let answer = self.inner.carry(to, rule, bytes).await;
        if lost == Some(Lost::Answer) { Err(CarryError::no_answer("lost")) } else { answer }
    }
}

struct World {
    fleet: Fleet,
    a: Process,
    b: Process,
    way: Way,
    tools: Tools,
}

/// Two processes; every channel is the first one's unless the test says otherwise, and agents call their tools in the second.
async fn world() -> World {
    let mut fleet = Fleet::new().await;
    let keys = Fleet::keys("a").with(host("slave"), secret(9), ProcessRole::slave(["poet"]));
    let a = fleet.start_with("a", keys, Arc::new(fleet.relay.clone()), Vec::new());
    let way = Way { inner: fleet.relay.clone(), lost: Arc::default() };
    let b = fleet.start_with("b", Fleet::keys("b"), Arc::new(way.clone()), Vec::new());
    fleet.discord.guild(fleet.guild).set_administrator(fleet.moderator, true);
    fleet.chat(&a).await;
    let account = Arc::new(fleet.discord.account(fleet.moderator));
    let tools = Tools::new(b.dirigent.clone(), account);
    World { fleet, a, b, way, tools }
}

impl World {
    fn lose(&self, lost: Option<Lost>) {
        *self.way.lost.lock().unwrap() = lost;
    }

    async fn call_as(&self, agent: &str, name: &str, arguments: Value) -> Result<Value, ToolError> {
        let fleet = &self.fleet;
        let (guild, channel) = (Some(fleet.guild), Some(fleet.channel));
        let caller = Caller { guild, channel, ..Caller::new(agent) };
        let (tools, name) = (self.tools.clone(), name.to_owned());
        let answer = tokio::spawn(async move { tools.call(&caller, &name, &arguments).await });
        fleet.pass(SECOND * 20).await;
        answer.await.unwrap()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Value, ToolError> {
        self.call_as("poet", name, arguments).await
    }

    async fn create(&self) -> Result<ChannelId, ToolError> {
        let critic = self.fleet.agents[1].1.to_string();
        let arguments = json!({"name": "plans", "participants": [critic]});
        let made = self.call("create-chat-channel", arguments).await?;
        Ok(made["channelId"].as_str().unwrap().parse().unwrap())
    }

    async fn open_discussion_as(&self, agent: &str) -> ChannelId {
        let fleet = &self.fleet;
        let arguments = json!({
            "callback-guild": fleet.guild.to_string(), "callback-channel": fleet.channel.to_string(),
            "discussion-guide": "Which plan?", "participants": [fleet.agents[1].1.to_string()],
        });
        let opened = self.call_as(agent, "create-discussion-channel", arguments).await.unwrap();
        opened["discussionChannel"].as_str().unwrap().parse().unwrap()
    }

    async fn open_discussion(&self) -> ChannelId {
        self.open_discussion_as("poet").await
    }

    async fn conclude_as(&self, agent: &str, discussion: ChannelId) -> Result<Value, ToolError> {
        let arguments =
            json!({"discussion-channel": discussion.to_string(), "summary-text": "The first."});
        self.call_as(agent, "discussion-complete", arguments).await
    }

    async fn conclude(&self, discussion: ChannelId) -> Result<Value, ToolError> {
        self.conclude_as("poet", discussion).await
    }

    fn channels(&self) -> usize {
        self.fleet.discord.guild(self.fleet.guild).channel_names().len()
    }
}

#[tokio::test]
async fn a_channel_is_created_in_the_process_that_acts_for_it() {
    let world = world().await;
    let channel = world.create().await.unwrap();
    let status = world.a.dirigent.channel(channel).status().await.unwrap().unwrap();
    let agents: Vec<_> = status.list.iter().map(|(agent, _)| agent.as_str()).collect();
    assert_eq!((status.mode, agents), (Mode::Chat, vec!["critic", "poet"]));
    assert!(world.b.dirigent.channel(channel).status().await.is_err());
}

/// Also where the answer is lost, and the other process has stored the mode: it hears that the channel is deleted.
#[tokio::test]
async fn nothing_is_left_of_a_channel_whose_process_does_not_answer() {
    let world = world().await;
    let before = world.channels();
    world.lose(Some(Lost::Question));
    let refused = world.create().await.unwrap_err();
    let why = std::error::Error::source(&refused).unwrap().to_string();
    assert!(why.starts_with("another process acts for the channel"), "{why}");
    world.lose(Some(Lost::Answer));
    let doubtful = world.create().await.unwrap_err();
    assert_eq!(doubtful.code(), "not-stored");
    assert_eq!(world.channels(), before);
    world.lose(None);
    world.create().await.unwrap();
}

#[tokio::test]
async fn a_channel_is_created_while_it_changes_hands() {
    let world = world().await;
    world.lose(Some(Lost::Question));
    let way = world.way.clone();
    let clock = world.fleet.clock.clone();
    let healed = tokio::spawn(async move {
        dirigent::Clock::sleep_until(&clock, dirigent::Clock::now(&clock) + SECOND * 5).await;
        *way.lost.lock().unwrap() = None;
    });
    let channel = world.create().await.unwrap();
    healed.await.unwrap();
    assert!(world.a.dirigent.channel(channel).is_known());
}

/// A call may take ten seconds; other questions between processes may take two.
#[tokio::test]
async fn a_channel_is_created_though_the_store_of_its_process_is_slow() {
    let world = world().await;
    world.fleet.hold_commits(true);
    let caller = Caller {
        guild: Some(world.fleet.guild),
        channel: Some(world.fleet.channel),
        ..Caller::new("poet")
    };
    let tools = world.tools.clone();
    let arguments = json!({"name": "plans", "participants": [world.fleet.agents[1].1.to_string()]});
    let made =
        tokio::spawn(async move { tools.call(&caller, "create-chat-channel", &arguments).await });
    world.fleet.pass(SECOND * 5).await;
    world.fleet.hold_commits(false);
    world.fleet.pass(SECOND).await;
    made.await.unwrap().unwrap();
}

/// Not that another process acts for it.
#[tokio::test]
async fn a_channel_that_its_process_does_not_know_is_unknown() {
    let world = world().await;
    let dirigent = world.b.dirigent.clone();
    let unknown = ChannelId::new(world.fleet.channel.get() + 1);
    let told =
        tokio::spawn(async move { dirigent.channel(unknown).conclude(&"poet".into(), None).await });
    world.fleet.pass(SECOND * 20).await;
    let told = told.await.unwrap();
    assert!(matches!(told, Err(CallError::UnknownChannel)), "{told:?}");
}

#[tokio::test]
async fn a_discussion_of_another_process_is_concluded_by_its_initiator_once() {
    let world = world().await;
    let discussion = world.open_discussion().await;
    assert!(world.b.dirigent.channel(discussion).discussion().await.is_err(), "it is not ours");
    let arguments = json!({"discussion-channel": discussion.to_string(), "summary-text": "Mine."});
    let other = world.call_as("critic", "discussion-complete", arguments).await.unwrap_err();
    assert_eq!(other.code(), "not-the-initiator");
    assert_eq!(world.conclude(discussion).await.unwrap()["result"], "posted");
    assert_eq!(world.conclude(discussion).await.unwrap_err().code(), "already-concluded");
    let none = world.conclude(world.fleet.channel).await.unwrap_err();
    assert_eq!(none.code(), "not-a-discussion");
}

#[tokio::test]
async fn the_result_of_a_discussion_wakes_the_callback_channel_of_another_process() {
    let lost = [Lost::Question, Lost::QuestionUnseen, Lost::Answer].map(Some);
    for (lost, initiator) in
        [None].into_iter().chain(lost).zip(["clerk", "critic", "poet", "clerk"])
    {
        let world = world().await;
        let (fleet, channel) = (&world.fleet, world.fleet.channel);
        let discussion = world.open_discussion_as(initiator).await;
        fleet.table.give(discussion, Some(&world.b.host));
        fleet.pass(SECOND).await;
        let phase = async || {
            let status = world.a.dirigent.channel(channel).status().await.unwrap().unwrap();
            (status.phase, status.speaker.map(|agent| agent.as_str().to_owned()))
        };
        assert_eq!(phase().await, (PhaseKind::Dormant, None));
        world.lose(lost);
        let concluded = world.conclude_as(initiator, discussion).await;
        assert_eq!(concluded.unwrap()["result"], "posted");
        if matches!(lost, Some(Lost::Question | Lost::QuestionUnseen)) {
            assert_eq!(phase().await, (PhaseKind::Dormant, None));
        }
        world.lose(None);
        fleet.pass(SECOND * 20).await;
        assert_eq!(phase().await.1.as_deref(), Some(initiator), "who opened it speaks first");
        let ended = world.b.dirigent.channel(discussion).discussion().await.unwrap().unwrap();
        assert_eq!((ended.state, ended.outbox.len()), (DiscussionState::Concluded, 0));
    }
}

/// The owner reads the registry when it is asked for an agent that it does not know.
#[tokio::test]
async fn a_channel_is_created_with_an_agent_that_was_registered_a_moment_ago() {
    let world = world().await;
    let user = world.fleet.discord.add_bot();
    world.fleet.discord.guild(world.fleet.guild).add_member(user);
    let (agent_id, agent_name) = ("clown".into(), "Clown".to_owned());
    let identity = Identity { discord_user_id: user, agent_id, agent_name };
    world.fleet.registry.register(identity).await.unwrap();
    world.b.dirigent.identities_changed().await.unwrap();
    let arguments = json!({"name": "ring", "participants": [user.to_string()]});
    let made = world.call("create-chat-channel", arguments).await.unwrap();
    assert_eq!(made["unregistered"], json!([]));
}

#[tokio::test]
async fn a_slave_asks_nothing_of_a_channel() {
    let world = world().await;
    let keys = Keyring::new(host("slave"), secret(9));
    let clock = Arc::new(world.fleet.clock.clone());
    let client = Client::new(keys, Arc::new(world.fleet.relay.clone()), clock);
    let (forwarding, _link) = Forwarding::new(client, Arc::clone(&world.fleet.table) as _);
    let request = ChannelRequest::WakeForResult { first: None };
    let asked = forwarding.request(world.fleet.channel, &request, SECOND).await;
    assert_eq!(asked, Carried::NotCarried);
}
